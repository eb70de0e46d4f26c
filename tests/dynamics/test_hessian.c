/* test_hessian.c - compares second derivatives of inverse and forward dynamics with the complex step of first ones,
 * direction by direction, and Hessian-vector products with that of gradients and with products of the matrices. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the largest entry of the quantity, or of the derivatives of the joint wrenches: a torque is one component
 * of a wrench and may be small. A first derivative that is constant gives a rounding error of its size. */
#define TOLERANCE 1e-11

enum { ROBOTS = 120, FORWARD_ROBOTS = 80, RESULTS = 5 };

/* Holds the five results, nv x nv x nv each: [i][j][k] for tau_i or qdd_i. */
typedef struct tensors {
    double *x[RESULTS];
    double  size[RESULTS]; /* largest entry of the first and second derivatives of the joint wrenches */
} tensors;

static const char *const names[2][RESULTS] = {{"q_q", "q_qd", "q_qdd", "qd_qd", "qd_qdd"},
                                              {"q_q", "q_qd", "q_tau", "qd_qd", "qd_tau"}};

/* moved: the array of the state whose coordinate k gets the complex step. of_first: the first derivative that is
 * differentiated, 0 by q, 1 by qd. */
enum { BY_Q, BY_QD, BY_QDD_OR_TAU };
static const int moved[RESULTS]    = {BY_Q, BY_QD, BY_QDD_OR_TAU, BY_QD, BY_QDD_OR_TAU};
static const int of_first[RESULTS] = {0, 0, 0, 1, 1};

static tensors allocate(const trial *t, size_t entries)
{
    tensors a = {.size = {0}};
    for (int r = 0; r < RESULTS; r++)
        a.x[r] = trial_array(t, entries);
    return a;
}

static void release(tensors *a)
{
    for (int r = 0; r < RESULTS; r++)
        free(a->x[r]);
}

static complex_state state_along(const trial *t, int part, size_t k, bool forward)
{
    if (part == BY_Q) return complex_state_along(t, k);
    complex_state s = complex_state_make(t, 0);
    *(part == BY_QD ? &s.qd[k] : forward ? &s.tau[k] : &s.qdd[k]) += I * COMPLEX_STEP;
    return s;
}

/* Computes the first derivatives of tau or qdd by q and qd, and with those of tau also those of the joint wrenches. */
static void first_derivatives(const trial *t, const complex_state *s, bool forward, double _Complex *D[2],
                              double _Complex *W[2])
{
    double _Complex *unused = complex_array(t->nv * t->nv), *qdd = complex_array(t->nv);
    if (forward)
        dyn_kernels_complex.forward_sensitivity(&t->scene, s->workspace,
                                                &(dyn_forward_sensitivity){.q        = as_lanes(s->q),
                                                                           .qd       = as_lanes(s->qd),
                                                                           .tau      = as_lanes(s->tau),
                                                                           .wrenches = as_lanes(s->wrenches),
                                                                           .qdd      = as_lanes(qdd),
                                                                           .dqdd_dq  = as_lanes(D[0]),
                                                                           .dqdd_dqd = as_lanes(D[1])},
                                                1);
    else
        dyn_kernels_complex.sensitivity(&t->scene, s->workspace,
                                        &(dyn_sensitivity){.q                   = as_lanes(s->q),
                                                           .qd                  = as_lanes(s->qd),
                                                           .qdd                 = as_lanes(s->qdd),
                                                           .wrenches            = as_lanes(s->wrenches),
                                                           .dtau_dq             = as_lanes(D[0]),
                                                           .dtau_dqd            = as_lanes(D[1]),
                                                           .dtau_dqdd           = as_lanes(unused),
                                                           .djoint_wrenches_dq  = as_lanes(W[0]),
                                                           .djoint_wrenches_dqd = as_lanes(W[1])},
                                        1);
    free(unused), free(qdd);
}

/* Returns the largest entry of M^-1. */
static double inverse_size(const trial *t)
{
    double *inverse = trial_array(t, t->nv * t->nv);
    double *mass    = trial_array(t, t->nv * t->nv);
    rows_mass_matrix(test_kernels(), &t->scene, 1,
                     (dyn_mass_matrix){.q = t->q, .mass_matrix = mass, .inverse = inverse});
    double size = largest(t->nv * t->nv, inverse);
    free(inverse), free(mass);
    return size;
}

