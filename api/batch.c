/* batch.c - see batch.h. */
#include "batch.h"
#include "parts.h"
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

/* --- into lanes ------------------------------------------------------------------------------------------------- */

/* rows[r][i] -> to[order[i]][r] of W rows. */
static inline __attribute__((always_inline)) void transpose_by(size_t W, const double *rows, size_t n, const int *order,
                                                               double *to)
{
    for (size_t i = 0; i < n; i++) {
        double *lanes = to + (order ? (size_t)order[i] : i) * W;
        for (size_t r = 0; r < W; r++)
            lanes[r] = rows[r * n + i];
    }
}

/* The same with the width known to the compiler. */
static void transpose(size_t W, const double *rows, size_t n, const int *order, double *to)
{
    switch (W) {
    case 8: transpose_by(8, rows, n, order, to); break;
    case 4: transpose_by(4, rows, n, order, to); break;
    case 2: transpose_by(2, rows, n, order, to); break;
    default: transpose_by(W, rows, n, order, to); break;
    }
}

static double *block_of(const api_evaluation *e, const api_vector *v, size_t block)
{
    return v->lanes + (block * v->stride + v->first) * e->lanes;
}

static bool read_flat(const api_evaluation *e, const api_vector *v, double *values)
{
    size_t W    = e->lanes;
    bool   read = api_node_is(v->value, API_OBJECT) && v->names ? read_named(e, v, values)
                                                                : read_row(e, v, v->value, &v->at, values);
    if (!read || (v->check && !v->check(e, v, values, 1, 1, &v->at))) return false;
    for (size_t block = 0; block < e->blocks; block++) {
        double *to = block_of(e, v, block);
        for (size_t k = 0; k < v->n; k++)
            for (size_t lane = 0; lane < W; lane++)
                to[k * W + lane] = values[k];
    }
    return true;
}

/* The row of a batch that a state belongs to; the padding is of the last one. */
static size_t row_of(const api_evaluation *e, size_t state)
{
    size_t row = e->samples > 0 ? state / e->samples : state;
    return row < e->rows ? row : e->rows - 1;
}

/* Looks at the states of a block one after the other, which are not all good, and fails at the first. */
static bool fail_check(const api_evaluation *e, const api_vector *v, size_t block)
{
    double *lanes = block_of(e, v, block);
    for (size_t lane = 0; lane < e->lanes; lane++) {
        size_t    row = row_of(e, block * e->lanes + lane);
        api_place at  = api_place_index(&v->at, row);
        if (v->check(e, v, lanes + lane, e->lanes, 1, &at)) continue;
        e->problem->row = (long long)row;
        break;
    }
    return false;
}

/* Packed rows of the right length; `rows` has room for those of a block. */
static bool read_block(const api_evaluation *e, const api_vector *v, size_t block, double *rows)
{
    size_t  W = e->lanes, first = block * W, n = v->n;
    double *to = block_of(e, v, block);
    if (e->samples == 0 && first + W <= e->rows)
        api_node_numbers(v->value, first * n, W * n, rows);
    else
        for (size_t lane = 0; lane < W; lane++)
            api_node_numbers(v->value, row_of(e, first + lane) * n, n, rows + lane * n);
    transpose(W, rows, n, v->order, to);
    return !v->check || v->check(e, v, to, W, W, NULL) || fail_check(e, v, block);
}

/* A batch of which not every row is n numbers: goes through the rows up to the first that is wrong. */
static bool fail_rows(const api_evaluation *e, const api_vector *v, double *values)
{
    api_node numbers;
    for (size_t row = 0; api_node_item(v->value, row, &numbers); row++) {
        api_place at = api_place_index(&v->at, row);
        if (read_row(e, v, &numbers, &at, values) && (!v->check || v->check(e, v, values, 1, 1, &at))) continue;
        e->problem->row = (long long)row;
        break;
    }
    return false;
}

typedef struct reading {
    api_evaluation   *e;
    const api_vector *v;
    double           *scratch; /* a block's numbers, of each seat */
} reading;

static bool read_chunk(void *arg, size_t seat, size_t chunk, api_problem *problem)
{
    const reading *r     = arg;
    api_evaluation own   = *r->e;
    size_t         begin = chunk * own.chunk, end = begin + own.chunk < own.blocks ? begin + own.chunk : own.blocks;
    double        *rows = r->scratch + seat * own.lanes * r->v->n;
    own.problem         = problem;
    for (size_t block = begin; block < end; block++)
        if (!read_block(&own, r->v, block, rows)) return false;
    return true;
}

bool api_batch_read(api_evaluation *e, const api_vector *v)
{
    size_t  extent[API_PACKED_RANK], chunks = (e->blocks + e->chunk - 1) / e->chunk;
    bool    batch = is_batch(v->value), packed = batch && api_node_packed(v->value, extent) == 2 && extent[1] == v->n;
    size_t  seats = packed ? api_seats(e, chunks) : 1;
    reading r     = {e, v, api_take(e, seats * e->lanes * v->n * sizeof *r.scratch)};
    if (!r.scratch) return false;
    if (!batch) return read_flat(e, v, r.scratch);
    return packed ? api_do_parts(e, seats, chunks, read_chunk, &r) : fail_rows(e, v, r.scratch);
}
