/* test_gradient.c - tests the kernels of dynamics/adjoint: compares gradients of inverse dynamics, of forward dynamics
 * and of steps, and rates along directions, with the complex step and with products of matrices; solves steps of the
 * Riccati recursion in plain loops. */
#include "check.h"
#include "complex_step.h"
#include "dynamics/riccati.h"
#include "rows.h"
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
        rows_regressor(k, &t->scene, 1,
                       (dyn_regressor){
                           .q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .regressor = D[PARAMETERS]});
        rows_inverse_dynamics(
            k, &t->scene, 1,
            (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .tau = tau});
        for (size_t w = 0; w < nw; w++)
            for (size_t i = 0; i < nv; i++)
                for (size_t c = 0; c < 6; c++)
                    D[WRENCHES][i * 6 * nw + 6 * w + c] = by_wrench[(w * nv + i) * 6 + c];
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
    const size_t     nv = t->nv, nj = 6 * t->bodies;
    complex_state    s   = moved(t, part, j, false);
    double _Complex *tau = complex_array(nv), *wrenches = complex_array(nj);
    double          *d = trial_array(t, nv), *w = trial_array(t, nj);
    dyn_kernels_complex.inverse_dynamics(&t->scene, s.workspace,
                                         &(dyn_inverse_dynamics){.q              = as_lanes(s.q),
                                                                 .qd             = as_lanes(s.qd),
                                                                 .qdd            = as_lanes(s.qdd),
                                                                 .wrenches       = as_lanes(s.wrenches),
                                                                 .tau            = as_lanes(tau),
                                                                 .joint_wrenches = as_lanes(wrenches)},
                                         1);
    complex_derivative(nv, tau, d);
    complex_derivative(nj, wrenches, w);
    for (size_t i = 0; i < nv; i++)
        D[i * nv + j] = d[i];
    for (size_t i = 0; i < nj; i++)
        W[i * nv + j] = w[i];
    free(tau), free(wrenches), free(d), free(w);
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

/* Compares with the matrices of `forward_sensitivity`, of which dqdd/dparameters is -M^-1 times the regressor. */
static void compare_forward(const trial *t)
{
    const size_t       nv = t->nv, square = nv * nv, nw = t->scene.n_wrenches;
    double            *D[3], *by_wrench = trial_array(t, 6 * nv * nw), *E = trial_array(t, 6 * nv * nw);
    double            *qdd = trial_array(t, nv), singular[1];
    gradients          got = gradients_allocate(t), inner = gradients_allocate(t);
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
        for (size_t w = 0; w < nw; w++)
            for (size_t i = 0; i < nv; i++)
                for (size_t c = 0; c < 6; c++)
                    E[i * 6 * nw + 6 * w + c] = by_wrench[(w * nv + i) * 6 + c];
        run_forward(k, t, &got);
        check_close("qdd", t->seed, nv, got.value, qdd, OF_SOLUTIONS);
        for (int part = Q; part <= QDD; part++)
            compare_part(t, part, &got, D[part], largest(square, D[part]), OF_SOLUTIONS);
        compare_part(t, WRENCHES, &got, E, largest(6 * nv * nw, E), OF_SOLUTIONS);
        /* the gradients by parameters and gravity are those of inverse dynamics with the multipliers -mu */
        trial with_mu = *t;
        with_mu.qdd = qdd, with_mu.qddd = got.part[QDD];
        run_inverse(k, &with_mu, &inner);
        for (int part = PARAMETERS; part < PARTS; part++)
            for (size_t i = 0; part != WRENCHES && i < length(t, part); i++)
                inner.part[part][i] = -inner.part[part][i];
        check_close(names[PARAMETERS], t->seed, length(t, PARAMETERS), got.part[PARAMETERS], inner.part[PARAMETERS],
                    OF_SOLUTIONS);
        check_close_scaled(names[GRAVITY], t->seed, 3, got.part[GRAVITY], inner.part[GRAVITY], OF_SOLUTIONS, 1);
    }
    for (int i = 0; i < 3; i++)
        free(D[i]);
    free(by_wrench), free(E), free(qdd);
    gradients_free(&got), gradients_free(&inner);
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

