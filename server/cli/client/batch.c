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

/* True if the number after the first name of the pointer is the index of a row: if it is `row` or, for a negative
 * `row`, if a second index ends the pointer, as in /q/7/2. `end` follows the number. Indices into lists of objects are
 * no rows. */
static bool has_row(const char *pointer, const char *number, const char *end, json_int_t row)
{
    static const char *const objects[] = {"/tasks/", "/wrenches/", "/payload/"};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (strncmp(pointer, objects[i], strlen(objects[i])) == 0) return false;
    if (row >= 0) return strtoll(number, NULL, 10) == row;
    return *end == '/' && end[1 + strspn(end + 1, "0123456789")] == '\0';
}

/* Adds `rows` to the index of the row in member `key` of an entry, a JSON pointer. `row`: the row of the entry; -1:
 * none. */
static void move_pointer(json_t *entry, const char *key, json_int_t row, size_t rows)
{
    const char *pointer = json_string_value(json_object_get(entry, key));
    const char *number  = pointer && *pointer == '/' ? strchr(pointer + 1, '/') : NULL;
    char       *end;
    if (!number || number[1] < '0' || number[1] > '9') return;
    const long long place = strtoll(number + 1, &end, 10);
    if (!has_row(pointer, number + 1, end, row)) return;
    json_object_set_new(entry, key,
                        json_sprintf("%.*s/%lld%s", (int)(number - pointer), pointer, place + (long long)rows, end));
}

static bool has_equal(const json_t *list, const json_t *entry)
{
    const json_t *other;
    size_t        i;
    json_array_foreach (list, i, other)
        if (json_equal(other, entry)) return true;
    return false;
}

/* Appends errors and warnings, their rows shifted, and the entries of lists that have one for each row. Leaves out
 * warnings that are there already. */
static void append_rest(cli_batch *batch, const cli_batch *more)
{
    static const char *const lists[] = {"errors", "warnings", "at_limits"};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        json_t *entry, *from = json_object_get(more->rest, lists[k]), *to = json_object_get(batch->rest, lists[k]);
        size_t  i;
        if (from && !to && batch->rest) json_object_set_new(batch->rest, lists[k], to = json_array());
        json_array_foreach (from, i, entry) {
            json_t          *copy = json_deep_copy(entry), *row = json_object_get(copy, "row");
            const json_int_t number = row ? json_integer_value(row) : -1;
            move_pointer(copy, "pointer", number, batch->rows);
            move_pointer(copy, "where", -1, batch->rows);
            if (row) json_object_set_new(copy, "row", json_integer(number + (json_int_t)batch->rows));
            if (json_object_get(copy, "where") && has_equal(to, copy))
                json_decref(copy);
            else
                json_array_append_new(to, copy);
        }
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

/* --- rows that depend on each other ----------------------------------------------------------------------------- */

static bool lists_name(const char *name, const char *const *list)
{
    while (*list && strcmp(name, *list) != 0)
        list++;
    return *list != NULL;
}

/* True if one of the outputs is in the list, or is a sum over all rows. */
static bool asks_for(const json_t *fields, const char *const *list)
{
    const json_t *output;
    size_t        i;
    json_array_foreach (json_object_get(fields, "outputs"), i, output) {
        const char *name = json_string_value(output);
        if (name && (lists_name(name, list) || strncmp(name, "sum_", strlen("sum_")) == 0)) return true;
    }
    return false;
}

static bool is_given(const json_t *fields, const char *name)
{
    const json_t *value = json_object_get(fields, name);
    return value && !json_is_null(value) && !json_is_false(value);
}

/* True if the rows of an operation other than evaluate depend on each other. */
static bool depend_alone(const char *operation, const json_t *fields)
{
    static const char *const whole[]  = {"identify",    "trajectory", "trajectory-hessian", "simulate", "path",
                                         "path-timing", NULL};
    static const char *const of_all[] = {"least", "least_gradients", NULL};
    if (lists_name(operation, whole) || asks_for(fields, of_all)) return true;
    if (strcmp(operation, "inverse-kinematics") == 0) return is_given(fields, "sequence");
    if (strcmp(operation, "external-wrench") == 0) return is_given(fields, "gain");
    static const char *const random[] = {"random", NULL};
    return strcmp(operation, "configuration") == 0 && (asks_for(fields, random) || is_given(fields, "count") ||
                                                       is_given(fields, "seed") || is_given(fields, "range"));
}

bool cli_rows_depend(const char *operation, const json_t *fields)
{
    const char *inner;
    json_t     *options;
    if (depend_alone(operation, fields)) return true;
    json_object_foreach (json_object_get(fields, "operations"), inner, options)
        if (depend_alone(inner, options)) return true;
    return false;
}

bool cli_asks_for_sums(const json_t *fields)
{
    static const char *const none[] = {NULL};
    const char              *inner;
    json_t                  *options;
    if (asks_for(fields, none)) return true;
    json_object_foreach (json_object_get(fields, "operations"), inner, options)
        if (asks_for(options, none)) return true;
    return false;
}
