/* test_directional.c - compares rates of inverse and of forward dynamics along directions with the complex step, with
 * gradients, to which they are adjoint, and with products of matrices and directions. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the sums of the magnitudes of the terms, and to the joint wrenches: a torque is one component of a wrench
   and may be much smaller. */
#define OF_COMPLEX_STEP 1e-12
#define OF_MATRICES     1e-13
#define OF_TIME         1e-13
/* Forward dynamics also loses digits to the condition of M. */
#define OF_SOLUTIONS 1e-11

enum { ROBOTS = 300, LOADED = 60 };

static void run_rates(const dyn_kernels *k, const trial *t, const trial_directions *d, double *rates, double *tau)
{
    rows_directional(k, &t->scene, 1,
                     (dyn_directional){.q             = t->q,
                                       .qd            = t->qd,
                                       .qdd           = t->qdd,
                                       .wrenches      = t->wrenches,
                                       .n             = TRIAL_DIRECTIONS,
                                       .direction_q   = d->part[TRIAL_Q],
                                       .direction_qd  = d->part[TRIAL_QD],
                                       .direction_qdd = d->part[TRIAL_LAST],
                                       .rates         = rates,
                                       .tau           = tau});
}

static void run_forward_rates(const dyn_kernels *k, const trial *t, const trial_directions *d, double *rates,
                              double *qdd)
{
    double singular[1];
    rows_forward_directional(k, &t->scene, 1,
                             (dyn_forward_directional){.q             = t->q,
                                                       .qd            = t->qd,
                                                       .tau           = t->tau,
                                                       .wrenches      = t->wrenches,
                                                       .n             = TRIAL_DIRECTIONS,
                                                       .direction_q   = d->part[TRIAL_Q],
                                                       .direction_qd  = d->part[TRIAL_QD],
                                                       .direction_tau = d->part[TRIAL_LAST],
                                                       .rates         = rates,
                                                       .qdd           = qdd,
                                                       .singular      = singular});
}

/* --- inverse dynamics --------------------------------------------------------------------------------------------- */

/* Sets the rates of tau along direction i by the complex step. Returns the largest rate of a joint wrench. */
static double complex_rates(const trial *t, const trial_directions *d, size_t i, double *rates)
{
    const size_t  nv = t->nv, nj = 6 * t->bodies;
    complex_state s = complex_state_make(t, 0);
    double       *w = trial_array(t, nj);
    complex_state_move(&s, d->part[TRIAL_Q] + i * nv);
    complex_add(nv, s.qd, d->part[TRIAL_QD] + i * nv);
    complex_add(nv, s.qdd, d->part[TRIAL_LAST] + i * nv);
    complex_inverse_rates(&s, rates, w);
    const double most = largest(nj, w);
    free(w);
    complex_state_free(&s);
    return most;
}

static void compare_rates_with_complex_step(const trial *t)
{
    const size_t     nv = t->nv;
    trial_directions d  = trial_directions_make(t);
    double *rates = trial_array(t, TRIAL_DIRECTIONS * nv), *tau = trial_array(t, nv), *value = trial_array(t, nv),
           *expected = trial_array(t, nv);
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        run_rates(k, t, &d, rates, tau);
        rows_inverse_dynamics(
            k, &t->scene, 1,
            (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .tau = value});
        assert_memory_equal(tau, value, nv * sizeof *tau);
        for (size_t i = 0; i < TRIAL_DIRECTIONS; i++) {
            const double most = complex_rates(t, &d, i, expected);
            check_close_scaled("rates", t->seed, nv, rates + i * nv, expected, OF_COMPLEX_STEP, most);
        }
    }
    free(rates), free(tau), free(value), free(expected);
    trial_directions_free(&d);
}

static void test_rates_are_complex_step_derivatives(void **state)
{
    trial_robots(ROBOTS, 1, compare_rates_with_complex_step);
    trial_terms(1, compare_rates_with_complex_step);
    for (uint64_t seed = 1; seed <= LOADED; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_rates_with_complex_step(&t);
        trial_free(&t);
    }
}

/* The time derivatives are rates along the direction (qd, qdd, qddd); they also have a kernel of their own. */
static void compare_rates_with_time_derivatives(const trial *t)
{
    const size_t       nv    = t->nv;
    double            *rates = trial_array(t, nv), *tau_dot = trial_array(t, nv), *w = trial_array(t, 6 * t->bodies);
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        rows_directional(k, &t->scene, 1,
                         (dyn_directional){.q             = t->q,
                                           .qd            = t->qd,
                                           .qdd           = t->qdd,
                                           .wrenches      = t->wrenches,
                                           .n             = 1,
                                           .direction_q   = t->qd,
                                           .direction_qd  = t->qdd,
                                           .direction_qdd = t->qddd,
                                           .rates         = rates});
        rows_torque_derivative(k, &t->scene, 1,
                               (dyn_torque_derivative){.q                  = t->q,
                                                       .qd                 = t->qd,
                                                       .qdd                = t->qdd,
                                                       .qddd               = t->qddd,
                                                       .wrenches           = t->wrenches,
                                                       .tau_dot            = tau_dot,
                                                       .joint_wrench_rates = w});
        check_close_scaled("rates along time", t->seed, nv, rates, tau_dot, OF_TIME, largest(6 * t->bodies, w));
    }
    free(rates), free(tau_dot), free(w);
}

static void test_time_is_a_direction(void **state)
{
    trial_robots(ROBOTS, 1, compare_rates_with_time_derivatives);
    trial_terms(1, compare_rates_with_time_derivatives);
}

/* --- adjoints ----------------------------------------------------------------------------------------------------- */

