/* batch.c - see batch.h. */
#include "batch.h"
#include "failed_rows.h"
#include "api/work/parallel.h"
#include "plan.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

bool api_is_batch(const api_node *value, size_t depth)
{
    api_node at = *value, first;
    for (; depth > 0; depth--, at = first)
        if (!api_node_item(&at, 0, &first)) return false;
    return api_node_is(&at, API_ARRAY);
}

/* --- one state of many ------------------------------------------------------------------------------------------- */

/* The row of a state; padding is of the last one. */
static size_t row_of(const api_evaluation *e, size_t state)
{
    size_t row = e->samples > 0 ? state / e->samples : state;
    return row < e->rows ? row : e->rows - 1;
}

/* Fails a state with the problem `found`, pointing at `at` (NULL: at nothing). */
static bool fail_at_place(const api_evaluation *e, const api_place *at, size_t state, const api_problem *found)
{
    api_pointer pointer = api_place_pointer(at);
    api_problem told;
    api_problem_clear(&told);
    api_fail(&told, found->code, at ? api_pointer_text(&pointer) : NULL, "%s", found->detail);
    told.fraction = found->fraction;
    told.time     = found->time;
    if (e->failed_rows) return api_failed_rows_add(e, e->evaluating, state, &told);
    if (e->batched) told.row = (long long)row_of(e, state);
    if (e->problem->code == API_NO_PROBLEM) *e->problem = told;
    return false;
}

bool api_fail_found(const api_evaluation *e, int field, size_t state, const api_problem *found)
{
    const api_node *given = field < 0 ? NULL : e->given[field];
    api_place       at    = api_place_key(NULL, given ? api_field_names[field] : ""),
              entry       = api_place_index(&at, row_of(e, state));
    bool batch            = given && api_is_batch(given, field == API_CONTROL_POINTS ? 2 : 1);
    return fail_at_place(e, batch ? &entry : given ? &at : NULL, state, found);
}

bool api_fail_state(const api_evaluation *e, api_code code, int field, size_t state, const char *format, ...)
{
    va_list     args;
    api_problem found;
    api_problem_clear(&found);
    va_start(args, format);
    api_failv(&found, code, NULL, format, args);
    va_end(args);
    return api_fail_found(e, field, state, &found);
}

bool api_fail_entry(const api_evaluation *e, const api_place *batch, size_t row, const api_problem *found)
{
    api_place entry = api_place_index(batch, row);
    return fail_at_place(e, &entry, row, found);
}

/* --- one row ----------------------------------------------------------------------------------------------------- */

bool api_batch_measure(api_evaluation *e, const api_node *value, const api_place *at)
{
    return !api_is_batch(value, 1) || api_batch_rows(e, api_node_size(value), at);
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
    char       *from    = api_take(e->pool, pointer.length + 1);
    if (!from) return false;
    e->rows_from = memcpy(from, pointer.text, pointer.length + 1);
    return true;
}

api_place api_vector_entry(const api_vector *vector, const api_place *row, size_t k)
{
    if (api_node_is(vector->value, API_OBJECT)) return api_place_key(row, vector->names[k]);
    if (api_node_is(vector->value, API_NUMBER)) return *row;
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

/* A row of n packed numbers, as nearly all are; false: it is something else. */
static bool copy_row(const api_vector *v, const api_node *row, double *values)
{
    size_t extent[API_PACKED_RANK];
    if (!api_node_is(row, API_ARRAY) || api_node_packed(row, extent) != 1 || extent[0] != v->n) return false;
    if (!v->order) api_node_numbers(row, 0, v->n, values);
    for (size_t i = 0; v->order && i < v->n; i++)
        api_node_numbers(row, i, 1, &values[v->order[i]]);
    return true;
}

static bool read_row(const api_evaluation *e, const api_vector *v, const api_node *row, const api_place *at,
                     double *values)
{
    if (copy_row(v, row, values)) return true;
    if (!api_node_is(row, API_ARRAY))
        return api_fail_at(e, at, API_WRONG_TYPE, "%s given, an array of %zu numbers expected", api_node_kind_text(row),
                           v->n);
    size_t given = api_node_size(row);
    for (size_t i = 0; i < given; i++) {
        api_node  entry;
        size_t    k        = i < v->n && v->order ? (size_t)v->order[i] : i;
        bool      named    = v->names && i < v->n;
        api_place entry_at = api_place_index(at, i);
        if (api_node_item(row, i, &entry) && !api_node_is(&entry, API_NUMBER))
            return api_fail_at(e, &entry_at, API_WRONG_TYPE, "%s given%s%.64s, a number expected",
                               api_node_kind_text(&entry), named ? " for " : "", named ? v->names[k] : "");
        if (i < v->n) values[k] = api_node_number(&entry);
    }
    return given == v->n || fail_count(e, v, at, given);
}

/* A name among those given that is no coordinate's. */
static bool check_names(const api_evaluation *e, const api_vector *v)
{
    for (size_t member = 0; member < api_node_size(v->value); member++) {
        const char *key = api_node_key(v->value, member);
        size_t      k   = 0;
        while (k < v->n && strcmp(v->names[k], key) != 0)
            k++;
        api_place at    = api_place_key(&v->at, key);
        api_names known = api_names_from_array(v->names, v->n);
        if (k == v->n) return api_fail_no_such(e, &at, "coordinate", key, &known);
    }
    return true;
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
        if (!entry) /* a name that is wrong says more than one that is missing for it */
            return check_names(e, v) && api_fail_at(e, &at, API_MISSING_FIELD, "%.64s is missing", v->names[k]);
        if (!api_node_is(entry, API_NUMBER))
            return api_fail_at(e, &at, API_WRONG_TYPE, "%s given for %.64s, a number expected",
                               api_node_kind_text(entry), v->names[k]);
        values[k] = api_node_number(entry);
    }
    return api_node_size(v->value) == v->n || check_names(e, v);
}