/* Compares with the matrices A and B of a step and its derivatives by wrenches and parameters, for each method. The
 * multipliers of q+ are those of qdd, the multipliers of qd+ those of qddd. */
static void compare_steps(const trial *t)
{
    const size_t nv = t->nv, nw = t->scene.n_wrenches, np = 10 * t->model->n_rows;
    double      *A = trial_array(t, 4 * nv * nv), *B = trial_array(t, 2 * nv * nv), *q = trial_array(t, t->nq),
           *qd = trial_array(t, nv), *by_wrench = trial_array(t, 12 * nv * nw + 1), *by_p = trial_array(t, 2 * nv * np);
    double             singular, unsolved, contradictory, singular_too, unsolved_too;
    gradients          got = gradients_allocate(t);
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++)
        for (dyn_step_method method = DYN_EXPLICIT_EULER; method <= DYN_IMPLICIT_EULER; method++) {
            const double h = 0.003;
            rows_step(k, &t->scene, 1,
                      (dyn_step){.q                = t->q,
                                 .qd               = t->qd,
                                 .tau              = t->tau,
                                 .wrenches         = t->wrenches,
                                 .method           = method,
                                 .h                = h,
                                 .q_after          = q,
                                 .qd_after         = qd,
                                 .state_matrix     = A,
                                 .input_matrix     = B,
                                 .wrench_matrix    = nw ? by_wrench : NULL,
                                 .parameter_matrix = by_p,
                                 .singular         = &singular,
                                 .unsolved         = &unsolved,
                                 .contradictory    = &contradictory});
            rows_step_gradient(k, &t->scene, 1,
                               (dyn_step_gradient){.q                   = t->q,
                                                   .qd                  = t->qd,
                                                   .tau                 = t->tau,
                                                   .wrenches            = t->wrenches,
                                                   .multipliers_q       = t->qdd,
                                                   .multipliers_qd      = t->qddd,
                                                   .method              = method,
                                                   .h                   = h,
                                                   .gradient_q          = got.part[Q],
                                                   .gradient_qd         = got.part[QD],
                                                   .gradient_tau        = got.part[QDD],
                                                   .gradient_parameters = got.part[PARAMETERS],
                                                   .gradient_wrenches   = got.part[WRENCHES],
                                                   .singular            = &singular_too,
                                                   .unsolved            = &unsolved_too});
            assert_true(unsolved == unsolved_too && singular == singular_too);
            if (unsolved != 0) continue;
            for (int part = 0; part < GRAVITY; part++) {
                const size_t n   = length(t, part);
                double      *sum = trial_array(t, n), most = 0;
                for (size_t j = 0; j < n; j++) {
                    double terms = 0;
                    for (size_t i = 0; i < 2 * nv; i++) {
                        const double m = i < nv ? t->qdd[i] : t->qddd[i - nv];
                        const double x = part == Q            ? A[i * 2 * nv + j]
                                         : part == QD         ? A[i * 2 * nv + nv + j]
                                         : part == QDD        ? B[i * nv + j]
                                         : part == PARAMETERS ? by_p[i * np + j]
                                                              : by_wrench[(j / 6 * 2 * nv + i) * 6 + j % 6];
                        sum[j] += m * x;
                        terms += fabs(m * x);
                    }
                    most = fmax(most, terms);
                }
                check_close_scaled(names[part], t->seed, n, got.part[part], sum, OF_SOLUTIONS, most);
                free(sum);
            }
        }
    free(A), free(B), free(q), free(qd), free(by_wrench), free(by_p);
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

/* --- rates along directions --------------------------------------------------------------------------------------- */

enum { DIRECTIONS = 2, DIRECTION_PARTS = QDD + 1 };

/* Directions of a trial: the first one has the random numbers of three vectors, the second one permutes them. */
typedef struct directions {
    double *part[DIRECTION_PARTS]; /* [DIRECTIONS][nv] */
} directions;

static directions directions_make(const trial *t)
{
    const double *const vectors[DIRECTION_PARTS] = {t->qddd, t->tau, t->qdd};
    directions          d;
    for (int part = 0; part < DIRECTION_PARTS; part++) {
        d.part[part] = trial_array(t, DIRECTIONS * t->nv);
        for (int i = 0; i < DIRECTIONS; i++)
            memcpy(d.part[part] + (size_t)i * t->nv, vectors[(part + i) % DIRECTION_PARTS], t->nv * sizeof(double));
    }
    return d;
}

