/* series_motion.h - computes the motion of every body in world axes as power series in time.
 *
 * The series of the joint positions give the series of the rotations R_wb, and those of the vectors d between the
 * origins of parent and child the series of the accelerations, a = a_p + d''. Every derivative is a coefficient of a
 * series: there are no formulas for rates. Forces need only accelerations, so that velocities and the position of the
 * world's origin are not computed. */
#pragma once
#include "workspace.h"
#include "dynamics/math/series.h"
#include "dynamics/torque_series.h"

/* Series of one body, in world axes. f and n are force and moment, about the body's origin, that its joint
 * transmits. */
typedef struct series_body {
    lane *R; /* 9 series: R_wb; for a rotor without its own rotation */
    lane *d; /* 3 series: from the origin of the parent to that of the body, m */
    lane *a; /* 3 series: acceleration of the origin minus gravity */
    lane *f, *n;
} series_body;

typedef struct series_pass {
    const dyn_scene       *scene;
    const joint_transform *XJ;
    const lane            *motion, *wrenches;
    lane                  *bodies;  /* the series of the world, then those of each body */
    lane                  *scratch; /* DYN_SCRATCH_SERIES series */
    size_t                 n;       /* number of terms of the motion; accelerations, forces and tau have n - 2 terms */
} series_pass;

LANE_INLINE series_size size_of_motion(const series_pass *p)
{
    return (series_size){p->n, p->n};
}
LANE_INLINE series_size size_of_forces(const series_pass *p)
{
    return (series_size){p->n - 2, p->n};
}

/* Returns the series of body i; i = DYN_WORLD: those of the world. */
LANE_INLINE series_body series_body_of(const series_pass *p, int i)
{
    lane *at = p->bodies + (size_t)(i + 1) * DYN_BODY_SERIES * p->n;
    return (series_body){at, at + 9 * p->n, at + 12 * p->n, at + 15 * p->n, at + 18 * p->n};
}

/* Returns the k-th time derivative of coordinate v. */
LANE_INLINE lane motion_rate_of(const series_pass *p, size_t k, int v)
{
    const dyn_model *m = p->scene->model;
    return p->motion[(size_t)m->nq + (k - 1) * (size_t)m->nv + (size_t)v];
}

/* Sets s to the series of the position of a joint with one coordinate. */
static inline void joint_position_series(const series_pass *p, const dyn_body *b, lane *s)
{
    double factorial = 1;
    s[0]             = joint_position(b, p->motion);
    for (size_t k = 1; k < p->n; k++) {
        const lane rate = motion_rate_of(p, k, b->joint.v);
        factorial *= (double)k;
        s[k] = (b->joint.has_ratio ? b->joint.ratio * rate : rate) / factorial;
    }
}

/* --- one body --------------------------------------------------------------------------------------------------- */

/* Sets A = R_wp Rz(gamma) Rx(beta): the axes, in world axes, of a joint with one coordinate at position zero. P is the
 * series of R_wp. */
static inline void series_constant_rotation(const series_pass *p, const dyn_body *b, const lane *P, lane *A)
{
    const dyn_body_pose *k       = &b->pose;
    const double         R[3][3] = {
                {k->cg, -k->sg * k->ca, k->sg * k->sa}, {k->sg, k->cg * k->ca, -k->cg * k->sa}, {0, k->sa, k->ca}};
    series_clear(9 * p->n, A);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t l = 0; l < 3; l++)
                series_add_scaled(p->n, P + (3 * i + l) * p->n, R[l][j], A + (3 * i + j) * p->n);
}

/* Sets R = A Rz(s + theta). `c` and `s` are the series of cosine and sine of this angle. */
static inline void series_turn(const series_pass *p, const lane *A, const lane *c, const lane *s, lane *R)
{
    const size_t n = p->n;
    series_clear(9 * n, R);
    for (size_t i = 0; i < 3; i++, A += 3 * n, R += 3 * n) {
        series_add_product(n, A, c, R);
        series_add_product(n, A + n, s, R);
        series_add_product(n, A + n, c, R + n);
        series_subtract_product(n, A, s, R + n);
        series_add_scaled(n, A + 2 * n, 1, R + 2 * n);
    }
}

/* Sets R and d of body i, whose joint has one coordinate. P is the series of R_wp. */
static inline void series_child(const series_pass *p, size_t i, const lane *P, const series_body *B)
{
    const dyn_body *b = &p->scene->model->body[i];
    lane           *s = p->scratch, *c = s + p->n, *sine = c + p->n, *A = sine + p->n;
    joint_position_series(p, b, s);
    series_constant_rotation(p, b, P, A);
    series_add_rotated_const(size_of_motion(p), P, b->pose.p_pc, B->d);
    if (dyn_body_has_angle(b)) {
        c[0]    = p->XJ[i].c;
        sine[0] = p->XJ[i].s;
        series_cosine_sine(p->n, s, c, sine);
        series_turn(p, A, c, sine, B->R);
        return;
    }
    for (size_t e = 0; e < 9 * p->n; e++)
        B->R[e] = A[e];
    for (size_t row = 0; row < 3 && b->joint.kind == DYN_PRISMATIC; row++)
        series_add_product(p->n, A + (3 * row + 2) * p->n, s, B->d + row * p->n);
}

