/* vector_reader.c - read and check vectors of a request, into lanes: see vector_reader.h. */
#include "vector_reader.h"
#include "api/requests/fields/rows.h"
#include "api/requests/fields/fields.h"
#include "failed_rows.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REMEDY = 256 /* bytes of the text of a remedy */ };

/* --- one row ----------------------------------------------------------------------------------------------------- */

api_place api_vector_entry(const api_vector *vector, const api_place *row, size_t k)
{
    if (api_node_is(vector->value, API_OBJECT)) return api_place_key(row, vector->names[k]);
    if (api_node_is(vector->value, API_NUMBER)) return *row;
    size_t i = k;
    for (size_t j = 0; vector->order && j < vector->n; j++)
        if ((size_t)vector->order[j] == k) i = j;
    return api_place_index(row, i);
}

/* Writes the remedy for a row of another length: what its numbers may be. */
static void write_count_remedy(const api_evaluation *e, const api_vector *v, const api_node *row, char text[REMEDY])
{
    const size_t n = api_node_size(row);
    size_t       extent[API_PACKED_RANK];
    int          length = 0;
    if (!e->query->batched && v->n > 1 && n > v->n && n % v->n == 0)
        length = snprintf(text, REMEDY, "; %zu states are %zu rows of %zu: [[...], [...]]", n / v->n, n / v->n, v->n);
    const char *remedy =
        v->count ? api_coordinates_remedy(e->query, row, strcmp(v->count, "nq") == 0) : api_comma_remedy(row, v->n);
    snprintf(text + length, REMEDY - (size_t)length, "%s", remedy);
    if (!*text && e->query->batched && api_node_packed(v->value, extent) == 2 && extent[0] == v->n)
        snprintf(text, REMEDY, "; each row of the array is a state: transpose it, or send one state as one row");
}

static bool fail_count(const api_evaluation *e, const api_vector *v, const api_node *row, const api_place *at)
{
    const size_t given = api_node_size(row);
    char         remedy[REMEDY];
    write_count_remedy(e, v, row, remedy);
    if (!v->count)
        return api_fail_at(e->problem, at, API_WRONG_SHAPE, "%zu entries given, %zu expected%s%s%s", given, v->n,
                           v->form ? ": " : "", v->form ? v->form : "", remedy);
    return api_fail_at(e->problem, at, API_WRONG_SHAPE, "%zu entries given, %zu expected (%s of %s%s)%s", given, v->n,
                       v->count, e->model->name, e->query->reduced ? " without its locked joints" : "", remedy);
}

/* Copies a row of n packed numbers, the usual case. False if the row is anything else. */
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
        return api_fail_at(e->problem, at, API_WRONG_TYPE, "%s given, an array of %zu numbers expected%s",
                           api_node_kind_text(row), v->n, api_node_remedy(row));
    size_t given = api_node_size(row);
    for (size_t i = 0; i < given; i++) {
        api_node  entry;
        size_t    k        = i < v->n && v->order ? (size_t)v->order[i] : i;
        bool      named    = v->names && i < v->n;
        api_place entry_at = api_place_index(at, i);
        if (api_node_item(row, i, &entry) && !api_node_is(&entry, API_NUMBER))
            return api_fail_at(e->problem, &entry_at, API_WRONG_TYPE, "%s given%s%.64s, a number expected%s",
                               api_node_kind_text(&entry), named ? " for " : "", named ? v->names[k] : "",
                               api_node_is(&entry, API_ARRAY) ? "; there is one level of arrays too many"
                                                              : api_node_remedy(&entry));
        if (i < v->n) values[k] = api_node_number(&entry);
    }
    return given == v->n || fail_count(e, v, row, at);
}

/* True for an object that an encoder has written in place of an array, such as {"0": 1, "1": 2}: its members are not
 * coordinates. */
static bool is_encoded_array(const api_node *object)
{
    return api_node_get(object, "0") || api_node_get(object, "1") || *api_node_remedy(object);
}

