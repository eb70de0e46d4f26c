/* spatial_world.h - computes spatial motion, inertia and force of every body, and the axis of every degree of freedom
 * with its rates, in world axes; spatial_algebra.h has the equations.
 *
 * 6-vectors are about one fixed reference point: the world's origin, or, if the first body floats, the current origin
 * of that body. Derivatives do not depend on this point, but far from it rounding errors grow. */
#pragma once
#include "world_fixed.h"

typedef struct spatial_body {
    mat3  R;    /* R_wb: rotates body axes to world axes */
    vec3  p;    /* origin of the body, relative to the reference point */
    twist v, a; /* velocity, and spatial acceleration minus gravity */
    /* members from E on: of the body; after spatial_gather, also of its descendants */
    sym3   E;
    vec3   h, l; /* first moment, momentum */
    mat3   C;    /* moment of velocities, sum v x^T over the mass points */
    wrench f;    /* inertial force, minus external wrenches */
} spatial_body;

/* --- inertia and force of a single body in world axes --------------------------------------------------------- */

LANE_INLINE sym3 second_moment(const dyn_body *b, const mat3 *R, vec3 p, vec3 hr, vec3 h)
{
    const double *e = b->moments.E;
    vec3          T[3];
    for (int k = 0; k < 3; k++) { /* rows of R E */
        vec3 r = load3(R->m[k]);
        T[k]   = (vec3){dot3(e[0], e[1], e[2], r), dot3(e[1], e[3], e[4], r), dot3(e[2], e[4], e[5], r)};
    }
    vec3 x = load3(R->m[0]), y = load3(R->m[1]), z = load3(R->m[2]);
    /* about the reference point: R E R^T + p hr^T + hr p^T + m p p^T, with hr = R h_body and h = hr + m p */
    return (sym3){.xx = add_mul(dot(T[0], x), p.x, hr.x + h.x),
                  .xy = add_mul(add_mul(dot(T[0], y), p.x, hr.y), p.y, h.x),
                  .xz = add_mul(add_mul(dot(T[0], z), p.x, hr.z), p.z, h.x),
                  .yy = add_mul(dot(T[1], y), p.y, hr.y + h.y),
                  .yz = add_mul(add_mul(dot(T[1], z), p.y, hr.z), p.z, h.y),
                  .zz = add_mul(dot(T[2], z), p.z, hr.z + h.z)};
}

LANE_INLINE void spatial_inertia(const dyn_body *b, spatial_body *B, const bool with_force)
{
    vec3 hr  = mat3_mul(&B->R, vec3_of(b->moments.h));
    B->h     = add_scaled(hr, B->p, lane_of(b->moments.mass));
    B->E     = second_moment(b, &B->R, B->p, hr, B->h);
    B->C     = velocity_moment(B->v, B->h, B->E);
    wrench k = inertia_mul(b->moments.mass, B->h, B->E, B->v);
    B->l     = k.f;
    if (with_force) B->f = wrench_add(inertia_mul(b->moments.mass, B->h, B->E, B->a), twist_cross_wrench(B->v, k));
}

/* --- motions, base to leaves -------------------------------------------------------------------------------- */

/* Sets R_wc = R_wp R_pc row by row. P: R_wp of the parent. */
LANE_INLINE void spatial_rotation_form(link_transform X, const mat3 *P, mat3 *R)
{
    for (int k = 0; k < 3; k++)
        store3(R->m[k], to_child(X, load3(P->m[k])));
}

/* Inputs of spatial_motions, and flags that select what it computes. Poses, velocities, S, psi' and S' are always
 * computed. The flags are constants of the inlined code. */
typedef struct spatial_task {
    const lane *qd, *qdd;      /* of all coordinates; NULL means zeros */
    bool        accelerations; /* a of bodies; without it, a is not set */
    bool        inertias;      /* E, h, l and C of bodies */
    bool        forces;        /* f of bodies and psi'' of degrees of freedom, from the accelerations */
} spatial_task;