static void directions_free(directions *d)
{
    for (int part = 0; part < DIRECTION_PARTS; part++)
        free(d->part[part]);
}

static void run_rates(const dyn_kernels *k, const trial *t, const directions *d, double *rates, double *tau)
{
    rows_directional(k, &t->scene, 1,
                     (dyn_directional){.q             = t->q,
                                       .qd            = t->qd,
                                       .qdd           = t->qdd,
                                       .wrenches      = t->wrenches,
                                       .n             = DIRECTIONS,
                                       .direction_q   = d->part[Q],
                                       .direction_qd  = d->part[QD],
                                       .direction_qdd = d->part[QDD],
                                       .rates         = rates,
                                       .tau           = tau});
}

static void run_forward_rates(const dyn_kernels *k, const trial *t, const directions *d, double *rates, double *qdd)
{
    double singular[1];
    rows_forward_directional(k, &t->scene, 1,
                             (dyn_forward_directional){.q             = t->q,
                                                       .qd            = t->qd,
                                                       .tau           = t->tau,
                                                       .wrenches      = t->wrenches,
                                                       .n             = DIRECTIONS,
                                                       .direction_q   = d->part[Q],
                                                       .direction_qd  = d->part[QD],
                                                       .direction_tau = d->part[QDD],
                                                       .rates         = rates,
                                                       .qdd           = qdd,
                                                       .singular      = singular});
}

/* --- inverse dynamics --------------------------------------------------------------------------------------------- */

/* Sets the rates of tau along direction i by the complex step. Returns the largest rate of a joint wrench. */
static double complex_rates(const trial *t, const directions *d, size_t i, double *rates)
{
    const size_t     nv = t->nv, nj = 6 * t->bodies;
    complex_state    s   = complex_state_make(t, 0);
    double _Complex *tau = complex_array(nv), *wrenches = complex_array(nj);
    double          *w = trial_array(t, nj), most;
    complex_state_move(&s, d->part[Q] + i * nv);
    complex_add(nv, s.qd, d->part[QD] + i * nv);
    complex_add(nv, s.qdd, d->part[QDD] + i * nv);
    dyn_kernels_complex.inverse_dynamics(&t->scene, s.workspace,
                                         &(dyn_inverse_dynamics){.q              = as_lanes(s.q),
                                                                 .qd             = as_lanes(s.qd),
                                                                 .qdd            = as_lanes(s.qdd),
                                                                 .wrenches       = as_lanes(s.wrenches),
                                                                 .tau            = as_lanes(tau),
                                                                 .joint_wrenches = as_lanes(wrenches)},
                                         1);
    complex_derivative(nv, tau, rates);
    complex_derivative(nj, wrenches, w);
    most = largest(nj, w);
    free(tau), free(wrenches), free(w);
    complex_state_free(&s);
    return most;
}

static void compare_rates_with_complex_step(const trial *t)
{
    const size_t nv    = t->nv;
    directions   d     = directions_make(t);
    double      *rates = trial_array(t, DIRECTIONS * nv), *tau = trial_array(t, nv), *value = trial_array(t, nv),
           *expected = trial_array(t, nv);
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        run_rates(k, t, &d, rates, tau);
        rows_inverse_dynamics(
            k, &t->scene, 1,
            (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .tau = value});
        assert_memory_equal(tau, value, nv * sizeof *tau);
        for (size_t i = 0; i < DIRECTIONS; i++) {
            const double most = complex_rates(t, &d, i, expected);
            check_close_scaled("rates", t->seed, nv, rates + i * nv, expected, OF_COMPLEX_STEP, most);
        }
    }
    free(rates), free(tau), free(value), free(expected);
    directions_free(&d);
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
static void compare_products(const trial *t, const directions *d, const double *multipliers, const double *rates,
                             double *const gradient[DIRECTION_PARTS], double tolerance)
{
    for (size_t i = 0; i < DIRECTIONS; i++) {
        double forward = 0, backward = 0, size = 0;
        add_products(t->nv, multipliers, rates + i * t->nv, &forward, &size);
        for (int part = 0; part < DIRECTION_PARTS; part++)
            add_products(t->nv, gradient[part], d->part[part] + i * t->nv, &backward, &size);
        check_close_scaled("adjoints", t->seed, 1, &forward, &backward, tolerance, size);
    }
}

