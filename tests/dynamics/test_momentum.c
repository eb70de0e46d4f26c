/* test_momentum.c - compares centre of mass and momentum with derivatives by the complex step, and the rate of momentum
 * with the external forces. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <stdlib.h>
#include <string.h>

/* The complex step is exact to rounding; both sides sum along at most 40 bodies. */
#define TOLERANCE 2e-14

/* Relative to the largest entry, or to 1, the order of the terms: those of a robot with one joint may cancel. */
#define OF_TERMS 1e-12

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

/* Makes a floating robot with three wrenches in world axes, without compensation of gravity, which acts from outside.
 */
static trial floating_trial(uint64_t seed)
{
    random_tree tree = random_tree_make(seed, 6 + seed % 12, true, TREE_ALL & ~(unsigned)TREE_COMPENSATED);
    tree.description.base_rotor_inertia = tree.description.base_damping =
        0; /* without rotor and damper of the base, which act from outside */
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

/* The kernel's outputs for one state. */
typedef struct outputs {
    double acceleration[3], jerk[3], rate[6], *matrix_dot, *momentum_by_q, *rate_by_q, *rate_by_qd;
} outputs;

static void compute_outputs(const trial *t, outputs *o)
{
    double *matrices = trial_array(t, 4 * 6 * t->nv);
    o->matrix_dot    = matrices;
    o->momentum_by_q = matrices + 6 * t->nv;
    o->rate_by_q     = matrices + 12 * t->nv;
    o->rate_by_qd    = matrices + 18 * t->nv;
    rows_centroidal(test_kernels(), &t->scene, 1,
                    (dyn_centroidal){.q                   = t->q,
                                     .qd                  = t->qd,
                                     .qdd                 = t->qdd,
                                     .qddd                = t->qddd,
                                     .com_acceleration    = o->acceleration,
                                     .com_jerk            = o->jerk,
                                     .momentum_rate       = o->rate,
                                     .momentum_matrix_dot = o->matrix_dot,
                                     .momentum_by_q       = o->momentum_by_q,
                                     .rate_by_q           = o->rate_by_q,
                                     .rate_by_qd          = o->rate_by_qd});
}

/* Complex results of one state. */
typedef struct results {
    double _Complex *velocity, *momentum, *matrix, *acceleration, *rate;
} results;

static results results_make(size_t nv)
{
    return (results){complex_array(3), complex_array(6), complex_array(6 * nv), complex_array(3), complex_array(6)};
}

static void results_free(results *r)
{
    free(r->velocity), free(r->momentum), free(r->matrix), free(r->acceleration), free(r->rate);
}

static void evaluate_complex(const trial *t, const complex_state *s, const results *r)
{
    dyn_kernels_complex.energy(&t->scene, s->workspace,
                               &(dyn_energy){.q               = as_lanes(s->q),
                                             .qd              = as_lanes(s->qd),
                                             .com_velocity    = as_lanes(r->velocity),
                                             .momentum        = as_lanes(r->momentum),
                                             .momentum_matrix = as_lanes(r->matrix)},
                               1);
    dyn_kernels_complex.centroidal(&t->scene, s->workspace,
                                   &(dyn_centroidal){.q                = as_lanes(s->q),
                                                     .qd               = as_lanes(s->qd),
                                                     .qdd              = as_lanes(s->qdd),
                                                     .com_acceleration = as_lanes(r->acceleration),
                                                     .momentum_rate    = as_lanes(r->rate)},
                                   1);
}

/* Along the motion the velocity has the derivative acceleration, the acceleration the jerk, the momentum its rate. */
static void check_motion_rates(const trial *t, const outputs *o, const results *r)
{
    double       *expected = trial_array(t, 6 * t->nv);
    complex_state s        = complex_state_make(t, 0);
    complex_state_move(&s, t->qd);
    complex_add(t->nv, s.qd, t->qdd);
    complex_add(t->nv, s.qdd, t->qddd);
    evaluate_complex(t, &s, r);
    complex_derivative(3, r->velocity, expected);
    check_close_scaled("com_acceleration", t->seed, 3, o->acceleration, expected, OF_TERMS, 1);
    complex_derivative(3, r->acceleration, expected);
    check_close_scaled("com_jerk", t->seed, 3, o->jerk, expected, OF_TERMS, 1);
    complex_derivative(6, r->momentum, expected);
    check_close_scaled("momentum_rate", t->seed, 6, o->rate, expected, OF_TERMS, 1);
    complex_derivative(6 * t->nv, r->matrix, expected);
    check_close_scaled("momentum_matrix_dot", t->seed, 6 * t->nv, o->matrix_dot, expected, OF_TERMS, 1);
    complex_state_free(&s);
    free(expected);
}

static void put_momentum_column(const trial *t, const double _Complex *x, size_t j, double *to)
{
    double column[6];
    complex_derivative(6, x, column);
    for (size_t i = 0; i < 6; i++)
        to[i * t->nv + j] = column[i];
}

static void check_state_derivatives(const trial *t, const outputs *o, const results *r)
{
    double *momentum = trial_array(t, 6 * t->nv), *rate = trial_array(t, 6 * t->nv), *by_qd = trial_array(t, 6 * t->nv);
    for (size_t j = 0; j < t->nv; j++) {
        complex_state s = complex_state_along(t, j), v = complex_state_make(t, 0);
        evaluate_complex(t, &s, r);
        put_momentum_column(t, r->momentum, j, momentum);
        put_momentum_column(t, r->rate, j, rate);
        v.qd[j] += COMPLEX_STEP * I;
        evaluate_complex(t, &v, r);
        put_momentum_column(t, r->rate, j, by_qd);
        complex_state_free(&s);
        complex_state_free(&v);
    }
    check_close_scaled("momentum_by_q", t->seed, 6 * t->nv, o->momentum_by_q, momentum, OF_TERMS, 1);
    check_close_scaled("rate_by_q", t->seed, 6 * t->nv, o->rate_by_q, rate, OF_TERMS, 1);
    check_close_scaled("rate_by_qd", t->seed, 6 * t->nv, o->rate_by_qd, by_qd, OF_TERMS, 1);
    free(momentum), free(rate), free(by_qd);
}

static void test_rates_and_derivatives_are_those_of_the_complex_step(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t = trial_make_plain(seed, TREE_ALL);
        outputs o;
        results r = results_make(t.nv);
        compute_outputs(&t, &o);
        check_motion_rates(&t, &o, &r);
        check_state_derivatives(&t, &o, &r);
        results_free(&r);
        free(o.matrix_dot);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_com_jacobian_is_the_derivative_of_com),
        cmocka_unit_test(test_momentum_changes_by_external_forces),
        cmocka_unit_test(test_rates_and_derivatives_are_those_of_the_complex_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
