/* test_gradient.c - compares gradients of inverse and of forward dynamics with the complex step and with products of
 * multipliers and matrices. Gradients of steps: test_step_gradient.c. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/gradients.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the sums of the magnitudes of the terms, and to the joint wrenches: a torque is one component of a wrench
   and may be much smaller. */
#define OF_COMPLEX_STEP 1e-12
#define OF_MATRICES     1e-13
/* Forward dynamics also loses digits to the condition of M. */
#define OF_SOLUTIONS 1e-11

enum { ROBOTS = 120, LOADED = 40 };

/* Computes the gradient of inverse dynamics. The multipliers are the random numbers of qddd. */
static void run_inverse(const dyn_kernels *k, const trial *t, const gradients *g)
{
    rows_gradient(k, &t->scene, t->rows,
                  (dyn_gradient){.q                   = t->q,
                                 .qd                  = t->qd,
                                 .qdd                 = t->qdd,
                                 .wrenches            = t->wrenches,
                                 .multipliers         = t->qddd,
                                 .tau                 = g->value,
                                 .gradient_q          = g->part[GRADIENT_Q],
                                 .gradient_qd         = g->part[GRADIENT_QD],
                                 .gradient_qdd        = g->part[GRADIENT_LAST],
                                 .gradient_parameters = g->part[GRADIENT_PARAMETERS],
                                 .gradient_wrenches   = g->part[GRADIENT_WRENCHES],
                                 .gradient_gravity    = g->part[GRADIENT_GRAVITY]});
}

static void run_forward(const dyn_kernels *k, const trial *t, const gradients *g)
{
    rows_forward_gradient(k, &t->scene, t->rows,
                          (dyn_forward_gradient){.q                   = t->q,
                                                 .qd                  = t->qd,
                                                 .tau                 = t->tau,
                                                 .wrenches            = t->wrenches,
                                                 .multipliers         = t->qddd,
                                                 .qdd                 = g->value,
                                                 .gradient_q          = g->part[GRADIENT_Q],
                                                 .gradient_qd         = g->part[GRADIENT_QD],
                                                 .gradient_tau        = g->part[GRADIENT_LAST],
                                                 .gradient_parameters = g->part[GRADIENT_PARAMETERS],
                                                 .gradient_wrenches   = g->part[GRADIENT_WRENCHES],
                                                 .gradient_gravity    = g->part[GRADIENT_GRAVITY]});
}

/* --- matrices --------------------------------------------------------------------------------------------------- */

/* Sets `sum` to the multipliers times a matrix nv x columns. Returns the largest sum of magnitudes, and adds to it the
 * largest multiplier times `size`. */
static double contract_columns(const trial *t, const double *matrix, size_t columns, double size, double *sum)
{
    double most = size * largest(t->nv, t->qddd);
    for (size_t j = 0; j < columns; j++) {
        double terms = 0;
        sum[j]       = 0;
        for (size_t i = 0; i < t->nv; i++) {
            sum[j] += t->qddd[i] * matrix[i * columns + j];
            terms += fabs(t->qddd[i] * matrix[i * columns + j]);
        }
        most = fmax(most, terms);
    }
    return most;
}

static void compare_part(const trial *t, int part, const gradients *got, const double *matrix, double size,
                         double tolerance)
{
    const size_t n    = gradient_length(t, part);
    double      *sum  = trial_array(t, n);
    const double most = contract_columns(t, matrix, n, size, sum);
    check_close_scaled(gradient_names[part], t->seed, n, got->part[part], sum, tolerance, most);
    free(sum);
}

/* Sorts derivatives by wrenches, [wrench][nv][6], by rows: [nv][wrench][6]. */
static void sort_by_rows(const trial *t, const double *by_wrench, double *rows)
{
    const size_t nv = t->nv, nw = t->scene.n_wrenches;
    for (size_t w = 0; w < nw; w++)
        for (size_t i = 0; i < nv; i++)
            memcpy(rows + i * 6 * nw + 6 * w, by_wrench + (w * nv + i) * 6, 6 * sizeof *rows);
}

