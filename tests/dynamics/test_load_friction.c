/* test_load_friction.c - checks friction that grows with the load: efforts against the equation of load_friction.h
 * evaluated with models without load coefficients; forward dynamics against inverse dynamics; derivatives and rates
 * against the complex step. */
#include "check.h"
#include "complex_step.h"
#include "rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the largest entry. */
#define TOLERANCE 1e-12

enum { ROBOTS = 60, STATES = 5 };

/* --- efforts ------------------------------------------------------------------------------------------------------ */

/* Returns the friction of a body's joint at rate qd per N m of the load |T|. */
static double load_at(const dyn_body *b, double qd)
{
    const dyn_friction *f    = &b->joint.friction;
    const double        rate = fabs(b->joint.ratio) * qd;
    return f->load * (f->coulomb_velocity > 0 ? tanh(rate / f->coulomb_velocity) : (rate > 0) - (rate < 0));
}

/* Builds the model of the same robot without load coefficients; the caller frees it. */
static dyn_model *without_load(const trial *t)
{
    dyn_description description = t->tree.description;
    dyn_link       *links       = malloc(description.n_links * sizeof *links + 1);
    dyn_model      *model       = NULL;
    assert_non_null(links);
    memcpy(links, t->tree.links, description.n_links * sizeof *links);
    for (size_t i = 0; i < description.n_links; i++)
        links[i].friction.load = links[i].motor.friction.load = 0;
    description.links = links;
    assert_int_equal(dyn_model_build(&description, &model, NULL), DYN_OK);
    free(links);
    return model;
}

/* Computes tau = T + f + g |T|: f is the friction of `model`, which has no load coefficients, and g that of the load
 * coefficients, both at the velocities `qd`. */
static void add_friction(const trial *t, const dyn_model *model, const double *qd, double *tau)
{
    double   *f     = trial_array(t, t->nv);
    dyn_scene scene = t->scene;
    scene.model     = model;
    rows_bias(test_kernels(), &scene, t->rows, (dyn_bias){.q = t->q, .qd = qd, .friction = f});
    for (size_t e = 0; e < t->rows * t->nv; e++) {
        double g = 0;
        for (size_t i = 0; i < t->model->n_bodies; i++)
            if ((size_t)t->model->body[i].joint.v == e % t->nv) g += load_at(&t->model->body[i], qd[e]);
        tau[e] += f[e] + g * fabs(tau[e]);
    }
    free(f);
}

static void expect_efforts(const trial *t, double *tau)
{
    dyn_model *model = without_load(t);
    dyn_scene  rigid = t->scene;
    rigid.model      = model;
    rigid.terms      = DYN_SPRINGS;
    rows_inverse_dynamics(
        test_kernels(), &rigid, t->rows,
        (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .tau = tau});
    add_friction(t, model, t->qd, tau);
    dyn_model_free(model);
}

/* Computes the expected efforts at the reference velocity t->qdd and the reference acceleration t->qddd. The friction
 * is that at the reference velocity. */
static void expect_reference_efforts(const trial *t, double *tau)
{
    dyn_model *model = without_load(t);
    dyn_scene  rigid = t->scene;
    rigid.model      = model;
    rigid.terms      = DYN_SPRINGS;
    rows_reference_dynamics(test_kernels(), &rigid, t->rows,
                            (dyn_reference_dynamics){.q             = t->q,
                                                     .qd            = t->qd,
                                                     .qd_reference  = t->qdd,
                                                     .qdd_reference = t->qddd,
                                                     .wrenches      = t->wrenches,
                                                     .tau           = tau});
    add_friction(t, model, t->qdd, tau);
    dyn_model_free(model);
}

