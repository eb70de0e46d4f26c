/* riccati.c - takes one step of the Riccati recursion with regularisation (Tassa, Erez & Todorov 2012, sec. II.F).
 *
 * The step z+ = A z + B u, the matrices Q_ux and Q_uu of its cost, the Hessian V of the value and the gains K are those
 * of riccati.h; AT is the transpose of A. With Q_ux + BT V A and Q_uu + BT V B in place of Q_ux and Q_uu, and d the
 * damping,
 *
 *     K = -(Q_uu + d 1)^-1 Q_ux,  V = AT V A + KT Q_uu K + KT Q_ux + Q_uxT K = AT V A + Q_uxT K - d KT K,
 *
 * K is solved for by elimination without pivoting, which needs no square roots; Q_uu + d 1 is positive definite if all
 * its pivots are positive. Lanes hold columns of a matrix, and each entry of a product is summed in ascending order of
 * the inner index: the results do not depend on the number of lanes. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/recursion/workspace.h"
#include "dynamics/riccati.h"

/* A matrix, row-major. Each of its rows has `width` lanes, the last of which may be padded. */
typedef struct matrix {
    lane  *entry;
    size_t width;
} matrix;

/* A factor of a product: entry (i, k) is row i and column k of the matrix, or of its transpose. */
typedef struct factor {
    const matrix *matrix;
    bool          transposed;
} factor;

size_t LANE_NAME(riccati_size)(const dyn_model *m)
{
    (void)m;
    return 0;
}

static matrix matrix_of(const double *numbers, size_t columns)
{
    return (matrix){(lane *)(void *)(uintptr_t)numbers, dyn_riccati_width(columns) / LANES};
}

LANE_INLINE lane *matrix_row(const matrix *A, size_t row)
{
    return A->entry + row * A->width;
}

/* Returns one entry of the matrix, copied to all lanes. */
LANE_INLINE lane spread_entry(const matrix *A, size_t row, size_t column)
{
#if LANES == 1
    return matrix_row(A, row)[column];
#else
    return lane_of(matrix_row(A, row)[column / LANES][column % LANES]);
#endif
}

LANE_INLINE lane factor_entry(factor a, size_t i, size_t k)
{
    return a.transposed ? spread_entry(a.matrix, k, i) : spread_entry(a.matrix, i, k);
}

/* Adds `rows` rows, from row i on, of the product of the factor a and B to C. B has `depth` rows. */
LANE_INLINE void accumulate_rows(const matrix *C, factor a, const matrix *B, size_t depth, size_t i, size_t rows)
{
    for (size_t j = 0; j < C->width; j++) {
        lane sum[4];
        for (size_t r = 0; r < rows; r++)
            sum[r] = matrix_row(C, i + r)[j];
        for (size_t k = 0; k < depth; k++) {
            const lane b = matrix_row(B, k)[j];
            for (size_t r = 0; r < rows; r++)
                sum[r] = add_mul(sum[r], factor_entry(a, i + r, k), b);
        }
        for (size_t r = 0; r < rows; r++)
            matrix_row(C, i + r)[j] = sum[r];
    }
}

/* Adds the product of the factor a and B to C, which has `rows` rows. Stops at the deadline. */
static void accumulate_product(const matrix *C, size_t rows, factor a, const matrix *B, size_t depth,
                               dyn_deadline deadline)
{
    size_t i = 0;
    for (; i + 4 <= rows && goes_on(deadline, depth); i += 4)
        accumulate_rows(C, a, B, depth, i, 4);
    for (; i < rows && goes_on(deadline, depth); i++)
        accumulate_rows(C, a, B, depth, i, 1);
}

/* Subtracts f times row `other` from row `row`, over whole rows. */
LANE_INLINE void eliminate_row(const matrix *A, size_t row, lane f, size_t other)
{
    for (size_t j = 0; j < A->width; j++)
        matrix_row(A, row)[j] = sub_mul(matrix_row(A, row)[j], f, matrix_row(A, other)[j]);
}

/* Returns the largest absolute value of the diagonal of Q_uu, m x m. */
static double largest_diagonal(const double *Q_uu, size_t m)
{
    double most = 0;
    for (size_t i = 0; i < m; i++)
        most = fmax(most, fabs(Q_uu[i * dyn_riccati_width(m) + i]));
    return most;
}

/* Adds the damping to entry (i, i) of Q_uu. */
static void add_damping(const matrix *Q_uu, size_t i, double damping)
{
#if LANES == 1
    matrix_row(Q_uu, i)[i] += damping;
#else
    matrix_row(Q_uu, i)[i / LANES][i % LANES] += damping;
#endif
}

