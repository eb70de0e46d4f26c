/* test_forward_sensitivity.c - compares derivatives of forward dynamics with the complex step of forward dynamics, and
 * on large trees with those of inverse dynamics. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>

/* Relative to the largest entry. Errors grow with the condition of the mass matrix, which is moderate for these
 * robots. */
#define TOLERANCE 1e-12

enum { ROBOTS = 150 };

/* Computes column j of the derivative of qdd, from a state with its direction in the imaginary part. */
static void differentiate(const trial *t, complex_state *s, size_t j, size_t columns, double *out)
{
    double _Complex *qdd = complex_array(t->nv);
    double          *d   = trial_array(t, t->nv);
    dyn_kernels_complex.forward_dynamics(&t->scene, s->workspace,
                                         &(dyn_forward_dynamics){.q        = as_lanes(s->q),
                                                                 .qd       = as_lanes(s->qd),
                                                                 .tau      = as_lanes(s->tau),
                                                                 .wrenches = as_lanes(s->wrenches),
                                                                 .qdd      = as_lanes(qdd)},
                                         1);
    complex_derivative(t->nv, qdd, d);
    for (size_t i = 0; i < t->nv; i++)
        out[i * columns + j] = d[i];
    free(qdd), free(d);
    complex_state_free(s);
}

typedef struct derivatives {
    double *qdd, *q, *qd, *tau, *wrench;
} derivatives;

static derivatives allocate(const trial *t)
{
    size_t n = t->nv * t->nv;
    return (derivatives){trial_array(t, t->nv), trial_array(t, n), trial_array(t, n), trial_array(t, n),
                         trial_array(t, t->scene.n_wrenches * t->nv * 6)};
}

static void release(derivatives *d)
{
    free(d->qdd), free(d->q), free(d->qd), free(d->tau), free(d->wrench);
}

static void expect(const trial *t, derivatives *d)
{
    for (size_t j = 0; j < t->nv; j++) {
        complex_state s = complex_state_along(t, j);
        differentiate(t, &s, j, t->nv, d->q);
        s = complex_state_make(t, 0);
        s.qd[j] += I * COMPLEX_STEP;
        differentiate(t, &s, j, t->nv, d->qd);
        s = complex_state_make(t, 0);
        s.tau[j] += I * COMPLEX_STEP;
        differentiate(t, &s, j, t->nv, d->tau);
    }
    for (size_t n = 0; n < t->scene.n_wrenches; n++)
        for (size_t c = 0; c < 6; c++) {
            complex_state s = complex_state_make(t, 0);
            s.wrenches[9 * n + c] += I * COMPLEX_STEP;
            differentiate(t, &s, c, 6, d->wrench + n * t->nv * 6);
        }
}

static void test_random_robots(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial              t        = trial_make(seed, 1);
        derivatives        expected = allocate(&t), got = allocate(&t), alone = allocate(&t);
        size_t             n = t.nv * t.nv, nw = t.scene.n_wrenches * t.nv * 6;
        const dyn_kernels *k;
        expect(&t, &expected);
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            rows_forward_sensitivity(k, &t.scene, 1,
                                     (dyn_forward_sensitivity){.q            = t.q,
                                                               .qd           = t.qd,
                                                               .tau          = t.tau,
                                                               .wrenches     = t.wrenches,
                                                               .qdd          = got.qdd,
                                                               .dqdd_dq      = got.q,
                                                               .dqdd_dqd     = got.qd,
                                                               .dqdd_dtau    = got.tau,
                                                               .dqdd_dwrench = got.wrench});
            rows_forward_sensitivity(k, &t.scene, 1,
                                     (dyn_forward_sensitivity){.q        = t.q,
                                                               .qd       = t.qd,
                                                               .tau      = t.tau,
                                                               .wrenches = t.wrenches,
                                                               .qdd      = alone.qdd,
                                                               .dqdd_dq  = alone.q,
                                                               .dqdd_dqd = alone.qd});
            assert_memory_equal(alone.q, got.q, n * sizeof *got.q);
            assert_memory_equal(alone.qd, got.qd, n * sizeof *got.qd);
            rows_forward_dynamics(k, &t.scene, 1,
                                  (dyn_forward_dynamics){
                                      .q = t.q, .qd = t.qd, .tau = t.tau, .wrenches = t.wrenches, .qdd = expected.qdd});
            assert_memory_equal(got.qdd, expected.qdd, t.nv * sizeof *got.qdd);
            double size = largest(n, expected.tau);
            check_close_scaled("dqdd_dq", seed, n, got.q, expected.q, TOLERANCE, size);
            check_close_scaled("dqdd_dqd", seed, n, got.qd, expected.qd, TOLERANCE, size);
            check_close("dqdd_dtau", seed, n, got.tau, expected.tau, TOLERANCE);
            if (nw) check_close_scaled("dqdd_dwrench", seed, nw, got.wrench, expected.wrench, TOLERANCE, size);
        }
        release(&expected);
        release(&got);
        release(&alone);
        trial_free(&t);
    }
}

