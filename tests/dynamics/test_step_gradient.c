/* test_step_gradient.c - compares gradients of steps of integration, and rates along directions, with products of the
 * matrices of the steps, and Hessian-vector products with complex-step derivatives of the gradients. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/gradients.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>

/* Relative to the sums of the magnitudes of the terms; since a step solves with M, errors also grow with the condition
   of M. */
#define OF_SOLUTIONS 1e-11
#define DURATION     0.003 /* s, duration of one step */
/* Relative to the largest product; forward dynamics also loses digits to the square of the condition of M. */
#define OF_COMPLEX_STEP 1e-9

enum { STEPS = 40 };

/* The derivatives of a step: by the state, by tau, by wrenches and by parameters. */
typedef struct step_matrices {
    size_t  nv, np;
    double *A, *B, *by_wrench, *by_parameters;
} step_matrices;

/* Returns the derivative of entry i of (q+, qd+) by entry j of a part. */
static double step_entry(const step_matrices *m, int part, size_t i, size_t j)
{
    const size_t nv = m->nv;
    return part == GRADIENT_Q            ? m->A[i * 2 * nv + j]
           : part == GRADIENT_QD         ? m->A[i * 2 * nv + nv + j]
           : part == GRADIENT_LAST       ? m->B[i * nv + j]
           : part == GRADIENT_PARAMETERS ? m->by_parameters[i * m->np + j]
                                         : m->by_wrench[(j / 6 * 2 * nv + i) * 6 + j % 6];
}

/* Compares the gradients with the products of multipliers and matrices. */
static void compare_with_step_matrices(const trial *t, const step_matrices *m, const gradients *got)
{
    for (int part = 0; part < GRADIENT_GRAVITY; part++) {
        const size_t n   = gradient_length(t, part);
        double      *sum = trial_array(t, n), most = 0;
        for (size_t j = 0; j < n; j++) {
            double terms = 0;
            for (size_t i = 0; i < 2 * m->nv; i++) {
                const double term = (i < m->nv ? t->qdd[i] : t->qddd[i - m->nv]) * step_entry(m, part, i, j);
                sum[j] += term;
                terms += fabs(term);
            }
            most = fmax(most, terms);
        }
        check_close_scaled(gradient_names[part], t->seed, n, got->part[part], sum, OF_SOLUTIONS, most);
        free(sum);
    }
}

enum { STEP_SINGULAR, STEP_UNSOLVED, STEP_STATES };

/* Computes the matrices of a step; `states` receives whether it is singular or unsolved. */
static void run_step_matrices(const dyn_kernels *k, const trial *t, dyn_step_method method, const step_matrices *m,
                              double states[STEP_STATES])
{
    double *q = trial_array(t, t->nq), *qd = trial_array(t, t->nv), contradictory;
    rows_step(k, &t->scene, 1,
              (dyn_step){.q                = t->q,
                         .qd               = t->qd,
                         .tau              = t->tau,
                         .wrenches         = t->wrenches,
                         .method           = method,
                         .h                = DURATION,
                         .q_after          = q,
                         .qd_after         = qd,
                         .state_matrix     = m->A,
                         .input_matrix     = m->B,
                         .wrench_matrix    = t->scene.n_wrenches ? m->by_wrench : NULL,
                         .parameter_matrix = m->by_parameters,
                         .singular         = &states[STEP_SINGULAR],
                         .unsolved         = &states[STEP_UNSOLVED],
                         .contradictory    = &contradictory});
    free(q), free(qd);
}

/* Computes the gradients of a step: the multipliers of q+ are those of qdd, the multipliers of qd+ those of qddd. */
static void run_step_gradient(const dyn_kernels *k, const trial *t, dyn_step_method method, const gradients *got,
                              double states[STEP_STATES])
{
    rows_step_gradient(k, &t->scene, 1,
                       (dyn_step_gradient){.q                   = t->q,
                                           .qd                  = t->qd,
                                           .tau                 = t->tau,
                                           .wrenches            = t->wrenches,
                                           .multipliers_q       = t->qdd,
                                           .multipliers_qd      = t->qddd,
                                           .method              = method,
                                           .h                   = DURATION,
                                           .gradient_q          = got->part[GRADIENT_Q],
                                           .gradient_qd         = got->part[GRADIENT_QD],
                                           .gradient_tau        = got->part[GRADIENT_LAST],
                                           .gradient_parameters = got->part[GRADIENT_PARAMETERS],
                                           .gradient_wrenches   = got->part[GRADIENT_WRENCHES],
                                           .singular            = &states[STEP_SINGULAR],
                                           .unsolved            = &states[STEP_UNSOLVED]});
}

