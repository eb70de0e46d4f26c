/* test_gradient.c - compares gradients of inverse dynamics, of forward dynamics and of steps with the complex step and
 * with products of multipliers and matrices. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the sums of the magnitudes of the terms, and to the joint wrenches: a torque is one component of a wrench
 * and may be small beside it. */
#define OF_COMPLEX_STEP 1e-12
#define OF_MATRICES     1e-13
/* Forward dynamics also loses digits to the condition of M, and so do steps. */
#define OF_SOLUTIONS 1e-11

#define DURATION 0.003 /* s, one step */

enum { ROBOTS = 120, LOADED = 40, STEPS = 40, Q = 0, QD, QDD, PARAMETERS, WRENCHES, GRAVITY, PARTS };

static const char *const names[PARTS] = {"by q",          "by qd",       "by qdd or tau",
                                         "by parameters", "by wrenches", "by gravity"};

/* The gradients of one state, and the values beside them. */
typedef struct gradients {
    double *part[PARTS], *value;
} gradients;

static size_t length(const trial *t, int part)
{
    return part < PARAMETERS    ? t->nv
           : part == PARAMETERS ? 10 * t->model->n_rows
           : part == WRENCHES   ? 6 * t->scene.n_wrenches
                                : 3;
}

static gradients gradients_allocate(const trial *t)
{
    gradients g = {.value = trial_array(t, t->nv)};
    for (int part = 0; part < PARTS; part++)
        g.part[part] = trial_array(t, length(t, part));
    return g;
}

static void gradients_free(gradients *g)
{
    for (int part = 0; part < PARTS; part++)
        free(g->part[part]);
    free(g->value);
}

/* The multipliers are the random numbers of qddd. */
static void run_inverse(const dyn_kernels *k, const trial *t, const gradients *g)
{
    rows_gradient(k, &t->scene, t->rows,
                  (dyn_gradient){.q                   = t->q,
                                 .qd                  = t->qd,
                                 .qdd                 = t->qdd,
                                 .wrenches            = t->wrenches,
                                 .multipliers         = t->qddd,
                                 .tau                 = g->value,
                                 .gradient_q          = g->part[Q],
                                 .gradient_qd         = g->part[QD],
                                 .gradient_qdd        = g->part[QDD],
                                 .gradient_parameters = g->part[PARAMETERS],
                                 .gradient_wrenches   = g->part[WRENCHES],
                                 .gradient_gravity    = g->part[GRAVITY]});
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
                                                 .gradient_q          = g->part[Q],
                                                 .gradient_qd         = g->part[QD],
                                                 .gradient_tau        = g->part[QDD],
                                                 .gradient_parameters = g->part[PARAMETERS],
                                                 .gradient_wrenches   = g->part[WRENCHES],
                                                 .gradient_gravity    = g->part[GRAVITY]});
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
    const size_t n    = length(t, part);
    double      *sum  = trial_array(t, n);
    const double most = contract_columns(t, matrix, n, size, sum);
    check_close_scaled(names[part], t->seed, n, got->part[part], sum, tolerance, most);
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
static void run_matrices(const dyn_kernels *k, const trial *t, double *const D[PARTS], double *const W[3],
                         double *by_wrench)
{
    rows_sensitivity(k, &t->scene, 1,
                     (dyn_sensitivity){.q                    = t->q,
                                       .qd                   = t->qd,
                                       .qdd                  = t->qdd,
                                       .wrenches             = t->wrenches,
                                       .dtau_dq              = D[Q],
                                       .dtau_dqd             = D[QD],
                                       .dtau_dqdd            = D[QDD],
                                       .djoint_wrenches_dq   = W[Q],
                                       .djoint_wrenches_dqd  = W[QD],
                                       .djoint_wrenches_dqdd = W[QDD],
                                       .dtau_dwrench         = by_wrench,
                                       .dtau_dgravity        = D[GRAVITY]});
    rows_regressor(
        k, &t->scene, 1,
        (dyn_regressor){.q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .regressor = D[PARAMETERS]});
}

