/* failed_rows.h - rows that fail alone: "on_error": "row" of a request.
 *
 * A state that cannot be evaluated is marked and its problem recorded, and evaluation goes on with the other states.
 * The lanes of a marked state may hold any numbers from then on. The answer has null (JSON) or NaN (CBOR) in their
 * place, and lists the problems in `errors`, in the order of the rows.
 *
 * Marks are per state and operation. Every state belongs to one part of the work (parallel.h), which alone sets its
 * marks; all threads share the list of problems, which a mutex guards. Without "on_error": "row" e->failed_rows is
 * NULL, and the problem of a state is that of the request. */
#pragma once
#include "evaluation.h"

/* Whether the request has "on_error": "row": known before api_failed_rows_open. */
bool api_failed_rows_requested(const api_evaluation *e);

/* Reads "on_error", when rows and operations are known. False with a problem. */
bool api_failed_rows_open(api_evaluation *e);

/* Frees the recorded problems; NULL is fine. */
void api_failed_rows_close(api_failed_rows *failures);

/* Marks a state for operation number `operation` of e->selected, or with -1 for all of them, and records the problem,
 * unless the state is marked already. False with e->problem: there is no memory. */
bool api_failed_rows_add(const api_evaluation *e, int operation, size_t state, const api_problem *found);

/* The same for every row of the request and all operations. */
bool api_failed_rows_add_all(const api_evaluation *e, const api_problem *found);

/* The marks [states] of an operation; with -1, of the states that fail in all operations. NULL: no row fails alone. */
const unsigned char *api_failed_rows_marks(const api_evaluation *e, int operation);

/* Whether a state is marked for all operations. */
bool api_failed_rows_has(const api_evaluation *e, size_t state);

/* Marks the states of blocks [begin, end), which are held, whose results have a number that is not finite. */
bool api_failed_rows_check(const api_evaluation *e, size_t begin, size_t end);

/* After all states are evaluated: marks all samples of a motion that has a marked one. */
void api_failed_rows_settle(const api_evaluation *e);

/* Whether rows fail alone and none is left. */
bool api_failed_rows_all(const api_evaluation *e);

/* Sorts the recorded problems by rows, for api_failed_rows_emit. False with a problem. */
bool api_failed_rows_sort(const api_evaluation *e);

/* The array `errors`. */
void api_failed_rows_emit(const api_evaluation *e, api_emit *to);

/* Substitutes for bad positions [nq] and a bad guess: the reference of a model with loops, else zeros and unit
 * quaternions. NULL: no row fails alone. */
const double *api_failed_rows_home(const api_evaluation *e);
const double *api_failed_rows_guess(const api_evaluation *e);
