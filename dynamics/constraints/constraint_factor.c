/* constraint_factor.c - factors the constraint of held frames (dynamics/constraint.h). */
#include "constraint_system.h"
#include "dynamics/math/clear_large.h"
#include "dynamics/math/pack.h"
#include <float.h>
#include <string.h>

enum { TILE = 4 /* packs summed at the same time: an addition to one sum must wait for the previous one */ };

size_t LANE_NAME(constraint_factor_size)(const dyn_model *m)
{
    return constraint_size(m);
}

/* --- mass matrix ------------------------------------------------------------------------------------------------ */

LANE_INLINE lane_mask drives(const lane *driven, size_t v)
{
    return lane_less(lane_of(0), lane_abs(driven[v]));
}

/* Copies M to L. Rows and columns of driven coordinates become those of the unit matrix. */
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

/* Sets Q to [J^T; sqrt(delta) 1], with zero rows for driven coordinates; eliminate_rows makes X (constraint.h) of
 * it. */
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

/* Returns the number in the first lane. */
LANE_INLINE double number_of_first_lane(lane x)
{
#if LANES == 1
    return (double)x;
#else
    return x[0];
#endif
}

/* Finds where the rows of J^T are not zero: a frame's rows of J are zero outside the coordinates that move the frame.
 * The range is found in the first lane; if another lane has nonzero entries outside, the range becomes all columns. NaN
 * counts as nonzero. */
static void find_ranges(const constraint_system *s)
{
    for (size_t v = 0; v < s->nv; v++) {
        const lane *row   = s->Q + v * s->k;
        size_t      first = 0, end = s->k;
        lane        size = lane_of(0); /* sum of the entries outside the range */
        while (first < s->k && number_of_first_lane(row[first]) == 0)
            size = size + lane_size(row[first++]);
        while (end > first && number_of_first_lane(row[end - 1]) == 0)
            size = size + lane_size(row[--end]);
        const bool differs = LANES > 1 && lane_any(~lane_less(size, lane_of(DBL_TRUE_MIN)));
        s->first[v]        = differs ? 0 : first;
        s->end[v]          = differs ? s->k : first < end ? end : 0;
    }
}

/* Extends the range of nonzero columns in the row of v's ancestor by that in row v. */
LANE_INLINE void extend_range(const constraint_system *s, size_t v)
{
    const int up = s->mass.tree.ancestor[v];
    if (up < 0) return;
    if (s->first[v] < s->first[up]) s->first[up] = s->first[v];
    if (s->end[v] > s->end[up]) s->end[up] = s->end[v];
}

/* Returns the first column in which row e of X may be nonzero. The k rows after the first nv are sqrt(delta) times the
 * unit matrix. */
LANE_INLINE size_t first_column_of(const constraint_system *s, size_t e)
{
    return e < s->nv ? s->first[e] : e - s->nv;
}

/* Subtracts L_vi times row v from row i of each ancestor i of v, then multiplies row v by D^-1/2, in the columns of a
 * tile that begins at column a. */
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

/* Does the work of eliminate_tile in the single column a. */
LANE_INLINE void eliminate_entry(const constraint_system *s, size_t v, size_t a)
{
    const int  *up = s->mass.tree.ancestor;
    const lane *L = s->mass.L + v * s->nv, x = s->Q[v * s->k + a];
    for (int i = up[v]; i >= 0; i = up[i])
        s->Q[(size_t)i * s->k + a] = sub_mul(s->Q[(size_t)i * s->k + a], L[i], x);
    s->Q[v * s->k + a] = s->root[v] * x;
}

/* Eliminates row v in the tiles that cover its range of nonzero columns; with too few directions for a tile, pack by
 * pack. */
static void eliminate_row_range(const constraint_system *s, size_t v)
{
    enum { WIDTH = TILE * PACK };
    const size_t first = s->first[v], end = s->end[v] > first ? s->end[v] : first;
    const size_t width = (end - first + WIDTH - 1) / WIDTH * WIDTH, packed = (end + PACK - 1) / PACK * PACK;
    if (width <= s->k) {
        const size_t a = first + width <= s->k ? first : s->k - width;
        for (size_t t = 0; t < width; t += WIDTH)
            eliminate_tile(s, v, a + t, TILE);
        return;
    }
    size_t a = first / PACK * PACK;
    for (; a + PACK <= s->k && a < packed; a += PACK)
        eliminate_tile(s, v, a, 1);
    for (; a < end; a++)
        eliminate_entry(s, v, a);
}

