/* articulated_inertia.h - computes articulated inertias: the inertia of a body with its descendants, when all their
 * joints move freely (Featherstone 2008, ch. 7).
 *
 * An articulated inertia is about the body's origin, in the body's axes, in blocks  [n; f] = [A H; H^T Q] [wd; a], the
 * I, H and M of the source. With S = e_z and U = I S, the joint transmits to the parent  I^a = I - U U^T / D,  D = S^T
 * U + rotor inertia.  In exact arithmetic the row of the joint's axis becomes  rotor / D  times U^T. Without a rotor
 * inertia this row is zero, until I^a is rotated. */
#pragma once
#include "composite_inertia.h"

typedef struct articulated {
    sym3 A, Q;
    mat3 H;
} articulated;

/* Equation of motion f = I alpha + p of a body with its descendants: f is the wrench that its joint transmits to it,
 * alpha the body's acceleration. */
typedef struct articulated_body {
    articulated I;
    wrench      p;
} articulated_body;

/* Returns the inertia of body b without its descendants: A = trace(E) 1 - E, H = [h x], Q = m 1, with E = (xx xy xz yy
 * yz zz). */
LANE_INLINE articulated articulated_rigid(const dyn_body *b)
{
    const double *E = b->moments.E, *h = b->moments.h;
    lane          zero = lane_of(0), m = lane_of(b->moments.mass);
    return (articulated){.A = {lane_of(E[3] + E[5]), lane_of(-E[1]), lane_of(-E[2]), lane_of(E[0] + E[5]),
                               lane_of(-E[4]), lane_of(E[0] + E[3])},
                         .Q = {m, zero, zero, m, zero, m},
                         .H = {{{zero, lane_of(-h[2]), lane_of(h[1])},
                                {lane_of(h[2]), zero, lane_of(-h[0])},
                                {lane_of(-h[1]), lane_of(h[0]), zero}}}};
}

/* Returns I plus the inertia of body b: A + trace(E) 1 - E, H + [h x], Q + m 1. */
LANE_INLINE articulated articulated_with_rigid(articulated I, const dyn_body *b)
{
    const double *E = b->moments.E, *h = b->moments.h;
    I.A = (sym3){I.A.xx + (E[3] + E[5]), I.A.xy - E[1], I.A.xz - E[2],
                 I.A.yy + (E[0] + E[5]), I.A.yz - E[4], I.A.zz + (E[0] + E[3])};
    I.Q.xx += b->moments.mass;
    I.Q.yy += b->moments.mass;
    I.Q.zz += b->moments.mass;
    I.H.m[0][1] -= h[2];
    I.H.m[0][2] += h[1];
    I.H.m[1][0] += h[2];
    I.H.m[1][2] -= h[0];
    I.H.m[2][0] -= h[1];
    I.H.m[2][1] += h[0];
    return I;
}

LANE_INLINE articulated articulated_add(const articulated *a, const articulated *b)
{
    articulated sum = {.A = sym3_add(a->A, b->A), .Q = sym3_add(a->Q, b->Q)};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum.H.m[i][j] = a->H.m[i][j] + b->H.m[i][j];
    return sum;
}

/* Returns U = I S, where S is e_z, angular for a revolute joint, linear for a prismatic joint. */
LANE_INLINE wrench articulated_along(const articulated *I, dyn_joint_kind joint)
{
    if (joint == DYN_PRISMATIC)
        return (wrench){.f = {I->Q.xz, I->Q.yz, I->Q.zz}, .n = {I->H.m[0][2], I->H.m[1][2], I->H.m[2][2]}};
    return (wrench){.f = {I->H.m[2][0], I->H.m[2][1], I->H.m[2][2]}, .n = {I->A.xz, I->A.yz, I->A.zz}};
}

/* Returns the symmetric matrix S - g u^T; g u^T must be symmetric. */
LANE_INLINE sym3 sym3_sub_product(sym3 S, vec3 g, vec3 u)
{
    return (sym3){sub_mul(S.xx, g.x, u.x), sub_mul(S.xy, g.x, u.y), sub_mul(S.xz, g.x, u.z),
                  sub_mul(S.yy, g.y, u.y), sub_mul(S.yz, g.y, u.z), sub_mul(S.zz, g.z, u.z)};
}

/* Replaces I by I - U G^T, with G = U / D. For geared joints U is not I S (geared_joint.h). */
LANE_INLINE void articulated_subtract(articulated *I, const wrench *U, const wrench *G)
{
    const lane f[3] = {U->f.x, U->f.y, U->f.z}, g[3] = {G->n.x, G->n.y, G->n.z};
    I->A = sym3_sub_product(I->A, G->n, U->n);
    I->Q = sym3_sub_product(I->Q, G->f, U->f);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            I->H.m[i][j] = sub_mul(I->H.m[i][j], g[i], f[j]);
}

/* Replaces I by I^a = I - U G^T, with U = I S and G = U / D. The row and column of the joint's axis are set to rotor G,
 * their exact value, because the difference would lose digits by cancellation. */
LANE_INLINE void articulated_project(articulated *I, const dyn_body *b, const wrench *U, const wrench *G)
{
    const vec3 n = times(b->joint.rotor_inertia, G->n), f = times(b->joint.rotor_inertia, G->f);
    articulated_subtract(I, U, G);
    if (b->joint.kind == DYN_PRISMATIC) {
        I->Q         = (sym3){I->Q.xx, I->Q.xy, f.x, I->Q.yy, f.y, f.z};
        I->H.m[0][2] = n.x;
        I->H.m[1][2] = n.y;
        I->H.m[2][2] = n.z;
    } else {
        I->A = (sym3){I->A.xx, I->A.xy, n.x, I->A.yy, n.y, n.z};
        store3(I->H.m[2], f);
    }
}

