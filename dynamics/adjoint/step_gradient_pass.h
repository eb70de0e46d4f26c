/* step_gradient_pass.h - evaluates and differentiates the accelerations and displacements of a step, backwards. Part of
 * step_gradient.c. */
#pragma once
#include "dynamics/algorithms/step_implicit.h"
#include "dynamics/algorithms/step_rk4.h"

/* One evaluation of forward dynamics within a step. */
typedef struct gradient_stage {
    lane *q, *u, *v, *a; /* [nq] position; [nv] each: displacement from the start, velocity, acceleration */
    lane *by_k, *by_a;   /* [nv] multipliers of the rate of the displacement and of the acceleration */
    lane *by_q;          /* [nv] gradient of by_a . a with respect to the position */
    void *factors;       /* workspace of forward_dynamics, whose pivots the derivatives use */
} gradient_stage;

/* One block of a step. */
typedef struct gradient_pass {
    const dyn_scene         *scene;
    void                    *memory; /* workspace of the other kernels that this one calls */
    const dyn_step_gradient *io;
    size_t                   nv;
    gradient_stage           stage[STAGES];
    lane                    *by_q, *by_qd; /* [nv] the results: gradients with respect to q and qd before the step */
    lane *stage_q, *stage_qd; /* [nv] gradients of one stage: with respect to q before the step; to its velocity */
    lane *stage_tau;          /* [nv] gradient of one stage with respect to tau */
    lane *u, *by_u;           /* [nv] displacement of the step, and the gradient with respect to a displacement */
    lane *unused_q;           /* [nq] the displaced position, which is not read */
    lane *parameters, *wrenches, *gravity; /* gradients of one stage with respect to these */
    lane *a_q, *a_qd, *W; /* nv x nv: derivatives of the acceleration, and W^T; only of implicit Euler */
    lane *step_work;      /* work of dyn_step for Newton's method; only of implicit Euler */
    lane *singular, *unsolved;
} gradient_pass;

/* Returns a copy of `io` whose arrays begin at block `block`. */
static inline dyn_step_gradient gradient_block_io(const dyn_scene *scene, const dyn_step_gradient *io, size_t block)
{
    const dyn_model  *m  = scene->model;
    const size_t      nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches;
    dyn_step_gradient one   = *io;
    one.q                   = (const double *)block_in(io->q, block, nq);
    one.qd                  = (const double *)block_in(io->qd, block, nv);
    one.tau                 = (const double *)block_in(io->tau, block, nv);
    one.wrenches            = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL;
    one.multipliers_q       = (const double *)block_in(io->multipliers_q, block, nv);
    one.multipliers_qd      = (const double *)block_in(io->multipliers_qd, block, nv);
    one.gradient_q          = (double *)block_out(io->gradient_q, block, nv);
    one.gradient_qd         = (double *)block_out(io->gradient_qd, block, nv);
    one.gradient_tau        = (double *)block_out(io->gradient_tau, block, nv);
    one.gradient_parameters = (double *)block_out(io->gradient_parameters, block, 10 * m->n_rows);
    one.gradient_wrenches   = nw ? (double *)block_out(io->gradient_wrenches, block, 6 * nw) : NULL;
    one.gradient_gravity    = (double *)block_out(io->gradient_gravity, block, 3);
    one.singular            = (double *)block_out(io->singular, block, 1);
    one.unsolved            = (double *)block_out(io->unsolved, block, 1);
    return one;
}

/* Returns the address of `entries` lanes at *next, and moves *next behind them. */
LANE_INLINE lane *take_lanes(lane **next, size_t entries)
{
    lane *here = *next;
    *next += entries;
    return here;
}

/* Returns the size of a workspace for the factors of all stages and for kernels that need `most` bytes. */
static inline size_t gradient_pass_size(const dyn_model *m, size_t most)
{
    arena a = {0};
    for (int n = 0; n < STAGES; n++)
        arena_take(&a, LANE_NAME(forward_dynamics_size)(m), 1);
    arena_take(&a, most, 1);
    return a.used;
}

