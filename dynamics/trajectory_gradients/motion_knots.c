/* motion_knots.c - differentiates motions by single knots (motion_knots.h). */
#include "motion_knots.h"
#include <string.h>

/* The state in one lane of a block, and its place on the spline. */
typedef struct sample {
    size_t        lane, first; /* first: the index of the first control point that affects the state */
    double        fraction, rate;
    const double *points; /* the control points of the state's motion */
} sample;

static sample sample_of(const dyn_motion_block *b, size_t lane)
{
    return (sample){.lane     = lane,
                    .first    = (size_t)b->first[lane],
                    .fraction = b->time[lane] * b->rate[lane],
                    .rate     = b->rate[lane],
                    .points   = dyn_points_of(&b->motion->points, dyn_motion_row(b, lane))};
}

/* True if a knot changes the spline at a sample. */
static bool has_effect(const dyn_motion *m, const sample *s, size_t knot)
{
    return (knot > s->first && knot <= s->first + 2 * m->spline.degree) || knot == m->spline.degree ||
           knot == m->spline.n;
}

/* Computes d x_r,j / d t_knot, the change of entry j of derivative r with knot number `knot`: DYN_SPLINE_ORDERS x
 * nv. */
static void find_column(const dyn_motion *m, const sample *s, size_t knot, size_t nv, double *column)
{
    double basis[DYN_SPLINE_ORDERS][DYN_SPLINE_SUPPORT], scale = 1;
    dyn_spline_piece_by_knot(&m->spline, s->first, s->fraction, knot, basis);
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++, scale *= s->rate)
        for (size_t j = 0; j < nv; j++) {
            double sum = 0;
            for (size_t k = 0; k <= m->spline.degree; k++)
                sum += basis[r][k] * s->points[(s->first + k) * nv + j];
            column[r * nv + j] = scale * sum;
        }
}

void dyn_motion_by_knots(const dyn_motion_block *b, double *out, double *column)
{
    const size_t W = b->W, knots = dyn_motion_knots(b->motion), n = DYN_SPLINE_ORDERS * b->motion->robot.nv;
    if (!out) return;
    memset(out, 0, n * knots * W * sizeof *out);
    for (size_t lane = 0; lane < W; lane++) {
        const sample s = sample_of(b, lane);
        for (size_t knot = 0; knot < knots; knot++) {
            if (!has_effect(b->motion, &s, knot)) continue;
            find_column(b->motion, &s, knot, b->motion->robot.nv, column);
            for (size_t i = 0; i < n; i++)
                out[(i * knots + knot) * W + lane] = column[i];
        }
    }
}

static void put_column(const dyn_partials *p, size_t nv, size_t W, size_t knots, const double *column, double *out)
{
    for (size_t row = 0; row < p->rows; row++) {
        double sum = 0;
        for (size_t r = 0; r < p->orders; r++)
            for (size_t j = 0; j < nv; j++)
                sum += p->by[r][(row * nv + j) * W] * column[r * nv + j];
        out[row * knots * W] = sum;
    }
}

void dyn_chain_by_knots(const dyn_motion_block *b, const dyn_partials *p, double *out, double *column)
{
    const size_t W = b->W, knots = dyn_motion_knots(b->motion), nv = b->motion->robot.nv;
    if (!out) return;
    memset(out, 0, p->rows * knots * W * sizeof *out);
    for (size_t lane = 0; lane < W; lane++) {
        const sample s    = sample_of(b, lane);
        dyn_partials mine = *p;
        for (size_t r = 0; r < p->orders; r++)
            mine.by[r] += lane;
        for (size_t knot = 0; knot < knots; knot++) {
            if (!has_effect(b->motion, &s, knot)) continue;
            find_column(b->motion, &s, knot, nv, column);
            put_column(&mine, nv, W, knots, column, out + knot * W + lane);
        }
    }
}

void dyn_chain_gradients(const dyn_motion_block *b, const dyn_partials *p, const dyn_gradients *to, double *column)
{
    dyn_chain_by_points(b, p, to->by_points);
    dyn_chain_by_duration(b, p, to->by_duration);
    dyn_chain_by_knots(b, p, to->by_knots, column);
}
