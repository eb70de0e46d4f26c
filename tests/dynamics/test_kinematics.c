/* test_kinematics.c - compares poses, Jacobians and motions of random frames with the reference, on every target. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/pose.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lengths and rates add up along at most 40 links: up to 90 units in the last place of the largest entry. */
#define TOLERANCE 2e-14

enum { ROBOTS = 240, ROWS = 4, FRAMES = 5, RESULTS = 7 };

static const char *const names[RESULTS] = {"position", "orientation",  "jacobian", "jacobian_dot",
                                           "velocity", "acceleration", "jerk"};

/* Holds frames for the reference (link, pose in the link) and the same frames for the kernels. */
typedef struct frames {
    int       link[FRAMES];
    dyn_pose  X_lf[FRAMES];
    dyn_frame frame[FRAMES];
} frames;

/* Chooses frame 0 on the last link, the others on any link, including the base link. */
static frames place_frames(const trial *t)
{
    random_source source = {.state = t->seed * 77};
    frames        f;
    for (int i = 0; i < FRAMES; i++) {
        size_t n                    = t->model->n_links;
        f.link[i]                   = i == 0 ? (int)n - 1 : (int)random_below(&source, n + 1) - 1;
        const dyn_link_place *place = f.link[i] < 0 ? &t->model->base : &t->model->link[f.link[i]];
        random_pose(&source, &f.X_lf[i]);
        f.frame[i] = (dyn_frame){place->body, pose_compose(&place->X_bl, &f.X_lf[i])};
    }
    return f;
}

static void sizes(const trial *t, size_t n[RESULTS])
{
    const size_t entries[RESULTS] = {3 * FRAMES, 4 * FRAMES, 6 * t->nv, 6 * t->nv, 6, 6, 6};
    memcpy(n, entries, sizeof entries);
}

static void evaluate(const dyn_kernels *k, const trial *t, const frames *f, int i_frame, bool frame_axes,
                     double *const result[RESULTS])
{
    rows_kinematics(k, &t->scene, t->rows,
                    (dyn_kinematics){.q            = t->q,
                                     .qd           = t->qd,
                                     .qdd          = t->qdd,
                                     .qddd         = t->qddd,
                                     .n_frames     = FRAMES,
                                     .frames       = f->frame,
                                     .positions    = result[0],
                                     .orientations = result[1],
                                     .frame        = &f->frame[i_frame],
                                     .frame_axes   = frame_axes,
                                     .jacobian     = result[2],
                                     .jacobian_dot = result[3],
                                     .velocity     = result[4],
                                     .acceleration = result[5],
                                     .jerk         = result[6]});
}

static void evaluate_reference(const trial *t, const frames *f, int i_frame, bool frame_axes,
                               double *const result[RESULTS])
{
    size_t n[RESULTS];
    sizes(t, n);
    for (size_t r = 0; r < t->rows; r++) {
        reference *ref = trial_reference(t, r);
        for (int i = 0; i < FRAMES; i++)
            reference_frame(ref, f->link[i], &f->X_lf[i], false,
                            (reference_frame_motion){.position    = result[0] + r * n[0] + 3 * i,
                                                     .orientation = result[1] + r * n[1] + 4 * i});
        reference_frame(ref, f->link[i_frame], &f->X_lf[i_frame], frame_axes,
                        (reference_frame_motion){.jacobian     = result[2] + r * n[2],
                                                 .jacobian_dot = result[3] + r * n[3],
                                                 .velocity     = result[4] + r * n[4],
                                                 .acceleration = result[5] + r * n[5],
                                                 .jerk         = result[6] + r * n[6]});
        reference_free(ref);
    }
}

/* Gives each quaternion the sign of the expected one where w is zero up to rounding and its sign undefined: q and -q
 * are the same rotation. */
static void settle_signs(size_t quaternions, double *got, const double *expected)
{
    for (size_t i = 0; i < quaternions; i++, got += 4, expected += 4) {
        assert_true(got[3] >= 0);
        double along = 0;
        for (int j = 0; j < 4; j++)
            along += got[j] * expected[j];
        for (int j = 0; j < 4 && along < 0 && expected[3] < 1e-14; j++)
            got[j] = -got[j];
    }
}

static void compare_with_reference(const trial *t)
{
    frames  f = place_frames(t);
    size_t  n[RESULTS];
    double *got[RESULTS], *expected[RESULTS];
    sizes(t, n);
    for (int i = 0; i < RESULTS; i++)
        got[i] = trial_array(t, n[i]), expected[i] = trial_array(t, n[i]);
    for (int i_frame = 0; i_frame < 2; i_frame++)
        for (int frame_axes = 0; frame_axes < 2; frame_axes++) {
            const dyn_kernels *k;
            evaluate_reference(t, &f, i_frame, frame_axes, expected);
            for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
                evaluate(k, t, &f, i_frame, frame_axes, got);
                settle_signs(t->rows * FRAMES, got[1], expected[1]);
                for (int j = 0; j < RESULTS; j++)
                    check_close_scaled(names[j], t->seed, t->rows * n[j], got[j], expected[j], TOLERANCE, 1);
            }
        }
    for (int i = 0; i < RESULTS; i++)
        free(got[i]), free(expected[i]);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, ROWS, compare_with_reference);
}

