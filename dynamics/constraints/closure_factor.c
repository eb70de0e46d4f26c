/* closure_factor.c - finds the pseudoinverse of a component of the closure equations by Householder reflections
 * (dynamics/closure_kernels.h). */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/closure_kernels.h"
#include "dynamics/math/pack.h"
#include "dynamics/recursion/workspace.h"

enum { TILE = 4 /* packs summed at the same time: an addition to one sum must wait for the previous one */ };

/* The matrix [A D^-1, 1], which becomes [R, Q^T], with rows of `width` entries. D are the lengths of A's columns. */
typedef struct reflected {
    size_t m, n, width;
    lane  *A;
    lane  *v; /* [m] the vector v of the current reflection */
} reflected;

size_t LANE_NAME(closure_factor_size)(const dyn_model *m)
{
    (void)m;
    return 0;
}

/* Sets the matrix to [A, 1], with A the block's entries of the Jacobian. */
static void set_reflected(const reflected *s, const dyn_closure_factor *io)
{
    const lane *J     = block_in(io->jacobian, 0, 0);
    const int  *entry = io->block->entry;
    for (size_t i = 0; i < s->m; i++, entry += s->n) {
        lane *row = s->A + i * s->width;
        for (size_t j = 0; j < s->n; j++)
            row[j] = entry[j] < 0 ? lane_of(0) : J[entry[j]];
        for (size_t j = 0; j < s->m; j++)
            row[s->n + j] = lane_of(i == j ? 1 : 0);
    }
}

/* Divides the columns of A by their lengths D, and sets negligible ones to zero. */
static void normalise_columns(const reflected *s, lane *scale)
{
    for (size_t j = 0; j < s->n; j++) {
        lane sum = lane_of(0);
        for (size_t i = 0; i < s->m; i++)
            sum = add_mul(sum, s->A[i * s->width + j], s->A[i * s->width + j]);
        const lane      length     = lane_sqrt(sum);
        const lane_mask counts     = lane_less(lane_of(DYN_CLOSURE_NEGLIGIBLE), length);
        const lane      reciprocal = lane_select(counts, 1.0 / length, lane_of(0));
        scale[j]                   = lane_select(counts, length, lane_of(1));
        for (size_t i = 0; i < s->m; i++)
            s->A[i * s->width + j] = lane_select(counts, reciprocal * s->A[i * s->width + j], lane_of(0));
    }
}

/* The Householder reflection 1 - beta v v^T of the rows from j on. `v` is a copy of the column that it makes zero. */
typedef struct reflection {
    size_t      rows, width;
    const lane *v; /* [rows] the vector v */
    lane        beta;
} reflection;

/* Reflects a tile of neighbouring columns that begins at column `tile`: A -= v (beta v^T A). */
LANE_INLINE void reflect_tile(const reflection r, lane *tile, const int packs)
{
    pack  sum[TILE];
    lane *row = tile;
    for (int t = 0; t < packs; t++)
        sum[t] = pack_zero();
    for (size_t i = 0; i < r.rows; i++, row += r.width)
        for (int t = 0; t < packs; t++)
            sum[t] = pack_add_mul(sum[t], pack_of(r.v[i]), pack_load(row + t * PACK));
    for (int t = 0; t < packs; t++)
        sum[t] = pack_of(r.beta) * sum[t];
    row = tile;
    for (size_t i = 0; i < r.rows; i++, row += r.width)
        for (int t = 0; t < packs; t++)
            pack_store(row + t * PACK, pack_sub_mul(pack_load(row + t * PACK), pack_of(r.v[i]), sum[t]));
}

/* Reflects one column entry by entry, with the operations of the tile. */
LANE_INLINE void reflect_column(const reflection r, lane *column)
{
    lane sum = lane_of(0);
    for (size_t i = 0; i < r.rows; i++)
        sum = add_mul(sum, r.v[i], column[i * r.width]);
    sum = r.beta * sum;
    for (size_t i = 0; i < r.rows; i++)
        column[i * r.width] = sub_mul(column[i * r.width], r.v[i], sum);
}

