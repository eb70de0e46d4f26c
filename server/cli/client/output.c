/* output.c - see output.h. */
#include "output.h"
#include "api/codec/number.h"
#include "npy.h"
#include "zip.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_SIZE = 1200 };

void cli_column_name(const cli_coordinates *coordinates, const cli_array *array, size_t entry, char *name, size_t size)
{
    size_t n = coordinates ? cli_coordinate_entries(coordinates, array->path) : 0, stride = array->entries, length;
    snprintf(name, size, "%s", array->path);
    for (char *c = name; *c; c++)
        if (*c == CLI_PATH_SEPARATOR) *c = '.';
    if (array->rank == 1 && n == array->extent[0]) {
        length = strlen(name);
        snprintf(name + length, size - length, ".%s", cli_coordinate_name(coordinates, array->path, entry));
        return;
    }
    for (size_t axis = 0; axis < array->rank; axis++) {
        stride /= array->extent[axis];
        length = strlen(name);
        snprintf(name + length, size - length, ".%zu", entry / stride % array->extent[axis] + 1);
    }
}

/* --- CSV --------------------------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Prints a cell of a header, in quotes if RFC 4180 asks for them, or if readers would cut blanks off its ends. */
static void print_cell(FILE *file, const char *cell)
{
    size_t length = strlen(cell);
    bool   cut    = length > 0 && (is_blank(cell[0]) || is_blank(cell[length - 1]));
    if (!cut && !cell[strcspn(cell, ",;\t\"\r\n")]) {
        fputs(cell, file);
        return;
    }
    putc('"', file);
    for (; *cell; cell++) {
        if (*cell == '"') putc('"', file);
        putc(*cell, file);
    }
    putc('"', file);
}

static void print_header(const cli_output *o, const cli_batch *batch)
{
    bool first = true;
    char name[NAME_SIZE];
    for (size_t i = 0; i < batch->n_arrays; i++)
        for (size_t entry = 0; entry < batch->arrays[i].entries; entry++) {
            cli_column_name(o->coordinates, &batch->arrays[i], entry, name, sizeof name);
            if (!first) putc(',', o->file.stream);
            print_cell(o->file.stream, name);
            first = false;
        }
    putc('\n', o->file.stream);
}

static void print_number(FILE *file, double value, const char *not_finite)
{
    char text[API_NUMBER_ROOM];
    if (!isfinite(value)) {
        fputs(not_finite, file);
        return;
    }
    const size_t length = api_number_write(value, text);
    fwrite(text, 1, length, file);
}

static void print_csv_rows(const cli_output *o, const cli_batch *batch)
{
    for (size_t row = 0; row < batch->rows; row++) {
        bool first = true;
        for (size_t i = 0; i < batch->n_arrays; i++)
            for (size_t entry = 0; entry < batch->arrays[i].entries; entry++) {
                if (!first) putc(',', o->file.stream);
                print_number(o->file.stream, cli_row(&batch->arrays[i], row)[entry], "nan");
                first = false;
            }
        putc('\n', o->file.stream);
    }
}

/* --- JSON -------------------------------------------------------------------------------------------------------- */

static void print_nested(FILE *file, const double *values, size_t rank, const size_t *extent, size_t entries)
{
    if (rank == 0) {
        print_number(file, *values, "null");
        return;
    }
    size_t stride = *extent > 0 ? entries / *extent : 0;
    putc('[', file);
    for (size_t i = 0; i < *extent; i++) {
        if (i > 0) putc(',', file);
        print_nested(file, values + i * stride, rank - 1, extent + 1, stride);
    }
    putc(']', file);
}

/* Prints one row; a row that failed has NaN everywhere, and is null. */
static void print_row(FILE *file, const cli_array *array, size_t row)
{
    const double *values = cli_row(array, row);
    bool          failed = array->entries > 0;
    for (size_t i = 0; i < array->entries && failed; i++)
        failed = isnan(values[i]);
    if (failed)
        fputs("null", file);
    else
        print_nested(file, values, array->rank, array->extent, array->entries);
}

