/* mass_solve.h - solves M X = A for several columns with M = L^T D L (mass_factor.h): L^T Z = A, then L X = D^-1 Z
 * (Featherstone 2008, ch. 6.5).
 *
 * Column c of A = dtau/dx has entries in related coordinates only: the ancestors and the descendants of c, and the
 * coordinate that an elastic joint couples with c. So has Z. X is zero in coordinates that have no ancestor in common
 * with a related one. A panel is a few neighbouring columns with the union of their related coordinates.
 *
 * The work goes on in strips: TILE packs of columns, whose entries of two rows stay in registers. A strip is a part of
 * a panel, or the same panel of several matrices. Which sums are computed, and in which order, depends on the model
 * alone. */
#pragma once
#include "mass_factor.h"
#include "dynamics/math/pack.h"

enum {
    TILE       = LANE_REGISTERS == 32 ? 8 : 4,  /* packs of a strip: two rows of it take half of the registers */
    STRIP      = TILE * PACK,                   /* columns of a strip */
    PANEL      = 8,                             /* columns of a panel of a derivative */
    UNIT_PANEL = STRIP > PANEL ? STRIP : PANEL, /* columns of a panel of the unit matrix */
    PART       = STRIP < PANEL ? STRIP : PANEL  /* columns of a strip that are neighbours in one matrix */
};

typedef struct panel {
    int   first, columns; /* its columns */
    int   n;              /* number of related coordinates */
    int  *related;        /* [n] in ascending order */
    int   end;            /* rows of X from here on are not computed */
    bool *reached;        /* [nv] the coordinate has an ancestor in common with a related one */
} panel;

/* The panels of a matrix of nv columns. */
typedef struct panels {
    size_t n;
    panel *panel;   /* [n] */
    int   *related; /* [n x nv] */
    bool  *reached; /* [n x nv] */
} panels;

static inline panels panels_place(arena *a, const dyn_model *m, int width)
{
    size_t nv = (size_t)m->nv, n = (nv + (size_t)width - 1) / (size_t)width;
    return (panels){.n       = n,
                    .panel   = arena_take(a, n, sizeof(panel)),
                    .related = arena_take(a, n * nv, sizeof(int)),
                    .reached = arena_take(a, n * nv, sizeof(bool))};
}

static inline lane *strip_place(arena *a, const dyn_model *m)
{
    return arena_take(a, (size_t)m->nv * STRIP, sizeof(lane));
}

/* --- which coordinates are related ------------------------------------------------------------------------------ */

/* Marks coordinate v and its ancestors, up to one that is marked already. */
static inline void mark_ancestors(const factor *f, bool *mark, int v)
{
    for (; v >= 0 && !mark[v]; v = f->ancestor[v])
        mark[v] = true;
}

/* Lists the marked coordinates, which include their ancestors, and finds those with a marked root. */
static inline void list_related(const factor *f, panel *p, const bool *mark, int nv)
{
    p->n   = 0;
    p->end = nv;
    for (int v = 0; v < nv; v++) {
        p->related[p->n] = v; /* the next coordinate overwrites one that is not marked */
        p->n += mark[v];
        p->reached[v] = mark[f->root[v]];
    }
}

/* Relates the columns of a derivative of tau. */
static inline void relate_derivative(const dyn_model *m, const factor *f, panel *p, bool *mark)
{
    const int first = p->first, end = first + p->columns;
    for (int v = 0; v < m->nv; v++) /* v is a column or a descendant of one */
        mark[v] = (v >= first && v < end) || (f->ancestor[v] >= first && mark[f->ancestor[v]]);
    for (int v = first; v < end; v++)
        mark_ancestors(f, mark, f->ancestor[v]);
    for (size_t i = 0; i < m->n_couplings; i++) {
        const dyn_coupling *c = &m->coupling[i];
        if (c->v >= first && c->v < end) mark_ancestors(f, mark, c->v_theta);
        if (c->v_theta >= first && c->v_theta < end) mark_ancestors(f, mark, c->v);
    }
    list_related(f, p, mark, m->nv);
}

/* Relates the columns of the unit matrix: X is M^-1, whose rows behind the last column follow by symmetry. */
static inline void relate_unit(const dyn_model *m, const factor *f, panel *p, bool *mark)
{
    for (int v = 0; v < m->nv; v++)
        mark[v] = false;
    for (int v = p->first; v < p->first + p->columns; v++)
        mark_ancestors(f, mark, v);
    list_related(f, p, mark, m->nv);
    p->end = p->first + p->columns;
}

