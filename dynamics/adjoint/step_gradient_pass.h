/* step_gradient_pass.h - evaluates and differentiates the accelerations and displacements of a step, backwards. Part of
 * step_gradient.c. */
#pragma once
#include "dynamics/algorithms/step_implicit.h"
#include "dynamics/algorithms/step_rk4.h"

/* One evaluation of forward dynamics within a step. */
typedef struct gradient_stage {
    lane *q, *u, *v, *a; /* [nq], [nv]: position, its displacement from q, velocity and acceleration */
    lane *by_k, *by_a;   /* [nv] multipliers of k, the rate of the displacement, and of the acceleration */
} gradient_stage;

/* One block of a step. */
typedef struct gradient_pass {
    const dyn_scene         *scene;
    void                    *memory; /* workspace of the kernels that this one calls */
    const dyn_step_gradient *io;
    size_t                   nv;
    gradient_stage           stage[STAGES];
    lane                    *by_q, *by_qd; /* [nv] results: gradients with respect to q and qd */
    lane *stage_q, *stage_qd;              /* [nv] gradients of one stage with respect to its position and velocity */
    lane *stage_tau;                       /* [nv] gradient of one stage with respect to tau */
    lane *u, *by_u; /* [nv] displacement of the step, and the gradient with respect to a displacement */
    lane *unused_q; /* [nq] */
    lane *parameters, *wrenches, *gravity; /* gradients of one stage with respect to these */
    lane *a_q, *a_qd, *W; /* nv x nv: derivatives of the acceleration, and W^T; only of implicit Euler */
    lane *step_work;      /* work of dyn_step; only of implicit Euler */
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

/* Takes `entries` lanes from `next`. */
LANE_INLINE lane *take_lanes(lane **next, size_t entries)
{
    lane *here = *next;
    *next += entries;
    return here;
}

/* Lays out `work`; dyn_step_gradient_work counts the entries. */
static inline gradient_pass gradient_pass_of(const dyn_scene *scene, void *memory, const dyn_step_gradient *io)
{
    const dyn_model *m  = scene->model;
    const size_t     nq = (size_t)m->nq, nv = (size_t)m->nv;
    lane            *next = block_out(io->work, 0, 0);
    gradient_pass    p    = {.scene    = scene,
                             .memory   = memory,
                             .io       = io,
                             .nv       = nv,
                             .by_q     = block_out(io->gradient_q, 0, 0),
                             .by_qd    = block_out(io->gradient_qd, 0, 0),
                             .singular = block_out(io->singular, 0, 0),
                             .unsolved = block_out(io->unsolved, 0, 0)};
    for (int n = 0; n < (io->method == DYN_RK4 ? STAGES : 1); n++) {
        gradient_stage *s = &p.stage[n];
        s->q              = take_lanes(&next, nq);
        s->u              = take_lanes(&next, nv);
        s->v              = take_lanes(&next, nv);
        s->a              = take_lanes(&next, nv);
        s->by_k           = take_lanes(&next, nv);
        s->by_a           = take_lanes(&next, nv);
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
    (p->scene, p->memory,
     &(dyn_forward_dynamics){.q        = (const double *)s->q,
                             .qd       = (const double *)s->v,
                             .tau      = p->io->tau,
                             .wrenches = p->io->wrenches,
                             .qdd      = (double *)s->a,
                             .singular = (double *)&singular},
     1);
    *p->singular = lane_select(lane_less(*p->singular, lane_of(0)), singular, *p->singular);
}

/* to += from, unless `to` is NULL. */
static inline void add_lanes(lane *to, const lane *from, size_t n)
{
    for (size_t i = 0; to && i < n; i++)
        to[i] += from[i];
}

/* Sets stage_q and stage_qd to the gradients of by_a . a with respect to the position and velocity of a stage. Adds the
 * gradients with respect to tau and all other inputs to the results. */
static inline void differentiate_acceleration(const gradient_pass *p, const gradient_stage *s)
{
    const dyn_step_gradient *io = p->io;
    LANE_NAME(forward_gradient)
    (p->scene, p->memory,
     &(dyn_forward_gradient){.q                   = (const double *)s->q,
                             .qd                  = (const double *)s->v,
                             .tau                 = io->tau,
                             .wrenches            = io->wrenches,
                             .multipliers         = (const double *)s->by_a,
                             .qdd_is_set          = true,
                             .qdd                 = (double *)s->a,
                             .gradient_q          = (double *)p->stage_q,
                             .gradient_qd         = (double *)p->stage_qd,
                             .gradient_tau        = (double *)p->stage_tau,
                             .gradient_parameters = io->gradient_parameters ? (double *)p->parameters : NULL,
                             .gradient_wrenches   = io->gradient_wrenches ? (double *)p->wrenches : NULL,
                             .gradient_gravity    = io->gradient_gravity ? (double *)p->gravity : NULL},
     1);
    add_lanes(block_out(io->gradient_tau, 0, 0), p->stage_tau, p->nv);
    add_lanes(block_out(io->gradient_parameters, 0, 0), p->parameters, 10 * p->scene->model->n_rows);
    add_lanes(block_out(io->gradient_wrenches, 0, 0), p->wrenches, 6 * p->scene->n_wrenches);
    add_lanes(block_out(io->gradient_gravity, 0, 0), p->gravity, 3);
}

/* --- displacements ---------------------------------------------------------------------------------------------- */

/* to = q * exp(u) */
static inline void displace_all(const gradient_pass *p, const lane *q, const lane *u, lane *to)
{
    const dyn_model *m = p->scene->model;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!m->body[i].joint.mimic) displace_joint(&m->body[i], q, u, to, NULL);
}

/* Sets by_q and by_u to the gradients of multipliers . (q * exp(u)) with respect to q and u; by_q may be
 * `multipliers`. */
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
