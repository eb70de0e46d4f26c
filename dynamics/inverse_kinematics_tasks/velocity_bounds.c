/* velocity_bounds.c - bounds velocities by limits (velocity_bounds.h). */
#include "velocity_bounds.h"
#include <math.h>

/* Narrows the bounds of coordinate v to [lower, upper], as far as the present bounds allow. */
static void narrow(const dyn_velocity_bounds *b, size_t v, double lower, double upper)
{
    const double low = b->lower[v], high = b->upper[v];
    b->lower[v] = fmin(fmax(low, lower), high);
    b->upper[v] = fmax(fmin(high, upper), low);
    if (b->lower[v] > b->upper[v]) b->lower[v] = b->upper[v] = fabs(low - upper) < fabs(high - lower) ? low : high;
}

/* Converts an interval of the limited quantity to one of the coordinate: divides by the factor of the coordinate in the
 * quantity. */
static void narrow_scaled(const dyn_velocity_bounds *b, const dyn_limit *l, size_t v, double lower, double upper)
{
    const double w = l->weight[0];
    narrow(b, v, w > 0 ? lower / w : upper / w, w > 0 ? upper / w : lower / w);
}

/* Returns the largest velocity towards a limit at the distance d from which the joint can stop before the limit. */
static double stopping_velocity(double d, double a, double h)
{
    if (!(d > 0) || isinf(a)) return d / h;
    return 2 * d / (h + sqrt(h * h + 2 * d / a));
}

static void bound_acceleration(const dyn_velocity_bounds *b, const double *qd)
{
    for (size_t i = 0; i < b->n; i++) {
        const dyn_limit *l = &b->limit[i];
        if (l->kind != DYN_LIMIT_ACCELERATION || l->n != 1) continue;
        const size_t v    = l->entry[0];
        const double most = l->upper / fabs(l->weight[0]), now = qd ? qd[v] : 0;
        b->acceleration[v] = fmin(b->acceleration[v], most);
        narrow(b, v, now - most * b->step, now + most * b->step);
    }
}

static void bound_position(const dyn_velocity_bounds *b, const dyn_limit *l, const double *q)
{
    const double x = l->weight[0] * q[l->entry[0]] + l->offset, a = fabs(l->weight[0]) * b->acceleration[l->v];
    narrow_scaled(b, l, l->v, -stopping_velocity(x - l->lower, a, b->step),
                  stopping_velocity(l->upper - x, a, b->step));
}

void dyn_velocity_bounds_find(const dyn_velocity_bounds *b, const double *q, const double *qd)
{
    for (size_t v = 0; v < b->nv; v++) {
        b->lower[v]        = -HUGE_VAL;
        b->upper[v]        = HUGE_VAL;
        b->acceleration[v] = HUGE_VAL;
    }
    bound_acceleration(b, qd);
    for (size_t i = 0; i < b->n; i++)
        if (b->limit[i].kind == DYN_LIMIT_VELOCITY && b->limit[i].n == 1)
            narrow_scaled(b, &b->limit[i], b->limit[i].entry[0], b->limit[i].lower, b->limit[i].upper);
    for (size_t i = 0; i < b->n; i++)
        if (b->limit[i].kind == DYN_LIMIT_POSITION) bound_position(b, &b->limit[i], q);
}
