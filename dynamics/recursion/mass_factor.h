/* mass_factor.h - factors the mass matrix as M = L^T D L, which keeps the zeros of a tree, and solves with it for one
 * right side (Featherstone 2008, ch. 6.5). The pivots are eliminated from the last one to the first. mass_solve.h
 * solves for many right sides. */
#pragma once
#include "coordinate_tree.h"

typedef struct factor {
    coordinate_tree tree;
    dyn_deadline    deadline;
    lane           *L; /* [nv x nv] below the diagonal, only in the columns of ancestors; other entries are scratch */
    lane           *reciprocal; /* [nv] 1 / D, the reciprocal pivots */
} factor;

static inline factor factor_place(arena *a, const dyn_model *m)
{
    size_t nv = (size_t)m->nv;
    return (factor){.tree       = coordinate_tree_place(a, m),
                    .L          = arena_take(a, nv * nv, sizeof(lane)),
                    .reciprocal = arena_take(a, nv, sizeof(lane))};
}

/* Factors M: for k = nv - 1 to 0, L_ki = M_ki / M_kk, and M_ij -= L_ki M_kj for ancestors i, j of k. Returns the first
 * body whose pivot is zero up to rounding or negative, or -1. If the deadline passes, L is incomplete. */
static inline lane factor_make(const dyn_model *m, const factor *f, const lane *M)
{
    size_t     nv = (size_t)m->nv;
    const int *up = f->tree.ancestor;
    lane      *L = f->L, bad = lane_of(-1);
    for (int k = 0; k < m->nv; k++)
        for (int i = k; i >= 0; i = up[i])
            L[(size_t)k * nv + (size_t)i] = M[(size_t)k * nv + (size_t)i];
    for (int k = m->nv - 1; k >= 0 && goes_on(f->deadline, nv); k--) {
        lane *row        = &L[(size_t)k * nv];
        bad              = first_singular(bad, m, &f->tree, M, k, row[k]);
        f->reciprocal[k] = 1.0 / row[k];
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

/* Solves L^T z = y in place: x is y on entry and z on return. */
static inline void factor_eliminate(const dyn_model *m, const factor *f, lane *x)
{
    const int *up = f->tree.ancestor;
    for (int k = m->nv - 1; k >= 0; k--)
        for (int i = up[k]; i >= 0; i = up[i])
            x[i] = sub_mul(x[i], f->L[(size_t)k * (size_t)m->nv + (size_t)i], x[k]);
}

/* Solves L x = D^-1 z in place: x is z on entry. */
static inline void factor_substitute(const dyn_model *m, const factor *f, lane *x)
{
    size_t     nv = (size_t)m->nv;
    const int *up = f->tree.ancestor;
    for (int k = 0; k < m->nv; k++) {
        x[k] = x[k] * f->reciprocal[k];
        for (int i = up[k]; i >= 0; i = up[i])
            x[k] = sub_mul(x[k], f->L[(size_t)k * nv + (size_t)i], x[i]);
    }
}

/* Solves M x = y in place: x is y on entry and the solution on return. */
static inline void factor_solve(const dyn_model *m, const factor *f, lane *x)
{
    factor_eliminate(m, f, x);
    factor_substitute(m, f, x);
}
