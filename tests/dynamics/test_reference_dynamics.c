/* test_reference_dynamics.c - compares the torque of a reference velocity and acceleration (passivity-based control)
 * with the mass matrix, the Coriolis matrix and inverse dynamics. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>

/* Relative to the largest torque: rounding of sums along at most 40 bodies. */
#define TOLERANCE 1e-13

enum { ROBOTS = 200 };

static double *torque_of(const trial *t, const double *qd_r, const double *qdd_r)
{
    double *tau = trial_array(t, t->nv);
    rows_reference_dynamics(
        test_kernels(), &t->scene, t->rows,
        (dyn_reference_dynamics){
            .q = t->q, .qd = t->qd, .qd_reference = qd_r, .qdd_reference = qdd_r, .wrenches = t->wrenches, .tau = tau});
    return tau;
}

/* Checks tau = M qdd_r + C(q, qd) qd_r + [bias(q, qd_r) - C(q, qd_r) qd_r]; the bracket is gravity, springs, wrenches,
 * and friction at qd_r. */
static void test_definition(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial         t    = trial_make(seed, 1);
        const size_t  n    = t.nv;
        const double *qd_r = t.qdd, *qdd_r = t.qddd;
        double       *M = trial_array(&t, n * n), *C = trial_array(&t, n * n), *bias = trial_array(&t, n),
               *coriolis = trial_array(&t, n), *expected = trial_array(&t, n), *parts = trial_array(&t, 1);
        double *tau = torque_of(&t, qd_r, qdd_r);
        rows_mass_matrix(k, &t.scene, 1, (dyn_mass_matrix){.q = t.q, .mass_matrix = M});
        rows_coriolis(k, &t.scene, 1, (dyn_coriolis){.q = t.q, .qd = t.qd, .coriolis_matrix = C});
        rows_bias(k, &t.scene, 1,
                  (dyn_bias){.q = t.q, .qd = qd_r, .wrenches = t.wrenches, .bias = bias, .coriolis = coriolis});
        for (size_t i = 0; i < n; i++) {
            double size = 0;
            expected[i] = bias[i] - coriolis[i];
            for (size_t j = 0; j < n; j++) {
                expected[i] += M[i * n + j] * qdd_r[j] + C[i * n + j] * qd_r[j];
                size += fabs(M[i * n + j] * qdd_r[j]) + fabs(C[i * n + j] * qd_r[j]);
            }
            size += fabs(bias[i]) + fabs(coriolis[i]);
            parts[0] = size > parts[0] ? size : parts[0];
        }
        check_close_scaled("tau", seed, n, tau, expected, TOLERANCE, parts[0]);
        free(M), free(C), free(bias), free(coriolis), free(expected), free(parts), free(tau);
        trial_free(&t);
    }
}

/* At qd_r = qd and qdd_r = qdd the torque must be that of inverse dynamics. */
static void test_own_motion(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t   = trial_make(seed, 3);
        double *tau = torque_of(&t, t.qd, t.qdd), *expected = trial_array(&t, t.nv),
               *wrenches = trial_array(&t, 6 * t.bodies);
        rows_inverse_dynamics(test_kernels(), &t.scene, t.rows,
                              (dyn_inverse_dynamics){.q              = t.q,
                                                     .qd             = t.qd,
                                                     .qdd            = t.qdd,
                                                     .wrenches       = t.wrenches,
                                                     .tau            = expected,
                                                     .joint_wrenches = wrenches});
        check_close_scaled("tau", seed, t.rows * t.nv, tau, expected, TOLERANCE,
                           largest(t.rows * 6 * t.bodies, wrenches));
        free(tau), free(expected), free(wrenches);
        trial_free(&t);
    }
}

/* A reference velocity or acceleration that is absent must mean zero. */
static void test_absent_is_zero(void **state)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        trial   t    = trial_make(seed, 3);
        double *zero = trial_array(&t, t.nv), *absent, *with_zeros;
        absent = torque_of(&t, NULL, t.qdd), with_zeros = torque_of(&t, zero, t.qdd);
        check_close("without qd_reference", seed, t.rows * t.nv, absent, with_zeros, 0);
        free(absent), free(with_zeros);
        absent = torque_of(&t, t.qdd, NULL), with_zeros = torque_of(&t, t.qdd, zero);
        check_close("without qdd_reference", seed, t.rows * t.nv, absent, with_zeros, 0);
        free(absent), free(with_zeros), free(zero);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definition), cmocka_unit_test(test_own_motion),
                                       cmocka_unit_test(test_absent_is_zero)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
