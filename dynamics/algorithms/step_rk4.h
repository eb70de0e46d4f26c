/* step_rk4.h - integrates one step by the classical Runge-Kutta method of order 4 on the manifold of positions
 * (Munthe-Kaas 1999), with the derivatives of each stage. Part of step.c.
 *
 * Stage i is at q * exp(u_i) with velocity v_i and has the rates k_i = dexpinv(u_i, v_i) and a_i:
 *
 *     u_1 = 0,        v_1 = qd,             u_2 = h/2 k_1,  v_2 = qd + h/2 a_1,
 *     u_3 = h/2 k_2,  v_3 = qd + h/2 a_2,   u_4 = h k_3,    v_4 = qd + h a_3,
 *     u = h/6 (k_1 + 2 k_2 + 2 k_3 + k_4),  q+ = q * exp(u),  and qd+ alike from the a_i.
 *
 * dexpinv(u, v) = v + 1/2 [u, v] + 1/12 [u, [u, v]] is the rate of u; the next term is beyond order 4. The brackets of
 * joints of one coordinate are zero. */
#pragma once
#include "step_pass.h"

enum { STAGES = 4, TILE_COLUMNS = 8 };

/* The chain of stages: values, and their derivatives with respect to (q, qd, inputs). */
typedef struct rk4_chain {
    size_t columns;                                  /* 2 nv + inputs */
    lane  *k, *sum_k, *sum_a;                        /* [nv] */
    lane  *du, *dv, *dq, *dk, *da, *dsum_k, *dsum_a; /* [nv x columns] */
} rk4_chain;

static inline rk4_chain rk4_place(const step_pass *p)
{
    const size_t nv = p->nv, columns = 2 * nv + p->inputs, n = nv * columns;
    lane        *m = p->matrices;
    return (rk4_chain){.columns = columns,
                       .k       = p->vectors,
                       .sum_k   = p->vectors + nv,
                       .sum_a   = p->vectors + 2 * nv,
                       .du      = m,
                       .dv      = m + n,
                       .dq      = m + 2 * n,
                       .dk      = m + 3 * n,
                       .da      = m + 4 * n,
                       .dsum_k  = m + 5 * n,
                       .dsum_a  = m + 6 * n};
}

/* --- rates of displacements ------------------------------------------------------------------------------------- */

/* [a, b] of two twists of a body in its own axes */
LANE_INLINE twist bracket(twist a, twist b)
{
    return (twist){.v = cross_add(cross(a.w, b.v), a.v, b.w), .w = cross(a.w, b.w)};
}

LANE_INLINE twist twist_sum(twist a, twist b)
{
    return (twist){.v = add(a.v, b.v), .w = add(a.w, b.w)};
}

/* x + y / 2 + z / 12 */
LANE_INLINE twist dexpinv_sum(twist x, twist y, twist z)
{
    const lane half = lane_of(0.5), twelfth = lane_of(1.0 / 12);
    return (twist){.v = add_scaled(add_scaled(x.v, y.v, half), z.v, twelfth),
                   .w = add_scaled(add_scaled(x.w, y.w, half), z.w, twelfth)};
}

LANE_INLINE twist twist_of(const dyn_body *b, const lane *x)
{
    return (twist){.v = joint_linear(b, x), .w = joint_angular(b, x)};
}

/* Column c of the rows of a joint with a quaternion, in a matrix nv x columns. */
LANE_INLINE twist twist_column(const dyn_body *b, const lane *M, size_t columns, size_t c)
{
    lane      x[6]  = {lane_of(0), lane_of(0), lane_of(0)};
    const int first = joint_first_axis(b);
    for (int k = first; k < 6; k++)
        x[k] = M[(size_t)(b->joint.v + k - first) * columns + c];
    return (twist){.v = load3(x), .w = load3(x + 3)};
}

LANE_INLINE void set_twist_column(const dyn_body *b, lane *M, size_t columns, size_t c, twist t)
{
    const lane x[6]  = {t.v.x, t.v.y, t.v.z, t.w.x, t.w.y, t.w.z};
    const int  first = joint_first_axis(b);
    for (int k = first; k < 6; k++)
        M[(size_t)(b->joint.v + k - first) * columns + c] = x[k];
}

/* Sets k = dexpinv(u, v) of a joint with a quaternion, and its derivatives. */
static inline void free_rate(const step_pass *p, const rk4_chain *c, const dyn_body *b)
{
    const size_t columns = c->columns;
    twist        u = twist_of(b, p->u), v = twist_of(b, p->v), y = bracket(u, v), z = bracket(u, y);
    set_twist_column(b, c->k, 1, 0, dexpinv_sum(v, y, z));
    for (size_t j = 0; p->differentiates && j < columns; j++) {
        twist du = twist_column(b, c->du, columns, j), dv = twist_column(b, c->dv, columns, j);
        twist dy = twist_sum(bracket(du, v), bracket(u, dv)), dz = twist_sum(bracket(du, y), bracket(u, dy));
        set_twist_column(b, c->dk, columns, j, dexpinv_sum(dv, dy, dz));
    }
}

