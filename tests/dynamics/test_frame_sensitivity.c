/* test_frame_sensitivity.c - compares derivatives of the motion of frames with the complex step. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <stdlib.h>
#include <string.h>

/* The complex step is exact to rounding; both sides sum along at most 40 bodies. */
#define TOLERANCE 1e-13

enum { ROBOTS = 200, ROWS = 2, FRAMES = 3 };

typedef struct derivatives {
    double *velocity, *acceleration, *acceleration_by_rate, *jacobian;
} derivatives;

static derivatives allocate(const trial *t)
{
    const size_t n = 6 * t->nv * FRAMES;
    return (derivatives){trial_array(t, n), trial_array(t, n), trial_array(t, n), trial_array(t, n * t->nv)};
}

static void free_derivatives(derivatives *d)
{
    free(d->velocity), free(d->acceleration), free(d->acceleration_by_rate), free(d->jacobian);
}

/* Chooses frames on the last link, on any link, and on the base, away from the links' origins. */
static void choose_frames(const trial *t, dyn_frame frames[FRAMES])
{
    random_source         source         = {.state = t->seed};
    size_t                any            = random_below(&source, t->model->n_links + 1);
    const dyn_link_place *places[FRAMES] = {
        trial_last_link(t), any < t->model->n_links ? &t->model->link[any] : &t->model->base, &t->model->base};
    for (int i = 0; i < FRAMES; i++) {
        frames[i].body = places[i]->body;
        random_pose(&source, &frames[i].X_bf);
    }
}

/* Evaluates the motion of one frame in a complex state and reads the derivatives from the imaginary parts. */
static void differentiate(const complex_state *s, const dyn_frame *frame, bool frame_axes, double *v, double *a,
                          double *J)
{
    const trial     *t        = s->t;
    double _Complex *velocity = complex_array(6), *acceleration = complex_array(6),
                    *jacobian = complex_array(6 * t->nv);
    dyn_kernels_complex.kinematics(&t->scene, s->workspace,
                                   &(dyn_kinematics){.q            = as_lanes(s->q),
                                                     .qd           = as_lanes(s->qd),
                                                     .qdd          = as_lanes(s->qdd),
                                                     .frame        = frame,
                                                     .frame_axes   = frame_axes,
                                                     .jacobian     = as_lanes(jacobian),
                                                     .velocity     = as_lanes(velocity),
                                                     .acceleration = as_lanes(acceleration)},
                                   1);
    complex_derivative(6, velocity, v);
    complex_derivative(6, acceleration, a);
    complex_derivative(6 * t->nv, jacobian, J);
    free(velocity), free(acceleration), free(jacobian);
}

/* Writes the derivatives of frame i by coordinate k and by its rate. */
static void expect_column(const trial *t, const dyn_frame *frame, bool frame_axes, size_t i, size_t k,
                          const derivatives *to)
{
    const size_t  nv        = t->nv;
    double       *direction = calloc(nv, sizeof *direction), *J = trial_array(t, 6 * nv), v[6], a[6], by_rate[6];
    complex_state moved = complex_state_make(t, i / FRAMES), faster = complex_state_make(t, i / FRAMES);
    assert_non_null(direction);
    direction[k] = 1;
    complex_state_move(&moved, direction);
    complex_add(nv, faster.qd, direction);
    differentiate(&faster, frame, frame_axes, v, by_rate, J);
    differentiate(&moved, frame, frame_axes, v, a, J);
    for (size_t e = 0; e < 6; e++) {
        to->velocity[(6 * i + e) * nv + k]             = v[e];
        to->acceleration[(6 * i + e) * nv + k]         = a[e];
        to->acceleration_by_rate[(6 * i + e) * nv + k] = by_rate[e];
    }
    for (size_t e = 0; e < 6 * nv; e++)
        to->jacobian[(6 * i * nv + e) * nv + k] = J[e];
    complex_state_free(&moved);
    complex_state_free(&faster);
    free(direction), free(J);
}

