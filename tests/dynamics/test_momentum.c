/* test_momentum.c - compares centre of mass and momentum with derivatives by the complex step, and the rate of momentum
 * with the external forces. */
#include "check.h"
#include "complex_step.h"
#include "rows.h"
#include "tests/target.h"
#include <stdlib.h>
#include <string.h>

/* The complex step is exact to rounding; both sides sum along at most 40 bodies. */
#define TOLERANCE 2e-14

enum { ROBOTS = 120 };

static void test_com_jacobian_is_the_derivative_of_com(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial            t = trial_make_plain(seed, TREE_ALL);
        double          *J = trial_array(&t, 3 * t.nv), *expected = trial_array(&t, 3 * t.nv);
        double _Complex *com = complex_array(3);
        for (size_t j = 0; j < t.nv; j++) {
            complex_state s = complex_state_along(&t, j);
            double        column[3];
            dyn_kernels_complex.energy(&t.scene, s.workspace, &(dyn_energy){.q = as_lanes(s.q), .com = as_lanes(com)},
                                       1);
            complex_derivative(3, com, column);
            for (size_t i = 0; i < 3; i++)
                expected[i * t.nv + j] = column[i];
            complex_state_free(&s);
        }
        rows_energy(test_kernels(), &t.scene, 1, (dyn_energy){.q = t.q, .com_jacobian = J});
        check_close("com_jacobian", seed, 3 * t.nv, J, expected, TOLERANCE);
        free(J), free(expected), free(com);
        trial_free(&t);
    }
}

/* Returns the sum of the external forces, and of their moments about the centre of mass. */
static void outside_forces(const reference_scene *scene, const reference *r, const double com[3], double mass,
                           double out[6])
{
    for (int i = 0; i < 3; i++)
        out[i] = mass * scene->gravity[i], out[3 + i] = 0;
    for (size_t k = 0; k < scene->n_wrenches; k++) {
        const reference_wrench *w     = &scene->wrench[k];
        dyn_pose                point = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
        double                  p[3];
        memcpy(point.p, w->point, sizeof point.p);
        reference_frame(r, w->link, &point, false, (reference_frame_motion){.position = p});
        for (int i = 0; i < 3; i++) {
            int a = (i + 1) % 3, b = (i + 2) % 3;
            out[i] += w->force[i];
            out[3 + i] += w->torque[i] + (p[a] - com[a]) * w->force[b] - (p[b] - com[b]) * w->force[a];
        }
    }
}

/* Computes the rate of the momentum at the accelerations t->qdd, by the complex step. */
static void momentum_rate(const trial *t, double rate[6])
{
    double _Complex *momentum = complex_array(6);
    complex_state    s        = complex_state_make(t, 0);
    complex_state_move(&s, t->qd);
    complex_add(t->nv, s.qd, t->qdd);
    dyn_kernels_complex.energy(&t->scene, s.workspace,
                               &(dyn_energy){.q = as_lanes(s.q), .qd = as_lanes(s.qd), .momentum = as_lanes(momentum)},
                               1);
    complex_derivative(6, momentum, rate);
    complex_state_free(&s);
    free(momentum);
}

/* Makes a floating robot with three wrenches in world axes. */
static trial floating_trial(uint64_t seed)
{
    random_tree tree                    = random_tree_make(seed, 6 + seed % 12, true, TREE_ALL);
    tree.description.base_rotor_inertia = tree.description.base_damping =
        0; /* rotor and damper of a base act from outside */
    trial t = trial_of(seed, tree, 1, 3);
    for (int i = 0; i < 3; i++)
        t.site[i].world_axes = true;
    for (int i = 0; i < 6; i++)
        t.tau[i] = 0;
    return t;
}

/* Checks Newton's and Euler's laws for the whole robot: for any joint forces, including friction and rotors, the rate
 * of the momentum is the external wrench. */
static void test_momentum_changes_by_external_forces(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial            t = floating_trial(seed);
        double           pivot, com[3], rate[6], expected[6];
        reference_wrench w[3];
        rows_forward_dynamics(
            k, &t.scene, 1,
            (dyn_forward_dynamics){
                .q = t.q, .qd = t.qd, .tau = t.tau, .wrenches = t.wrenches, .qdd = t.qdd, .singular = &pivot});
        momentum_rate(&t, rate);
        rows_energy(k, &t.scene, 1, (dyn_energy){.q = t.q, .com = com});
        reference_scene scene = trial_reference_scene(&t, 0, w);
        reference      *r     = trial_reference(&t, 0);
        outside_forces(&scene, r, com, t.model->mass, expected);
        /* the error of qdd grows with the condition of M, up to 1e3 here */
        check_close("rate of momentum", seed, 6, rate, expected, 1e-12);
        reference_free(r);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_com_jacobian_is_the_derivative_of_com),
        cmocka_unit_test(test_momentum_changes_by_external_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
