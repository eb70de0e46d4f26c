/* hessian_pairs.h - computes the entries of second derivatives of tau for pairs of degrees of freedom. Part of
 * hessian.c, which has the equations. */
#pragma once
#include "kernels.h"
#include "dynamics/recursion/virtual_motion.h"

/* Changes of the force of the composite of a body and of its ancestors with a dof b, which do not depend on virtual
 * motions. */
typedef struct force_changes {
    wrench F_q, F_qd, t;
} force_changes;

typedef struct workspace {
    joint_transform      *XJ;
    spatial_body         *body;
    virtual_body         *virtual_motion;
    dof                  *dof;
    twist                *phi;
    world_fixed_wrenches *world_fixed;
    /* only without multipliers: */
    lane          *unit;    /* [nv] multipliers of one torque */
    force_changes *changes; /* of all dofs */
    bool          *below;   /* [n_bodies] a body and its descendants */
} workspace;

/* Outputs for one block, nv x nv each; NULL: not requested. */
typedef struct results {
    lane *q_q, *q_qd, *q_qdd, *qd_qd, *qd_qdd;
} results;

typedef struct hessian_pass {
    dyn_deadline     deadline;
    const dyn_model *m;
    const workspace *ws;
    const results   *out;
    bool             world_fixed; /* some external wrenches are in world axes */
    int              top;         /* body, or DYN_WORLD: phi is zero but for the joints of its descendants */
} hessian_pass;

/* Changes of the composites of a body and of its ancestors with a dof b, which depend on virtual motions. */
typedef struct virtual_changes {
    wrench P_q;
    vec3   R_q, R_qd, kappa_q;
} virtual_changes;

/* All changes of the composites with a dof b: see the top of hessian.c. */
typedef struct composite_changes {
    const force_changes *f;
    virtual_changes      v;
} composite_changes;

LANE_INLINE force_changes force_changes_of(const hessian_pass *p, size_t i, size_t b)
{
    const double        mass = p->m->body[i].derived.subtree_mass;
    const spatial_body *B    = &p->ws->body[i];
    const dof          *d    = &p->ws->dof[b];
    force_changes       c    = {.t = inertia_mul(mass, B->h, B->E, d->S)};
    c.F_qd = wrench_add(twice_coriolis_mul(B->l, &B->C, d->S.w), inertia_mul(mass, B->h, B->E, d->psi_d_plus_S_d));
    c.F_q  = wrench_add(twice_coriolis_mul(B->l, &B->C, d->psi_d.w), inertia_mul(mass, B->h, B->E, d->psi_dd));
    c.F_q  = wrench_add(c.F_q, twist_cross_wrench(d->S, B->f));
    if (p->world_fixed) c.F_q = wrench_add(c.F_q, world_fixed_mul(&p->ws->world_fixed[i], d->S.w));
    return c;
}

/* tr(A) w - A^T w */
LANE_INLINE vec3 trace_minus_transposed_mul(const mat3 *A, vec3 w)
{
    return mat3_sub_mul_transposed(scale(w, A->m[0][0] + A->m[1][1] + A->m[2][2]), A, w);
}

/* V: sums over body i and its descendants. moves: phi of dof b is not zero. */
LANE_INLINE virtual_changes virtual_changes_of(const hessian_pass *p, size_t i, size_t b, const virtual_body *V,
                                               bool moves)
{
    const double        mass = p->m->body[i].derived.subtree_mass;
    const spatial_body *B    = &p->ws->body[i];
    const dof          *d    = &p->ws->dof[b];
    const twist         phi  = p->ws->phi[b];
    virtual_changes     c    = {.P_q = twist_cross_wrench(d->S, virtual_momentum(V)), .kappa_q = vec3_zero()};
    if (moves) c.P_q = wrench_add(c.P_q, inertia_mul(mass, B->h, B->E, phi));
    c.R_q  = moves ? twice_coriolis_mul_transposed(B->l, &B->C, phi) : vec3_zero();
    c.R_q  = cross_add(c.R_q, d->S.w, V->R);
    c.R_q  = sub(c.R_q, twice_coriolis_mul_transposed(V->p, &V->D, d->psi_d));
    c.R_qd = sub(vec3_zero(), twice_coriolis_mul_transposed(V->p, &V->D, d->S));
    if (!p->world_fixed) return c;
    if (moves) c.kappa_q = world_fixed_mul_transposed(&p->ws->world_fixed[i], phi);
    c.kappa_q = add(c.kappa_q, trace_minus_transposed_mul(&V->Y, d->S.w));
    return c;
}

