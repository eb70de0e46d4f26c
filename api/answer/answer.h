/* answer.h - the answer to a request: its size, and its text as the states are evaluated. */
#pragma once
#include "api/lanes/evaluation.h"

typedef struct api_answer_array api_answer_array; /* answer_slots.h */
typedef struct api_answer_slot  api_answer_slot;

typedef struct api_answer {
    const api_plan   *plan;
    api_buffer       *body;     /* what is sent; of the caller */
    size_t            n_arrays; /* of the answer */
    api_answer_array *arrays;   /* [n_arrays] to be checked before they are written; NULL: rows do not fail alone */
    bool   in_chunks; /* slots are filled chunk by chunk in any order; else from the first state to the last */
    size_t n_lengths; /* of each slot: one for each chunk, or one */
    size_t n_slots;
    api_answer_slot *slots; /* [n_arrays] in the order of the answer */
} api_answer;

/* Counts the arrays, and the most bytes that the answer takes. False (413) when that is over the limit. */
bool api_answer_bound(api_answer *answer, size_t *bytes);

/* Lists answer->arrays, where rows fail alone and all results have their lanes. False with a problem. */
bool api_answer_list(api_answer *answer);

/* Claims so many bytes for the body and writes everything into it but the arrays: each has a slot with the most room
 * that it may need. `in_chunks`: chunks will be filled in any order. False with a problem. */
bool api_answer_open(api_answer *answer, size_t bytes, bool in_chunks);

/* Writes blocks [begin, end), which are in the lanes of `e`, of chunk `chunk`; the blocks of a chunk come in order.
 * Different chunks may be filled at the same time. False with a problem: a number is not finite. */
bool api_answer_fill(const api_answer *answer, const api_evaluation *e, size_t chunk, size_t begin, size_t end);

/* Where rows fail alone: marks the states of blocks [begin, end), which are in the lanes of `e`, that have a number
 * which is not finite. False with a problem: there is no memory. */
bool api_answer_check(const api_answer *answer, const api_evaluation *e, size_t begin, size_t end);

/* Closes the gaps between slots, and where rows fail alone appends their errors, which add to `*bytes`. False with a
 * problem: the answer is too large with them, or there is no memory. */
bool api_answer_close(api_answer *answer, size_t *bytes);