/* --- into lanes ------------------------------------------------------------------------------------------------- */

static double *block_of(const api_evaluation *e, const api_vector *v, size_t block)
{
    return api_block(e, v->lanes, v->stride, block) + v->first * e->lanes;
}

/* One state. Bounds are looked at together: only to say what is wrong is a number looked at by itself. */
static bool check_one(const api_evaluation *e, const api_vector *v, double *values)
{
    if (!v->check) return true;
    bool bounded = v->n_bounds == 0 || e->call->api->alone->bounded(values, v->n, v->bounds, v->n_bounds, 1);
    return (bounded && v->check(e, v, values, 1, 1, NULL)) || v->check(e, v, values, 1, 1, &v->at);
}

/* Replaces a state that is not valid; its entries are `stride` apart. */
static void put_neutral(const api_vector *v, size_t stride, double *lane)
{
    for (size_t k = 0; k < v->n; k++)
        lane[k * stride] = v->neutral ? v->neutral[k] : 0;
}

bool api_batch_check_one(const api_evaluation *e, const api_vector *v, double *values)
{
    if (!e->failed_rows) return check_one(e, v, values);
    api_problem    found;
    api_evaluation own = *e;
    own.problem        = &found;
    api_problem_clear(&found);
    if (check_one(&own, v, values)) return true;
    put_neutral(v, 1, values);
    return api_failed_rows_add_all(e, &found);
}

/* One state: an array, an object, or of a model with one coordinate a number. */
static bool read_state(const api_evaluation *e, const api_vector *v, double *values)
{
    if (api_node_is(v->value, API_OBJECT) && v->names) return read_named(e, v, values);
    if (v->n > 1 || !api_node_is(v->value, API_NUMBER)) return read_row(e, v, v->value, &v->at, values);
    *values = api_node_number(v->value);
    return true;
}

static bool read_flat(api_evaluation *e, const api_vector *v)
{
    size_t  W      = e->lanes;
    double *values = W == 1 ? block_of(e, v, 0) : api_take(e->pool, v->n * sizeof *values);
    if (!values) return false;
    if (!read_state(e, v, values) || !api_batch_check_one(e, v, values)) return false;
    for (size_t block = W == 1 ? 1 : 0; block < e->window; block++) {
        double *to = block_of(e, v, block);
        for (size_t k = 0; k < v->n; k++)
            for (size_t lane = 0; lane < W; lane++)
                to[k * W + lane] = values[k];
    }
    return true;
}

static bool fail_number(const api_evaluation *e, const api_place *row, size_t i)
{
    api_place at = api_place_index(row, i);
    return api_fail_at(e, &at, API_NON_FINITE, "the number is not finite");
}

/* False with a problem when a state, in its lane, is bad. */
static bool check_state(const api_evaluation *e, const api_vector *v, double *lane, const api_place *row)
{
    for (size_t i = 0; i < v->n; i++)
        if (!isfinite(lane[(v->order ? (size_t)v->order[i] : i) * e->lanes])) return fail_number(e, row, i);
    return !v->check || v->check(e, v, lane, e->lanes, 1, row);
}

/* A motion's row is read for each of its samples: the first of them among these blocks is recorded. */
static bool drop_state(const api_evaluation *e, size_t state, size_t first, const api_problem *found)
{
    if (state >= api_states(e) || (e->samples > 0 && state > first && state % e->samples > 0)) return true;
    return api_failed_rows_add(e, -1, state, found);
}

/* Checks the rows of these blocks one after the other and replaces the bad ones. Every row is read again, since the
 * check of the whole block may have normalised its quaternions already. `numbers` has room for a row. */
static bool drop_rows(const api_evaluation *e, const api_vector *v, size_t begin, size_t end, double *numbers)
{
    api_problem    found;
    api_evaluation own = *e;
    own.problem        = &found;
    for (size_t state = begin * e->lanes; state < end * e->lanes; state++) {
        size_t    row  = row_of(e, state);
        api_place at   = api_place_index(&v->at, row);
        double   *lane = block_of(e, v, state / e->lanes) + state % e->lanes;
        api_node_numbers(v->value, row * v->n, v->n, numbers);
        for (size_t i = 0; i < v->n; i++)
            lane[(v->order ? (size_t)v->order[i] : i) * e->lanes] = numbers[i];
        api_problem_clear(&found);
        if (check_state(&own, v, lane, &at)) continue;
        put_neutral(v, e->lanes, lane);
        if (!drop_state(e, state, begin * e->lanes, &found)) return false;
    }
    return true;
}