/* d2s/dq_b dq_c; phi NULL: zero */
LANE_INLINE lane by_positions(const composite_changes *b, const dof *c, const twist *phi)
{
    const lane by_P = power(c->psi_dd, b->v.P_q);
    return (phi ? power(*phi, b->f->F_q) + by_P : by_P) + (dot(c->psi_d.w, b->v.R_q) + dot(c->S.w, b->v.kappa_q));
}

/* d2s/dq_c dqd_b; phi NULL: zero */
LANE_INLINE lane by_velocities(const composite_changes *b, const dof *c, const twist *phi)
{
    return phi ? power(*phi, b->f->F_qd) + dot(c->psi_d.w, b->v.R_qd) : dot(c->psi_d.w, b->v.R_qd);
}

/* Adds x to an entry, which is zero unless the model has mimics. To load an entry a multiple of 4 KiB after a store
 * would wait for this store. */
LANE_INLINE void add_second_derivative(const hessian_pass *p, lane *entry, lane x)
{
    *entry = (p->m->has_mimics ? *entry : lane_of(0)) + x;
}

/* Two coordinates, of dofs b and c. */
typedef struct coordinate_pair {
    size_t b, c;
} coordinate_pair;

/* Adds the derivatives with respect to a dof b and a dof c of an ancestor of its body. phi NULL: that of c is zero. */
LANE_INLINE void put_ancestor(const hessian_pass *p, const composite_changes *b, coordinate_pair v, const dof *c,
                              const twist *phi)
{
    const size_t   nv = (size_t)p->m->nv, down = v.b * nv + v.c, up = v.c * nv + v.b;
    const results *out = p->out;
    if (out->q_q) {
        const lane x = by_positions(b, c, phi);
        add_second_derivative(p, out->q_q + down, x);
        add_second_derivative(p, out->q_q + up, x);
    }
    if (out->q_qd) {
        add_second_derivative(p, out->q_qd + down, power(c->psi_d_plus_S_d, b->v.P_q) + dot(c->S.w, b->v.R_q));
        add_second_derivative(p, out->q_qd + up, by_velocities(b, c, phi));
    }
    if (out->q_qdd) {
        add_second_derivative(p, out->q_qdd + down, power(c->S, b->v.P_q));
        if (phi) add_second_derivative(p, out->q_qdd + up, power(*phi, b->f->t));
    }
    if (out->qd_qd) {
        const lane x = dot(c->S.w, b->v.R_qd);
        add_second_derivative(p, out->qd_qd + down, x);
        add_second_derivative(p, out->qd_qd + up, x);
    }
}

/* Adds the derivatives with respect to two dofs b and c of one joint, which may be the same. P: virtual momentum of the
 * body and its descendants. */
LANE_INLINE void put_own(const hessian_pass *p, const composite_changes *b, coordinate_pair v, const dof *pair[2],
                         const twist *phi, wrench P)
{
    const size_t   nv = (size_t)p->m->nv, down = v.b * nv + v.c, up = v.c * nv + v.b;
    const dof     *c   = pair[1];
    const results *out = p->out;
    if (out->q_q) add_second_derivative(p, out->q_q + down, by_positions(b, c, phi));
    if (out->q_qd) {
        add_second_derivative(p, out->q_qd + up, by_velocities(b, c, phi));
    }
    if (out->q_qdd) add_second_derivative(p, out->q_qdd + up, phi ? power(*phi, b->f->t) : lane_of(0));
    if (!out->qd_qd) return;
    lane x = dot(c->S.w, b->v.R_qd);
    if (v.b != v.c) x += power(twist_cross(pair[0]->S, c->S), P);
    add_second_derivative(p, out->qd_qd + down, x);
}