static void test_efforts(void **state)
{
    const dyn_kernels *k;
    size_t             loaded = 0;
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t        = trial_make_loaded(seed, STATES);
        double *expected = trial_array(&t, t.nv), *got = trial_array(&t, t.nv), *qdd = trial_array(&t, t.nv);
        loaded += t.model->has_load;
        expect_efforts(&t, expected);
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            rows_inverse_dynamics(
                k, &t.scene, t.rows,
                (dyn_inverse_dynamics){.q = t.q, .qd = t.qd, .qdd = t.qdd, .wrenches = t.wrenches, .tau = got});
            check_close("tau", seed, t.rows * t.nv, got, expected, TOLERANCE);
            rows_forward_dynamics(
                k, &t.scene, t.rows,
                (dyn_forward_dynamics){.q = t.q, .qd = t.qd, .tau = got, .wrenches = t.wrenches, .qdd = qdd});
            check_close("qdd", seed, t.rows * t.nv, qdd, t.qdd, 1e-8);
        }
        free(expected), free(got), free(qdd);
        trial_free(&t);
    }
    assert_true(loaded > ROBOTS / 2);
}

/* For a robot without springs and wrenches, bias must be tau at qdd = 0 and the sum C qd + g + friction. The tau
 * computed with its rate, and that of the passivity-based dynamics at the robot's own motion, must equal inverse
 * dynamics. */
static void test_other_efforts(void **state)
{
    const dyn_kernels *k;
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t    = trial_make_loaded(seed, STATES);
        size_t  n    = t.rows * t.nv;
        double *bias = trial_array(&t, t.nv), *coriolis = trial_array(&t, t.nv), *gravity = trial_array(&t, t.nv),
               *friction = trial_array(&t, t.nv), *tau = trial_array(&t, t.nv);
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            dyn_scene still = {.model = t.model, .terms = DYN_FRICTION};
            memcpy(still.gravity, t.scene.gravity, sizeof still.gravity);
            rows_bias(k, &still, t.rows,
                      (dyn_bias){.q        = t.q,
                                 .qd       = t.qd,
                                 .bias     = bias,
                                 .coriolis = coriolis,
                                 .gravity  = gravity,
                                 .friction = friction});
            rows_inverse_dynamics(k, &still, t.rows, (dyn_inverse_dynamics){.q = t.q, .qd = t.qd, .tau = tau});
            check_close("bias", seed, n, bias, tau, TOLERANCE);
            for (size_t e = 0; e < n; e++)
                friction[e] += coriolis[e] + gravity[e];
            check_close("sum of the terms", seed, n, friction, bias, TOLERANCE);
            rows_inverse_dynamics(
                k, &t.scene, t.rows,
                (dyn_inverse_dynamics){.q = t.q, .qd = t.qd, .qdd = t.qdd, .wrenches = t.wrenches, .tau = tau});
            rows_torque_derivative(k, &t.scene, t.rows,
                                   (dyn_torque_derivative){.q            = t.q,
                                                           .qd           = t.qd,
                                                           .qdd          = t.qdd,
                                                           .qddd         = t.qddd,
                                                           .wrenches     = t.wrenches,
                                                           .wrench_rates = t.wrench_rates,
                                                           .tau          = bias,
                                                           .tau_dot      = gravity});
            check_close("tau with its rate", seed, n, bias, tau, TOLERANCE);
            rows_torque_derivative(k, &t.scene, t.rows,
                                   (dyn_torque_derivative){.q            = t.q,
                                                           .qd           = t.qd,
                                                           .qdd          = t.qdd,
                                                           .qddd         = t.qddd,
                                                           .wrenches     = t.wrenches,
                                                           .wrench_rates = t.wrench_rates,
                                                           .tau_dot      = friction});
            assert_memory_equal(friction, gravity, n * sizeof *gravity);
            rows_reference_dynamics(k, &t.scene, t.rows,
                                    (dyn_reference_dynamics){.q             = t.q,
                                                             .qd            = t.qd,
                                                             .qd_reference  = t.qd,
                                                             .qdd_reference = t.qdd,
                                                             .wrenches      = t.wrenches,
                                                             .tau           = bias});
            check_close("reference", seed, n, bias, tau, TOLERANCE);
        }
        free(bias), free(coriolis), free(gravity), free(friction), free(tau);
        trial_free(&t);
    }
}

