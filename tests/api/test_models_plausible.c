/* test_models_plausible.c - checks bundled robots for which no complete table is published: dimensions and masses as
 * published, symmetry, positive definite mass matrices. */
#include "tests/api/support/models.h"
#include <math.h>
#include <string.h>

enum { MOST = 64 };

/* Sets q to an upright pose: the base at this height, all joints at 0. */
static void stand(const api_model *model, double height, double q[MOST])
{
    memset(q, 0, MOST * sizeof *q);
    q[2] = height;
    q[6] = 1;
    assert_true(model->nq <= MOST);
}

static size_t place_of(const api_model *model, const char *joint)
{
    size_t v = 0;
    while (v < model->nv && strcmp(model->velocity_names[v], joint) != 0)
        v++;
    assert_true(v < model->nv);
    return v;
}

/* Asserts that M = L L^T exists (Cholesky). */
static void assert_positive_definite(const api_model *model, const double *q)
{
    static double M[MOST * MOST];
    size_t        n = model->nv;
    mass_matrix(model, q, M);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = M[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= M[i * n + k] * M[j * n + k];
            if (i == j) assert_true(sum > 0);
            M[i * n + j] = i == j ? sqrt(sum) : sum / M[j * n + j];
        }
}

static void height_of(const api_model *model, const char *frame, const double *q, double expected)
{
    double position[3], orientation[4];
    frame_pose(model, frame, q, position, orientation);
    if (fabs(position[2] - expected) > 1e-5) fail_msg("%s is at %.9g m, not %.9g", frame, position[2], expected);
}

/* --- legs ------------------------------------------------------------------------------------------------------ */

/* Under gravity alone the base must carry the weight, and left and right legs must have mirrored torques. */
static void solo12(void **state)
{
    static const char *const pitches[] = {"HFE", "KFE"};
    api_model               *model     = bundled_model("solo12");
    double                   q[MOST], tau[MOST];
    assert_int_equal(model->nv, 18);
    assert_true(fabs(model->dyn->mass - 2.5) < 0.01); /* kg, as published */
    stand(model, 0.3, q);
    for (int i = 0; i < 4; i++) { /* bent knees */
        q[7 + 3 * i + 1] = 0.7;
        q[7 + 3 * i + 2] = -1.4;
    }
    inverse_dynamics(model, q, NULL, NULL, tau);
    assert_true(fabs(tau[2] - model->dyn->mass * 9.81) < 1e-12);
    assert_true(fabs(tau[0]) + fabs(tau[1]) < 1e-12);
    for (size_t k = 0; k < 2; k++) {
        char   left[16] = "FL_", right[16] = "FR_", hind[16] = "HL_";
        double of_left = tau[place_of(model, strcat(left, pitches[k]))];
        /* the published figures of left and right differ in one number */
        assert_true(fabs(of_left - tau[place_of(model, strcat(right, pitches[k]))]) < 1e-4);
        assert_true(fabs(of_left - tau[place_of(model, strcat(hind, pitches[k]))]) < 1e-15);
    }
    assert_true(fabs(tau[place_of(model, "FL_HAA")] + tau[place_of(model, "FR_HAA")]) < 1e-15);
    assert_positive_definite(model, q);
    api_model_release(model);
}

