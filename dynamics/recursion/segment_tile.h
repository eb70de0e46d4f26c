/* segment_tile.h - computes the rows of one segment (mass_segments.h) of a matrix in registers.
 *
 * A tile y holds all rows of the segment in a few packs (pack.h) of columns. A task is a set of the steps TILE_...,
 * which are taken in the order of their values. No step mixes columns, so the results have the same bits for tiles of
 * any width. */
#pragma once
#include "dynamics/math/pack.h"
#include "mass_segments.h"

/* The steps of a task. b are the rows of the segment's ancestors, in the same matrix or another one. L, D, V and P are
 * the factors of mass_solve.h. */
enum {
    TILE_LOAD   = 1,  /* y = rows of `from`; without this step y starts as 0 */
    TILE_UP     = 2,  /* y = L^-T y */
    TILE_SCALE  = 4,  /* y = -D^-1 y */
    TILE_SPREAD = 8,  /* b += V^T y */
    TILE_STORE  = 16, /* rows of `from` = y */
    TILE_DOWN   = 32, /* y = L^-1 y */
    TILE_GATHER = 64  /* y += P b */
};

typedef struct lane_rows {
    lane  *row;
    size_t stride; /* stride of the rows, in lanes */
} lane_rows;

/* The factors of a segment. */
typedef struct segment_factors {
    const lane *L, *V, *P;        /* rows of the segment in the factors of mass_solve.h */
    size_t      stride;           /* stride of these rows, in lanes */
    const lane *minus_reciprocal; /* -1 / D for the coordinates of the segment */
} segment_factors;

typedef struct segment_task {
    const segment  *s;
    segment_factors f;
    unsigned        steps;
    bool            lower;  /* TILE_SPREAD leaves out entries of b above the diagonal */
    lane_rows       from;   /* rows of the segment that y is loaded from */
    lane_rows       others; /* all rows, one per coordinate, of the matrix that contains the rows b */
    lane_rows       to;     /* rows of the segment to which the final y is stored; row NULL: not stored */
    lane           *mirror; /* y^T is also stored here, with the stride of `to`; NULL: not stored */
} segment_task;

/* Number of packs in a row of a tile of n rows, such that the tile, one row of b and, with one lane, one factor fit
 * into the registers. */
enum { TILE_MOST = 6 };
#define TILE_FIT(n)   ((LANE_REGISTERS - (PACK > 1)) / ((n) + 1))
#define TILE_PACKS(n) (TILE_FIT(n) < TILE_MOST ? TILE_FIT(n) : TILE_MOST)

typedef pack tile[SEGMENT][TILE_MOST];

/* Loads the tile y, n rows of C packs each, from column c on of the rows `from`. In this and the functions below, n and
 * C are constants of the inlined code. */
LANE_INLINE void tile_load(tile y, const int n, const int C, lane_rows from, int c)
{
#pragma GCC unroll 8
    for (int r = 0; r < n; r++)
#pragma GCC unroll 8
        for (int t = 0; t < C; t++)
            y[r][t] = pack_load(from.row + (size_t)r * from.stride + c + t * PACK);
}

LANE_INLINE void tile_clear(tile y, const int n, const int C)
{
#pragma GCC unroll 8
    for (int r = 0; r < n; r++)
#pragma GCC unroll 8
        for (int t = 0; t < C; t++)
            y[r][t] = pack_zero();
}

/* Stores the first `entries` lanes of a row of the tile; only its last pack may be stored in part. */
LANE_INLINE void tile_store_row(lane *to, const pack *y, const int C, int entries)
{
#pragma GCC unroll 8
    for (int t = 0; t < C - 1; t++)
        pack_store(to + t * PACK, y[t]);
    pack_store_some(to + (C - 1) * PACK, y[C - 1], entries - (C - 1) * PACK);
}

/* Stores the tile in columns c to end - 1 of the rows `to`. */
LANE_INLINE void tile_store(const tile y, const int n, const int C, lane_rows to, int c, int end)
{
#pragma GCC unroll 8
    for (int r = 0; r < n; r++)
        tile_store_row(to.row + (size_t)r * to.stride + c, y[r], C, end - c);
}

/* Stores the first `entries` columns of the tile as rows of `to`: the transpose of the tile. */
LANE_INLINE void tile_store_transposed(const tile y, const int n, const int C, lane_rows to, int entries)
{
#pragma GCC unroll 8
    for (int t = 0; t < C; t++)
#pragma GCC unroll 8
        for (int r = 0; r < n; r++)
            pack_scatter(to.row + (size_t)(t * PACK) * to.stride + r, to.stride, y[r][t], entries - t * PACK);
}

/* Sets y = L^-T y: from the last row k to the first, y_i -= L_ki y_k for i < k. */
LANE_INLINE void tile_up(tile y, const int n, const int C, const segment_task *task)
{
#pragma GCC unroll 8
    for (int k = n - 1; k > 0; k--)
#pragma GCC unroll 8
        for (int i = k - 1; i >= 0; i--) {
            const pack l = pack_of(task->f.L[(size_t)k * task->f.stride + (size_t)i]);
#pragma GCC unroll 8
            for (int t = 0; t < C; t++)
                y[i][t] = pack_sub_mul(y[i][t], l, y[k][t]);
        }
}

