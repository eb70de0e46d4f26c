/* articulated_free_joint.h - eliminates a joint with a quaternion from an articulated inertia. The axes are eliminated
 * one after another, as if each were a joint of its own and the bodies between them had no mass:
 *
 *     G = I S / D,  g = (tau - S^T p) / D,  D = S^T I S,   I -= I S G^T,  p += I S g.
 *
 * Afterwards S^T I = 0 and S^T p = tau exactly. Linear axes come first: their pivots are masses, far from zero. Driven
 * coordinates are not eliminated. Featherstone (2008), ch. 7; 6-vectors are [linear; angular]. */
#pragma once
#include "articulated_pass.h"

LANE_INLINE void articulated_to_array(const articulated_body *body, lane S[6][6], lane x[6])
{
    const sym3 *A = &body->I.A, *Q = &body->I.Q;
    store3(S[0], (vec3){Q->xx, Q->xy, Q->xz});
    store3(S[1], (vec3){Q->xy, Q->yy, Q->yz});
    store3(S[2], (vec3){Q->xz, Q->yz, Q->zz});
    store3(S[3] + 3, (vec3){A->xx, A->xy, A->xz});
    store3(S[4] + 3, (vec3){A->xy, A->yy, A->yz});
    store3(S[5] + 3, (vec3){A->xz, A->yz, A->zz});
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S[3 + i][j] = S[j][3 + i] = body->I.H.m[i][j];
    store3(x, body->p.f);
    store3(x + 3, body->p.n);
}

LANE_INLINE articulated_body articulated_from_array(lane S[6][6], const lane x[6])
{
    articulated_body body = {.I = {.Q = {S[0][0], S[0][1], S[0][2], S[1][1], S[1][2], S[2][2]},
                                   .A = {S[3][3], S[3][4], S[3][5], S[4][4], S[4][5], S[5][5]}},
                             .p = {load3(x), load3(x + 3)}};
    for (int i = 0; i < 3; i++)
        store3(body.I.H.m[i], load3(S[3 + i]));
    return body;
}

/* Eliminates axis k from the arrays S and x of I and p; axes below `from` have been eliminated before. */
LANE_INLINE void eliminate_axis(lane S[6][6], lane x[6], int from, int k, lane tau, free_joint_solution *out)
{
    lane d = 1.0 / S[k][k], *G = out->G[k], g = out->g[k] = (tau - x[k]) * d, U[6];
    for (int j = 0; j < 6; j++) {
        U[j] = S[k][j];
        G[j] = U[j] * d;
    }
#pragma GCC unroll 6
    for (int i = from; i < 6; i++) {
#pragma GCC unroll 6
        for (int j = i; j < 6; j++)
            S[j][i] = S[i][j] = sub_mul(S[i][j], U[i], G[j]);
        x[i] = add_mul(x[i], U[i], g);
    }
    for (int i = 0; i < 6; i++)
        S[i][k] = S[k][i] = lane_of(0);
    x[k] = tau;
}

/* Eliminates the joint of body i from I^A and p^A of the body. Returns what the joint passes on to the parent. */
LANE_NOINLINE articulated_body eliminate_free_joint(const articulated_pass *p, int i, articulated_body A)
{
    const dyn_body *b = &p->scene->model->body[i];
    lane            S[6][6], x[6];
    int             from  = 0;
    const int       first = joint_first_axis(b);
    articulated_to_array(&A, S, x);
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++) {
        int                  v   = b->joint.v + k - first;
        free_joint_solution *out = &p->ws->free_joint[b->joint.quaternion];
        if (k < first || is_driven(p, v)) continue;
        note_pivot(S[k][k], pivot_floor(b, k < 3), i, p->singular);
        if (from == k)
            eliminate_axis(S, x, from = k + 1, k, p->tau[v], out);
        else
            eliminate_axis(S, x, from, k, p->tau[v], out);
    }
    return b->tree.parent == DYN_WORLD ? A : articulated_from_array(S, x);
}

/* Computes qdd of the joint of body b, and alpha of the body from that of its parent at the body's origin, in its axes.
 * The axes are taken in the reverse order of their elimination. */
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
