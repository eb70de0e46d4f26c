/* test_lagrange.c - compares forces and mass matrix with derivatives of the energies (Lagrange's equations), by the
 * complex step. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The complex step is exact to rounding; both sides sum along at most 40 bodies. */
#define TOLERANCE 2e-14

enum { ROBOTS = 120 };

/* d(potential)/dq must be the force that keeps the robot at rest: gravity and springs. */
static void test_potential_gives_the_static_forces(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial            t    = trial_make_plain(seed, TREE_ALL);
        double          *bias = trial_array(&t, t.nv), *expected = trial_array(&t, t.nv);
        double _Complex *potential = complex_array(1);
        for (size_t j = 0; j < t.nv; j++) {
            complex_state s = complex_state_along(&t, j);
            dyn_kernels_complex.energy(&t.scene, s.workspace,
                                       &(dyn_energy){.q = as_lanes(s.q), .potential = as_lanes(potential)}, 1);
            complex_derivative(1, potential, &expected[j]);
            complex_state_free(&s);
        }
        rows_bias(test_kernels(), &t.scene, 1, (dyn_bias){.q = t.q, .bias = bias});
        check_close_scaled("static forces", seed, t.nv, bias, expected, TOLERANCE, 9.81 * t.model->mass);
        free(bias), free(expected), free(potential);
        trial_free(&t);
    }
}

/* Checks d(kinetic)/d(qd) = M qd. */
static void test_kinetic_energy_gives_the_momenta(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial            t = trial_make_plain(seed, TREE_ALL);
        double          *M = trial_array(&t, t.nv * t.nv), *momentum = trial_array(&t, t.nv);
        double          *expected = trial_array(&t, t.nv);
        double _Complex *kinetic  = complex_array(1);
        rows_mass_matrix(test_kernels(), &t.scene, 1, (dyn_mass_matrix){.q = t.q, .mass_matrix = M});
        for (size_t j = 0; j < t.nv; j++) {
            complex_state s = complex_state_make(&t, 0);
            s.qd[j] += I * COMPLEX_STEP;
            dyn_kernels_complex.energy(
                &t.scene, s.workspace,
                &(dyn_energy){.q = as_lanes(s.q), .qd = as_lanes(s.qd), .kinetic = as_lanes(kinetic)}, 1);
            complex_derivative(1, kinetic, &expected[j]);
            for (size_t i = 0; i < t.nv; i++)
                momentum[j] += M[j * t.nv + i] * t.qd[i];
            complex_state_free(&s);
        }
        check_close("M qd", seed, t.nv, momentum, expected, TOLERANCE);
        free(M), free(momentum), free(expected), free(kinetic);
        trial_free(&t);
    }
}

/* Checks Lagrange's equation, for coordinates whose rates are the velocities: C qd = M' qd - d(kinetic)/dq. */
static void test_coriolis_satisfies_lagrange(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed += 2) {
        trial            t        = trial_make_plain(seed, TREE_ALL & ~TREE_FREELY);
        size_t           n        = t.nv;
        double          *coriolis = trial_array(&t, n), *expected = trial_array(&t, n);
        double          *M_dot   = trial_array(&t, n * n);
        double _Complex *kinetic = complex_array(1), *M = complex_array(n * n);
        complex_state    along = complex_state_make(&t, 0);
        complex_state_move(&along, t.qd);
        dyn_kernels_complex.mass_matrix(&t.scene, along.workspace,
                                        &(dyn_mass_matrix){.q = as_lanes(along.q), .mass_matrix = as_lanes(M)}, 1);
        complex_derivative(n * n, M, M_dot);
        complex_state_free(&along);
        for (size_t j = 0; j < n; j++) {
            complex_state s = complex_state_along(&t, j);
            double        slope;
            dyn_kernels_complex.energy(
                &t.scene, s.workspace,
                &(dyn_energy){.q = as_lanes(s.q), .qd = as_lanes(s.qd), .kinetic = as_lanes(kinetic)}, 1);
            complex_derivative(1, kinetic, &slope);
            expected[j] = -slope;
            for (size_t i = 0; i < n; i++)
                expected[j] += M_dot[j * n + i] * t.qd[i];
            complex_state_free(&s);
        }
        rows_bias(test_kernels(), &t.scene, 1, (dyn_bias){.q = t.q, .qd = t.qd, .coriolis = coriolis});
        /* the difference on the right cancels, completely for a single joint: the tolerance is relative to M' qd */
        check_close_scaled("C qd", seed, n, coriolis, expected, TOLERANCE, fmax(largest(n * n, M_dot), t.model->mass));
        free(coriolis), free(expected), free(M_dot), free(kinetic), free(M);
        trial_free(&t);
    }
}

