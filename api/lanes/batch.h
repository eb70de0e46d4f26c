/* batch.h - read vectors of a request into lanes: one flat array of n numbers, or an array of rows of n numbers each.
 */
#pragma once
#include "evaluation.h"

/* One such field. */
struct api_vector {
    const api_node    *value; /* of the field; not NULL */
    api_place          at;
    size_t             n;     /* numbers in one state */
    const char        *count; /* the name of n, for messages ("nq"); NULL: it has none */
    const char *const *names; /* of the n numbers, in the model's order; NULL: they have none */
    const int         *order; /* number i of a row is names[order[i]]; NULL: i */
    double            *lanes; /* of the plan: number k of a state is entry first + k of `stride` */
    size_t             stride, first;
    size_t             n_bounds; /* bounds of the numbers of a state */
    const dyn_bound   *bounds;
    const double      *neutral; /* [n] in the model's order: replaces a bad state where rows fail alone; NULL: zeros */
    /* Checks, and may change, `lanes` states: number k of a state, in the model's order, is values[k * stride], that of
     * the next state is one further. NULL: nothing to check. Without `row` the result alone says whether a state is
     * bad, and bounds are not checked. With `row`, the place of the one state given, everything is checked, and
     * e->problem says what is wrong (api_vector_entry). */
    bool (*check)(const api_evaluation *e, const api_vector *vector, double *values, size_t stride, size_t lanes,
                  const api_place *row);
};

/* For a vector's check: normalises the quaternions that begin at number `first`. False if a norm is not 1. */
bool api_check_quaternion(const api_evaluation *e, const api_vector *vector, size_t first, double *quaternion,
                          size_t stride, size_t lanes, const api_place *row);

/* Pointer to the number that is entry `k` in the model's order, in the row or object at `row`. */
api_place api_vector_entry(const api_vector *vector, const api_place *row, size_t k);

/* Checks the numbers of one state that all rows share, in the model's order. False with a problem; where rows fail
 * alone, all rows fail instead. */
bool api_batch_check_one(const api_evaluation *e, const api_vector *vector, double *values);

/* Reads the vector into its lanes: a flat one into all states, a batch row by row; the states behind the last one
 * repeat it. With a window a batch is only noted, for api_batch_read_blocks: what `vector` points to must stay. False
 * with a problem. */
bool api_batch_read(api_plan *plan, const api_vector *vector);

/* Reads blocks [begin, end), those in the window, of the batches that were noted. False with a problem. */
bool api_batch_read_blocks(const api_evaluation *e, size_t begin, size_t end);

/* Checks all batches that were noted. False with the problem of the first bad row. */
bool api_batch_check(const api_plan *plan);
