/* emit_lanes.c - write arrays of numbers from the lanes of the kernels to JSON text; emit_binary.c writes them to
 * CBOR and MessagePack. */
#include "emit_bytes.h"
#include "number.h"
#include <math.h>

size_t api_lanes_count(const api_lanes *a)
{
    size_t n = 1;
    for (size_t axis = 0; axis < a->rank; axis++)
        n *= a->extent[axis];
    return n;
}

static size_t width_of(const api_lanes *a)
{
    return (size_t)a->kernels->lanes;
}

/* Returns the address of the block of lanes whose first state is `state`. */
static const double *block_at(const api_lanes *a, size_t state)
{
    return a->values + (state - a->first) * a->entries;
}

static const double *state_at(const api_lanes *a, size_t state)
{
    size_t lane = (state - a->first) % width_of(a);
    return block_at(a, state - lane) + lane;
}

/* Returns number `place`, in row-major order, of the state at `state`. */
static double number_at(const api_lanes *a, const double *state, size_t place)
{
    return state[(a->order ? (size_t)a->order[place] : place) * width_of(a)];
}

static bool has_failed(const api_lanes *a, size_t state)
{
    return a->failed && a->failed[state];
}

/* True if all numbers of a block are finite. The sum of 0 * x is 0 unless some x is infinite or NaN, so one test covers
 * the block. */
static bool block_finite(const api_lanes *a, const double *block)
{
    double sum[DYN_MAX_LANES] = {0}, all = 0;
    size_t n = api_lanes_count(a), W = width_of(a);
    for (size_t place = 0; place < n; place++) {
        const double *x = block + (a->order ? (size_t)a->order[place] : place) * W;
        for (size_t l = 0; l < W; l++)
            sum[l] += 0 * x[l];
    }
    for (size_t l = 0; l < W; l++)
        all += sum[l];
    return !isnan(all);
}

bool api_emit_lanes_find_non_finite(const api_lanes *a, size_t first, size_t states, size_t *fault)
{
    size_t n = api_lanes_count(a), W = width_of(a);
    for (size_t state = first; state < first + states; state++) {
        if ((state - a->first) % W == 0 && block_finite(a, block_at(a, state))) {
            state += W - 1;
            continue;
        }
        if (has_failed(a, state)) continue;
        for (size_t place = 0; place < n; place++) {
            *fault = state * n + place;
            if (!isfinite(number_at(a, state_at(a, state), place))) return true;
        }
    }
    return false;
}

/* --- JSON ------------------------------------------------------------------------------------------------------- */

/* Returns the largest length in bytes of one state's JSON text with the comma after it: brackets and a comma for each
 * array, a comma after each number. */
static size_t text_bound(const api_lanes *a)
{
    size_t bytes = a->group > 0 ? 3 : 0, arrays = 1;
    for (size_t axis = 0; axis < a->rank; axis++) {
        bytes += 3 * arrays;
        arrays *= a->extent[axis];
    }
    return bytes + arrays * (API_NUMBER_MAX + 1);
}

/* Writes `count` numbers of a state from number `place` on, separated by commas. Returns the end of the text; NULL if a
 * number is not finite. */
static char *write_numbers(const api_lanes *a, const double *state, size_t place, size_t count, char *to)
{
    double piece[32];
    for (size_t i = 0, n; i < count; i += n) {
        bool finite = true;
        n           = count - i < sizeof piece / sizeof *piece ? count - i : sizeof piece / sizeof *piece;
        for (size_t k = 0; k < n; k++) {
            piece[k] = number_at(a, state, place + i + k);
            finite &= isfinite(piece[k]) != 0;
        }
        if (!finite) return NULL;
        if (i > 0) *to++ = ',';
        to += api_numbers_write(piece, n, to);
    }
    return to;
}

/* False if the deadline has passed, which is checked for large arrays only. */
static bool writes_on(const api_lanes *a, size_t count)
{
    enum { LARGE = 8192 /* numbers, which are written in about 0.1 ms */ };
    api_problem late;
    api_problem_clear(&late);
    return count < LARGE || api_deadline_check(a->deadline, &late);
}

/* Writes the subarray of a state from dimension `axis` on: `count` numbers from number `place` on. Returns the end of
 * the text; NULL if a number is not finite. */
static char *write_axis(const api_lanes *a, size_t axis, const double *state, size_t place, size_t count, char *to)
{
    if (axis == a->rank) return write_numbers(a, state, place, count, to);
    bool   row   = axis + 1 == a->rank; /* true: the innermost dimension, whose numbers are written at once */
    size_t below = a->extent[axis] > 0 ? count / a->extent[axis] : 0, n = row ? 1 : a->extent[axis];
    *to++ = '[';
    for (size_t i = 0; i < n && writes_on(a, row ? 0 : count); i++) {
        if (i > 0) *to++ = ',';
        to = write_axis(a, axis + 1, state, place + i * below, row ? count : below, to);
        if (!to) return NULL;
    }
    *to++ = ']';
    return to;
}

/* Writes null for a failed state. A group of states gets a single null, which its first state writes. */
static char *write_null(const api_lanes *a, size_t state, char *to)
{
    if (a->group > 0 && state % a->group > 0) return to;
    if (state > 0) *to++ = ',';
    memcpy(to, "null", strlen("null"));
    return to + strlen("null");
}

enum { MOST_ROW = 64 }; /* numbers of the largest state that is written together with its neighbours in a block */