static void print_string(FILE *file, const char *text, size_t length)
{
    json_t *string = json_stringn(text, length);
    char   *dumped = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    fputs(dumped ? dumped : "\"\"", file);
    free(dumped);
    json_decref(string);
}

/* Length of the keys that two paths share, separators included. */
static size_t shared_keys(const char *a, const char *b)
{
    size_t length = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == CLI_PATH_SEPARATOR) length = i + 1;
    return length;
}

/* Writes the braces and keys between two values of a JSON object: closes the objects of the path `last` that do not
 * contain `next`, and opens those of `next`, up to its last key. */
static void print_keys(FILE *file, const char *last, const char *next, bool first)
{
    size_t shared = shared_keys(last, next);
    for (const char *c = last + shared; *c; c++)
        if (*c == CLI_PATH_SEPARATOR) putc('}', file);
    if (!first) putc(',', file);
    for (const char *key = next + shared; *key;) {
        size_t length = strcspn(key, (char[2]){CLI_PATH_SEPARATOR});
        print_string(file, key, length);
        fputs(key[length] ? ":{" : ":", file);
        key += length + (key[length] ? 1 : 0);
    }
}

/* Prints an object with row `row` of the arrays, or with all rows for SIZE_MAX, and the members of `rest`. */
static void print_object(FILE *file, const cli_batch *batch, size_t row, json_t *rest)
{
    const char *last = "", *key;
    json_t     *value;
    bool        first = true;
    putc('{', file);
    for (size_t i = 0; i < batch->n_arrays; i++) {
        const cli_array *array = &batch->arrays[i];
        print_keys(file, last, array->path, first);
        last  = array->path;
        first = false;
        if (row != SIZE_MAX || array->constant) {
            print_row(file, array, row == SIZE_MAX ? 0 : row);
            continue;
        }
        putc('[', file);
        for (size_t r = 0; r < batch->rows; r++) {
            if (r > 0) putc(',', file);
            print_row(file, array, r);
        }
        putc(']', file);
    }
    for (const char *c = last; *c; c++)
        if (*c == CLI_PATH_SEPARATOR) putc('}', file);
    json_object_foreach (rest, key, value) {
        char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
        if (!first) putc(',', file);
        print_string(file, key, strlen(key));
        fprintf(file, ":%s", dumped ? dumped : "null");
        free(dumped);
        first = false;
    }
    fputs("}\n", file);
}

/* --- NumPy ------------------------------------------------------------------------------------------------------- */

static void add_npy(cli_text *to, const cli_batch *batch, const cli_array *array)
{
    size_t extent[CLI_NPY_RANK_MOST], axes = 0;
    if (!batch->single && !array->constant) extent[axes++] = batch->rows;
    for (size_t i = 0; i < array->rank; i++)
        extent[axes++] = array->extent[i];
    cli_npy_write(to, axes, extent, array->values);
}

static bool write_npy(const cli_output *o)
{
    cli_text text = {0};
    if (o->all.n_arrays != 1)
        return cli_error(
            "the answer has %zu arrays, and an .npy file holds one; write .npz, or choose one of the outputs, such "
            "as outputs='[\"tau\"]'",
            o->all.n_arrays);
    add_npy(&text, &o->all, &o->all.arrays[0]);
    bool good = !text.failed || cli_error("no memory for the answer");
    if (good) fwrite(text.bytes, 1, text.length, o->file.stream);
    cli_text_free(&text);
    return good;
}

