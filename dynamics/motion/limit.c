/* limit.c - evaluates limited quantities, their margins and their derivatives (limit.h). */
#include "limit.h"
#include <math.h>
#include <string.h>

double dyn_limit_quantity(const dyn_limit *l, const double *x, size_t W, size_t lane)
{
    double sum = 0;
    for (size_t j = 0; x && j < l->n; j++) {
        const double part = l->weight[j] * x[l->entry[j] * W + lane];
        sum               = j == 0 ? part : sum + part;
    }
    return sum + l->offset;
}

dyn_limit dyn_limit_speed(const dyn_limit *l)
{
    dyn_limit speed = {.kind = DYN_LIMIT_VELOCITY, .n = l->n_speed, .lower = -HUGE_VAL, .upper = HUGE_VAL};
    memcpy(speed.entry, l->speed, sizeof speed.entry);
    memcpy(speed.weight, l->speed_weight, sizeof speed.weight);
    return speed;
}

static double speed_at(const dyn_limit *l, const double *qd, size_t W, size_t lane)
{
    const dyn_limit speed = dyn_limit_speed(l);
    return dyn_limit_quantity(&speed, qd, W, lane);
}

double dyn_limit_narrowing(const dyn_limit *l, const double *qd, size_t W, size_t lane)
{
    return l->kind == DYN_LIMIT_EFFORT_SPEED ? l->slope * fabs(speed_at(l, qd, W, lane)) : 0;
}

dyn_limit_margin dyn_limit_margin_at(const dyn_limit *l, const double *const quantities[DYN_LIMIT_KINDS], size_t W,
                                     size_t lane)
{
    const double     x     = dyn_limit_quantity(l, quantities[l->kind], W, lane);
    const double     below = x - l->lower, above = l->upper - x;
    dyn_limit_margin m = {.margin = fmin(below, above), .side = below < above ? 1 : -1};
    if (l->kind != DYN_LIMIT_EFFORT_SPEED) return m;
    const double speed = speed_at(l, quantities[DYN_LIMIT_VELOCITY], W, lane);
    m.margin -= l->slope * fabs(speed);
    m.speed_side = speed > 0 ? -l->slope : speed < 0 ? l->slope : 0;
    return m;
}

double dyn_largest_effort(double most, const dyn_speed_line *line, double speed)
{
    const double bound = line->stall - line->slope * fabs(speed);
    return isinf(line->stall) || bound >= most ? most : bound > 0 ? bound : 0;
}

bool dyn_limit_is_of_motion(dyn_limit_kind kind)
{
    return kind != DYN_LIMIT_EFFORT && kind != DYN_LIMIT_EFFORT_RATE && kind != DYN_LIMIT_EFFORT_SPEED;
}

/* Returns the order of the time derivative of q that a limit of motion bounds. */
static int limited_order(dyn_limit_kind kind)
{
    return kind == DYN_LIMIT_POSITION ? 0 : kind == DYN_LIMIT_VELOCITY ? 1 : kind == DYN_LIMIT_ACCELERATION ? 2 : 3;
}

double dyn_limit_slope(const dyn_limit *l, const dyn_limited_rates *rates, int order, size_t v, size_t lane)
{
    const bool    position = l->kind == DYN_LIMIT_POSITION;
    const bool    alike    = order == limited_order(l->kind);
    const double *matrix   = alike ? rates->by_coordinate : rates->velocity_by_q;
    double        sum      = 0;
    if (!alike && (l->kind != DYN_LIMIT_VELOCITY || order > 0)) return 0;
    for (size_t j = 0; j < l->n; j++) {
        const size_t row = position ? l->v : l->entry[j];
        sum += l->weight[j] * (matrix ? matrix[(row * rates->nv + v) * rates->W + lane] : (alike && row == v));
    }
    return sum;
}