/* Sets y = L^-1 y: from the first row i to the last, y_k -= L_ki y_i for k > i. */
LANE_INLINE void tile_down(tile y, const int n, const int C, const segment_task *task)
{
#pragma GCC unroll 8
    for (int i = 0; i < n - 1; i++)
#pragma GCC unroll 8
        for (int k = i + 1; k < n; k++) {
            const pack l = pack_of(task->f.L[(size_t)k * task->f.stride + (size_t)i]);
#pragma GCC unroll 8
            for (int t = 0; t < C; t++)
                y[k][t] = pack_sub_mul(y[k][t], l, y[i][t]);
        }
}

/* Sets y = -D^-1 y. */
LANE_INLINE void tile_scale(tile y, const int n, const int C, const segment_task *task)
{
#pragma GCC unroll 8
    for (int r = 0; r < n; r++) {
        const pack d = pack_of(task->f.minus_reciprocal[r]);
#pragma GCC unroll 8
        for (int t = 0; t < C; t++)
            y[r][t] = d * y[r][t];
    }
}

/* Adds sum_k V_ki y_k to row b_i of each ancestor i of the segment. */
LANE_INLINE void tile_spread(const tile y, const int n, const int C, const segment_task *task, int c, int end)
{
    const size_t apart = task->f.stride, stride = task->others.stride;
    const lane  *V     = task->f.V;
    int          depth = 0; /* number of ancestors before i */
    for (int run = 0; run < task->s->n_runs; run++) {
        int   left = task->s->ancestors[run].n;
        lane *row  = task->others.row + (size_t)task->s->ancestors[run].first * stride + c;
        if (task->lower && depth < c) {
            const int skip = c - depth < left ? c - depth : left;
            left -= skip, depth += skip, V += skip, row += (size_t)skip * stride;
        }
        for (; left > 0; left--, depth++, V++, row += stride) {
            pack b[TILE_MOST];
#pragma GCC unroll 8
            for (int t = 0; t < C; t++)
                b[t] = pack_load(row + t * PACK);
#pragma GCC unroll 8
            for (int k = 0; k < n; k++) {
                const pack v = pack_of(V[(size_t)k * apart]);
#pragma GCC unroll 8
                for (int t = 0; t < C; t++)
                    b[t] = pack_add_mul(b[t], v, y[k][t]);
            }
            tile_store_row(row, b, C, end - c);
        }
    }
}

/* Adds sum_i P_ki b_i over the ancestors i of the segment to each row y_k. */
LANE_INLINE void tile_gather(tile y, const int n, const int C, const segment_task *task, int c)
{
    const lane *P = task->f.P;
    for (int run = 0; run < task->s->n_runs; run++) {
        const lane *row = task->others.row + (size_t)task->s->ancestors[run].first * task->others.stride + c;
        for (int left = task->s->ancestors[run].n; left > 0; left--, P++, row += task->others.stride) {
            pack b[TILE_MOST];
#pragma GCC unroll 8
            for (int t = 0; t < C; t++)
                b[t] = pack_load(row + t * PACK);
#pragma GCC unroll 8
            for (int k = 0; k < n; k++) {
                const pack p = pack_of(P[(size_t)k * task->f.stride]);
#pragma GCC unroll 8
                for (int t = 0; t < C; t++)
                    y[k][t] = pack_add_mul(y[k][t], p, b[t]);
            }
        }
    }
}

/* Does the steps of a task for columns c to end - 1, which must fit in C packs; only the last pack may be filled in
 * part. */
LANE_INLINE void tile_compute(const segment_task *task, const int n, const int C, int c, int end)
{
    const unsigned steps = task->steps;
    tile           y;
    if (steps & TILE_LOAD)
        tile_load(y, n, C, task->from, c);
    else
        tile_clear(y, n, C);
    if (steps & TILE_UP) tile_up(y, n, C, task);
    if (steps & TILE_SCALE) tile_scale(y, n, C, task);
    if (steps & TILE_SPREAD) tile_spread(y, n, C, task, c, end);
    if (steps & TILE_STORE) tile_store(y, n, C, task->from, c, end);
    if (steps & TILE_DOWN) tile_down(y, n, C, task);
    if (steps & TILE_GATHER) tile_gather(y, n, C, task, c);
    if (task->to.row) tile_store(y, n, C, task->to, c, end);
    if (task->mirror)
        tile_store_transposed(y, n, C, (lane_rows){task->mirror + (size_t)c * task->to.stride, task->to.stride},
                              end - c);
}

/* Does the steps of a task for columns c to end - 1, tile by tile. Remaining packs that do not fill a tile are computed
 * one at a time. */
LANE_INLINE void tiles_compute(const segment_task *task, const int n, int c, int end)
{
    for (; end - c > (TILE_PACKS(n) - 1) * PACK && TILE_PACKS(n) > 1; c += TILE_PACKS(n) * PACK)
        tile_compute(task, n, TILE_PACKS(n), c, end - c < TILE_PACKS(n) * PACK ? end : c + TILE_PACKS(n) * PACK);
    for (; c < end; c += PACK)
        tile_compute(task, n, 1, c, end - c < PACK ? end : c + PACK);
}

/* Does the steps of a task for columns c to end - 1. Rows are read up to the end of their last pack, possibly after
 * `end`. */
LANE_NOINLINE void segment_compute(const segment_task *task, int c, int end)
{
    switch (task->s->own.n) {
    case 1: tiles_compute(task, 1, c, end); break;
    case 2: tiles_compute(task, 2, c, end); break;
    case 3: tiles_compute(task, 3, c, end); break;
    case 4: tiles_compute(task, 4, c, end); break;
    case 5: tiles_compute(task, 5, c, end); break;
    case 6: tiles_compute(task, 6, c, end); break;
    default: tiles_compute(task, SEGMENT, c, end);
    }
}
