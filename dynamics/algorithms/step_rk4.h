/* step_rk4.h - integrates one step by the classical Runge-Kutta method of order 4 on the manifold of positions
 * (Munthe-Kaas 1999), with the derivatives of each stage. Part of step.c.
 *
 * Stage i is at q * exp(u_i) with velocity v_i and has the rates k_i = dexpinv(u_i, v_i) and a_i:
 *
 *     u_1 = 0,        v_1 = qd,             u_2 = h/2 k_1,  v_2 = qd + h/2 a_1,
 *     u_3 = h/2 k_2,  v_3 = qd + h/2 a_2,   u_4 = h k_3,    v_4 = qd + h a_3,
 *     u = h/6 (k_1 + 2 k_2 + 2 k_3 + k_4),  q+ = q * exp(u),  and qd+ likewise from the a_i.
 *
 * dexpinv(u, v) = v + 1/2 [u, v] + 1/12 [u, [u, v]] is the rate of u; the next term is beyond order 4. The brackets of
 * joints of one coordinate are zero.
 *
 * The stages are evaluated first. Then the chain rule propagates the derivatives from stage to stage. A few columns are
 * propagated at a time, a strip, which stays in the first-level cache through all stages. A strip has the rows of one
 * part of the model (coordinate_tree.h). In the first stage the columns of dq and dv are columns of the unit matrix; in
 * the second stage those of dq still are nonzero only in the rows of the joints with these columns. With respect to the
 * inputs, dq is zero in both stages and dv in the first. So a part of n coordinates needs 15 n^3 multiply-adds instead
 * of 24 n^3. */
#pragma once
#include "step_pass.h"

enum { STAGES = 4 };
_Static_assert((int)STRIP <= (int)DYN_STEP_STRIP, "a strip must fit in dyn_step_work");

/* One evaluation of the accelerations. */
typedef struct rk4_stage {
    double weight, next;           /* weight of the rates in the sums; time from the start to the next stage, s */
    lane  *u, *v;                  /* [nv] displacement and velocity */
    lane  *minus_a_q, *minus_a_qd; /* [nv x nv] derivatives of the acceleration, with the opposite sign */
    lane  *a_input;                /* [nv x inputs] derivatives of the acceleration with respect to the inputs */
} rk4_stage;

/* The stages, and the derivatives that are propagated through them. */
typedef struct rk4_chain {
    rk4_stage stage[STAGES];
    lane *k, *sum_k, *sum_a; /* [nv] each: rates k of the displacement; weighted sums of k and of the accelerations a */
    /* [nv x STRIP] derivatives. dq holds du until the positions are displaced, dv becomes dk. du: only rows of joints
     * with a quaternion */
    lane *du, *dv, *dq, *da, *dsum_k, *dsum_a;
} rk4_chain;

static inline rk4_chain rk4_place(const step_pass *p)
{
    static const double weights[STAGES] = {1, 2, 2, 1}, nexts[STAGES] = {0.5, 0.5, 1, 0};
    const size_t        nv = p->nv, n = nv * nv, strip = nv * STRIP;
    rk4_chain           c    = {.k = p->vectors, .sum_k = p->vectors + nv, .sum_a = p->vectors + 2 * nv};
    lane               *next = p->matrices;
    for (int i = 0; i < STAGES; i++, next += 2 * nv + 2 * n + nv * p->inputs) {
        lane *matrix = next + 2 * nv;
        c.stage[i] = (rk4_stage){weights[i], nexts[i] * p->io->h, next, next + nv, matrix, matrix + n, matrix + 2 * n};
    }
    c.du     = next;
    c.dv     = next + strip;
    c.dq     = next + 2 * strip;
    c.da     = next + 3 * strip;
    c.dsum_k = next + 4 * strip;
    c.dsum_a = next + 5 * strip;
    return c;
}

/* --- rates of displacements ------------------------------------------------------------------------------------- */