/* Computes terms 1 to n - 1 of one row Q = (x, y, z) of a joint's rotation, and of one component r of its origin, from
 * their term 0 by Q' = Q [w] and r' = Q u. `v`: series of the joint's velocities u and w in the body's axes. */
static inline void series_free_row(size_t n, const lane *v, lane *Q, lane *r)
{
    const lane *u = v, *w = v + 3 * n;
    lane       *x = Q, *y = Q + n, *z = Q + 2 * n;
    for (size_t k = 0; k + 1 < n; k++) {
        const double next = (double)(k + 1);
        x[k + 1]          = series_subtract_term(k, series_add_term(k, lane_of(0), y, w + 2 * n), z, w + n) / next;
        y[k + 1]          = series_subtract_term(k, series_add_term(k, lane_of(0), z, w), x, w + 2 * n) / next;
        z[k + 1]          = series_subtract_term(k, series_add_term(k, lane_of(0), x, w + n), y, w) / next;
        r[k + 1] =
            series_add_term(k, series_add_term(k, series_add_term(k, lane_of(0), x, u), y, u + n), z, u + 2 * n) / next;
    }
}

/* Sets the series of the pose (Q, r) of a body with a quaternion joint in its parent's frame. v: series of the joint's
 * velocities. */
static inline void series_free_pose(const series_pass *p, const joint_pose *pose, const lane *v, lane *Q, lane *r)
{
    const lane origin[3] = {pose->p.x, pose->p.y, pose->p.z};
    for (size_t row = 0; row < 3; row++, Q += 3 * p->n, r += p->n) {
        for (size_t column = 0; column < 3; column++)
            Q[column * p->n] = pose->R.m[row][column];
        r[0] = origin[row];
        series_free_row(p->n, v, Q, r);
    }
}

/* Sets v to the velocities of a joint with a quaternion, linear, then angular: six series of n - 1 terms. */
static inline void series_free_rates(const series_pass *p, const dyn_body *b, lane *v)
{
    double factorial = 1;
    series_clear(6 * p->n, v);
    for (size_t k = 0; k + 1 < p->n; k++) {
        factorial *= k > 0 ? (double)k : 1;
        for (int e = joint_first_axis(b); e < 6; e++)
            v[(size_t)e * p->n + k] = motion_rate_of(p, k + 1, b->joint.v + e - joint_first_axis(b)) / factorial;
    }
}

/* Sets R = R_wp Q and d = R_wp r of body i, whose joint has a quaternion and the pose (Q, r). P is the series of
 * R_wp. */
static inline void series_free_child(const series_pass *p, size_t i, const lane *P, const series_body *B)
{
    const size_t    n = p->n;
    const dyn_body *b = &p->scene->model->body[i];
    lane           *v = p->scratch, *Q = v + 6 * n, *r = Q + 9 * n;
    series_free_rates(p, b, v);
    series_free_pose(p, joint_pose_of(b, &p->XJ[i]), v, Q, r);
    series_clear(9 * n, B->R);
    for (size_t row = 0; row < 3; row++)
        for (size_t column = 0; column < 3; column++)
            for (size_t l = 0; l < 3; l++)
                series_add_product(n, P + (3 * row + l) * n, Q + (3 * l + column) * n, B->R + (3 * row + column) * n);
    series_add_rotated(size_of_motion(p), P, r, B->d);
}

/* --- all bodies ------------------------------------------------------------------------------------------------- */

/* Sets the series of the world: unit rotation, and the acceleration -g. */
static inline void series_world(const series_pass *p)
{
    const series_body W = series_body_of(p, DYN_WORLD);
    series_clear(DYN_BODY_SERIES * p->n, W.R);
    for (size_t i = 0; i < 3; i++) {
        W.R[4 * i * p->n] = lane_of(1);
        W.a[i * p->n]     = lane_of(-p->scene->gravity[i]);
    }
}

/* Computes R, d and a of all bodies, and clears f and n. */
static inline void series_motions(const series_pass *p)
{
    const dyn_model *m = p->scene->model;
    series_world(p);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body   *b = &m->body[i];
        const series_body P = series_body_of(p, b->tree.parent), B = series_body_of(p, (int)i);
        series_clear(DYN_BODY_SERIES * p->n, B.R);
        if (dyn_joint_has_quaternion(b->joint.kind))
            series_free_child(p, i, P.R, &B);
        else
            series_child(p, i, P.R, &B);
        for (size_t e = 0; e < 3; e++)
            for (size_t k = 0; k + 2 < p->n; k++)
                B.a[e * p->n + k] = add_mul(P.a[e * p->n + k], (double)((k + 1) * (k + 2)), B.d[e * p->n + k + 2]);
    }
}
