/* mass_solve.h - inverts the mass matrix M and solves M X = A for many columns, segment by segment (mass_segments.h).
 *
 * This is the elimination M = L^T D L of Featherstone (2008), ch. 6.5, in blocks. Like the elimination by coordinates,
 * it creates no nonzero entry between branches. Let s be the coordinates of a segment and a their ancestors. S starts
 * as M. From the tips to the base,
 *
 *     S_ss = L^T D L,   V = L^-T S_sa,   Y = -D^-1 V,   S_aa += V^T Y,   P = L^-1 Y.
 *
 * P maps accelerations of the ancestors to those of the segment under zero efforts; -Y are the rows s of the factor L
 * of M. A column of M X = -A is solved by Z = A and, from the tips to the base, Z_s = -D^-1 L^-T Z_s, Z_a += V^T Z_s;
 * then, from the base to the tips, X_s = L^-1 Z_s + P X_a. A column without nonzero rows in s and its descendants has
 * Z_s = 0. M^-1 is X for A = -1. Its columns s are computed in the rows of s and of coordinates before s only; for
 * these columns, -P^T is added to Z_a.
 *
 * L^-1 and L^-T are applied by substitution, and M^-1 is found column by column: the errors of products with S_ss^-1 or
 * with (M^-1)_aa grow with the condition of these matrices.
 *
 * The sums that are computed, and their order, depend on the model alone. */
#pragma once
#include "segment_tile.h"
#include <string.h>

enum {
    PANEL = 16 * PACK, /* columns of a panel */
    BLOCK = 8          /* stride of a row of one segment's block: a multiple of PACK */
};

typedef struct mass_blocks {
    segments     segments;
    dyn_deadline deadline;
    size_t       stride; /* stride of the rows of S, P and `inverse`, in lanes */
    lane *S; /* [nv x stride] S below the diagonal, then L and V. Row v has the entries of the ancestors of v, from
                the base on, and of v itself; other entries are scratch */
    lane *P; /* [nv x stride] P; row v has the entries of the ancestors of the segment of v */
    lane *inverse;          /* [nv x stride] M^-1 before it is copied; NULL if stride is nv */
    lane *minus_reciprocal; /* [nv] -1 / D, with the pivots D */
    lane *minus_unit;       /* [SEGMENT x BLOCK] -1 times the unit matrix */
    lane *panel;            /* [2 x nv x PANEL] scratch memory */
} mass_blocks;

/* Returns the stride of the rows of an n-column matrix in working memory: n, or one cache line more. With a stride of a
 * multiple of 512 bytes, the rows would share an eighth of the sets of the first-level cache, or fewer. */
static inline size_t row_stride(size_t n)
{
    enum { LINE = 64 / sizeof(lane) };
    return n * sizeof(lane) % 512 == 0 ? n + LINE : n;
}

static inline mass_blocks mass_blocks_place(arena *a, const dyn_model *m)
{
    const size_t nv = (size_t)m->nv, stride = row_stride(nv);
    const size_t square = nv * stride + PACK; /* rows are read up to the end of their last pack */
    return (mass_blocks){.segments         = segments_place(a, m),
                         .stride           = stride,
                         .S                = arena_take(a, square, sizeof(lane)),
                         .P                = arena_take(a, square, sizeof(lane)),
                         .inverse          = stride == nv ? NULL : arena_take(a, square, sizeof(lane)),
                         .minus_reciprocal = arena_take(a, nv, sizeof(lane)),
                         .minus_unit       = arena_take(a, SEGMENT * BLOCK, sizeof(lane)),
                         .panel            = arena_take(a, 2 * (nv * PANEL + PACK), sizeof(lane))};
}

/* Sets the members of the solver that depend on the scene and not on the state. */
static inline void mass_blocks_prepare(const dyn_scene *scene, mass_blocks *b)
{
    segments_prepare(scene->model, &b->segments);
    b->deadline = scene->deadline;
    for (int i = 0; i < SEGMENT; i++)
        for (int j = 0; j < BLOCK; j++)
            b->minus_unit[i * BLOCK + j] = lane_of(i == j ? -1 : 0);
}