/* Returns the Lie bracket [a, b] of two twists of a body in its own axes. */
LANE_INLINE twist bracket(twist a, twist b)
{
    return (twist){.v = cross_add(cross(a.w, b.v), a.v, b.w), .w = cross(a.w, b.w)};
}

LANE_INLINE twist twist_sum(twist a, twist b)
{
    return (twist){.v = add(a.v, b.v), .w = add(a.w, b.w)};
}

/* Returns x + y / 2 + z / 12. */
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

/* Returns column c of a matrix (nv x columns) in the rows of a joint with a quaternion. */
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

/* --- stages ----------------------------------------------------------------------------------------------------- */

/* Displaces the positions q by u on their manifold: to = q * exp(u). */
static inline void rk4_displace(const step_pass *p, const lane *q, const lane *u, lane *to)
{
    const dyn_model *m = p->scene->model;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!m->body[i].joint.mimic) displace_joint(&m->body[i], q, u, to, NULL);
}

/* Sets c->k = dexpinv(u, v) (nv), the rates of the displacements of a stage. */
static inline void rk4_rates(const step_pass *p, const rk4_chain *c, const rk4_stage *stage)
{
    const dyn_model *m = p->scene->model;
    memcpy(c->k, stage->v, p->nv * sizeof *c->k);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mimic || !dyn_joint_has_quaternion(b->joint.kind)) continue;
        const twist u = twist_of(b, stage->u), v = twist_of(b, stage->v), y = bracket(u, v);
        set_twist_column(b, c->k, 1, 0, dexpinv_sum(v, y, bracket(u, y)));
    }
}

/* Evaluates the accelerations of a stage at `q`, and their derivatives. */
static inline void rk4_evaluate(const step_pass *p, const rk4_stage *stage, const lane *q)
{
    step_pass    one = *p;
    const size_t nv  = p->nv;
    one.a_q          = stage->minus_a_q;
    one.a_qd         = stage->minus_a_qd;
    one.a_input      = stage->a_input;
    if (p->inputs == nv) one.a_tau = stage->a_input;
    step_evaluate(&one, q, stage->v, p->differentiates);
    for (size_t i = 0; p->differentiates && i < nv && goes_on(p->scene->deadline, nv); i++)
        for (size_t e = i * nv; e < (i + 1) * nv; e++) {
            stage->minus_a_q[e]  = -stage->minus_a_q[e];
            stage->minus_a_qd[e] = -stage->minus_a_qd[e];
        }
}

/* Evaluates all stages. Sets qd_after, and p->u to the displacement of the positions. */
static inline void rk4_evaluate_stages(const step_pass *p, const rk4_chain *c, const lane *q, const lane *qd)
{
    const size_t nv       = p->nv;
    lane        *qd_after = block_out(p->io->qd_after, 0, 0);
    clear(c->sum_k, nv), clear(c->sum_a, nv);
    for (int s = 0; s < STAGES && goes_on(p->scene->deadline, nv); s++) {
        const rk4_stage *stage = &c->stage[s];
        for (size_t i = 0; i < nv; i++) {
            stage->u[i] = s > 0 ? stage[-1].next * c->k[i] : lane_of(0);
            stage->v[i] = s > 0 ? add_mul(velocity_at(qd, i), stage[-1].next, p->qdd[i]) : velocity_at(qd, i);
        }
        if (s > 0) rk4_displace(p, q, stage->u, p->stage_q);
        rk4_evaluate(p, stage, s > 0 ? p->stage_q : q);
        if (s == 0) step_put_residual(p);
        rk4_rates(p, c, stage);
        for (size_t i = 0; i < nv; i++) {
            c->sum_k[i] = add_mul(c->sum_k[i], stage->weight, c->k[i]);
            c->sum_a[i] = add_mul(c->sum_a[i], stage->weight, p->qdd[i]);
        }
    }
    for (size_t i = 0; i < nv; i++) {
        p->u[i]     = p->io->h / 6 * c->sum_k[i];
        qd_after[i] = add_mul(velocity_at(qd, i), p->io->h / 6, c->sum_a[i]);
    }
    rk4_displace(p, q, p->u, block_out(p->io->q_after, 0, 0));
}

