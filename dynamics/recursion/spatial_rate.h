/* spatial_rate.h - computes the time derivatives of the quantities of spatial_world.h along a motion, equation by
 * equation. The suffix _r means d/dt; vr_p and j_p are the rates of v_p and a_p of the parent.
 *
 * All 6-vectors are about a fixed point, in world axes. So a vector S fixed to a body has the rate v x S, and sums over
 * masses are differentiated mass by mass. With v_r = a - a_0, where a_0 = -g is the acceleration of the world, j = a_r,
 * and the momentum k = I v of a body, whose force part is l:
 *
 *     S_r = v x S,   psi'_r = vr_p x S + v_p x S_r,   psi''_r = j_p x S + a_p x S_r + vr_p x psi' + v_p x psi'_r
 *     h_r = l,   E_r = C + C^T,   k_r = I_r v + I v_r   (I_r: of mass 0, h_r, E_r),   l_r: force part of k_r
 *     C_r = v_r h^T + v l^T + [wd] E + [w] E_r,      f_r = I_r a + I j + v_r x* k + v x* k_r - external_r. */
#pragma once
#include "spatial_world.h"

/* Time derivatives of members of spatial_body, for a body; after spatial_gather_rates, for the body with its
 * descendants. */
typedef struct body_rate {
    twist  j; /* rate of the spatial acceleration a */
    vec3   l; /* rate of the momentum l */
    mat3   C; /* rate of C = sum m v r^T over the mass points r */
    mat3   X; /* rate of X = sum F x^T over the external forces F in world axes, which act at the points x */
    wrench f; /* rate of the force f on the body */
} body_rate;

/* Inputs and outputs of spatial_rates. */
typedef struct spatial_rate_pass {
    const lane         *qd, *qdd, *qddd;
    const spatial_body *body; /* [n_bodies] motions, inertias and forces that spatial_motions has set */
    const dof          *dof;  /* [n_dofs], set by spatial_motions */
    body_rate          *body_rate;
    struct dof         *dof_rate;
} spatial_rate_pass;

LANE_INLINE mat3 mat3_add(const mat3 *a, const mat3 *b)
{
    mat3 sum;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum.m[i][j] = a->m[i][j] + b->m[i][j];
    return sum;
}

/* --- one body ------------------------------------------------------------------------------------------------- */

/* Time derivatives of v_p and a_p of the parent, and of the velocity v of the body. */
typedef struct motion_rates {
    twist vr_p, j_p, v_r;
} motion_rates;

/* Sets r to the rates of S, psi', psi'' and psi' + S' of degree of freedom d of body B, whose parent is P. The rate of
 * S is S'. */
LANE_INLINE void axis_rates(const spatial_body *P, const spatial_body *B, const motion_rates *m, const dof *d, dof *r)
{
    r->S              = twist_sub(d->psi_d_plus_S_d, d->psi_d);
    r->psi_d          = twist_add(twist_cross(m->vr_p, d->S), twist_cross(P->v, r->S));
    r->psi_dd         = twist_add(twist_add(twist_cross(m->j_p, d->S), twist_cross(P->a, r->S)),
                                  twist_add(twist_cross(m->vr_p, d->psi_d), twist_cross(P->v, r->psi_d)));
    r->psi_d_plus_S_d = twist_add(r->psi_d, twist_add(twist_cross(m->v_r, d->S), twist_cross(B->v, r->S)));
}

/* Replaces j, the rate of the parent's acceleration a_p, by the rate of a = a_p + sum (S qdd + psi' qd) over the
 * joint's axes d, which have the rates r. */
static inline void acceleration_rate(const dyn_body *b, const spatial_rate_pass *p, const dof *d, const dof *r,
                                     twist *j)
{
    for (int k = 0, v = b->joint.v; k < dyn_joint_nv(b->joint.kind); k++, v++) {
        if (p->qddd) *j = twist_add_scaled(*j, d[k].S, p->qddd[v]);
        if (p->qdd) *j = twist_add_scaled(*j, twist_add(r[k].S, d[k].psi_d), p->qdd[v]);
        if (p->qd) *j = twist_add_scaled(*j, r[k].psi_d, p->qd[v]);
    }
}

/* Returns C + C^T, the rate of the second moment E. */
LANE_INLINE sym3 twice_symmetric(const mat3 *C)
{
    return (sym3){.xx = C->m[0][0] + C->m[0][0],
                  .xy = C->m[0][1] + C->m[1][0],
                  .xz = C->m[0][2] + C->m[2][0],
                  .yy = C->m[1][1] + C->m[1][1],
                  .yz = C->m[1][2] + C->m[2][1],
                  .zz = C->m[2][2] + C->m[2][2]};
}

/* Returns I_r u: the rate I_r of an inertia, which has mass 0, first moment l and second moment C + C^T, times the
 * motion u. */
