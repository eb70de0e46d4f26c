/* transpose.c - copies between rows of numbers, as callers have them, and lanes, and finds numbers that are not
 * finite or out of bounds. A tile of W rows of W numbers is transposed in registers by exchanging blocks of halving
 * size (Eklundh 1972). */
#include "kernels.h"
#include "dynamics/recursion/workspace.h"
#include <string.h>

#ifndef LANE_FOR_TESTS /* rows have real numbers only */

/* A lane at an address that need not be aligned. */
typedef lane unaligned_lane __attribute__((aligned(1), may_alias));

/* --- a tile of W x W numbers: at first x[r] is row r, afterwards x[k] is column k ---------------------------------
 */

/* For exchanging blocks of width d between two rows at distance d: source of lane l of the first row (LOW) and of the
 * second (HIGH). Numbers below LANES are lanes of the first row, LANES + l are lanes of the second. */
#define LOW(l, d)  ((l) & (d) ? LANES + (l) - (d) : (l))
#define HIGH(l, d) ((l) & (d) ? LANES + (l) : (l) + (d))
#if LANES == 2
#define EACH_LANE(f, d) f(0, d), f(1, d)
#elif LANES == 4
#define EACH_LANE(f, d) f(0, d), f(1, d), f(2, d), f(3, d)
#elif LANES == 8
#define EACH_LANE(f, d) f(0, d), f(1, d), f(2, d), f(3, d), f(4, d), f(5, d), f(6, d), f(7, d)
#endif
#define EXCHANGE(x, d)                                                                                                 \
    for (int i = 0; i < LANES; i++)                                                                                    \
        if (!(i & (d))) {                                                                                              \
            lane a = (x)[i], b = (x)[i + (d)];                                                                         \
            (x)[i]       = __builtin_shufflevector(a, b, EACH_LANE(LOW, d));                                           \
            (x)[i + (d)] = __builtin_shufflevector(a, b, EACH_LANE(HIGH, d));                                          \
        }

LANE_INLINE void transpose_halves(lane x[LANES])
{
#if LANES > 2
    EXCHANGE(x, 1)
#endif
#if LANES > 4
    EXCHANGE(x, 2)
#endif
    (void)x;
}

LANE_INLINE void transpose_tile(lane x[LANES])
{
    transpose_halves(x);
#if LANES > 1
    EXCHANGE(x, LANES / 2)
#endif
}

/* Returns the first column of the next tile. With at least W = LANES columns all tiles are full; the last tile overlaps
 * the one before. With fewer columns, reading a tile may also read the numbers behind each row. Writing a tile also
 * writes behind each row, before the next row overwrites that place. */
LANE_INLINE size_t next_column(size_t column, size_t n)
{
    size_t next = column + LANES;
    return next < n && next + LANES > n ? n - LANES : next;
}
LANE_INLINE size_t columns_of(size_t n)
{
    return n < LANES ? n : LANES;
}

/* --- rows to lanes ----------------------------------------------------------------------------------------------- */

/* JOIN(a, b) is the lane whose first half is a and whose second half is b. a and b are half rows of a tile. */
#if LANES == 2
typedef double half;
#define JOIN(a, b) ((lane){a, b})
#elif LANES == 4
typedef __m128d half;
#define JOIN(a, b) (lane) _mm256_insertf128_pd(_mm256_castpd128_pd256(a), b, 1)
#elif LANES == 8
typedef __m256d half;
#define JOIN(a, b) (lane) _mm512_insertf64x4(_mm512_castpd256_pd512(a), b, 1)
#endif

/* Loads a tile whose rows are `bytes` apart, and transposes it. The last exchange happens while halves are loaded:
 * processors have more units for loads than for moves across lanes. */
LANE_INLINE void load_tile(const char *rows, size_t bytes, lane x[LANES])
{
#if LANES == 1
    x[0] = *(const unaligned_lane *)(const void *)rows;
    (void)bytes;
#else
    typedef half unaligned_half __attribute__((aligned(1), may_alias));
    for (size_t r = 0; r < LANES / 2; r++) {
        const unaligned_half *a = (const void *)(rows + r * bytes), *b = (const void *)(rows + (r + LANES / 2) * bytes);
        x[r]             = JOIN(a[0], b[0]);
        x[r + LANES / 2] = JOIN(a[1], b[1]);
    }
    transpose_halves(x);
#endif
}

/* Copies a tile to memory in which LANES numbers can be read from the beginning of each row. */
LANE_NOINLINE const char *copy_tile(const char *rows, size_t bytes, lane copy[LANES])
{
    for (size_t r = 0; r < LANES; r++) {
        copy[r] = (lane){0};
        memcpy(&copy[r], rows + r * bytes, bytes);
    }
    return (const char *)copy;
}

/* Two sums of 0 times x over all numbers x. A sum is 0 unless some x is not finite. There are two, so that an addition
 * need not wait for the one before; they are no array, because compilers would keep an array in memory. */
