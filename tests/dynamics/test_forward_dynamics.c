/* test_forward_dynamics.c - compares accelerations of random robots with the reference, on every target. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROBOTS = 240, ROWS = 5, REDUNDANT = 1000 };

static void forward(const dyn_kernels *k, const trial *t, const double *tau, double *qdd, double *singular)
{
    rows_forward_dynamics(
        k, &t->scene, t->rows,
        (dyn_forward_dynamics){
            .q = t->q, .qd = t->qd, .tau = tau, .wrenches = t->wrenches, .qdd = qdd, .singular = singular});
}

static void inverse(const dyn_kernels *k, const trial *t, const double *qdd, double *tau)
{
    rows_inverse_dynamics(
        k, &t->scene, t->rows,
        (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .qdd = qdd, .wrenches = t->wrenches, .tau = tau});
}

/* Rounding errors of a few units in the last place of M and of the forces, times the condition of the robot
 * (trial_leverage). */
#define TOLERANCE (8 * DBL_EPSILON)

static void check_against_reference(const trial *t)
{
    double *qdd = trial_array(t, t->nv), *expected = trial_array(t, t->nv), *singular = trial_array(t, 1);
    double *size = trial_array(t, 1);
    for (size_t r = 0; r < t->rows; r++) {
        reference_wrench w[TRIAL_WRENCHES];
        reference_scene  scene  = trial_reference_scene(t, r, w);
        reference       *ref    = trial_reference(t, r);
        size_t           offset = r * t->nv;
        assert_true(reference_forward_dynamics(ref, &scene, t->tau + offset, expected + offset));
        size[r] = trial_leverage(t, ref, &scene, t->tau + offset, expected + offset);
        reference_free(ref);
    }
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        forward(k, t, t->tau, qdd, singular);
        for (size_t r = 0; r < t->rows; r++) {
            size_t offset = r * t->nv;
            assert_true(singular[r] == -1);
            check_close_scaled(k->target, t->seed, t->nv, qdd + offset, expected + offset, TOLERANCE, size[r]);
        }
    }
    free(qdd), free(expected), free(singular), free(size);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, ROWS, check_against_reference);
}

/* Checks that forward dynamics stays O(n) (the model is not `dense`) with rigid motors on the links that their joints
 * connect, with elastic joints whose motors are anywhere, and with helical joints. */
static void test_motors_next_to_their_joints(void **state)
{
    size_t spun[2] = {0}, slid[2] = {0};
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial t = trial_of(seed, random_tree_make(seed, 8, seed % 3 == 0, TREE_ALL & ~TREE_DENSE), ROWS, seed % 3);
        assert_false(t.model->dense);
        for (size_t i = 0; i < t.model->n_bodies; i++) {
            int rotor = t.model->body[i].joint.rotor;
            if (rotor >= 0) spun[t.model->body[rotor].tree.parent == (int)i]++;
            slid[rotor >= 0] += t.model->body[i].joint.has_slide_body;
        }
        check_against_reference(&t);
        trial_free(&t);
    }
    assert_true(spun[0] > 50 && spun[1] > 20 && slid[0] > 20 && slid[1] > 2);
}

/* Checks that inverse dynamics of forward dynamics returns the torques, for any condition of the robot. The error is
 * relative to the sums of forces that cancel in a row, |M| |qdd| + |bias|. */
static void check_torques_come_back(const trial *t)
{
    double            *qdd = trial_array(t, t->nv), *tau = trial_array(t, t->nv), *bias = trial_array(t, t->nv);
    double            *M = trial_array(t, t->nv * t->nv), *singular = trial_array(t, 1), size = 0;
    const dyn_kernels *k = test_kernels();
    forward(k, t, t->tau, qdd, singular);
    inverse(k, t, qdd, tau);
    rows_bias(k, &t->scene, t->rows, (dyn_bias){.q = t->q, .qd = t->qd, .wrenches = t->wrenches, .bias = bias});
    rows_mass_matrix(k, &t->scene, t->rows, (dyn_mass_matrix){.q = t->q, .mass_matrix = M});
    for (size_t r = 0; r < t->rows; r++)
        assert_true(singular[r] == -1);
    for (size_t r = 0; r < t->rows; r++)
        size = fmax(size, largest_row_sum(M + r * t->nv * t->nv, t->nv) * largest(t->nv, qdd + r * t->nv));
    size += largest(t->rows * t->nv, bias);
    check_close_scaled("tau", t->seed, t->rows * t->nv, tau, t->tau, 1e-15, size);
    free(qdd), free(tau), free(bias), free(M), free(singular);
}

static void test_inverse_inverts_forward_dynamics(void **state)
{
    trial_robots(ROBOTS, ROWS, check_torques_come_back);
}

/* Robots of 512 degrees of freedom: a tree and a chain, with and without mimics. */
static void test_largest_models(void **state)
{
    for (int i = 0; i < 8; i++) {
        unsigned features = i & 1 ? TREE_ALL : TREE_ALL & ~TREE_DENSE;
        trial    t =
            trial_of(512, (i & 2 ? random_chain_make : random_tree_make)(512, DYN_MAX_DOF, i & 4, features), 1, 2);
        for (size_t j = 0; j < t.nv; j++)
            t.qd[j] *= 0.01;
        check_torques_come_back(&t);
        trial_free(&t);
    }
}

/* A floating base of a gram carries a hundred kilograms on one side: M is badly conditioned, but far from singular. */
static void test_light_bases_are_not_singular(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        random_tree  tree = random_tree_make(seed, 12, true, TREE_FRICTION | TREE_SPRINGS);
        dyn_inertia *base = &tree.description.base_inertia;
        base->mass *= 1e-3;
        for (int i = 0; i < 6; i++)
            base->about_com[i] *= 1e-3;
        for (size_t i = 0; i < tree.description.n_links; i++) {
            tree.links[i].inertia.mass *= 100;
            for (int j = 0; j < 6; j++)
                tree.links[i].inertia.about_com[j] *= 100;
        }
        trial t = trial_of(seed, tree, ROWS, 0);
        check_torques_come_back(&t);
        trial_free(&t);
    }
}

