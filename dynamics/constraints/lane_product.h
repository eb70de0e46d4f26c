/* lane_product.h - multiplies small matrices in lanes, in tiles of a few rows and packs, so that the processor adds to
 * several sums at once. The size of the tiles does not change the results. */
#pragma once
#include "dynamics/math/pack.h"

enum { PRODUCT_ROWS = 4, PRODUCT_PACKS = 2 };

/* The product C = A B, C += A B or C -= A B, with the fields of dyn_matrix_product */
typedef struct lane_product {
    size_t      m, k, n;
    const lane *A;
    size_t      row, inner;
    const lane *B;
    int         add;
    lane       *C;
} lane_product;

/* Computes `rows` rows of `packs` packs of C, from row i and column j on. */
LANE_INLINE void product_packs(const lane_product *p, size_t i, size_t j, const size_t rows, const size_t packs)
{
    pack        sum[PRODUCT_ROWS][PRODUCT_PACKS], b[PRODUCT_PACKS];
    const lane *A = p->A + i * p->row, *B = p->B + j;
    lane       *C = p->C + i * p->n + j;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < packs; c++)
            sum[r][c] = pack_zero();
    for (size_t l = 0; l < p->k; l++, A += p->inner, B += p->n) {
        for (size_t c = 0; c < packs; c++)
            b[c] = pack_load(B + c * PACK);
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < packs; c++)
                sum[r][c] = pack_add_mul(sum[r][c], pack_of(A[r * p->row]), b[c]);
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < packs; c++) {
            lane *to = C + r * p->n + c * PACK;
            pack_store(to, p->add > 0 ? pack_load(to) + sum[r][c] : p->add < 0 ? pack_load(to) - sum[r][c] : sum[r][c]);
        }
}

/* Computes `rows` entries of column j, from row i on. */
LANE_INLINE void product_entries(const lane_product *p, size_t i, size_t j, const size_t rows)
{
    lane        sum[PRODUCT_ROWS];
    const lane *A = p->A + i * p->row, *B = p->B + j;
    for (size_t r = 0; r < rows; r++)
        sum[r] = lane_of(0);
    for (size_t l = 0; l < p->k; l++, A += p->inner, B += p->n)
        for (size_t r = 0; r < rows; r++)
            sum[r] = add_mul(sum[r], A[r * p->row], *B);
    for (size_t r = 0; r < rows; r++) {
        lane *to = p->C + (i + r) * p->n + j;
        *to      = p->add > 0 ? *to + sum[r] : p->add < 0 ? *to - sum[r] : sum[r];
    }
}

/* Computes all columns of `rows` rows, from row i on. */
LANE_INLINE void multiply_rows_of_tile(const lane_product *p, size_t i, const size_t rows)
{
    size_t j = 0;
    for (; j + PRODUCT_PACKS * PACK <= p->n; j += PRODUCT_PACKS * PACK)
        product_packs(p, i, j, rows, PRODUCT_PACKS);
    for (; j + PACK <= p->n; j += PACK)
        product_packs(p, i, j, rows, 1);
    for (; PACK > 1 && j < p->n; j++)
        product_entries(p, i, j, rows);
}
