/* row_products.h - multiplies matrices row by row, with tiles of the result in registers. Part of step.c.
 *
 * A tile has packs of two rows. Sums run in the order of the terms whatever the tile, so that PACK changes no bits. */
#pragma once
#include "dynamics/math/pack.h"

enum {
    TILE  = LANE_REGISTERS == 32 ? 8 : 4, /* packs of a tile: two rows of it take half of the registers */
    STRIP = TILE * PACK                   /* columns of a tile */
};

/* The product Y = S - A X, where sums run over the listed terms, or over the first n; for one pair X, Y or for two. */
typedef struct row_product {
    dyn_deadline deadline;      /* past it rows are not computed */
    const lane  *A, *X, *S;     /* S NULL: zeros. S may be Y, unless the last pack of a row overlaps the one before */
    size_t       A_row, A_term; /* entry (v, e) of A is A[v A_row + e A_term] */
    size_t       stride;        /* of the rows of X */
    size_t       n;             /* number of terms */
    const int   *terms;         /* NULL: 0 to n - 1 */
    lane        *Y;
    size_t       Y_row;          /* stride of the rows of Y and S */
    size_t       X_pair, Y_pair; /* the second pair begins so many lanes after the first; 0: there is one */
} row_product;

/* The shape of a tile: constants of the inlined code. */
typedef struct tile_shape {
    int pairs, rows, packs;
} tile_shape;

/* Computes a tile that begins at row v and column c. */
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

/* Computes the entry (v, c) of Y, or of the second Y. */
static inline void product_entry(const row_product *p, size_t v, size_t c, size_t pair)
{
    lane x = p->S ? p->S[v * p->Y_row + c] : lane_of(0);
    for (size_t e = 0; e < p->n; e++) {
        const size_t term = p->terms ? (size_t)p->terms[e] : e;
        x = sub_mul(x, p->A[v * p->A_row + term * p->A_term], p->X[pair * p->X_pair + term * p->stride + c]);
    }
    p->Y[pair * p->Y_pair + v * p->Y_row + c] = x;
}

/* Computes rows from v on, in the columns first to end - 1; the shape has the numbers of rows and of pairs. */
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

/* Computes `rows` rows in the columns first to end - 1. */
LANE_NOINLINE void multiply_rows(const row_product *p, size_t rows, size_t first, size_t end)
{
    size_t v = 0;
    for (; v + 4 <= rows && goes_on(p->deadline, p->stride); v += 4)
        product_rows(p, v, first, end, (tile_shape){1, 4, 0});
    for (; v + 2 <= rows && goes_on(p->deadline, p->stride); v += 2)
        product_rows(p, v, first, end, (tile_shape){1, 2, 0});
    if (v + 1 == rows && goes_on(p->deadline, p->stride)) product_rows(p, v, first, end, (tile_shape){1, 1, 0});
}

/* The same for two pairs. */
LANE_NOINLINE void multiply_pairs(const row_product *p, size_t rows, size_t first, size_t end)
{
    size_t v = 0;
    for (; v + 2 <= rows && goes_on(p->deadline, p->stride); v += 2)
        product_rows(p, v, first, end, (tile_shape){2, 2, 0});
    if (v + 1 == rows && goes_on(p->deadline, p->stride)) product_rows(p, v, first, end, (tile_shape){2, 1, 0});
}