/* Coriolis forces must have no power, also with a floating base: qd^T (M' - 2 C) qd = 0. */
static void test_coriolis_forces_only_redistribute_energy(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t        = trial_make_plain(seed, TREE_ALL);
        size_t  n        = t.nv;
        double *coriolis = trial_array(&t, n), *M_dot = trial_array(&t, n * n), got = 0, expected = 0, size = 0;
        double _Complex *M = complex_array(n * n);
        complex_state    s = complex_state_make(&t, 0);
        complex_state_move(&s, t.qd);
        dyn_kernels_complex.mass_matrix(&t.scene, s.workspace,
                                        &(dyn_mass_matrix){.q = as_lanes(s.q), .mass_matrix = as_lanes(M)}, 1);
        complex_derivative(n * n, M, M_dot);
        rows_bias(test_kernels(), &t.scene, 1, (dyn_bias){.q = t.q, .qd = t.qd, .coriolis = coriolis});
        for (size_t i = 0; i < n; i++) {
            got += 2 * t.qd[i] * coriolis[i];
            size += fabs(2 * t.qd[i] * coriolis[i]);
            for (size_t j = 0; j < n; j++)
                expected += t.qd[i] * M_dot[i * n + j] * t.qd[j];
        }
        check_close_scaled("power", seed, 1, &got, &expected, TOLERANCE, fmax(size, largest(n * n, M_dot)));
        free(coriolis), free(M_dot), free(M);
        complex_state_free(&s);
        trial_free(&t);
    }
}

/* Checks d(qdd)/d(tau) = M^-1 and d(tau)/d(qdd) = M, column by column. */
static void test_mass_matrix_and_inverse_are_derivatives(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial            t = trial_make(seed, 1);
        size_t           n = t.nv;
        double          *M = trial_array(&t, n * n), *inverse = trial_array(&t, n * n), pivot;
        double          *dtau = trial_array(&t, n * n), *dqdd = trial_array(&t, n * n);
        double _Complex *result = complex_array(n), *singular = complex_array(1);
        for (size_t j = 0; j < n; j++) {
            complex_state s = complex_state_make(&t, 0);
            s.qdd[j] += I * COMPLEX_STEP;
            s.tau[j] += I * COMPLEX_STEP;
            dyn_kernels_complex.inverse_dynamics(&t.scene, s.workspace,
                                                 &(dyn_inverse_dynamics){.q        = as_lanes(s.q),
                                                                         .qd       = as_lanes(s.qd),
                                                                         .qdd      = as_lanes(s.qdd),
                                                                         .wrenches = as_lanes(s.wrenches),
                                                                         .tau      = as_lanes(result)},
                                                 1);
            complex_derivative(n, result, dtau + j * n);
            dyn_kernels_complex.forward_dynamics(&t.scene, s.workspace,
                                                 &(dyn_forward_dynamics){.q        = as_lanes(s.q),
                                                                         .qd       = as_lanes(s.qd),
                                                                         .tau      = as_lanes(s.tau),
                                                                         .wrenches = as_lanes(s.wrenches),
                                                                         .qdd      = as_lanes(result),
                                                                         .singular = as_lanes(singular)},
                                                 1);
            complex_derivative(n, result, dqdd + j * n);
            complex_state_free(&s);
        }
        rows_mass_matrix(test_kernels(), &t.scene, 1,
                         (dyn_mass_matrix){.q = t.q, .mass_matrix = M, .inverse = inverse, .singular = &pivot});
        check_close("d(tau)/d(qdd)", seed, n * n, dtau, M, TOLERANCE);
        /* both sides have errors of a few units in the last place times the condition number */
        double condition = (double)n * largest(n * n, M) * largest(n * n, inverse);
        check_close("d(qdd)/d(tau)", seed, n * n, dqdd, inverse, 4 * DBL_EPSILON * condition);
        free(M), free(inverse), free(dtau), free(dqdd), free(result), free(singular);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_potential_gives_the_static_forces),
        cmocka_unit_test(test_kinetic_energy_gives_the_momenta),
        cmocka_unit_test(test_coriolis_satisfies_lagrange),
        cmocka_unit_test(test_coriolis_forces_only_redistribute_energy),
        cmocka_unit_test(test_mass_matrix_and_inverse_are_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
