/* articulated_free_joint.h - eliminates a joint with a quaternion from an articulated inertia. The axes are eliminated
 * one after another, as if each were a joint of its own and the bodies between them had no mass. With the rotor inertia
 * J, each axis S gives
 *
 *     G = I S / D,  g = (tau - S^T p) / D,  D = S^T I S + J,   I -= I S G^T,  p += I S g.
 *
 * tau is the effort minus the efforts of rotor, damper and spring at qdd = 0. Without a rotor, S^T I = 0 and S^T p =
 * tau afterwards exactly. Linear axes come first: their pivots are masses, far from zero. Driven coordinates are not
 * eliminated. Featherstone (2008), ch. 7; 6-vectors are [linear; angular]. */
#pragma once
#include "articulated_pass.h"
#include "dynamics/joint/free_joint_forces.h"

/* Copies I and p to arrays in the order [linear; angular]: IA = [Q H^T; H A], pA = [f; n]. */
LANE_INLINE void articulated_to_array(const articulated_body *body, lane IA[6][6], lane pA[6])
{
    const sym3 *A = &body->I.A, *Q = &body->I.Q;
    store3(IA[0], (vec3){Q->xx, Q->xy, Q->xz});
    store3(IA[1], (vec3){Q->xy, Q->yy, Q->yz});
    store3(IA[2], (vec3){Q->xz, Q->yz, Q->zz});
    store3(IA[3] + 3, (vec3){A->xx, A->xy, A->xz});
    store3(IA[4] + 3, (vec3){A->xy, A->yy, A->yz});
    store3(IA[5] + 3, (vec3){A->xz, A->yz, A->zz});
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            IA[3 + i][j] = IA[j][3 + i] = body->I.H.m[i][j];
    store3(pA, body->p.f);
    store3(pA + 3, body->p.n);
}

LANE_INLINE articulated_body articulated_from_array(lane IA[6][6], const lane pA[6])
{
    articulated_body body = {.I = {.Q = {IA[0][0], IA[0][1], IA[0][2], IA[1][1], IA[1][2], IA[2][2]},
                                   .A = {IA[3][3], IA[3][4], IA[3][5], IA[4][4], IA[4][5], IA[5][5]}},
                             .p = {load3(pA), load3(pA + 3)}};
    for (int i = 0; i < 3; i++)
        store3(body.I.H.m[i], load3(IA[3 + i]));
    return body;
}

/* Eliminates axis k, S = e_k, from IA and pA:  U = IA e_k,  D = U_k,  G = U / D,  g = (tau - pA_k) / D. Axes below
 * `from` have been eliminated before: their rows are zero. */
LANE_INLINE void eliminate_axis(lane IA[6][6], lane pA[6], int from, int k, lane tau, free_joint_solution *out)
{
    lane d = out->d[k] = 1.0 / IA[k][k], *G = out->G[k], g = out->g[k] = (tau - pA[k]) * d, U[6];
    for (int j = 0; j < 6; j++) {
        U[j] = IA[k][j];
        G[j] = U[j] * d;
    }
#pragma GCC unroll 6
    for (int i = from; i < 6; i++) {
#pragma GCC unroll 6
        for (int j = i; j < 6; j++)
            IA[j][i] = IA[i][j] = sub_mul(IA[i][j], U[i], G[j]);
        pA[i] = add_mul(pA[i], U[i], g);
    }
    for (int i = 0; i < 6; i++)
        IA[i][k] = IA[k][i] = lane_of(0);
    pA[k] = tau;
}

/* Eliminates axis k of a joint with the rotor inertia J. Unlike without rotor inertia, the rows of the axis in IA and
 * pA do not become zero. */