/* Lays out `work`, whose entries dyn_step_gradient_work counts, and `memory`, as gradient_pass_size does. */
static inline gradient_pass gradient_pass_of(const dyn_scene *scene, void *memory, const dyn_step_gradient *io)
{
    const dyn_model *m  = scene->model;
    const size_t     nq = (size_t)m->nq, nv = (size_t)m->nv;
    lane            *next = block_out(io->work, 0, 0);
    arena            a    = {.base = memory};
    gradient_pass    p    = {.scene    = scene,
                             .io       = io,
                             .nv       = nv,
                             .by_q     = block_out(io->gradient_q, 0, 0),
                             .by_qd    = block_out(io->gradient_qd, 0, 0),
                             .singular = block_out(io->singular, 0, 0),
                             .unsolved = block_out(io->unsolved, 0, 0)};
    for (int n = 0; n < STAGES; n++)
        p.stage[n].factors = arena_take(&a, LANE_NAME(forward_dynamics_size)(m), 1);
    p.memory = arena_take(&a, 0, 1);
    for (int n = 0; n < (io->method == DYN_RK4 ? STAGES : 1); n++) {
        gradient_stage *s = &p.stage[n];
        s->q              = take_lanes(&next, nq);
        s->u              = take_lanes(&next, nv);
        s->v              = take_lanes(&next, nv);
        s->a              = take_lanes(&next, nv);
        s->by_k           = take_lanes(&next, nv);
        s->by_a           = take_lanes(&next, nv);
        s->by_q           = take_lanes(&next, nv);
    }
    lane **const vectors[] = {&p.stage_q, &p.stage_qd, &p.stage_tau, &p.u, &p.by_u, NULL};
    for (size_t i = 0; vectors[i]; i++)
        *vectors[i] = take_lanes(&next, nv);
    p.unused_q   = take_lanes(&next, nq);
    p.parameters = take_lanes(&next, 10 * m->n_rows);
    p.wrenches   = take_lanes(&next, 6 * scene->n_wrenches);
    p.gravity    = take_lanes(&next, 3);
    if (io->method != DYN_IMPLICIT_EULER) return p;
    p.a_q       = take_lanes(&next, nv * nv);
    p.a_qd      = take_lanes(&next, nv * nv);
    p.W         = take_lanes(&next, nv * nv);
    p.step_work = next;
    return p;
}

static inline void clear_gradients(const gradient_pass *p)
{
    const dyn_step_gradient *io = p->io;
    clear(block_out(io->gradient_tau, 0, 0), p->nv);
    clear(block_out(io->gradient_parameters, 0, 0), 10 * p->scene->model->n_rows);
    clear(block_out(io->gradient_wrenches, 0, 0), 6 * p->scene->n_wrenches);
    clear(block_out(io->gradient_gravity, 0, 0), 3);
}

/* --- accelerations ---------------------------------------------------------------------------------------------- */

/* Sets the position and velocity of the first stage. */
static inline void begin_stage(const gradient_pass *p, const gradient_stage *s, const lane *q, const lane *qd)
{
    memcpy(s->q, q, (size_t)p->scene->model->nq * sizeof *q);
    for (size_t i = 0; i < p->nv; i++) {
        s->u[i] = lane_of(0);
        s->v[i] = velocity_at(qd, i);
    }
}

static inline void stage_accelerate(const gradient_pass *p, const gradient_stage *s)
{
    lane singular;
    LANE_NAME(forward_dynamics)
    (p->scene, s->factors,
     &(dyn_forward_dynamics){.q        = (const double *)s->q,
                             .qd       = (const double *)s->v,
                             .tau      = p->io->tau,
                             .wrenches = p->io->wrenches,
                             .qdd      = (double *)s->a,
                             .singular = (double *)&singular},
     1);
    *p->singular = lane_select(lane_less(*p->singular, lane_of(0)), singular, *p->singular);
}

/* Adds n lanes of `from` to `to`, unless `to` is NULL. */
static inline void add_lanes(lane *to, const lane *from, size_t n)
{
    for (size_t i = 0; to && i < n; i++)
        to[i] += from[i];
}

/* Sets by_q of the stage and stage_qd to the gradients of by_a . a with respect to position and velocity. Adds the
 * gradients with respect to tau, parameters, wrenches and gravity to the results. */
static inline void differentiate_acceleration(const gradient_pass *p, const gradient_stage *s)
{
    const dyn_step_gradient *io = p->io;
    LANE_NAME(forward_gradient_from)
    (p->scene, p->memory, s->factors,
     &(dyn_forward_gradient){.q                   = (const double *)s->q,
                             .qd                  = (const double *)s->v,
                             .tau                 = io->tau,
                             .wrenches            = io->wrenches,
                             .multipliers         = (const double *)s->by_a,
                             .qdd                 = (double *)s->a,
                             .gradient_q          = (double *)s->by_q,
                             .gradient_qd         = (double *)p->stage_qd,
                             .gradient_tau        = (double *)p->stage_tau,
                             .gradient_parameters = io->gradient_parameters ? (double *)p->parameters : NULL,
                             .gradient_wrenches   = io->gradient_wrenches ? (double *)p->wrenches : NULL,
                             .gradient_gravity    = io->gradient_gravity ? (double *)p->gravity : NULL});
    add_lanes(block_out(io->gradient_tau, 0, 0), p->stage_tau, p->nv);
    add_lanes(block_out(io->gradient_parameters, 0, 0), p->parameters, 10 * p->scene->model->n_rows);
    add_lanes(block_out(io->gradient_wrenches, 0, 0), p->wrenches, 6 * p->scene->n_wrenches);
    add_lanes(block_out(io->gradient_gravity, 0, 0), p->gravity, 3);
}

