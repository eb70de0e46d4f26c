/* test_bias.c - compares the bias and its parts with the reference, on every target. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <stdlib.h>
#include <string.h>

/* Rounding of sums along at most 40 bodies, as for inverse dynamics. */
#define TOLERANCE 2e-14

enum { ROBOTS = 240, ROWS = 5, PARTS = 4 };

static const char *const part_names[PARTS] = {"bias", "coriolis", "gravity", "friction"};

/* Allocates the four parts, in the order of part_names. */
static void allocate_parts(const trial *t, double *parts[PARTS])
{
    for (int p = 0; p < PARTS; p++)
        parts[p] = trial_array(t, t->nv);
}

static void free_parts(double *parts[PARTS])
{
    for (int p = 0; p < PARTS; p++)
        free(parts[p]);
}

static void evaluate(const dyn_kernels *k, const trial *t, double *const parts[PARTS])
{
    rows_bias(k, &t->scene, t->rows,
              (dyn_bias){.q        = t->q,
                         .qd       = t->qd,
                         .wrenches = t->wrenches,
                         .bias     = parts[0],
                         .coriolis = parts[1],
                         .gravity  = parts[2],
                         .friction = parts[3]});
}

static void evaluate_reference(const trial *t, double *const parts[PARTS])
{
    for (size_t r = 0; r < t->rows; r++) {
        reference_wrench w[TRIAL_WRENCHES];
        reference_scene  scene  = trial_reference_scene(t, r, w);
        reference       *ref    = trial_reference(t, r);
        size_t           offset = r * t->nv;
        reference_bias(
            ref, &scene,
            (reference_bias_parts){parts[0] + offset, parts[1] + offset, parts[2] + offset, parts[3] + offset});
        reference_free(ref);
    }
}

static void compare_with_reference(const trial *t)
{
    double *got[PARTS], *expected[PARTS];
    allocate_parts(t, got);
    allocate_parts(t, expected);
    evaluate_reference(t, expected);
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        evaluate(k, t, got);
        for (int p = 0; p < PARTS; p++)
            check_close_scaled(part_names[p], t->seed, t->rows * t->nv, got[p], expected[p], TOLERANCE,
                               9.81 * t->model->mass); /* scale of the error where a part vanishes, as gravity does for
                                                          a robot that hangs straight down */
    }
    free_parts(got);
    free_parts(expected);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, ROWS, compare_with_reference);
}

static void test_terms(void **state)
{
    trial_terms(2, compare_with_reference);
}

/* bias must be inverse dynamics at qdd = 0 with all terms. */
static void test_bias_is_inverse_dynamics_at_zero_acceleration(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t   = trial_make(seed, ROWS);
        double *tau = trial_array(&t, t.nv), *bias = trial_array(&t, t.nv);
        rows_inverse_dynamics(k, &t.scene, t.rows,
                              (dyn_inverse_dynamics){.q = t.q, .qd = t.qd, .wrenches = t.wrenches, .tau = tau});
        rows_bias(k, &t.scene, t.rows, (dyn_bias){.q = t.q, .qd = t.qd, .wrenches = t.wrenches, .bias = bias});
        check_close("bias", seed, t.rows * t.nv, bias, tau, TOLERANCE);
        free(tau), free(bias);
        trial_free(&t);
    }
}

/* Without springs and wrenches, bias = coriolis + gravity + friction. */
static void test_parts_add_up(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        trial   t = trial_of(seed, random_tree_make(seed, 14, seed % 2, TREE_ALL), ROWS, 0);
        double *parts[PARTS], *sum = trial_array(&t, t.nv);
        t.scene.terms = DYN_FRICTION;
        allocate_parts(&t, parts);
        evaluate(test_kernels(), &t, parts);
        for (size_t i = 0; i < t.rows * t.nv; i++)
            sum[i] = parts[1][i] + parts[2][i] + parts[3][i];
        check_close("sum of the parts", seed, t.rows * t.nv, sum, parts[0], TOLERANCE);
        free_parts(parts);
        free(sum);
        trial_free(&t);
    }
}

/* C(q, qd) qd is quadratic in qd. Doubling is exact in binary, so four times the result has the same bits. */
static void test_coriolis_is_quadratic(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        trial   t    = trial_make(seed, ROWS);
        double *once = trial_array(&t, t.nv), *twice = trial_array(&t, t.nv);
        rows_bias(test_kernels(), &t.scene, t.rows, (dyn_bias){.q = t.q, .qd = t.qd, .coriolis = once});
        for (size_t i = 0; i < t.rows * t.nv; i++)
            t.qd[i] *= 2, once[i] *= 4;
        rows_bias(test_kernels(), &t.scene, t.rows, (dyn_bias){.q = t.q, .qd = t.qd, .coriolis = twice});
        assert_memory_equal(once, twice, t.rows * t.nv * sizeof *once);
        free(once), free(twice);
        trial_free(&t);
    }
}

/* Compares friction with the reference, each entry relative to itself. */
static void compare_friction(const trial *t)
{
    double            *got = trial_array(t, t->nv), *expected = trial_array(t, t->nv);
    reference         *ref   = trial_reference(t, 0);
    reference_scene    scene = trial_reference_scene(t, 0, NULL);
    const dyn_kernels *k;
    reference_bias(ref, &scene, (reference_bias_parts){.friction = expected});
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        rows_bias(k, &t->scene, 1, (dyn_bias){.q = t->q, .qd = t->qd, .friction = got});
        for (size_t j = 0; j < t->nv; j++)
            check_close("friction", t->seed, 1, &got[j], &expected[j], 1e-15);
    }
    reference_free(ref);
    free(got), free(expected);
}

/* Compares smoothed friction with the reference at rates from 1e-12 of its width to far beyond it. */
static void test_smoothed_friction_at_every_rate(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        trial t = trial_of(seed, random_tree_make(seed, 3, false, TREE_FRICTION), 1, 0);
        for (double rate = 1e-12; rate < 1e3; rate *= 1.7) {
            for (size_t i = 0; i < t.nv; i++)
                t.qd[i] = i % 2 ? rate : -rate;
            compare_friction(&t);
        }
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_bias_is_inverse_dynamics_at_zero_acceleration),
        cmocka_unit_test(test_parts_add_up),
        cmocka_unit_test(test_coriolis_is_quadratic),
        cmocka_unit_test(test_smoothed_friction_at_every_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
