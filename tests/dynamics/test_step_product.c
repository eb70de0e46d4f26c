/* test_step_product.c - compares rates of the state after a step of integration with products of its matrices, and
 * Hessian-vector products of a step with complex-step derivatives of its gradients. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the sums of the magnitudes of the terms; steps also lose digits to the condition of M. */
#define OF_MATRICES 1e-11
/* Relative to the largest product; forward dynamics also loses digits to the square of the condition of M. */
#define OF_COMPLEX_STEP 1e-9

enum { ROBOTS = 60, METHODS = 3 };

/* Long steps turn joints with a quaternion by more than one radian, where closed forms replace series. */
static const double durations[2] = {0.003, 0.4};

static const dyn_step_method methods[METHODS] = {DYN_EXPLICIT_EULER, DYN_SEMI_IMPLICIT_EULER, DYN_RK4};

/* --- rates of the state ------------------------------------------------------------------------------------------- */

/* Compares row i of (q+, qd+) along a direction with the row of A and B. */
static void compare_with_row(const trial *t, size_t i, const double *A, const double *B, const double *const along[3],
                             double rate)
{
    const size_t nv  = t->nv;
    double       sum = 0, terms = 0;
    for (size_t j = 0; j < 3 * nv; j++) {
        const double entry = j < 2 * nv ? A[i * 2 * nv + j] : B[i * nv + j - 2 * nv],
                     term  = entry * along[j / nv][j % nv];
        sum += term;
        terms += fabs(term);
    }
    check_close_scaled("rates of a step", t->seed, 1, &rate, &sum, OF_MATRICES, fmax(terms, 1));
}

static void compare_rates_with_matrices(const trial *t)
{
    const size_t     nv = t->nv, n = TRIAL_DIRECTIONS * nv;
    trial_directions d = trial_directions_make(t);
    double          *A = trial_array(t, 4 * nv * nv), *B = trial_array(t, 2 * nv * nv), *q = trial_array(t, t->nq),
           *qd = trial_array(t, nv), *rates[2] = {trial_array(t, n), trial_array(t, n)}, singular[2], unused[2];
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++)
        for (int method = 0; method < METHODS; method++) {
            rows_step(k, &t->scene, 1,
                      (dyn_step){.q             = t->q,
                                 .qd            = t->qd,
                                 .tau           = t->tau,
                                 .wrenches      = t->wrenches,
                                 .method        = methods[method],
                                 .h             = durations[0],
                                 .q_after       = q,
                                 .qd_after      = qd,
                                 .state_matrix  = A,
                                 .input_matrix  = B,
                                 .singular      = &singular[0],
                                 .unsolved      = &unused[0],
                                 .contradictory = &unused[1]});
            rows_step_directional(k, &t->scene, 1,
                                  (dyn_step_directional){.q             = t->q,
                                                         .qd            = t->qd,
                                                         .tau           = t->tau,
                                                         .wrenches      = t->wrenches,
                                                         .method        = methods[method],
                                                         .h             = durations[0],
                                                         .n             = TRIAL_DIRECTIONS,
                                                         .direction_q   = d.part[TRIAL_Q],
                                                         .direction_qd  = d.part[TRIAL_QD],
                                                         .direction_tau = d.part[TRIAL_LAST],
                                                         .rates_q       = rates[0],
                                                         .rates_qd      = rates[1],
                                                         .singular      = &singular[1]});
            assert_true(singular[0] == singular[1]);
            for (size_t i = 0; i < TRIAL_DIRECTIONS * 2 * nv; i++) {
                const size_t        row = i / (2 * nv), entry = i % (2 * nv);
                const double *const along[3] = {d.part[0] + row * nv, d.part[1] + row * nv, d.part[2] + row * nv};
                compare_with_row(t, entry, A, B, along, rates[entry / nv][row * nv + entry % nv]);
            }
        }
    free(A), free(B), free(q), free(qd), free(rates[0]), free(rates[1]), trial_directions_free(&d);
}

