/* row_products.h - multiplies matrices row by row, with tiles of the result in registers, and solves equations whose
 * matrix has the zeros of the mass matrix and is not symmetric. Part of step.c and forward_hessian.c.
 *
 * A tile is a few packs (pack.h) of a few neighbouring rows of the result. Every sum runs in the order of its
 * terms, so that the size of a tile and PACK change no bits.
 *
 * A matrix J is factored without exchanges of rows: for k = n - 1 to 0 and the ancestors i, j of k,
 *
 *     u_ik = J_ik / J_kk,   J_ij -= u_ik J_kj.
 *
 * This creates no nonzero entry between branches of the tree. Right sides R become R_i -= sum u_ik R_k over the
 * descendants k of i, and the rows of the solution are X_k = (R_k - sum J_kj X_j) / J_kk, over the ancestors j of k.
 *
 * The products u_ik J_ki have the unit of J_ii. If J were symmetric and positive definite, they would be positive, and
 * their sum less than J_ii. If one of them is large compared with J_ii, or a pivot is small, the factors are not
 * accurate. */
#pragma once
#include "dynamics/math/pack.h"
#include "dynamics/recursion/coordinate_tree.h"

#define MOST_GROWTH 1e3   /* largest product u_ik J_ki, relative to the scale of row i */
#define LEAST_PIVOT 1e-10 /* smallest pivot, relative to the scale of its row */

enum {
    TILE  = LANE_REGISTERS == 32 ? 8 : 4, /* packs of a tile: two rows of it take half of the registers */
    STRIP = TILE * PACK                   /* columns of a tile */
};

/* The product Y = S - A X. Sums run over the listed terms, or over the first n. One call computes one pair X, Y, or two
 * pairs with the same A. */
typedef struct row_product {
    dyn_deadline deadline;      /* past it rows are not computed */
    const lane  *A, *X, *S;     /* S NULL: zeros. S may be Y, unless the last pack of a row overlaps the one before */
    size_t       A_row, A_term; /* entry (v, e) of A is A[v A_row + e A_term] */
    size_t       stride;        /* distance of the rows of X, in lanes */
    size_t       n;             /* number of terms of each sum */
    const int   *terms;         /* [n] indices of the terms; NULL: 0 to n - 1 */
    lane        *Y;
    size_t       Y_row;          /* distance of the rows of Y and S, in lanes */
    size_t       X_pair, Y_pair; /* distance in lanes from the first pair to the second; 0: there is only one pair */
} row_product;

/* Numbers of pairs, rows and packs of a tile: constants of the inlined code. */
typedef struct tile_shape {
    int pairs, rows, packs;
} tile_shape;

/* Computes the tile of Y that begins at row v and column c. */
LANE_INLINE void product_tile(const row_product *p, size_t v, size_t c, const tile_shape s)
{
    pack x[2][4][TILE];
    for (int m = 0; m < s.pairs; m++)
        for (int r = 0; r < s.rows; r++)
            for (int t = 0; t < s.packs; t++)
                x[m][r][t] = p->S ? pack_load(p->S + (v + (size_t)r) * p->Y_row + c + t * PACK) : pack_zero();
    for (size_t e = 0; e < p->n; e++) {
        const size_t term = p->terms ? (size_t)p->terms[e] : e;
        const lane  *A = p->A + v * p->A_row + term * p->A_term, *X = p->X + term * p->stride + c;
        pack         a[4];
        for (int r = 0; r < s.rows; r++)
            a[r] = pack_of(A[(size_t)r * p->A_row]);
        for (int m = 0; m < s.pairs; m++)
            for (int t = 0; t < s.packs; t++) {
                const pack each = pack_load(X + (size_t)m * p->X_pair + t * PACK);
                for (int r = 0; r < s.rows; r++)
                    x[m][r][t] = pack_sub_mul(x[m][r][t], a[r], each);
            }
    }
    for (int m = 0; m < s.pairs; m++)
        for (int r = 0; r < s.rows; r++)
            for (int t = 0; t < s.packs; t++)
                pack_store(p->Y + (size_t)m * p->Y_pair + (v + (size_t)r) * p->Y_row + c + t * PACK, x[m][r][t]);
}

/* Computes the entry (v, c) of Y of pair 0, or of pair 1. */
static inline void product_entry(const row_product *p, size_t v, size_t c, size_t pair)
{
    lane x = p->S ? p->S[v * p->Y_row + c] : lane_of(0);
    for (size_t e = 0; e < p->n; e++) {
        const size_t term = p->terms ? (size_t)p->terms[e] : e;
        x = sub_mul(x, p->A[v * p->A_row + term * p->A_term], p->X[pair * p->X_pair + term * p->stride + c]);
    }
    p->Y[pair * p->Y_pair + v * p->Y_row + c] = x;
}

