/* test_sensitivity.c - compares derivatives of inverse dynamics with the complex step of inverse dynamics, direction by
 * direction. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <stdlib.h>

/* Relative to the largest entry of the quantity; both sides are sums along at most 40 bodies. */
#define TOLERANCE 1e-12

enum { ROBOTS = 200 };

typedef struct derivatives {
    double *tau[3], *wrenches[3]; /* derivatives of tau and of joint wrenches with respect to q, qd, qdd */
    double *tau_wrench, *tau_gravity;
} derivatives;

static derivatives allocate(const trial *t)
{
    derivatives d = {.tau_wrench  = trial_array(t, t->scene.n_wrenches * t->nv * 6),
                     .tau_gravity = trial_array(t, t->nv * 3)};
    for (int i = 0; i < 3; i++) {
        d.tau[i]      = trial_array(t, t->nv * t->nv);
        d.wrenches[i] = trial_array(t, 6 * t->bodies * t->nv);
    }
    return d;
}

static void release(derivatives *d)
{
    for (int i = 0; i < 3; i++)
        free(d->tau[i]), free(d->wrenches[i]);
    free(d->tau_wrench), free(d->tau_gravity);
}

static dyn_sensitivity arrays(const trial *t, const derivatives *d)
{
    return (dyn_sensitivity){.q                    = t->q,
                             .qd                   = t->qd,
                             .qdd                  = t->qdd,
                             .wrenches             = t->wrenches,
                             .dtau_dq              = d->tau[0],
                             .dtau_dqd             = d->tau[1],
                             .dtau_dqdd            = d->tau[2],
                             .djoint_wrenches_dq   = d->wrenches[0],
                             .djoint_wrenches_dqd  = d->wrenches[1],
                             .djoint_wrenches_dqdd = d->wrenches[2],
                             .dtau_dwrench         = d->tau_wrench,
                             .dtau_dgravity        = d->tau_gravity};
}

/* Computes column `j` of `columns` of the derivative of tau and, unless NULL, of the joint wrenches, from a state with
 * its direction in the imaginary part. */
static void differentiate(const trial *t, complex_state *s, size_t j, size_t columns, double *tau, double *wrenches)
{
    size_t           nj    = 6 * t->bodies;
    double _Complex *value = complex_array(t->nv), *forces = complex_array(nj);
    double          *dtau = trial_array(t, t->nv), *dforces = trial_array(t, nj);
    dyn_kernels_complex.inverse_dynamics(&t->scene, s->workspace,
                                         &(dyn_inverse_dynamics){.q              = as_lanes(s->q),
                                                                 .qd             = as_lanes(s->qd),
                                                                 .qdd            = as_lanes(s->qdd),
                                                                 .wrenches       = as_lanes(s->wrenches),
                                                                 .tau            = as_lanes(value),
                                                                 .joint_wrenches = as_lanes(forces)},
                                         1);
    complex_derivative(t->nv, value, dtau);
    complex_derivative(nj, forces, dforces);
    for (size_t i = 0; i < t->nv; i++)
        tau[i * columns + j] = dtau[i];
    for (size_t i = 0; wrenches && i < nj; i++)
        wrenches[i * columns + j] = dforces[i];
    free(value), free(forces), free(dtau), free(dforces);
    complex_state_free(s);
}

static void expect_state(const trial *t, derivatives *d)
{
    for (size_t j = 0; j < t->nv; j++) {
        complex_state s = complex_state_along(t, j);
        differentiate(t, &s, j, t->nv, d->tau[0], d->wrenches[0]);
        s = complex_state_make(t, 0);
        s.qd[j] += I * COMPLEX_STEP;
        differentiate(t, &s, j, t->nv, d->tau[1], d->wrenches[1]);
        s = complex_state_make(t, 0);
        s.qdd[j] += I * COMPLEX_STEP;
        differentiate(t, &s, j, t->nv, d->tau[2], d->wrenches[2]);
    }
}

static void expect_wrenches(const trial *t, derivatives *d)
{
    for (size_t n = 0; n < t->scene.n_wrenches; n++)
        for (size_t c = 0; c < 6; c++) {
            complex_state s = complex_state_make(t, 0);
            s.wrenches[9 * n + c] += I * COMPLEX_STEP;
            differentiate(t, &s, c, 6, d->tau_wrench + n * t->nv * 6, NULL);
        }
}

/* Computes dtau/dg: the torque is linear in gravity, so its derivative is the torque of 1 m/s^2 along one axis, without
 * motion and wrenches. */
static void expect_gravity(const trial *t, derivatives *d)
{
    double *tau = trial_array(t, t->nv);
    for (size_t c = 0; c < 3; c++) {
        dyn_scene scene  = {.model = t->model};
        scene.gravity[c] = 1;
        rows_inverse_dynamics(test_kernels(), &scene, 1, (dyn_inverse_dynamics){.q = t->q, .tau = tau});
        for (size_t i = 0; i < t->nv; i++)
            d->tau_gravity[i * 3 + c] = tau[i];
    }
    free(tau);
}

static void compare(const trial *t, const derivatives *got, const derivatives *expected)
{
    static const char *const by[] = {"dq", "dqd", "dqdd"};
    size_t                   nt = t->nv * t->nv, nj = 6 * t->bodies * t->nv, nw = t->scene.n_wrenches * t->nv * 6;
    for (int i = 0; i < 3; i++) {
        double size = largest(nj, expected->wrenches[i]);
        check_close_scaled(by[i], t->seed, nt, got->tau[i], expected->tau[i], TOLERANCE, size);
        check_close(by[i], t->seed, nj, got->wrenches[i], expected->wrenches[i], TOLERANCE);
    }
    if (nw) check_close("dwrench", t->seed, nw, got->tau_wrench, expected->tau_wrench, TOLERANCE);
    check_close_scaled("dgravity", t->seed, t->nv * 3, got->tau_gravity, expected->tau_gravity, TOLERANCE,
                       t->model->mass);
}

static void compare_with_complex_step(const trial *t)
{
    const dyn_kernels *k;
    derivatives        expected = allocate(t), got = allocate(t);
    expect_state(t, &expected);
    expect_wrenches(t, &expected);
    expect_gravity(t, &expected);
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        rows_sensitivity(k, &t->scene, 1, arrays(t, &got));
        compare(t, &got, &expected);
    }
    release(&expected);
    release(&got);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, 1, compare_with_complex_step);
}

static void test_terms(void **state)
{
    trial_terms(1, compare_with_complex_step);
}

/* The derivative with respect to accelerations must be the mass matrix. */
static void test_mass_matrix(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial       t = trial_make(seed, 1);
        derivatives d = allocate(&t);
        double     *M = trial_array(&t, t.nv * t.nv);
        rows_sensitivity(test_kernels(), &t.scene, 1, arrays(&t, &d));
        rows_mass_matrix(test_kernels(), &t.scene, 1, (dyn_mass_matrix){.q = t.q, .mass_matrix = M});
        check_close("mass matrix", seed, t.nv * t.nv, d.tau[2], M, TOLERANCE);
        free(M);
        release(&d);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_robots), cmocka_unit_test(test_terms),
                                       cmocka_unit_test(test_mass_matrix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
