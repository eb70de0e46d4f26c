/* trajectory_margins.c - see trajectory_margins.h. */
#include "trajectory_margins.h"
#include "dynamics/motion/coordinate_change.h"
#include <math.h>
#include <string.h>

void api_margins_put(const api_evaluation *e, const api_limit_list *limits,
                     const double *const quantities[DYN_LIMIT_KINDS], double *margins, double *sides)
{
    const size_t W = e->lanes;
    for (size_t i = 0; i < limits->n; i++) {
        const dyn_limit *l = &limits->limit[i];
        for (size_t lane = 0; lane < W; lane++) {
            const double x     = dyn_limit_quantity(l, quantities[l->kind], W, lane);
            const double below = x - l->lower, above = l->upper - x;
            if (margins) margins[i * W + lane] = fmin(below, above);
            if (sides) sides[i * W + lane] = below < above ? 1 : -1;
        }
    }
}

size_t api_margin_partials_entries(const api_limit_list *limits, size_t nv)
{
    return limits->n * (DYN_SPLINE_ORDERS * nv + 1);
}

dyn_partials api_margin_partials_take(const api_evaluation *e, const api_limit_list *limits, double **next)
{
    dyn_partials p = {.rows = limits->n, .orders = DYN_SPLINE_ORDERS};
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++) {
        p.by[r] = *next;
        *next   = api_behind(e, *next, limits->n * e->model->nv, 1);
    }
    p.by_duration = *next;
    *next         = api_behind(e, *next, limits->n, 1);
    return p;
}

/* Adds to row i of the margins the side times the rows of the results y that the limit bounds. */
static void add_rows(const api_evaluation *e, const dyn_limit *l, size_t i, const double *side, const dyn_partials *y,
                     dyn_partials *margins)
{
    const size_t W = e->lanes, row = e->model->nv * W;
    for (size_t k = 0; k < l->n; k++) {
        for (size_t r = 0; r < y->orders; r++)
            for (size_t j = 0; j < row; j++)
                margins->by[r][i * row + j] += side[j % W] * l->weight[k] * y->by[r][l->entry[k] * row + j];
        for (size_t lane = 0; y->by_duration && lane < W; lane++)
            margins->by_duration[i * W + lane] += side[lane] * l->weight[k] * y->by_duration[l->entry[k] * W + lane];
    }
}

/* Sets row i of the margins of a position or of velocities, by the coordinates of the model. */
static void put_motion(const api_evaluation *e, const api_margin_block *b, size_t i, dyn_partials *margins)
{
    const size_t W = e->lanes, nv = e->model->nv;
    for (size_t j = 0; j < 2 * nv * W; j++) {
        const size_t by = j / (nv * W), v = j / W % nv, lane = j % W;
        const double slope = dyn_limit_slope(&b->limits->limit[i], &b->rates, (int)by, v, lane);
        if (slope != 0) margins->by[by][(i * nv + v) * W + lane] = b->sides[i * W + lane] * slope;
    }
}

void api_margins_differentiate(const api_evaluation *e, const api_margin_block *b, const dyn_torque_partials *p,
                               dyn_partials *margins)
{
    const api_limit_list *limits = b->limits;
    const size_t          W = e->lanes, nv = e->model->nv;
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++)
        memset(margins->by[r], 0, limits->n * nv * W * sizeof *margins->by[r]);
    memset(margins->by_duration, 0, limits->n * W * sizeof *margins->by_duration);
    for (size_t i = 0; i < limits->n; i++)
        if (limits->limit[i].kind == DYN_LIMIT_POSITION || limits->limit[i].kind == DYN_LIMIT_VELOCITY)
            put_motion(e, b, i, margins);
    if (e->model->loops) dyn_change_partials(b->samples, margins);
    for (size_t i = 0; i < limits->n; i++) {
        const dyn_limit *l = &limits->limit[i];
        if (l->kind == DYN_LIMIT_EFFORT) add_rows(e, l, i, b->sides + i * W, &p->tau, margins);
        if (l->kind == DYN_LIMIT_EFFORT_RATE) add_rows(e, l, i, b->sides + i * W, &p->rate, margins);
    }
}