static void compare_with_gradients(const trial *t)
{
    const size_t       nv    = t->nv;
    directions         d     = directions_make(t);
    double            *rates = trial_array(t, DIRECTIONS * nv), *qdd = trial_array(t, nv), *gradient[DIRECTION_PARTS];
    const double      *multipliers = t->qddd;
    const dyn_kernels *k;
    for (int part = 0; part < DIRECTION_PARTS; part++)
        gradient[part] = trial_array(t, nv);
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        run_rates(k, t, &d, rates, NULL);
        rows_gradient(k, &t->scene, 1,
                      (dyn_gradient){.q            = t->q,
                                     .qd           = t->qd,
                                     .qdd          = t->qdd,
                                     .wrenches     = t->wrenches,
                                     .multipliers  = multipliers,
                                     .gradient_q   = gradient[Q],
                                     .gradient_qd  = gradient[QD],
                                     .gradient_qdd = gradient[QDD]});
        compare_products(t, &d, multipliers, rates, gradient, OF_MATRICES);
        run_forward_rates(k, t, &d, rates, qdd);
        rows_forward_gradient(k, &t->scene, 1,
                              (dyn_forward_gradient){.q            = t->q,
                                                     .qd           = t->qd,
                                                     .tau          = t->tau,
                                                     .wrenches     = t->wrenches,
                                                     .multipliers  = multipliers,
                                                     .qdd          = qdd,
                                                     .gradient_q   = gradient[Q],
                                                     .gradient_qd  = gradient[QD],
                                                     .gradient_tau = gradient[QDD]});
        compare_products(t, &d, multipliers, rates, gradient, OF_SOLUTIONS);
    }
    for (int part = 0; part < DIRECTION_PARTS; part++)
        free(gradient[part]);
    free(rates), free(qdd);
    directions_free(&d);
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
    const size_t nv    = t->nv;
    directions   d     = directions_make(t);
    double      *rates = trial_array(t, DIRECTIONS * nv), *qdd = trial_array(t, nv), *value = trial_array(t, nv),
           *expected = trial_array(t, nv), *D[DIRECTION_PARTS], singular[1];
    const dyn_kernels *k;
    for (int part = 0; part < DIRECTION_PARTS; part++)
        D[part] = trial_array(t, nv * nv);
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        rows_forward_sensitivity(k, &t->scene, 1,
                                 (dyn_forward_sensitivity){.q         = t->q,
                                                           .qd        = t->qd,
                                                           .tau       = t->tau,
                                                           .wrenches  = t->wrenches,
                                                           .qdd       = value,
                                                           .dqdd_dq   = D[Q],
                                                           .dqdd_dqd  = D[QD],
                                                           .dqdd_dtau = D[QDD],
                                                           .singular  = singular});
        run_forward_rates(k, t, &d, rates, qdd);
        check_close("qdd", t->seed, nv, qdd, value, OF_SOLUTIONS);
        for (size_t i = 0; i < DIRECTIONS; i++) {
            double most = 0;
            for (size_t row = 0; row < nv; row++) {
                double size   = 0;
                expected[row] = 0;
                for (int part = 0; part < DIRECTION_PARTS; part++)
                    add_products(nv, D[part] + row * nv, d.part[part] + i * nv, &expected[row], &size);
                most = fmax(most, size);
            }
            check_close_scaled("rates of qdd", t->seed, nv, rates + i * nv, expected, OF_SOLUTIONS, most);
        }
    }
    for (int part = 0; part < DIRECTION_PARTS; part++)
        free(D[part]);
    free(rates), free(qdd), free(value), free(expected);
    directions_free(&d);
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

/* --- the Riccati recursion ---------------------------------------------------------------------------------------- */

enum { SIZES = 12, MOST = 30 };

/* A problem with its results. All matrices have the form of riccati.h. */
typedef struct problem {
    size_t  n, m;
    double *A, *B, *Q_ux, *Q_uu, *V, *K, *work, damping, scale;
    bool    indefinite;
} problem;

