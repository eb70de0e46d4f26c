/* mass_factor.h - factors a dense mass matrix as M = L^T D L and solves with it for one right side (Featherstone 2008,
 * ch. 6.5). The pivots are eliminated from the last one to the first. */
#pragma once
#include "coordinate_tree.h"

typedef struct factor {
    coordinate_tree tree;
    lane           *L;          /* [nv x nv] below the diagonal; other entries are scratch */
    lane           *reciprocal; /* [nv] 1 / D */
} factor;

static inline factor factor_place(arena *a, const dyn_model *m)
{
    size_t nv = (size_t)m->nv;
    return (factor){.tree       = coordinate_tree_place(a, m),
                    .L          = arena_take(a, nv * nv, sizeof(lane)),
                    .reciprocal = arena_take(a, nv, sizeof(lane))};
}

/* Factors M: for k = nv - 1 to 0, L_ki = M_ki / M_kk, and M_ij -= L_ki M_kj for i, j < k. Returns the first body whose
 * pivot is zero up to rounding or negative, or -1. */
static inline lane factor_make(const dyn_model *m, const factor *f, const lane *M)
{
    size_t nv = (size_t)m->nv;
    lane  *L = f->L, bad = lane_of(-1);
    for (int k = 0; k < m->nv; k++)
        for (int i = 0; i <= k; i++)
            L[(size_t)k * nv + (size_t)i] = M[(size_t)k * nv + (size_t)i];
    for (int k = m->nv - 1; k >= 0; k--) {
        lane *row        = &L[(size_t)k * nv];
        bad              = first_singular(bad, m, &f->tree, M, k, row[k]);
        f->reciprocal[k] = 1.0 / row[k];
        for (int i = k - 1; i >= 0; i--) {
            lane g = row[i] * f->reciprocal[k];
            for (int j = i; j >= 0; j--) {
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
    size_t nv = (size_t)m->nv;
    for (int k = m->nv - 1; k >= 0; k--)
        for (int i = k - 1; i >= 0; i--)
            x[i] = sub_mul(x[i], f->L[(size_t)k * nv + (size_t)i], x[k]);
    for (int k = 0; k < m->nv; k++) {
        x[k] = x[k] * f->reciprocal[k];
        for (int i = k - 1; i >= 0; i--)
            x[k] = sub_mul(x[k], f->L[(size_t)k * nv + (size_t)i], x[i]);
    }
}