static void humanoid(void **state)
{
    static const char *const same[] = {"shoulder_pitch", "elbow", "wrist_pitch", "hip_pitch", "knee", "ankle_pitch"};
    static const char *const opposite[] = {"shoulder_roll", "wrist_roll", "hip_roll", "ankle_roll", "hip_yaw"};
    api_model               *model      = bundled_model("humanoid");
    double                   q[MOST], tau[MOST];
    assert_int_equal(model->n_joints, 33);
    assert_true(fabs(model->dyn->mass - 75) < 1e-9);
    stand(model, 0.53 * 1.75, q);
    height_of(model, "crown", q, 1.75);
    height_of(model, "left_sole", q, 0);
    height_of(model, "right_sole", q, 0);
    q[7 + 1] = 0.2; /* bends the upper body forward */
    inverse_dynamics(model, q, NULL, NULL, tau);
    for (size_t k = 0; k < sizeof same / sizeof *same + sizeof opposite / sizeof *opposite; k++) {
        bool        mirrored = k >= sizeof same / sizeof *same;
        const char *name     = mirrored ? opposite[k - sizeof same / sizeof *same] : same[k];
        char        left[40] = "left_", right[40] = "right_";
        double      l = tau[place_of(model, strcat(left, name))], r = tau[place_of(model, strcat(right, name))];
        if (fabs(mirrored ? l + r : l - r) > 1e-12) fail_msg("%s: %.9g, %.9g", name, l, r);
    }
    for (int trial = 0; trial < 20; trial++) { /* middle axes avoid right angles, where M is singular */
        for (size_t i = 7; i < model->nq; i++)
            q[i] = sin(17.0 * trial + 5.0 * (double)i);
        assert_positive_definite(model, q);
    }
    api_model_release(model);
}

static const api_joint_name *joint_of(const api_model *model, const char *name)
{
    for (size_t i = 0; i < model->n_joints; i++)
        if (!strcmp(model->joints[i].name, name)) return &model->joints[i];
    fail_msg("there is no joint %s", name);
    return NULL;
}

/* Ranges of motion must contain the upright pose. Values of a right joint must be those of the left one, mirrored where
 * the joint's axis lies in the plane of symmetry. */
static void check_ranges(const api_model *model)
{
    for (size_t i = 6; i < model->n_joints; i++) {
        const api_joint_name *j = &model->joints[i];
        char                  other[60];
        assert_true(j->has_position_limits && j->lower <= 0 && j->upper >= 0 && j->upper - j->lower > 0.2);
        if (j->limits.has_effort) assert_true(j->limits.effort > 10 && j->limits.effort < 700);
        if (strncmp(j->name, "left_", 5) != 0) continue;
        bool flips = strstr(j->name, "bending") || strstr(j->name, "elevation") || strstr(j->name, "inversion") ||
                     strstr(j->name, "wrist_flexion") || strstr(j->name, "shoulder_rotation");
        snprintf(other, sizeof other, "right_%s", j->name + 5);
        const api_joint_name *r = joint_of(model, other);
        assert_true(
            (flips ? r->lower == -j->upper && r->upper == -j->lower : r->lower == j->lower && r->upper == j->upper));
        assert_true(r->limits.has_effort == j->limits.has_effort && r->limits.effort == j->limits.effort);
    }
    const api_joint_name *knee = joint_of(model, "left_knee_flexion"), *hip = joint_of(model, "left_hip_flexion");
    assert_true(knee->lower == 0 && fabs(knee->upper - 135 * M_PI / 180) < 1e-6);
    assert_true(fabs(hip->limits.effort - 0.161 * 73 * 9.81 * 1.741) < 0.5);
    assert_false(model->joints[0].has_position_limits || model->joints[5].limits.has_effort);
}