/* Compares with the matrices A and B of a step and its derivatives by wrenches and parameters, for each method. */
static void compare_steps(const trial *t)
{
    const size_t       nv = t->nv, nw = t->scene.n_wrenches, np = 10 * t->model->n_rows;
    step_matrices      m   = {.nv            = nv,
                              .np            = np,
                              .A             = trial_array(t, 4 * nv * nv),
                              .B             = trial_array(t, 2 * nv * nv),
                              .by_wrench     = trial_array(t, 12 * nv * nw + 1),
                              .by_parameters = trial_array(t, 2 * nv * np)};
    gradients          got = gradients_allocate(t);
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++)
        for (dyn_step_method method = DYN_EXPLICIT_EULER; method <= DYN_IMPLICIT_EULER; method++) {
            double states[STEP_STATES], gradient_states[STEP_STATES];
            run_step_matrices(k, t, method, &m, states);
            run_step_gradient(k, t, method, &got, gradient_states);
            for (int i = 0; i < STEP_STATES; i++)
                assert_true(states[i] == gradient_states[i]);
            if (states[STEP_UNSOLVED] == 0) compare_with_step_matrices(t, &m, &got);
        }
    free(m.A), free(m.B), free(m.by_wrench), free(m.by_parameters);
    gradients_free(&got);
}

static void test_gradients_of_steps(void **state)
{
    trial_robots(STEPS, 1, compare_steps);
    for (uint64_t seed = 1; seed <= STEPS / 4; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_steps(&t);
        trial_free(&t);
    }
}

/* Long steps turn joints with a quaternion by more than one radian, where closed forms replace series. */
static const double durations[] = {DURATION, 0.02, 0.4};
enum { ROBOTS = 60, METHODS = DYN_RK4 + 1, DURATIONS = sizeof durations / sizeof *durations };

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
    check_close_scaled("rates of a step", t->seed, 1, &rate, &sum, OF_SOLUTIONS, fmax(terms, 1));
}

/* Computes the rates along the directions of a trial, and checks that the step is regular if that of the matrices is.
 */
static void run_step_rates(const dyn_kernels *k, const trial *t, dyn_step_method method, const trial_directions *d,
                           double *const rates[2])
{
    double singular;
    rows_step_directional(k, &t->scene, 1,
                          (dyn_step_directional){.q             = t->q,
                                                 .qd            = t->qd,
                                                 .tau           = t->tau,
                                                 .wrenches      = t->wrenches,
                                                 .method        = method,
                                                 .h             = DURATION,
                                                 .n             = TRIAL_DIRECTIONS,
                                                 .direction_q   = d->part[TRIAL_Q],
                                                 .direction_qd  = d->part[TRIAL_QD],
                                                 .direction_tau = d->part[TRIAL_LAST],
                                                 .rates_q       = rates[0],
                                                 .rates_qd      = rates[1],
                                                 .singular      = &singular});
    assert_true(singular == -1);
}

