/* constraint_factor.c - factors the constraint of held frames (dynamics/constraint.h). */
#include "constraint_system.h"
#include "dynamics/math/clear_large.h"
#include "dynamics/math/pack.h"
#include <string.h>

enum { TILE = 4 /* packs that are computed together: each sum waits for its last addition */ };

size_t LANE_NAME(constraint_factor_size)(const dyn_model *m)
{
    return constraint_size(m);
}

/* --- mass matrix ------------------------------------------------------------------------------------------------ */

LANE_INLINE lane_mask drives(const lane *driven, size_t v)
{
    return lane_less(lane_of(0), lane_abs(driven[v]));
}

/* Copies M to L; rows and columns of driven coordinates become those of the identity. */
static void copy_decoupled(const constraint_system *s, const lane *M, const lane *driven)
{
    for (size_t i = 0; i < s->nv && goes_on(s->mass.deadline, s->nv); i++)
        for (size_t j = 0; j <= i; j++)
            s->mass.L[i * s->nv + j] =
                lane_select(drives(driven, i) | drives(driven, j), lane_of(i == j ? 1 : 0), M[i * s->nv + j]);
}

/* Factors M, sets D^-1/2, and returns the lanes in which M is positive definite. */
static lane_mask factor_mass(const constraint_system *s, lane *singular)
{
    const lane *M = block_in(s->io->mass_matrix, 0, 0), *driven = block_in(s->io->driven, 0, 0);
    lane_mask   positive = lane_less(lane_of(0), lane_of(1));
    if (driven) copy_decoupled(s, M, driven);
    *singular = factor_make(s->model, &s->mass, driven ? s->mass.L : M);
    for (size_t v = 0; v < s->nv; v++) {
        positive &= lane_positive(s->mass.reciprocal[v]);
        s->root[v] = lane_sqrt(s->mass.reciprocal[v]);
    }
    return positive;
}

/* --- X ---------------------------------------------------------------------------------------------------------- */

/* Sets the rows of X in Q: J^T, without the columns of driven coordinates. */
static void set_rows(const constraint_system *s)
{
    const lane *J = block_in(s->io->J, 0, 0), *driven = block_in(s->io->driven, 0, 0);
    const lane  zero = lane_of(0);
    for (size_t v = 0; v < s->nv; v++)
        for (size_t a = 0; a < s->k; a++) {
            const lane entry   = J[a * s->nv + v];
            s->Q[v * s->k + a] = driven ? lane_select(drives(driven, v), zero, entry) : entry;
        }
    if (s->n == s->nv) return;
    clear_large(s->mass.deadline, s->Q + s->nv * s->k, s->k * s->k);
    for (size_t a = 0; a < s->k; a++)
        s->Q[(s->nv + a) * s->k + a] = lane_of(sqrt(s->io->damping));
}

/* Subtracts L_vi times row v from the rows i of the ancestors of v, and multiplies row v by D^-1/2, in a tile of
 * columns from a on. */
LANE_INLINE void eliminate_tile(const constraint_system *s, size_t v, size_t a, const int packs)
{
    const int  *up   = s->mass.tree.ancestor;
    const lane *L    = s->mass.L + v * s->nv;
    lane       *from = s->Q + v * s->k + a;
    pack        x[TILE];
    for (int t = 0; t < packs; t++)
        x[t] = pack_load(from + t * PACK);
    for (int i = up[v]; i >= 0; i = up[i]) {
        lane      *to = s->Q + (size_t)i * s->k + a;
        const pack l  = pack_of(L[i]);
        for (int t = 0; t < packs; t++)
            pack_store(to + t * PACK, pack_sub_mul(pack_load(to + t * PACK), l, x[t]));
    }
    for (int t = 0; t < packs; t++)
        pack_store(from + t * PACK, pack_of(s->root[v]) * x[t]);
}

