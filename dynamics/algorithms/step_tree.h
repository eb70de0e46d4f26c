/* step_tree.h - solves linear equations whose matrix has the zeros of the mass matrix, and is not symmetric. Part of
 * step.c.
 *
 * A matrix J is factored without exchanges of rows: for k = n - 1 to 0 and the ancestors i, j of k,
 *
 *     u_ik = J_ik / J_kk,   J_ij -= u_ik J_kj.
 *
 * This fills in no entry between branches. Right sides R become R_i -= sum u_ik R_k over the descendants k of i, and
 * the rows of the solution are X_k = (R_k - sum J_kj X_j) / J_kk, over the ancestors j of k.
 *
 * The products u_ik J_ki have the unit of J_ii. Were J symmetric and positive definite, they would be positive, and
 * their sum less than J_ii. Where one of them is large, or a pivot is small, the factors are not accurate. */
#pragma once
#include "dynamics/recursion/coordinate_tree.h"
#include "row_products.h"

#define MOST_GROWTH 1e3   /* of an entry of the diagonal, relative to its scale */
#define LEAST_PIVOT 1e-10 /* relative to the same */

/* The relatives of each coordinate: rows of lists, nv x nv. */
typedef struct step_tree {
    coordinate_tree coordinates;
    size_t         *n_up, *n_down; /* [nv] */
    int            *up, *down;     /* ancestors and descendants, without the coordinate itself */
} step_tree;

static inline step_tree step_tree_place(arena *a, const dyn_model *m)
{
    const size_t nv = (size_t)m->nv;
    return (step_tree){.coordinates = coordinate_tree_place(a, m),
                       .n_up        = arena_take(a, nv, sizeof(size_t)),
                       .n_down      = arena_take(a, nv, sizeof(size_t)),
                       .up          = arena_take(a, nv * nv, sizeof(int)),
                       .down        = arena_take(a, nv * nv, sizeof(int))};
}

/* Sets the lists, which depend on the model only. Elastic joints couple coordinates of any branches. */
static inline void step_tree_prepare(const dyn_model *m, const step_tree *t)
{
    const int nv = m->nv, *ancestor = t->coordinates.ancestor;
    coordinate_tree_prepare(m, &t->coordinates);
    for (int v = 0; v < nv; v++) {
        t->n_up[v] = t->n_down[v] = 0;
        for (int a = v; (a = m->n_couplings > 0 ? a - 1 : ancestor[a]) >= 0;) {
            t->up[v * nv + (int)t->n_up[v]++]     = a;
            t->down[a * nv + (int)t->n_down[a]++] = v;
        }
    }
}

/* A matrix J, nv x nv, and its factors in place of it: u above the diagonal. */
typedef struct tree_equations {
    dyn_deadline     deadline;
    const step_tree *tree;
    size_t           nv;
    lane            *J;
    const lane      *scale;      /* [nv] positive sizes of the entries on the diagonal */
    lane            *reciprocal; /* [nv] 1 / J_kk */
} tree_equations;

/* Factors J. Returns the lanes in which the factors are accurate. Past the deadline the factors are unfinished. */
static inline lane_mask tree_factor(const tree_equations *s)
{
    const size_t nv       = s->nv;
    lane_mask    accurate = lane_less(lane_of(0), lane_of(1));
    for (size_t k = nv; k-- > 0 && goes_on(s->deadline, nv);) {
        const int  *up   = s->tree->up + k * nv;
        const lane *row  = s->J + k * nv;
        s->reciprocal[k] = 1.0 / row[k];
        accurate &= lane_less(LEAST_PIVOT * s->scale[k], lane_abs(row[k]));
        for (size_t a = 0; a < s->tree->n_up[k]; a++) {
            const size_t i  = (size_t)up[a];
            lane        *to = s->J + i * nv;
            const lane   u  = to[k] * s->reciprocal[k];
            accurate &= lane_less(lane_abs(u * row[i]), MOST_GROWTH * s->scale[i]);
            for (size_t b = 0; b < s->tree->n_up[k]; b++)
                to[up[b]] = sub_mul(to[up[b]], u, row[up[b]]);
            to[k] = u;
        }
    }
    return accurate;
}

/* Some columns of right sides, which the solution replaces, in the rows of one part of the model or in all. */
typedef struct tree_columns {
    lane  *X;
    size_t stride, first, end; /* of the rows; the columns */
    size_t first_row, end_row;
} tree_columns;

/* Subtracts the product of some entries of row i of J with rows of X from row i of X. */
static inline void tree_subtract(const tree_equations *s, const tree_columns *c, size_t i, const int *terms, size_t n)
{
    lane             *row     = c->X + i * c->stride;
    const row_product product = {
        .A = s->J + i * s->nv, .A_term = 1, .X = c->X, .S = row, .stride = c->stride, .n = n, .terms = terms, .Y = row};
    if (n > 0) multiply_rows(&product, 1, c->first, c->end);
}

/* Solves J X = R. */
static inline void tree_solve(const tree_equations *s, const tree_columns *c)
{
    const size_t nv = s->nv;
    for (size_t i = c->end_row; i-- > c->first_row && goes_on(s->deadline, nv);)
        tree_subtract(s, c, i, s->tree->down + i * nv, s->tree->n_down[i]);
    for (size_t k = c->first_row; k < c->end_row && goes_on(s->deadline, nv); k++) {
        tree_subtract(s, c, k, s->tree->up + k * nv, s->tree->n_up[k]);
        for (size_t e = c->first; e < c->end; e++)
            c->X[k * c->stride + e] = s->reciprocal[k] * c->X[k * c->stride + e];
    }
}
