/* mass_factor.h - factors the mass matrix as M = L^T D L, which keeps the zeros of a tree (Featherstone 2008, ch. 6.5),
 * and solves with it. The pivots are the articulated inertias of the joints, leaves first. Mimics, except rotors beside
 * their joints, connect branches. Then each coordinate is the ancestor of the next, which gives a dense
 * factorization. */
#pragma once
#include "workspace.h"

typedef struct factor {
    int *ancestor;      /* [nv] the previous coordinate on the way to the base, or -1: lambda of Featherstone (2008),
                           ch. 6.5, with one entry per coordinate */
    int    *body;       /* [nv] the body whose joint has the coordinate */
    int    *root;       /* [nv] the last coordinate on that way, which has no ancestor */
    double *floor;      /* [nv] a pivot up to this value counts as zero: see pivot_floor */
    lane   *L;          /* [nv x nv] below the diagonal, in the columns of ancestors only; other entries are scratch */
    lane   *reciprocal; /* [nv] 1 / D */
} factor;

static inline factor factor_place(arena *a, const dyn_model *m)
{
    size_t nv = (size_t)m->nv;
    return (factor){.ancestor   = arena_take(a, nv, sizeof(int)),
                    .body       = arena_take(a, nv, sizeof(int)),
                    .root       = arena_take(a, nv, sizeof(int)),
                    .floor      = arena_take(a, nv, sizeof(double)),
                    .L          = arena_take(a, nv * nv, sizeof(lane)),
                    .reciprocal = arena_take(a, nv, sizeof(lane))};
}

/* Sets the floor of each pivot, the value up to which the pivot counts as zero. With mimics a coordinate moves several
 * joints, whose floors are added. */
static inline void factor_floors(const dyn_model *m, double *floor)
{
    for (int v = 0; v < m->nv; v++)
        floor[v] = 0;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        for (int k = joint_first_axis(b), v = b->joint.v; dyn_joint_has_quaternion(b->joint.kind) && k < 6; k++, v++)
            floor[v] = pivot_floor(b, k < 3);
        if (!dyn_joint_has_quaternion(b->joint.kind))
            floor[b->joint.v] += b->joint.ratio * b->joint.ratio * pivot_floor(b, b->joint.kind == DYN_PRISMATIC);
    }
}

/* The last coordinate of the joint of body i, or of the joints before it: a mimic's own coordinate is that of another
 * joint. -1 on the world. */
static inline int factor_coordinate_of(const dyn_model *m, int i)
{
    while (i != DYN_WORLD && m->body[i].joint.mimic)
        i = m->body[i].tree.parent;
    return i == DYN_WORLD ? -1 : m->body[i].joint.v + dyn_joint_nv(m->body[i].joint.kind) - 1;
}

/* Sets what depends on the model only: bodies, ancestors, roots and floors. */
static inline void factor_prepare(const dyn_model *m, const factor *f)
{
    for (int v = 0; v < m->nv; v++) /* v - 1 within a joint, and throughout a dense model */
        f->ancestor[v] = v - 1;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body_joint *joint = &m->body[i].joint;
        if (joint->mimic) continue;
        for (int v = joint->v; v < joint->v + dyn_joint_nv(joint->kind); v++)
            f->body[v] = (int)i;
        if (!m->dense) f->ancestor[joint->v] = factor_coordinate_of(m, m->body[i].tree.parent);
    }
    for (int v = 0; v < m->nv; v++)
        f->root[v] = f->ancestor[v] < 0 ? v : f->root[f->ancestor[v]];
    factor_floors(m, f->floor);
}

/* The floor of pivot k, the value up to which it counts as zero. A floating joint on a moving body adds the inertia of
 * its body to M, which the factorization subtracts again. The rounding error of this difference is proportional to
 * M_kk. */
LANE_INLINE lane floor_of(const dyn_model *m, const factor *f, const lane *M, int k)
{
    lane floor = lane_of(f->floor[k]);
    return m->has_floating_body ? add_mul(floor, PIVOT_TOLERANCE, M[(size_t)k * (size_t)m->nv + (size_t)k]) : floor;
}

/* Factors M: for k = nv - 1 to 0, L_ki = M_ki / M_kk, and M_ij -= L_ki M_kj for ancestors i, j of k. Returns the first
 * body whose pivot is zero up to rounding or negative, or -1. */
static inline lane factor_make(const dyn_model *m, const factor *f, const lane *M)
{
    size_t     nv = (size_t)m->nv;
    const int *up = f->ancestor;
    lane      *L = f->L, bad = lane_of(-1);
    for (int k = 0; k < m->nv; k++)
        for (int i = k; i >= 0; i = up[i])
            L[(size_t)k * nv + (size_t)i] = M[(size_t)k * nv + (size_t)i];
    for (int k = m->nv - 1; k >= 0; k--) {
        lane     *row = &L[(size_t)k * nv], pivot = row[k];
        lane_mask good   = lane_positive(pivot) & lane_less(floor_of(m, f, M, k), pivot);
        bad              = lane_select(good | lane_less(lane_of(-1), bad), bad, lane_of(f->body[k]));
        f->reciprocal[k] = 1.0 / pivot;
        for (int i = up[k]; i >= 0; i = up[i]) {
            lane g = row[i] * f->reciprocal[k];
            for (int j = i; j >= 0; j = up[j]) {
                lane *entry = &L[(size_t)i * nv + (size_t)j];
                *entry      = sub_mul(*entry, g, row[j]);
            }
            row[i] = g;
        }
    }
    return bad;
}

/* Solves M x = y, where x contains y before and the solution after. L^T z = y, then L x = D^-1 z. */
static inline void factor_solve(const dyn_model *m, const factor *f, lane *x)
{
    size_t     nv = (size_t)m->nv;
    const int *up = f->ancestor;
    for (int k = m->nv - 1; k >= 0; k--)
        for (int i = up[k]; i >= 0; i = up[i])
            x[i] = sub_mul(x[i], f->L[(size_t)k * nv + (size_t)i], x[k]);
    for (int k = 0; k < m->nv; k++) {
        x[k] = x[k] * f->reciprocal[k];
        for (int i = up[k]; i >= 0; i = up[i])
            x[k] = sub_mul(x[k], f->L[(size_t)k * nv + (size_t)i], x[i]);
    }
}