/* Differentiates the first derivatives along coordinate k: column k of the results. */
static void expect_column(const trial *t, bool forward, int r, size_t k, tensors *e)
{
    const size_t     n = t->nv * t->nv, nj = 6 * t->bodies * t->nv;
    double _Complex *D[2] = {complex_array(n), complex_array(n)}, *W[2] = {complex_array(nj), complex_array(nj)};
    double          *d = trial_array(t, n), *w = trial_array(t, nj);
    complex_state    s = state_along(t, moved[r], k, forward);
    first_derivatives(t, &s, forward, D, W);
    complex_derivative(n, D[of_first[r]], d);
    complex_derivative(nj, W[of_first[r]], w);
    for (size_t ij = 0; ij < n; ij++)
        e->x[r][ij * t->nv + k] = d[ij];
    e->size[r] = fmax(e->size[r], largest(nj, w));
    for (size_t i = 0; i < nj; i++)
        e->size[r] = fmax(e->size[r], fabs(creal(W[of_first[r]][i])));
    complex_state_free(&s);
    free(D[0]), free(D[1]), free(W[0]), free(W[1]), free(d), free(w);
}

static tensors expect(const trial *t, bool forward)
{
    tensors e = allocate(t, t->nv * t->nv * t->nv);
    for (int r = 0; r < RESULTS; r++)
        for (size_t k = 0; k < t->nv; k++)
            expect_column(t, forward, r, k, &e);
    return e;
}

static void evaluate(const dyn_kernels *k, const trial *t, bool forward, const double *multipliers, const tensors *got)
{
    if (forward)
        rows_forward_hessian(k, &t->scene, 1,
                             (dyn_forward_hessian){.q           = t->q,
                                                   .qd          = t->qd,
                                                   .tau         = t->tau,
                                                   .wrenches    = t->wrenches,
                                                   .multipliers = multipliers,
                                                   .q_q         = got->x[0],
                                                   .q_qd        = got->x[1],
                                                   .q_tau       = got->x[2],
                                                   .qd_qd       = got->x[3],
                                                   .qd_tau      = got->x[4]});
    else
        rows_hessian(k, &t->scene, 1,
                     (dyn_hessian){.q           = t->q,
                                   .qd          = t->qd,
                                   .qdd         = t->qdd,
                                   .wrenches    = t->wrenches,
                                   .multipliers = multipliers,
                                   .q_q         = got->x[0],
                                   .q_qd        = got->x[1],
                                   .q_qdd       = got->x[2],
                                   .qd_qd       = got->x[3],
                                   .qd_qdd      = got->x[4]});
}

/* Sets `sum` to the tensor contracted with the multipliers. Returns the largest sum of magnitudes. */
static double contract(const trial *t, const double *tensor, double *sum)
{
    const size_t n    = t->nv * t->nv;
    double       most = 0;
    for (size_t jk = 0; jk < n; jk++) {
        double size = 0;
        sum[jk]     = 0;
        for (size_t i = 0; i < t->nv; i++) {
            sum[jk] += t->qddd[i] * tensor[i * n + jk];
            size += fabs(t->qddd[i] * tensor[i * n + jk]);
        }
        most = fmax(most, size);
    }
    return most;
}

/* Compares the contracted second derivatives and the whole tensors on every target. The multipliers are the random
 * numbers of qddd. */
/* Where gravity is compensated, weights cancel: the remaining rounding error is that of the robot's weight. */
static double cancelled_weight(const trial *t)
{
    return t->model->compensated ? t->model->mass * largest(3, t->scene.gravity) : 0;
}

static void compare(const trial *t, bool forward)
{
    const size_t       n        = t->nv * t->nv;
    tensors            expected = expect(t, forward), got = allocate(t, n), all = allocate(t, n * t->nv);
    tensors            scale = forward ? expect(t, false) : expected;
    double            *sum = trial_array(t, n), factor = forward ? inverse_size(t) : 1;
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        evaluate(k, t, forward, t->qddd, &got);
        evaluate(k, t, forward, NULL, &all);
        for (int r = 0; r < RESULTS; r++) {
            const double size  = factor * fmax(scale.size[r], cancelled_weight(t)),
                         terms = contract(t, expected.x[r], sum);
            check_close_scaled(names[forward][r], t->seed, n, got.x[r], sum, TOLERANCE,
                               fmax(terms, size * largest(t->nv, t->qddd)));
            check_close_scaled(names[forward][r], t->seed, n * t->nv, all.x[r], expected.x[r], TOLERANCE, size);
        }
    }
    if (forward) release(&scale);
    release(&expected), release(&got), release(&all);
    free(sum);
}

