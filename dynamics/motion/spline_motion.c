/* spline_motion.c - evaluates B-spline motions at samples and between them (spline_motion.h). */
#include "spline_motion.h"
#include <math.h>

dyn_sample dyn_motion_sample(const dyn_motion *m, size_t n, double duration)
{
    dyn_sample s = {.n = n};
    s.first      = dyn_spline_basis(&m->spline, dyn_motion_fraction(m, n, duration), s.basis);
    return s;
}

/* Writes the coordinates of sample s and their time derivatives: the derivative of order r is sum_k b_rk c_k, with the
 * control points c_k and the b_rk of spline_motion.h. */
void dyn_motion_put(const dyn_motion_block *b, size_t lane, const dyn_sample *s, size_t row)
{
    const dyn_motion *m = b->motion;
    const size_t      W = b->W, nv = m->robot.nv, support = m->spline.degree + 1;
    const double     *points   = dyn_points_of(&m->points, row) + s->first * nv;
    const double      duration = dyn_motion_duration(m, row);
    double           *basis = b->basis + lane, scale = 1, factor[DYN_SPLINE_SUPPORT];
    b->time[lane]  = m->times ? m->times[s->n] : (double)s->n / (double)(m->samples - 1) * duration;
    b->rate[lane]  = 1 / duration;
    b->first[lane] = (double)s->first;
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++, scale /= duration) {
        for (size_t k = 0; k < support; k++)
            basis[(r * support + k) * W] = factor[k] = s->basis[r][k] * scale;
        for (size_t j = 0; j < nv; j++) {
            double sum = 0;
            for (size_t k = 0; k < support; k++)
                sum += factor[k] * points[k * nv + j];
            b->x[r][j * W + lane] = sum;
        }
    }
}

dyn_instant dyn_motion_instant(const dyn_motion_block *b, size_t lane)
{
    const dyn_motion *m    = b->motion;
    const size_t      last = b->states - 1, state = b->state + lane, n = (state < last ? state : last) % m->samples;
    dyn_instant       instant = {.row = dyn_motion_row(b, lane), .t = b->time[lane]};
    instant.T                 = dyn_motion_duration(m, instant.row);
    instant.fraction          = dyn_motion_fraction(m, n, instant.T);
    return instant;
}

/* --- between samples --------------------------------------------------------------------------------------------- */

/* Returns the fraction t / T of sample n in the motion of a row. */
static double fraction_of(const dyn_motion *m, size_t row, size_t n)
{
    return dyn_motion_fraction(m, n, dyn_motion_duration(m, row));
}

void dyn_motion_between(const dyn_motion *m, size_t row, size_t n, double s, double *q)
{
    double        basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT], begin = fraction_of(m, row, n - 1);
    const double *points = dyn_points_of(&m->points, row);
    size_t        nv     = m->robot.nv, first;
    first                = dyn_spline_basis(&m->spline, begin + s * (fraction_of(m, row, n) - begin), basis);
    for (size_t j = 0; j < nv; j++) {
        q[j] = 0;
        for (size_t k = 0; k <= m->spline.degree; k++)
            q[j] += basis[0][k] * points[(first + k) * nv + j];
    }
}

double dyn_motion_time(const dyn_motion *m, size_t row, size_t n, double s)
{
    double begin = fraction_of(m, row, n - 1);
    return (begin + s * (fraction_of(m, row, n) - begin)) * dyn_motion_duration(m, row);
}

/* Uses that the derivative of a spline of degree d with respect to the knot value u is a weighted mean of the terms d
 * (c_k+1 - c_k) / (t_k+d+1 - t_k+1), so that it is at most the largest of them. */
double dyn_motion_travel_bound(const dyn_motion *m, size_t row, size_t n)
{
    const dyn_spline *spline = &m->spline;
    const dyn_loops  *loops  = m->robot.loops;
    const double     *points = dyn_points_of(&m->points, row), *t = spline->knots;
    double            begin = fraction_of(m, row, n - 1), end = fraction_of(m, row, n), most = 0;
    size_t            d = spline->degree, nv = m->robot.nv, last = dyn_spline_first(spline, end) + d;
    for (size_t k = dyn_spline_first(spline, begin); k < last; k++)
        for (size_t j = 0; j < nv; j++) {
            double travel = loops->travel[loops->active_v[j]];
            double way    = travel * fabs(points[(k + 1) * nv + j] - points[k * nv + j]);
            if (way > 0) most = fmax(most, (double)d * way / (t[k + d + 1] - t[k + 1]));
        }
    return most * (end - begin) * (t[spline->n] - t[d]);
}