static void test_rates_are_those_of_matrices_and_directions(void **state)
{
    trial_robots(ROBOTS, 1, compare_rates_with_matrices);
    for (uint64_t seed = 1; seed <= ROBOTS / 4; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_rates_with_matrices(&t);
        trial_free(&t);
    }
}

/* --- Hessian-vector products -------------------------------------------------------------------------------------- */

/* One step with multipliers and their rates, and the products of all directions. */
typedef struct step_case {
    const trial     *t;
    dyn_step_method  method;
    double           h;
    trial_directions along;
    double          *rates_q, *rates_qd; /* [TRIAL_DIRECTIONS][nv], of the multipliers */
    double          *part[TRIAL_PARTS];  /* [TRIAL_DIRECTIONS][nv] products */
} step_case;

static step_case step_case_make(const trial *t)
{
    const size_t n = TRIAL_DIRECTIONS * t->nv;
    step_case    c = {
           .t = t, .along = trial_directions_make(t), .rates_q = trial_array(t, n), .rates_qd = trial_array(t, n)};
    for (int part = 0; part < TRIAL_PARTS; part++)
        c.part[part] = trial_array(t, n);
    for (size_t i = 0; i < n; i++) {
        c.rates_q[i]  = 0.5 * t->qd[i % t->nv] - 0.3 * c.along.part[TRIAL_LAST][n - 1 - i];
        c.rates_qd[i] = 0.7 * t->qddd[i % t->nv] + 0.2 * c.along.part[TRIAL_QD][n - 1 - i];
    }
    return c;
}

static void step_case_free(step_case *c)
{
    for (int part = 0; part < TRIAL_PARTS; part++)
        free(c->part[part]);
    free(c->rates_q), free(c->rates_qd), trial_directions_free(&c->along);
}

/* Computes the products: the multipliers of q+ are those of qdd, the multipliers of qd+ those of qddd. */
static void run_step_products(const dyn_kernels *k, const step_case *c, double *const gradient[TRIAL_PARTS])
{
    const trial *t = c->t;
    double       singular, unsolved;
    rows_step_hessian_product(k, &t->scene, 1,
                              (dyn_step_hessian_product){.gradient            = {.q              = t->q,
                                                                                 .qd             = t->qd,
                                                                                 .tau            = t->tau,
                                                                                 .wrenches       = t->wrenches,
                                                                                 .multipliers_q  = t->qdd,
                                                                                 .multipliers_qd = t->qddd,
                                                                                 .method         = c->method,
                                                                                 .h              = c->h,
                                                                                 .gradient_q     = gradient[TRIAL_Q],
                                                                                 .gradient_qd    = gradient[TRIAL_QD],
                                                                                 .gradient_tau   = gradient[TRIAL_LAST],
                                                                                 .singular       = &singular,
                                                                                 .unsolved       = &unsolved},
                                                         .n                   = TRIAL_DIRECTIONS,
                                                         .direction_q         = c->along.part[TRIAL_Q],
                                                         .direction_qd        = c->along.part[TRIAL_QD],
                                                         .direction_tau       = c->along.part[TRIAL_LAST],
                                                         .multiplier_rates_q  = c->rates_q,
                                                         .multiplier_rates_qd = c->rates_qd,
                                                         .product_q           = c->part[TRIAL_Q],
                                                         .product_qd          = c->part[TRIAL_QD],
                                                         .product_tau         = c->part[TRIAL_LAST]});
}