/* Does in column a, entry by entry, what a tile does. */
LANE_INLINE void eliminate_entry(const constraint_system *s, size_t v, size_t a)
{
    const int  *up = s->mass.tree.ancestor;
    const lane *L = s->mass.L + v * s->nv, x = s->Q[v * s->k + a];
    for (int i = up[v]; i >= 0; i = up[i])
        s->Q[(size_t)i * s->k + a] = sub_mul(s->Q[(size_t)i * s->k + a], L[i], x);
    s->Q[v * s->k + a] = s->root[v] * x;
}

/* Replaces J^T by D^-1/2 L^-T J^T. */
static void eliminate_rows(const constraint_system *s)
{
    for (size_t v = s->nv; v-- > 0 && goes_on(s->mass.deadline, s->nv);) {
        size_t a = 0;
        for (; a + TILE * PACK <= s->k; a += TILE * PACK)
            eliminate_tile(s, v, a, TILE);
        for (; a + PACK <= s->k; a += PACK)
            eliminate_tile(s, v, a, 1);
        for (; a < s->k; a++)
            eliminate_entry(s, v, a);
    }
}

/* --- Q U -------------------------------------------------------------------------------------------------------- */

/* One pass over columns of Q. */
typedef struct column_pass {
    size_t      b, column;
    const lane *U;  /* row b */
    lane       *to; /* products of `column` with the columns */
} column_pass;

/* Subtracts column b times the entries of U from a tile of columns from a on, if the pass `subtracts`, and sets their
 * products with `column`. */
LANE_INLINE void advance_tile(const constraint_system *s, const column_pass *p, size_t a, const int packs,
                              const bool subtracts)
{
    pack sum[TILE], u[TILE];
    for (int t = 0; t < packs; t++) {
        sum[t] = pack_zero();
        if (subtracts) u[t] = pack_load(p->U + a + t * PACK);
    }
    lane *row = s->Q;
    for (size_t e = 0; e < s->n; e++, row += s->k) {
        const pack before = pack_of(row[p->b]), with = pack_of(row[p->column]);
        for (int t = 0; t < packs; t++) {
            pack x = pack_load(row + a + t * PACK);
            if (subtracts) pack_store(row + a + t * PACK, x = pack_sub_mul(x, u[t], before));
            sum[t] = pack_add_mul(sum[t], with, x);
        }
    }
    for (int t = 0; t < packs; t++)
        pack_store(p->to + a + t * PACK, sum[t]);
}

/* Does in column a, entry by entry, what a tile does. */
LANE_INLINE void advance_column(const constraint_system *s, const column_pass *p, size_t a, const bool subtracts)
{
    lane  sum = lane_of(0);
    lane *row = s->Q;
    for (size_t e = 0; e < s->n; e++, row += s->k) {
        if (subtracts) row[a] = sub_mul(row[a], p->U[a], row[p->b]);
        sum = add_mul(sum, row[p->column], row[a]);
    }
    p->to[a] = sum;
}

/* Advances all columns from `a` on. */
LANE_INLINE void advance_columns(const constraint_system *s, const column_pass *p, size_t a, const bool subtracts)
{
    for (; a + TILE * PACK <= s->k; a += TILE * PACK)
        advance_tile(s, p, a, TILE, subtracts);
    for (; a + PACK <= s->k; a += PACK)
        advance_tile(s, p, a, 1, subtracts);
    for (; a < s->k; a++)
        advance_column(s, p, a, subtracts);
}

/* Sets the squared lengths of the columns of X, their sum, and G if it is wanted. */
static void measure_columns(const constraint_system *s, lane *sizes)
{
    lane *G = block_out(s->io->delassus, 0, 0), *trace = block_out(s->io->trace, 0, 0);
    *trace = lane_of(0);
    for (size_t a = 0; a < s->k; a++)
        sizes[a] = lane_of(0);
    for (size_t e = 0; e < s->n; e++)
        for (size_t a = 0; a < s->k; a++)
            sizes[a] = add_mul(sizes[a], s->Q[e * s->k + a], s->Q[e * s->k + a]);
    for (size_t a = 0; a < s->k; a++)
        *trace = *trace + sizes[a];
    for (size_t b = 0; G && b < s->k && goes_on(s->mass.deadline, s->n); b++) {
        advance_columns(s, &(column_pass){b, b, NULL, G + b * s->k}, b, false);
        for (size_t a = b + 1; a < s->k; a++)
            G[a * s->k + b] = G[b * s->k + a];
    }
}