/* The body must be symmetric, of the published height and mass, and every coordinate must have an effect. */
static void gait55(void **state)
{
    static const char *const mirrored[] = {"clavicle_protraction", "shoulder_bending", "hip_bending", "wrist_flexion"};
    static const char *const alike[]    = {"shoulder_flexion", "elbow_flexion", "hip_flexion", "knee_flexion",
                                           "ankle_flexion"};
    api_model               *model      = bundled_model("gait55");
    double                   q[MOST]    = {0}, tau[MOST];
    assert_int_equal(model->nv, 55);
    assert_true(fabs(model->dyn->mass - 73) < 1e-5);
    check_ranges(model);
    height_of(model, "crown", q, 1.741);
    height_of(model, "left_sole", q, 0);
    height_of(model, "right_toe_tip", q, 0);
    height_of(model, "left_shank", q, 0.08 + 0.434);
    assert_positive_definite(model, q);          /* upright, where the axes of the neck joints coincide */
    q[place_of(model, "spine_2_flexion")] = 0.2; /* bends the upper body forward */
    inverse_dynamics(model, q, NULL, NULL, tau);
    assert_true(fabs(tau[2] - 73 * 9.81) < 1e-3);
    for (size_t k = 0; k < sizeof mirrored / sizeof *mirrored + sizeof alike / sizeof *alike; k++) {
        bool        flips    = k < sizeof mirrored / sizeof *mirrored;
        const char *name     = flips ? mirrored[k] : alike[k - sizeof mirrored / sizeof *mirrored];
        char        left[40] = "left_", right[40] = "right_";
        double      l = tau[place_of(model, strcat(left, name))], r = tau[place_of(model, strcat(right, name))];
        if (fabs(flips ? l + r : l - r) > 1e-12) fail_msg("%s: %.9g, %.9g", name, l, r);
    }
    for (int trial = 0; trial < 20; trial++) {
        for (size_t i = 0; i < model->nq; i++)
            q[i] = sin(17.0 * trial + 5.0 * (double)i);
        assert_positive_definite(model, q);
    }
    api_model_release(model);
}

/* --- arms and hands -------------------------------------------------------------------------------------------- */

/* Stretched upwards the arm must be 1266 mm high at the flange; from shoulder to wrist the arm has twice 400 mm, the
   reach that the maker gives. */
static void kuka_iiwa7(void **state)
{
    api_model *model = bundled_model("kuka_iiwa7");
    double     q[7]  = {0}, shoulder[3], wrist[3], orientation[4];
    height_of(model, "flange", q, 1.266);
    q[1] = 1;
    q[2] = -2;
    frame_pose(model, "link_2", q, shoulder, orientation);
    frame_pose(model, "link_6", q, wrist, orientation);
    assert_true(fabs(hypot(hypot(wrist[0] - shoulder[0], wrist[1] - shoulder[1]), wrist[2] - shoulder[2]) - 0.8) <
                0.005);
    assert_positive_definite(model, q);
    api_model_release(model);
}

/* The gripper must open 85 mm between pads that are 6.35 mm thick, be closed almost completely at the limit, and keep
 * the pads parallel. */
static void robotiq_2f_85(void **state)
{
    api_model *model = bundled_model("robotiq_2f_85");
    double     left[3], right[3], o[4], start[4], last = INFINITY;
    assert_int_equal(model->nv, 1);
    assert_int_equal(model->n_joints, 6);
    for (double q = 0; q <= 0.8; q += 0.1) {
        frame_pose(model, "left_pad", &q, left, o);
        frame_pose(model, "right_pad", &q, right, o);
        if (q == 0) memcpy(start, o, sizeof o);
        assert_close(o, start, 4, 1e-15);
        double gap = right[1] - left[1] - 0.00635;
        assert_true(gap > 0 && gap < last);
        if (q == 0) assert_true(fabs(gap - 0.085) < 0.002);
        assert_true(fabs(right[1] + left[1]) < 1e-12 && fabs(right[2] - left[2]) < 1e-12);
        last = gap;
    }
    assert_true(last < 0.002);
    double q = 0.3;
    assert_positive_definite(model, &q);
    api_model_release(model);
}

static void allegro_hand(void **state)
{
    api_model *model = bundled_model("allegro_hand");
    double     q[MOST], palm = 1350 * 0.0408 * 0.113 * 0.095;
    assert_int_equal(model->nv, 16);
    assert_int_equal(model->n_joints, 16);
    assert_true(fabs(model->dyn->mass + palm - 1.08) < 0.005); /* kg */
    for (size_t i = 0; i < model->nq; i++)
        q[i] = 0.3;
    assert_positive_definite(model, q);
    api_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solo12),        cmocka_unit_test(humanoid),     cmocka_unit_test(kuka_iiwa7),
        cmocka_unit_test(robotiq_2f_85), cmocka_unit_test(allegro_hand), cmocka_unit_test(gait55),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