/* The reference velocity often has another sign than the velocity of the state, so that its friction differs. */
static void test_reference_efforts(void **state)
{
    const dyn_kernels *k;
    size_t             opposite = 0;
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t        = trial_make_loaded(seed, STATES);
        double *expected = trial_array(&t, t.nv), *got = trial_array(&t, t.nv);
        expect_reference_efforts(&t, expected);
        for (size_t e = 0; e < t.rows * t.nv; e++)
            opposite += t.qd[e] * t.qdd[e] < 0;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            rows_reference_dynamics(k, &t.scene, t.rows,
                                    (dyn_reference_dynamics){.q             = t.q,
                                                             .qd            = t.qd,
                                                             .qd_reference  = t.qdd,
                                                             .qdd_reference = t.qddd,
                                                             .wrenches      = t.wrenches,
                                                             .tau           = got});
            check_close("tau of the reference", seed, t.rows * t.nv, got, expected, TOLERANCE);
        }
        free(expected), free(got);
        trial_free(&t);
    }
    assert_true(opposite > ROBOTS * STATES);
}

/* --- derivatives -------------------------------------------------------------------------------------------------- */

typedef struct matrices {
    double *by[4]; /* q, qd, qdd or tau, wrenches */
} matrices;

static matrices allocate(const trial *t)
{
    const size_t n = t->nv * t->nv;
    return (matrices){
        {trial_array(t, n), trial_array(t, n), trial_array(t, n), trial_array(t, t->scene.n_wrenches * t->nv * 6)}};
}

static void release(matrices *m)
{
    for (int i = 0; i < 4; i++)
        free(m->by[i]);
}

/* Computes tau, or qdd if `forward`, of a complex state, and stores its derivative as a column. */
static void put_column(const trial *t, complex_state s, bool forward, size_t j, size_t columns, double *to)
{
    double _Complex *value = complex_array(t->nv);
    double          *d     = trial_array(t, t->nv);
    if (forward)
        dyn_kernels_complex.forward_dynamics(&t->scene, s.workspace,
                                             &(dyn_forward_dynamics){.q        = as_lanes(s.q),
                                                                     .qd       = as_lanes(s.qd),
                                                                     .tau      = as_lanes(s.tau),
                                                                     .wrenches = as_lanes(s.wrenches),
                                                                     .qdd      = as_lanes(value)},
                                             1);
    else
        dyn_kernels_complex.inverse_dynamics(&t->scene, s.workspace,
                                             &(dyn_inverse_dynamics){.q        = as_lanes(s.q),
                                                                     .qd       = as_lanes(s.qd),
                                                                     .qdd      = as_lanes(s.qdd),
                                                                     .wrenches = as_lanes(s.wrenches),
                                                                     .tau      = as_lanes(value)},
                                             1);
    complex_derivative(t->nv, value, d);
    for (size_t i = 0; i < t->nv; i++)
        to[i * columns + j] = d[i];
    free(value), free(d);
    complex_state_free(&s);
}

static void expect_derivatives(const trial *t, bool forward, const matrices *m)
{
    for (size_t j = 0; j < t->nv; j++) {
        put_column(t, complex_state_along(t, j), forward, j, t->nv, m->by[0]);
        complex_state s = complex_state_make(t, 0);
        s.qd[j] += I * COMPLEX_STEP;
        put_column(t, s, forward, j, t->nv, m->by[1]);
        s = complex_state_make(t, 0);
        (forward ? s.tau : s.qdd)[j] += I * COMPLEX_STEP;
        put_column(t, s, forward, j, t->nv, m->by[2]);
    }
    for (size_t n = 0; n < t->scene.n_wrenches; n++)
        for (size_t c = 0; c < 6; c++) {
            complex_state s = complex_state_make(t, 0);
            s.wrenches[9 * n + c] += I * COMPLEX_STEP;
            put_column(t, s, forward, c, 6, m->by[3] + n * t->nv * 6);
        }
}