/* --- strips of derivatives -------------------------------------------------------------------------------------- */

typedef enum rk4_block { BY_Q, BY_QD, BY_INPUT } rk4_block;

/* Neighbouring columns of the derivatives with respect to q, to qd or to the inputs. */
typedef struct rk4_strip {
    size_t    first, end; /* rows: coordinates first to end - 1, a part of the model */
    rk4_block block;
    size_t    column, n; /* first column and number of columns, counted within the block of columns (q, qd or inputs) */
    size_t    width;     /* n rounded up to whole packs (pack.h): distance of the rows */
    size_t    own_first, own_end; /* rows of the joints whose coordinates are these columns; none for inputs */
} rk4_strip;

/* Adds the strip's columns of the unit matrix to `rows`. */
static inline void add_unit(const rk4_strip *s, lane *rows)
{
    for (size_t j = 0; j < s->n; j++)
        rows[(s->column + j) * s->width + j] = rows[(s->column + j) * s->width + j] + 1.0;
}

/* Returns whether the joint of b has a quaternion and belongs to the part of the strip. */
static inline bool is_free_in(const rk4_strip *s, const dyn_body *b)
{
    const size_t v = (size_t)b->joint.v;
    return dyn_joint_has_quaternion(b->joint.kind) && v >= s->first && v < s->end;
}

/* Sets dq = by_q e + by_u du in the rows of a joint with a quaternion, which begin at row v. */
static inline void free_displace_strip(const rk4_chain *c, const rk4_strip *s, size_t v,
                                       const displacement_rates *rates)
{
    const size_t    n  = (size_t)rates->n;
    const step_rows dq = {c->dq + v * s->width, s->width, s->width}, du = {c->du + v * s->width, s->width, s->width};
    clear(dq.at, n * s->width);
    for (size_t k = 0; s->block == BY_Q && k < n; k++)
        for (size_t i = 0; v + k >= s->column && v + k < s->column + s->n && i < n; i++)
            dq.at[i * s->width + v + k - s->column] = rates->by_q[i][k];
    add_displaced_rows(rates, du, dq);
}

/* Replaces du by dq, the derivatives of the positions displaced by u. */
static inline void rk4_displace_strip(const step_pass *p, const rk4_chain *c, const rk4_strip *s, const lane *u)
{
    const dyn_model   *m     = p->scene->model;
    const dyn_body    *end   = m->body + (m->n_quaternions > 0 ? m->n_bodies : 0);
    displacement_rates rates = {.n = 6};
    for (const dyn_body *b = m->body; b < end; b++) {
        const size_t first = (size_t)b->joint.v * s->width, n = (size_t)dyn_joint_nv(b->joint.kind) * s->width;
        if (is_free_in(s, b)) memcpy(c->du + first, c->dq + first, n * sizeof *c->du);
    }
    if (s->block == BY_Q) add_unit(s, c->dq);
    for (const dyn_body *b = m->body; b < end; b++) {
        if (!is_free_in(s, b)) continue;
        displace_free_joint(b, block_in(p->io->q, 0, 0), u, p->stage_q, &rates);
        free_displace_strip(c, s, (size_t)b->joint.v, &rates);
    }
}

/* Replaces dv by the derivatives of k = dexpinv(u, v), in the rows of a joint with a quaternion. */
static inline void free_rate_strip(const rk4_chain *c, const rk4_strip *s, const rk4_stage *stage, const dyn_body *b)
{
    const twist u = twist_of(b, stage->u), v = twist_of(b, stage->v), y = bracket(u, v);
    for (size_t j = 0; j < s->width; j++) {
        const twist du = twist_column(b, c->du, s->width, j), dv = twist_column(b, c->dv, s->width, j);
        const twist dy = twist_sum(bracket(du, v), bracket(u, dv)), dz = twist_sum(bracket(du, y), bracket(u, dy));
        set_twist_column(b, c->dv, s->width, j, dexpinv_sum(dv, dy, dz));
    }
}

