/* motion_loops.c - see motion_loops.h. */
#include "motion_loops.h"
#include "api/requests/evaluate/loop_evaluation.h"

/* The argument of the functions of api_loop_curve. */
typedef struct curve {
    const api_evaluation *e;
    const api_motion     *motion;
} curve;

static void interpolate_position(const void *arg, size_t row, size_t n, double s, double *q)
{
    const curve *c = arg;
    api_motion_between(c->e, c->motion, row, n, s, q);
}

static double bound_travel(const void *arg, size_t row, size_t n)
{
    const curve *c = arg;
    return api_motion_travel_bound(c->e, c->motion, row, n);
}

static double interpolate_time(const void *arg, size_t row, size_t n, double s)
{
    const curve *c = arg;
    return api_motion_time(c->motion, row, n, s);
}

bool api_motion_follow_loops(api_plan *plan, const api_motion *motion)
{
    api_evaluation e       = api_evaluation_of(plan);
    curve          c       = {&e, motion};
    api_loop_curve between = {interpolate_position, bound_travel, interpolate_time, &c};
    return api_loop_follow(plan, &between);
}
