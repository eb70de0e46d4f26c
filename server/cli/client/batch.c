/* batch.c - see batch.h. */
#include "batch.h"
#include "server/cli/options.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void cli_batch_free(cli_batch *batch)
{
    for (size_t i = 0; i < batch->n_arrays; i++) {
        free(batch->arrays[i].path);
        free(batch->arrays[i].values);
    }
    free(batch->arrays);
    free(batch->lines);
    json_decref(batch->rest);
    *batch = (cli_batch){0};
}

/* Makes room for one more array; NULL if memory is short. */
static cli_array *grow(cli_batch *batch)
{
    cli_array *grown = realloc(batch->arrays, (batch->n_arrays + 1) * sizeof *grown);
    if (!grown) return NULL;
    batch->arrays = grown;
    return &grown[batch->n_arrays];
}

cli_array *cli_batch_add(cli_batch *batch, const char *path, size_t rank, const size_t *extent, size_t rows)
{
    size_t     entries = 1, total, bytes;
    cli_array *array   = rank <= CLI_RANK_MOST ? grow(batch) : NULL;
    bool       fits    = array != NULL;
    for (size_t i = 0; i < rank && fits; i++)
        fits = !__builtin_mul_overflow(entries, extent[i], &entries);
    fits = fits && !__builtin_mul_overflow(entries, rows, &total) &&
           !__builtin_mul_overflow(total, sizeof(double), &bytes);
    if (fits) {
        *array =
            (cli_array){.path = strdup(path), .rank = rank, .entries = entries, .values = malloc(bytes ? bytes : 1)};
        if (array->path && array->values) {
            if (rank > 0) memcpy(array->extent, extent, rank * sizeof *extent);
            batch->n_arrays++;
            return array;
        }
        free(array->path);
        free(array->values);
    }
    cli_error("no memory for the numbers of %.80s", path);
    return NULL;
}

cli_array *cli_batch_find(const cli_batch *batch, const char *path)
{
    for (size_t i = 0; i < batch->n_arrays; i++)
        if (strcmp(batch->arrays[i].path, path) == 0) return &batch->arrays[i];
    return NULL;
}

/* --- append ---------------------------------------------------------------------------------------------------- */

static bool append_array(cli_array *array, const cli_array *more, size_t rows, size_t more_rows)
{
    if (array->entries != more->entries || array->constant != more->constant)
        return cli_error("the answers to two parts of the batch differ in the size of %s", array->path);
    if (array->constant) return true;
    size_t  old = rows * array->entries, add = more_rows * array->entries;
    double *grown = realloc(array->values, (old + add) * sizeof *grown + 1);
    if (!grown) return cli_error("no memory for the answer");
    array->values = grown;
    if (add > 0) memcpy(grown + old, more->values, add * sizeof *grown);
    return true;
}

/* Appends the entries of "errors", rows counted on; warnings that differ are appended too. */
static void append_rest(cli_batch *batch, const cli_batch *more)
{
    json_t *entry, *errors = json_object_get(batch->rest, "errors");
    size_t  i;
    json_array_foreach (json_object_get(more->rest, "errors"), i, entry) {
        json_t *row  = json_object_get(entry, "row");
        json_t *copy = json_copy(entry);
        json_object_set_new(copy, "row", json_integer(json_integer_value(row) + (json_int_t)batch->rows));
        json_array_append_new(errors, copy);
    }
}

bool cli_batch_append(cli_batch *batch, const cli_batch *more)
{
    if (batch->n_arrays == 0 && batch->rows == 0) {
        for (size_t i = 0; i < more->n_arrays; i++) {
            const cli_array *m = &more->arrays[i];
            size_t           n = m->constant ? 1 : more->rows;
            cli_array       *a = cli_batch_add(batch, m->path, m->rank, m->extent, n);
            if (!a) return false;
            a->constant = m->constant;
            if (n * m->entries > 0) memcpy(a->values, m->values, n * m->entries * sizeof *a->values);
        }
        batch->rest   = json_deep_copy(more->rest);
        batch->single = more->single;
    } else {
        if (batch->n_arrays != more->n_arrays)
            return cli_error("the answers to two parts of the batch have different fields");
        for (size_t i = 0; i < batch->n_arrays; i++)
            if (!append_array(&batch->arrays[i], &more->arrays[i], batch->rows, more->rows)) return false;
        append_rest(batch, more);
    }
    batch->rows += more->rows;
    return true;
}

bool cli_batch_slice(const cli_batch *batch, size_t first, size_t rows, cli_batch *part)
{
    *part        = *batch;
    part->rows   = rows;
    part->arrays = malloc(batch->n_arrays * sizeof *part->arrays + 1);
    if (!part->arrays) return cli_error("out of memory");
    for (size_t i = 0; i < batch->n_arrays; i++) {
        part->arrays[i] = batch->arrays[i];
        if (!part->arrays[i].constant) part->arrays[i].values += first * part->arrays[i].entries;
    }
    if (part->lines) part->lines += first;
    return true;
}