/* Computes the derivatives D of tau, of which those by wrenches are in `by_wrench`, and W of the joint wrenches. */
static void run_matrices(const dyn_kernels *k, const trial *t, double *const D[GRADIENTS], double *const W[3],
                         double *by_wrench)
{
    rows_sensitivity(k, &t->scene, 1,
                     (dyn_sensitivity){.q                    = t->q,
                                       .qd                   = t->qd,
                                       .qdd                  = t->qdd,
                                       .wrenches             = t->wrenches,
                                       .dtau_dq              = D[GRADIENT_Q],
                                       .dtau_dqd             = D[GRADIENT_QD],
                                       .dtau_dqdd            = D[GRADIENT_LAST],
                                       .djoint_wrenches_dq   = W[GRADIENT_Q],
                                       .djoint_wrenches_dqd  = W[GRADIENT_QD],
                                       .djoint_wrenches_dqdd = W[GRADIENT_LAST],
                                       .dtau_dwrench         = by_wrench,
                                       .dtau_dgravity        = D[GRADIENT_GRAVITY]});
    rows_regressor(
        k, &t->scene, 1,
        (dyn_regressor){
            .q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .regressor = D[GRADIENT_PARAMETERS]});
}

/* Compares with the matrices of `sensitivity` and with the regressor; tau must have the bits of inverse dynamics. */
static void compare_with_matrices(const trial *t)
{
    const size_t       nv = t->nv, square = nv * nv, nj = 6 * t->bodies * nv, nw = t->scene.n_wrenches;
    double            *D[GRADIENTS], *W[3], *by_wrench = trial_array(t, 6 * nv * nw), *tau = trial_array(t, nv);
    gradients          got = gradients_allocate(t);
    const dyn_kernels *k;
    for (int part = 0; part < GRADIENTS; part++)
        D[part] = trial_array(t, nv * gradient_length(t, part));
    for (int i = 0; i < 3; i++)
        W[i] = trial_array(t, nj);
    assert_true(square > 0);
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        run_matrices(k, t, D, W, by_wrench);
        rows_inverse_dynamics(
            k, &t->scene, 1,
            (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .tau = tau});
        sort_by_rows(t, by_wrench, D[GRADIENT_WRENCHES]);
        run_inverse(k, t, &got);
        assert_memory_equal(got.value, tau, nv * sizeof *tau);
        for (int part = 0; part < GRADIENTS; part++) {
            const double size = part < GRADIENT_PARAMETERS ? largest(nj, W[part])
                                : part == GRADIENT_GRAVITY ? t->model->mass
                                                           : 0;
            compare_part(t, part, &got, D[part], size, OF_MATRICES);
        }
    }
    for (int part = 0; part < GRADIENTS; part++)
        free(D[part]);
    for (int i = 0; i < 3; i++)
        free(W[i]);
    free(by_wrench), free(tau);
    gradients_free(&got);
}

static void test_gradients_are_products_of_multipliers_and_matrices(void **state)
{
    trial_robots(ROBOTS, 1, compare_with_matrices);
    trial_terms(1, compare_with_matrices);
}

static void test_with_load_friction(void **state)
{
    for (uint64_t seed = 1; seed <= LOADED; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_with_matrices(&t);
        trial_free(&t);
    }
}

/* --- the complex step ------------------------------------------------------------------------------------------- */

/* Returns the state moved along coordinate j of q, qd or qdd; with `along_tau` the last is tau. */
static complex_state moved(const trial *t, int part, size_t j, bool along_tau)
{
    if (part == GRADIENT_Q) return complex_state_along(t, j);
    complex_state s = complex_state_make(t, 0);
    *(part == GRADIENT_QD ? &s.qd[j] : along_tau ? &s.tau[j] : &s.qdd[j]) += I * COMPLEX_STEP;
    return s;
}

/* Sets column j of D, and of the derivatives W of the joint wrenches. */
static void inverse_column(const trial *t, int part, size_t j, double *D, double *W)
{
    const size_t  nv = t->nv, nj = 6 * t->bodies;
    complex_state s = moved(t, part, j, false);
    double       *d = trial_array(t, nv), *w = trial_array(t, nj);
    complex_inverse_rates(&s, d, w);
    for (size_t i = 0; i < nv; i++)
        D[i * nv + j] = d[i];
    for (size_t i = 0; i < nj; i++)
        W[i * nv + j] = w[i];
    free(d), free(w);
    complex_state_free(&s);
}