/* Makes column j of A zero below the diagonal. Returns |R_jj|. */
static lane reflect(const reflected *s, size_t j)
{
    lane sum = lane_of(0), *diagonal = s->A + j * s->width + j;
    for (size_t i = j; i < s->m; i++) {
        s->v[i] = s->A[i * s->width + j];
        sum     = add_mul(sum, s->v[i], s->v[i]);
    }
    const lane length = lane_sqrt(sum), turned = lane_select(lane_less(*diagonal, lane_of(0)), -length, length);
    s->v[j]               = *diagonal + turned;
    *diagonal             = -turned;
    const lane       beta = lane_select(lane_less(lane_of(0), length), 1.0 / (turned * s->v[j]), lane_of(0));
    const reflection r    = {s->m - j, s->width, s->v + j, beta};
    lane            *row  = s->A + j * s->width;
    size_t           c    = j + 1;
    for (; c + TILE * PACK <= r.width; c += TILE * PACK)
        reflect_tile(r, row + c, TILE);
    for (; c + PACK <= r.width; c += PACK)
        reflect_tile(r, row + c, 1);
    for (; PACK > 1 && c < r.width; c++)
        reflect_column(r, row + c);
    return length;
}

/* Subtracts factor times n entries of `from` from `to`. */
LANE_INLINE void subtract_multiple(lane *to, const lane *from, size_t n, lane factor)
{
    size_t e = 0;
    for (; e + PACK <= n; e += PACK)
        pack_store(to + e, pack_sub_mul(pack_load(to + e), pack_of(factor), pack_load(from + e)));
    for (; PACK > 1 && e < n; e++)
        to[e] = sub_mul(to[e], factor, from[e]);
}

/* Sets `inverse` = R^-1 Q_1^T, with Q_1 the first n columns of Q, and returns the Frobenius norm of `inverse`. */
static lane substitute(const reflected *s, lane *inverse)
{
    lane sum = lane_of(0);
    for (size_t i = s->n; i-- > 0;) {
        const lane *row = s->A + i * s->width, reciprocal = 1.0 / row[i];
        lane       *to = inverse + i * s->m;
        for (size_t e = 0; e < s->m; e++)
            to[e] = row[s->n + e];
        for (size_t l = i + 1; l < s->n; l++)
            subtract_multiple(to, inverse + l * s->m, s->m, row[l]);
        for (size_t e = 0; e < s->m; e++) {
            to[e] = reciprocal * to[e];
            sum   = add_mul(sum, to[e], to[e]);
        }
    }
    return lane_sqrt(sum);
}

void LANE_NAME(closure_factor)(const dyn_scene *scene, void *memory, const dyn_closure_factor *io, size_t blocks)
{
    (void)memory, (void)blocks; /* `blocks` is always 1 */
    const size_t m = io->block->m, n = io->block->n, width = n + m;
    lane        *work = block_out(io->work, 0, 0), *inverse = block_out(io->inverse, 0, 0),
         *scale = block_out(io->scale, 0, 0), *pivot = block_out(io->pivot, 0, 0);
    const reflected s = {m, n, width, work, work + m * width};
    set_reflected(&s, io);
    normalise_columns(&s, scale);
    *pivot = lane_of(1); /* a pivot is at most 1, since the columns of A D^-1 have length 1 */
    for (size_t j = 0; j < n && goes_on(scene->deadline, width); j++) {
        const lane length = reflect(&s, j);
        *pivot            = lane_select(lane_less(length, *pivot), length, *pivot);
    }
    *block_out(io->norm, 0, 0) = substitute(&s, inverse);
    for (size_t j = 0; j < n; j++) {
        const lane reciprocal = 1.0 / scale[j];
        for (size_t e = 0; e < m; e++)
            inverse[j * m + e] = reciprocal * inverse[j * m + e];
    }
}