/* True if each state is one row, and none has failed. */
static bool are_rows(const api_lanes *a)
{
    return a->batched && a->rank == 1 && a->group == 0 && !a->failed && a->extent[0] <= MOST_ROW;
}

/* Writes states that are rows, one block of lanes at a time. */
static bool write_rows(api_emit *e, const api_lanes *a, size_t first, size_t states)
{
    double rows[DYN_MAX_LANES * MOST_ROW];
    size_t n = a->extent[0], W = width_of(a);
    for (size_t state = first, some; state < first + states; state += some) {
        some       = first + states - state < W ? first + states - state : W;
        char *from = api_buffer_room(e->buffer, some * text_bound(a) + API_NUMBER_ROOM), *to = from;
        if (!from) break;
        if (!a->kernels->to_rows(block_at(a, state), a->entries, n, a->order, rows, some)) return false;
        if (state > 0) *to++ = ',';
        *to++ = '[';
        to += api_rows_write(rows, some * n, n, to);
        *to++ = ']';
        e->buffer->length += (size_t)(to - from);
    }
    return true;
}

static bool write_text(api_emit *e, const api_lanes *a, size_t first, size_t states)
{
    if (are_rows(a)) return write_rows(e, a, first, states);
    size_t bound = text_bound(a), n = api_lanes_count(a);
    for (size_t state = first; state < first + states; state++) {
        char *from = api_buffer_room(e->buffer, bound + API_NUMBER_ROOM), *to = from;
        if (!from) break;
        if (has_failed(a, state)) {
            e->buffer->length += (size_t)(write_null(a, state, to) - from);
            continue;
        }
        if (state > 0) *to++ = ',';
        if (a->group > 0 && state % a->group == 0) *to++ = '[';
        to = write_axis(a, 0, state_at(a, state), 0, n, to);
        if (!to) return false;
        if (a->group > 0 && (state + 1) % a->group == 0) *to++ = ']';
        e->buffer->length += (size_t)(to - from);
    }
    return true;
}

/* --- both ------------------------------------------------------------------------------------------------------- */

size_t api_lanes_dimensions(const api_lanes *a, size_t extent[API_EMIT_RANK + 2])
{
    size_t n = 0;
    if (a->batched) extent[n++] = a->group > 0 ? a->states / a->group : a->states;
    if (a->group > 0) extent[n++] = a->group;
    for (size_t axis = 0; axis < a->rank; axis++)
        extent[n++] = a->extent[axis];
    return n;
}

static bool is_typed(const api_emit *e)
{
    return e->media == API_MEDIA_CBOR_TYPED || e->media == API_MEDIA_CBOR_MULTIDIMENSIONAL;
}

/* Writes an array that has no numbers. RFC 8746 demands positive extents, so an array of several dimensions becomes an
 * array of empty arrays. */
static void emit_empty(api_emit *e, size_t rank, const size_t *extent)
{
    if (rank == 1 && is_typed(e)) {
        api_emit_begin_value(e);
        api_emit_typed(e, 1, extent);
        return;
    }
    api_emit_array(e);
    for (size_t i = 0; rank > 0 && i < extent[0]; i++)
        emit_empty(e, rank - 1, extent + 1);
    api_emit_end(e);
}

void api_emit_lanes_begin(api_emit *e, const api_lanes *a)
{
    size_t extent[API_EMIT_RANK + 2], rank = api_lanes_dimensions(a, extent);
    if (a->states * api_lanes_count(a) == 0) {
        emit_empty(e, rank, extent);
    } else if (e->media != API_MEDIA_JSON) {
        api_emit_begin_value(e);
        api_binary_lanes_begin(e, a);
    } else if (a->batched) {
        api_emit_array(e);
    } else {
        api_emit_begin_value(e);
    }
}

size_t api_emit_lanes_room(api_media media, const api_lanes *a, size_t states)
{
    if (api_lanes_count(a) == 0) return 0;
    if (media != API_MEDIA_JSON) return api_binary_lanes_room(media, a, 0, states);
    return states * text_bound(a) + API_NUMBER_ROOM;
}

bool api_emit_lanes_states(api_emit *e, const api_lanes *a, size_t first, size_t states, size_t *fault)
{
    bool good = true;
    if (!e->buffer) {
        e->bytes += api_emit_lanes_room(e->media, a, states);
    } else if (api_lanes_count(a) == 0) {
        return true;
    } else if (e->media == API_MEDIA_JSON) {
        good = write_text(e, a, first, states);
    } else {
        good = api_binary_lanes_states(e, a, first, states);
    }
    if (good) return true;
    e->failed = true;
    api_emit_lanes_find_non_finite(a, first, states, fault);
    return false;
}

void api_emit_lanes_end(api_emit *e, const api_lanes *a)
{
    if (e->media == API_MEDIA_JSON && a->batched && a->states * api_lanes_count(a) > 0) api_emit_end(e);
}

void api_emit_numbers(api_emit *e, const double *values, size_t rank, const size_t *extent)
{
    /* A plain array has the layout of one lane, that of the scalar kernels at index 0. */
    api_lanes a = {.values = values, .kernels = dyn_kernels_at(0), .states = 1, .rank = rank};
    size_t    fault;
    memcpy(a.extent, extent, rank * sizeof *extent);
    api_emit_lanes_begin(e, &a);
    if (api_emit_lanes_states(e, &a, 0, 1, &fault))
        api_emit_lanes_end(e, &a);
    else
        api_emit_note_not_finite(e);
}
