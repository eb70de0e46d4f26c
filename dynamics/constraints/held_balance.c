/* held_balance.c - finds the efforts of least norm along held directions that balance the coordinates without actuator,
 * by the Gram-Schmidt process with reorthogonalisation (dynamics/constraint.h; Golub & Van Loan 2013, 5.2.8). */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/constraint.h"
#include "dynamics/held_directions.h"
#include "dynamics/recursion/workspace.h"

enum {
    PASSES = 2, /* a second subtraction takes away what rounding errors of the first have left */
    TILE   = 4  /* sums computed at the same time: an addition to one must wait for the previous one */
};

size_t LANE_NAME(held_balance_size)(const dyn_model *m)
{
    (void)m;
    return 0;
}

/* --- accelerations ------------------------------------------------------------------------------------------------ */

/* Adds J qdd to the accelerations of `rows` held directions from direction a on, and the sum of |J_av qdd_v| to their
 * scales. */
LANE_INLINE void add_tile(const dyn_held_balance *io, const lane *qdd, size_t a, const int rows)
{
    const lane *J     = block_in(io->J, 0, 0) + a * io->nv;
    lane       *moves = block_out(io->moves, 0, 0) + a, *scale = block_out(io->moves_scale, 0, 0) + a;
    lane        move[TILE], size[TILE];
    for (int t = 0; t < rows; t++)
        move[t] = moves[t], size[t] = scale[t];
    for (size_t v = 0; v < io->nv; v++)
        for (int t = 0; t < rows; t++) {
            const lane x = J[(size_t)t * io->nv + v];
            move[t]      = add_mul(move[t], x, qdd[v]);
            size[t]      = size[t] + lane_abs(x * qdd[v]);
        }
    for (int t = 0; t < rows; t++)
        moves[t] = move[t], scale[t] = size[t];
}

static void add_accelerations(const dyn_held_balance *io)
{
    const lane *qdd = block_in(io->qdd, 0, 0);
    size_t      a   = 0;
    for (; qdd && a + TILE <= io->k; a += TILE)
        add_tile(io, qdd, a, TILE);
    for (; qdd && a < io->k; a++)
        add_tile(io, qdd, a, 1);
}

/* --- least norm --------------------------------------------------------------------------------------------------- */

LANE_INLINE lane length_squared(const lane *a, size_t n)
{
    lane sum = lane_of(0);
    for (size_t i = 0; i < n; i++)
        sum = add_mul(sum, a[i], a[i]);
    return sum;
}

/* Subtracts from a row its parts along `rows` orthonormal rows from `before` on, and adds these parts to R. */
LANE_INLINE void subtract_tile(const lane *before, const int rows, size_t k, lane *row, lane *R)
{
    lane part[TILE];
    for (int t = 0; t < rows; t++)
        part[t] = lane_of(0);
    for (size_t a = 0; a < k; a++)
        for (int t = 0; t < rows; t++)
            part[t] = add_mul(part[t], before[(size_t)t * k + a], row[a]);
    for (size_t a = 0; a < k; a++)
        for (int t = 0; t < rows; t++)
            row[a] = sub_mul(row[a], part[t], before[(size_t)t * k + a]);
    for (int t = 0; t < rows; t++)
        R[t] = R[t] + part[t];
}

/* Subtracts from a row its parts along the n orthonormal rows of E. */
static void subtract_rows(const lane *E, size_t n, size_t k, lane *row, lane *R)
{
    size_t i = 0;
    for (; i + TILE <= n; i += TILE)
        subtract_tile(E + i * k, TILE, k, row, R + i);
    switch (n - i) {
    case 3: subtract_tile(E + i * k, 3, k, row, R + i); break;
    case 2: subtract_tile(E + i * k, 2, k, row, R + i); break;
    case 1: subtract_tile(E + i * k, 1, k, row, R + i); break;
    }
}

/* Sets row u of E to row u of A diag(w)^-1/2 (held/held_wrenches.h). */
static void set_row(const dyn_held_balance *io, size_t u, lane *row)
{
    const lane *J = block_in(io->J, 0, 0) + io->passive[u];
    for (size_t a = 0; a < io->k; a++)
        row[a] = io->root[a] * J[a * io->nv];
}

/* Subtracts from row u of E its parts along the rows before it, and divides the row by its length. If the row depends
 * on those before it, the row and R_uu become zero. */
static void orthonormalise(const dyn_held_balance *io, size_t u, lane *E, lane *R)
{
    const size_t k    = io->k;
    lane        *row  = E + u * k;
    const lane   size = length_squared(row, k), zero = lane_of(0);
    clear(R, io->n_passive);
    for (int pass = 0; pass < PASSES; pass++)
        subtract_rows(E, u, k, row, R);
    const lane      left   = length_squared(row, k);
    const lane_mask counts = lane_less(DYN_DEPENDENT * size, left);
    const lane      length = lane_sqrt(lane_select(counts, left, lane_of(1)));
    const lane      factor = lane_select(counts, 1.0 / length, zero);
    R[u]                   = lane_select(counts, length, zero);
    for (size_t a = 0; a < k; a++)
        row[a] = row[a] * factor;
}

/* Sets e_u of R^T e = tau_0U (held/held_wrenches.h) by forward substitution. If row u depends on those before it, e_u
 * is zero and `remains` receives the effort that the earlier rows leave. Sets the scale of this effort, too. `R` is row
 * u of R^T, `all` all rows. */
static void set_right(const dyn_held_balance *io, size_t u, const lane *R, const lane *all)
{
    const size_t n    = io->n_passive;
    const lane   zero = lane_of(0), one = lane_of(1);
    lane        *e = block_out(io->e, 0, 0), *remains = block_out(io->remains, 0, 0);
    lane        *scales = block_out(io->remains_scale, 0, 0);
    lane         sum = block_in(io->tau, 0, 0)[io->passive[u]], scale = lane_of(io->scale[u]);
    for (size_t i = 0; i < u; i++) {
        const lane      pivot  = all[i * n + i];
        const lane_mask counts = lane_less(zero, pivot);
        const lane      factor = lane_abs(R[i] / lane_select(counts, pivot, one));
        sum                    = sub_mul(sum, R[i], e[i]);
        scale                  = add_mul(scale, lane_select(counts, factor, zero), scales[i]);
    }
    const lane_mask counts = lane_less(zero, R[u]);
    e[u]                   = lane_select(counts, sum / lane_select(counts, R[u], one), zero);
    remains[u]             = lane_select(counts, zero, sum);
    scales[u]              = scale;
}

void LANE_NAME(held_balance)(const dyn_scene *scene, void *memory, const dyn_held_balance *io, size_t blocks)
{
    (void)memory, (void)blocks; /* `blocks` is always 1 */
    const size_t k = io->k, n = io->n_passive;
    lane        *E = block_out(io->E, 0, 0), *R = block_out(io->R, 0, 0);
    lane        *e = block_out(io->e, 0, 0), *x = block_out(io->x, 0, 0);
    add_accelerations(io);
    clear(x, k);
    for (size_t u = 0; u < n && goes_on(scene->deadline, n * k); u++) {
        set_row(io, u, E + u * k);
        orthonormalise(io, u, E, R + u * n);
        set_right(io, u, R + u * n, R);
        for (size_t a = 0; a < k; a++)
            x[a] = add_mul(x[a], E[u * k + a], e[u]);
    }
}