static void compare_inverse(const trial *t)
{
    compare(t, false);
}
static void compare_forward(const trial *t)
{
    compare(t, true);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, 1, compare_inverse);
}
static void test_terms(void **state)
{
    trial_terms(1, compare_inverse);
}
static void test_forward(void **state)
{
    trial_robots(FORWARD_ROBOTS, 1, compare_forward);
}

static void test_loads(void **state)
{
    for (uint64_t seed = 1; seed <= FORWARD_ROBOTS; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare(&t, false);
        compare(&t, true);
        trial_free(&t);
    }
}

/* Returns the number of entries that the kernel does not write with zeros_are_set, which keep their initial bits (all
   set, rows.c); without zeros_are_set these must be zero. All others must have the same bits. */
static size_t count_left(size_t n, const double *left, const double *whole)
{
    const uint64_t untouched = UINT64_MAX;
    const double   zero      = 0;
    size_t         count     = 0;
    for (size_t i = 0; i < n; i++) {
        const bool same = memcmp(&left[i], &untouched, sizeof untouched) == 0;
        count += same;
        assert_memory_equal(&whole[i], same ? &zero : &left[i], sizeof zero);
    }
    return count;
}

/* With zeros_are_set, results are written to memory that has the results of another state, and keep its zeros between
   branches; also with friction that depends on the load. */
static void test_zeros_are_set(void **state)
{
    size_t left[2] = {0};
    for (uint64_t seed = 1; seed <= 2 * ROBOTS; seed++)
        for (int whole = 0; whole < 2; whole++) {
            trial             t   = seed % 2 ? trial_make(seed, 1) : trial_make_loaded(seed, 1);
            const size_t      n   = whole ? t.nv * t.nv * t.nv : t.nv * t.nv;
            tensors           all = allocate(&t, n), some = allocate(&t, n);
            const dyn_hessian io = {.q             = t.q,
                                    .qd            = t.qd,
                                    .qdd           = t.qdd,
                                    .wrenches      = t.wrenches,
                                    .multipliers   = whole ? NULL : t.qddd,
                                    .zeros_are_set = true,
                                    .q_q           = some.x[0],
                                    .q_qd          = some.x[1],
                                    .q_qdd         = some.x[2],
                                    .qd_qd         = some.x[3],
                                    .qd_qdd        = some.x[4]};
            rows_hessian(test_kernels(), &t.scene, 1, io);
            evaluate(test_kernels(), &t, false, io.multipliers, &all);
            for (int r = 0; r < RESULTS; r++)
                left[whole] += count_left(n, some.x[r], all.x[r]);
            release(&all), release(&some), trial_free(&t);
        }
    assert_true(left[0] > 0 && left[1] > 0);
}

/* A result must not depend on which others are requested. */
static void test_single_results(void **state)
{
    for (uint64_t seed = 1; seed <= 24; seed++)
        for (int forward = 0; forward < 2; forward++) {
            trial   t   = seed % 2 ? trial_make(seed, 1) : trial_make_loaded(seed, 1);
            size_t  n   = t.nv * t.nv;
            tensors all = allocate(&t, n), one = allocate(&t, n);
            evaluate(test_kernels(), &t, forward, t.qddd, &all);
            for (int r = 0; r < RESULTS; r++) {
                tensors alone = {.x = {NULL}};
                alone.x[r]    = one.x[r];
                evaluate(test_kernels(), &t, forward, t.qddd, &alone);
                assert_memory_equal(one.x[r], all.x[r], n * sizeof(double));
            }
            release(&all), release(&one);
            trial_free(&t);
        }
}

/* --- Hessian-vector products ---------------------------------------------------------------------------------------
 */

