/* fuzz_mjcf.c - puts arbitrary MJCF files; the first byte chooses how equalities are read. A file that is accepted must
 * be readable in every form, its document must give the same revision, and it must answer a request. */
#include "drive.h"
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static drive            *d;
    static const char *const queries[] = {"", "?equality=independent", "?equality=refuse"};
    char                     target[80];
    if (!d) d = drive_open();
    if (size == 0) return 0;
    snprintf(target, sizeof target, "/v1/models/u%s", queries[data[0] % 3]);
    if (drive_typed(d, "PUT", target, "application/mjcf+xml", (const char *)data + 1, size - 1) < 400)
        drive_check_model(d, "u");
    return 0;
}
