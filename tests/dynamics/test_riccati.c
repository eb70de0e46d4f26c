/* test_riccati.c - compares steps of the Riccati recursion with its equations, evaluated in scalar loops, and checks
   which pivots are refused. */
#include "tests/dynamics/support/check.h"
#include "dynamics/riccati.h"
#include "tests/target.h"
#include <math.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the sums of the magnitudes of the terms. */
#define TOLERANCE 1e-11

enum { SIZES = 12, MOST = 30 };

/* A problem with its results. All matrices have the form of riccati.h. */
typedef struct problem {
    size_t  n, m;
    double *A, *B, *Q_ux, *Q_uu, *V, *K, *work, damping, scale;
    bool    indefinite;
} problem;

static double *matrix_of(size_t rows, size_t columns)
{
    const size_t bytes = (rows * dyn_riccati_width(columns) * sizeof(double) + DYN_ALIGN) / DYN_ALIGN * DYN_ALIGN;
    double      *M     = aligned_alloc(DYN_ALIGN, bytes);
    assert_non_null(M);
    memset(M, 0, bytes);
    return M;
}

static double draw_number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*seed / 0x1p63;
}

static void fill_random(uint64_t *seed, size_t rows, size_t columns, double *M)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            M[i * dyn_riccati_width(columns) + j] = draw_number(seed);
}

/* Sets M to a random positive definite matrix, L^T L + part * 1. */
static void draw_positive(uint64_t *seed, size_t n, double part, double *M)
{
    const size_t width = dyn_riccati_width(n);
    double      *L     = matrix_of(n, n);
    fill_random(seed, n, n, L);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            M[i * width + j] = i == j ? part : 0;
            for (size_t k = 0; k < n; k++)
                M[i * width + j] += L[k * width + i] * L[k * width + j];
        }
    free(L);
}

static problem problem_make(uint64_t seed)
{
    problem p = {.n = 3 + seed * 5 % MOST, .damping = seed % 3 ? 0.1 * (double)seed : 0};
    p.m       = 1 + seed * 7 % (p.n - 1);
    p.A       = matrix_of(p.n, p.n);
    p.B       = matrix_of(p.n, p.m);
    p.Q_ux    = matrix_of(p.m, p.n);
    p.Q_uu    = matrix_of(p.m, p.m);
    p.V       = matrix_of(p.n, p.n);
    p.K       = matrix_of(p.m, p.n);
    p.work    = matrix_of(1, dyn_riccati_work(p.n, p.m));
    fill_random(&seed, p.n, p.n, p.A);
    fill_random(&seed, p.n, p.m, p.B);
    fill_random(&seed, p.m, p.n, p.Q_ux);
    draw_positive(&seed, p.m, 0.5, p.Q_uu);
    draw_positive(&seed, p.n, 0.1, p.V);
    return p;
}

static void problem_free(problem *p)
{
    free(p->A), free(p->B), free(p->Q_ux), free(p->Q_uu), free(p->V), free(p->K), free(p->work);
}

static void take_riccati_step(const dyn_kernels *k, problem *p)
{
    const dyn_scene   scene = {.model = NULL};
    const dyn_riccati io    = {.n          = p->n,
                               .m          = p->m,
                               .A          = p->A,
                               .B          = p->B,
                               .Q_ux       = p->Q_ux,
                               .Q_uu       = p->Q_uu,
                               .damping    = p->damping,
                               .V          = p->V,
                               .K          = p->K,
                               .work       = p->work,
                               .scale      = &p->scale,
                               .indefinite = &p->indefinite};
    k->riccati(&scene, NULL, &io, 1);
}

/* A matrix with its number of columns. */
typedef struct sized {
    const double *entry;
    size_t        columns;
} sized;

/* Adds A^T M B to C; M is square. */
static void add_sandwich(sized A, sized M, sized B, double *C)
{
    for (size_t i = 0; i < A.columns; i++)
        for (size_t j = 0; j < B.columns; j++)
            for (size_t k = 0; k < M.columns; k++)
                for (size_t l = 0; l < M.columns; l++)
                    C[i * dyn_riccati_width(B.columns) + j] += A.entry[k * dyn_riccati_width(A.columns) + i] *
                                                               M.entry[k * dyn_riccati_width(M.columns) + l] *
                                                               B.entry[l * dyn_riccati_width(B.columns) + j];
}

/* Checks (Q_uu + d) K = -Q_ux and V = A^T V A + K^T Q_uu K + K^T Q_ux + Q_ux^T K, with Q_ux and Q_uu computed from the
   value function of the next node. */
