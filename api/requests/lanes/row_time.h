/* row_time.h - divide the time of a request among its rows, so that one row cannot use all of it.
 *
 * The time of a state can depend on its values: a search that does not converge, a long path along which loops are
 * closed, an integration with many short steps. If rows may fail alone (failed_rows.h), the rows together have nine
 * tenths of the time until the deadline, and the rest is for the answer. Rows that begin get twice their fair share of
 * the time that is left, but at most half of it, or their fair share if that is more:
 *
 *     part = max(n / left, min(2 n / left, 1/2)),    n: rows side by side that begin; left: rows that have not ended.
 *
 * Rows that have used up their share fail with deadline-passed, and the others go on. A share ends a computation and
 * changes no result: rows that succeed have the same bits with any share. Without failed rows there are no shares. */
#pragma once
#include "api/base/work/deadline.h"

typedef struct api_plan       api_plan;
typedef struct api_evaluation api_evaluation;
typedef struct api_row_time   api_row_time;

/* The share of rows that are computed side by side. */
typedef struct api_row_share {
    const api_deadline *deadline; /* deadline of the request */
    uint64_t            end;      /* ns on CLOCK_MONOTONIC; UINT64_MAX: the deadline of the request alone counts */
} api_row_share;

/* Opens the time of rows, if rows may fail alone and there is a deadline. Call when the evaluation begins. False with a
 * problem. */
bool api_row_time_open(api_plan *plan);

/* Begin a phase in which `rows` rows, or states, get shares, and end it. Outside of phases there are no shares. Call
 * them while no tasks run in parallel. */
void api_row_time_begin(const api_plan *plan, size_t rows);
void api_row_time_end(const api_plan *plan);

/* Returns no share: only the deadline of the request counts. */
api_row_share api_row_share_none(const api_plan *plan);

/* Returns the share of `rows` rows that begin now; api_row_share_renew, of rows that begin again. */
api_row_share api_row_share_take(const api_plan *plan, size_t rows);
api_row_share api_row_share_renew(const api_plan *plan, size_t rows);

/* Returns the share of one of `left` rows among which a share is divided. */
api_row_share api_row_share_divide(const api_row_share *share, size_t left);

/* Returns half of the share of several rows side by side: the other half is for those of them that begin again without
 * the rows that have used up the first. The share of a single row is returned as it is. */
api_row_share api_row_share_halve(const api_row_share *share, size_t rows);

/* False if the share is used up, or the request was cancelled, has passed its deadline or must leave its thread. */
bool api_row_share_check(const api_row_share *share);

/* Returns the share as a computation in dynamics/ checks it. The share must outlive the computation. */
dyn_deadline api_row_share_for_dynamics(const api_row_share *share);

/* Fails a state that has used up its share. The results are those of api_fail_state, but false with the problem of the
 * request if that is why the computation ended. `field` is that of api_fail_state. */
bool api_row_share_fail(const api_evaluation *e, int field, size_t state) __attribute__((cold));

/* Writes the problem of a row that has used up its share. */
void api_row_share_problem(const api_plan *plan, api_problem *problem) __attribute__((cold));
