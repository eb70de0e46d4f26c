/* fuzz_archive_file.c - reads arbitrary bytes as a zip, tar, tar.gz or multipart archive: a refused one has a problem,
 * the paths of an accepted one stay inside and occur once, and a robot in it is read or refused. */
#include "api/archive/archive.h"
#include "drive.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { UNPACKED_MOST = 1 << 20, MEMORY_MOST = 8 << 20 };

static void check_files(const api_files *files)
{
    char              path[API_FILE_PATH];
    volatile unsigned sum = 0;
    for (size_t i = 0; i < files->n; i++) {
        const char *name = files->entry[i].path;
        drive_expect(api_files_join("", name, path) && strcmp(path, name) == 0, "a path has the normal form");
        drive_expect(i == 0 || strcmp(files->entry[i - 1].path, name) < 0, "paths occur once, in order");
        drive_expect(api_files_find(files, "", name) == &files->entry[i], "a path finds its file");
        for (size_t k = 0; k < files->entry[i].length; k++)
            sum += (unsigned char)files->entry[i].bytes[k]; /* reads all bytes, so that a sanitizer checks them */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"application/json", "application/zip", "application/x-tar", "application/gzip",
                                        "multipart/form-data"};
    static drive            *d;
    if (!d) d = drive_open();
    api_budget  budget  = {.limit = MEMORY_MOST};
    api_share   share   = {.budget = &budget};
    api_archive archive = {.share = &share, .most = UNPACKED_MOST};
    api_problem problem;
    char       *bytes = malloc(size ? size : 1); /* an allocation of exactly this size, for the sanitizer */
    drive_expect(bytes != NULL, "memory");
    if (size) memcpy(bytes, data, size);
    api_archive_kind kind = api_archive_kind_of(bytes, size);
    api_problem_clear(&problem);
    bool read = api_archive_open(&archive, kind, bytes, size, &problem);
    drive_expect(read == (problem.code == API_NO_PROBLEM), "a refused archive has a problem, an accepted one has none");
    if (read) check_files(&archive.files);
    api_archive_close(&archive);
    drive_expect(share.bytes == 0 && budget.used == 0, "all memory is given back");
    unsigned status = drive_typed(d, "PUT", "/v1/models/fuzzed", types[kind], bytes, size);
    if (status < 300) drive_check_model(d, "fuzzed");
    free(bytes);
    return 0;
}