/* Relative to the sums of the magnitudes of the terms. */
#define OF_MATRICES 1e-12
/* Relative to the largest product of the state. */
#define OF_COMPLEX_STEP 1e-11
/* Forward dynamics also loses digits to the square of the condition of M. */
#define OF_SOLUTIONS 1e-9

enum { LOADED = 40 };

static const char *const part_names[TRIAL_PARTS] = {"by q", "by qd", "by qdd or tau"};

/* Directions and products of a trial: [TRIAL_DIRECTIONS][nv] for each part. */
typedef struct products {
    trial_directions along;
    double          *part[TRIAL_PARTS];
} products;

static products products_make(const trial *t)
{
    products p = {.along = trial_directions_make(t)};
    for (int part = 0; part < TRIAL_PARTS; part++)
        p.part[part] = trial_array(t, TRIAL_DIRECTIONS * t->nv);
    return p;
}

static void products_free(products *p)
{
    for (int part = 0; part < TRIAL_PARTS; part++)
        free(p->part[part]);
    trial_directions_free(&p->along);
}

/* Returns multipliers: the random numbers of qddd in reverse order, plus a quarter of those of qd. */
static double *multipliers_make(const trial *t)
{
    double *m = trial_array(t, t->nv);
    for (size_t i = 0; i < t->nv; i++)
        m[i] = t->qddd[t->nv - 1 - i] + 0.25 * t->qd[i];
    return m;
}

static void run_products(const dyn_kernels *k, const trial *t, const double *multipliers, const products *p)
{
    rows_hessian_product(k, &t->scene, 1,
                         (dyn_hessian_product){.q             = t->q,
                                               .qd            = t->qd,
                                               .qdd           = t->qdd,
                                               .wrenches      = t->wrenches,
                                               .multipliers   = multipliers,
                                               .n             = TRIAL_DIRECTIONS,
                                               .direction_q   = p->along.part[TRIAL_Q],
                                               .direction_qd  = p->along.part[TRIAL_QD],
                                               .direction_qdd = p->along.part[TRIAL_LAST],
                                               .product_q     = p->part[TRIAL_Q],
                                               .product_qd    = p->part[TRIAL_QD],
                                               .product_qdd   = p->part[TRIAL_LAST]});
}

/* --- matrices --------------------------------------------------------------------------------------------------- */

/* Adds M times the direction, or M^T times it, to `sum`, and returns the largest sum of magnitudes. */
static double add_matrix(size_t n, const double *M, bool transposed, const double *direction, double *sum)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double size = 0;
        for (size_t j = 0; j < n; j++) {
            const double term = (transposed ? M[j * n + i] : M[i * n + j]) * direction[j];
            sum[i] += term;
            size += fabs(term);
        }
        most = fmax(most, size);
    }
    return most;
}

/* Compares the products of direction i. The second derivatives with respect to qdd twice are zero, and those of
 * different quantities commute. Rounding is that of the largest product. */
static void compare_direction(const trial *t, double *const H[5], const products *p, size_t i)
{
    /* matrix[row][column]: index of the second derivative q_q, q_qd, q_qdd, qd_qd or qd_qdd in H; -1: zero */
    static const int matrix[TRIAL_PARTS][TRIAL_PARTS] = {{0, 1, 2}, {1, 3, 4}, {2, 4, -1}};
    const size_t     nv                               = t->nv;
    double          *sum = trial_array(t, TRIAL_PARTS * nv), most = cancelled_weight(t);
    for (int row = 0; row < TRIAL_PARTS; row++)
        for (int column = 0; column < TRIAL_PARTS; column++)
            if (matrix[row][column] >= 0)
                most = fmax(most, add_matrix(nv, H[matrix[row][column]], row > column, p->along.part[column] + i * nv,
                                             sum + (size_t)row * nv));
    for (int row = 0; row < TRIAL_PARTS; row++)
        check_close_scaled(part_names[row], t->seed, nv, p->part[row] + i * nv, sum + (size_t)row * nv, OF_MATRICES,
                           most);
    free(sum);
}