/* Compares with the matrices of `sensitivity` and with the regressor; tau has the bits of inverse dynamics. */
static void compare_with_matrices(const trial *t)
{
    const size_t       nv = t->nv, square = nv * nv, nj = 6 * t->bodies * nv, nw = t->scene.n_wrenches;
    double            *D[PARTS], *W[3], *by_wrench = trial_array(t, 6 * nv * nw), *tau = trial_array(t, nv);
    gradients          got = gradients_allocate(t);
    const dyn_kernels *k;
    for (int part = 0; part < PARTS; part++)
        D[part] = trial_array(t, nv * length(t, part));
    for (int i = 0; i < 3; i++)
        W[i] = trial_array(t, nj);
    assert_true(square > 0);
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        run_matrices(k, t, D, W, by_wrench);
        rows_inverse_dynamics(
            k, &t->scene, 1,
            (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .tau = tau});
        sort_by_rows(t, by_wrench, D[WRENCHES]);
        run_inverse(k, t, &got);
        assert_memory_equal(got.value, tau, nv * sizeof *tau);
        for (int part = 0; part < PARTS; part++) {
            const double size = part < PARAMETERS ? largest(nj, W[part]) : part == GRAVITY ? t->model->mass : 0;
            compare_part(t, part, &got, D[part], size, OF_MATRICES);
        }
    }
    for (int part = 0; part < PARTS; part++)
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
    if (part == Q) return complex_state_along(t, j);
    complex_state s = complex_state_make(t, 0);
    *(part == QD ? &s.qd[j] : along_tau ? &s.tau[j] : &s.qdd[j]) += I * COMPLEX_STEP;
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
    for (int part = Q; part <= QDD; part++) {
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

/* --- forward dynamics and steps --------------------------------------------------------------------------------- */

/* The gradients of forward dynamics by parameters and gravity are those of inverse dynamics with the multipliers -mu,
 * where mu are the derivatives by tau. */
static void compare_with_inverse(const dyn_kernels *k, const trial *t, double *qdd, const gradients *got)
{
    gradients inner   = gradients_allocate(t);
    trial     with_mu = *t;
    with_mu.qdd = qdd, with_mu.qddd = got->part[QDD];
    run_inverse(k, &with_mu, &inner);
    for (int part = PARAMETERS; part < PARTS; part++)
        for (size_t i = 0; part != WRENCHES && i < length(t, part); i++)
            inner.part[part][i] = -inner.part[part][i];
    check_close(names[PARAMETERS], t->seed, length(t, PARAMETERS), got->part[PARAMETERS], inner.part[PARAMETERS],
                OF_SOLUTIONS);
    check_close_scaled(names[GRAVITY], t->seed, 3, got->part[GRAVITY], inner.part[GRAVITY], OF_SOLUTIONS, 1);
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
                                                           .dqdd_dq      = D[Q],
                                                           .dqdd_dqd     = D[QD],
                                                           .dqdd_dtau    = D[QDD],
                                                           .dqdd_dwrench = by_wrench,
                                                           .singular     = singular});
        sort_by_rows(t, by_wrench, E);
        run_forward(k, t, &got);
        check_close("qdd", t->seed, nv, got.value, qdd, OF_SOLUTIONS);
        for (int part = Q; part <= QDD; part++)
            compare_part(t, part, &got, D[part], largest(square, D[part]), OF_SOLUTIONS);
        compare_part(t, WRENCHES, &got, E, largest(6 * nv * nw, E), OF_SOLUTIONS);
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

/* The derivatives of a step: by the state, by tau, by wrenches and by parameters. */
typedef struct step_matrices {
    size_t  nv, np;
    double *A, *B, *by_wrench, *by_parameters;
} step_matrices;

/* Returns the derivative of entry i of (q+, qd+) by entry j of a part. */
static double step_entry(const step_matrices *m, int part, size_t i, size_t j)
{
    const size_t nv = m->nv;
    return part == Q            ? m->A[i * 2 * nv + j]
           : part == QD         ? m->A[i * 2 * nv + nv + j]
           : part == QDD        ? m->B[i * nv + j]
           : part == PARAMETERS ? m->by_parameters[i * m->np + j]
                                : m->by_wrench[(j / 6 * 2 * nv + i) * 6 + j % 6];
}

/* Compares the gradients with the products of multipliers and matrices. */
static void compare_with_step_matrices(const trial *t, const step_matrices *m, const gradients *got)
{
    for (int part = 0; part < GRAVITY; part++) {
        const size_t n   = length(t, part);
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
        check_close_scaled(names[part], t->seed, n, got->part[part], sum, OF_SOLUTIONS, most);
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
                                           .gradient_q          = got->part[Q],
                                           .gradient_qd         = got->part[QD],
                                           .gradient_tau        = got->part[QDD],
                                           .gradient_parameters = got->part[PARAMETERS],
                                           .gradient_wrenches   = got->part[WRENCHES],
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_are_products_of_multipliers_and_matrices),
        cmocka_unit_test(test_with_load_friction), cmocka_unit_test(test_gradients_are_complex_step_derivatives),
        cmocka_unit_test(test_forward_gradients), cmocka_unit_test(test_gradients_of_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
