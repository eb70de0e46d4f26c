/* test_sensitivity_rate.c - compares time derivatives of the sensitivities with the complex step of the sensitivities
 * along the motion, and with derivatives of the torque's rate by the complex step. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Relative to the largest entry of the quantity, or of the same quantity of the joint wrenches: a torque is one
 * component of a wrench and may be small. */
#define TOLERANCE 1e-12

enum { ROBOTS = 200 };

typedef struct matrices {
    double *by[3];   /* nv x nv each: derivatives with respect to q, qd, qdd */
    double  size[3]; /* largest entry of the same derivative of the joint wrenches */
} matrices;

static const char *const names[] = {"q", "qd", "qdd"};

static matrices allocate(const trial *t)
{
    return (matrices){
        .by = {trial_array(t, t->nv * t->nv), trial_array(t, t->nv * t->nv), trial_array(t, t->nv * t->nv)}};
}

static void release(matrices *m)
{
    for (int i = 0; i < 3; i++)
        free(m->by[i]);
}

static void compare(const char *what, const trial *t, const matrices *got, const matrices *expected)
{
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s by %s", what, names[i]);
        check_close_scaled(name, t->seed, t->nv * t->nv, got->by[i], expected->by[i], TOLERANCE, expected->size[i]);
    }
}

static void rates(const dyn_kernels *k, const trial *t, const matrices *m)
{
    rows_sensitivity_rate(k, &t->scene, 1,
                          (dyn_sensitivity_rate){.q             = t->q,
                                                 .qd            = t->qd,
                                                 .qdd           = t->qdd,
                                                 .qddd          = t->qddd,
                                                 .wrenches      = t->wrenches,
                                                 .dtau_dq_dot   = m->by[0],
                                                 .dtau_dqd_dot  = m->by[1],
                                                 .dtau_dqdd_dot = m->by[2]});
}

/* Reads the derivative of n complex numbers and frees these. Returns the largest magnitude among the derivative and the
 * numbers: a constant number of that size gives a rounding error in its rate. */
static double read_derivative(size_t n, double _Complex *x, double *derivative)
{
    double size = 0;
    for (size_t i = 0; i < n; i++)
        size = fmax(size, fabs(creal(x[i])));
    complex_derivative(n, x, derivative);
    free(x);
    return fmax(size, largest(n, derivative));
}

/* Returns the largest effort that the spin of a rotor requires at a joint; it is not part of any joint wrench. */
static double spin_size(const trial *t)
{
    double most = 0, rate = fmax(largest(t->nv, t->qd), fmax(largest(t->nv, t->qdd), largest(t->nv, t->qddd)));
    for (size_t i = 0; i < t->model->n_bodies; i++) {
        const dyn_body *b = &t->model->body[i];
        most              = fmax(most, b->joint.spin_inertia * b->joint.ratio * b->joint.ratio * rate);
    }
    return most;
}

/* Computes rates of the sensitivities along the motion, by the complex step. */
static void along_motion(const trial *t, matrices *m)
{
    size_t           n = t->nv * t->nv, nj = 6 * t->bodies * t->nv;
    complex_state    s      = complex_state_make(t, 0);
    double          *unused = trial_array(t, nj);
    double _Complex *D[3], *W[3];
    complex_state_move(&s, t->qd);
    complex_add(t->nv, s.qd, t->qdd);
    complex_add(t->nv, s.qdd, t->qddd);
    for (int i = 0; i < 3; i++)
        D[i] = complex_array(n), W[i] = complex_array(nj);
    dyn_kernels_complex.sensitivity(&t->scene, s.workspace,
                                    &(dyn_sensitivity){.q                    = as_lanes(s.q),
                                                       .qd                   = as_lanes(s.qd),
                                                       .qdd                  = as_lanes(s.qdd),
                                                       .wrenches             = as_lanes(s.wrenches),
                                                       .dtau_dq              = as_lanes(D[0]),
                                                       .dtau_dqd             = as_lanes(D[1]),
                                                       .dtau_dqdd            = as_lanes(D[2]),
                                                       .djoint_wrenches_dq   = as_lanes(W[0]),
                                                       .djoint_wrenches_dqd  = as_lanes(W[1]),
                                                       .djoint_wrenches_dqdd = as_lanes(W[2])},
                                    1);
    for (int i = 0; i < 3; i++) {
        read_derivative(n, D[i], m->by[i]);
        m->size[i] = fmax(read_derivative(nj, W[i], unused), spin_size(t));
    }
    free(unused);
    complex_state_free(&s);
}

