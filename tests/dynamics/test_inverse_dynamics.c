/* test_inverse_dynamics.c - compares generalised forces and joint wrenches of random robots with the reference, on
 * every target. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounding grows like a random walk with the number of bodies that a force passes through, 512 at most. 2e-14 is 90
 * units in the last place of the largest entry. */
#define TOLERANCE 2e-14

enum { ROBOTS = 240, ROWS = 5 };

static void reference_rows(const trial *t, double *tau, double *wrenches)
{
    for (size_t r = 0; r < t->rows; r++) {
        reference_wrench w[TRIAL_WRENCHES];
        reference_scene  scene = trial_reference_scene(t, r, w);
        reference       *ref   = trial_reference(t, r);
        reference_inverse_dynamics(ref, &scene, tau + r * t->nv, wrenches + r * 6 * t->bodies);
        reference_free(ref);
    }
}

static void compare_with_reference(const trial *t)
{
    size_t  nv = t->rows * t->nv, nw = t->rows * t->bodies * 6;
    double *tau = trial_array(t, t->nv), *expected_tau = trial_array(t, t->nv);
    double *wrenches = trial_array(t, 6 * t->bodies), *expected_wrenches = trial_array(t, 6 * t->bodies);
    reference_rows(t, expected_tau, expected_wrenches);
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        rows_inverse_dynamics(k, &t->scene, t->rows,
                              (dyn_inverse_dynamics){.q              = t->q,
                                                     .qd             = t->qd,
                                                     .qdd            = t->qdd,
                                                     .wrenches       = t->wrenches,
                                                     .tau            = tau,
                                                     .joint_wrenches = wrenches});
        check_close(k->target, t->seed, nw, wrenches, expected_wrenches, TOLERANCE);
        /* tau may be much smaller than the wrench of which it is a component */
        check_close_scaled(k->target, t->seed, nv, tau, expected_tau, TOLERANCE, largest(nw, expected_wrenches));
    }
    free(tau), free(expected_tau), free(wrenches), free(expected_wrenches);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, ROWS, compare_with_reference);
}

/* Compares with joint friction and springs, the terms of the scene, switched on one by one. */
static void test_terms(void **state)
{
    trial_terms(2, compare_with_reference);
}

/* An input that is NULL must mean zeros: the result has the same bits as with zeros. */
static void test_null_inputs_are_zeros(void **state)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        trial   t   = trial_make(seed, 3);
        double *tau = trial_array(&t, t.nv), *expected = trial_array(&t, t.nv), *zero = trial_array(&t, t.nv);
        double *still = trial_array(&t, 9 * t.scene.n_wrenches);
        const dyn_kernels *k;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            rows_inverse_dynamics(k, &t.scene, t.rows, (dyn_inverse_dynamics){.q = t.q, .tau = tau});
            rows_inverse_dynamics(
                k, &t.scene, t.rows,
                (dyn_inverse_dynamics){.q = t.q, .qd = zero, .qdd = zero, .wrenches = still, .tau = expected});
            assert_memory_equal(tau, expected, t.rows * t.nv * sizeof *tau);
        }
        free(tau), free(expected), free(zero), free(still);
        trial_free(&t);
    }
}

/* Joints at rest have no Coulomb friction, sharp or smoothed: sign(0) = 0, for zeros of both signs. */
static void test_joints_at_rest_have_no_friction(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        trial t = trial_make(seed, ROWS);
        for (size_t i = 0; i < t.rows * t.nv; i += 2)
            t.qd[i] = i % 4 ? 0 : -0.0;
        compare_with_reference(&t);
        trial_free(&t);
    }
}

/* Computes the largest model: a chain of 512 degrees of freedom. Forces of the first bodies are sums over hundreds, and
 * angular rates add up along the chain. */
static void test_longest_chain(void **state)
{
    trial t = trial_of(512, random_chain_make(512, DYN_MAX_DOF, false, TREE_ALL), 1, 3);
    for (size_t i = 0; i < t.nv; i++)
        t.qd[i] *= 0.01;
    compare_with_reference(&t);
    trial_free(&t);
    t = trial_of(513, random_tree_make(513, DYN_MAX_DOF, true, TREE_ALL), 1, 3);
    compare_with_reference(&t);
    trial_free(&t);
}

/* Computes angles up to the limit of sine and cosine. Gears are left out, because ratio and offset would add rounding
 * errors. */
static void test_large_angles(void **state)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        trial t =
            trial_of(seed, random_tree_make(seed, 7, false, TREE_ALL & ~TREE_GEARS & ~TREE_DENSE & ~TREE_FREELY), 4, 1);
        for (size_t i = 0; i < t.rows * t.nq; i++)
            if (t.model->body[i % t.nq].joint.kind == DYN_REVOLUTE) t.q[i] *= DYN_MAX_ANGLE / 4;
        compare_with_reference(&t);
        trial_free(&t);
    }
}

/* The joint wrench W along the axis S must be the generalised force without rotor, friction and spring: S^T W = tau of
 * these joints. */
static void test_joint_wrenches_contain_the_torques(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        trial   t   = trial_of(seed, random_tree_make(seed, 12, false, 0), 3, 2);
        double *tau = trial_array(&t, t.nv), *wrenches = trial_array(&t, 6 * t.bodies), *along = trial_array(&t, t.nv);
        rows_inverse_dynamics(
            test_kernels(), &t.scene, t.rows,
            (dyn_inverse_dynamics){
                .q = t.q, .qd = t.qd, .qdd = t.qdd, .wrenches = t.wrenches, .tau = tau, .joint_wrenches = wrenches});
        for (size_t r = 0; r < t.rows; r++)
            for (size_t b = 0; b < t.bodies; b++) {
                const dyn_body *body = &t.model->body[b];
                const dyn_link *link = &t.tree.links[body->tree.link];
                const double   *w    = wrenches + (r * t.bodies + b) * 6;
                /* the axis passes through the origin of the moved joint frame, which may differ from the point of the
                 * moment */
                double axis[3], lever[3] = {0}, moment[3];
                for (int i = 0; i < 3; i++) {
                    axis[i] = 0;
                    for (int j = 0; j < 3; j++) {
                        axis[i] += link->after.R[j][i] * link->axis[j];
                        lever[i] += link->moment_at_parent_frame ? 0 : link->after.R[j][i] * link->after.p[j];
                    }
                }
                for (int i = 0; i < 3; i++)
                    moment[i] = w[3 + i] + lever[(i + 1) % 3] * w[(i + 2) % 3] - lever[(i + 2) % 3] * w[(i + 1) % 3];
                const double *component = link->joint == DYN_REVOLUTE ? moment : w;
                along[r * t.nv + b]     = axis[0] * component[0] + axis[1] * component[1] + axis[2] * component[2];
            }
        check_close_scaled("along the joint", seed, t.rows * t.nv, along, tau, TOLERANCE,
                           largest(t.rows * t.bodies * 6, wrenches));
        free(tau), free(wrenches), free(along);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_null_inputs_are_zeros),
        cmocka_unit_test(test_joints_at_rest_have_no_friction),
        cmocka_unit_test(test_longest_chain),
        cmocka_unit_test(test_large_angles),
        cmocka_unit_test(test_joint_wrenches_contain_the_torques),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
