/* step_tangent_pass.h - computes the rates of the stages of a step, and of the state after the step, along a direction.
 * Part of step_directional.c and step_hessian_product.c.
 *
 * d is a rate along the direction (e, dqd, dtau) of the state and tau. A position q * exp(u) has the rate by_q e + by_u
 * du (step_displacement.h), an acceleration that of forward_directional.c, and
 *
 *     explicit Euler:       du = h dqd,   dqd+ = dqd + h da,
 *     semi-implicit Euler:  du = h dqd+,  dqd+ = dqd + h da,
 *     RK4:                  the stages of step_rk4.h from the first to the last. */
#pragma once
#include "dynamics/directional.h"
#include "step_gradient_pass.h"

/* Rates of a gradient_stage along the direction, each [nv]. */
typedef struct tangent_stage {
    lane *e, *du, *dv, *da; /* rates of the position, displacement, velocity and acceleration */
    lane *by_k, *by_a;
} tangent_stage;

/* Rates of a step along one direction. */
typedef struct step_tangent {
    const gradient_pass *p; /* the stages whose rates are computed */
    const lane          *tau;
    tangent_stage        stage[STAGES];       /* e and dv of the first stage are the direction of the state */
    lane                *du, *dk;             /* [nv] rates of the displacement of the step, and of k of a stage */
    lane                *by_u, *unused_rates; /* [nv] */
    lane                *stage_q, *stage_qd, *stage_tau; /* [nv] rates of the gradients of one stage */
    lane                *zeros;                          /* [nv] */
} step_tangent;

/* The direction of q, qd and tau, [nv] each; NULL: zero. */
typedef struct step_direction {
    const lane *q, *qd, *tau;
} step_direction;

/* Copies [nv] entries of a direction to `to`; zeros if `from` is NULL. */
static inline void copy_direction(const gradient_pass *p, const lane *from, lane *to)
{
    for (size_t i = 0; i < p->nv; i++)
        to[i] = from ? from[i] : lane_of(0);
}

/* Lays out `work`; dyn_step_tangent_work counts the entries. */
static inline step_tangent step_tangent_of(const gradient_pass *p, step_direction along, lane *work)
{
    const size_t nv   = p->nv;
    lane        *next = work;
    step_tangent t    = {.p = p};
    for (int n = 0; n < (p->io->method == DYN_RK4 ? STAGES : 1); n++) {
        tangent_stage *x         = &t.stage[n];
        lane **const   vectors[] = {&x->e, &x->du, &x->dv, &x->da, &x->by_k, &x->by_a};
        for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
            *vectors[i] = take_lanes(&next, nv);
    }
    lane **const vectors[] = {&t.du, &t.dk, &t.by_u, &t.unused_rates, &t.stage_q, &t.stage_qd, &t.stage_tau, &t.zeros};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = take_lanes(&next, nv);
    clear(t.zeros, nv);
    copy_direction(p, along.q, t.stage[0].e);
    copy_direction(p, along.qd, t.stage[0].dv);
    clear(t.stage[0].du, nv);
    t.tau = along.tau ? along.tau : t.zeros;
    return t;
}

/* --- displacements ---------------------------------------------------------------------------------------------- */

/* Sets `to` to by_q e + by_u du, the rates of q * exp(u). */
static inline void displace_direction(const step_tangent *t, const lane *u, const lane *du, lane *to)
{
    const gradient_pass *p = t->p;
    const dyn_model     *m = p->scene->model;
    const lane          *e = t->stage[0].e;
    displacement_rates   rates;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mimic) continue;
        const size_t v = (size_t)b->joint.v;
        displace_joint(b, block_in(p->io->q, 0, 0), u, p->unused_q, &rates);
        for (size_t j = 0; j < (size_t)rates.n; j++) {
            lane sum = lane_of(0);
            for (size_t k = 0; k < (size_t)rates.n; k++)
                sum = add_mul(add_mul(sum, rates.by_q[j][k], e[v + k]), rates.by_u[j][k], du[v + k]);
            to[v + j] = sum;
        }
    }
}

