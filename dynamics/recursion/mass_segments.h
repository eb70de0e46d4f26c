/* mass_segments.h - divides the tree of coordinates into segments, the blocks of the block algorithms of mass_solve.h.
 *
 * A segment is a sequence of at most SEGMENT consecutive coordinates. Each coordinate but the last is the ancestor of
 * the next one and of no other one. All coordinates of a segment have the same ancestors outside of it.
 *
 * A column of a matrix is called nonzero at a segment if it has nonzero rows in the segment or in its descendants. In
 * the unit matrix, the column of a coordinate is nonzero at the segment of the coordinate and at the ancestors of this
 * segment. In a derivative of tau, it is also nonzero at the descendants of this segment and, if an elastic joint
 * couples the coordinate with another one, at the other one's segment and at the ancestors of that segment. */
#pragma once
#include "coordinate_tree.h"
#include <string.h>

enum { SEGMENT = 7 };

/* A range of consecutive rows of a matrix. */
typedef struct row_run {
    int first, n;
} row_run;

/* Kind of the columns of a matrix A, by the place of their nonzero rows relative to a segment. */
typedef enum span_kind {
    SPAN_APART,  /* zero at all segments of the segment's branch (its root): these rows of M^-1 A are zero */
    SPAN_ZERO,   /* zero at this segment, but not at another segment of the same branch */
    SPAN_NONZERO /* nonzero at this segment */
} span_kind;

/* Neighbouring columns of one kind. */
typedef struct span {
    span_kind kind;
    int       first, end;
} span;

typedef struct span_list {
    size_t n;
    span  *span; /* [n] spans in ascending order of columns */
} span_list;

typedef struct segment {
    row_run   own;         /* the coordinates of the segment */
    int       parent;      /* index of the segment that contains the ancestor of the first coordinate, or -1 */
    int       root;        /* index of the segment at the base of this branch, which has no ancestors */
    int       n_ancestors; /* number of ancestors of the first coordinate */
    int       n_runs;
    row_run  *ancestors;        /* [n_runs] ancestors of the segment's coordinates in ascending order */
    span_list unit_spans;       /* spans of the columns of the unit matrix from the end of the segment on */
    span_list derivative_spans; /* spans of all columns of a derivative of tau */
} segment;

typedef struct segments {
    coordinate_tree tree;
    int             n;
    segment        *segment;    /* [n] ancestors before descendants; the memory is for nv segments */
    int            *segment_of; /* [nv] index of the segment of each coordinate */
    int            *children;   /* [nv] scratch: number of coordinates whose ancestor each coordinate is */
    row_run        *runs;       /* [nv x nv] memory for the ancestors of all segments */
    span           *spans;      /* [2 x nv x nv] memory for the spans of all segments */
    bool           *unit;       /* [nv x nv] entry s nv + t is true if the columns of the unit matrix in segment t
                                   are nonzero at segment s */
    bool *derivative;           /* [nv x nv] like `unit`, for a derivative of tau with respect to the coordinates */
} segments;

static inline segments segments_place(arena *a, const dyn_model *m)
{
    size_t nv = (size_t)m->nv;
    return (segments){.tree       = coordinate_tree_place(a, m),
                      .segment    = arena_take(a, nv, sizeof(segment)),
                      .segment_of = arena_take(a, nv, sizeof(int)),
                      .children   = arena_take(a, nv, sizeof(int)),
                      .runs       = arena_take(a, nv * nv, sizeof(row_run)),
                      .spans      = arena_take(a, 2 * nv * nv, sizeof(span)),
                      .unit       = arena_take(a, nv * nv, sizeof(bool)),
                      .derivative = arena_take(a, nv * nv, sizeof(bool))};
}

