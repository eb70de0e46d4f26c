/* fuzz_urdf.c - arbitrary URDF files; the first byte chooses base and mimic. A file that is taken must be readable in
 * every form, its document must give the same revision, and it must answer a request. */
#include "drive.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static drive            *d;
    static const char *const queries[] = {"", "?base=floating", "?mimic=coupled", "?base=floating&mimic=coupled"};
    char                     target[80];
    if (!d) d = drive_open();
    if (size == 0) return 0;
    snprintf(target, sizeof target, "/v1/models/u%s", queries[data[0] % 4]);
    if (drive_typed(d, "PUT", target, "application/xml", (const char *)data + 1, size - 1) >= 400) return 0;

    drive_expect(drive_request(d, "GET", "/v1/models/u", NULL, 0) == 200, "the model can be read");
    drive_expect(drive_request(d, "GET", "/v1/models/u/document", NULL, 0) == 200, "the document can be read");
    char  *document = strdup(d->answer);
    char   revision[sizeof d->tag];
    size_t length = d->length;
    drive_expect(document != NULL, "memory");
    memcpy(revision, d->tag, sizeof revision);
    drive_expect(drive_request(d, "PUT", "/v1/models/u", document, length) == 200, "its document is taken");
    drive_expect(!strcmp(revision, d->tag), "and has the same revision");
    free(document);

    drive_request(d, "POST", "/v1/models/u/inverse-dynamics", "{\"q\":[0]}", 9);
    drive_expect(drive_request(d, "DELETE", "/v1/models/u", NULL, 0) == 204, "the model can be deleted");
    return 0;
}