/* Looks at the states of blocks one after the other, which are not all good, and fails at the first. */
static bool fail_check(const api_evaluation *e, const api_vector *v, size_t begin, size_t end)
{
    for (size_t state = begin * e->lanes; state < end * e->lanes; state++) {
        size_t    row  = row_of(e, state);
        api_place at   = api_place_index(&v->at, row);
        double   *lane = block_of(e, v, state / e->lanes) + state % e->lanes;
        if (check_state(e, v, lane, &at)) continue;
        e->problem->row = (long long)row;
        break;
    }
    return false;
}

/* Whole blocks that can be read where their rows stand in the body. */
static size_t straight_blocks(const api_evaluation *e, const api_vector *v, size_t begin, size_t end)
{
    size_t whole = e->rows / e->lanes;
    if (e->samples > 0 || !api_node_doubles(v->value, 0)) return 0;
    return end < whole ? end - begin : begin < whole ? whole - begin : 0;
}

/* Packed rows of the right length; `rows` has room for those of a block. */
static bool read_blocks(const api_evaluation *e, const api_vector *v, size_t begin, size_t end, double *rows)
{
    size_t W = e->lanes, n = v->n, straight = straight_blocks(e, v, begin, end);
    bool   good = true;
    if (straight > 0)
        good = e->target->from_rows(api_node_doubles(v->value, begin * W * n), api_node_doubles(v->value, e->rows * n),
                                    n, v->order, block_of(e, v, begin), v->stride, straight);
    for (size_t block = begin + straight; block < end; block++) {
        for (size_t lane = 0; lane < W; lane++)
            api_node_numbers(v->value, row_of(e, block * W + lane) * n, n, rows + lane * n);
        good &= e->target->from_rows(rows, rows + W * n, n, v->order, block_of(e, v, block), v->stride, 1);
    }
    if (good && v->n_bounds > 0)
        good = e->target->bounded(block_of(e, v, begin), v->stride, v->bounds, v->n_bounds, end - begin);
    for (size_t block = begin; good && v->check && block < end; block++)
        good = v->check(e, v, block_of(e, v, block), W, W, NULL);
    if (good) return true;
    return e->failed_rows ? drop_rows(e, v, begin, end, rows) : fail_check(e, v, begin, end);
}

/* A batch of which not every row is n numbers: goes through the rows up to the first that is wrong. */
static bool fail_rows(const api_evaluation *e, const api_vector *v, double *values)
{
    api_node numbers;
    for (size_t row = 0; api_node_item(v->value, row, &numbers); row++) {
        api_place at = api_place_index(&v->at, row);
        if (read_row(e, v, &numbers, &at, values) && (e->failed_rows || !v->check || v->check(e, v, values, 1, 1, &at)))
            continue;
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
    own.problem = problem;
    return read_blocks(&own, r->v, begin, end, r->scratch + seat * own.lanes * r->v->n);
}

static bool read_all(api_evaluation *e, const api_vector *v)
{
    size_t  chunks = (e->blocks + e->chunk - 1) / e->chunk, seats = api_parallel_slots(e, chunks);
    reading r = {e, v, api_take(e->pool, seats * e->lanes * v->n * sizeof *r.scratch)};
    return r.scratch && api_run_parallel(e, seats, chunks, read_chunk, &r);
}

bool api_batch_read(api_evaluation *e, const api_vector *v)
{
    size_t extent[API_PACKED_RANK];
    bool   batch = api_is_batch(v->value, 1),
         packed  = batch && api_node_packed(v->value, extent) == 2 && extent[1] == v->n;
    if (packed && !e->held) return read_all(e, v);
    if (packed) {
        e->batches[e->n_batches++] = *v;
        return true;
    }
    if (!batch) return read_flat(e, v);
    double *values = api_take(e->pool, v->n * sizeof *values);
    return values && fail_rows(e, v, values);
}

/* --- window by window ------------------------------------------------------------------------------------------- */

bool api_batch_read_blocks(api_evaluation *e, size_t begin, size_t end)
{
    for (size_t i = 0; i < e->n_batches; i++)
        if (!read_blocks(e, &e->batches[i], begin, end, api_window_rows(e))) return false;
    return true;
}

bool api_batch_check(api_evaluation *e)
{
    for (size_t i = 0; i < e->n_batches; i++)
        for (e->first = 0; e->first < e->blocks; e->first += e->window) {
            size_t end = e->first + e->window < e->blocks ? e->first + e->window : e->blocks;
            if (!api_deadline_check(e->input->deadline, e->problem) ||
                !read_blocks(e, &e->batches[i], e->first, end, api_window_rows(e)))
                return false;
        }
    return true;
}