static double *matrix_of(size_t rows, size_t columns)
{
    const size_t bytes = (rows * dyn_riccati_width(columns) * sizeof(double) + DYN_ALIGN) / DYN_ALIGN * DYN_ALIGN;
    double      *M     = aligned_alloc(DYN_ALIGN, bytes);
    assert_non_null(M);
    memset(M, 0, bytes);
    return M;
}

static double draw_number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*seed / 0x1p63;
}

static void fill_random(uint64_t *seed, size_t rows, size_t columns, double *M)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            M[i * dyn_riccati_width(columns) + j] = draw_number(seed);
}

/* M = L^T L + part 1 */
static void draw_positive(uint64_t *seed, size_t n, double part, double *M)
{
    const size_t width = dyn_riccati_width(n);
    double      *L     = matrix_of(n, n);
    fill_random(seed, n, n, L);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            M[i * width + j] = i == j ? part : 0;
            for (size_t k = 0; k < n; k++)
                M[i * width + j] += L[k * width + i] * L[k * width + j];
        }
    free(L);
}

static problem problem_make(uint64_t seed)
{
    problem p = {.n = 3 + seed * 5 % MOST, .damping = seed % 3 ? 0.1 * (double)seed : 0};
    p.m       = 1 + seed * 7 % (p.n - 1);
    p.A       = matrix_of(p.n, p.n);
    p.B       = matrix_of(p.n, p.m);
    p.Q_ux    = matrix_of(p.m, p.n);
    p.Q_uu    = matrix_of(p.m, p.m);
    p.V       = matrix_of(p.n, p.n);
    p.K       = matrix_of(p.m, p.n);
    p.work    = matrix_of(1, dyn_riccati_work(p.n, p.m));
    fill_random(&seed, p.n, p.n, p.A);
    fill_random(&seed, p.n, p.m, p.B);
    fill_random(&seed, p.m, p.n, p.Q_ux);
    draw_positive(&seed, p.m, 0.5, p.Q_uu);
    draw_positive(&seed, p.n, 0.1, p.V);
    return p;
}

static void problem_free(problem *p)
{
    free(p->A), free(p->B), free(p->Q_ux), free(p->Q_uu), free(p->V), free(p->K), free(p->work);
}

static void take_riccati_step(const dyn_kernels *k, problem *p)
{
    const dyn_scene   scene = {.model = NULL};
    const dyn_riccati io    = {.n          = p->n,
                               .m          = p->m,
                               .A          = p->A,
                               .B          = p->B,
                               .Q_ux       = p->Q_ux,
                               .Q_uu       = p->Q_uu,
                               .damping    = p->damping,
                               .V          = p->V,
                               .K          = p->K,
                               .work       = p->work,
                               .scale      = &p->scale,
                               .indefinite = &p->indefinite};
    k->riccati(&scene, NULL, &io, 1);
}

/* A matrix with its number of columns. */
typedef struct sized {
    const double *entry;
    size_t        columns;
} sized;

/* C += A^T M B; M is square. */
static void add_sandwich(sized A, sized M, sized B, double *C)
{
    for (size_t i = 0; i < A.columns; i++)
        for (size_t j = 0; j < B.columns; j++)
            for (size_t k = 0; k < M.columns; k++)
                for (size_t l = 0; l < M.columns; l++)
                    C[i * dyn_riccati_width(B.columns) + j] += A.entry[k * dyn_riccati_width(A.columns) + i] *
                                                               M.entry[k * dyn_riccati_width(M.columns) + l] *
                                                               B.entry[l * dyn_riccati_width(B.columns) + j];
}