/* Computes the motion of a body whose joint has one coordinate, and the degree of freedom d of the joint. */
LANE_INLINE void spatial_joint(const dyn_body *b, const joint_transform *XJ, spatial_task task, const spatial_body *P,
                               spatial_body *B, dof *d)
{
    const lane qd = task.qd ? task.qd[b->joint.v] : lane_of(0), qdd = task.qdd ? task.qdd[b->joint.v] : lane_of(0);
    WITH_LINK_TRANSFORM(b, XJ, spatial_rotation_form, &P->R, &B->R)
    vec3 z = mat3_column(&B->R, 2);
    B->p   = b->pose.offsets ? add(P->p, mat3_mul(&P->R, vec3_of(b->pose.p_pc))) : P->p;
    if (b->joint.kind == DYN_PRISMATIC) B->p = add_scaled(B->p, z, XJ->c);
    if (b->joint.has_ratio) z = times(b->joint.ratio, z);
    d->S              = b->joint.kind == DYN_PRISMATIC ? (twist){z, vec3_zero()} : (twist){cross(B->p, z), z};
    d->psi_d          = twist_cross(P->v, d->S);
    d->psi_d_plus_S_d = twist_add(d->psi_d, d->psi_d); /* psi' + S' = 2 psi', since v x S = v_p x S for a single axis */
    B->v              = twist_add_scaled(P->v, d->S, qd);
    if (task.forces) d->psi_dd = twist_add(twist_cross(P->a, d->S), twist_cross(P->v, d->psi_d));
    if (task.accelerations) B->a = twist_add_scaled(twist_add_scaled(P->a, d->S, qdd), d->psi_d, qd);
}

/* Computes the motion of a body whose joint has a quaternion and moves along and about the axes of the body. The
 * acceleration is that of the parent plus S qdd + psi' qd: in the sum S' qd with S' = v x S, the joint's own velocity
 * cancels. */
LANE_INLINE void spatial_free_joint(const dyn_body *b, const joint_pose *pose, spatial_task task, const spatial_body *P,
                                    spatial_body *B, dof *d)
{
    const lane *qd = task.qd, *qdd = task.qdd;
    const int   first = joint_first_axis(b), n = 6 - first;
    for (int k = 0; k < 3; k++)
        store3(B->R.m[k], mat3_mul_transposed(&pose->R, load3(P->R.m[k])));
    B->p = add(P->p, mat3_mul(&P->R, pose->p));
    B->v = P->v;
    if (task.accelerations) B->a = P->a;
    for (int k = 0; k < n; k++) {
        vec3 e     = mat3_column(&B->R, (first + k) % 3);
        d[k].S     = first + k < 3 ? (twist){e, vec3_zero()} : (twist){cross(B->p, e), e};
        d[k].psi_d = twist_cross(P->v, d[k].S);
        if (task.forces) d[k].psi_dd = twist_add(twist_cross(P->a, d[k].S), twist_cross(P->v, d[k].psi_d));
        if (qd) B->v = twist_add_scaled(B->v, d[k].S, qd[b->joint.v + k]);
        if (qd && task.accelerations) B->a = twist_add_scaled(B->a, d[k].psi_d, qd[b->joint.v + k]);
        if (qdd && task.accelerations) B->a = twist_add_scaled(B->a, d[k].S, qdd[b->joint.v + k]);
    }
    for (int k = 0; k < n; k++)
        d[k].psi_d_plus_S_d = twist_add(d[k].psi_d, twist_cross(B->v, d[k].S));
}

static inline spatial_body spatial_world(const double gravity[3])
{
    vec3 o   = vec3_zero();
    lane one = lane_of(1), zero = lane_of(0);
    return (spatial_body){.R = {{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}},
                          .p = o,
                          .v = {o, o},
                          .a = {.v = {lane_of(-gravity[0]), lane_of(-gravity[1]), lane_of(-gravity[2])}, .w = o}};
}

/* Returns the index of the first degree of freedom of body i. Mimic joints have degrees of freedom of their own, apart
 * from those of their leaders. */