static void compare_rates_with_matrices(const trial *t)
{
    const size_t        nv = t->nv, nw = t->scene.n_wrenches, np = 10 * t->model->n_rows, n = TRIAL_DIRECTIONS * nv;
    trial_directions    d        = trial_directions_make(t);
    const step_matrices m        = {nv,
                                    np,
                                    trial_array(t, 4 * nv * nv),
                                    trial_array(t, 2 * nv * nv),
                                    trial_array(t, 12 * nv * nw + 1),
                                    trial_array(t, 2 * nv * np)};
    double             *rates[2] = {trial_array(t, n), trial_array(t, n)}, states[STEP_STATES];
    const dyn_kernels  *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++)
        for (dyn_step_method method = DYN_EXPLICIT_EULER; method <= DYN_RK4; method++) {
            run_step_matrices(k, t, method, &m, states);
            run_step_rates(k, t, method, &d, rates);
            for (size_t i = 0; i < 2 * n; i++) {
                const size_t        row = i / (2 * nv), entry = i % (2 * nv);
                const double *const along[3] = {d.part[0] + row * nv, d.part[1] + row * nv, d.part[2] + row * nv};
                compare_with_row(t, entry, m.A, m.B, along, rates[entry / nv][row * nv + entry % nv]);
            }
        }
    free(m.A), free(m.B), free(m.by_wrench), free(m.by_parameters), free(rates[0]), free(rates[1]);
    trial_directions_free(&d);
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
    double          *rates_q, *rates_qd; /* [TRIAL_DIRECTIONS][nv] rates of the multipliers of q+ and qd+ */
    double          *part[TRIAL_PARTS];  /* [TRIAL_DIRECTIONS][nv] products by q, by qd and by tau */
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

/* Sets multipliers with given rates. */
static void set_multipliers(size_t nv, const double *value, const double *rates, double _Complex *to)
{
    for (size_t v = 0; v < nv; v++)
        to[v] = value[v];
    complex_add(nv, to, rates);
}

/* Sets the gradients of the step, and their rates along direction i by the complex step. */
static void complex_step_products(const step_case *c, size_t i, double *const gradient[TRIAL_PARTS],
                                  double *const rate[TRIAL_PARTS])
{
    const trial     *t  = c->t;
    const size_t     nv = t->nv;
    complex_state    s  = complex_state_make(t, 0);
    double _Complex *gradients_of[TRIAL_PARTS], *m[2] = {complex_array(nv), complex_array(nv)},
                                                *flags = complex_array(2),
                                                *work  = complex_array(dyn_step_gradient_work(&t->scene, c->method));
    set_multipliers(nv, t->qdd, c->rates_q + i * nv, m[0]);
    set_multipliers(nv, t->qddd, c->rates_qd + i * nv, m[1]);
    complex_state_move(&s, c->along.part[TRIAL_Q] + i * nv);
    complex_add(nv, s.qd, c->along.part[TRIAL_QD] + i * nv);
    complex_add(nv, s.tau, c->along.part[TRIAL_LAST] + i * nv);
    for (int part = 0; part < TRIAL_PARTS; part++)
        gradients_of[part] = complex_array(nv);
    dyn_kernels_complex.step_gradient(&t->scene, s.workspace,
                                      &(dyn_step_gradient){.q              = as_lanes(s.q),
                                                           .qd             = as_lanes(s.qd),
                                                           .tau            = as_lanes(s.tau),
                                                           .wrenches       = as_lanes(s.wrenches),
                                                           .multipliers_q  = as_lanes(m[0]),
                                                           .multipliers_qd = as_lanes(m[1]),
                                                           .method         = c->method,
                                                           .h              = c->h,
                                                           .gradient_q     = as_lanes(gradients_of[TRIAL_Q]),
                                                           .gradient_qd    = as_lanes(gradients_of[TRIAL_QD]),
                                                           .gradient_tau   = as_lanes(gradients_of[TRIAL_LAST]),
                                                           .work           = as_lanes(work),
                                                           .singular       = as_lanes(flags),
                                                           .unsolved       = as_lanes(flags + 1)},
                                      1);
    for (int part = 0; part < TRIAL_PARTS; part++) {
        complex_derivative(nv, gradients_of[part], rate[part]);
        for (size_t v = 0; v < nv; v++)
            gradient[part][v] = creal(gradients_of[part][v]);
        free(gradients_of[part]);
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
            check_close_scaled("gradients beside products", t->seed, t->nv, gradient[part], expected[part],
                               OF_SOLUTIONS, size);
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
        for (int i = 0; i < METHODS * DURATIONS; i++) {
            c.method = (dyn_step_method)(i / DURATIONS);
            c.h      = durations[i % DURATIONS];
            /* with a long step the stages of RK4 reach velocities that lose all digits */
            if (c.method == DYN_RK4 && i % DURATIONS + 1 == DURATIONS) continue;
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradients_of_steps),
                                       cmocka_unit_test(test_rates_are_those_of_matrices_and_directions),
                                       cmocka_unit_test(test_products_are_complex_step_derivatives_of_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
