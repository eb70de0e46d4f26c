/* test_closure.c - compares the relative pose of two frames with their poses in the world, and its Jacobian and the
 * Jacobian's rates with derivatives by the complex step. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <stdlib.h>
#include <string.h>

/* The complex step is exact to rounding; both sides sum along at most 40 bodies. */
#define TOLERANCE 1e-13

enum { ROBOTS = 100, PAIRS = 3 };

static dyn_frame frame_on(const trial *t, random_source *source)
{
    size_t                link  = random_below(source, t->model->n_links + 1);
    const dyn_link_place *place = link < t->model->n_links ? &t->model->link[link] : &t->model->base;
    return (dyn_frame){place->body, place->X_bl};
}

/* Chooses three pairs of frames: on two links, on a link and the base, on one link. */
static void choose_pairs(const trial *t, dyn_frame_pair pairs[PAIRS])
{
    random_source source = {.state = t->seed};
    pairs[0]             = (dyn_frame_pair){frame_on(t, &source), frame_on(t, &source)};
    pairs[1]             = (dyn_frame_pair){frame_on(t, &source), {t->model->base.body, t->model->base.X_bl}};
    pairs[2]             = (dyn_frame_pair){pairs[0].b, pairs[0].b};
    random_pose(&source, &pairs[2].b.X_bf);
}

/* Holds the results of the kernel compiled for complex numbers. */
typedef struct complex_results {
    double _Complex *position, *rotation, *J, *Jd, *Jdd;
} complex_results;

static complex_results run(const trial *t, const dyn_frame_pair *pairs, const complex_state *s)
{
    complex_results f = {.position = complex_array(3 * PAIRS),
                         .rotation = complex_array(9 * PAIRS),
                         .J        = complex_array(6 * PAIRS * t->nv),
                         .Jd       = complex_array(6 * PAIRS * t->nv),
                         .Jdd      = complex_array(6 * PAIRS * t->nv)};
    dyn_kernels_complex.closure(&t->scene, s->workspace,
                                &(dyn_closure){.q             = as_lanes(s->q),
                                               .qd            = as_lanes(s->qd),
                                               .qdd           = as_lanes(s->qdd),
                                               .n_pairs       = PAIRS,
                                               .pairs         = pairs,
                                               .positions     = as_lanes(f.position),
                                               .rotations     = as_lanes(f.rotation),
                                               .jacobian      = as_lanes(f.J),
                                               .jacobian_dot  = as_lanes(f.Jd),
                                               .jacobian_ddot = as_lanes(f.Jdd)},
                                1);
    return f;
}

static void drop(complex_results *f)
{
    free(f->position), free(f->rotation), free(f->J), free(f->Jd), free(f->Jdd);
}

/* Computes w from [w] = R' R^T, for a rotation with its derivative in the imaginary part. */
static void angular_velocity(const double _Complex R[9], double w[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        w[i] = 0;
        for (int c = 0; c < 3; c++)
            w[i] += cimag(R[3 * k + c]) * creal(R[3 * j + c]) / COMPLEX_STEP;
    }
}

/* Differentiates the pose of each pair along coordinate j by the complex step: column j of the Jacobian. */
static void check_jacobian(const trial *t, const dyn_frame_pair *pairs, const double *J)
{
    double *expected = trial_array(t, 6 * PAIRS * t->nv);
    for (size_t j = 0; j < t->nv; j++) {
        complex_state   s = complex_state_along(t, j);
        complex_results f = run(t, pairs, &s);
        for (size_t p = 0; p < PAIRS; p++) {
            double v[3], w[3];
            complex_derivative(3, f.position + 3 * p, v);
            angular_velocity(f.rotation + 9 * p, w);
            for (size_t i = 0; i < 3; i++) {
                expected[((6 * p) + i) * t->nv + j]     = v[i];
                expected[((6 * p) + 3 + i) * t->nv + j] = w[i];
            }
        }
        drop(&f);
        complex_state_free(&s);
    }
    check_close_scaled("jacobian", t->seed, 6 * PAIRS * t->nv, J, expected, TOLERANCE, 1);
    free(expected);
}