/* Returns the rate of the bracket [u, v] of twists. */
LANE_INLINE twist bracket_rate(twist u, twist du, twist v, twist dv)
{
    return twist_sum(bracket(du, v), bracket(u, dv));
}

/* Sets the rate of k = dexpinv(u, v) of stage n. */
static inline void set_rates_of_displacement_rates(const step_tangent *t, int n, lane *dk)
{
    const dyn_model      *m = t->p->scene->model;
    const gradient_stage *s = &t->p->stage[n];
    const tangent_stage  *x = &t->stage[n];
    memcpy(dk, x->dv, t->p->nv * sizeof *dk);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mimic || !dyn_joint_has_quaternion(b->joint.kind)) continue;
        const twist u = twist_of(b, s->u), v = twist_of(b, s->v), du = twist_of(b, x->du), dv = twist_of(b, x->dv),
                    y = bracket(u, v), dy = bracket_rate(u, du, v, dv);
        set_twist_column(b, dk, 1, 0, dexpinv_sum(dv, dy, bracket_rate(u, du, y, dy)));
    }
}

/* --- stages ----------------------------------------------------------------------------------------------------- */

/* Sets da, the rates of the acceleration of stage n. */
static inline void differentiate_stage(const step_tangent *t, int n)
{
    const gradient_pass  *p = t->p;
    const gradient_stage *s = &p->stage[n];
    const tangent_stage  *x = &t->stage[n];
    LANE_NAME(forward_directional_from)
    (p->scene, p->memory, s->factors,
     &(dyn_forward_directional){.q             = (const double *)s->q,
                                .qd            = (const double *)s->v,
                                .tau           = p->io->tau,
                                .wrenches      = p->io->wrenches,
                                .n             = 1,
                                .direction_q   = (const double *)x->e,
                                .direction_qd  = (const double *)x->dv,
                                .direction_tau = (const double *)t->tau,
                                .rates         = (double *)x->da,
                                .qdd           = (double *)s->a});
}

/* Sets the rates of the stage and of the displacement of Euler's methods, and dqd+. */
static inline void euler_tangent(const step_tangent *t, lane *dqd_after)
{
    const tangent_stage *x     = &t->stage[0];
    const double         h     = t->p->io->h;
    const bool           after = t->p->io->method == DYN_SEMI_IMPLICIT_EULER;
    differentiate_stage(t, 0);
    for (size_t i = 0; i < t->p->nv; i++) {
        dqd_after[i] = add_mul(x->dv[i], h, x->da[i]);
        t->du[i]     = h * (after ? dqd_after[i] : x->dv[i]);
    }
}

/* Sets the rates of all stages and of the displacement of RK4, and dqd+. */
static inline void rk4_tangent(const step_tangent *t, lane *dqd_after)
{
    const double         h     = t->p->io->h;
    const tangent_stage *first = &t->stage[0];
    clear(t->du, t->p->nv);
    memcpy(dqd_after, first->dv, t->p->nv * sizeof *dqd_after);
    for (int n = 0; n < STAGES; n++) {
        const tangent_stage *x    = &t->stage[n];
        const double         part = h * rk4_parts[n], weight = h / 6 * rk4_weights[n];
        for (size_t i = 0; n > 0 && i < t->p->nv; i++) {
            x->du[i] = part * t->dk[i];
            x->dv[i] = add_mul(first->dv[i], part, x[-1].da[i]);
        }
        if (n > 0) displace_direction(t, t->p->stage[n].u, x->du, x->e);
        differentiate_stage(t, n);
        set_rates_of_displacement_rates(t, n, t->dk);
        for (size_t i = 0; i < t->p->nv; i++) {
            t->du[i]     = add_mul(t->du[i], weight, t->dk[i]);
            dqd_after[i] = add_mul(dqd_after[i], weight, x->da[i]);
        }
    }
}

/* Sets the rates of all stages, and dqd+. */
static inline void tangent_of_stages(const step_tangent *t, lane *dqd_after)
{
    if (t->p->io->method == DYN_RK4)
        rk4_tangent(t, dqd_after);
    else
        euler_tangent(t, dqd_after);
}