static bool lane_is_set(lane_mask mask)
{
#if LANES == 1
    return mask != 0;
#else
    return mask[0] != 0;
#endif
}

/* Replaces K by (Q_uu + d 1)^-1 K, where d is on the diagonal already. `diagonal` is scratch of m lanes. Returns false
 * if a pivot does not exceed the rounding error of its diagonal entry. */
static bool solve_gains(const matrix *Q_uu, const matrix *K, size_t m, lane *diagonal, dyn_deadline deadline)
{
    for (size_t i = 0; i < m; i++)
        diagonal[i] = spread_entry(Q_uu, i, i);
    for (size_t k = 0; k < m && goes_on(deadline, m); k++) {
        const lane pivot = spread_entry(Q_uu, k, k), rounding = 16 * (double)m * DBL_EPSILON * diagonal[k];
        if (!lane_is_set(lane_less(rounding, pivot) & lane_positive(pivot))) return false;
        for (size_t i = k + 1; i < m; i++) {
            const lane f = spread_entry(Q_uu, k, i) / pivot;
            eliminate_row(Q_uu, i, f, k);
            eliminate_row(K, i, f, k);
        }
    }
    for (size_t k = m; k-- > 0 && goes_on(deadline, m);) {
        for (size_t i = k + 1; i < m; i++)
            eliminate_row(K, k, spread_entry(Q_uu, k, i), i);
        const lane pivot = spread_entry(Q_uu, k, k);
        for (size_t j = 0; j < K->width; j++)
            matrix_row(K, k)[j] = matrix_row(K, k)[j] / pivot;
    }
    return true;
}

/* Sets V, n x n, to (V + VT) / 2: products of matrices in floating point are symmetric up to rounding only. */
static void average_with_transpose(double *V, size_t n)
{
    const size_t width = dyn_riccati_width(n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double mean = 0.5 * (V[i * width + j] + V[j * width + i]);
            V[i * width + j] = V[j * width + i] = mean;
        }
}

/* Sets V to AT W + Q_uxT K - d KT K, where W = V A was computed with the V on entry. */
static void update_value(const dyn_riccati *io, const matrix *W, const matrix *Q_ux, const matrix *K,
                         dyn_deadline deadline)
{
    const matrix V = matrix_of(io->V, io->n), A = matrix_of(io->A, io->n);
    clear(V.entry, io->n * V.width);
    accumulate_product(&V, io->n, (factor){&A, true}, W, io->n, deadline);
    /* W becomes Q_ux - d K; io->Q_ux is a result and must not change */
    for (size_t e = 0; e < io->m * K->width; e++)
        W->entry[e] = sub_mul(Q_ux->entry[e], io->damping, K->entry[e]);
    accumulate_product(&V, io->n, (factor){W, true}, K, io->m, deadline);
    average_with_transpose(io->V, io->n);
}

static void riccati_step(const dyn_riccati *io, dyn_deadline deadline)
{
    const size_t n = io->n, m = io->m;
    const matrix V = matrix_of(io->V, n), A = matrix_of(io->A, n), B = matrix_of(io->B, m), K = matrix_of(io->K, n),
                 Q_ux = matrix_of(io->Q_ux, n), Q_uu = matrix_of(io->Q_uu, m), W = matrix_of(io->work, n),
                 VB = matrix_of(io->work + n * dyn_riccati_width(n), m);
    clear(W.entry, n * W.width);
    clear(VB.entry, n * VB.width);
    accumulate_product(&W, n, (factor){&V, false}, &A, n, deadline);
    accumulate_product(&VB, n, (factor){&V, false}, &B, n, deadline);
    accumulate_product(&Q_ux, m, (factor){&B, true}, &W, n, deadline);
    accumulate_product(&Q_uu, m, (factor){&B, true}, &VB, n, deadline);
    for (size_t e = 0; e < m * K.width; e++)
        K.entry[e] = -Q_ux.entry[e];
    *io->scale = largest_diagonal(io->Q_uu, m);
    for (size_t i = 0; i < m; i++)
        add_damping(&Q_uu, i, io->damping);
    *io->indefinite = !solve_gains(&Q_uu, &K, m, VB.entry, deadline);
    if (!*io->indefinite) update_value(io, &W, &Q_ux, &K, deadline);
}

/* Takes the step of `io`. A step is one block, so `blocks` is always 1. */
void LANE_NAME(riccati)(const dyn_scene *scene, void *memory, const dyn_riccati *io, size_t blocks)
{
    (void)memory, (void)blocks;
    riccati_step(io, scene->deadline);
}