static void compare_with_matrices(const trial *t)
{
    const size_t       nv          = t->nv;
    double            *multipliers = multipliers_make(t), *H[5];
    products           p           = products_make(t);
    const dyn_kernels *k;
    for (int i = 0; i < 5; i++)
        H[i] = trial_array(t, nv * nv);
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        rows_hessian(k, &t->scene, 1,
                     (dyn_hessian){.q           = t->q,
                                   .qd          = t->qd,
                                   .qdd         = t->qdd,
                                   .wrenches    = t->wrenches,
                                   .multipliers = multipliers,
                                   .q_q         = H[0],
                                   .q_qd        = H[1],
                                   .q_qdd       = H[2],
                                   .qd_qd       = H[3],
                                   .qd_qdd      = H[4]});
        run_products(k, t, multipliers, &p);
        for (size_t i = 0; i < TRIAL_DIRECTIONS; i++)
            compare_direction(t, H, &p, i);
    }
    for (int i = 0; i < 5; i++)
        free(H[i]);
    free(multipliers);
    products_free(&p);
}

static void test_products_are_those_of_matrices_and_directions(void **state)
{
    trial_robots(ROBOTS, 1, compare_with_matrices);
    trial_terms(1, compare_with_matrices);
    for (uint64_t seed = 1; seed <= LOADED; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_with_matrices(&t);
        trial_free(&t);
    }
}

/* --- the complex step ------------------------------------------------------------------------------------------- */

/* Sets the rates of the gradients of inverse or forward dynamics along direction i. */
static void complex_products(const trial *t, const double *multipliers, const products *p, size_t i, bool forward,
                             double *rate[TRIAL_PARTS])
{
    const size_t     nv = t->nv;
    complex_state    s  = complex_state_make(t, 0);
    double _Complex *m = complex_array(nv), *qdd = complex_array(nv), *gradient[TRIAL_PARTS];
    for (size_t v = 0; v < nv; v++)
        m[v] = multipliers[v];
    for (int part = 0; part < TRIAL_PARTS; part++)
        gradient[part] = complex_array(nv);
    complex_state_move(&s, p->along.part[TRIAL_Q] + i * nv);
    complex_add(nv, s.qd, p->along.part[TRIAL_QD] + i * nv);
    complex_add(nv, forward ? s.tau : s.qdd, p->along.part[TRIAL_LAST] + i * nv);
    if (forward)
        dyn_kernels_complex.forward_gradient(&t->scene, s.workspace,
                                             &(dyn_forward_gradient){.q            = as_lanes(s.q),
                                                                     .qd           = as_lanes(s.qd),
                                                                     .tau          = as_lanes(s.tau),
                                                                     .wrenches     = as_lanes(s.wrenches),
                                                                     .multipliers  = as_lanes(m),
                                                                     .qdd          = as_lanes(qdd),
                                                                     .gradient_q   = as_lanes(gradient[TRIAL_Q]),
                                                                     .gradient_qd  = as_lanes(gradient[TRIAL_QD]),
                                                                     .gradient_tau = as_lanes(gradient[TRIAL_LAST])},
                                             1);
    else
        dyn_kernels_complex.gradient(&t->scene, s.workspace,
                                     &(dyn_gradient){.q            = as_lanes(s.q),
                                                     .qd           = as_lanes(s.qd),
                                                     .qdd          = as_lanes(s.qdd),
                                                     .wrenches     = as_lanes(s.wrenches),
                                                     .multipliers  = as_lanes(m),
                                                     .gradient_q   = as_lanes(gradient[TRIAL_Q]),
                                                     .gradient_qd  = as_lanes(gradient[TRIAL_QD]),
                                                     .gradient_qdd = as_lanes(gradient[TRIAL_LAST])},
                                     1);
    for (int part = 0; part < TRIAL_PARTS; part++)
        complex_derivative(nv, gradient[part], rate[part]), free(gradient[part]);
    free(m), free(qdd), complex_state_free(&s);
}

static void compare_rates_of_gradients(const trial *t, const char *what, const double *multipliers, const products *p,
                                       bool forward)
{
    double *rate[TRIAL_PARTS];
    for (int part = 0; part < TRIAL_PARTS; part++)
        rate[part] = trial_array(t, t->nv);
    for (size_t i = 0; i < TRIAL_DIRECTIONS; i++) {
        double most = 0;
        complex_products(t, multipliers, p, i, forward, rate);
        for (int part = 0; part < TRIAL_PARTS; part++)
            most = fmax(most, largest(t->nv, rate[part]));
        for (int part = 0; part < TRIAL_PARTS; part++)
            check_close_scaled(what, t->seed, t->nv, p->part[part] + i * t->nv, rate[part],
                               forward ? OF_SOLUTIONS : OF_COMPLEX_STEP, most);
    }
    for (int part = 0; part < TRIAL_PARTS; part++)
        free(rate[part]);
}