/* Differentiates J and J' along the motion by the complex step: J' and J''. */
static void check_rates(const trial *t, const dyn_frame_pair *pairs, const double *Jd, const double *Jdd)
{
    size_t        n        = 6 * PAIRS * t->nv;
    double       *expected = trial_array(t, n);
    complex_state s        = complex_state_make(t, 0);
    complex_state_move(&s, t->qd);
    complex_add(t->nv, s.qd, t->qdd);
    complex_results f = run(t, pairs, &s);
    complex_derivative(n, f.J, expected);
    check_close_scaled("jacobian_dot", t->seed, n, Jd, expected, TOLERANCE, 1);
    complex_derivative(n, f.Jd, expected);
    check_close_scaled("jacobian_ddot", t->seed, n, Jdd, expected, TOLERANCE, 1);
    drop(&f);
    complex_state_free(&s);
    free(expected);
}

static void test_derivatives(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial          t = trial_make_plain(seed, TREE_ALL);
        dyn_frame_pair pairs[PAIRS];
        size_t         n = 6 * PAIRS * t.nv;
        double        *J = trial_array(&t, n), *Jd = trial_array(&t, n), *Jdd = trial_array(&t, n);
        choose_pairs(&t, pairs);
        rows_closure(test_kernels(), &t.scene, 1,
                     (dyn_closure){.q             = t.q,
                                   .qd            = t.qd,
                                   .qdd           = t.qdd,
                                   .n_pairs       = PAIRS,
                                   .pairs         = pairs,
                                   .jacobian      = J,
                                   .jacobian_dot  = Jd,
                                   .jacobian_ddot = Jdd});
        check_jacobian(&t, pairs, J);
        check_rates(&t, pairs, Jd, Jdd);
        free(J), free(Jd), free(Jdd);
        trial_free(&t);
    }
}

/* Compares a pose relative to the world with that of kinematics; two frames of one link must not move relative to each
 * other. */
static void test_poses(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial          t       = trial_make_plain(seed, TREE_ALL);
        dyn_frame      world   = {.body = DYN_WORLD, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
        random_source  source  = {.state = seed};
        dyn_frame      b       = frame_on(&t, &source);
        dyn_frame_pair pair    = {world, b};
        double         seen[3] = {0}, p[3] = {0}, *J = trial_array(&t, 6 * t.nv), *in_world = trial_array(&t, 6 * t.nv);
        rows_closure(test_kernels(), &t.scene, 1,
                     (dyn_closure){.q = t.q, .n_pairs = 1, .pairs = &pair, .positions = seen, .jacobian = J});
        rows_kinematics(
            test_kernels(), &t.scene, 1,
            (dyn_kinematics){.q = t.q, .n_frames = 1, .frames = &b, .positions = p, .frame = &b, .jacobian = in_world});
        check_close_scaled("position", seed, 3, seen, p, TOLERANCE, 1);
        check_close_scaled("jacobian", seed, 6 * t.nv, J, in_world, TOLERANCE, 1);
        free(J), free(in_world);
        trial_free(&t);
    }
}

static void rotation_of(const double q[4], double R[3][3])
{
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                               {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                               {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    memcpy(R, rows, sizeof rows);
}

/* Compares the relative pose, y = R_a^T (p_b - p_a) and R_a^T R_b, with the poses of both frames in the world. */
static void test_poses_between_frames(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial          t = trial_make_plain(seed, TREE_ALL);
        dyn_frame_pair pairs[PAIRS];
        double         y[3 * PAIRS], R[9 * PAIRS], p[6], q[8];
        choose_pairs(&t, pairs);
        rows_closure(test_kernels(), &t.scene, 1,
                     (dyn_closure){.q = t.q, .n_pairs = PAIRS, .pairs = pairs, .positions = y, .rotations = R});
        for (int k = 0; k < PAIRS; k++) {
            dyn_frame frames[2] = {pairs[k].a, pairs[k].b};
            double    Ra[3][3], Rb[3][3], expected_y[3] = {0}, expected_R[9] = {0};
            rows_kinematics(
                test_kernels(), &t.scene, 1,
                (dyn_kinematics){.q = t.q, .n_frames = 2, .frames = frames, .positions = p, .orientations = q});
            rotation_of(q, Ra);
            rotation_of(q + 4, Rb);
            for (int i = 0; i < 9; i++) {
                for (int c = 0; c < 3; c++)
                    expected_R[i] += Ra[c][i / 3] * Rb[c][i % 3];
                expected_y[i / 3] += Ra[i % 3][i / 3] * (p[3 + i % 3] - p[i % 3]);
            }
            check_close_scaled("position between frames", seed, 3, y + 3 * k, expected_y, TOLERANCE, 1);
            check_close_scaled("rotation between frames", seed, 9, R + 9 * k, expected_R, TOLERANCE, 1);
        }
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_poses),
        cmocka_unit_test(test_poses_between_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
