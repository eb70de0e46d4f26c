/* test_regressor_rate.c - compares the regressor's time derivative with the complex step of the regressor. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include <stdlib.h>
#include <string.h>

/* Relative to the largest entry. */
#define TOLERANCE 1e-12

enum { ROBOTS = 200 };

/* Evaluates the regressor over complex numbers, with every input moving at its rate. */
static void differentiate(const trial *t, double *Y_dot, double *size)
{
    size_t           n = t->nv * 10 * t->bodies;
    complex_state    s = complex_state_make(t, 0);
    double _Complex *Y = complex_array(n);
    complex_state_move(&s, t->qd);
    complex_add(t->nv, s.qd, t->qdd);
    complex_add(t->nv, s.qdd, t->qddd);
    dyn_kernels_complex.regressor(
        &t->scene, s.workspace,
        &(dyn_regressor){.q = as_lanes(s.q), .qd = as_lanes(s.qd), .qdd = as_lanes(s.qdd), .regressor = as_lanes(Y)},
        1);
    complex_derivative(n, Y, Y_dot);
    *size = largest(n, Y_dot);
    free(Y);
    complex_state_free(&s);
}

static void compare_rates(const trial *t)
{
    const dyn_kernels *k;
    size_t             n        = t->nv * 10 * t->bodies;
    double            *expected = trial_array(t, n), *Y = trial_array(t, n), *Y_dot = trial_array(t, n), size;
    differentiate(t, expected, &size);
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        dyn_regressor io = {.q = t->q, .qd = t->qd, .qdd = t->qdd, .qddd = t->qddd, .regressor_dot = Y_dot};
        rows_regressor(k, &t->scene, 1, io);
        check_close_scaled("regressor_dot", t->seed, n, Y_dot, expected, TOLERANCE, size);
        memcpy(Y, Y_dot, n * sizeof *Y);
        io.regressor = trial_array(t, n); /* the regressor must have the same bits as when requested without its rate */
        rows_regressor(k, &t->scene, 1, io);
        assert_memory_equal(Y, Y_dot, n * sizeof *Y);
        free((void *)io.regressor);
    }
    free(expected), free(Y), free(Y_dot);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, 1, compare_rates);
}

static void test_terms(void **state)
{
    trial_terms(1, compare_rates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_robots), cmocka_unit_test(test_terms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
