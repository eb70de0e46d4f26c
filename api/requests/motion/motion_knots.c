/* motion_knots.c - see motion_knots.h. */
#include "motion_knots.h"
#include <string.h>

/* A lane of a block, and the spline's place in its state. */
typedef struct sample {
    size_t        lane, first; /* first: the index of the first control point that affects the state */
    double        fraction, rate;
    const double *points; /* the control points of the state's motion */
} sample;

static sample sample_of(const api_evaluation *e, const api_motion *m, size_t block, size_t lane)
{
    size_t state = block * e->lanes + lane, last = api_states(e->query) - 1,
           row  = (state < last ? state : last) / m->samples;
    double rate = api_block(e, m->rate, 1, block)[lane];
    return (sample){.lane     = lane,
                    .first    = (size_t)api_block(e, m->first, 1, block)[lane],
                    .fraction = api_block(e, m->time, 1, block)[lane] * rate,
                    .rate     = rate,
                    .points   = api_points_of(&m->points, m->values, row)};
}

/* True if a knot changes the spline at a sample. */
static bool has_effect(const api_motion *m, const sample *s, size_t knot)
{
    return (knot > s->first && knot <= s->first + 2 * m->spline.degree) || knot == m->spline.degree ||
           knot == m->spline.n;
}

/* column = d x_r,j / d t_knot, DYN_SPLINE_ORDERS x nv */
static void find_column(const api_motion *m, const sample *s, size_t knot, size_t nv, double *column)
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

void api_motion_by_knots(const api_evaluation *e, const api_motion *m, size_t block, double *out, double *column)
{
    const size_t W = e->lanes, knots = api_motion_knots(m), n = DYN_SPLINE_ORDERS * e->model->nv;
    if (!out) return;
    memset(out, 0, n * knots * W * sizeof *out);
    for (size_t lane = 0; lane < W; lane++) {
        const sample s = sample_of(e, m, block, lane);
        for (size_t knot = 0; knot < knots; knot++) {
            if (!has_effect(m, &s, knot)) continue;
            find_column(m, &s, knot, e->model->nv, column);
            for (size_t i = 0; i < n; i++)
                out[(i * knots + knot) * W + lane] = column[i];
        }
    }
}

static void put_column(const api_partials *p, size_t nv, size_t W, size_t knots, const double *column, double *out)
{
    for (size_t row = 0; row < p->rows; row++) {
        double sum = 0;
        for (size_t r = 0; r < p->orders; r++)
            for (size_t j = 0; j < nv; j++)
                sum += p->by[r][(row * nv + j) * W] * column[r * nv + j];
        out[row * knots * W] = sum;
    }
}

void api_chain_by_knots(const api_evaluation *e, const api_motion *m, size_t block, const api_partials *p, double *out,
                        double *column)
{
    const size_t W = e->lanes, knots = api_motion_knots(m), nv = e->model->nv;
    if (!out) return;
    memset(out, 0, p->rows * knots * W * sizeof *out);
    for (size_t lane = 0; lane < W; lane++) {
        const sample s    = sample_of(e, m, block, lane);
        api_partials mine = *p;
        for (size_t r = 0; r < p->orders; r++)
            mine.by[r] += lane;
        for (size_t knot = 0; knot < knots; knot++) {
            if (!has_effect(m, &s, knot)) continue;
            find_column(m, &s, knot, nv, column);
            put_column(&mine, nv, W, knots, column, out + knot * W + lane);
        }
    }
}

void api_chain_gradients(const api_evaluation *e, const api_motion *m, size_t block, const api_partials *p,
                         const api_gradients *to, double *column)
{
    api_chain_by_points(e, m, block, p, to->by_points);
    api_chain_by_duration(e, m, block, p, to->by_duration);
    api_chain_by_knots(e, m, block, p, to->by_knots, column);
}
