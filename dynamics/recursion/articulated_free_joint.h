/* articulated_free_joint.h - eliminates a joint with a quaternion from an articulated inertia. The axes are eliminated
 * one after another, as if each were a joint of its own and the bodies between them had no mass:
 *
 *     G = I S / D,  g = (tau - S^T p) / D,  D = S^T I S,   I -= I S G^T,  p += I S g.
 *
 * Afterwards S^T I = 0 and S^T p = tau exactly. Linear axes come first: their pivots are masses, far from zero. Driven
 * coordinates are not eliminated. Featherstone (2008), ch. 7; 6-vectors are [linear; angular]. */
#pragma once
#include "articulated_inertia.h"

typedef struct articulated_free_joint {
    lane G[6][6], g[6]; /* G = I S / D and g = (tau - S^T p) / D of each axis */
} articulated_free_joint;

/* True if coordinate v is driven. */
LANE_INLINE bool is_driven(const bool *driven, int v)
{
    return driven && driven[v];
}

/* Records body i as singular in the lanes where the pivot is zero up to rounding and no body is recorded yet. */
LANE_INLINE void note_pivot(lane pivot, double floor, int i, lane *singular)
{
    lane_mask good = lane_positive(pivot) & lane_less(lane_of(floor), pivot);
    lane_mask fine = good | lane_less(lane_of(-1), *singular);
    *singular      = lane_select(fine, *singular, lane_of(i));
}

LANE_INLINE void articulated_to_array(const articulated *I, const wrench *p, lane S[6][6], lane x[6])
{
    const sym3 *A = &I->A, *Q = &I->Q;
    store3(S[0], (vec3){Q->xx, Q->xy, Q->xz});
    store3(S[1], (vec3){Q->xy, Q->yy, Q->yz});
    store3(S[2], (vec3){Q->xz, Q->yz, Q->zz});
    store3(S[3] + 3, (vec3){A->xx, A->xy, A->xz});
    store3(S[4] + 3, (vec3){A->xy, A->yy, A->yz});
    store3(S[5] + 3, (vec3){A->xz, A->yz, A->zz});
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S[3 + i][j] = S[j][3 + i] = I->H.m[i][j];
    store3(x, p->f);
    store3(x + 3, p->n);
}

LANE_INLINE void articulated_from_array(lane S[6][6], const lane x[6], articulated *I, wrench *p)
{
    *I = (articulated){.Q = {S[0][0], S[0][1], S[0][2], S[1][1], S[1][2], S[2][2]},
                       .A = {S[3][3], S[3][4], S[3][5], S[4][4], S[4][5], S[5][5]}};
    for (int i = 0; i < 3; i++)
        store3(I->H.m[i], load3(S[3 + i]));
    *p = (wrench){load3(x), load3(x + 3)};
}

/* Eliminates axis k from the arrays S and x of I and p; axes below `from` have been eliminated before. */
LANE_INLINE void eliminate_axis(lane S[6][6], lane x[6], int from, int k, lane tau, articulated_free_joint *out)
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

/* Eliminates the joint of body i from the articulated inertia I and the wrench p of the body. Returns I and p that the
 * joint passes on to the parent. */
LANE_NOINLINE articulated_body eliminate_free_joint(const dyn_body *b, int i, const lane *tau, const bool *driven,
                                                    articulated_body outer, articulated_free_joint *out, lane *singular)
{
    lane      S[6][6], x[6];
    int       from  = 0;
    const int first = joint_first_axis(b);
    articulated_to_array(&outer.I, &outer.p, S, x);
#pragma GCC unroll 6
    for (int k = 0; k < 6; k++) {
        int v = b->joint.v + k - first;
        if (k < first || is_driven(driven, v)) continue;
        note_pivot(S[k][k], pivot_floor(b, k < 3), i, singular);
        if (from == k)
            eliminate_axis(S, x, from = k + 1, k, tau[v], out);
        else
            eliminate_axis(S, x, from, k, tau[v], out);
    }
    if (b->tree.parent != DYN_WORLD) articulated_from_array(S, x, &outer.I, &outer.p);
    return outer;
}

/* Computes qdd of the joint, and alpha of the body (forward_dynamics.c) from that of its parent. The axes are taken in
 * the reverse order of their elimination. */
LANE_NOINLINE twist accelerate_free_joint(const dyn_body *b, const articulated_free_joint *r, const bool *driven,
                                          const lane *driven_qdd, twist parent, lane *qdd)
{
    lane alpha[6];
    store3(alpha, parent.v);
    store3(alpha + 3, parent.w);
    const int first = joint_first_axis(b);
#pragma GCC unroll 6
    for (int k = 5; k >= 0; k--) {
        int c = b->joint.v + k - first;
        if (k < first) continue;
        if (is_driven(driven, c)) {
            qdd[c] = driven_qdd[c];
            continue;
        }
        qdd[c] = r->g[k];
        for (int j = 0; j < 6; j++)
            qdd[c] = sub_mul(qdd[c], r->G[k][j], alpha[j]);
        alpha[k] += qdd[c];
    }
    return (twist){load3(alpha), load3(alpha + 3)};
}