static void compare(const char *what, const trial *t, const matrices *got, const matrices *expected)
{
    const size_t n = t->nv * t->nv, nw = t->scene.n_wrenches * t->nv * 6;
    double       size = 0;
    for (int i = 0; i < 3; i++)
        size = fmax(size, largest(n, expected->by[i]));
    for (int i = 0; i < 3; i++)
        check_close_scaled(what, t->seed, n, got->by[i], expected->by[i], TOLERANCE, size);
    if (nw) check_close_scaled(what, t->seed, nw, got->by[3], expected->by[3], TOLERANCE, size);
}

static void sensitivity(const dyn_kernels *k, const trial *t, const matrices *m)
{
    rows_sensitivity(k, &t->scene, 1,
                     (dyn_sensitivity){.q            = t->q,
                                       .qd           = t->qd,
                                       .qdd          = t->qdd,
                                       .wrenches     = t->wrenches,
                                       .dtau_dq      = m->by[0],
                                       .dtau_dqd     = m->by[1],
                                       .dtau_dqdd    = m->by[2],
                                       .dtau_dwrench = m->by[3]});
}

static void test_derivatives(void **state)
{
    const dyn_kernels *k;
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial    t        = trial_make_loaded(seed, 1);
        matrices expected = allocate(&t), got = allocate(&t);
        double  *qdd = trial_array(&t, t.nv);
        expect_derivatives(&t, false, &expected);
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            sensitivity(k, &t, &got);
            compare("dtau", &t, &got, &expected);
        }
        expect_derivatives(&t, true, &expected);
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            rows_forward_sensitivity(k, &t.scene, 1,
                                     (dyn_forward_sensitivity){.q            = t.q,
                                                               .qd           = t.qd,
                                                               .tau          = t.tau,
                                                               .wrenches     = t.wrenches,
                                                               .qdd          = qdd,
                                                               .dqdd_dq      = got.by[0],
                                                               .dqdd_dqd     = got.by[1],
                                                               .dqdd_dtau    = got.by[2],
                                                               .dqdd_dwrench = got.by[3]});
            compare("dqdd", &t, &got, &expected);
        }
        release(&expected), release(&got);
        free(qdd);
        trial_free(&t);
    }
}

/* Compares dtau/dg with a central difference, which has no truncation error: tau is linear in gravity where T keeps its
 * sign. The complex step is not possible, because gravity is a real constant of the scene. */
static void test_gravity(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial    t          = trial_make_loaded(seed, 1);
        matrices got        = allocate(&t);
        double  *by_gravity = trial_array(&t, t.nv * 3), *tau[2] = {trial_array(&t, t.nv), trial_array(&t, t.nv)};
        const dyn_kernels *k = test_kernels();
        rows_sensitivity(k, &t.scene, 1,
                         (dyn_sensitivity){.q             = t.q,
                                           .qd            = t.qd,
                                           .qdd           = t.qdd,
                                           .wrenches      = t.wrenches,
                                           .dtau_dq       = got.by[0],
                                           .dtau_dqd      = got.by[1],
                                           .dtau_dqdd     = got.by[2],
                                           .dtau_dgravity = by_gravity});
        for (size_t c = 0; c < 3; c++) {
            for (int side = 0; side < 2; side++) {
                dyn_scene scene = t.scene;
                scene.gravity[c] += side ? 1e-6 : -1e-6;
                rows_inverse_dynamics(
                    k, &scene, 1,
                    (dyn_inverse_dynamics){
                        .q = t.q, .qd = t.qd, .qdd = t.qdd, .wrenches = t.wrenches, .tau = tau[side]});
            }
            for (size_t i = 0; i < t.nv; i++) {
                tau[1][i] = (tau[1][i] - tau[0][i]) / 2e-6;
                tau[0][i] = by_gravity[i * 3 + c];
            }
            check_close_scaled("dgravity", seed, t.nv, tau[0], tau[1], 1e-7, t.model->mass);
        }
        release(&got);
        free(by_gravity), free(tau[0]), free(tau[1]);
        trial_free(&t);
    }
}

