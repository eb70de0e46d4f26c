/* virtual_motion.h - computes the virtual velocity of every body, and the sums over its mass points that multiply the
 * second derivatives of the dynamics (hessian.c), in world axes. The derivation is our own.
 *
 * The coordinates move with virtual velocities m, the multipliers. A body then has the virtual velocity u, the sum of S
 * m over the degrees of freedom from the base to the body, and the forces of inverse dynamics have the virtual power m
 * . tau = sum over the bodies of u . f. With velocities v(r) and virtual velocities u(r) of the mass points r of a
 * body, with mass m(r), and u_p of the parent,
 *
 *     phi = u_p x S,  P = I u = (p; sum m r x u(r)),  p = sum m u(r),  D = sum m u(r) r^T,  R = 2 sum m v(r) x u(r).
 *
 * D is the moment C of velocities (spatial_algebra.h) with u in place of v; its antisymmetric part gives the second
 * part of P. R is the moment of 2 B^T u, whose force is zero, so that R does not depend on the reference point. */
#pragma once
#include "spatial_world.h"

typedef struct virtual_body {
    twist u; /* virtual velocity */
    /* members from p on: of the body; after virtual_gather, also of its descendants */
    vec3 p, R;
    mat3 D;
    mat3 Y; /* sum of F u(x)^T + T w_u^T over the external wrenches in world axes, which act at the points x */
} virtual_body;

/* Adds the product a b^T to M. */
LANE_INLINE void mat3_add_outer(mat3 *M, vec3 a, vec3 b)
{
    store3(M->m[0], add_scaled(load3(M->m[0]), b, a.x));
    store3(M->m[1], add_scaled(load3(M->m[1]), b, a.y));
    store3(M->m[2], add_scaled(load3(M->m[2]), b, a.z));
}

/* Returns P, the virtual momentum of a body or of a composite (top of the file). */
LANE_INLINE wrench virtual_momentum(const virtual_body *V)
{
    const mat3 *D = &V->D;
    return (wrench){.f = V->p, .n = {D->m[2][1] - D->m[1][2], D->m[0][2] - D->m[2][0], D->m[1][0] - D->m[0][1]}};
}

/* Sets the sums p, D and R over the mass points of B, a body or a composite with mass `mass`, which moves with the
 * virtual velocity V->u. Sets Y from K, sums over the external wrenches in world axes; K NULL: there are none. */
LANE_INLINE void virtual_sums(double mass, const spatial_body *B, const world_fixed_wrenches *K, virtual_body *V)
{
    const vec3 o = vec3_zero();
    V->p         = cross_add(times(mass, V->u.v), V->u.w, B->h);
    V->D         = velocity_moment(V->u, B->h, B->E);
    V->R         = twice_coriolis_mul_transposed(B->l, &B->C, V->u);
    V->Y         = (mat3){{{o.x, o.x, o.x}, {o.x, o.x, o.x}, {o.x, o.x, o.x}}};
    if (!K) return;
    for (int i = 0; i < 3; i++) /* sum F (w_u x x)^T, row by row */
        store3(V->Y.m[i], cross(V->u.w, load3(K->X.m[i])));
    mat3_add_outer(&V->Y, K->F, V->u.v);
    mat3_add_outer(&V->Y, K->T, V->u.w);
}

/* Computes the virtual motion of all bodies, and phi of all degrees of freedom. `body` holds the quantities of single
 * bodies, not of composites. */
static inline void virtual_motions(const dyn_model *m, const lane *multipliers, const spatial_body *body,
                                   const dof *dofs, virtual_body *virtual_motion, twist *phi)
{
    const vec3 o = vec3_zero();
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        virtual_body   *V = &virtual_motion[i];
        const twist     u = b->tree.parent == DYN_WORLD ? (twist){o, o} : virtual_motion[b->tree.parent].u;
        V->u              = u;
        for (size_t k = 0; k < dofs_of(b); k++) {
            const size_t d = dof_first(m, i) + k;
            phi[d]         = twist_cross(u, dofs[d].S);
            V->u           = twist_add_scaled(V->u, dofs[d].S, multipliers[(size_t)b->joint.v + k]);
        }
        virtual_sums(b->moments.mass, &body[i], NULL, V);
    }
}