/* Relates the derivatives of tau by a wrench on a body to the coordinates that move the body. */
static inline void relate_wrench(const dyn_model *m, const factor *f, int body, panel *p, bool *mark)
{
    for (int v = 0; v < m->nv; v++)
        mark[v] = false;
    mark_ancestors(f, mark, m->dense ? m->nv - 1 : factor_coordinate_of(m, body));
    list_related(f, p, mark, m->nv);
}

typedef void relation(const dyn_model *m, const factor *f, panel *p, bool *mark);

/* Sets the panels of a matrix whose panels have `width` columns; `mark` is scratch memory, [nv]. */
static inline void panels_prepare(const dyn_model *m, const factor *f, const panels *all, int width, relation *relate,
                                  bool *mark)
{
    for (size_t i = 0; i < all->n; i++) {
        const int first = (int)i * width, left = m->nv - first;
        all->panel[i] = (panel){.first   = first,
                                .columns = left < width ? left : width,
                                .related = all->related + i * (size_t)m->nv,
                                .reached = all->reached + i * (size_t)m->nv};
        relate(m, f, &all->panel[i], mark);
    }
}

/* --- a strip ---------------------------------------------------------------------------------------------------- */

LANE_INLINE void load_strip(const lane *row, pack x[TILE])
{
    for (int t = 0; t < TILE; t++)
        x[t] = pack_load(row + t * PACK);
}

LANE_INLINE void store_strip(lane *row, const pack x[TILE])
{
    for (int t = 0; t < TILE; t++)
        pack_store(row + t * PACK, x[t]);
}

/* x -= l y */
LANE_INLINE void subtract_strip(pack x[TILE], lane l, const pack y[TILE])
{
    const pack a = pack_of(l);
    for (int t = 0; t < TILE; t++)
        x[t] = pack_sub_mul(x[t], a, y[t]);
}

LANE_INLINE void scale_strip(pack x[TILE], lane by)
{
    const pack a = pack_of(by);
    for (int t = 0; t < TILE; t++)
        x[t] = a * x[t];
}

/* Z_i -= L_ki Z_k for the ancestors i of k. With `two`, k - 1 is the parent of k, and is eliminated too: this halves
 * the accesses to Z_i. */
LANE_INLINE void eliminate(const factor *f, size_t nv, int k, bool two, lane *strip)
{
    const lane *L = f->L + (size_t)k * nv, *L_parent = L - (two ? nv : 0);
    pack        z[TILE], parent[TILE], z_i[TILE];
    load_strip(strip + k * STRIP, z);
    if (two) {
        load_strip(strip + (k - 1) * STRIP, parent);
        subtract_strip(parent, L[k - 1], z);
        store_strip(strip + (k - 1) * STRIP, parent);
    }
    for (int i = f->ancestor[two ? k - 1 : k]; i >= 0; i = f->ancestor[i]) {
        load_strip(strip + i * STRIP, z_i);
        subtract_strip(z_i, L[i], z);
        if (two) subtract_strip(z_i, L_parent[i], parent);
        store_strip(strip + i * STRIP, z_i);
    }
}

/* L^T Z = A, from the tips to the base. Ancestors of related coordinates are related. */
static inline void eliminate_related(const factor *f, size_t nv, const panel *p, lane *strip)
{
    for (int e = p->n - 1; e >= 0; e--) {
        const int k = p->related[e];
        if (k > 0 && f->ancestor[k] == k - 1) {
            eliminate(f, nv, k, true, strip);
            e--;
        } else {
            eliminate(f, nv, k, false, strip);
        }
    }
}

/* X_k = sign Z_k / D_k - sum_i L_ki X_i over the ancestors i of k. With `two`, k + 1 is a child of k, and is computed
 * too. */
LANE_INLINE void substitute(const factor *f, size_t nv, int k, bool two, double sign, lane *strip)
{
    const lane *L = f->L + (size_t)k * nv, *L_child = L + (two ? nv : 0);
    pack        x[TILE], child[TILE], x_i[TILE];
    load_strip(strip + k * STRIP, x);
    scale_strip(x, sign * f->reciprocal[k]);
    if (two) {
        load_strip(strip + (k + 1) * STRIP, child);
        scale_strip(child, sign * f->reciprocal[k + 1]);
    }
    for (int i = f->ancestor[k]; i >= 0; i = f->ancestor[i]) {
        load_strip(strip + i * STRIP, x_i);
        subtract_strip(x, L[i], x_i);
        if (two) subtract_strip(child, L_child[i], x_i);
    }
    store_strip(strip + k * STRIP, x);
    if (!two) return;
    subtract_strip(child, L_child[k], x);
    store_strip(strip + (k + 1) * STRIP, child);
}