/* Returns a task with the factors of segment s; the caller sets the matrices whose rows the task reads and writes. */
LANE_INLINE segment_task task_of(const mass_blocks *b, const segment *s, unsigned steps)
{
    const size_t offset = (size_t)s->own.first * b->stride;
    return (segment_task){.s     = s,
                          .f     = {.L                = b->S + offset + s->n_ancestors,
                                    .V                = b->S + offset,
                                    .P                = b->P + offset,
                                    .stride           = b->stride,
                                    .minus_reciprocal = b->minus_reciprocal + s->own.first},
                          .steps = steps};
}

/* --- the factors ------------------------------------------------------------------------------------------------ */

/* Factors the lower triangle of a symmetric matrix of n rows, `stride` entries apart: A = L^T D L. From the last
 * pivot to the first, L_ki = a_ki / a_kk and a_ij -= L_ki a_kj. Replaces a_ki by L_ki. n is a constant of the
 * inlined code. */
LANE_INLINE void factor_rows(lane *A, size_t stride, const int n, lane pivot[SEGMENT], lane minus_reciprocal[SEGMENT])
{
    lane a[SEGMENT][SEGMENT];
#pragma GCC unroll 8
    for (int i = 0; i < n; i++)
#pragma GCC unroll 8
        for (int j = 0; j <= i; j++)
            a[i][j] = A[(size_t)i * stride + (size_t)j];
#pragma GCC unroll 8
    for (int k = n - 1; k >= 0; k--) {
        const lane reciprocal = 1.0 / a[k][k];
        pivot[k]              = a[k][k];
        minus_reciprocal[k]   = -reciprocal;
#pragma GCC unroll 8
        for (int i = k - 1; i >= 0; i--) {
            const lane g = a[k][i] * reciprocal;
#pragma GCC unroll 8
            for (int j = i; j >= 0; j--)
                a[i][j] = sub_mul(a[i][j], g, a[k][j]);
            A[(size_t)k * stride + (size_t)i] = g;
        }
    }
}

/* Factors the diagonal block S_ss of a segment. Returns `bad`, the first singular body or -1; in lanes in which it is
 * -1, a singular pivot sets it to the body of the pivot. */
LANE_NOINLINE lane factor_segment(const dyn_model *m, const mass_blocks *b, const segment *s, const lane *M, lane bad)
{
    const size_t stride = b->stride;
    lane        *A      = b->S + (size_t)s->own.first * stride + (size_t)s->n_ancestors;
    lane        *r      = b->minus_reciprocal + s->own.first, pivot[SEGMENT];
    switch (s->own.n) {
    case 1: factor_rows(A, stride, 1, pivot, r); break;
    case 2: factor_rows(A, stride, 2, pivot, r); break;
    case 3: factor_rows(A, stride, 3, pivot, r); break;
    case 4: factor_rows(A, stride, 4, pivot, r); break;
    case 5: factor_rows(A, stride, 5, pivot, r); break;
    case 6: factor_rows(A, stride, 6, pivot, r); break;
    default: factor_rows(A, stride, SEGMENT, pivot, r);
    }
    for (int k = s->own.n - 1; k >= 0; k--)
        bad = first_singular(bad, m, &b->segments.tree, M, s->own.first + k, pivot[k]);
    return bad;
}

/* Eliminates segment s from the rows and columns of its ancestors a: V = L^-T S_sa, Y = -D^-1 V, S_aa += V^T Y, P =
 * L^-1 Y. */
static inline void eliminate_segment(const mass_blocks *b, const segment *s)
{
    segment_task task = task_of(b, s, TILE_LOAD | TILE_UP | TILE_STORE);
    task.from         = (lane_rows){b->S + (size_t)s->own.first * b->stride, b->stride};
    segment_compute(&task, 0, s->n_ancestors);
    task.steps  = TILE_LOAD | TILE_SCALE | TILE_SPREAD | TILE_DOWN;
    task.lower  = true;
    task.others = (lane_rows){b->S, b->stride};
    task.to     = (lane_rows){b->P + (size_t)s->own.first * b->stride, b->stride};
    segment_compute(&task, 0, s->n_ancestors);
}