/* False with a problem if a name in the object is not a coordinate. */
static bool check_names(const api_evaluation *e, const api_vector *v)
{
    for (size_t member = 0; member < api_node_size(v->value); member++) {
        const char *key = api_node_key(v->value, member);
        size_t      k   = 0;
        while (k < v->n && strcmp(v->names[k], key) != 0)
            k++;
        api_place at    = api_place_key(&v->at, key);
        api_names known = api_names_from_array(v->names, v->n);
        if (k == v->n && is_encoded_array(v->value))
            return api_fail_at(e->problem, &v->at, API_WRONG_TYPE, "%s given, an array of %zu numbers expected%s",
                               api_node_kind_text(v->value), v->n, api_node_remedy(v->value));
        if (k == v->n) return api_fail_no_such(e->query, &at, "coordinate", key, &known);
    }
    return true;
}

#define EMPTY_OBJECT "an empty object given, as a Map or Set of JavaScript is written: "

/* Reads an object with one number for every coordinate name, in any order. */
static bool read_named(const api_evaluation *e, const api_vector *v, double *values)
{
    if (e->query->batched)
        return api_fail_at(e->problem, &v->at, API_WRONG_TYPE,
                           "an object given, but names instead of order are for one state, and %s is a batch",
                           e->query->rows_from);
    for (size_t k = 0; k < v->n; k++) {
        const api_node *entry = api_node_get(v->value, v->names[k]);
        api_place       at    = api_place_key(&v->at, v->names[k]);
        if (!entry) /* an unknown name may explain why this one is missing */
            return check_names(e, v) && api_fail_at(e->problem, &at, API_MISSING_FIELD, "%s%.64s is missing",
                                                    api_node_size(v->value) == 0 ? EMPTY_OBJECT : "", v->names[k]);
        if (!api_node_is(entry, API_NUMBER))
            return api_fail_at(e->problem, &at, API_WRONG_TYPE, "%s given for %.64s, a number expected%s",
                               api_node_kind_text(entry), v->names[k], api_node_remedy(entry));
        values[k] = api_node_number(entry);
    }
    return api_node_size(v->value) == v->n || check_names(e, v);
}

/* --- into lanes ------------------------------------------------------------------------------------------------- */

static double *block_of(const api_evaluation *e, const api_vector *v, size_t block)
{
    return api_block(e, v->lanes, v->stride, block) + v->first * e->lanes;
}

/* Checks one state. The bounds of all numbers are checked by one kernel call; the vector's own check then names the bad
 * number. */
static bool check_one(const api_evaluation *e, const api_vector *v, double *values)
{
    if (!v->check) return true;
    bool bounded = v->n_bounds == 0 || e->query->call->api->alone->bounded(values, v->n, v->bounds, v->n_bounds, 1);
    return (bounded && v->check(e, v, values, 1, 1, NULL)) || v->check(e, v, values, 1, 1, &v->at);
}

/* Replaces the numbers of a state that is not valid by v->neutral. Entries of the state are `stride` apart. */
static void put_neutral(const api_vector *v, size_t stride, double *lane)
{
    for (size_t k = 0; k < v->n; k++)
        lane[k * stride] = v->neutral ? v->neutral[k] : 0;
}

bool api_vector_check_one(const api_evaluation *e, const api_vector *v, double *values)
{
    if (!e->plan->failed_rows) return check_one(e, v, values);
    api_problem    found;
    api_evaluation own = *e;
    own.problem        = &found;
    api_problem_clear(&found);
    if (check_one(&own, v, values)) return true;
    put_neutral(v, 1, values);
    return api_failed_rows_add_all(e->plan->failed_rows, &found, e->problem);
}

/* Reads one state: an array, an object, or for a model with one coordinate a number. */
static bool read_state(const api_evaluation *e, const api_vector *v, double *values)
{
    if (api_node_is(v->value, API_OBJECT) && v->names) return read_named(e, v, values);
    if (v->n > 1 || !api_node_is(v->value, API_NUMBER)) return read_row(e, v, v->value, &v->at, values);
    *values = api_node_number(v->value);
    return true;
}

static bool read_flat(const api_plan *plan, const api_vector *v)
{
    api_evaluation e      = api_evaluation_of(plan);
    size_t         W      = plan->lanes;
    double        *values = W == 1 ? block_of(&e, v, 0) : api_take(plan->query->pool, v->n * sizeof *values);
    if (!values) return false;
    if (!read_state(&e, v, values) || !api_vector_check_one(&e, v, values)) return false;
    for (size_t block = W == 1 ? 1 : 0; block < plan->window; block++) {
        double *to = block_of(&e, v, block);
        for (size_t k = 0; k < v->n; k++)
            for (size_t lane = 0; lane < W; lane++)
                to[k * W + lane] = values[k];
    }
    return true;
}