/* Moves a state along its motion: the imaginary parts are those of the time derivatives. */
static complex_state in_motion(const trial *t)
{
    complex_state s = complex_state_make(t, 0);
    complex_state_move(&s, t->qd);
    complex_add(t->nv, s.qd, t->qdd);
    complex_add(t->nv, s.qdd, t->qddd);
    return s;
}

static void test_rates(void **state)
{
    const dyn_kernels *k;
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial            t        = trial_make_loaded(seed, 1);
        size_t           n        = t.nv * t.nv;
        matrices         expected = allocate(&t), got = allocate(&t);
        complex_state    s     = in_motion(&t);
        double _Complex *by[3] = {complex_array(n), complex_array(n), complex_array(n)}, *tau = complex_array(t.nv);
        double          *tau_dot = trial_array(&t, t.nv), *wanted = trial_array(&t, t.nv), size = 0;
        dyn_kernels_complex.sensitivity(&t.scene, s.workspace,
                                        &(dyn_sensitivity){.q         = as_lanes(s.q),
                                                           .qd        = as_lanes(s.qd),
                                                           .qdd       = as_lanes(s.qdd),
                                                           .wrenches  = as_lanes(s.wrenches),
                                                           .dtau_dq   = as_lanes(by[0]),
                                                           .dtau_dqd  = as_lanes(by[1]),
                                                           .dtau_dqdd = as_lanes(by[2])},
                                        1);
        dyn_kernels_complex.inverse_dynamics(&t.scene, s.workspace,
                                             &(dyn_inverse_dynamics){.q        = as_lanes(s.q),
                                                                     .qd       = as_lanes(s.qd),
                                                                     .qdd      = as_lanes(s.qdd),
                                                                     .wrenches = as_lanes(s.wrenches),
                                                                     .tau      = as_lanes(tau)},
                                             1);
        for (int i = 0; i < 3; i++) {
            for (size_t e = 0; e < n; e++)
                size = fmax(size, fabs(creal(by[i][e])));
            complex_derivative(n, by[i], expected.by[i]);
            size = fmax(size, largest(n, expected.by[i]));
            free(by[i]);
        }
        complex_derivative(t.nv, tau, wanted);
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            rows_sensitivity_rate(k, &t.scene, 1,
                                  (dyn_sensitivity_rate){.q             = t.q,
                                                         .qd            = t.qd,
                                                         .qdd           = t.qdd,
                                                         .qddd          = t.qddd,
                                                         .wrenches      = t.wrenches,
                                                         .dtau_dq_dot   = got.by[0],
                                                         .dtau_dqd_dot  = got.by[1],
                                                         .dtau_dqdd_dot = got.by[2]});
            for (int x = 0; x < 3; x++)
                check_close_scaled("rate of dtau", seed, n, got.by[x], expected.by[x], TOLERANCE, size);
            rows_torque_derivative(
                k, &t.scene, 1,
                (dyn_torque_derivative){
                    .q = t.q, .qd = t.qd, .qdd = t.qdd, .qddd = t.qddd, .wrenches = t.wrenches, .tau_dot = tau_dot});
            check_close("rate of tau", seed, t.nv, tau_dot, wanted, TOLERANCE);
        }
        complex_state_free(&s);
        release(&expected), release(&got);
        free(tau), free(tau_dot), free(wanted);
        trial_free(&t);
    }
}

/* The regressor's rows, and those of the rotors' columns, are those of T times the factor that sensitivity has on the
 * mass matrix. */