/* Copies the rows of segment s of M to S, where row v has the entries of the ancestors of v, from the base on. */
static inline void gather_chains(const mass_blocks *b, size_t nv, const segment *s, const lane *M)
{
    const size_t stride = b->stride;
    lane        *to     = b->S + (size_t)s->own.first * stride;
    for (int run = 0; run < s->n_runs; run++) {
        const row_run r    = s->ancestors[run];
        const lane   *from = M + (size_t)s->own.first * nv + r.first;
        for (int k = 0; k < s->own.n; k++)
            for (int c = 0; c < r.n; c += PACK)
                pack_store_some(to + (size_t)k * stride + c, pack_load_some(from + (size_t)k * nv + c, r.n - c),
                                r.n - c);
        to += r.n;
    }
    for (int k = 0; k < s->own.n; k++)
        for (int j = 0; j <= k; j++)
            to[(size_t)k * stride + (size_t)j] = M[(size_t)(s->own.first + k) * nv + (size_t)(s->own.first + j)];
}

/* Factors M. Returns the first body whose pivot is zero up to rounding or negative, or -1. Like all functions below, it
 * leaves its work incomplete if the deadline of the scene passes. */
static inline lane mass_blocks_factor(const dyn_model *m, const mass_blocks *b, const lane *M)
{
    const size_t nv  = (size_t)m->nv;
    lane         bad = lane_of(-1);
    for (int i = 0; i < b->segments.n; i++)
        gather_chains(b, nv, &b->segments.segment[i], M);
    for (int i = b->segments.n - 1; i >= 0 && goes_on(b->deadline, nv); i--) {
        const segment *s = &b->segments.segment[i];
        bad              = factor_segment(m, b, s, M, bad);
        if (s->n_ancestors > 0) eliminate_segment(b, s);
    }
    return bad;
}

/* --- right sides ------------------------------------------------------------------------------------------------- */

/* Columns first to end - 1 of A and X in  X = -M^-1 A. Column c is entry c - first of a row; rows of A and X are
 * `stride` apart. Z overwrites A. */
typedef struct mass_system {
    lane  *A, *X;
    size_t stride;
    int    first, end;    /* the columns first to end - 1 of A and X */
    bool   zeros_are_set; /* true: entries of X that are zero in every state are already set */
} mass_system;

/* Eliminates segment s from columns first to end - 1 of the right sides Z: Z_s = -D^-1 L^-T Z_s, Z_a += V^T Z_s, with
 * the ancestors a of s. */
static inline void eliminate(const mass_blocks *b, const segment *s, mass_system to, int first, int end)
{
    segment_task task = task_of(b, s, TILE_LOAD | TILE_UP | TILE_SCALE | TILE_SPREAD | TILE_STORE);
    task.from         = (lane_rows){to.A + (size_t)s->own.first * to.stride, to.stride};
    task.others       = (lane_rows){to.A, to.stride};
    segment_compute(&task, first, end);
}

/* Computes the rows of segment s of X in some columns: X_s = L^-1 Z_s + P X_a, with the ancestors a of s. X_s^T is also
 * stored at `mirror`, unless that is NULL. */
static inline void substitute(const mass_blocks *b, const segment *s, mass_system to, span columns, lane *mirror)
{
    if (columns.kind == SPAN_APART && to.zeros_are_set) return;
    static const unsigned steps[] = {
        [SPAN_APART] = 0, [SPAN_ZERO] = TILE_GATHER, [SPAN_NONZERO] = TILE_LOAD | TILE_DOWN | TILE_GATHER};
    segment_task task = task_of(b, s, steps[columns.kind]);
    task.from         = (lane_rows){to.A + (size_t)s->own.first * to.stride, to.stride};
    task.others       = (lane_rows){to.X, to.stride};
    task.to           = (lane_rows){to.X + (size_t)s->own.first * to.stride, to.stride};
    task.mirror       = mirror;
    segment_compute(&task, columns.first, columns.end);
}

