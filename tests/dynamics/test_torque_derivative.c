/* test_torque_derivative.c - compares rates of generalised forces and joint wrenches with the complex step of inverse
 * dynamics. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>

/* The complex step is exact to rounding; both sides sum along at most 40 bodies, relative to the largest entry. */
#define TOLERANCE 1e-14

enum { ROBOTS = 200, ROWS = 3 };

typedef struct rates {
    double *tau, *tau_dot, *wrenches, *wrench_rates;
} rates;

static rates allocate(const trial *t)
{
    return (rates){trial_array(t, t->nv), trial_array(t, t->nv), trial_array(t, 6 * t->bodies),
                   trial_array(t, 6 * t->bodies)};
}

static void free_rates(rates *r)
{
    free(r->tau), free(r->tau_dot), free(r->wrenches), free(r->wrench_rates);
}

static dyn_torque_derivative arrays(const trial *t, const rates *r)
{
    return (dyn_torque_derivative){.q                  = t->q,
                                   .qd                 = t->qd,
                                   .qdd                = t->qdd,
                                   .qddd               = t->qddd,
                                   .wrenches           = t->wrenches,
                                   .wrench_rates       = t->wrench_rates,
                                   .tau                = r->tau,
                                   .tau_dot            = r->tau_dot,
                                   .joint_wrenches     = r->wrenches,
                                   .joint_wrench_rates = r->wrench_rates};
}

/* Evaluates inverse dynamics over complex numbers, with every input moving at its rate. */
static void differentiate(const trial *t, size_t row, rates *r)
{
    complex_state s = complex_state_make(t, row);
    complex_state_move(&s, t->qd + row * t->nv);
    complex_add(t->nv, s.qd, t->qdd + row * t->nv);
    complex_add(t->nv, s.qdd, t->qddd + row * t->nv);
    for (size_t i = 0; i < t->scene.n_wrenches; i++)
        complex_add(6, s.wrenches + 9 * i, t->wrench_rates + (row * t->scene.n_wrenches + i) * 6);
    complex_inverse_rates(&s, r->tau_dot + row * t->nv, r->wrench_rates + row * 6 * t->bodies);
    complex_state_free(&s);
}

static void compare_with_complex_step(const trial *t)
{
    rates              got = allocate(t), expected = allocate(t);
    size_t             nv = t->rows * t->nv, nw = t->rows * 6 * t->bodies;
    const dyn_kernels *k;
    for (size_t r = 0; r < t->rows; r++)
        differentiate(t, r, &expected);
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        double size;
        rows_torque_derivative(k, &t->scene, t->rows, arrays(t, &got));
        size = largest(nw, expected.wrench_rates);
        check_close("joint_wrench_rates", t->seed, nw, got.wrench_rates, expected.wrench_rates, TOLERANCE);
        check_close_scaled("tau_dot", t->seed, nv, got.tau_dot, expected.tau_dot, TOLERANCE, size);
    }
    free_rates(&got);
    free_rates(&expected);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, ROWS, compare_with_complex_step);
}

static void test_terms(void **state)
{
    trial_terms(2, compare_with_complex_step);
}

/* The torques returned with the rates must equal those of inverse dynamics, bit by bit. */
static void test_torques_are_those_of_inverse_dynamics(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t        = trial_make(seed, ROWS);
        rates   got      = allocate(&t);
        double *tau      = trial_array(&t, t.nv);
        double *wrenches = trial_array(&t, 6 * t.bodies);
        rows_torque_derivative(k, &t.scene, t.rows, arrays(&t, &got));
        rows_inverse_dynamics(
            k, &t.scene, t.rows,
            (dyn_inverse_dynamics){
                .q = t.q, .qd = t.qd, .qdd = t.qdd, .wrenches = t.wrenches, .tau = tau, .joint_wrenches = wrenches});
        assert_memory_equal(got.tau, tau, t.rows * t.nv * sizeof *tau);
        assert_memory_equal(got.wrenches, wrenches, t.rows * 6 * t.bodies * sizeof *tau);
        free_rates(&got);
        free(tau), free(wrenches);
        trial_free(&t);
    }
}

/* Places the trial at a phase x of a rest-to-rest motion q(t), along which the integral of tau_dot, by Simpson's rule,
 * must be the change of tau. The error of the rule falls with the fourth power of the step. The test uses no other
 * derivative of the project. */
static void motion_at(trial *t, const double *from, const double *amplitude, double x)
{
    for (size_t i = 0; i < t->nv; i++) {
        t->q[i]    = from[i] + amplitude[i] * sin(x);
        t->qd[i]   = amplitude[i] * cos(x);
        t->qdd[i]  = -amplitude[i] * sin(x);
        t->qddd[i] = -amplitude[i] * cos(x);
    }
}

static void test_rate_integrates_to_the_change(void **state)
{
    enum { STEPS = 200 };
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        trial   t    = trial_of(seed, random_tree_make(seed, 5, false, TREE_SPRINGS | TREE_ROTORS | TREE_GEARS), 1, 0);
        double *from = trial_array(&t, t.nv), *amplitude = trial_array(&t, t.nv), *change = trial_array(&t, t.nv);
        double *integral = trial_array(&t, t.nv), h = 1.0 / STEPS;
        rates   r = allocate(&t);
        for (size_t i = 0; i < t.nv; i++)
            from[i] = t.q[i], amplitude[i] = t.qd[i] / 2;
        for (size_t n = 0; n <= STEPS; n++) {
            double weight = n == 0 || n == STEPS ? 1 : n % 2 ? 4 : 2;
            motion_at(&t, from, amplitude, (double)n * h);
            rows_torque_derivative(k, &t.scene, 1, arrays(&t, &r));
            for (size_t i = 0; i < t.nv; i++) {
                integral[i] += weight * h / 3 * r.tau_dot[i];
                change[i] += n == 0 ? -r.tau[i] : n == STEPS ? r.tau[i] : 0;
            }
        }
        check_close("integral of tau_dot", seed, t.nv, integral, change, 1e-9);
        free_rates(&r);
        free(from), free(amplitude), free(change), free(integral);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_torques_are_those_of_inverse_dynamics),
        cmocka_unit_test(test_rate_integrates_to_the_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
