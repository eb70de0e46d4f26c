/* motion_loops.c - closes loops along motions (motion_loops.h). */
#include "motion_loops.h"
#include "api/requests/evaluate/loop_evaluation.h"

/* Functions for the fields of api_loop_curve; `arg` is the dyn_motion. */
static void interpolate_position(const void *arg, size_t row, size_t n, double s, double *q)
{
    dyn_motion_between(arg, row, n, s, q);
}

static double bound_travel(const void *arg, size_t row, size_t n)
{
    return dyn_motion_travel_bound(arg, row, n);
}

static double interpolate_time(const void *arg, size_t row, size_t n, double s)
{
    return dyn_motion_time(arg, row, n, s);
}

bool api_motion_follow_loops(api_plan *plan, const api_motion *motion)
{
    api_loop_curve between = {interpolate_position, bound_travel, interpolate_time, &motion->path};
    return api_loop_follow(plan, &between);
}