static void compare_equations(uint64_t seed, const problem *before, const problem *after)
{
    const size_t n = before->n, m = before->m, wn = dyn_riccati_width(n), wm = dyn_riccati_width(m);
    double      *Q_ux = matrix_of(m, n), *Q_uu = matrix_of(m, m), *V = matrix_of(n, n), *left = matrix_of(m, n),
           *right = matrix_of(m, n), most = 0;
    const sized A = {before->A, n}, B = {before->B, m}, before_V = {before->V, n}, K = {after->K, n};
    memcpy(Q_ux, before->Q_ux, m * wn * sizeof *Q_ux);
    memcpy(Q_uu, before->Q_uu, m * wm * sizeof *Q_uu);
    add_sandwich(B, before_V, A, Q_ux);
    add_sandwich(B, before_V, B, Q_uu);
    add_sandwich(A, before_V, A, V);
    for (size_t a = 0; a < m; a++)
        most = fmax(most, Q_uu[a * wm + a]);
    assert_true(fabs(after->scale - most) <= 1e-13 * most);
    check_close("Q_ux", seed, m * wn, after->Q_ux, Q_ux, 1e-13);
    for (size_t a = 0; a < m; a++)
        for (size_t i = 0; i < n; i++) {
            right[a * wn + i] = -Q_ux[a * wn + i];
            left[a * wn + i]  = before->damping * after->K[a * wn + i];
            for (size_t b = 0; b < m; b++)
                left[a * wn + i] += Q_uu[a * wm + b] * after->K[b * wn + i];
        }
    check_close("gains", seed, m * wn, left, right, 1e-11);
    add_sandwich(K, (sized){Q_uu, m}, K, V);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t a = 0; a < m; a++)
                V[i * wn + j] += after->K[a * wn + i] * Q_ux[a * wn + j] + Q_ux[a * wn + i] * after->K[a * wn + j];
    check_close("value", seed, n * wn, after->V, V, 1e-11);
    free(Q_ux), free(Q_uu), free(V), free(left), free(right);
}

/* Gains and values solve their equations; targets of one arithmetic class have the same bits, whatever their lanes. */
static void test_steps_solve_their_equations_with_equal_bits(void **state)
{
    for (uint64_t seed = 1; seed <= SIZES; seed++) {
        const problem      before   = problem_make(seed);
        problem            first[2] = {{.n = 0}, {.n = 0}};
        const dyn_kernels *k;
        for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
            problem p = problem_make(seed);
            take_riccati_step(k, &p);
            assert_false(p.indefinite);
            compare_equations(seed, &before, &p);
            problem *same = &first[k->fused];
            if (same->n == 0) {
                *same = p;
                continue;
            }
            assert_memory_equal(p.K, same->K, p.m * dyn_riccati_width(p.n) * sizeof *p.K);
            assert_memory_equal(p.V, same->V, p.n * dyn_riccati_width(p.n) * sizeof *p.V);
            problem_free(&p);
        }
        for (int fused = 0; fused < 2; fused++)
            if (first[fused].n > 0) problem_free(&first[fused]);
        problem_free((problem *)&before);
    }
}

/* Q_uu = diag(1, -0.25) + 0: indefinite below a damping of 0.25, and definite above. */
static void test_a_negative_pivot_is_indefinite_until_it_is_damped(void **state)
{
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++)
        for (int i = 0; i < 3; i++) {
            problem      p     = problem_make(4);
            const size_t width = dyn_riccati_width(p.m);
            assert_true(p.m > 1);
            memset(p.V, 0, p.n * dyn_riccati_width(p.n) * sizeof *p.V);
            memset(p.Q_uu, 0, p.m * width * sizeof *p.Q_uu);
            for (size_t a = 0; a < p.m; a++)
                p.Q_uu[a * width + a] = a + 1 < p.m ? 1 : -0.25;
            p.damping = (const double[]){0, 0.25, 0.26}[i];
            take_riccati_step(k, &p);
            assert_int_equal(p.indefinite, i < 2);
            assert_true(p.scale == 1);
            problem_free(&p);
        }
}

/* Two torques that act alike up to rounding errors: the second pivot is 4 or 1e6 units in the last place of its entry.
 */
static void test_a_pivot_of_rounding_errors_is_indefinite(void **state)
{
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++)
        for (int i = 0; i < 2; i++) {
            problem      p     = problem_make(4);
            const size_t width = dyn_riccati_width(p.m), first = (p.m - 2) * (width + 1);
            assert_true(p.m > 1);
            memset(p.V, 0, p.n * dyn_riccati_width(p.n) * sizeof *p.V);
            memset(p.Q_uu, 0, p.m * width * sizeof *p.Q_uu);
            for (size_t a = 0; a < p.m; a++)
                p.Q_uu[a * width + a] = 2.5;
            p.Q_uu[first + 1] = p.Q_uu[first + width] = 1.5;
            p.Q_uu[first + width + 1]                 = 0.9 * (1 + (i == 0 ? 4 : 1e6) * DBL_EPSILON);
            p.damping                                 = 0;
            take_riccati_step(k, &p);
            assert_int_equal(p.indefinite, i == 0);
            problem_free(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps_solve_their_equations_with_equal_bits),
                                       cmocka_unit_test(test_a_negative_pivot_is_indefinite_until_it_is_damped),
                                       cmocka_unit_test(test_a_pivot_of_rounding_errors_is_indefinite)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