/* True while a loop over the rows of derivatives goes on: row i is one of them, and the deadline has not passed. */
static inline bool rk4_has_row(const step_pass *p, size_t i)
{
    return p->differentiates && i < p->nv && goes_on(p->scene->deadline, p->nv);
}

/* Sets k and its derivatives for all joints. */
static inline void rk4_rates(const step_pass *p, const rk4_chain *c)
{
    const dyn_model *m = p->scene->model;
    memcpy(c->k, p->v, p->nv * sizeof *c->k);
    for (size_t i = 0; rk4_has_row(p, i); i++)
        memcpy(c->dk + i * c->columns, c->dv + i * c->columns, c->columns * sizeof *c->dk);
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!m->body[i].joint.mimic && dyn_joint_has_quaternion(m->body[i].joint.kind)) free_rate(p, c, &m->body[i]);
}

/* --- accelerations ---------------------------------------------------------------------------------------------- */

/* Adds columns first to first + TILE_COLUMNS - 1 of M X to Y; M is nv x nv, X and Y have `columns` columns. */
LANE_INLINE void add_product_tile(const step_pass *p, const lane *M, const lane *X, lane *Y, size_t columns,
                                  size_t first)
{
    const size_t n = p->nv;
    for (size_t i = 0; i < n && goes_on(p->scene->deadline, n); i++) {
        lane sum[TILE_COLUMNS];
        for (size_t t = 0; t < TILE_COLUMNS; t++)
            sum[t] = Y[i * columns + first + t];
        for (size_t k = 0; k < n; k++)
            for (size_t t = 0; t < TILE_COLUMNS; t++)
                sum[t] = add_mul(sum[t], M[i * n + k], X[k * columns + first + t]);
        for (size_t t = 0; t < TILE_COLUMNS; t++)
            Y[i * columns + first + t] = sum[t];
    }
}

/* Y += M X, where M is nv x nv and X has `columns` columns. */
static inline void add_product(const step_pass *p, const lane *M, const lane *X, lane *Y, size_t columns)
{
    const size_t n = p->nv;
    size_t       c = 0;
    for (; c + TILE_COLUMNS <= columns; c += TILE_COLUMNS)
        add_product_tile(p, M, X, Y, columns, c);
    for (size_t i = 0; c < columns && i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t e = c; e < columns; e++)
                Y[i * columns + e] = add_mul(Y[i * columns + e], M[i * n + k], X[k * columns + e]);
}

/* da = a_q dq + a_qd dv + [0 0 a_input] */
static inline void rk4_acceleration_rates(const step_pass *p, const rk4_chain *c)
{
    const size_t nv = p->nv, columns = c->columns;
    for (size_t i = 0; rk4_has_row(p, i); i++) {
        clear(c->da + i * columns, 2 * nv);
        memcpy(c->da + i * columns + 2 * nv, p->a_input + i * p->inputs, p->inputs * sizeof *c->da);
    }
    add_product(p, p->a_q, c->dq, c->da, columns);
    add_product(p, p->a_qd, c->dv, c->da, columns);
}

/* --- stages ----------------------------------------------------------------------------------------------------- */

/* Sets the first stage: u = 0, k = v = qd, dq = [1 0 0], dk = dv = [0 1 0]. */
static inline void rk4_first_stage(const step_pass *p, const rk4_chain *c, const lane *qd)
{
    const size_t nv = p->nv, columns = c->columns;
    for (size_t i = 0; i < nv; i++) {
        p->u[i]     = lane_of(0);
        p->v[i]     = velocity_at(qd, i);
        c->sum_k[i] = c->sum_a[i] = lane_of(0);
    }
    for (size_t i = 0, row = 0; rk4_has_row(p, i); i++, row += columns) {
        clear(c->dq + row, columns), clear(c->dv + row, columns), clear(c->du + row, columns);
        clear(c->dsum_k + row, columns), clear(c->dsum_a + row, columns);
        c->dq[row + i] = c->dv[row + nv + i] = lane_of(1);
    }
}