/* A product M X that is added to da. With `own_terms` the sums run over the joints whose coordinates are the columns,
 * else over all joints of the part. */
typedef struct rk4_product {
    const lane *minus_M, *X;
    bool        own_terms;
} rk4_product;

/* Adds a product to da, or with `begins` sets da to it. */
static inline void add_product(const step_pass *p, const rk4_chain *c, const rk4_strip *s, rk4_product x, bool begins)
{
    const size_t      first   = x.own_terms ? s->own_first : s->first;
    lane             *Y       = c->da + s->first * s->width;
    const row_product product = {.deadline = p->scene->deadline,
                                 .A        = x.minus_M + s->first * p->nv + first,
                                 .A_row    = p->nv,
                                 .A_term   = 1,
                                 .X        = x.X + first * s->width,
                                 .stride   = s->width,
                                 .n        = (x.own_terms ? s->own_end : s->end) - first,
                                 .S        = begins ? NULL : Y,
                                 .Y        = Y,
                                 .Y_row    = s->width};
    multiply_rows(&product, s->end - s->first, 0, s->width);
}

/* Sets da, the derivatives of the acceleration of a stage: a_q dq + a_qd dv + [0 0 a_input]. */
static inline void rk4_acceleration_strip(const step_pass *p, const rk4_chain *c, const rk4_strip *s, int stage)
{
    const rk4_stage *to        = &c->stage[stage];
    const bool       by_inputs = s->block == BY_INPUT;
    for (size_t i = s->first; by_inputs && i < s->end; i++) {
        lane *da = c->da + i * s->width;
        memcpy(da, to->a_input + i * p->inputs + s->column, s->n * sizeof *da);
        clear(da + s->n, s->width - s->n);
    }
    if (stage > 0 ? !by_inputs || stage > 1 : s->block == BY_Q)
        add_product(p, c, s, (rk4_product){to->minus_a_q, c->dq, stage < 2}, !by_inputs);
    if (stage > 0 || s->block == BY_QD)
        add_product(p, c, s, (rk4_product){to->minus_a_qd, c->dv, stage < 1}, stage < 1);
}

/* Propagates derivatives through one stage: sets da, replaces du by dq and dv by dk. In the first stage u and du are
 * zero. */
static inline void rk4_stage_strip(const step_pass *p, const rk4_chain *c, const rk4_strip *s, int stage)
{
    const dyn_model *m  = p->scene->model;
    const rk4_stage *to = &c->stage[stage];
    if (stage > 0)
        rk4_displace_strip(p, c, s, to->u);
    else if (s->block == BY_Q)
        add_unit(s, c->dq);
    rk4_acceleration_strip(p, c, s, stage);
    for (size_t i = 0; stage > 0 && m->n_quaternions > 0 && i < m->n_bodies; i++)
        if (is_free_in(s, &m->body[i])) free_rate_strip(c, s, to, &m->body[i]);
}

/* Adds dk and da, the derivatives of this stage's rates, to the weighted sums, and begins the next stage: du = next dk,
 * dv = next da + the unit columns of qd. */
static inline void rk4_advance_strip(const rk4_chain *c, const rk4_strip *s, const rk4_stage *stage)
{
    for (size_t e = s->first * s->width; e < s->end * s->width; e++) {
        const lane dk = c->dv[e], da = c->da[e];
        c->dsum_k[e] = add_mul(c->dsum_k[e], stage->weight, dk);
        c->dsum_a[e] = add_mul(c->dsum_a[e], stage->weight, da);
        c->dq[e]     = stage->next * dk;
        c->dv[e]     = stage->next * da;
    }
    if (s->block == BY_QD) add_unit(s, c->dv);
}

