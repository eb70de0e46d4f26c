/* test_mass_matrix.c - compares the mass matrix of random robots and its inverse with the reference, on every target.
 */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entries are sums over the bodies of a subtree, 40 at most: 45 units in the last place of the largest entry. */
#define TOLERANCE 1e-14

enum { ROBOTS = 240, ROWS = 3 };

typedef struct matrices {
    double *M, *inverse, *singular;
} matrices;

static matrices evaluate(const dyn_kernels *k, const trial *t)
{
    matrices m = {trial_array(t, t->nv * t->nv), trial_array(t, t->nv * t->nv), trial_array(t, 1)};
    rows_mass_matrix(k, &t->scene, t->rows,
                     (dyn_mass_matrix){.q = t->q, .mass_matrix = m.M, .inverse = m.inverse, .singular = m.singular});
    return m;
}

static void free_matrices(matrices *m)
{
    free(m->M), free(m->inverse), free(m->singular);
}

static void test_random_robots(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t        = trial_make(seed, ROWS);
        size_t  n        = t.nv * t.nv;
        double *expected = trial_array(&t, n);
        for (size_t r = 0; r < t.rows; r++) {
            reference *ref = trial_reference(&t, r);
            reference_mass_matrix(ref, expected + r * n);
            reference_free(ref);
        }
        const dyn_kernels *k;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            matrices m = evaluate(k, &t);
            check_close(k->target, seed, t.rows * n, m.M, expected, TOLERANCE);
            free_matrices(&m);
        }
        free(expected);
        trial_free(&t);
    }
}

/* Asserts that M is symmetric to the last bit and positive definite: Cholesky's factorisation succeeds. */
static void assert_positive_definite(const double *M, size_t n, uint64_t seed)
{
    double *L = calloc(n * n, sizeof *L);
    assert_non_null(L);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double s = M[i * n + j];
            if (memcmp(&M[i * n + j], &M[j * n + i], sizeof s) != 0)
                fail_msg("seed %llu: M is not symmetric at %zu, %zu", (unsigned long long)seed, i, j);
            for (size_t k = 0; k < j; k++)
                s -= L[i * n + k] * L[j * n + k];
            if (i == j && !(s > 0))
                fail_msg("seed %llu: M is not positive definite, pivot %zu is %g", (unsigned long long)seed, i, s);
            L[i * n + j] = i == j ? sqrt(s) : s / L[j * n + j];
        }
    free(L);
}

static void test_symmetric_positive_definite(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial    t = trial_make(seed, ROWS);
        matrices m = evaluate(k, &t);
        for (size_t r = 0; r < t.rows; r++)
            assert_positive_definite(m.M + r * t.nv * t.nv, t.nv, seed);
        free_matrices(&m);
        trial_free(&t);
    }
}

/* At rest, without gravity and joint forces, the torque for qdd = e_j must be column j of M. */
static void test_columns_are_inverse_dynamics(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        trial   t     = trial_make(seed, 1);
        size_t  n     = t.nv;
        double *units = calloc(n * n, sizeof *units), *positions = calloc(n * t.nq, sizeof *positions);
        double *columns = calloc(n * n, sizeof *columns);
        assert_true(units && positions && columns);
        for (size_t j = 0; j < n; j++) {
            units[j * n + j] = 1;
            memcpy(positions + j * t.nq, t.q, t.nq * sizeof *t.q);
        }
        dyn_scene still = {.model = t.model};
        matrices  m     = evaluate(test_kernels(), &t);
        rows_inverse_dynamics(test_kernels(), &still, n,
                              (dyn_inverse_dynamics){.q = positions, .qdd = units, .tau = columns});
        check_close("M e_j", seed, n * n, columns, m.M, TOLERANCE); /* M is symmetric: rows are columns */
        free_matrices(&m);
        free(units), free(positions), free(columns);
        trial_free(&t);
    }
}

/* The products M X and X M must be 1 up to the condition of M: |M X - 1| <= eps |M| |X| n, with magnitudes entry by
 * entry. */
static void assert_inverse(const double *M, const double *X, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double left = -(double)(i == j), right = left, left_size = 1, right_size = 1;
            for (size_t k = 0; k < n; k++) {
                left += X[i * n + k] * M[k * n + j];
                right += M[i * n + k] * X[k * n + j];
                left_size += fabs(X[i * n + k]) * largest(n, M + k * n);
                right_size += largest(n, M + i * n) * fabs(X[k * n + j]);
            }
            if (!(fabs(left) <= 1e-14 * left_size) || !(fabs(right) <= 1e-14 * right_size))
                fail_msg("seed %llu: (inverse M - 1) at %zu, %zu is %g and %g, sizes %g and %g",
                         (unsigned long long)seed, i, j, left, right, left_size, right_size);
        }
}

static void test_inverse(void **state)
{
    const dyn_kernels *k;
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial  t = trial_make(seed, ROWS);
        size_t n = t.nv * t.nv;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            matrices m = evaluate(k, &t);
            for (size_t r = 0; r < t.rows; r++) {
                assert_true(m.singular[r] == -1);
                assert_inverse(m.M + r * n, m.inverse + r * n, t.nv, seed);
            }
            free_matrices(&m);
        }
        trial_free(&t);
    }
}

/* Every row with the straight arm must report the first joint; the other states of the block are not affected. */
static void test_singular_states_are_reported(void **state)
{
    trial              t = trial_point_mass_arm(9);
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        matrices m = evaluate(k, &t);
        for (size_t r = 0; r < t.rows; r++) {
            assert_true(m.singular[r] == (r % 2 ? 0 : -1));
            if (r % 2 == 0) assert_inverse(m.M + 4 * r, m.inverse + 4 * r, 2, 0);
        }
        free_matrices(&m);
    }
    trial_free(&t);
}

/* Detects a pivot that is zero up to rounding, for either sign of the rounding error, in all but one of 300 states. In
 * that state another pivot is nearly zero and magnifies the error. */
static void test_redundant_arms_are_singular(void **state)
{
    size_t missed[DYN_MAX_LANES] = {0};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        trial              t = trial_redundant_arm(seed, ROWS);
        const dyn_kernels *k;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            matrices m = evaluate(k, &t);
            for (size_t r = 0; r < t.rows; r++)
                missed[i] += m.singular[r] < 0;
            free_matrices(&m);
        }
        trial_free(&t);
    }
    for (size_t i = 0; dyn_kernels_at(i); i++)
        assert_in_range(missed[i], 0, 200 * ROWS / 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_symmetric_positive_definite),
        cmocka_unit_test(test_columns_are_inverse_dynamics),
        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_singular_states_are_reported),
        cmocka_unit_test(test_redundant_arms_are_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