static void test_regressor(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial              t    = trial_make_loaded(seed, 1);
        const dyn_kernels *k    = test_kernels();
        matrices           with = allocate(&t), without = allocate(&t);
        size_t             columns = 10 * t.bodies, nj = t.model->n_movers;
        double            *Y = trial_array(&t, t.nv * columns), *expected = trial_array(&t, t.nv * columns);
        double            *joints = trial_array(&t, t.nv * 3 * nj), *rotors = trial_array(&t, t.nv * nj),
               *others    = trial_array(&t, t.nv * 3 * nj);
        trial rigid       = t;
        rigid.scene.terms = DYN_SPRINGS;
        sensitivity(k, &t, &with);
        sensitivity(k, &rigid, &without);
        dyn_regressor io = {
            .q = t.q, .qd = t.qd, .qdd = t.qdd, .wrenches = t.wrenches, .regressor = Y, .joint_regressor = joints};
        rows_regressor(k, &t.scene, 1, io);
        io.regressor       = expected;
        io.joint_regressor = others;
        rows_regressor(k, &rigid.scene, 1, io);
        for (size_t i = 0; i < t.nv; i++) {
            const double factor = with.by[2][i * t.nv + i] / without.by[2][i * t.nv + i];
            for (size_t c = 0; c < columns; c++)
                expected[i * columns + c] *= factor;
            for (size_t j = 0; j < nj; j++) {
                rotors[i * nj + j] = joints[(i * nj + j) * 3];
                others[i * nj + j] = factor * others[(i * nj + j) * 3];
            }
        }
        check_close("regressor", seed, t.nv * columns, Y, expected, TOLERANCE);
        check_close("rotors", seed, t.nv * nj, rotors, others, TOLERANCE);
        release(&with), release(&without);
        free(Y), free(expected), free(joints), free(rotors), free(others);
        trial_free(&t);
    }
}

static void test_regressor_rate(void **state)
{
    const dyn_kernels *k;
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial            t     = trial_make_loaded(seed, 1);
        const size_t     n     = t.nv * 10 * t.bodies;
        complex_state    s     = in_motion(&t);
        double _Complex *moved = complex_array(n);
        double          *Y = trial_array(&t, n), *Y_dot = trial_array(&t, n), *expected = trial_array(&t, n), size = 0;
        dyn_kernels_complex.regressor(&t.scene, s.workspace,
                                      &(dyn_regressor){.q         = as_lanes(s.q),
                                                       .qd        = as_lanes(s.qd),
                                                       .qdd       = as_lanes(s.qdd),
                                                       .wrenches  = as_lanes(s.wrenches),
                                                       .regressor = as_lanes(moved)},
                                      1);
        complex_derivative(n, moved, expected);
        for (size_t i = 0; i < n; i++)
            size = fmax(size, fabs(creal(moved[i])));
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            rows_regressor(k, &t.scene, 1,
                           (dyn_regressor){.q             = t.q,
                                           .qd            = t.qd,
                                           .qdd           = t.qdd,
                                           .qddd          = t.qddd,
                                           .wrenches      = t.wrenches,
                                           .regressor     = Y,
                                           .regressor_dot = Y_dot});
            check_close_scaled("regressor_dot", seed, n, Y_dot, expected, TOLERANCE, fmax(size, largest(n, expected)));
        }
        complex_state_free(&s);
        free(moved), free(Y), free(Y_dot), free(expected);
        trial_free(&t);
    }
}

/* --- special cases ------------------------------------------------------------------------------------------------ */