/* Copies the strip to the rows of A or B, of the positions or velocities. */
static inline void rk4_put_strip(const step_pass *p, const rk4_strip *s, const lane *rows, size_t first)
{
    const size_t nv = p->nv, stride = s->block == BY_INPUT ? p->inputs : 2 * nv;
    lane        *to = s->block == BY_INPUT ? p->B : s->block == BY_QD ? p->A + nv : p->A;
    for (size_t i = s->first; i < s->end; i++)
        memcpy(to + (first + i) * stride + s->column, rows + i * s->width, s->n * sizeof *rows);
}

/* Propagates the derivatives through the four stages for one strip of columns, and writes those of the new q and qd. */
static inline void rk4_chain_strip(const step_pass *p, const rk4_chain *c, const rk4_strip *s)
{
    const size_t first = s->first * s->width, end = s->end * s->width;
    const double part = p->io->h / 6;
    clear(c->dq + first, end - first), clear(c->dv + first, end - first);
    clear(c->dsum_k + first, end - first), clear(c->dsum_a + first, end - first);
    if (s->block == BY_QD) add_unit(s, c->dv);
    for (int stage = 0; stage < STAGES && goes_on(p->scene->deadline, p->nv); stage++) {
        rk4_stage_strip(p, c, s, stage);
        rk4_advance_strip(c, s, &c->stage[stage]);
    }
    for (size_t e = first; e < end; e++) {
        c->dq[e] = part * c->dsum_k[e];
        c->dv[e] = part * c->dsum_a[e];
    }
    if (s->block == BY_QD) add_unit(s, c->dv);
    rk4_displace_strip(p, c, s, p->u);
    rk4_put_strip(p, s, c->dq, 0);
    rk4_put_strip(p, s, c->dv, p->nv);
}

/* Sets own_first and own_end of the strip: the rows of the joints whose coordinates are its columns. */
static inline void rk4_find_own(const dyn_model *m, rk4_strip *s)
{
    s->own_first = s->own_end = s->column;
    for (size_t i = 0; s->block != BY_INPUT && i < m->n_bodies; i++) {
        const dyn_body_joint *joint = &m->body[i].joint;
        const size_t          v = (size_t)joint->v, end = v + (size_t)dyn_joint_nv(joint->kind);
        if (joint->mimic || end <= s->column || v >= s->column + s->n) continue;
        if (v < s->own_first) s->own_first = v;
        if (end > s->own_end) s->own_end = end;
    }
}

/* Propagates the columns first to end - 1 of a block strip by strip, in the rows of one part. */
static inline void rk4_columns(const step_pass *p, const rk4_chain *c, rk4_strip s, size_t first, size_t end)
{
    for (s.column = first; s.column < end && goes_on(p->scene->deadline, p->nv); s.column += s.n) {
        s.n     = end - s.column < STRIP ? end - s.column : STRIP;
        s.width = (s.n + PACK - 1) / PACK * PACK;
        rk4_find_own(p->scene->model, &s);
        rk4_chain_strip(p, c, &s);
    }
}

/* Sets A and B part by part. Held frames and the loops of a mechanism connect all coordinates to one part. */
static inline void rk4_matrices(const step_pass *p, const rk4_chain *c)
{
    const size_t nv = p->nv;
    for (size_t first = 0, end; first < nv; first = end) {
        end = step_part_end(p, first);
        if (first == 0 && end < nv) clear(p->A, 4 * nv * nv), clear(p->B, 2 * nv * p->inputs);
        for (rk4_block block = BY_Q; block <= BY_INPUT; block++)
            rk4_columns(p, c, (rk4_strip){.first = first, .end = end, .block = block}, first, end);
        rk4_columns(p, c, (rk4_strip){.first = first, .end = end, .block = BY_INPUT}, nv, p->inputs);
    }
}

static inline void rk4(const step_pass *p)
{
    const rk4_chain c = rk4_place(p);
    rk4_evaluate_stages(p, &c, block_in(p->io->q, 0, 0), block_in(p->io->qd, 0, 0));
    if (p->differentiates) rk4_matrices(p, &c);
}