/* Checks that forward dynamics of inverse dynamics returns the accelerations, within the condition of the robot. */
static void test_forward_inverts_inverse_dynamics(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t   = trial_make(seed, ROWS);
        double *qdd = trial_array(&t, t.nv), *tau = trial_array(&t, t.nv), *singular = trial_array(&t, 1);
        inverse(k, &t, t.qdd, tau);
        forward(k, &t, tau, qdd, singular);
        for (size_t r = 0; r < t.rows; r++) {
            reference_wrench w[TRIAL_WRENCHES];
            reference_scene  scene  = trial_reference_scene(&t, r, w);
            reference       *ref    = trial_reference(&t, r);
            size_t           offset = r * t.nv;
            check_close_scaled("qdd", seed, t.nv, qdd + offset, t.qdd + offset, TOLERANCE,
                               trial_leverage(&t, ref, &scene, tau + offset, t.qdd + offset));
            reference_free(ref);
        }
        free(qdd), free(tau), free(singular);
        trial_free(&t);
    }
}

/* qd, tau and wrenches that are NULL mean zeros; `singular` may be NULL. */
static void test_null_arrays_are_zeros(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= 30; seed++) {
        trial   t    = trial_make(seed, ROWS);
        double *zero = trial_array(&t, t.nv + 9 * t.scene.n_wrenches), *qdd = trial_array(&t, t.nv);
        double *expected = trial_array(&t, t.nv), *singular = trial_array(&t, 1);
        rows_forward_dynamics(k, &t.scene, t.rows, (dyn_forward_dynamics){.q = t.q, .qdd = qdd});
        rows_forward_dynamics(
            k, &t.scene, t.rows,
            (dyn_forward_dynamics){
                .q = t.q, .qd = zero, .tau = zero, .wrenches = zero, .qdd = expected, .singular = singular});
        assert_memory_equal(qdd, expected, t.rows * t.nv * sizeof *qdd);
        free(zero), free(qdd), free(expected), free(singular);
        trial_free(&t);
    }
}

/* A massless last link has no pivot: every row must report its body. */
static void test_massless_end_is_reported(void **state)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        random_tree tree = random_chain_make(seed, 8, seed % 2, 0);
        size_t      last = tree.description.n_links;
        while (tree.links[--last].joint == DYN_FIXED)
            tree.links[last].inertia = (dyn_inertia){0};
        tree.links[last].inertia = (dyn_inertia){0};
        trial              t     = trial_of(seed, tree, ROWS, 0);
        double            *qdd = trial_array(&t, t.nv), *singular = trial_array(&t, 1);
        const dyn_kernels *k;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            forward(k, &t, t.tau, qdd, singular);
            for (size_t r = 0; r < t.rows; r++)
                assert_true(singular[r] == (double)t.bodies - 1);
        }
        free(qdd), free(singular);
        trial_free(&t);
    }
}

/* Every row with the straight arm must report the first joint. The other states of the block have the same bits as when
   each is computed separately. */
static void test_singular_states_are_reported(void **state)
{
    trial              t   = trial_point_mass_arm(9);
    double            *qdd = trial_array(&t, t.nv), *singular = trial_array(&t, 1), alone[2], pivot;
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        forward(k, &t, t.tau, qdd, singular);
        for (size_t r = 0; r < t.rows; r++) {
            assert_true(singular[r] == (r % 2 ? 0 : -1));
            rows_forward_dynamics(
                dyn_kernels_for_one_state(k), &t.scene, 1,
                (dyn_forward_dynamics){
                    .q = t.q + 2 * r, .qd = t.qd + 2 * r, .tau = t.tau + 2 * r, .qdd = alone, .singular = &pivot});
            assert_true(pivot == singular[r]);
            if (r % 2 == 0) assert_memory_equal(qdd + 2 * r, alone, sizeof alone);
        }
    }
    free(qdd), free(singular);
    trial_free(&t);
}

/* Detects a pivot that is zero up to rounding, for either sign of the rounding error, in all but one of 300 states. In
 * that state another pivot is nearly zero and magnifies the error. */
static void test_redundant_arms_are_singular(void **state)
{
    size_t missed[DYN_MAX_LANES] = {0};
    for (uint64_t seed = 1; seed <= REDUNDANT; seed++) {
        trial              t   = trial_redundant_arm(seed, ROWS);
        double            *qdd = trial_array(&t, t.nv), *singular = trial_array(&t, 1);
        const dyn_kernels *k;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            forward(k, &t, t.tau, qdd, singular);
            for (size_t r = 0; r < t.rows; r++)
                missed[i] += singular[r] < 0;
        }
        free(qdd), free(singular);
        trial_free(&t);
    }
    for (size_t i = 0; dyn_kernels_at(i); i++)
        assert_in_range(missed[i], 0, REDUNDANT * ROWS / 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_motors_next_to_their_joints),
        cmocka_unit_test(test_inverse_inverts_forward_dynamics),
        cmocka_unit_test(test_largest_models),
        cmocka_unit_test(test_light_bases_are_not_singular),
        cmocka_unit_test(test_forward_inverts_inverse_dynamics),
        cmocka_unit_test(test_null_arrays_are_zeros),
        cmocka_unit_test(test_massless_end_is_reported),
        cmocka_unit_test(test_singular_states_are_reported),
        cmocka_unit_test(test_redundant_arms_are_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