/* Returns the part of a span that lies in the columns of the system, counted from the system's first column. */
LANE_INLINE span span_within(span columns, mass_system to)
{
    const int first = columns.first < to.first ? to.first : columns.first,
              end   = columns.end < to.end ? columns.end : to.end;
    return (span){columns.kind, first - to.first, end - to.first};
}

/* --- the inverse ------------------------------------------------------------------------------------------------ */

/* Sets Z_a = -P^T in the columns of segment s, for its ancestors a. Z is stored above the diagonal of `inverse`, whose
 * rows are `stride` apart. */
static inline void put_propagation(const mass_blocks *b, const segment *s, lane *inverse, size_t stride)
{
    const lane *P = b->P + (size_t)s->own.first * b->stride;
    for (int run = 0; run < s->n_runs; run++) {
        const row_run r  = s->ancestors[run];
        lane         *to = inverse + (size_t)r.first * stride + (size_t)s->own.first;
        for (int i = 0; i < r.n; i++, P++, to += stride)
            for (int k = 0; k < s->own.n; k++)
                to[k] = -P[(size_t)k * b->stride];
    }
}

/* Computes the diagonal block of segment s in M^-1, (M^-1)_ss = L^-1 D^-1 L^-T + P (M^-1)_as; only its lower triangle
 * is used afterwards. */
static inline void inverse_within(const mass_blocks *b, const segment *s, lane *inverse, size_t stride)
{
    lane        *to   = inverse + (size_t)s->own.first * (stride + 1), block[SEGMENT * BLOCK];
    segment_task task = task_of(b, s, TILE_LOAD | TILE_UP | TILE_SCALE | TILE_DOWN | TILE_GATHER);
    task.from         = (lane_rows){b->minus_unit, BLOCK};
    task.others       = (lane_rows){inverse + s->own.first, stride};
    task.to           = (lane_rows){block, BLOCK};
    segment_compute(&task, 0, s->own.n);
    for (int i = 0; i < s->own.n; i++)
        for (int j = 0; j <= i; j++)
            to[(size_t)i * stride + (size_t)j] = to[(size_t)j * stride + (size_t)i] = block[i * BLOCK + j];
}

/* Computes M^-1 in `unit`: X for A = -1, for each segment in the columns of its block and after it, and the mirror
 * image below the diagonal. X overwrites Z. */
static inline void invert_within(const mass_blocks *b, size_t nv, mass_system unit)
{
    for (int i = b->segments.n - 1; i >= 0 && goes_on(b->deadline, nv); i--) {
        const segment *s = &b->segments.segment[i];
        for (size_t k = 0; k < s->unit_spans.n; k++)
            if (s->unit_spans.span[k].kind == SPAN_NONZERO)
                eliminate(b, s, unit, s->unit_spans.span[k].first, s->unit_spans.span[k].end);
        put_propagation(b, s, unit.X, unit.stride);
    }
    for (int i = 0; i < b->segments.n && goes_on(b->deadline, nv); i++) {
        const segment *s = &b->segments.segment[i];
        inverse_within(b, s, unit.X, unit.stride);
        for (size_t k = 0; k < s->unit_spans.n; k++)
            substitute(b, s, unit, s->unit_spans.span[k], unit.X + s->own.first);
    }
}

/* Computes M^-1, nv x nv. zeros_are_set: as in mass_system. */
static inline void mass_blocks_invert(const mass_blocks *b, size_t nv, bool zeros_are_set, lane *inverse)
{
    lane *X = b->stride == nv ? inverse : b->inverse;
    invert_within(b, nv, (mass_system){X, X, b->stride, 0, (int)nv, X == inverse && zeros_are_set});
    for (size_t i = 0; X != inverse && i < nv && goes_on(b->deadline, nv); i++)
        memcpy(inverse + i * nv, X + i * b->stride, nv * sizeof *X);
}

/* --- derivatives of tau ------------------------------------------------------------------------------------------ */