/* L X = sign D^-1 Z, from the base to the tips. */
static inline void substitute_reached(const factor *f, size_t nv, const panel *p, double sign, lane *strip)
{
    for (int k = 0; k < p->end; k++) {
        if (!p->reached[k]) continue;
        if (k + 1 < p->end && f->ancestor[k + 1] == k)
            substitute(f, nv, k++, true, sign, strip);
        else
            substitute(f, nv, k, false, sign, strip);
    }
}

/* --- matrices --------------------------------------------------------------------------------------------------- */

LANE_INLINE void clear_strip(lane *strip, int rows)
{
    for (int k = 0; k < rows * STRIP; k++)
        strip[k] = lane_of(0);
}

/* Computes the columns from `first` on that fit in a strip, up to the diagonal, and their mirror images. */
static inline void invert_strip(const factor *f, size_t nv, const panel *p, int first, lane *strip, lane *inverse)
{
    const int all = p->first + p->columns, end = all < first + STRIP ? all : first + STRIP;
    clear_strip(strip, p->end);
    for (int c = first; c < end; c++)
        strip[c * STRIP + c - first] = lane_of(1);
    eliminate_related(f, nv, p, strip);
    substitute_reached(f, nv, p, 1, strip);
    for (int k = 0; k < end; k++)
        for (int c = k > first ? k : first; c < end; c++)
            inverse[(size_t)k * nv + (size_t)c] = inverse[(size_t)c * nv + (size_t)k] = strip[k * STRIP + c - first];
}

/* Computes M^-1, nv x nv, with panels of UNIT_PANEL columns, related by relate_unit. */
static inline void invert_mass(const factor *f, size_t nv, const panels *unit, lane *strip, lane *inverse)
{
    for (size_t i = 0; i < unit->n; i++)
        for (int first = 0; first < unit->panel[i].columns; first += STRIP)
            invert_strip(f, nv, &unit->panel[i], unit->panel[i].first + first, strip, inverse);
}

/* Copies the related rows of part of a panel's columns into a strip whose columns are zero, or the rows of X back. */
LANE_INLINE void copy_in(const panel *p, const lane *X, size_t stride, int columns, lane *strip)
{
    for (int k = 0; k < p->n; k++)
        for (int c = 0; c < columns; c++)
            strip[p->related[k] * STRIP + c] = X[(size_t)p->related[k] * stride + (size_t)c];
}
LANE_INLINE void copy_out(const panel *p, const lane *strip, size_t stride, int columns, lane *X)
{
    for (int k = 0; k < p->end; k++)
        for (int c = 0; p->reached[k] && c < columns; c++)
            X[(size_t)k * stride + (size_t)c] = strip[k * STRIP + c];
}

/* Replaces a panel's columns of the n matrices at X, which contain A, by -M^-1 A. The rows of a matrix are `stride`
 * entries apart. The columns are counted matrix by matrix, PANEL for each; a strip holds STRIP of them from `begin` on.
 */
static inline void solve_panel(const factor *f, size_t nv, const panel *p, int n, lane *const *X, size_t stride,
                               lane *strip)
{
    for (int begin = 0; begin < n * PANEL; begin += STRIP) {
        lane *part[STRIP / PART];
        int   columns[STRIP / PART];
        for (int i = 0; i < STRIP / PART; i++) { /* part i: columns from c on, of matrix number / PANEL */
            const int number = begin + i * PART, c = number % PANEL, left = p->columns - c;
            columns[i] = number >= n * PANEL || left < 0 ? 0 : left < PART ? left : PART;
            part[i]    = columns[i] > 0 ? X[number / PANEL] + p->first + c : NULL;
        }
        if (columns[0] == 0) continue;
        clear_strip(strip, p->end);
        for (int i = 0; i < STRIP / PART; i++)
            copy_in(p, part[i], stride, columns[i], strip + i * PART);
        eliminate_related(f, nv, p, strip);
        substitute_reached(f, nv, p, -1, strip);
        for (int i = 0; i < STRIP / PART; i++)
            copy_out(p, strip + i * PART, stride, columns[i], part[i]);
    }
}
