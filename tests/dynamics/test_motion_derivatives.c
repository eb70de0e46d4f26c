/* test_motion_derivatives.c - compares Jacobians, accelerations and jerks with derivatives of the poses by the complex
 * step. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <stdlib.h>

/* The complex step is exact to rounding; both sides sum along at most 40 bodies. */
#define TOLERANCE 2e-14

enum { ROBOTS = 120 };

static dyn_frame tip_of(const trial *t)
{
    const dyn_link_place *last = trial_last_link(t);
    return (dyn_frame){last->body, last->X_bl};
}

/* Computes w from a quaternion q = (u, s) and its rate: w = 2 (s u' - s' u + u x u'). */
static void angular_rate(const double _Complex q[4], double w[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double _Complex u = q[i], s = q[3];
        w[i] = 2 * (creal(s) * cimag(u) - cimag(s) * creal(u) + creal(q[j]) * cimag(q[k]) - creal(q[k]) * cimag(q[j])) /
               COMPLEX_STEP;
    }
}

/* Column j of the Jacobian must be the derivative of the pose along coordinate j. */
static void test_jacobian_is_the_derivative_of_the_pose(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial            t   = trial_make_plain(seed, TREE_ALL);
        dyn_frame        tip = tip_of(&t);
        double          *J = trial_array(&t, 6 * t.nv), *expected = trial_array(&t, 6 * t.nv);
        double _Complex *position = complex_array(3), *orientation = complex_array(4);
        for (size_t j = 0; j < t.nv; j++) {
            complex_state s = complex_state_along(&t, j);
            double        w[3], v[3];
            dyn_kernels_complex.kinematics(&t.scene, s.workspace,
                                           &(dyn_kinematics){.q            = as_lanes(s.q),
                                                             .n_frames     = 1,
                                                             .frames       = &tip,
                                                             .positions    = as_lanes(position),
                                                             .orientations = as_lanes(orientation)},
                                           1);
            complex_derivative(3, position, v);
            angular_rate(orientation, w);
            for (size_t i = 0; i < 3; i++)
                expected[i * t.nv + j] = v[i], expected[(3 + i) * t.nv + j] = w[i];
            complex_state_free(&s);
        }
        rows_kinematics(test_kernels(), &t.scene, 1, (dyn_kinematics){.q = t.q, .frame = &tip, .jacobian = J});
        check_close_scaled("jacobian", seed, 6 * t.nv, J, expected, TOLERANCE, 1);
        free(J), free(expected), free(position), free(orientation);
        trial_free(&t);
    }
}

/* Holds results of the complex kernel for the tip of a moving state: q moves along qd, qd along qdd, qdd along qddd. */
typedef struct tip_rates {
    double *jacobian_dot, acceleration[6], jerk[6];
} tip_rates;

static void differentiate_tip(const trial *t, const dyn_frame *tip, bool frame_axes, tip_rates *rates)
{
    complex_state    s = complex_state_make(t, 0);
    double _Complex *J = complex_array(6 * t->nv), *v = complex_array(6), *a = complex_array(6);
    complex_state_move(&s, t->qd);
    complex_add(t->nv, s.qd, t->qdd);
    complex_add(t->nv, s.qdd, t->qddd);
    dyn_kernels_complex.kinematics(&t->scene, s.workspace,
                                   &(dyn_kinematics){.q            = as_lanes(s.q),
                                                     .qd           = as_lanes(s.qd),
                                                     .qdd          = as_lanes(s.qdd),
                                                     .frame        = tip,
                                                     .frame_axes   = frame_axes,
                                                     .jacobian     = as_lanes(J),
                                                     .velocity     = as_lanes(v),
                                                     .acceleration = as_lanes(a)},
                                   1);
    complex_derivative(6 * t->nv, J, rates->jacobian_dot);
    complex_derivative(6, v, rates->acceleration);
    complex_derivative(6, a, rates->jerk);
    free(J), free(v), free(a);
    complex_state_free(&s);
}

/* Compares the rate of every Jacobian entry, in both kinds of axes. Acceleration and jerk are compared in world axes,
 * where derivatives of the components are the derivatives of the vectors. */
static void test_rates_are_derivatives_along_the_motion(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++)
        for (int frame_axes = 0; frame_axes < 2; frame_axes++) {
            trial     t        = trial_make_plain(seed, TREE_ALL);
            dyn_frame tip      = tip_of(&t);
            double   *J_dot    = trial_array(&t, 6 * t.nv), acceleration[6], jerk[6];
            tip_rates expected = {.jacobian_dot = trial_array(&t, 6 * t.nv)};
            rows_kinematics(test_kernels(), &t.scene, 1,
                            (dyn_kinematics){.q            = t.q,
                                             .qd           = t.qd,
                                             .qdd          = t.qdd,
                                             .qddd         = t.qddd,
                                             .frame        = &tip,
                                             .frame_axes   = frame_axes,
                                             .jacobian_dot = J_dot,
                                             .acceleration = acceleration,
                                             .jerk         = jerk});
            differentiate_tip(&t, &tip, frame_axes, &expected);
            check_close_scaled("jacobian_dot", seed, 6 * t.nv, J_dot, expected.jacobian_dot, TOLERANCE, 1);
            if (!frame_axes) {
                check_close_scaled("acceleration", seed, 6, acceleration, expected.acceleration, TOLERANCE, 1);
                check_close_scaled("jerk", seed, 6, jerk, expected.jerk, TOLERANCE, 1);
            }
            free(J_dot), free(expected.jacobian_dot);
            trial_free(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jacobian_is_the_derivative_of_the_pose),
        cmocka_unit_test(test_rates_are_derivatives_along_the_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