/* Fills the lanes of a batch without rows with numbers; they are not evaluated. */
static bool fill_neutral(const api_plan *plan, const api_vector *v)
{
    const api_evaluation e = api_evaluation_of(plan);
    for (size_t state = 0; state < plan->window * plan->lanes; state++)
        put_neutral(v, plan->lanes, block_of(&e, v, state / plan->lanes) + state % plan->lanes);
    return true;
}

static bool fail_number(const api_evaluation *e, const api_place *row, size_t i)
{
    api_place at = api_place_index(row, i);
    return api_fail_at(e->problem, &at, API_NON_FINITE, "the number is not finite");
}

/* Checks one state in its lane, at the place `row` of the request. False with a problem. */
static bool check_state(const api_evaluation *e, const api_vector *v, double *lane, const api_place *row)
{
    for (size_t i = 0; i < v->n; i++)
        if (!isfinite(lane[(v->order ? (size_t)v->order[i] : i) * e->lanes])) return fail_number(e, row, i);
    return !v->check || v->check(e, v, lane, e->lanes, 1, row);
}

/* Records the problem of a bad state. A row of motions is read once for each sample: only its first sample from
 * state `first` on is recorded. */
static bool drop_state(const api_evaluation *e, size_t state, size_t first, const api_problem *found)
{
    if (state >= api_states(e->query) || (e->query->samples > 0 && state > first && state % e->query->samples > 0))
        return true;
    return api_failed_rows_add(e->plan->failed_rows, -1, state, found, e->problem);
}

/* Checks the rows of blocks [begin, end) one after the other and replaces the bad rows. Every row is read again, since
 * the check of the whole block may have normalised its quaternions already. `numbers` has space for a row. */