/* Replaces J^T by D^-1/2 L^-T J^T. */
static void eliminate_rows(const constraint_system *s)
{
    for (size_t v = s->nv; v-- > 0 && goes_on(s->mass.deadline, s->nv);) {
        eliminate_row_range(s, v);
        extend_range(s, v);
    }
}

/* --- Q U -------------------------------------------------------------------------------------------------------- */

/* One pass of the Gram-Schmidt process over columns of Q: subtracts multiples of column b, and multiplies by
 * `column`. */
typedef struct column_pass {
    size_t      b, column;
    const lane *U;  /* row b of the triangular factor U */
    lane       *to; /* scalar products of `column` with each of these columns */
} column_pass;

/* If the pass `subtracts`, subtracts U_bc times column b from each column c of the tile that begins at column a. Then
 * sets p->to to the scalar products of these columns with p->column. Skips rows that are zero in p->column and in all
 * columns before it. */
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
        if (first_column_of(s, e) > p->column) continue;
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

/* Does the work of advance_tile in the single column a. */
LANE_INLINE void advance_column(const constraint_system *s, const column_pass *p, size_t a, const bool subtracts)
{
    lane  sum = lane_of(0);
    lane *row = s->Q;
    for (size_t e = 0; e < s->n; e++, row += s->k) {
        if (first_column_of(s, e) > p->column) continue;
        if (subtracts) row[a] = sub_mul(row[a], p->U[a], row[p->b]);
        sum = add_mul(sum, row[p->column], row[a]);
    }
    p->to[a] = sum;
}

/* Makes one pass over all columns from `a` on. */
LANE_INLINE void advance_columns(const constraint_system *s, const column_pass *p, size_t a, const bool subtracts)
{
    for (; a + TILE * PACK <= s->k; a += TILE * PACK)
        advance_tile(s, p, a, TILE, subtracts);
    for (; a + PACK <= s->k; a += PACK)
        advance_tile(s, p, a, 1, subtracts);
    for (; a < s->k; a++)
        advance_column(s, p, a, subtracts);
}

/* Sets the squared lengths of the columns of X, their sum and, if requested, G = X^T X. */
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

/* Factors X = Q U: replaces X by Q and sets U, 1 / P and the rank. Pass b removes the part along column b from the
 * later columns, and computes their products with column b + 1. */
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

/* Finds row a of B and of T (N = T^T B) from row a of U and the rows of B after it, and orthogonalizes twice because of
 * rounding errors. The diagonal of T holds reciprocals, and zero for a dependent direction, whose row of U is zero. */
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

/* Returns the lanes in which X and the weights are finite. */
static lane_mask holds_numbers(const constraint_system *s)
{
    lane sum = *block_in(s->io->trace, 0, 0);
    for (size_t a = 0; a < s->k; a++)
        sum = sum + s->weight[a];
    return lane_less(sum, lane_of(INFINITY));
}

void LANE_NAME(constraint_factor)(const dyn_scene *scene, void *memory, const dyn_constraint_factor *io, size_t blocks)
{
    (void)blocks; /* `blocks` is always 1 */
    constraint_system s;
    constraint_place(scene, memory, io, &s);
    lane           *sizes = block_out(io->sizes, 0, 0), *rank = block_out(io->rank, 0, 0);
    const lane_mask positive = factor_mass(&s, block_out(io->singular, 0, 0));
    set_rows(&s);
    find_ranges(&s);
    eliminate_rows(&s);
    measure_columns(&s, sizes);
    orthogonalise_columns(&s, sizes, rank);
    for (size_t a = s.k; lane_any(constraint_depends(&s)) && a-- > 0 && goes_on(scene->deadline, s.k);)
        orthogonalise_row(&s, a);
    *block_out(io->solved, 0, 0) = lane_select(positive & holds_numbers(&s), lane_of(1), lane_of(0));
}
