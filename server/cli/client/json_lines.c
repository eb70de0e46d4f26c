/* json_lines.c - see json_lines.h. */
#define _GNU_SOURCE /* getline */
#include "json_lines.h"
#include "csv.h"
#include "server/cli/options.h"
#include <stdlib.h>
#include <string.h>

/* Finds rank and extents of nested arrays by their first entries. False if they are too deep or contain no numbers. */
static bool measure(const json_t *value, size_t *rank, size_t extent[CLI_RANK_MOST + 1])
{
    for (*rank = 0; json_is_array(value); value = json_array_get(value, 0)) {
        if (*rank > CLI_RANK_MOST) return false;
        extent[(*rank)++] = json_array_size(value);
        if (json_array_size(value) == 0) return true;
    }
    return json_is_number(value);
}

/* Copies nested arrays of these extents to *to, which advances. False if an entry has another shape. */
static bool copy_numbers(const json_t *value, size_t rank, const size_t *extent, double **to)
{
    if (rank == 0) {
        *(*to)++ = json_number_value(value);
        return json_is_number(value);
    }
    if (!json_is_array(value) || json_array_size(value) != *extent) return false;
    for (size_t i = 0; i < *extent; i++)
        if (!copy_numbers(json_array_get(value, i), rank - 1, extent + 1, to)) return false;
    return true;
}

bool cli_batch_add_json(cli_batch *batch, const char *name, const json_t *value, size_t rows)
{
    size_t rank, extent[CLI_RANK_MOST + 1], skipped = rows > 0 ? 1 : 0;
    if (!measure(value, &rank, extent) || rank < skipped || rank - skipped > CLI_RANK_MOST ||
        (rows > 0 && extent[0] != rows))
        return false;
    cli_array *array = cli_batch_add(batch, name, rank - skipped, extent + skipped, rows > 0 ? rows : 1);
    double    *to    = array ? array->values : NULL;
    return to && copy_numbers(value, rank, extent, &to);
}

/* Reads the next line with text. False at the end of the file. */
static bool read_line(cli_json_lines *l)
{
    do {
        if (getline(&l->line, &l->size, l->file) < 0) return false;
        l->number++;
    } while (l->line[strspn(l->line, " \t\r\n")] == '\0');
    return true;
}

/* Reads the fields of the first line, which all lines must have. */
static bool read_shape(cli_json_lines *l, json_t *object)
{
    const char *key;
    json_t     *value;
    json_object_foreach (object, key, value) {
        if (!cli_field_is_chosen(l->fields, key)) continue;
        if (!cli_batch_add_json(&l->shape, key, value, 0))
            return cli_error("%s line %zu: %.80s is no array of numbers; give options as FIELD=JSON", l->name,
                             l->number, key);
    }
    return l->shape.n_arrays > 0 || cli_error("%s line %zu: the object has no field to send", l->name, l->number);
}

static bool read_row(cli_json_lines *l, json_t *object, cli_batch *batch, size_t row)
{
    size_t      chosen = 0;
    const char *key;
    json_t     *value;
    json_object_foreach (object, key, value)
        chosen += cli_field_is_chosen(l->fields, key);
    for (size_t i = 0; i < batch->n_arrays; i++) {
        cli_array *a  = &batch->arrays[i];
        double    *to = a->values + row * a->entries;
        if (!copy_numbers(json_object_get(object, a->path), a->rank, a->extent, &to))
            return cli_error("%s line %zu: %s must have the shape that it has in the first line", l->name, l->number,
                             a->path);
    }
    batch->lines[row] = l->number;
    return chosen == batch->n_arrays ||
           cli_error("%s line %zu: the object has other fields than that of the first line", l->name, l->number);
}

/* Parses l->line and stores it as a row. */
static bool read_object(cli_json_lines *l, size_t most, cli_batch *batch)
{
    json_error_t error;
    json_t      *object = json_loads(l->line, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    bool         good   = json_is_object(object);
    if (!good)
        cli_error("%s line %zu: %s; every line must be a JSON object such as {\"q\": [0, 1]}", l->name, l->number,
                  object ? "no object" : error.text);
    if (good && l->shape.n_arrays == 0) good = read_shape(l, object);
    for (size_t i = 0; good && batch->rows == 0 && i < l->shape.n_arrays; i++)
        good = cli_batch_add(batch, l->shape.arrays[i].path, l->shape.arrays[i].rank, l->shape.arrays[i].extent,
                             most) != NULL;
    good = good && read_row(l, object, batch, batch->rows);
    json_decref(object);
    return good;
}

bool cli_json_lines_read(cli_json_lines *lines, size_t most, cli_batch *batch)
{
    batch->lines = malloc(most * sizeof *batch->lines);
    if (!batch->lines) return cli_error("out of memory");
    for (batch->rows = 0; batch->rows < most && read_line(lines); batch->rows++)
        if (!read_object(lines, most, batch)) return false;
    return !ferror(lines->file) || cli_error("cannot read %s", lines->name);
}

void cli_json_lines_close(cli_json_lines *lines)
{
    free(lines->line);
    lines->line = NULL;
    cli_batch_free(&lines->shape);
}