/* Computes X = -M^-1 A, where A is a derivative of tau with respect to the coordinates, in all columns at once. */
static inline void solve_columns(const mass_blocks *b, size_t nv, mass_system to)
{
    const segments *all = &b->segments;
    for (int i = all->n - 1; i >= 0 && goes_on(b->deadline, nv); i--) {
        const segment *s = &all->segment[i];
        for (size_t k = 0; k < s->derivative_spans.n; k++) {
            const span columns = span_within(s->derivative_spans.span[k], to);
            if (columns.kind == SPAN_NONZERO) eliminate(b, s, to, columns.first, columns.end);
        }
    }
    for (int i = 0; i < all->n && goes_on(b->deadline, nv); i++) {
        const segment *s = &all->segment[i];
        for (size_t k = 0; k < s->derivative_spans.n; k++)
            substitute(b, s, to, span_within(s->derivative_spans.span[k], to), NULL);
    }
}

/* Computes X = -M^-1 A like solve_columns, PANEL columns at a time, which are copied to b->panel and back, so that the
 * rows of a column are close together in memory. */
static inline void solve_panels(const mass_blocks *b, size_t nv, mass_system to)
{
    mass_system part = {b->panel, b->panel + nv * PANEL + PACK, PANEL, to.first, to.first, false};
    while (part.end < to.end && goes_on(b->deadline, nv)) {
        part.first          = part.end;
        part.end            = to.end - part.first < PANEL ? to.end : part.first + PANEL;
        const size_t offset = (size_t)(part.first - to.first), bytes = (size_t)(part.end - part.first) * sizeof(lane);
        for (size_t i = 0; i < nv; i++)
            memcpy(part.A + i * PANEL, to.A + i * to.stride + offset, bytes);
        solve_columns(b, nv, part);
        for (size_t i = 0; i < nv; i++)
            memcpy(to.X + i * to.stride + offset, part.X + i * PANEL, bytes);
    }
}

/* Computes X = -M^-1 A, where A is a derivative of tau with respect to the coordinates. If rows are a multiple of 1 kB
 * apart, the rows of a column share a few sets of the caches, which panels avoid. */
static inline void solve_derivative(const mass_blocks *b, size_t nv, mass_system to)
{
    if (nv * sizeof(lane) % 1024 == 0)
        solve_panels(b, nv, to);
    else
        solve_columns(b, nv, to);
}

/* Computes X = -M^-1 A, where A is the derivative of tau with respect to the pose or the linear velocity of a floating
 * base on the world. Such a change only changes the acceleration of the base's origin, in the axes of the base, by some
 * y. So A = M_l y, where M_l are the columns of M of the three linear axes; the rows of these axes are A_l = m y, with
 * the mass m of the tree. */
static inline void solve_floating_base(const mass_blocks *b, mass_system to, lane mass)
{
    const lane reciprocal = 1.0 / mass;
    for (int i = 0; i < b->segments.n; i++)
        substitute(b, &b->segments.segment[i], to, (span){SPAN_APART, 0, to.end - to.first}, NULL);
    for (size_t i = 0; i < 3; i++)
        for (size_t c = 0; c < (size_t)(to.end - to.first); c++)
            to.X[i * to.stride + c] = -(to.A[i * to.stride + c] * reciprocal);
}

/* Computes X = -M^-1 A for the six columns of A, the derivative of tau with respect to a wrench on `body`. */
static inline void solve_wrench(const dyn_model *m, const mass_blocks *b, mass_system to, int body)
{
    const segments *all = &b->segments;
    const size_t    nv  = (size_t)m->nv;
    const int       v = m->dense ? m->nv - 1 : last_coordinate_of(m, body), last = v < 0 ? -1 : all->segment_of[v];
    for (int i = last; i >= 0; i = all->segment[i].parent)
        eliminate(b, &all->segment[i], to, 0, 6);
    for (int i = 0; i < all->n; i++) {
        const segment  *s     = &all->segment[i];
        const bool      apart = last < 0 || s->root != all->segment[last].root;
        const span_kind kind = apart ? SPAN_APART : all->unit[(size_t)i * nv + (size_t)last] ? SPAN_NONZERO : SPAN_ZERO;
        substitute(b, s, to, (span){kind, 0, 6}, NULL);
    }
}