/* Adds the external wrenches in world axes to Y of their bodies. */
static inline void virtual_externals(const dyn_scene *scene, const lane *values, const spatial_body *body,
                                     virtual_body *virtual_motion)
{
    for (size_t n = external_first(scene, values); n < external_end(scene); n++) {
        const external_load load = external_load_of(scene, values, n);
        if (load.body == DYN_WORLD || !load.world_axes) continue;
        virtual_body *V = &virtual_motion[load.body];
        const vec3    x = load_arm(&load, &body[load.body]);
        mat3_add_outer(&V->Y, load.F, cross_add(times(load.weight, V->u.v), V->u.w, x));
        mat3_add_outer(&V->Y, load.T, V->u.w);
    }
}

/* Adds the composite of body V to that of its parent P; `world_fixed`: Y is not zero. */
LANE_INLINE void virtual_gather(const virtual_body *V, virtual_body *P, bool world_fixed)
{
    P->p = add(P->p, V->p);
    P->R = add(P->R, V->R);
    for (int i = 0; i < 3; i++)
        store3(P->D.m[i], add(load3(P->D.m[i]), load3(V->D.m[i])));
    for (int i = 0; world_fixed && i < 3; i++)
        store3(P->Y.m[i], add(load3(P->Y.m[i]), load3(V->Y.m[i])));
}

/* --- changes of composites with a degree of freedom -------------------------------------------------------------- */

/* Derivatives of the force of a composite along a degree of freedom b: F_q, F_qd and t of hessian.c, which do not
 * depend on virtual motions. */
typedef struct force_changes {
    wrench F_q, F_qd, t;
} force_changes;

/* Derivatives of the sums P, R and kappa of a composite along a degree of freedom b (hessian.c), which depend on
 * virtual motions. */
typedef struct virtual_changes {
    wrench P_q;
    vec3   R_q, R_qd, kappa_q;
} virtual_changes;

/* Returns the derivatives of the force of the composite B with mass `mass` along a degree of freedom b. K: the sums
 * over its external wrenches in world axes, NULL: none. */
LANE_INLINE force_changes force_changes_of(double mass, const spatial_body *B, const world_fixed_wrenches *K,
                                           const dof *b)
{
    force_changes c = {.t = inertia_mul(mass, B->h, B->E, b->S)};
    c.F_qd = wrench_add(twice_coriolis_mul(B->l, &B->C, b->S.w), inertia_mul(mass, B->h, B->E, b->psi_d_plus_S_d));
    c.F_q  = wrench_add(twice_coriolis_mul(B->l, &B->C, b->psi_d.w), inertia_mul(mass, B->h, B->E, b->psi_dd));
    c.F_q  = wrench_add(c.F_q, twist_cross_wrench(b->S, B->f));
    if (K) c.F_q = wrench_add(c.F_q, world_fixed_mul(K, b->S.w));
    return c;
}

/* Returns tr(A) w - A^T w. */
LANE_INLINE vec3 trace_minus_transposed_mul(const mat3 *A, vec3 w)
{
    return mat3_sub_mul_transposed(scale(w, A->m[0][0] + A->m[1][1] + A->m[2][2]), A, w);
}

/* Returns the derivatives of P, R and kappa of a composite along a degree of freedom b. phi: phi = u_p x S of b; NULL:
 * zero. */
LANE_INLINE virtual_changes virtual_changes_of(double mass, const spatial_body *B, const world_fixed_wrenches *K,
                                               const virtual_body *V, const dof *b, const twist *phi)
{
    virtual_changes c = {.P_q = twist_cross_wrench(b->S, virtual_momentum(V)), .kappa_q = vec3_zero()};
    if (phi) c.P_q = wrench_add(c.P_q, inertia_mul(mass, B->h, B->E, *phi));
    c.R_q  = phi ? twice_coriolis_mul_transposed(B->l, &B->C, *phi) : vec3_zero();
    c.R_q  = cross_add(c.R_q, b->S.w, V->R);
    c.R_q  = sub(c.R_q, twice_coriolis_mul_transposed(V->p, &V->D, b->psi_d));
    c.R_qd = sub(vec3_zero(), twice_coriolis_mul_transposed(V->p, &V->D, b->S));
    if (!K) return c;
    if (phi) c.kappa_q = world_fixed_mul_transposed(K, *phi);
    c.kappa_q = add(c.kappa_q, trace_minus_transposed_mul(&V->Y, b->S.w));
    return c;
}