/* Checks (Q_uu + d) K = -Q_ux and V = A^T V A + K^T Q_uu K + K^T Q_ux + Q_ux^T K, with Q_ux and Q_uu of the value. */
static void compare_equations(uint64_t seed, const problem *before, const problem *after)
{
    const size_t n = before->n, m = before->m, wn = dyn_riccati_width(n), wm = dyn_riccati_width(m);
    double      *Q_ux = matrix_of(m, n), *Q_uu = matrix_of(m, m), *V = matrix_of(n, n), *left = matrix_of(m, n),
           *right = matrix_of(m, n), most = 0;
    const sized A = {before->A, n}, B = {before->B, m}, before_V = {before->V, n}, K = {after->K, n};
    memcpy(Q_ux, before->Q_ux, m * wn * sizeof *Q_ux);
    memcpy(Q_uu, before->Q_uu, m * wm * sizeof *Q_uu);
    add_sandwich(B, before_V, A, Q_ux);
    add_sandwich(B, before_V, B, Q_uu);
    add_sandwich(A, before_V, A, V);
    for (size_t a = 0; a < m; a++)
        most = fmax(most, Q_uu[a * wm + a]);
    assert_true(fabs(after->scale - most) <= 1e-13 * most);
    check_close("Q_ux", seed, m * wn, after->Q_ux, Q_ux, 1e-13);
    for (size_t a = 0; a < m; a++)
        for (size_t i = 0; i < n; i++) {
            right[a * wn + i] = -Q_ux[a * wn + i];
            left[a * wn + i]  = before->damping * after->K[a * wn + i];
            for (size_t b = 0; b < m; b++)
                left[a * wn + i] += Q_uu[a * wm + b] * after->K[b * wn + i];
        }
    check_close("gains", seed, m * wn, left, right, 1e-11);
    add_sandwich(K, (sized){Q_uu, m}, K, V);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t a = 0; a < m; a++)
                V[i * wn + j] += after->K[a * wn + i] * Q_ux[a * wn + j] + Q_ux[a * wn + i] * after->K[a * wn + j];
    check_close("value", seed, n * wn, after->V, V, 1e-11);
    free(Q_ux), free(Q_uu), free(V), free(left), free(right);
}

/* Gains and values solve their equations; targets of one arithmetic class have the same bits, whatever their lanes. */
static void test_steps_solve_their_equations_with_equal_bits(void **state)
{
    for (uint64_t seed = 1; seed <= SIZES; seed++) {
        const problem      before   = problem_make(seed);
        problem            first[2] = {{.n = 0}, {.n = 0}};
        const dyn_kernels *k;
        for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
            problem p = problem_make(seed);
            take_riccati_step(k, &p);
            assert_false(p.indefinite);
            compare_equations(seed, &before, &p);
            problem *same = &first[k->fused];
            if (same->n == 0) {
                *same = p;
                continue;
            }
            assert_memory_equal(p.K, same->K, p.m * dyn_riccati_width(p.n) * sizeof *p.K);
            assert_memory_equal(p.V, same->V, p.n * dyn_riccati_width(p.n) * sizeof *p.V);
            problem_free(&p);
        }
        for (int fused = 0; fused < 2; fused++)
            if (first[fused].n > 0) problem_free(&first[fused]);
        problem_free((problem *)&before);
    }
}

/* Q_uu = diag(1, -0.25) + 0: indefinite below a damping of 0.25, and definite above. */
static void test_a_negative_pivot_is_indefinite_until_it_is_damped(void **state)
{
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++)
        for (int i = 0; i < 3; i++) {
            problem      p     = problem_make(4);
            const size_t width = dyn_riccati_width(p.m);
            assert_true(p.m > 1);
            memset(p.V, 0, p.n * dyn_riccati_width(p.n) * sizeof *p.V);
            memset(p.Q_uu, 0, p.m * width * sizeof *p.Q_uu);
            for (size_t a = 0; a < p.m; a++)
                p.Q_uu[a * width + a] = a + 1 < p.m ? 1 : -0.25;
            p.damping = (const double[]){0, 0.25, 0.26}[i];
            take_riccati_step(k, &p);
            assert_int_equal(p.indefinite, i < 2);
            assert_true(p.scale == 1);
            problem_free(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradients_are_products_of_multipliers_and_matrices),
                                       cmocka_unit_test(test_with_load_friction),
                                       cmocka_unit_test(test_gradients_are_complex_step_derivatives),
                                       cmocka_unit_test(test_forward_gradients),
                                       cmocka_unit_test(test_gradients_of_steps),
                                       cmocka_unit_test(test_rates_are_complex_step_derivatives),
                                       cmocka_unit_test(test_rates_and_gradients_are_adjoint),
                                       cmocka_unit_test(test_forward_rates_are_products_of_matrices_and_directions),
                                       cmocka_unit_test(test_steps_solve_their_equations_with_equal_bits),
                                       cmocka_unit_test(test_a_negative_pivot_is_indefinite_until_it_is_damped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
