/* margins.c - computes margins and their derivatives (margins.h). */
#include "margins.h"
#include "coordinate_change.h"
#include <string.h>

void dyn_margins_put(const dyn_limits *limits, size_t W, const double *const quantities[DYN_LIMIT_KINDS],
                     double *margins, double *sides)
{
    for (size_t i = 0; i < limits->n; i++) {
        const dyn_limit *l = &limits->limit[i];
        for (size_t lane = 0; lane < W; lane++) {
            const dyn_limit_margin m = dyn_limit_margin_at(l, quantities, W, lane);
            if (margins) margins[i * W + lane] = m.margin;
            if (sides) sides[i * W + lane] = m.side;
            if (sides) sides[(limits->n + i) * W + lane] = m.speed_side;
        }
    }
}

size_t dyn_margin_partials_entries(size_t n, size_t nv)
{
    return n * (DYN_SPLINE_ORDERS * nv + 1);
}

dyn_partials dyn_margin_partials_take(size_t n, size_t nv, size_t W, double **next)
{
    dyn_partials p = {.rows = n, .orders = DYN_SPLINE_ORDERS};
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++) {
        p.by[r] = *next;
        *next += n * nv * W;
    }
    p.by_duration = *next;
    *next += n * W;
    return p;
}

/* Adds to row i of the margins the factor `sides` of limit i times the rows of the results y that the limit bounds. */
static void add_rows(const dyn_margin_block *b, size_t i, const dyn_partials *y, dyn_partials *margins)
{
    const size_t     W = b->samples->W, row = b->samples->motion->robot.nv * W;
    const dyn_limit *l    = &b->limits.limit[i];
    const double    *side = b->sides + i * W;
    for (size_t k = 0; k < l->n; k++) {
        for (size_t r = 0; r < y->orders; r++)
            for (size_t j = 0; j < row; j++)
                margins->by[r][i * row + j] += side[j % W] * l->weight[k] * y->by[r][l->entry[k] * row + j];
        for (size_t lane = 0; y->by_duration && lane < W; lane++)
            margins->by_duration[i * W + lane] += side[lane] * l->weight[k] * y->by_duration[l->entry[k] * W + lane];
    }
}

/* Sets row i of the margins to `sides` times the derivatives of the quantity of limit l, a position or one of its time
 * derivatives, with respect to the coordinates of the model and their rates. */
static void put_motion(const dyn_margin_block *b, size_t i, const dyn_limit *l, const double *sides,
                       dyn_partials *margins)
{
    const size_t W = b->samples->W, nv = b->samples->motion->robot.nv;
    for (size_t j = 0; j < DYN_SPLINE_ORDERS * nv * W; j++) {
        const size_t order = j / (nv * W), v = j / W % nv, lane = j % W;
        const double slope = dyn_limit_slope(l, &b->rates, (int)order, v, lane);
        if (slope != 0) margins->by[order][(i * nv + v) * W + lane] = sides[lane] * slope;
    }
}

void dyn_margins_differentiate(const dyn_margin_block *b, const dyn_torque_partials *p, dyn_partials *margins)
{
    const dyn_mechanism *robot = &b->samples->motion->robot;
    const size_t         W = b->samples->W, nv = robot->nv;
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++)
        memset(margins->by[r], 0, b->limits.n * nv * W * sizeof *margins->by[r]);
    memset(margins->by_duration, 0, b->limits.n * W * sizeof *margins->by_duration);
    for (size_t i = 0; i < b->limits.n; i++) {
        const dyn_limit *l = &b->limits.limit[i], speed = dyn_limit_speed(l);
        if (dyn_limit_is_of_motion(l->kind)) put_motion(b, i, l, b->sides + i * W, margins);
        if (l->kind == DYN_LIMIT_EFFORT_SPEED) put_motion(b, i, &speed, b->sides + (b->limits.n + i) * W, margins);
    }
    if (robot->loops) dyn_change_partials(b->samples, margins);
    for (size_t i = 0; i < b->limits.n; i++) {
        const dyn_limit_kind kind = b->limits.limit[i].kind;
        if (kind == DYN_LIMIT_EFFORT || kind == DYN_LIMIT_EFFORT_SPEED) add_rows(b, i, &p->tau, margins);
        if (kind == DYN_LIMIT_EFFORT_RATE) add_rows(b, i, &p->rate, margins);
    }
}