static dyn_frame_sensitivity inputs(const trial *t, const dyn_frame frames[FRAMES])
{
    return (dyn_frame_sensitivity){.q = t->q, .qd = t->qd, .qdd = t->qdd, .n_frames = FRAMES, .frames = frames};
}

static void compare_with_complex_step(const trial *t)
{
    derivatives        got = allocate(t), expected = allocate(t);
    dyn_frame          frames[FRAMES];
    const dyn_kernels *k;
    size_t             n = t->rows * FRAMES * 6 * t->nv;
    choose_frames(t, frames);
    dyn_frame_sensitivity io = inputs(t, frames);
    io.dvelocity_dq = got.velocity, io.dacceleration_dq = got.acceleration;
    io.dacceleration_dqd = got.acceleration_by_rate, io.djacobian_dq = got.jacobian;
    for (int frame_axes = 0; frame_axes < 2; frame_axes++) {
        io.frame_axes = frame_axes;
        for (size_t i = 0; i < t->rows * FRAMES * t->nv; i++)
            expect_column(t, &frames[i / t->nv % FRAMES], frame_axes, i / t->nv, i % t->nv, &expected);
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            rows_frame_sensitivity(k, &t->scene, t->rows, io);
            check_close_scaled("dvelocity_dq", t->seed, n, got.velocity, expected.velocity, TOLERANCE, 1);
            check_close_scaled("dacceleration_dq", t->seed, n, got.acceleration, expected.acceleration, TOLERANCE, 1);
            check_close_scaled("dacceleration_dqd", t->seed, n, got.acceleration_by_rate, expected.acceleration_by_rate,
                               TOLERANCE, 1);
            check_close_scaled("djacobian_dq", t->seed, n * t->nv, got.jacobian, expected.jacobian, TOLERANCE, 1);
        }
    }
    free_derivatives(&got);
    free_derivatives(&expected);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, ROWS, compare_with_complex_step);
}

/* Each output must have the same bits whether only this one or all are requested. */
static void test_outputs_alone(void **state)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        trial              t   = trial_make(seed, 3);
        derivatives        all = allocate(&t), one = allocate(&t);
        dyn_frame          frames[FRAMES];
        const dyn_kernels *k = test_kernels();
        size_t             n = t.rows * FRAMES * 6 * t.nv;
        choose_frames(&t, frames);
        dyn_frame_sensitivity whole = inputs(&t, frames), v = whole, a = whole, by_rate = whole, J = whole;
        whole.dvelocity_dq = all.velocity, whole.dacceleration_dq = all.acceleration;
        whole.dacceleration_dqd = all.acceleration_by_rate, whole.djacobian_dq = all.jacobian;
        v.dvelocity_dq = one.velocity, a.dacceleration_dq = one.acceleration;
        by_rate.dacceleration_dqd = one.acceleration_by_rate, J.djacobian_dq = one.jacobian;
        v.qdd = by_rate.qdd = J.qdd = J.qd = NULL;
        rows_frame_sensitivity(k, &t.scene, t.rows, whole);
        rows_frame_sensitivity(k, &t.scene, t.rows, v);
        rows_frame_sensitivity(k, &t.scene, t.rows, a);
        rows_frame_sensitivity(k, &t.scene, t.rows, by_rate);
        rows_frame_sensitivity(k, &t.scene, t.rows, J);
        assert_memory_equal(one.velocity, all.velocity, n * sizeof(double));
        assert_memory_equal(one.acceleration, all.acceleration, n * sizeof(double));
        assert_memory_equal(one.acceleration_by_rate, all.acceleration_by_rate, n * sizeof(double));
        assert_memory_equal(one.jacobian, all.jacobian, n * t.nv * sizeof(double));
        free_derivatives(&all);
        free_derivatives(&one);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_outputs_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