/* Replaces X by Q and sets U, 1 / P and the rank. One pass over Q subtracts column b from those behind it, and
 * multiplies them by column b + 1. */
static void orthogonalise_columns(const constraint_system *s, const lane *sizes, lane *rank)
{
    const size_t k = s->k;
    *rank          = lane_of(0);
    if (k > 0) advance_columns(s, &(column_pass){0, 0, NULL, s->U}, 0, false);
    for (size_t b = 0; b < k && goes_on(s->mass.deadline, s->n); b++) {
        lane           *row    = s->U + b * k;
        const lane_mask counts = lane_less(DYN_DEPENDENT * sizes[b], row[b]);
        s->weight[b]           = lane_select(counts, 1.0 / row[b], lane_of(0));
        *rank                  = *rank + lane_select(counts, lane_of(1), lane_of(0));
        row[b]                 = lane_select(counts, lane_of(1), lane_of(0));
        for (size_t a = b + 1; a < k; a++)
            row[a] = row[a] * s->weight[b];
        if (b + 1 == k) return;
        const column_pass pass = {b, b + 1, row, row + k};
        advance_column(s, &pass, b + 1, true);
        advance_columns(s, &pass, b + 2, true);
    }
}

/* --- dependent directions ---------------------------------------------------------------------------------------- */

static lane multiply_entries(const lane *x, const lane *y, size_t n)
{
    lane sum = lane_of(0);
    for (size_t e = 0; e < n; e++)
        sum = add_mul(sum, x[e], y[e]);
    return sum;
}

/* Finds row a of B from that of U and the rows of B behind it, twice for the rounding errors, and row a of T. The
 * diagonal of T has reciprocals; it is zero for a row that U does not have. */
static void orthogonalise_row(const constraint_system *s, size_t a)
{
    const size_t k   = s->k;
    lane        *row = s->B + a * k, *T = s->T + a * k;
    for (size_t c = 0; c < k; c++) {
        row[c] = c < a ? lane_of(0) : s->U[a * k + c];
        T[c]   = lane_of(0);
    }
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = k - 1; j > a; j--) {
            const lane *before = s->B + j * k, part = multiply_entries(before + a, row + a, k - a);
            T[j] = T[j] + part;
            for (size_t c = a; c < k; c++)
                row[c] = sub_mul(row[c], part, before[c]);
        }
    const lane size = multiply_entries(row + a, row + a, k - a);
    T[a]            = lane_select(lane_less(lane_of(0), size), 1.0 / lane_sqrt(size), lane_of(0));
    for (size_t c = a; c < k; c++)
        row[c] = row[c] * T[a];
}

/* --- the kernel --------------------------------------------------------------------------------------------------- */

/* The lanes in which X and the weights are finite. */
static lane_mask holds_numbers(const constraint_system *s)
{
    lane sum = *block_in(s->io->trace, 0, 0);
    for (size_t a = 0; a < s->k; a++)
        sum = sum + s->weight[a];
    return lane_less(sum, lane_of(INFINITY));
}

void LANE_NAME(constraint_factor)(const dyn_scene *scene, void *memory, const dyn_constraint_factor *io, size_t blocks)
{
    (void)blocks; /* always 1 */
    constraint_system s;
    constraint_place(scene, memory, io, &s);
    lane           *sizes = block_out(io->sizes, 0, 0), *rank = block_out(io->rank, 0, 0);
    const lane_mask positive = factor_mass(&s, block_out(io->singular, 0, 0));
    set_rows(&s);
    eliminate_rows(&s);
    measure_columns(&s, sizes);
    orthogonalise_columns(&s, sizes, rank);
    for (size_t a = s.k; lane_any(constraint_depends(&s)) && a-- > 0 && goes_on(scene->deadline, s.k);)
        orthogonalise_row(&s, a);
    *block_out(io->solved, 0, 0) = lane_select(positive & holds_numbers(&s), lane_of(1), lane_of(0));
}