/* Adds the products of two vectors to *sum, and their magnitudes to *size. */
static void add_products(size_t n, const double *a, const double *b, double *sum, double *size)
{
    for (size_t i = 0; i < n; i++) {
        *sum += a[i] * b[i];
        *size += fabs(a[i] * b[i]);
    }
}

/* Checks multipliers . rates = gradients . directions for direction i. */
static void compare_products(const trial *t, const trial_directions *d, const double *multipliers, const double *rates,
                             double *const gradient[TRIAL_PARTS], double tolerance)
{
    for (size_t i = 0; i < TRIAL_DIRECTIONS; i++) {
        double forward = 0, backward = 0, size = 0;
        add_products(t->nv, multipliers, rates + i * t->nv, &forward, &size);
        for (int part = 0; part < TRIAL_PARTS; part++)
            add_products(t->nv, gradient[part], d->part[part] + i * t->nv, &backward, &size);
        check_close_scaled("adjoints", t->seed, 1, &forward, &backward, tolerance, size);
    }
}

static void compare_with_gradients(const trial *t)
{
    const size_t       nv    = t->nv;
    trial_directions   d     = trial_directions_make(t);
    double            *rates = trial_array(t, TRIAL_DIRECTIONS * nv), *qdd = trial_array(t, nv), *gradient[TRIAL_PARTS];
    const double      *multipliers = t->qddd;
    const dyn_kernels *k;
    for (int part = 0; part < TRIAL_PARTS; part++)
        gradient[part] = trial_array(t, nv);
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        run_rates(k, t, &d, rates, NULL);
        rows_gradient(k, &t->scene, 1,
                      (dyn_gradient){.q            = t->q,
                                     .qd           = t->qd,
                                     .qdd          = t->qdd,
                                     .wrenches     = t->wrenches,
                                     .multipliers  = multipliers,
                                     .gradient_q   = gradient[TRIAL_Q],
                                     .gradient_qd  = gradient[TRIAL_QD],
                                     .gradient_qdd = gradient[TRIAL_LAST]});
        compare_products(t, &d, multipliers, rates, gradient, OF_MATRICES);
        run_forward_rates(k, t, &d, rates, qdd);
        rows_forward_gradient(k, &t->scene, 1,
                              (dyn_forward_gradient){.q            = t->q,
                                                     .qd           = t->qd,
                                                     .tau          = t->tau,
                                                     .wrenches     = t->wrenches,
                                                     .multipliers  = multipliers,
                                                     .qdd          = qdd,
                                                     .gradient_q   = gradient[TRIAL_Q],
                                                     .gradient_qd  = gradient[TRIAL_QD],
                                                     .gradient_tau = gradient[TRIAL_LAST]});
        compare_products(t, &d, multipliers, rates, gradient, OF_SOLUTIONS);
    }
    for (int part = 0; part < TRIAL_PARTS; part++)
        free(gradient[part]);
    free(rates), free(qdd);
    trial_directions_free(&d);
}

static void test_rates_and_gradients_are_adjoint(void **state)
{
    trial_robots(ROBOTS, 1, compare_with_gradients);
    for (uint64_t seed = 1; seed <= LOADED; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_with_gradients(&t);
        trial_free(&t);
    }
}

/* --- forward dynamics --------------------------------------------------------------------------------------------- */

static void compare_rates_with_matrices(const trial *t)
{
    const size_t     nv = t->nv;
    trial_directions d  = trial_directions_make(t);
    double *rates = trial_array(t, TRIAL_DIRECTIONS * nv), *qdd = trial_array(t, nv), *value = trial_array(t, nv),
           *expected = trial_array(t, nv), *D[TRIAL_PARTS], singular[1];
    const dyn_kernels *k;
    for (int part = 0; part < TRIAL_PARTS; part++)
        D[part] = trial_array(t, nv * nv);
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        rows_forward_sensitivity(k, &t->scene, 1,
                                 (dyn_forward_sensitivity){.q         = t->q,
                                                           .qd        = t->qd,
                                                           .tau       = t->tau,
                                                           .wrenches  = t->wrenches,
                                                           .qdd       = value,
                                                           .dqdd_dq   = D[TRIAL_Q],
                                                           .dqdd_dqd  = D[TRIAL_QD],
                                                           .dqdd_dtau = D[TRIAL_LAST],
                                                           .singular  = singular});
        run_forward_rates(k, t, &d, rates, qdd);
        check_close("qdd", t->seed, nv, qdd, value, OF_SOLUTIONS);
        for (size_t i = 0; i < TRIAL_DIRECTIONS; i++) {
            double most = 0;
            for (size_t row = 0; row < nv; row++) {
                double size   = 0;
                expected[row] = 0;
                for (int part = 0; part < TRIAL_PARTS; part++)
                    add_products(nv, D[part] + row * nv, d.part[part] + i * nv, &expected[row], &size);
                most = fmax(most, size);
            }
            check_close_scaled("rates of qdd", t->seed, nv, rates + i * nv, expected, OF_SOLUTIONS, most);
        }
    }
    for (int part = 0; part < TRIAL_PARTS; part++)
        free(D[part]);
    free(rates), free(qdd), free(value), free(expected);
    trial_directions_free(&d);
}

static void test_forward_rates_are_products_of_matrices_and_directions(void **state)
{
    trial_robots(ROBOTS, 1, compare_rates_with_matrices);
    for (uint64_t seed = 1; seed <= LOADED; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_rates_with_matrices(&t);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates_are_complex_step_derivatives),
                                       cmocka_unit_test(test_time_is_a_direction),
                                       cmocka_unit_test(test_rates_and_gradients_are_adjoint),
                                       cmocka_unit_test(test_forward_rates_are_products_of_matrices_and_directions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