/* Displaces the positions by u from q, and sets the derivatives dq = by_q [1 0 0] + by_u du. */
static inline void rk4_displace(const step_pass *p, const rk4_chain *c, const lane *q, lane *to)
{
    const dyn_model   *m       = p->scene->model;
    const size_t       columns = c->columns;
    displacement_rates rates;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mimic) continue;
        displace_joint(b, q, p->u, to, p->differentiates ? &rates : NULL);
        if (!p->differentiates || !goes_on(p->scene->deadline, p->nv)) continue;
        size_t    v  = (size_t)b->joint.v;
        step_rows dq = {c->dq + v * columns, columns, columns}, du = {c->du + v * columns, columns, columns};
        set_own_columns(&rates, v, dq);
        add_displaced_rows(&rates, du, dq);
    }
}

/* Begins the next stage, at the part `h` of the step with the rates of the present one. */
static inline void rk4_next_stage(const step_pass *p, const rk4_chain *c, const lane *qd, double h)
{
    const size_t nv = p->nv, columns = c->columns;
    for (size_t i = 0; i < nv; i++) {
        p->u[i] = h * c->k[i];
        p->v[i] = add_mul(velocity_at(qd, i), h, p->qdd[i]);
    }
    for (size_t i = 0; rk4_has_row(p, i); i++) {
        for (size_t e = i * columns; e < (i + 1) * columns; e++) {
            c->du[e] = h * c->dk[e];
            c->dv[e] = h * c->da[e];
        }
        c->dv[i * columns + nv + i] = c->dv[i * columns + nv + i] + 1.0;
    }
}

/* Adds the rates of a stage to the weighted sums. */
static inline void rk4_accumulate(const step_pass *p, const rk4_chain *c, double weight)
{
    for (size_t i = 0; i < p->nv; i++) {
        c->sum_k[i] = add_mul(c->sum_k[i], weight, c->k[i]);
        c->sum_a[i] = add_mul(c->sum_a[i], weight, p->qdd[i]);
    }
    for (size_t i = 0; rk4_has_row(p, i); i++)
        for (size_t e = i * c->columns; e < (i + 1) * c->columns; e++) {
            c->dsum_k[e] = add_mul(c->dsum_k[e], weight, c->dk[e]);
            c->dsum_a[e] = add_mul(c->dsum_a[e], weight, c->da[e]);
        }
}

/* Copies the derivatives of the positions or velocities to their rows of A and B. */
static inline void rk4_put_rows(const step_pass *p, const lane *rows, size_t first)
{
    const size_t nv = p->nv, inputs = p->inputs;
    for (size_t i = 0; rk4_has_row(p, i); i++, rows += 2 * nv + inputs) {
        memcpy(p->A + (first + i) * 2 * nv, rows, 2 * nv * sizeof *rows);
        memcpy(p->B + (first + i) * inputs, rows + 2 * nv, inputs * sizeof *rows);
    }
}

/* Ends the step with the weighted sums: u = h/6 sum k, qd+ = qd + h/6 sum a. */
static inline void rk4_finish(const step_pass *p, const rk4_chain *c, const lane *q, const lane *qd)
{
    const size_t nv       = p->nv;
    const double part     = p->io->h / 6;
    lane        *qd_after = block_out(p->io->qd_after, 0, 0);
    for (size_t i = 0; i < nv; i++) {
        p->u[i]     = part * c->sum_k[i];
        qd_after[i] = add_mul(velocity_at(qd, i), part, c->sum_a[i]);
    }
    for (size_t i = 0; rk4_has_row(p, i); i++) {
        for (size_t e = i * c->columns; e < (i + 1) * c->columns; e++) {
            c->du[e]     = part * c->dsum_k[e];
            c->dsum_a[e] = part * c->dsum_a[e];
        }
        c->dsum_a[i * c->columns + nv + i] = c->dsum_a[i * c->columns + nv + i] + 1.0;
    }
    rk4_displace(p, c, q, block_out(p->io->q_after, 0, 0));
    if (!p->differentiates) return;
    rk4_put_rows(p, c->dq, 0);
    rk4_put_rows(p, c->dsum_a, nv);
}

static inline void rk4(const step_pass *p)
{
    static const double weights[STAGES] = {1, 2, 2, 1}, parts[STAGES] = {0, 0.5, 0.5, 1};
    const lane         *q = block_in(p->io->q, 0, 0), *qd = block_in(p->io->qd, 0, 0);
    rk4_chain           c = rk4_place(p);
    rk4_first_stage(p, &c, qd);
    for (int stage = 0; stage < STAGES; stage++) {
        if (stage > 0) {
            rk4_next_stage(p, &c, qd, parts[stage] * p->io->h);
            rk4_displace(p, &c, q, p->stage_q);
        }
        step_evaluate(p, stage > 0 ? p->stage_q : q, p->v, p->differentiates);
        if (stage == 0) step_put_residual(p);
        rk4_rates(p, &c);
        if (p->differentiates) rk4_acceleration_rates(p, &c);
        rk4_accumulate(p, &c, weights[stage]);
    }
    rk4_finish(p, &c, q, qd);
}