LANE_INLINE void eliminate_rotor_axis(lane IA[6][6], lane pA[6], double J, int k, lane tau, free_joint_solution *out)
{
    lane d = out->d[k] = 1.0 / (IA[k][k] + J), *G = out->G[k], g = out->g[k] = (tau - pA[k]) * d, U[6];
    for (int j = 0; j < 6; j++) {
        U[j] = IA[k][j];
        G[j] = U[j] * d;
    }
    for (int i = 0; i < 6; i++) {
        for (int j = i; j < 6; j++)
            IA[j][i] = IA[i][j] = sub_mul(IA[i][j], U[i], G[j]);
        pA[i] = add_mul(pA[i], U[i], g);
    }
}

/* Eliminates a joint that has rotor inertia, damping or a spring from I^A and p^A of its body. Returns I^a and p^a like
 * eliminate_free_joint. */
LANE_NOINLINE articulated_body eliminate_rotor_joint(const articulated_pass *p, int i, articulated_body body)
{
    const dyn_body      *b     = &p->scene->model->body[i];
    const double         J     = b->joint.rotor_inertia;
    const int            first = joint_first_axis(b);
    const wrench         free  = free_forces(b, p->scene->terms, &(free_motion){p->io->q, p->io->qd, NULL});
    free_joint_solution *out   = &p->ws->free_joint[b->joint.quaternion];
    lane                 IA[6][6], pA[6], effort[6];
    articulated_to_array(&body, IA, pA);
    store3(effort, free.f);
    store3(effort + 3, free.n);
    for (int k = first; k < 6; k++) {
        const int v = b->joint.v + k - first;
        if (is_driven(p, v)) continue;
        record_singular(IA[k][k] + J, pivot_floor(b, k < 3), i, p->singular);
        eliminate_rotor_axis(IA, pA, J, k, p->tau[v] - effort[k], out);
    }
    return b->tree.parent == DYN_WORLD ? body : articulated_from_array(IA, pA);
}

/* Eliminates the joint of body i from its I^A and p^A. Returns I^a and p^a, which the joint transmits to the parent. */
LANE_NOINLINE articulated_body eliminate_free_joint(const articulated_pass *p, int i, articulated_body body)
{
    const dyn_body *b = &p->scene->model->body[i];
    lane            IA[6][6], pA[6];
    int             from  = 0;
    const int       first = joint_first_axis(b);
    if (has_free_forces(b)) return eliminate_rotor_joint(p, i, body);
    articulated_to_array(&body, IA, pA);
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++) {
        int                  v   = b->joint.v + k - first;
        free_joint_solution *out = &p->ws->free_joint[b->joint.quaternion];
        if (k < first || is_driven(p, v)) continue;
        record_singular(IA[k][k], pivot_floor(b, k < 3), i, p->singular);
        if (from == k)
            eliminate_axis(IA, pA, from = k + 1, k, p->tau[v], out);
        else
            eliminate_axis(IA, pA, from, k, p->tau[v], out);
    }
    return b->tree.parent == DYN_WORLD ? body : articulated_from_array(IA, pA);
}

/* Computes qdd of the joint of body b, and returns the acceleration alpha of the body. `parent` is alpha', the
 * acceleration of the parent at the body's origin, in the body's axes. alpha starts as alpha', and for each axis k, in
 * the reverse order of elimination,  qdd_k = g_k - G_k^T alpha,  alpha += e_k qdd_k. */
LANE_NOINLINE twist accelerate_free_joint(const articulated_pass *p, const dyn_body *b, twist parent)
{
    const free_joint_solution *s = &p->ws->free_joint[b->joint.quaternion];
    lane                       alpha[6];
    store3(alpha, parent.v);
    store3(alpha + 3, parent.w);
    const int first = joint_first_axis(b);
#pragma GCC unroll 6
    for (int k = 5; k >= 0; k--) {
        int v = b->joint.v + k - first;
        if (k < first) continue;
        if (is_driven(p, v)) {
            p->qdd[v] = p->io->qdd[v];
            continue;
        }
        lane qdd = s->g[k];
        for (int j = 0; j < 6; j++)
            qdd = sub_mul(qdd, s->G[k][j], alpha[j]);
        p->qdd[v] = qdd;
        alpha[k] += qdd;
    }
    return (twist){load3(alpha), load3(alpha + 3)};
}
