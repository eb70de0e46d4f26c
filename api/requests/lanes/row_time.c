/* row_time.c - computes and checks the shares of rows (row_time.h). */
#include "row_time.h"
#include "evaluation.h"
#include "failed_rows.h"
#include <math.h>

static const double ROWS_PART = 0.9; /* part of the time until the deadline that all rows together have */

struct api_row_time {
    uint64_t     began, end; /* ns, when the evaluation began, and when all rows must have ended */
    bool         shares;     /* true between api_row_time_begin and api_row_time_end: rows get shares */
    atomic_llong left;       /* rows of the phase that have not begun */
};

bool api_row_time_open(api_plan *plan)
{
    const api_deadline *deadline = plan->query->input->deadline;
    if (!plan->failed_rows || !deadline || deadline->time == UINT64_MAX) return true;
    api_row_time *t = api_take(plan->query->pool, sizeof *t);
    if (!t) return false;
    t->began         = api_now();
    const double all = deadline->time > t->began ? (double)(deadline->time - t->began) : 0;
    t->end           = t->began + (uint64_t)(ROWS_PART * all);
    t->shares        = false;
    atomic_init(&t->left, 0);
    plan->row_time = t;
    return true;
}

void api_row_time_begin(const api_plan *plan, size_t rows)
{
    if (!plan->row_time) return;
    plan->row_time->shares = true;
    atomic_store(&plan->row_time->left, (long long)rows);
}

void api_row_time_end(const api_plan *plan)
{
    if (plan->row_time) plan->row_time->shares = false;
}

api_row_share api_row_share_none(const api_plan *plan)
{
    return (api_row_share){plan->query->input->deadline, UINT64_MAX};
}

/* Returns the time at which the share of n rows ends, ns, if `left` rows have the time until `end`. */
static uint64_t end_of_share(double n, double left, uint64_t end)
{
    const uint64_t now  = api_now();
    const double   fair = left > n ? n / left : 1, part = fmax(fair, fmin(2 * fair, 0.5));
    return end > now ? now + (uint64_t)(part * (double)(end - now)) : end;
}

api_row_share api_row_share_take(const api_plan *plan, size_t rows)
{
    api_row_share share = api_row_share_none(plan);
    api_row_time *t     = plan->row_time;
    if (t && t->shares)
        share.end = end_of_share((double)rows, (double)atomic_fetch_sub(&t->left, (long long)rows), t->end);
    return share;
}

api_row_share api_row_share_renew(const api_plan *plan, size_t rows)
{
    if (plan->row_time) atomic_fetch_add(&plan->row_time->left, (long long)rows);
    return api_row_share_take(plan, rows);
}

api_row_share api_row_share_divide(const api_row_share *share, size_t left)
{
    api_row_share part = *share;
    if (share->end < UINT64_MAX) part.end = end_of_share(1, (double)left, share->end);
    return part;
}

api_row_share api_row_share_halve(const api_row_share *share, size_t rows)
{
    return rows > 1 ? api_row_share_divide(share, 2) : *share;
}

bool api_row_share_check(const api_row_share *share)
{
    api_problem reason;
    api_problem_clear(&reason);
    return api_deadline_check(share->deadline, &reason) && (share->end == UINT64_MAX || api_now() < share->end);
}

static bool may_continue(const void *arg)
{
    return api_row_share_check(arg);
}

dyn_deadline api_row_share_for_dynamics(const api_row_share *share)
{
    return (dyn_deadline){.may_continue = may_continue, .arg = share};
}

void api_row_share_problem(const api_plan *plan, api_problem *problem)
{
    const api_row_time *t = plan->row_time;
    api_fail(problem, API_DEADLINE_PASSED, NULL,
             "the row has used up its share of the %.3g s that the request had left for all rows: give it more time in "
             "Request-Timeout, or send the row alone",
             t ? 1e-9 * (double)(t->end - t->began) : 0);
}

bool api_row_share_fail(const api_evaluation *e, int field, size_t state)
{
    api_problem found;
    if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
    api_problem_clear(&found);
    api_row_share_problem(e->plan, &found);
    return api_fail_found(e, field, state, &found);
}
