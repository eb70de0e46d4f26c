/* vector_reader.h - read vectors of a request into lanes: one flat array of n numbers, or an array of rows of n numbers
 * each.
 */
#pragma once
#include "evaluation.h"

#define API_QUATERNION_FORM "a quaternion x, y, z, w"

/* A field of the request that contains vectors. */
struct api_vector {
    const api_node    *value; /* value of the field; not NULL */
    api_place          at;
    size_t             n;     /* numbers in one state */
    const char        *count; /* name of the number n, for messages ("nq"); NULL: it has none */
    const char        *form;  /* meaning of the numbers, for messages where `count` is NULL; NULL: none */
    const char *const *names; /* names of the n numbers, in the model's order; NULL: they have none */
    const int       *order; /* number i of a row is number order[i] in the model's order; NULL: the orders are equal */
    double          *lanes; /* lanes of the plan: number k of a state is entry first + k of `stride` entries */
    size_t           stride, first;
    size_t           n_bounds; /* number of bounds that each state is checked against */
    const dyn_bound *bounds;
    const double    *neutral; /* [n] in the model's order: replaces a bad state where rows fail alone; NULL: zeros */
    /* Checks, and may change, the numbers of `lanes` states, in the model's order: number k of a state is
     * values[k*stride], and the next state is one entry further. NULL: nothing to check. If `row` is NULL, the
     * result alone says whether a state is bad, and bounds are not checked. Otherwise `row` is the place of the one
     * state given; everything is checked, and e->problem says what is wrong (api_vector_entry). */
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
bool api_vector_check_one(const api_evaluation *e, const api_vector *vector, double *values);

/* Reads the vector into its lanes: a flat vector into all states, a batch row by row. Lanes after the last state
 * repeat it. If the plan has a window, a batch is only recorded for api_vectors_read_blocks, and the memory that
 * `vector` points to must stay valid. False with a problem. */
bool api_vector_read(api_plan *plan, const api_vector *vector);

/* Reads blocks [begin, end), which are those in the window, of the batches that api_vector_read has recorded. False
 * with a problem. */
bool api_vectors_read_blocks(const api_evaluation *e, size_t begin, size_t end);

/* Checks all batches that api_vector_read has recorded. False with the problem of the first bad row. */
bool api_vectors_check(const api_plan *plan);