LANE_INLINE wrench inertia_rate_mul(vec3 l, const mat3 *C, twist u)
{
    return inertia_mul(0, l, twice_symmetric(C), u);
}

/* Computes the rates of l, C and f of a body with mass m and momentum k = I v (symbols at the top of the file):
 *     k_r = I_r v + I v_r,   C_r = v_r h^T + v l^T + [wd] E + [w] E_r,
 *     f_r = I_r a + I j + v_r x* k + v x* k_r. */
LANE_INLINE void inertia_rates(double mass, const spatial_body *B, twist v_r, body_rate *r)
{
    wrench k   = inertia_mul(mass, B->h, B->E, B->v);
    wrench k_r = wrench_add(inertia_rate_mul(B->l, &B->C, B->v), inertia_mul(mass, B->h, B->E, v_r));
    mat3   C_a = velocity_moment(v_r, B->h, B->E), C_v = velocity_moment(B->v, B->l, twice_symmetric(&B->C));
    r->X = (mat3){0};
    r->l = k_r.f;
    r->C = mat3_add(&C_a, &C_v);
    r->f = wrench_add(inertia_rate_mul(B->l, &B->C, B->a), inertia_mul(mass, B->h, B->E, r->j));
    r->f = wrench_add(r->f, wrench_add(twist_cross_wrench(v_r, k), twist_cross_wrench(B->v, k_r)));
}

/* --- all bodies ------------------------------------------------------------------------------------------------ */

/* Computes the rates of the degrees of freedom of body i, and j, the rate of its acceleration. `world` is
 * spatial_world(). Returns the rate of the body's velocity. */
LANE_INLINE twist spatial_motion_rates(const dyn_model *m, const spatial_rate_pass *p, const spatial_body *world,
                                       size_t i)
{
    const dyn_body     *b      = &m->body[i];
    const int           parent = b->tree.parent;
    const twist         still  = {vec3_zero(), vec3_zero()};
    const spatial_body *P = parent == DYN_WORLD ? world : &p->body[parent], *B = &p->body[i];
    const motion_rates  rates = {.vr_p = twist_sub(P->a, world->a),
                                 .j_p  = parent == DYN_WORLD ? still : p->body_rate[parent].j,
                                 .v_r  = twist_sub(B->a, world->a)};
    const size_t        first = dof_first(m, i);
    for (size_t k = 0; k < dofs_of(b); k++)
        axis_rates(P, B, &rates, &p->dof[first + k], &p->dof_rate[first + k]);
    p->body_rate[i].j = rates.j_p;
    acceleration_rate(b, p, &p->dof[first], &p->dof_rate[first], &p->body_rate[i].j);
    return rates.v_r;
}

/* Computes the rates of all bodies and degrees of freedom. */
static inline void spatial_rates(const dyn_scene *scene, const spatial_rate_pass *p)
{
    const dyn_model   *m     = scene->model;
    const spatial_body world = spatial_world(scene->gravity);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const twist v_r = spatial_motion_rates(m, p, &world, i);
        inertia_rates(m->body[i].moments.mass, &p->body[i], v_r, &p->body_rate[i]);
    }
}

/* Subtracts the rates of the external wrenches from the rates of the forces f, and sets X. A wrench in link axes
 * rotates with the link; a wrench in world axes has constant components. The point of application moves with the
 * link. */
static inline void external_rates(const dyn_scene *scene, const lane *values, const spatial_body *body, body_rate *rate)
{
    for (size_t n = external_first(scene, values); n < external_end(scene); n++) {
        const external_load load = external_load_of(scene, values, n);
        if (load.body == DYN_WORLD) continue;
        const spatial_body *B = &body[load.body];
        body_rate          *r = &rate[load.body];
        vec3                F = load.F, T = load.T, x = load_arm(&load, B);
        if (!load.world_axes) {
            F    = mat3_mul(&B->R, rotate_const(load.site->X_bl.R, F));
            T    = mat3_mul(&B->R, rotate_const(load.site->X_bl.R, T));
            r->f = wrench_sub(r->f, twist_cross_wrench(B->v, (wrench){F, cross_add(T, x, F)}));
            continue;
        }
        vec3       x_r  = cross_add(times(load.weight, B->v.v), B->v.w, x);
        const lane f[3] = {F.x, F.y, F.z};
        r->f.n          = sub(r->f.n, cross(x_r, F));
        for (int i = 0; i < 3; i++) {
            r->X.m[i][0] += f[i] * x_r.x;
            r->X.m[i][1] += f[i] * x_r.y;
            r->X.m[i][2] += f[i] * x_r.z;
        }
    }
}

/* Adds the rates of the composite of a body to those of its parent. */
LANE_INLINE void spatial_gather_rates(const body_rate *R, body_rate *P)
{
    P->l = add(P->l, R->l);
    P->C = mat3_add(&P->C, &R->C);
    P->X = mat3_add(&P->X, &R->X);
    P->f = wrench_add(P->f, R->f);
}