/* --- to the parent's axes and origin ------------------------------------------------------------------------ */

/* Moves the reference point of I and p by -r along axis k. With [r] the cross matrix of r e_k,
 *     H' = H + [r] Q,  A' = A - H [r] + [r] H'^T,  n' = n + [r] f. */
LANE_INLINE void articulated_shift(articulated_body *body, int k, lane r)
{
    const int    i = (k + 1) % 3, j = (k + 2) % 3; /* ([r] x)_i = -r x_j and ([r] x)_j = r x_i */
    articulated *I = &body->I;
    wrench      *p = &body->p;
    lane(*H)[3] = I->H.m, Hii = H[i][i], Hij = H[i][j], Hji = H[j][i];
    for (int b = 0; b < 3; b++) {
        H[i][b] = sub_mul(H[i][b], r, *sym3_at(&I->Q, j, b));
        H[j][b] = add_mul(H[j][b], r, *sym3_at(&I->Q, i, b));
    }
    lane *ki = sym3_at(&I->A, k, i), *kj = sym3_at(&I->A, k, j), *ii = sym3_at(&I->A, i, i);
    lane *ij = sym3_at(&I->A, i, j), *jj = sym3_at(&I->A, j, j);
    *ki       = sub_mul(*ki, r, H[k][j]);
    *kj       = add_mul(*kj, r, H[k][i]);
    *ii       = sub_mul(*ii, r, Hij + H[i][j]);
    *ij       = add_mul(*ij, r, Hii - H[j][j]);
    *jj       = add_mul(*jj, r, Hji + H[j][i]);
    lane f[3] = {p->f.x, p->f.y, p->f.z}, n[3] = {p->n.x, p->n.y, p->n.z};
    n[i] = sub_mul(n[i], r, f[j]);
    n[j] = add_mul(n[j], r, f[i]);
    p->n = load3(n);
}

/* Rotates I to the parent's axes, through a joint with one coordinate. `axis_row_is_zero`: the joint is revolute and
 * the row of I for its axis, S^T I, is zero. */
LANE_INLINE void articulated_rotate(link_transform X, articulated *I, bool axis_row_is_zero)
{
    I->A = axis_row_is_zero ? sym3_xy_to_parent(X, I->A) : sym3_to_parent(X, I->A);
    I->Q = sym3_to_parent(X, I->Q);
    I->H = mat3_to_parent(X, I->H, axis_row_is_zero);
}

/* Transforms I and p of a body through its joint with a quaternion to the parent's axes and origin: X^T I X and X^T
 * p. */
LANE_NOINLINE articulated_body articulated_to_parent_free(const joint_pose *pose, articulated_body x)
{
    const mat3 *R = &pose->R;
    x.I           = (articulated){sym3_rotate(R, x.I.A), sym3_rotate(R, x.I.Q), mat3_rotate(R, &x.I.H)};
    x.p           = (wrench){mat3_mul(R, x.p.f), mat3_mul(R, x.p.n)};
    articulated_shift(&x, 0, pose->p.x);
    articulated_shift(&x, 1, pose->p.y);
    articulated_shift(&x, 2, pose->p.z);
    return x;
}

/* Rotates I and p to the parent's axes and shifts their reference point by the displacement of the joint; the shift by
 * p_pc is left to articulated_to_parent_origin. */
LANE_INLINE void articulated_to_parent_form(link_transform X, articulated_body *body, bool axis_row_is_zero)
{
    if (dyn_joint_has_quaternion(X.joint)) {
        const articulated_body x = articulated_to_parent_free(X.pose, (articulated_body){body->I, body->p});
        body->I                  = x.I;
        body->p                  = x.p;
        return;
    }
    if (X.joint == DYN_PRISMATIC) articulated_shift(body, 2, X.J.c);
    articulated_rotate(X, &body->I, axis_row_is_zero);
    body->p = (wrench){to_parent(X, body->p.f), to_parent(X, body->p.n)};
}

/* Shifts the reference point of I and p, already in the parent's axes, by p_pc to the parent's origin. */
LANE_INLINE void articulated_to_parent_origin(const dyn_body *b, articulated_body *body)
{
    if (b->pose.offsets & DYN_ALONG_X) articulated_shift(body, 0, lane_of(b->pose.p_pc[0]));
    if (b->pose.offsets & DYN_ALONG_Y) articulated_shift(body, 1, lane_of(b->pose.p_pc[1]));
    if (b->pose.offsets & DYN_ALONG_Z) articulated_shift(body, 2, lane_of(b->pose.p_pc[2]));
}

/* Replaces I and p by X^T I X and X^T p, in the parent's axes and about its origin. `axis_row_is_zero`: S^T I = 0. */
LANE_INLINE void articulated_to_parent(const dyn_body *b, const joint_transform *XJ, articulated_body *body,
                                       bool axis_row_is_zero)
{
    if (axis_row_is_zero) {
        WITH_REVOLUTE_TRANSFORM(b, XJ, articulated_to_parent_form, body, true)
    } else {
        WITH_LINK_TRANSFORM(b, XJ, articulated_to_parent_form, body, false)
    }
    articulated_to_parent_origin(b, body);
}