/* Computes rows v to v + shape.rows - 1 of Y in the columns first to end - 1, for shape.pairs pairs. */
LANE_INLINE void product_rows(const row_product *p, size_t v, size_t first, size_t end, tile_shape s)
{
    size_t c = first;
    for (; s.rows == 4 && c + STRIP / 2 <= end; c += STRIP / 2)
        product_tile(p, v, c, (tile_shape){s.pairs, s.rows, TILE / 2});
    for (; s.pairs == 1 && s.rows < 4 && c + STRIP <= end; c += STRIP)
        product_tile(p, v, c, (tile_shape){s.pairs, s.rows, TILE});
    for (; c + 3 * PACK <= end; c += 3 * PACK)
        product_tile(p, v, c, (tile_shape){s.pairs, s.rows, 3});
    for (; c + 2 * PACK <= end; c += 2 * PACK)
        product_tile(p, v, c, (tile_shape){s.pairs, s.rows, 2});
    for (; c + PACK <= end; c += PACK)
        product_tile(p, v, c, (tile_shape){s.pairs, s.rows, 1});
    if (c == end) return;
    if (end - first >= PACK && p->S != p->Y) {
        product_tile(p, v, end - PACK, (tile_shape){s.pairs, s.rows, 1});
        return;
    }
    for (int m = 0; m < s.pairs; m++)
        for (int r = 0; r < s.rows; r++)
            for (size_t i = c; i < end; i++)
                product_entry(p, v + (size_t)r, i, (size_t)m);
}

/* Computes rows 0 to rows - 1 of Y in the columns first to end - 1. */
LANE_NOINLINE void multiply_rows(const row_product *p, size_t rows, size_t first, size_t end)
{
    size_t v = 0;
    for (; v + 4 <= rows && goes_on(p->deadline, p->stride); v += 4)
        product_rows(p, v, first, end, (tile_shape){1, 4, 0});
    for (; v + 2 <= rows && goes_on(p->deadline, p->stride); v += 2)
        product_rows(p, v, first, end, (tile_shape){1, 2, 0});
    if (v + 1 == rows && goes_on(p->deadline, p->stride)) product_rows(p, v, first, end, (tile_shape){1, 1, 0});
}

/* As multiply_rows, for two pairs. */
LANE_NOINLINE void multiply_pairs(const row_product *p, size_t rows, size_t first, size_t end)
{
    size_t v = 0;
    for (; v + 2 <= rows && goes_on(p->deadline, p->stride); v += 2)
        product_rows(p, v, first, end, (tile_shape){2, 2, 0});
    if (v + 1 == rows && goes_on(p->deadline, p->stride)) product_rows(p, v, first, end, (tile_shape){2, 1, 0});
}

/* --- equations with the zeros of M -------------------------------------------------------------------------------- */

/* The ancestors and descendants of each coordinate, as nv lists of at most nv. */
typedef struct step_tree {
    coordinate_tree coordinates;
    size_t         *n_up, *n_down; /* [nv] lengths of the lists */
    int            *up, *down;     /* [nv x nv] each: ancestors and descendants, without the coordinate itself */
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

/* Sets the lists, which depend on the model only. Elastic joints may couple coordinates of different branches: in a
 * model with them all coordinates below v count as ancestors of v. */
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

/* A matrix J, nv x nv. The factors replace the matrix: u_ik above the diagonal, the rest on and below it. */
typedef struct tree_equations {
    dyn_deadline     deadline;
    const step_tree *tree;
    size_t           nv;
    lane            *J;
    const lane      *scale;      /* [nv] positive sizes with which the pivots are compared */
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

/* Columns first to end - 1 of right sides; the solution replaces them. Rows: those of one part of the model
 * (coordinate_tree.h), or all. */
typedef struct tree_columns {
    lane  *X;
    size_t stride, first, end; /* distance of the rows, in lanes; the columns first to end - 1 */
    size_t first_row, end_row;
} tree_columns;

/* Subtracts from row i of X the rows of X listed in `terms`, each times its entry in row i of J. */
static inline void tree_subtract(const tree_equations *s, const tree_columns *c, size_t i, const int *terms, size_t n)
{
    lane             *row     = c->X + i * c->stride;
    const row_product product = {
        .A = s->J + i * s->nv, .A_term = 1, .X = c->X, .S = row, .stride = c->stride, .n = n, .terms = terms, .Y = row};
    if (n > 0) multiply_rows(&product, 1, c->first, c->end);
}

/* Solves J X = R for the columns c, with the factors of J. X replaces R. */
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