/* --- displacements ---------------------------------------------------------------------------------------------- */

/* Sets `to` to the displaced position q * exp(u). */
static inline void displace_all(const gradient_pass *p, const lane *q, const lane *u, lane *to)
{
    const dyn_model *m = p->scene->model;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!m->body[i].joint.mimic) displace_joint(&m->body[i], q, u, to, NULL);
}

/* Sets by_q and by_u to the gradients of multipliers . (q * exp(u)). */
static inline void displace_back(const gradient_pass *p, const lane *u, const lane *multipliers, lane *by_q, lane *by_u)
{
    const dyn_model   *m = p->scene->model;
    displacement_rates rates;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mimic) continue;
        const size_t v = (size_t)b->joint.v;
        lane         sum_q[6], sum_u[6];
        displace_joint(b, block_in(p->io->q, 0, 0), u, p->unused_q, &rates);
        for (int j = 0; j < rates.n; j++) {
            sum_q[j] = sum_u[j] = lane_of(0);
            for (int k = 0; k < rates.n; k++) {
                sum_q[j] = add_mul(sum_q[j], rates.by_q[k][j], multipliers[v + (size_t)k]);
                sum_u[j] = add_mul(sum_u[j], rates.by_u[k][j], multipliers[v + (size_t)k]);
            }
        }
        for (size_t j = 0; j < (size_t)rates.n; j++) {
            by_q[v + j] = sum_q[j];
            by_u[v + j] = sum_u[j];
        }
    }
}

/* --- stages ----------------------------------------------------------------------------------------------------- */

/* Computes the stage and the displacement u of explicit or semi-implicit Euler. */
static inline void euler_stage(const gradient_pass *p)
{
    const dyn_step_gradient *io    = p->io;
    const gradient_stage    *s     = &p->stage[0];
    const bool               after = io->method == DYN_SEMI_IMPLICIT_EULER;
    begin_stage(p, s, block_in(io->q, 0, 0), block_in(io->qd, 0, 0));
    stage_accelerate(p, s);
    for (size_t i = 0; i < p->nv; i++)
        p->u[i] = io->h * (after ? add_mul(s->v[i], io->h, s->a[i]) : s->v[i]);
}

/* Sets k = dexpinv(u, v) of a stage. */
static inline void set_displacement_rates(const gradient_pass *p, const gradient_stage *s, lane *k)
{
    const dyn_model *m = p->scene->model;
    memcpy(k, s->v, p->nv * sizeof *k);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mimic || !dyn_joint_has_quaternion(b->joint.kind)) continue;
        const twist u = twist_of(b, s->u), v = twist_of(b, s->v), y = bracket(u, v);
        set_twist_column(b, k, 1, 0, dexpinv_sum(v, y, bracket(u, y)));
    }
}

static const double rk4_weights[STAGES] = {1, 2, 2, 1}, rk4_parts[STAGES] = {0, 0.5, 0.5, 1};

/* Computes all stages of RK4, and the displacement u of the step. */
static inline void rk4_stages(const gradient_pass *p)
{
    const double h = p->io->h;
    const lane  *q = block_in(p->io->q, 0, 0), *qd = block_in(p->io->qd, 0, 0);
    lane        *rate = p->by_u;
    clear(p->u, p->nv);
    begin_stage(p, &p->stage[0], q, qd);
    for (int n = 0; n < STAGES; n++) {
        const gradient_stage *s = &p->stage[n];
        stage_accelerate(p, s);
        set_displacement_rates(p, s, rate);
        for (size_t i = 0; i < p->nv; i++)
            p->u[i] = add_mul(p->u[i], h / 6 * rk4_weights[n], rate[i]);
        if (n + 1 == STAGES) break;
        const gradient_stage *next = &p->stage[n + 1];
        for (size_t i = 0; i < p->nv; i++) {
            next->u[i] = h * rk4_parts[n + 1] * rate[i];
            next->v[i] = add_mul(velocity_at(qd, i), h * rk4_parts[n + 1], s->a[i]);
        }
        displace_all(p, q, next->u, next->q);
    }
}

/* Returns the transpose of the map b -> [a, b], applied to a wrench c. */
LANE_INLINE twist bracket_transposed(twist a, twist c)
{
    return (twist){.v = cross(c.v, a.w), .w = cross_add(cross(c.v, a.v), c.w, a.w)};
}

LANE_INLINE twist twist_minus(twist a, twist b)
{
    return (twist){sub(a.v, b.v), sub(a.w, b.w)};
}
