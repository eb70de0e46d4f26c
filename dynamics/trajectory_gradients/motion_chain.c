/* motion_chain.c - applies the chain rule to partial derivatives along motions (motion_chain.h). */
#include "motion_chain.h"
#include <string.h>

void dyn_motion_first_points(const dyn_motion_block *b, size_t first[DYN_MAX_LANES])
{
    for (size_t l = 0; l < b->W; l++)
        first[l] = (size_t)b->first[l];
}

/* One row of partial derivatives, and the basis functions by which the chain rule multiplies it. */
typedef struct chain {
    size_t        nv, support, orders;
    const double *basis;                 /* orders x support: b_rk, derivative r of control point k's basis */
    const double *by[DYN_SPLINE_ORDERS]; /* nv each: derivatives of one result by x_r */
    const size_t *first;                 /* first control point of each lane, where results go; NULL: 0 (not dense) */
} chain;

/* Applies the chain rule to a result y: out[first + k][j] = sum_r b_rk dy / d x_r,j, with b_rk the derivative r of the
 * basis function of control point k, and x_r,j entry j of the derivative r of the spline. */
static inline __attribute__((always_inline)) void put_row_by(size_t W, const chain *c, double *out)
{
    for (size_t k = 0; k < c->support; k++)
        for (size_t j = 0; j < c->nv; j++) {
            double sum[DYN_MAX_LANES] = {0};
            for (size_t r = 0; r < c->orders; r++)
                for (size_t l = 0; l < W; l++)
                    sum[l] += c->basis[(r * c->support + k) * W + l] * c->by[r][j * W + l];
            for (size_t l = 0; c->first && l < W; l++)
                out[((c->first[l] + k) * c->nv + j) * W + l] = sum[l];
            if (!c->first) memcpy(out + (k * c->nv + j) * W, sum, W * sizeof *sum);
        }
}

/* Calls put_row_by with the number of lanes as a constant, so that the compiler unrolls the loops over lanes. */
static void put_row(size_t W, const chain *c, double *out)
{
    switch (W) {
    case 8: put_row_by(8, c, out); break;
    case 4: put_row_by(4, c, out); break;
    case 2: put_row_by(2, c, out); break;
    default: put_row_by(W, c, out); break;
    }
}

/* True if the next row may be computed. For small models, whose rows take microseconds, the deadline is not checked. */
static bool may_chain_on(const dyn_motion_block *b)
{
    enum { LARGE = 32 /* coordinates */ };
    return b->motion->robot.nv < LARGE || dyn_may_continue(b->deadline);
}

void dyn_chain_by_points(const dyn_motion_block *b, const dyn_partials *p, double *out)
{
    size_t W = b->W, nv = b->motion->robot.nv, support = b->motion->spline.degree + 1, first[DYN_MAX_LANES];
    size_t width = (b->dense ? b->motion->spline.n : support) * nv * W;
    chain  c     = {.nv = nv, .support = support, .orders = p->orders, .first = b->dense ? first : NULL};
    c.basis      = b->basis;
    dyn_motion_first_points(b, first);
    for (size_t row = 0; out && row < p->rows && may_chain_on(b); row++, out += width) {
        if (b->dense) memset(out, 0, width * sizeof *out); /* most control points do not affect a state */
        for (size_t r = 0; r < p->orders; r++)
            c.by[r] = p->by[r] + row * nv * W;
        put_row(W, &c, out);
    }
}

void dyn_chain_by_duration(const dyn_motion_block *b, const dyn_partials *p, double *out)
{
    size_t W = b->W, nv = b->motion->robot.nv;
    for (size_t row = 0; out && row < p->rows && may_chain_on(b); row++, out += W)
        for (size_t l = 0; l < W; l++) {
            double sum = 0;
            for (size_t r = 1; r < p->orders; r++) {
                const double *x = b->x[r];
                for (size_t j = 0; j < nv; j++)
                    sum += (double)r * p->by[r][(row * nv + j) * W + l] * x[j * W + l];
            }
            out[l] = -b->rate[l] * sum;
            if (p->by_duration) out[l] += p->by_duration[row * W + l];
        }
}

void dyn_motion_dense_basis(const dyn_motion_block *b, double *out)
{
    const size_t  W = b->W, n = b->motion->spline.n, support = b->motion->spline.degree + 1;
    const double *basis = b->basis;
    size_t        first[DYN_MAX_LANES];
    memset(out, 0, DYN_SPLINE_ORDERS * n * W * sizeof *out);
    dyn_motion_first_points(b, first);
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++)
        for (size_t k = 0; k < support; k++)
            for (size_t l = 0; l < W; l++)
                out[(r * n + first[l] + k) * W + l] = basis[(r * support + k) * W + l];
}
