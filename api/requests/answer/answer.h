/* answer.h - measure the answer to a request, and write its text while the states are evaluated. */
#pragma once
#include "api/requests/lanes/evaluation.h"

typedef struct api_answer_array api_answer_array; /* answer_slots.h */
typedef struct api_answer_slot  api_answer_slot;

typedef struct api_answer {
    const api_plan   *plan;
    api_buffer       *body;     /* the body of the reply; the caller owns the buffer */
    size_t            n_arrays; /* number of arrays in the answer */
    api_answer_array *arrays;   /* [n_arrays] arrays to check before they are written; NULL without "on_error": "row" */
    /* True: slots are filled chunk by chunk in any order; false: from the first state to the last. */
    bool             in_chunks;
    size_t           n_lengths; /* entries of api_answer_slot.length: the number of chunks, or 1 */
    size_t           n_slots;
    api_answer_slot *slots; /* [n_slots] space for each array, in the order of the answer */
} api_answer;

/* Counts the arrays and sets *bytes to the largest length that the answer may have. False (413) if it exceeds the
 * limit. */
bool api_answer_bound(api_answer *answer, size_t *bytes);

/* With "on_error": "row", lists the arrays in answer->arrays; call when all results have their lanes. False with a
 * problem. */
bool api_answer_list(api_answer *answer);

/* Claims `bytes` bytes for the body and writes everything except the arrays into it. For each array it leaves a slot of
 * the largest size that the array may need. `in_chunks`: chunks will be filled in any order. False with a problem. */
bool api_answer_open(api_answer *answer, size_t bytes, bool in_chunks);

/* Writes blocks [begin, end) of chunk `chunk` from the lanes of `e`. The blocks of a chunk must be written in order;
 * several threads may write different chunks at the same time. False with a problem if a number is not finite. */
bool api_answer_fill(const api_answer *answer, const api_evaluation *e, size_t chunk, size_t begin, size_t end);

/* With "on_error": "row", marks those states of blocks [begin, end) as failed that have an infinite or NaN number in
 * the lanes of `e`. False with a problem if memory is short. */
bool api_answer_check(const api_answer *answer, const api_evaluation *e, size_t begin, size_t end);

/* Removes the unused space of the slots. With "on_error": "row", appends the errors of the rows and adds their memory
 * to `*bytes`. False with a problem: the answer became too large, or memory is short. */
bool api_answer_close(api_answer *answer, size_t *bytes);
