/* fuzz_states.c - reads arbitrary files of states for `torqued call`; the first byte chooses the format. An array that
 * is accepted must have as many numbers as its shape says. Messages go to standard error, which -close_fd_mask=2
 * silences. */
#include "server/cli/client/csv.h"
#include "server/cli/client/json_lines.h"
#include "server/cli/client/npy.h"
#include "server/cli/client/zip.h"
#include "drive.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { UNPACKED_MOST = 1 << 20, ROWS = 7 };

static volatile double sum; /* keeps the compiler from removing the reads, which the sanitizers check */

static bool visit(void *arg, const cli_zip_entry *entry)
{
    cli_npy npy;
    (void)arg;
    if (!cli_npy_read(entry->bytes, entry->length, "fuzz", &npy)) return true;
    for (size_t i = 0; i < npy.count; i++)
        sum += npy.values[i];
    free(npy.values);
    return true;
}

static bool read_lines(FILE *file, const cli_coordinates *coordinates, bool csv, cli_batch *batch, size_t *most)
{
    static cli_csv        c;
    static cli_json_lines l;
    if (*most == 0) {
        c = (cli_csv){.file = file, .name = "fuzz", .coordinates = coordinates};
        l = (cli_json_lines){.file = file, .name = "fuzz"};
        if (csv && !cli_csv_open(&c)) {
            cli_csv_close(&c);
            return false;
        }
    }
    *most     = ROWS;
    bool good = csv ? cli_csv_read(&c, ROWS, batch) : cli_json_lines_read(&l, ROWS, batch);
    for (size_t i = 0; good && i < batch->n_arrays; i++)
        for (size_t k = 0; k < batch->rows * batch->arrays[i].entries; k++)
            sum += batch->arrays[i].values[k];
    good = good && batch->rows > 0;
    if (!good) cli_csv_close(&c);
    if (!good) cli_json_lines_close(&l);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cli_coordinates coordinates;
    if (!coordinates.model) {
        drive_expect(
            cli_coordinates_read("{\"position_names\":[\"a\",\"b\"],\"velocity_names\":[\"a\",\"b\"]}", &coordinates),
            "the names are valid");
    }
    if (size < 2) return 0;
    const char *bytes = (const char *)data + 1;
    if (data[0] % 4 == 0) visit(NULL, &(cli_zip_entry){.bytes = bytes, .length = size - 1});
    if (data[0] % 4 == 1) cli_zip_read(bytes, size - 1, "fuzz", UNPACKED_MOST, visit, NULL);
    if (data[0] % 4 < 2) return 0;
    FILE  *file = fmemopen((void *)(uintptr_t)bytes, size - 1, "r");
    size_t most = 0;
    bool   more = file != NULL;
    while (more) {
        cli_batch batch = {0};
        more            = read_lines(file, &coordinates, data[0] % 4 == 2, &batch, &most);
        cli_batch_free(&batch);
    }
    if (file) fclose(file);
    return 0;
}