/* Appends the segment of coordinates first .. end - 1. */
static inline void segment_add(segments *all, size_t nv, int first, int end)
{
    const int up = all->tree.ancestor[first], s = all->n++;
    segment  *to = &all->segment[s];
    *to          = (segment){.own       = {first, end - first},
                             .parent    = up < 0 ? -1 : all->segment_of[up],
                             .root      = s,
                             .ancestors = all->runs + (size_t)s * nv};
    for (int v = first; v < end; v++)
        all->segment_of[v] = s;
    if (up < 0) return;
    const segment *parent = &all->segment[to->parent];
    to->root              = parent->root;
    to->n_ancestors       = parent->n_ancestors + parent->own.n;
    to->n_runs            = parent->n_runs;
    for (int run = 0; run < parent->n_runs; run++)
        to->ancestors[run] = parent->ancestors[run];
    row_run *last = to->n_runs > 0 ? &to->ancestors[to->n_runs - 1] : NULL;
    if (last && last->first + last->n == parent->own.first)
        last->n += parent->own.n;
    else
        to->ancestors[to->n_runs++] = parent->own;
}

/* Divides the coordinates into segments. A chain that is too long for one is divided into segments of about the same
 * length. */
static inline void cut_segments(const dyn_model *m, segments *all)
{
    const int *up = all->tree.ancestor;
    for (int v = 0; v < m->nv; v++)
        all->children[v] = 0;
    for (int v = 0; v < m->nv; v++)
        if (up[v] >= 0) all->children[up[v]]++;
    all->n = 0;
    for (int first = 0, end = 0; first < m->nv; first = end) {
        for (end = first + 1; end < m->nv && up[end] == end - 1 && all->children[end - 1] == 1;)
            end++;
        const int parts = (end - first + SEGMENT - 1) / SEGMENT;
        for (int p = 0; p < parts; p++)
            segment_add(all, (size_t)m->nv, first + (end - first) * p / parts, first + (end - first) * (p + 1) / parts);
    }
}

/* Sets nonzero[s nv + t] for segment s and all its ancestors. */
static inline void mark_to_base(const segments *all, size_t nv, int s, int t, bool *nonzero)
{
    for (; s >= 0; s = all->segment[s].parent)
        nonzero[(size_t)s * nv + (size_t)t] = true;
}

static inline void find_nonzero_segments(const dyn_model *m, const segments *all)
{
    const size_t nv = (size_t)m->nv;
    memset(all->unit, 0, nv * nv * sizeof *all->unit);
    memset(all->derivative, 0, nv * nv * sizeof *all->derivative);
    for (int t = 0; t < all->n; t++) {
        mark_to_base(all, nv, t, t, all->unit);
        mark_to_base(all, nv, t, t, all->derivative);
        for (int s = t; s >= 0; s = all->segment[s].parent)
            all->derivative[(size_t)t * nv + (size_t)s] = true;
    }
    for (size_t i = 0; i < m->n_couplings; i++) {
        const int s = all->segment_of[m->coupling[i].v], t = all->segment_of[m->coupling[i].v_theta];
        mark_to_base(all, nv, s, t, all->derivative);
        mark_to_base(all, nv, t, s, all->derivative);
    }
}

/* Lists the spans of segment s in the columns of segment t and all later ones. `nonzero`: the array `unit` or
 * `derivative`. */
static inline span_list list_spans(const segments *all, size_t nv, int s, int t, const bool *nonzero, span *spans)
{
    const bool *own = nonzero + (size_t)s * nv, *root = nonzero + (size_t)all->segment[s].root * nv;
    span_list   list = {0, spans};
    for (; t < all->n; t++) {
        const segment  *columns = &all->segment[t];
        const span_kind kind    = own[t] ? SPAN_NONZERO : root[t] ? SPAN_ZERO : SPAN_APART;
        if (list.n == 0 || spans[list.n - 1].kind != kind)
            spans[list.n++] = (span){.kind = kind, .first = columns->own.first};
        spans[list.n - 1].end = columns->own.first + columns->own.n;
    }
    return list;
}

/* Sets the segments, which depend on the model only. */
static inline void segments_prepare(const dyn_model *m, segments *all)
{
    const size_t nv = (size_t)m->nv;
    coordinate_tree_prepare(m, &all->tree);
    cut_segments(m, all);
    find_nonzero_segments(m, all);
    for (int s = 0; s < all->n; s++) {
        span *spans                      = all->spans + 2 * (size_t)s * nv;
        all->segment[s].unit_spans       = list_spans(all, nv, s, s + 1, all->unit, spans);
        all->segment[s].derivative_spans = list_spans(all, nv, s, 0, all->derivative, spans + nv);
    }
}
