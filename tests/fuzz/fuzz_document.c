/* fuzz_document.c - puts arbitrary model documents. A document that is accepted must be readable in every form, give
 * the same revision when its canonical form is put back, and answer a request. */
#include "drive.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static drive *d;
    if (!d) d = drive_open();
    unsigned status = drive_request(d, "PUT", "/v1/models/m", (const char *)data, size);
    if (status >= 400) return 0;
    drive_expect(drive_request(d, "GET", "/v1/models/m", NULL, 0) == 200, "the model can be read");
    drive_expect(drive_request(d, "GET", "/v1/models/m/document", NULL, 0) == 200, "the document can be read");

    char  *document = strdup(d->answer);
    char   revision[sizeof d->tag];
    size_t length = d->length;
    drive_expect(document != NULL, "memory");
    memcpy(revision, d->tag, sizeof revision);
    drive_expect(drive_request(d, "PUT", "/v1/models/m", document, length) == 200,
                 "the service accepts the canonical document");
    drive_expect(drive_request(d, "GET", "/v1/models/m/document", NULL, 0) == 200, "the document can be read again");
    drive_expect(!strcmp(revision, d->tag), "the canonical document has the same revision");
    drive_expect(d->length == length && !memcmp(d->answer, document, length),
                 "the canonical document has the same text");
    free(document);

    drive_request(d, "POST", "/v1/models/m/inverse-dynamics", "{\"q\":[0]}", 9);
    drive_expect(drive_request(d, "DELETE", "/v1/models/m", NULL, 0) == 204, "the model can be deleted");
    return 0;
}