typedef struct finite_sums {
    lane even, odd;
} finite_sums;

LANE_INLINE void sum_up(finite_sums *s, size_t k, lane x)
{
    if (k % 2)
        s->odd += 0 * x;
    else
        s->even += 0 * x;
}

/* True if all numbers in the first `lanes` lanes were finite. */
LANE_INLINE bool all_finite(const finite_sums *s, size_t lanes)
{
    lane   all = s->even + s->odd;
    double one = 0;
    for (size_t l = 0; l < lanes; l++)
#if LANES == 1
        one += all;
#else
        one += all[l];
#endif
    return !isnan(one);
}

bool LANE_NAME(from_rows)(const dyn_rows *from, double *to, size_t entries, size_t blocks)
{
    const char *rows = from->begin, *end = from->end;
    const int  *order = from->order;
    size_t      n = from->n, bytes = n * sizeof(double), columns = columns_of(n);
    finite_sums sum = {lane_of(0), lane_of(0)};
    lane        x[LANES], copy[LANES];
    for (size_t block = 0; block < blocks; block++, rows += LANES * bytes) {
        lane *lanes = block_out(to, block, entries);
        bool  wide  = n >= LANES || (size_t)(end - rows) >= (LANES - 1) * bytes + sizeof(lane);
        for (size_t first = 0; first < n; first = next_column(first, n)) {
            load_tile(wide ? rows + first * sizeof(double) : copy_tile(rows, bytes, copy), wide ? bytes : sizeof(lane),
                      x);
            for (size_t k = 0; k < LANES; k++) {
                if (k >= columns) break;
                lanes[order ? (size_t)order[first + k] : first + k] = x[k];
                sum_up(&sum, k, x[k]);
            }
        }
    }
    return all_finite(&sum, LANES);
}

/* --- lanes to rows ----------------------------------------------------------------------------------------------- */

/* Stores the first `rows` rows of a tile, W numbers each: a row may overwrite the beginning of the next. Of the last
 * `narrow` rows only `columns` numbers are stored, since the array ends behind them. */
LANE_INLINE void store_tile(const lane x[LANES], size_t n, size_t columns, size_t rows, size_t narrow, char *to)
{
    for (size_t r = 0; r < LANES; r++) {
        if (r >= rows) break;
        lane row = x[r];
        if (r + narrow < rows)
            *(unaligned_lane *)(void *)(to + r * n * sizeof(double)) = row;
        else
            memcpy(to + r * n * sizeof(double), &row, columns * sizeof(double));
    }
}

/* Writes `rows` rows, from whole blocks or from a single block with fewer rows. Returns false if a number is not
 * finite. */
static bool store_rows(const lane *lanes, size_t entries, size_t n, const int *order, char *to, size_t rows)
{
    size_t columns   = columns_of(n),
           narrow    = n < LANES && n > 0 ? (LANES + n - 1) / n - 1 : 0; /* last rows, where no whole lane fits */
    size_t      here = rows < LANES ? rows : LANES;
    finite_sums sum  = {lane_of(0), lane_of(0)};
    lane        x[LANES];
    for (; rows > 0; rows -= here, lanes += entries, to += LANES * n * sizeof(double)) {
        size_t last = narrow + here > rows ? narrow + here - rows : 0;
        for (size_t first = 0; first < n; first = next_column(first, n)) {
            for (size_t k = 0; k < LANES; k++) {
                x[k] = (lane){0};
                if (k >= columns) continue;
                x[k] = lanes[order ? (size_t)order[first + k] : first + k];
                sum_up(&sum, k, x[k]);
            }
            transpose_tile(x);
            store_tile(x, n, columns, here, last, to + first * sizeof(double));
        }
    }
    return all_finite(&sum, here);
}

bool LANE_NAME(to_rows)(const double *from, size_t entries, size_t n, const int *order, void *to, size_t rows)
{
    size_t whole = rows / LANES, bytes = whole * LANES * n * sizeof(double);
    bool   good = store_rows(block_in(from, 0, entries), entries, n, order, to, whole * LANES);
    return store_rows(block_in(from, whole, entries), entries, n, order, (char *)to + bytes, rows % LANES) && good;
}

/* --- bounds ------------------------------------------------------------------------------------------------------ */

bool LANE_NAME(bounded)(const double *from, size_t entries, const dyn_bound *bound, size_t n, size_t blocks)
{
    lane_mask beyond = {0};
    for (size_t block = 0; block < blocks; block++) {
        const lane *lanes = block_in(from, block, entries);
        for (size_t i = 0; i < n; i++) {
            lane s = bound[i].ratio * lanes[bound[i].entry] + bound[i].offset;
            beyond |= lane_less(lane_of(bound[i].most), lane_abs(s));
        }
    }
#if LANES == 1
    return !beyond;
#else
    int64_t any = 0;
    for (int l = 0; l < LANES; l++)
        any |= beyond[l];
    return !any;
#endif
}
#endif
