/* test_hessian.c - compares second derivatives of inverse and forward dynamics with the complex step of the first
 * derivatives, direction by direction. */
#include "check.h"
#include "complex_step.h"
#include "rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>

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
            const double size = factor * scale.size[r], terms = contract(t, expected.x[r], sum);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_robots), cmocka_unit_test(test_terms),
                                       cmocka_unit_test(test_forward), cmocka_unit_test(test_loads),
                                       cmocka_unit_test(test_single_results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