/* Returns the ancestor of body i whose parent is the world. */
static int root_of(const dyn_model *m, int i)
{
    while (m->body[i].tree.parent != DYN_WORLD)
        i = m->body[i].tree.parent;
    return i;
}

/* Compares sum + A B, row by row, with `expected` times the unit matrix. */
static void check_product(const char *what, const trial *t, const double *A, const double *B, const double *sum,
                          double diagonal)
{
    size_t  n   = t->nv;
    double *got = trial_array(t, n * n), *expected = trial_array(t, n * n), scale = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double x = sum ? sum[i * n + j] : 0, size = fabs(x);
            for (size_t k = 0; k < n; k++) {
                x += A[i * n + k] * B[k * n + j];
                size += fabs(A[i * n + k] * B[k * n + j]);
            }
            got[i * n + j]      = x;
            expected[i * n + j] = i == j ? diagonal : 0;
            scale               = fmax(scale, size);
        }
    check_close_scaled(what, t->seed, n * n, got, expected, 1e-13, scale);
    free(got), free(expected);
}

/* Checks large trees: M dqdd/dx = -dtau/dx with M and dtau/dx of inverse dynamics; M M^-1 = 1; entries between limbs
 * that only the world connects are zero. */
static void test_trees(void **state)
{
    size_t apart = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        unsigned           features = TREE_ALL & ~(TREE_DENSE | (seed % 2 ? TREE_ELASTIC : 0u));
        trial              t        = trial_of(seed, random_tree_make(seed, 60 + seed, seed % 3 == 0, features), 1, 0);
        derivatives        by = allocate(&t), tau = allocate(&t);
        const dyn_kernels *k = test_kernels();
        rows_forward_sensitivity(k, &t.scene, 1,
                                 (dyn_forward_sensitivity){.q         = t.q,
                                                           .qd        = t.qd,
                                                           .tau       = t.tau,
                                                           .qdd       = by.qdd,
                                                           .dqdd_dq   = by.q,
                                                           .dqdd_dqd  = by.qd,
                                                           .dqdd_dtau = by.tau});
        rows_sensitivity(
            k, &t.scene, 1,
            (dyn_sensitivity){
                .q = t.q, .qd = t.qd, .qdd = by.qdd, .dtau_dq = tau.q, .dtau_dqd = tau.qd, .dtau_dqdd = tau.tau});
        check_product("M dqdd/dq", &t, tau.tau, by.q, tau.q, 0);
        check_product("M dqdd/dqd", &t, tau.tau, by.qd, tau.qd, 0);
        check_product("M M^-1", &t, tau.tau, by.tau, NULL, 1);
        int alike = t.nq != t.nv || t.model->n_couplings > 0 ? 0 : (int)t.model->n_bodies;
        for (int i = 0; i < alike; i++)
            for (int j = 0; j < alike; j++) {
                size_t e = (size_t)t.model->body[i].joint.v * t.nv + (size_t)t.model->body[j].joint.v;
                if (root_of(t.model, i) == root_of(t.model, j) || t.model->body[i].joint.mimic ||
                    t.model->body[j].joint.mimic)
                    continue;
                assert_true(by.q[e] == 0 && by.qd[e] == 0 && by.tau[e] == 0);
                apart++;
            }
        release(&by), release(&tau);
        trial_free(&t);
    }
    assert_true(apart > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_robots), cmocka_unit_test(test_trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