/* A state must give the same bits in every batch and on every target of its class. */
static void test_same_bits(void **state)
{
    const dyn_kernels *k, *first[2] = {NULL, NULL};
    for (uint64_t seed = 1; seed <= ROBOTS / 4; seed++) {
        trial   t      = trial_make_loaded(seed, STATES);
        double *tau[2] = {trial_array(&t, t.nv), trial_array(&t, t.nv)}, *got = trial_array(&t, t.nv);
        double *by_q = trial_array(&t, t.nv * t.nv), *by_qd = trial_array(&t, t.nv * t.nv),
               *by_q1[2] = {trial_array(&t, t.nv * t.nv), trial_array(&t, t.nv * t.nv)};
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            const bool fresh        = !first[k->fused] || first[k->fused] == k;
            first[k->fused]         = first[k->fused] ? first[k->fused] : k;
            dyn_inverse_dynamics io = {
                .q = t.q, .qd = t.qd, .qdd = t.qdd, .wrenches = t.wrenches, .tau = fresh ? tau[k->fused] : got};
            rows_inverse_dynamics(k, &t.scene, t.rows, io);
            rows_forward_sensitivity(k, &t.scene, t.rows,
                                     (dyn_forward_sensitivity){.q        = t.q,
                                                               .qd       = t.qd,
                                                               .tau      = t.tau,
                                                               .wrenches = t.wrenches,
                                                               .qdd      = got,
                                                               .dqdd_dq  = fresh ? by_q1[k->fused] : by_q,
                                                               .dqdd_dqd = by_qd});
            if (!fresh) assert_memory_equal(by_q, by_q1[k->fused], t.rows * t.nv * t.nv * sizeof *by_q);
            rows_inverse_dynamics(k, &t.scene, t.rows, io);
            if (!fresh) assert_memory_equal(got, tau[k->fused], t.rows * t.nv * sizeof *got);
            for (size_t r = 0; r < t.rows; r++) {
                io = (dyn_inverse_dynamics){
                    .q = t.q + r * t.nq, .qd = t.qd + r * t.nv, .qdd = t.qdd + r * t.nv, .tau = got};
                size_t nw   = 9 * t.scene.n_wrenches;
                io.wrenches = nw ? t.wrenches + r * nw : NULL;
                rows_inverse_dynamics(k, &t.scene, 1, io);
                assert_memory_equal(got, tau[k->fused] + r * t.nv, t.nv * sizeof *got);
            }
        }
        free(tau[0]), free(tau[1]), free(got), free(by_q), free(by_qd), free(by_q1[0]), free(by_q1[1]);
        trial_free(&t);
    }
}

/* At T = 0 and at rest there must be no friction by the load, and its derivative must be zero. */
static void test_at_rest_without_load(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial    t    = trial_make_loaded(seed, 1);
        matrices with = allocate(&t), without = allocate(&t);
        t.scene           = (dyn_scene){.model = t.model, .terms = DYN_FRICTION};
        trial still       = t;
        still.scene.terms = 0;
        memset(t.qdd, 0, t.nv * sizeof *t.qdd);
        memset(t.qd, 0, t.nv * sizeof *t.qd);
        sensitivity(test_kernels(), &t, &with);
        sensitivity(test_kernels(), &still, &without);
        assert_memory_equal(with.by[0], without.by[0], t.nv * t.nv * sizeof(double));
        assert_memory_equal(with.by[2], without.by[2], t.nv * t.nv * sizeof(double));
        release(&with), release(&without);
        t.scene.n_wrenches = 0;
        trial_free(&t);
    }
}

/* Tries descriptions with load coefficients that must be refused. */
static void test_refusals(void **state)
{
    trial t = trial_make_loaded(1, 1);
    for (size_t i = 0; i < t.tree.description.n_links; i++) {
        dyn_link  *l = &t.tree.links[i], was = *l;
        dyn_model *model = NULL;
        if (dyn_joint_nv(l->joint) != 1 || l->mimic || l->elastic) continue;
        for (int wrong = 0; wrong < 4; wrong++) {
            *l               = was;
            l->friction.load = (double[]){1, -0.1, NAN, 0.6}[wrong];
            if (wrong == 3) l->motor = (dyn_motor){.present = true, .link = (int)i, .axis = {0, 0, 1}, .gear_ratio = 1};
            if (wrong == 3) l->rotor_inertia = 0, l->motor.friction.load = 0.4;
            assert_int_equal(dyn_model_build(&t.tree.description, &model, NULL), DYN_BAD_NUMBER);
        }
        *l = was;
    }
    trial_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_efforts),           cmocka_unit_test(test_other_efforts),
        cmocka_unit_test(test_reference_efforts), cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_gravity),           cmocka_unit_test(test_rates),
        cmocka_unit_test(test_regressor),         cmocka_unit_test(test_regressor_rate),
        cmocka_unit_test(test_same_bits),         cmocka_unit_test(test_at_rest_without_load),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