static bool write_npz(const cli_output *o)
{
    cli_zip zip  = {0};
    bool    good = true;
    for (size_t i = 0; i < o->all.n_arrays && good; i++) {
        char      name[NAME_SIZE];
        cli_text  text   = {0};
        cli_array scalar = o->all.arrays[i]; /* has the name of the array, without indices of entries */
        scalar.rank      = 0;
        cli_column_name(NULL, &scalar, 0, name, sizeof name - 4);
        strcat(name, ".npy");
        add_npy(&text, &o->all, &o->all.arrays[i]);
        good = text.failed ? cli_error("no memory for the answer") : cli_zip_add(&zip, name, text.bytes, text.length);
        cli_text_free(&text);
    }
    good = good && cli_zip_finish(&zip);
    if (good) fwrite(zip.bytes.bytes, 1, zip.bytes.length, o->file.stream);
    cli_text_free(&zip.bytes);
    cli_text_free(&zip.directory);
    return good;
}

/* --- all formats ------------------------------------------------------------------------------------------------- */

/* True for an array or object that contains nothing except empty arrays and objects. */
static bool is_empty(json_t *value)
{
    const char *key;
    json_t     *member;
    size_t      i;
    json_array_foreach (value, i, member)
        if (!is_empty(member)) return false;
    json_object_foreach (value, key, member)
        if (!is_empty(member)) return false;
    return json_is_array(value) || json_is_object(value);
}

void cli_report_rest(const cli_batch *part, size_t first_row)
{
    const char *key;
    json_t     *value, *entry;
    size_t      i;
    json_object_foreach (part->rest, key, value) {
        bool errors = strcmp(key, "errors") == 0, warnings = strcmp(key, "warnings") == 0;
        if (!errors && !warnings && !is_empty(value) && first_row == 0)
            fprintf(stderr, "torqued: note: \"%s\" of the answer is only in JSON\n", key);
        json_array_foreach (errors || warnings ? value : NULL, i, entry) {
            const char *text = json_string_value(json_object_get(entry, errors ? "detail" : "text"));
            json_t     *row  = json_object_get(entry, "row");
            if (row) fprintf(stderr, "torqued: row %lld: ", (long long)json_integer_value(row) + (long long)first_row);
            if (!row) fputs("torqued: warning: ", stderr);
            fprintf(stderr, "%s\n", text ? text : "");
        }
    }
}

int cli_output_open(cli_output *output, const char *file, cli_format format, const cli_coordinates *coordinates)
{
    bool to_stdout = !file || strcmp(file, "-") == 0;
    *output        = (cli_output){.format = format, .coordinates = coordinates};
    if (to_stdout && (format == CLI_NPY || format == CLI_NPZ || cli_format_is_opaque(format)) && isatty(STDOUT_FILENO))
        return cli_fail(2, "this format is not for a terminal; name a file with --output");
    return cli_output_file_open(&output->file, file) ? 0 : 1;
}

static bool is_streamed(const cli_output *o)
{
    return o->format == CLI_CSV || o->format == CLI_JSON_LINES;
}

bool cli_output_add(cli_output *output, const cli_batch *part)
{
    FILE *stream = output->file.stream;
    if (output->format != CLI_JSON) cli_report_rest(part, output->all.rows);
    if (!is_streamed(output)) return cli_batch_append(&output->all, part);
    if (!output->started && part->n_arrays == 0) return cli_error("the answer has no numbers; use --to json");
    if (output->format == CLI_CSV && !output->started) print_header(output, part);
    if (output->format == CLI_CSV) print_csv_rows(output, part);
    for (size_t row = 0; output->format == CLI_JSON_LINES && row < part->rows; row++)
        print_object(stream, part, row, NULL);
    output->started = true;
    output->all.rows += part->rows;
    return cli_output_file_check(&output->file);
}

bool cli_output_finish(cli_output *output)
{
    bool good = true;
    if (output->format == CLI_JSON)
        print_object(output->file.stream, &output->all, output->all.single ? 0 : SIZE_MAX, output->all.rest);
    if (output->format == CLI_NPY) good = write_npy(output);
    if (output->format == CLI_NPZ) good = write_npz(output);
    return good && cli_output_file_keep(&output->file);
}

void cli_output_close(cli_output *output)
{
    cli_batch_free(&output->all);
    cli_output_file_discard(&output->file);
}