static inline size_t dof_first(const dyn_model *m, size_t i)
{
    return (size_t)m->body[i].joint.dof;
}
static inline size_t dof_count(const dyn_model *m)
{
    return m->n_dofs;
}

/* Computes the quantities of all bodies and degrees of freedom that `task` selects. The force f does not include
 * external wrenches yet. */
LANE_INLINE void spatial_motions(const dyn_scene *scene, const joint_transform *XJ, spatial_task task,
                                 spatial_body *body, dof *dofs)
{
    const dyn_model *m     = scene->model;
    spatial_body     world = spatial_world(scene->gravity);
    if (m->n_bodies > 0 && m->body[0].joint.kind == DYN_FLOATING)
        world.p = scale(joint_pose_of(&m->body[0], &XJ[0])->p, lane_of(-1));
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body     *b = &m->body[i];
        const spatial_body *P = b->tree.parent == DYN_WORLD ? &world : &body[b->tree.parent];
        dof                *d = &dofs[dof_first(m, i)];
        if (dyn_joint_has_quaternion(b->joint.kind))
            spatial_free_joint(b, joint_pose_of(b, &XJ[i]), task, P, &body[i], d);
        else
            spatial_joint(b, &XJ[i], task, P, &body[i], d);
        if (task.inertias) spatial_inertia(b, &body[i], task.forces);
    }
}

/* Adds the composite of body B, except the force, to the composite of its parent P. */
LANE_INLINE void spatial_gather_inertia(const spatial_body *B, spatial_body *P)
{
    P->E = sym3_add(P->E, B->E);
    P->h = add(P->h, B->h);
    P->l = add(P->l, B->l);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P->C.m[i][j] += B->C.m[i][j];
}

/* Adds the composite of body B, with its force, to the composite of its parent P. */
LANE_INLINE void spatial_gather(const spatial_body *B, spatial_body *P)
{
    spatial_gather_inertia(B, P);
    P->f = wrench_add(P->f, B->f);
}

/* --- external wrenches -------------------------------------------------------------------------------------- */

/* Returns the point of application of an external wrench, relative to the reference point; for a compensation of
 * gravity, the first moment of the compensated mass about the reference point. */
LANE_INLINE vec3 load_arm(const external_load *load, const spatial_body *B)
{
    return add(times(load->weight, B->p), mat3_mul(&B->R, load->arm));
}

/* Subtracts the external wrenches from the bodies' forces f. `k` [n_bodies] receives the sums of the wrenches with
 * components in world axes; it may be NULL if there are none. */
static inline void spatial_subtract_externals(const dyn_scene *scene, const lane *values, spatial_body *body,
                                              world_fixed_wrenches *k)
{
    const vec3 o = vec3_zero();
    for (size_t i = 0; k && i < scene->model->n_bodies; i++)
        k[i] = (world_fixed_wrenches){.F = o, .T = o, .X = {{{o.x, o.x, o.x}, {o.x, o.x, o.x}, {o.x, o.x, o.x}}}};
    for (size_t n = external_first(scene, values); n < external_end(scene); n++) {
        const external_load load = external_load_of(scene, values, n);
        if (load.body == DYN_WORLD) continue;
        spatial_body *B = &body[load.body];
        vec3          x = load_arm(&load, B), F = load.F, T = load.T;
        if (!load.world_axes) {
            F = mat3_mul(&B->R, rotate_const(load.site->X_bl.R, F));
            T = mat3_mul(&B->R, rotate_const(load.site->X_bl.R, T));
        }
        B->f = wrench_sub(B->f, (wrench){times(load.weight, F), cross_add(T, x, F)});
        if (!load.world_axes) continue;
        world_fixed_wrenches one = {.F = times(load.weight, F),
                                    .T = T,
                                    .X = {{{F.x * x.x, F.x * x.y, F.x * x.z},
                                           {F.y * x.x, F.y * x.y, F.y * x.z},
                                           {F.z * x.x, F.z * x.y, F.z * x.z}}}};
        world_fixed_accumulate(&one, &k[load.body]);
    }
}
