/* fuzz_archive.c - imports arbitrary archives of models. If an import succeeds, an export must succeed, and importing
 * that export must change nothing. */
#include "drive.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_export(api *door)
{
    size_t            length;
    api_import_counts done;
    api_problem       problem;
    api_problem_clear(&problem);
    char *archive = api_export(door, "2026-11-28T22:00:00Z", &length, &problem);
    drive_expect(archive != NULL, "an export succeeds");
    const api_import_options strict = {.unverified = false};
    drive_expect(api_import(door, archive, length, &strict, &done, &problem), "an exported archive can be imported");
    drive_expect(done.created + done.replaced + done.deleted == 0, "importing an export changes nothing");
    free(archive);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static drive     *d;
    api_import_counts done;
    api_problem       problem;
    if (!d) d = drive_open();
    char *text = malloc(size ? size : 1); /* an allocation of exactly this size, for the sanitizer */
    drive_expect(text != NULL, "memory");
    if (size) memcpy(text, data, size);
    api_problem_clear(&problem);
    const api_import_options any = {.unverified = true}; /* imports without checking checksums, which a fuzzer cannot
                                                            guess */
    bool taken = api_import(d->door, text, size, &any, &done, &problem);
    free(text);
    drive_expect(taken == (problem.code == API_NO_PROBLEM),
                 "a refused archive has a problem, an accepted one has none");
    if (done.created + done.replaced + done.deleted == 0) return 0;
    check_export(d->door);
    drive_close(d); /* the next input starts with an empty service */
    d = NULL;
    return 0;
}