static void compare_inverse_products(const trial *t)
{
    double            *multipliers = multipliers_make(t);
    products           p           = products_make(t);
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        run_products(k, t, multipliers, &p);
        compare_rates_of_gradients(t, "products", multipliers, &p, false);
    }
    free(multipliers);
    products_free(&p);
}

static void test_products_are_complex_step_derivatives_of_gradients(void **state)
{
    trial_robots(ROBOTS, 1, compare_inverse_products);
    trial_terms(1, compare_inverse_products);
    for (uint64_t seed = 1; seed <= LOADED; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_inverse_products(&t);
        trial_free(&t);
    }
}

/* Expects that the rates of a product of forward dynamics are those of the kernel of directional derivatives, bit for
 * bit. */
static void expect_directional_rates(const dyn_kernels *k, const trial *t, const products *p, const double *rates)
{
    const size_t nv       = t->nv;
    double      *expected = trial_array(t, TRIAL_DIRECTIONS * nv), *qdd = trial_array(t, nv);
    rows_forward_directional(k, &t->scene, 1,
                             (dyn_forward_directional){.q             = t->q,
                                                       .qd            = t->qd,
                                                       .tau           = t->tau,
                                                       .wrenches      = t->wrenches,
                                                       .n             = TRIAL_DIRECTIONS,
                                                       .direction_q   = p->along.part[TRIAL_Q],
                                                       .direction_qd  = p->along.part[TRIAL_QD],
                                                       .direction_tau = p->along.part[TRIAL_LAST],
                                                       .rates         = expected,
                                                       .qdd           = qdd});
    assert_memory_equal(rates, expected, TRIAL_DIRECTIONS * nv * sizeof *rates);
    free(expected), free(qdd);
}

/* Compares products of forward dynamics with the matrices, and rates of qdd with forward_directional, bitwise. */
static void compare_forward_products(const trial *t)
{
    const size_t nv          = t->nv;
    double      *multipliers = multipliers_make(t), *rates = trial_array(t, TRIAL_DIRECTIONS * nv),
           *qdd          = trial_array(t, nv), singular[1];
    products           p = products_make(t);
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        rows_forward_hessian_product(k, &t->scene, 1,
                                     (dyn_forward_hessian_product){.q             = t->q,
                                                                   .qd            = t->qd,
                                                                   .tau           = t->tau,
                                                                   .wrenches      = t->wrenches,
                                                                   .multipliers   = multipliers,
                                                                   .n             = TRIAL_DIRECTIONS,
                                                                   .direction_q   = p.along.part[TRIAL_Q],
                                                                   .direction_qd  = p.along.part[TRIAL_QD],
                                                                   .direction_tau = p.along.part[TRIAL_LAST],
                                                                   .product_q     = p.part[TRIAL_Q],
                                                                   .product_qd    = p.part[TRIAL_QD],
                                                                   .product_tau   = p.part[TRIAL_LAST],
                                                                   .rates         = rates,
                                                                   .qdd           = qdd,
                                                                   .singular      = singular});
        assert_true(singular[0] == -1);
        expect_directional_rates(k, t, &p, rates);
        compare_rates_of_gradients(t, "forward products", multipliers, &p, true);
    }
    free(multipliers), free(rates), free(qdd);
    products_free(&p);
}

static void test_forward_products_are_complex_step_derivatives_of_gradients(void **state)
{
    trial_robots(ROBOTS, 1, compare_forward_products);
    for (uint64_t seed = 1; seed <= LOADED; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_forward_products(&t);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_forward),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_zeros_are_set),
        cmocka_unit_test(test_single_results),
        cmocka_unit_test(test_products_are_those_of_matrices_and_directions),
        cmocka_unit_test(test_products_are_complex_step_derivatives_of_gradients),
        cmocka_unit_test(test_forward_products_are_complex_step_derivatives_of_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