static void compare_along_motion(const trial *t)
{
    const dyn_kernels *k;
    matrices           expected = allocate(t), got = allocate(t);
    along_motion(t, &expected);
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        rates(k, t, &got);
        compare("rate", t, &got, &expected);
    }
    release(&expected);
    release(&got);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, 1, compare_along_motion);
}

static void test_terms(void **state)
{
    trial_terms(1, compare_along_motion);
}

/* Computes column j of the derivative of tau_dot with respect to q, qd or qdd (i), from a state with its direction in
 * the imaginary part. */
static void torque_rate_column(const trial *t, complex_state s, size_t j, int i, matrices *m)
{
    size_t           nj      = 6 * t->bodies;
    double _Complex *tau_dot = complex_array(t->nv), *forces = complex_array(nj);
    double          *column = trial_array(t, t->nv), *unused = trial_array(t, nj);
    dyn_kernels_complex.torque_derivative(&t->scene, s.workspace,
                                          &(dyn_torque_derivative){.q                  = as_lanes(s.q),
                                                                   .qd                 = as_lanes(s.qd),
                                                                   .qdd                = as_lanes(s.qdd),
                                                                   .qddd               = as_lanes(s.qddd),
                                                                   .wrenches           = as_lanes(s.wrenches),
                                                                   .tau_dot            = as_lanes(tau_dot),
                                                                   .joint_wrench_rates = as_lanes(forces)},
                                          1);
    read_derivative(t->nv, tau_dot, column);
    m->size[i] = fmax(m->size[i], read_derivative(nj, forces, unused));
    for (size_t row = 0; row < t->nv; row++)
        m->by[i][row * t->nv + j] = column[row];
    free(column), free(unused);
    complex_state_free(&s);
}

static void torque_rate_derivatives(const trial *t, matrices *m)
{
    for (size_t j = 0; j < t->nv; j++) {
        complex_state s = complex_state_along(t, j);
        torque_rate_column(t, s, j, 0, m);
        s = complex_state_make(t, 0);
        s.qd[j] += I * COMPLEX_STEP;
        torque_rate_column(t, s, j, 1, m);
        s = complex_state_make(t, 0);
        s.qdd[j] += I * COMPLEX_STEP;
        torque_rate_column(t, s, j, 2, m);
    }
}

/* Checks d tau_dot / dq = (dtau/dq)'; d tau_dot / dqd = (dtau/dqd)' + dtau/dq; d tau_dot / dqdd = (dtau/dqdd)' +
 * dtau/dqd. */
static void test_torque_rate(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial t = trial_make(seed, 1);
        if (t.nq == t.nv) {
            matrices expected = allocate(&t), got = allocate(&t), D = allocate(&t);
            torque_rate_derivatives(&t, &expected);
            rates(test_kernels(), &t, &got);
            rows_sensitivity(test_kernels(), &t.scene, 1,
                             (dyn_sensitivity){.q         = t.q,
                                               .qd        = t.qd,
                                               .qdd       = t.qdd,
                                               .wrenches  = t.wrenches,
                                               .dtau_dq   = D.by[0],
                                               .dtau_dqd  = D.by[1],
                                               .dtau_dqdd = D.by[2]});
            for (size_t e = 0; e < t.nv * t.nv; e++) {
                got.by[1][e] += D.by[0][e];
                got.by[2][e] += D.by[1][e];
            }
            compare("torque rate", &t, &got, &expected);
            release(&expected), release(&got), release(&D);
        }
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_robots), cmocka_unit_test(test_terms),
                                       cmocka_unit_test(test_torque_rate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
