/* failed_rows.h - rows that fail alone: "on_error": "row" of a request.
 *
 * A state that cannot be evaluated is marked and its problem recorded, and evaluation continues with the other states.
 * The lanes of a marked state may contain any numbers from then on. The answer has null (JSON) or NaN (CBOR) in their
 * place, and lists the problems in `errors`, in the order of the rows.
 *
 * Marks are per state and operation. Every state belongs to one task (parallel.h), which alone sets its marks; all
 * threads share the list of problems, which a mutex guards. Without "on_error": "row" there are no failed rows (NULL),
 * and the problem of a state is that of the request. */
#pragma once
#include "plan.h"
#include "api/codec/emit.h"

/* True if the request has "on_error": "row"; also before api_failed_rows_open. */
bool api_failed_rows_requested(const api_query *q);

/* Reads "on_error", when rows and operations are known, into plan->failed_rows. False with a problem. */
bool api_failed_rows_open(api_plan *plan);

/* Frees the recorded problems; NULL is fine. */
void api_failed_rows_close(api_failed_rows *f);

/* Marks a state for operation number `operation` of query->selected, or with -1 for all of them, and records the
 * problem `found`, unless the state is marked already. False with `problem`: there is no memory. */
bool api_failed_rows_add(api_failed_rows *f, int operation, size_t state, const api_problem *found,
                         api_problem *problem);

/* Calls api_failed_rows_add for every row of the request and all operations. */
bool api_failed_rows_add_all(api_failed_rows *f, const api_problem *found, api_problem *problem);

/* Returns the marks [states] of an operation; with -1, of the states that fail in all operations. NULL if f is NULL. */
const unsigned char *api_failed_rows_marks(const api_failed_rows *f, int operation);

/* True if a state is marked for all operations. */
bool api_failed_rows_has(const api_failed_rows *f, size_t state);

/* Marks all samples of a motion that has a marked sample. To be called after all states are evaluated. */
void api_failed_rows_settle(api_failed_rows *f);

/* True if all rows have failed. */
bool api_failed_rows_all(const api_failed_rows *f);

/* True if all rows have failed, each for lack of time (row_time.h). */
bool api_failed_rows_all_late(const api_failed_rows *f);

/* Sorts the recorded problems by rows, for api_failed_rows_emit. False with `problem`. */
bool api_failed_rows_sort(api_failed_rows *f, api_problem *problem);

/* Emits the array `errors`. */
void api_failed_rows_emit(const api_failed_rows *f, api_emit *to);

/* Substitutes for bad positions [nq] and for a bad guess: the reference of a model with loops, else zeros and unit
 * quaternions. NULL if f is NULL. */
const double *api_failed_rows_home(const api_failed_rows *f);
const double *api_failed_rows_guess(const api_failed_rows *f);
