/* batch.h - batchable vectors of a request: one flat array of n numbers, or an array of rows of n numbers each. */
#pragma once
#include "api/request/fields.h"

/* One such field. */
typedef struct api_vector {
    const api_node    *value; /* as given, not NULL */
    api_place          at;
    size_t             n;     /* numbers in one state */
    const char        *count; /* what n is called, for messages ("nq"); NULL: nothing */
    const char *const *names; /* of the n numbers, in the model's order; NULL: they have none */
    const int         *order; /* number i of a row is names[order[i]]; NULL: i */
    double            *lanes; /* where number k of a state goes: entry first + k of `stride` */
    size_t             stride, first;
    size_t             n_bounds; /* that hold for the numbers of a state; `check` knows what to say when they do not */
    const dyn_bound   *bounds;
    const double      *neutral; /* [n] in the model's order: replaces a bad state where rows fail alone; NULL: zeros */
    /* Looks at (and may change) `lanes` states, number k of a state, in the model's order, being values[k * stride]
     * and those of the next state one further; NULL: nothing to check. False when one is bad: with a problem, which
     * api_vector_entry helps to say, when `row` is the place of the one state given; without, and not looking at what
     * bounds say, when it is NULL. */
    bool (*check)(const api_evaluation *e, const struct api_vector *vector, double *values, size_t stride, size_t lanes,
                  const api_place *row);
} api_vector;

/* For a vector's check, of the quaternion that begins at its number `first`: of unit length, and made so to rounding.
 */
bool api_check_quaternion(const api_evaluation *e, const api_vector *vector, size_t first, double *quaternion,
                          size_t stride, size_t lanes, const api_place *row);

/* Whether a field is a batch of rows that are `depth` levels of arrays each: 1, vectors. */
bool api_is_batch(const api_node *value, size_t depth);

/* Notes whether the field is a batch, and of how many rows; false with a problem when the rows differ from those of
 * another field. */
bool api_batch_measure(api_evaluation *e, const api_node *value, const api_place *at);

/* Notes a batch of so many rows. */
bool api_batch_rows(api_evaluation *e, size_t rows, const api_place *at);

/* Looks at the numbers of one state that all rows share, in the model's order. False with a problem; where rows fail
 * alone, all of them do. */
bool api_batch_check_one(const api_evaluation *e, const api_vector *vector, double *values);

/* Reads it into its lanes, padding filled with a copy of the last state: a flat one into all states, of a batch those
 * that are held, which with a window (window.h) are none yet: then `vector` is kept, with all that it points to. */
bool api_batch_read(api_evaluation *e, const api_vector *vector);

/* Reads blocks [begin, end), which are held, of what was kept. */
bool api_batch_read_blocks(api_evaluation *e, size_t begin, size_t end);

/* Whether everything that was kept is as it should be; false with the problem of the first that is not. */
bool api_batch_check(api_evaluation *e);

/* A state cannot be evaluated. Fails e->problem for its row of the request, at its entry of `field`, or the field
 * itself where that is one for all rows; an api_field that is not given, or < 0, is not pointed at. Where rows fail
 * alone (failed_rows.h) the problem is recorded instead and the result is true: the caller goes on with the next state,
 * and the results of this one do not matter. */
bool api_fail_state(const api_evaluation *e, api_code code, int field, size_t state, const char *format, ...)
    __attribute__((cold, format(printf, 5, 6)));

/* The same with the code, detail, fraction and time of `found`. */
bool api_fail_found(const api_evaluation *e, int field, size_t state, const api_problem *found) __attribute__((cold));

/* Pointer to the number that is entry `k` in the model's order, in the row or object at `row`. */
api_place api_vector_entry(const api_vector *vector, const api_place *row, size_t k);

/* The same for row `row` of a request without motions, pointing at its entry of `batch`. */
bool api_fail_entry(const api_evaluation *e, const api_place *batch, size_t row, const api_problem *found)
    __attribute__((cold));