/* Sets the gradients of the step, and their rates along direction i by the complex step. */
static void complex_step_products(const step_case *c, size_t i, double *const gradient[TRIAL_PARTS],
                                  double *const rate[TRIAL_PARTS])
{
    const trial     *t  = c->t;
    const size_t     nv = t->nv;
    complex_state    s  = complex_state_make(t, 0);
    double _Complex *by[TRIAL_PARTS], *m[2] = {complex_array(nv), complex_array(nv)}, *flags = complex_array(2),
                                      *work = complex_array(dyn_step_gradient_work(&t->scene, c->method));
    for (size_t v = 0; v < nv; v++)
        m[0][v] = t->qdd[v], m[1][v] = t->qddd[v];
    complex_add(nv, m[0], c->rates_q + i * nv);
    complex_add(nv, m[1], c->rates_qd + i * nv);
    complex_state_move(&s, c->along.part[TRIAL_Q] + i * nv);
    complex_add(nv, s.qd, c->along.part[TRIAL_QD] + i * nv);
    complex_add(nv, s.tau, c->along.part[TRIAL_LAST] + i * nv);
    for (int part = 0; part < TRIAL_PARTS; part++)
        by[part] = complex_array(nv);
    dyn_kernels_complex.step_gradient(&t->scene, s.workspace,
                                      &(dyn_step_gradient){.q              = as_lanes(s.q),
                                                           .qd             = as_lanes(s.qd),
                                                           .tau            = as_lanes(s.tau),
                                                           .wrenches       = as_lanes(s.wrenches),
                                                           .multipliers_q  = as_lanes(m[0]),
                                                           .multipliers_qd = as_lanes(m[1]),
                                                           .method         = c->method,
                                                           .h              = c->h,
                                                           .gradient_q     = as_lanes(by[TRIAL_Q]),
                                                           .gradient_qd    = as_lanes(by[TRIAL_QD]),
                                                           .gradient_tau   = as_lanes(by[TRIAL_LAST]),
                                                           .work           = as_lanes(work),
                                                           .singular       = as_lanes(flags),
                                                           .unsolved       = as_lanes(flags + 1)},
                                      1);
    for (int part = 0; part < TRIAL_PARTS; part++) {
        complex_derivative(nv, by[part], rate[part]);
        for (size_t v = 0; v < nv; v++)
            gradient[part][v] = creal(by[part][v]);
        free(by[part]);
    }
    free(m[0]), free(m[1]), free(flags), free(work), complex_state_free(&s);
}

static double largest_part(const trial *t, double *const part[TRIAL_PARTS])
{
    double most = 0;
    for (int i = 0; i < TRIAL_PARTS; i++)
        for (size_t v = 0; v < t->nv; v++)
            most = fmax(most, fabs(part[i][v]));
    return most;
}

static void compare_one_case(const dyn_kernels *k, const step_case *c)
{
    const trial *t = c->t;
    double      *rate[TRIAL_PARTS], *gradient[TRIAL_PARTS], *expected[TRIAL_PARTS];
    for (int part = 0; part < TRIAL_PARTS; part++) {
        rate[part]     = trial_array(t, t->nv);
        gradient[part] = trial_array(t, t->nv);
        expected[part] = trial_array(t, t->nv);
    }
    run_step_products(k, c, gradient);
    for (size_t i = 0; i < TRIAL_DIRECTIONS; i++) {
        complex_step_products(c, i, expected, rate);
        const double most = largest_part(t, rate), size = largest_part(t, expected);
        for (int part = 0; part < TRIAL_PARTS; part++) {
            check_close_scaled("gradients beside products", t->seed, t->nv, gradient[part], expected[part], OF_MATRICES,
                               size);
            check_close_scaled("products of a step", t->seed, t->nv, c->part[part] + i * t->nv, rate[part],
                               OF_COMPLEX_STEP, most);
        }
    }
    for (int part = 0; part < TRIAL_PARTS; part++)
        free(rate[part]), free(gradient[part]), free(expected[part]);
}

static void compare_products_with_complex_step(const trial *t)
{
    step_case          c = step_case_make(t);
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++)
        for (int i = 0; i < METHODS * 2; i++) {
            c.method = methods[i / 2];
            c.h      = durations[i % 2];
            /* with a long step the stages of RK4 reach velocities that lose all digits */
            if (c.method == DYN_RK4 && i % 2 == 1) continue;
            compare_one_case(k, &c);
        }
    step_case_free(&c);
}

static void test_products_are_complex_step_derivatives_of_gradients(void **state)
{
    trial_robots(ROBOTS, 1, compare_products_with_complex_step);
    for (uint64_t seed = 1; seed <= ROBOTS / 4; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_products_with_complex_step(&t);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates_are_those_of_matrices_and_directions),
                                       cmocka_unit_test(test_products_are_complex_step_derivatives_of_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
