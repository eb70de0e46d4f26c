/* limit.c - evaluates limited quantities and their derivatives (limit.h). */
#include "limit.h"

double dyn_limit_quantity(const dyn_limit *l, const double *x, size_t W, size_t lane)
{
    double sum = 0;
    for (size_t j = 0; x && j < l->n; j++) {
        const double part = l->weight[j] * x[l->entry[j] * W + lane];
        sum               = j == 0 ? part : sum + part;
    }
    return sum + l->offset;
}

bool dyn_limit_is_of_motion(dyn_limit_kind kind)
{
    return kind != DYN_LIMIT_EFFORT && kind != DYN_LIMIT_EFFORT_RATE;
}

/* Order of the derivative of q that a limit of motion bounds. */
static int limited_order(dyn_limit_kind kind)
{
    return kind == DYN_LIMIT_POSITION ? 0 : kind == DYN_LIMIT_VELOCITY ? 1 : kind == DYN_LIMIT_ACCELERATION ? 2 : 3;
}

double dyn_limit_slope(const dyn_limit *l, const dyn_limited_rates *rates, int by, size_t v, size_t lane)
{
    const bool    position = l->kind == DYN_LIMIT_POSITION;
    const bool    alike    = by == limited_order(l->kind);
    const double *matrix   = alike ? rates->by_coordinate : rates->velocity_by_q;
    double        sum      = 0;
    if (!alike && (l->kind != DYN_LIMIT_VELOCITY || by > 0)) return 0;
    for (size_t j = 0; j < l->n; j++) {
        const size_t row = position ? l->v : l->entry[j];
        sum += l->weight[j] * (matrix ? matrix[(row * rates->nv + v) * rates->W + lane] : (alike && row == v));
    }
    return sum;
}