static bool drop_rows(const api_evaluation *e, const api_vector *v, size_t begin, size_t end, double *numbers)
{
    api_problem    found;
    api_evaluation own = *e;
    own.problem        = &found;
    for (size_t state = begin * e->lanes; state < end * e->lanes; state++) {
        size_t    row  = api_row_of(e->query, state);
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

/* Fails with the problem of the first bad state of blocks [begin, end). The result is false. */
static bool fail_check(const api_evaluation *e, const api_vector *v, size_t begin, size_t end)
{
    for (size_t state = begin * e->lanes; state < end * e->lanes; state++) {
        size_t    row  = api_row_of(e->query, state);
        api_place at   = api_place_index(&v->at, row);
        double   *lane = block_of(e, v, state / e->lanes) + state % e->lanes;
        if (check_state(e, v, lane, &at)) continue;
        e->problem->row = (long long)row;
        break;
    }
    return false;
}

/* Returns the number of blocks from `begin` on whose rows can be read directly from the body, because the body contains
 * them as doubles. */
static size_t straight_blocks(const api_evaluation *e, const api_vector *v, size_t begin, size_t end)
{
    size_t whole = e->query->rows / e->lanes;
    if (e->query->samples > 0 || !api_node_doubles(v->value, 0)) return 0;
    return end < whole ? end - begin : begin < whole ? whole - begin : 0;
}

/* Reads blocks of packed rows of n numbers; `rows` has space for the rows of a block. False with a problem. */
static bool read_blocks(const api_evaluation *e, const api_vector *v, size_t begin, size_t end, double *rows)
{
    size_t W = e->lanes, n = v->n, straight = straight_blocks(e, v, begin, end);
    bool   good = true;
    if (straight > 0) {
        dyn_rows given = {.begin = api_node_doubles(v->value, begin * W * n),
                          .end   = api_node_doubles(v->value, e->query->rows * n),
                          .n     = n,
                          .order = v->order};
        good           = e->plan->target->from_rows(&given, block_of(e, v, begin), v->stride, straight);
    }
    for (size_t block = begin + straight; block < end; block++) {
        for (size_t lane = 0; lane < W; lane++)
            api_node_numbers(v->value, api_row_of(e->query, block * W + lane) * n, n, rows + lane * n);
        dyn_rows copied = {.begin = rows, .end = rows + W * n, .n = n, .order = v->order};
        good &= e->plan->target->from_rows(&copied, block_of(e, v, block), v->stride, 1);
    }
    if (good && v->n_bounds > 0)
        good = e->plan->target->bounded(block_of(e, v, begin), v->stride, v->bounds, v->n_bounds, end - begin);
    for (size_t block = begin; good && v->check && block < end; block++)
        good = v->check(e, v, block_of(e, v, block), W, W, NULL);
    if (good) return true;
    return e->plan->failed_rows ? drop_rows(e, v, begin, end, rows) : fail_check(e, v, begin, end);
}

/* Fails with the problem of the first bad row of a batch in which not every row is n numbers. The result is false. */
static bool fail_rows(const api_evaluation *e, const api_vector *v, double *values)
{
    api_node numbers;
    for (size_t row = 0; api_node_item(v->value, row, &numbers); row++) {
        api_place at = api_place_index(&v->at, row);
        if (read_row(e, v, &numbers, &at, values) &&
            (e->plan->failed_rows || !v->check || v->check(e, v, values, 1, 1, &at)))
            continue;
        e->problem->row = (long long)row;
        break;
    }
    return false;
}

typedef struct reading {
    const api_plan   *plan;
    const api_vector *v;
    double           *scratch; /* [slots] memory for the numbers of a block */
} reading;

static bool read_chunk(void *arg, size_t slot, size_t chunk, api_problem *problem)
{
    const reading  *r     = arg;
    api_evaluation  e     = api_evaluation_of(r->plan);
    const api_plan *p     = r->plan;
    size_t          begin = chunk * p->chunk, end = begin + p->chunk < p->blocks ? begin + p->chunk : p->blocks;
    e.problem = problem;
    return read_blocks(&e, r->v, begin, end, r->scratch + slot * p->lanes * r->v->n);
}

static bool read_all(const api_plan *plan, const api_vector *v)
{
    api_parallel parallel = api_query_parallel(plan->query);
    size_t       chunks = (plan->blocks + plan->chunk - 1) / plan->chunk, slots = api_parallel_slots(&parallel, chunks);
    reading      r = {plan, v, api_take(plan->query->pool, slots * plan->lanes * v->n * sizeof *r.scratch)};
    return r.scratch && api_run_parallel(&parallel, slots, chunks, read_chunk, &r);
}

bool api_vector_read(api_plan *plan, const api_vector *v)
{
    size_t extent[API_PACKED_RANK];
    bool   batch = api_is_batch(v->value, 1),
         packed  = batch && api_node_packed(v->value, extent) == 2 && extent[1] == v->n;
    if (api_is_empty_batch(plan->query, v->value)) return fill_neutral(plan, v);
    if (packed && !plan->window_lanes) return read_all(plan, v);
    if (packed) {
        plan->batches[plan->n_batches++] = *v;
        return true;
    }
    if (!batch) return read_flat(plan, v);
    api_evaluation e      = api_evaluation_of(plan);
    double        *values = api_take(plan->query->pool, v->n * sizeof *values);
    return values && fail_rows(&e, v, values);
}

/* --- window by window ------------------------------------------------------------------------------------------- */

bool api_vectors_read_blocks(const api_evaluation *e, size_t begin, size_t end)
{
    const api_plan *plan = e->plan;
    for (size_t i = 0; i < plan->n_batches; i++)
        if (!read_blocks(e, &plan->batches[i], begin, end, api_window_rows(plan, e->window_lanes))) return false;
    return true;
}

bool api_vectors_check(const api_plan *plan)
{
    api_evaluation e = api_evaluation_of(plan);
    for (size_t i = 0; i < plan->n_batches; i++)
        for (e.first = 0; e.first < plan->blocks; e.first += plan->window) {
            size_t end = e.first + plan->window < plan->blocks ? e.first + plan->window : plan->blocks;
            if (!api_deadline_check(plan->query->input->deadline, e.problem) ||
                !read_blocks(&e, &plan->batches[i], e.first, end, api_window_rows(plan, e.window_lanes)))
                return false;
        }
    return true;
}
