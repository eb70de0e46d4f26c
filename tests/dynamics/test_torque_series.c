/* test_torque_series.c - compares tau with inverse dynamics, and each time derivative of tau with the complex step,
 * along the motion, of the derivative one order lower. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>

/* Relative to the largest entry of tau of the same order or one order lower: a large constant term there leaves its
 * rounding error. */
#define TOLERANCE 1e-11

enum { ROBOTS = 120, ORDER = 8 /* order of the highest derivative of tau */, TERMS = ORDER + 3 };

static size_t motion_size(const trial *t, int order)
{
    return t->nq + (size_t)(order + 2) * t->nv;
}

/* Returns the trial's q, qd, qdd and qddd, followed by random derivatives up to order ORDER + 2. */
static double *motion_of(const trial *t)
{
    random_source source = {.state = t->seed};
    double       *motion = trial_array(t, motion_size(t, ORDER)), *rate = motion + t->nq;
    for (size_t i = 0; i < t->nq; i++)
        motion[i] = t->q[i];
    for (size_t k = 1; k < TERMS; k++, rate += t->nv)
        for (size_t v = 0; v < t->nv; v++)
            rate[v] = k == 1 ? t->qd[v] : k == 2 ? t->qdd[v] : k == 3 ? t->qddd[v] : random_between(&source, -1, 1);
    return motion;
}

/* Moves the derivatives of the motion up to order + 2 by a complex step along the motion. */
static double _Complex *moved_motion(const trial *t, const double *motion, int order)
{
    const size_t     n     = motion_size(t, order);
    double _Complex *moved = complex_array(n);
    double          *rate  = trial_array(t, n);
    position_rates(t->model, motion, motion + t->nq, rate);
    for (size_t i = t->nq; i < n; i++)
        rate[i] = motion[i + t->nv];
    for (size_t i = 0; i < n; i++)
        moved[i] = motion[i];
    complex_add(n, moved, rate);
    free(rate);
    return moved;
}

/* Computes derivative number `order` + 1 of tau. */
static void next_derivative(const trial *t, const double *motion, int order, double *next)
{
    const size_t     n     = (size_t)(order + 1) * t->nv;
    complex_state    s     = complex_state_make(t, 0);
    double _Complex *moved = moved_motion(t, motion, order), *tau = complex_array(n),
                    *work = complex_array(dyn_torque_series_work(t->model, order));
    dyn_kernels_complex.torque_series(&t->scene, s.workspace,
                                      &(dyn_torque_series){.order    = order,
                                                           .motion   = as_lanes(moved),
                                                           .wrenches = as_lanes(s.wrenches),
                                                           .tau      = as_lanes(tau),
                                                           .work     = as_lanes(work)},
                                      1);
    complex_derivative(t->nv, tau + n - t->nv, next);
    free(moved), free(tau), free(work);
    complex_state_free(&s);
}

static double joint_wrench_size(const trial *t)
{
    double *tau = trial_array(t, t->nv), *wrenches = trial_array(t, 6 * t->bodies);
    rows_inverse_dynamics(
        test_kernels(), &t->scene, 1,
        (dyn_inverse_dynamics){
            .q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .tau = tau, .joint_wrenches = wrenches});
    double size = largest(6 * t->bodies, wrenches);
    free(tau), free(wrenches);
    return size;
}

/* Computes tau and all its derivatives, (ORDER + 1) x nv. */
static double *expected_series(const trial *t, const double *motion)
{
    double *tau = trial_array(t, (ORDER + 1) * t->nv);
    rows_inverse_dynamics(
        test_kernels(), &t->scene, 1,
        (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .tau = tau});
    for (int order = 0; order < ORDER; order++)
        next_derivative(t, motion, order, tau + (size_t)(order + 1) * t->nv);
    return tau;
}

static void compare(const trial *t)
{
    double            *motion = motion_of(t), *expected = expected_series(t, motion);
    double            *got = trial_array(t, (ORDER + 1) * t->nv);
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        double size = joint_wrench_size(t);
        rows_torque_series(k, &t->scene, 1,
                           (dyn_torque_series){.order = ORDER, .motion = motion, .wrenches = t->wrenches, .tau = got});
        for (size_t r = 0; r <= ORDER; r++) {
            const double *expected_row = expected + r * t->nv;
            check_close_scaled("derivative of tau", t->seed * 100 + r, t->nv, got + r * t->nv, expected_row, TOLERANCE,
                               size);
            size = fmax(size, largest(t->nv, expected_row));
        }
    }
    free(motion), free(expected), free(got);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, 1, compare);
}

static void test_terms(void **state)
{
    trial_terms(1, compare);
}

static void test_loads(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare(&t);
        trial_free(&t);
    }
}

/* The first derivatives must have the same bits whatever the order. */
static void test_order(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        trial   t      = trial_make(seed, 1);
        double *motion = motion_of(&t), *all = trial_array(&t, (ORDER + 1) * t.nv),
               *some         = trial_array(&t, (ORDER + 1) * t.nv);
        dyn_torque_series io = {.order = ORDER, .motion = motion, .wrenches = t.wrenches, .tau = all};
        rows_torque_series(test_kernels(), &t.scene, 1, io);
        for (io.order = 0, io.tau = some; io.order < ORDER; io.order++) {
            rows_torque_series(test_kernels(), &t.scene, 1, io);
            assert_memory_equal(some, all, (size_t)(io.order + 1) * t.nv * sizeof *all);
        }
        free(motion), free(all), free(some);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_robots), cmocka_unit_test(test_terms),
                                       cmocka_unit_test(test_loads), cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
