/* test_step_gradient.c - compares gradients of steps of integration with products of multipliers and the matrices of
 * the steps. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/gradients.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>

/* Relative to the sums of the magnitudes of the terms; steps also lose digits to the condition of M. */
#define OF_SOLUTIONS 1e-11
#define DURATION     0.003 /* s, one step */

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradients_of_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