/* Computes the largest models: rates add up along 512 joints, and the jerk contains their third powers. */
static void test_longest_chain(void **state)
{
    trial_longest(compare_with_reference);
}

/* velocity = J qd and acceleration = J qdd + J' qd, in world axes. */
static void test_jacobians_give_the_motion(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t = trial_make(seed, 1);
        frames  f = place_frames(&t);
        size_t  n[RESULTS];
        double *got[RESULTS], sum[12] = {0};
        sizes(&t, n);
        for (int i = 0; i < RESULTS; i++)
            got[i] = trial_array(&t, n[i]);
        evaluate(k, &t, &f, 0, false, got);
        for (size_t i = 0; i < 6; i++)
            for (size_t j = 0; j < t.nv; j++) {
                double J = got[2][i * t.nv + j], J_dot = got[3][i * t.nv + j];
                sum[i] += J * t.qd[j];
                sum[6 + i] += J * t.qdd[j] + J_dot * t.qd[j];
            }
        check_close_scaled("J qd", seed, 6, sum, got[4], TOLERANCE, 1);
        check_close_scaled("J qdd + J' qd", seed, 6, sum + 6, got[5], TOLERANCE, 1);
        for (int i = 0; i < RESULTS; i++)
            free(got[i]);
        trial_free(&t);
    }
}

/* A wrench W at the frame's origin must change the torques of inverse dynamics by -J^T W. */
static void test_transposed_jacobian_maps_wrenches(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial           t           = trial_make(seed, 1);
        frames          f           = place_frames(&t);
        double         *J           = trial_array(&t, 6 * t.nv);
        double         *with        = trial_array(&t, t.nv);
        double         *without     = trial_array(&t, t.nv);
        double          W[9]        = {3, -1, 2, 0.5, 4, -2, 0, 0, 0};
        dyn_wrench_site site        = {.body = f.frame[0].body, .X_bl = f.frame[0].X_bf, .world_axes = true};
        t.scene.n_wrenches          = 0;
        dyn_scene            pushed = t.scene;
        dyn_inverse_dynamics io     = {.q = t.q, .qd = t.qd, .qdd = t.qdd, .tau = without};
        pushed.n_wrenches           = 1;
        pushed.wrench               = &site;
        rows_inverse_dynamics(k, &t.scene, 1, io);
        io.wrenches = W;
        io.tau      = with;
        rows_inverse_dynamics(k, &pushed, 1, io);
        rows_kinematics(k, &t.scene, 1, (dyn_kinematics){.q = t.q, .frame = &f.frame[0], .jacobian = J});
        for (size_t j = 0; j < t.nv; j++)
            for (size_t i = 0; i < 6; i++)
                with[j] += J[i * t.nv + j] * W[i];
        check_close_scaled("J^T W", seed, t.nv, with, without, TOLERANCE, 10);
        free(J), free(with), free(without);
        trial_free(&t);
    }
}

/* Any orientation must be returned unchanged, except for the sign that makes w >= 0: half turns, quarter turns, equal
 * components, and rotations close to these. */
static void test_orientations_are_returned(void **state)
{
    enum { N = 4096 };
    static double      q[N][7], got[N][4];
    const double       special[] = {0, 1e-17, 1e-9, 1e-4, 0.5, 1};
    random_source      source    = {.state = 5};
    dyn_description    d         = {.floating = true, .base_inertia = {.mass = 1}};
    dyn_model         *m         = NULL;
    const dyn_kernels *k;
    assert_int_equal(dyn_model_build(&d, &m, NULL), DYN_OK);
    dyn_scene scene = {.model = m};
    dyn_frame base  = {m->base.body, m->base.X_bl};
    for (size_t i = 0; i < N; i++) {
        double norm = 0;
        for (int j = 3; j < 7; j++) {
            q[i][j] = (random_chance(&source, 0.5) ? 1 : -1) * special[random_below(&source, 6)];
            norm += q[i][j] * q[i][j];
        }
        q[i][6] += norm == 0;
        for (int j = 3; j < 7; j++)
            q[i][j] /= norm == 0 ? 1 : sqrt(norm);
    }
    for (size_t t = 0; (k = dyn_kernels_at(t)); t++) {
        rows_kinematics(k, &scene, N,
                        (dyn_kinematics){.q = q[0], .n_frames = 1, .frames = &base, .orientations = got[0]});
        for (size_t i = 0; i < N; i++) {
            double expected[4];
            for (int j = 0; j < 4; j++)
                expected[j] = q[i][6] < 0 ? -q[i][3 + j] : q[i][3 + j];
            settle_signs(1, got[i], expected);
            check_close(k->target, i, 4, got[i], expected, 1e-15);
        }
    }
    dyn_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_longest_chain),
        cmocka_unit_test(test_jacobians_give_the_motion),
        cmocka_unit_test(test_transposed_jacobian_maps_wrenches),
        cmocka_unit_test(test_orientations_are_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
