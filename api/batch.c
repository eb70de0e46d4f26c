/* batch.c - see batch.h. */
#include "batch.h"
#include <string.h>

static bool is_batch(const api_node *value)
{
    api_node first;
    return api_node_item(value, 0, &first) && first.kind == API_ARRAY;
}

bool api_batch_measure(api_evaluation *e, const api_node *value, const api_place *at)
{
    return !is_batch(value) || api_batch_rows(e, api_node_size(value), at);
}

bool api_batch_rows(api_evaluation *e, size_t rows, const api_place *at)
{
    if (e->batched && rows != e->rows)
        return api_fail_at(e, at, API_WRONG_SHAPE,
                           "%zu rows given, but %s has %zu: all batches of a request have the same", rows, e->rows_from,
                           e->rows);
    e->batched = true;
    e->rows    = rows;
    if (e->rows_from) return true;
    api_pointer pointer = api_place_pointer(at);
    char       *from    = api_take(e, pointer.length + 1);
    if (!from) return false;
    e->rows_from = memcpy(from, pointer.text, pointer.length + 1);
    return true;
}

api_place api_vector_entry(const api_vector *vector, const api_place *row, size_t k)
{
    if (api_node_is(vector->value, API_OBJECT)) return api_place_key(row, vector->names[k]);
    size_t i = k;
    for (size_t j = 0; vector->order && j < vector->n; j++)
        if ((size_t)vector->order[j] == k) i = j;
    return api_place_index(row, i);
}

static bool fail_count(const api_evaluation *e, const api_vector *v, const api_place *at, size_t given)
{
    if (!v->count) return api_fail_at(e, at, API_WRONG_SHAPE, "%zu entries given, %zu expected", given, v->n);
    return api_fail_at(e, at, API_WRONG_SHAPE, "%zu entries given, %zu expected (%s of %s)", given, v->n, v->count,
                       e->model->name);
}

static bool read_row(const api_evaluation *e, const api_vector *v, const api_node *row, const api_place *at,
                     double *values)
{
    if (!api_node_is(row, API_ARRAY))
        return api_fail_at(e, at, API_WRONG_TYPE, "%s given, an array of %zu numbers expected", api_node_kind_text(row),
                           v->n);
    size_t given = api_node_size(row);
    for (size_t i = 0; i < given; i++) {
        api_node  entry;
        size_t    k        = i < v->n && v->order ? (size_t)v->order[i] : i;
        bool      named    = v->names && i < v->n;
        api_place entry_at = api_place_index(at, i);
        if (api_node_item(row, i, &entry) && entry.kind != API_NUMBER)
            return api_fail_at(e, &entry_at, API_WRONG_TYPE, "%s given%s%.64s, a number expected",
                               api_node_kind_text(&entry), named ? " for " : "", named ? v->names[k] : "");
        if (i < v->n) values[k] = api_node_number(&entry);
    }
    return given == v->n || fail_count(e, v, at, given);
}

/* The named form: each name once, in any order, none unknown. */
static bool read_named(const api_evaluation *e, const api_vector *v, double *values)
{
    if (e->batched)
        return api_fail_at(e, &v->at, API_WRONG_TYPE,
                           "an object given, but names instead of order are for one state, and %s is a batch",
                           e->rows_from);
    for (size_t k = 0; k < v->n; k++) {
        const api_node *entry = api_node_get(v->value, v->names[k]);
        api_place       at    = api_place_key(&v->at, v->names[k]);
        if (!entry) return api_fail_at(e, &at, API_MISSING_FIELD, "%.64s is missing", v->names[k]);
        if (!api_node_is(entry, API_NUMBER))
            return api_fail_at(e, &at, API_WRONG_TYPE, "%s given for %.64s, a number expected",
                               api_node_kind_text(entry), v->names[k]);
        values[k] = api_node_number(entry);
    }
    if (api_node_size(v->value) == v->n) return true;
    for (size_t member = 0; member < api_node_size(v->value); member++) {
        const char *key = api_node_key(v->value, member);
        size_t      k   = 0;
        while (k < v->n && strcmp(v->names[k], key) != 0)
            k++;
        api_place at = api_place_key(&v->at, key);
        if (k == v->n)
            return api_fail_at(e, &at, API_UNKNOWN_NAME, "%s has no coordinate \"%.64s\" here", e->model->name, key);
    }
    return true;
}

static void scatter(const api_evaluation *e, const api_vector *v, const double *values, size_t row)
{
    size_t  W  = e->lanes;
    double *to = v->lanes + (row / W * v->stride + v->first) * W + row % W;
    for (size_t k = 0; k < v->n; k++)
        to[k * W] = values[k];
}

static bool read_flat(const api_evaluation *e, const api_vector *v, double *values)
{
    bool read = api_node_is(v->value, API_OBJECT) && v->names ? read_named(e, v, values)
                                                              : read_row(e, v, v->value, &v->at, values);
    if (!read || (v->check && !v->check(e, v, values, &v->at))) return false;
    for (size_t row = 0; row < e->blocks * e->lanes; row++)
        scatter(e, v, values, row);
    return true;
}

bool api_batch_read(const api_evaluation *e, const api_vector *v, double *values)
{
    if (!is_batch(v->value)) return read_flat(e, v, values);
    for (size_t row = 0; row < e->rows; row++) {
        api_node  numbers;
        api_place at = api_place_index(&v->at, row);
        if (!api_node_item(v->value, row, &numbers) || !read_row(e, v, &numbers, &at, values) ||
            (v->check && !v->check(e, v, values, &at))) {
            e->problem->row = (long long)row;
            return false;
        }
        scatter(e, v, values, row);
        if (row % API_CHUNK == 0 && !api_watch_check(e->input->watch, e->problem)) return false;
    }
    for (size_t row = e->rows; row < e->blocks * e->lanes; row++)
        scatter(e, v, values, row);
    return true;
}
