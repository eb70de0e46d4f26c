/* test_load_friction_derivatives.c - checks derivatives, rates and regressors of friction that grows with the load
 * against the complex step and against models without it. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the largest entry. */
#define TOLERANCE 1e-12

enum { ROBOTS = 60 };

typedef struct matrices {
    double *by[4]; /* derivatives with respect to q, qd, qdd or tau, and wrenches */
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

/* Finds the rates of the derivatives of tau, and of tau itself, by the complex step. Returns the largest derivative or
 * rate, by which rounding is judged. */
static double complex_matrix_rates(const trial *t, const matrices *rate, double *tau_dot)
{
    const size_t     n     = t->nv * t->nv;
    complex_state    s     = in_motion(t);
    double _Complex *by[3] = {complex_array(n), complex_array(n), complex_array(n)};
    double          *w = trial_array(t, 6 * t->bodies), size = 0;
    dyn_kernels_complex.sensitivity(&t->scene, s.workspace,
                                    &(dyn_sensitivity){.q         = as_lanes(s.q),
                                                       .qd        = as_lanes(s.qd),
                                                       .qdd       = as_lanes(s.qdd),
                                                       .wrenches  = as_lanes(s.wrenches),
                                                       .dtau_dq   = as_lanes(by[0]),
                                                       .dtau_dqd  = as_lanes(by[1]),
                                                       .dtau_dqdd = as_lanes(by[2])},
                                    1);
    complex_inverse_rates(&s, tau_dot, w);
    for (int i = 0; i < 3; i++) {
        for (size_t e = 0; e < n; e++)
            size = fmax(size, fabs(creal(by[i][e])));
        complex_derivative(n, by[i], rate->by[i]);
        size = fmax(size, largest(n, rate->by[i]));
        free(by[i]);
    }
    free(w);
    complex_state_free(&s);
    return size;
}

static void test_rates(void **state)
{
    const dyn_kernels *k;
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial        t        = trial_make_loaded(seed, 1);
        matrices     expected = allocate(&t), got = allocate(&t);
        double      *tau_dot = trial_array(&t, t.nv), *wanted = trial_array(&t, t.nv);
        const double size = complex_matrix_rates(&t, &expected, wanted);
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
                check_close_scaled("rate of dtau", seed, t.nv * t.nv, got.by[x], expected.by[x], TOLERANCE, size);
            rows_torque_derivative(
                k, &t.scene, 1,
                (dyn_torque_derivative){
                    .q = t.q, .qd = t.qd, .qdd = t.qdd, .qddd = t.qddd, .wrenches = t.wrenches, .tau_dot = tau_dot});
            check_close("rate of tau", seed, t.nv, tau_dot, wanted, TOLERANCE);
        }
        release(&expected), release(&got);
        free(tau_dot), free(wanted);
        trial_free(&t);
    }
}

/* Each row of the regressor, and of the columns of rotors, is that of T times 1 + g sign(T), the factor by which
   sensitivity multiplies the mass matrix. */
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

/* At T = 0 and at rest load-dependent friction and its derivatives must be zero. */
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
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),    cmocka_unit_test(test_gravity),
        cmocka_unit_test(test_rates),          cmocka_unit_test(test_regressor),
        cmocka_unit_test(test_regressor_rate), cmocka_unit_test(test_at_rest_without_load)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