static void compare_with_complex_step(const trial *t)
{
    const dyn_kernels *k;
    gradients          got = gradients_allocate(t);
    double            *D = trial_array(t, t->nv * t->nv), *W = trial_array(t, 6 * t->bodies * t->nv);
    for (int part = GRADIENT_Q; part <= GRADIENT_LAST; part++) {
        for (size_t j = 0; j < t->nv; j++)
            inverse_column(t, part, j, D, W);
        for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
            run_inverse(k, t, &got);
            compare_part(t, part, &got, D, largest(6 * t->bodies * t->nv, W), OF_COMPLEX_STEP);
        }
    }
    free(D), free(W);
    gradients_free(&got);
}

static void test_gradients_are_complex_step_derivatives(void **state)
{
    trial_robots(ROBOTS, 1, compare_with_complex_step);
}

/* --- forward dynamics ------------------------------------------------------------------------------------------- */

/* Checks that the gradients of forward dynamics by parameters and gravity are those of inverse dynamics with the
 * multipliers -mu, where mu are the derivatives by tau. */
static void compare_with_inverse(const dyn_kernels *k, const trial *t, double *qdd, const gradients *got)
{
    gradients inner   = gradients_allocate(t);
    trial     with_mu = *t;
    with_mu.qdd = qdd, with_mu.qddd = got->part[GRADIENT_LAST];
    run_inverse(k, &with_mu, &inner);
    for (int part = GRADIENT_PARAMETERS; part < GRADIENTS; part++)
        for (size_t i = 0; part != GRADIENT_WRENCHES && i < gradient_length(t, part); i++)
            inner.part[part][i] = -inner.part[part][i];
    check_close(gradient_names[GRADIENT_PARAMETERS], t->seed, gradient_length(t, GRADIENT_PARAMETERS),
                got->part[GRADIENT_PARAMETERS], inner.part[GRADIENT_PARAMETERS], OF_SOLUTIONS);
    check_close_scaled(gradient_names[GRADIENT_GRAVITY], t->seed, 3, got->part[GRADIENT_GRAVITY],
                       inner.part[GRADIENT_GRAVITY], OF_SOLUTIONS, 1);
    gradients_free(&inner);
}

/* Compares with the matrices of `forward_sensitivity`, of which dqdd/dparameters is -M^-1 times the regressor. */
static void compare_forward(const trial *t)
{
    const size_t       nv = t->nv, square = nv * nv, nw = t->scene.n_wrenches;
    double            *D[3], *by_wrench = trial_array(t, 6 * nv * nw), *E = trial_array(t, 6 * nv * nw);
    double            *qdd = trial_array(t, nv), singular[1];
    gradients          got = gradients_allocate(t);
    const dyn_kernels *k;
    for (int i = 0; i < 3; i++)
        D[i] = trial_array(t, square);
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        rows_forward_sensitivity(k, &t->scene, 1,
                                 (dyn_forward_sensitivity){.q            = t->q,
                                                           .qd           = t->qd,
                                                           .tau          = t->tau,
                                                           .wrenches     = t->wrenches,
                                                           .qdd          = qdd,
                                                           .dqdd_dq      = D[GRADIENT_Q],
                                                           .dqdd_dqd     = D[GRADIENT_QD],
                                                           .dqdd_dtau    = D[GRADIENT_LAST],
                                                           .dqdd_dwrench = by_wrench,
                                                           .singular     = singular});
        sort_by_rows(t, by_wrench, E);
        run_forward(k, t, &got);
        check_close("qdd", t->seed, nv, got.value, qdd, OF_SOLUTIONS);
        for (int part = GRADIENT_Q; part <= GRADIENT_LAST; part++)
            compare_part(t, part, &got, D[part], largest(square, D[part]), OF_SOLUTIONS);
        compare_part(t, GRADIENT_WRENCHES, &got, E, largest(6 * nv * nw, E), OF_SOLUTIONS);
        compare_with_inverse(k, t, qdd, &got);
    }
    for (int i = 0; i < 3; i++)
        free(D[i]);
    free(by_wrench), free(E), free(qdd);
    gradients_free(&got);
}

static void test_forward_gradients(void **state)
{
    trial_robots(ROBOTS, 1, compare_forward);
    for (uint64_t seed = 1; seed <= LOADED; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_forward(&t);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradients_are_products_of_multipliers_and_matrices),
                                       cmocka_unit_test(test_with_load_friction),
                                       cmocka_unit_test(test_gradients_are_complex_step_derivatives),
                                       cmocka_unit_test(test_forward_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
