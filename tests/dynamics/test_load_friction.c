/* test_load_friction.c - checks efforts of friction that grows with the load against the equation of load_friction.h,
 * evaluated with models without load coefficients; forward dynamics against inverse dynamics; equal bits; refusals. The
 * problem of joints at rest is compared with a closed form. */
#include "dynamics/joint_stiction/friction_rows.h"
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
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

/* Arrays of one trial: `tau` of inverse dynamics, `other` for a result that is compared with it, and rates of both. */
typedef struct efforts {
    double *tau, *other, *rate, *rate_alone;
} efforts;

/* For a robot without springs and wrenches, bias must be tau at qdd = 0 and the sum C qd + g + friction. */
static void compare_bias(const dyn_kernels *k, const trial *t, const efforts *e)
{
    const size_t n     = t->rows * t->nv;
    double      *terms = trial_array(t, t->nv);
    dyn_scene    still = {.model = t->model, .terms = DYN_FRICTION};
    memcpy(still.gravity, t->scene.gravity, sizeof still.gravity);
    rows_bias(k, &still, t->rows,
              (dyn_bias){.q        = t->q,
                         .qd       = t->qd,
                         .bias     = e->other,
                         .coriolis = e->rate,
                         .gravity  = e->rate_alone,
                         .friction = terms});
    rows_inverse_dynamics(k, &still, t->rows, (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .tau = e->tau});
    check_close("bias", t->seed, n, e->other, e->tau, TOLERANCE);
    for (size_t i = 0; i < n; i++)
        terms[i] += e->rate[i] + e->rate_alone[i];
    check_close("sum of the terms", t->seed, n, terms, e->other, TOLERANCE);
    free(terms);
}

/* The tau computed with its rate must equal inverse dynamics, and the rate must not depend on tau being wanted. */
static void compare_torque_derivative(const dyn_kernels *k, const trial *t, const efforts *e)
{
    const size_t          n  = t->rows * t->nv;
    dyn_torque_derivative io = {.q            = t->q,
                                .qd           = t->qd,
                                .qdd          = t->qdd,
                                .qddd         = t->qddd,
                                .wrenches     = t->wrenches,
                                .wrench_rates = t->wrench_rates,
                                .tau          = e->other,
                                .tau_dot      = e->rate};
    rows_torque_derivative(k, &t->scene, t->rows, io);
    check_close("tau with its rate", t->seed, n, e->other, e->tau, TOLERANCE);
    io.tau     = NULL;
    io.tau_dot = e->rate_alone;
    rows_torque_derivative(k, &t->scene, t->rows, io);
    assert_memory_equal(e->rate_alone, e->rate, n * sizeof *e->rate);
}

/* The tau of the passivity-based dynamics at the robot's own motion must equal inverse dynamics. */
static void compare_reference_at_own_motion(const dyn_kernels *k, const trial *t, const efforts *e)
{
    rows_reference_dynamics(k, &t->scene, t->rows,
                            (dyn_reference_dynamics){.q             = t->q,
                                                     .qd            = t->qd,
                                                     .qd_reference  = t->qd,
                                                     .qdd_reference = t->qdd,
                                                     .wrenches      = t->wrenches,
                                                     .tau           = e->other});
    check_close("reference", t->seed, t->rows * t->nv, e->other, e->tau, TOLERANCE);
}

static void test_other_efforts(void **state)
{
    const dyn_kernels *k;
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t = trial_make_loaded(seed, STATES);
        efforts e = {.tau        = trial_array(&t, t.nv),
                     .other      = trial_array(&t, t.nv),
                     .rate       = trial_array(&t, t.nv),
                     .rate_alone = trial_array(&t, t.nv)};
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            compare_bias(k, &t, &e);
            rows_inverse_dynamics(
                k, &t.scene, t.rows,
                (dyn_inverse_dynamics){.q = t.q, .qd = t.qd, .qdd = t.qdd, .wrenches = t.wrenches, .tau = e.tau});
            compare_torque_derivative(k, &t, &e);
            compare_reference_at_own_motion(k, &t, &e);
        }
        free(e.tau), free(e.other), free(e.rate), free(e.rate_alone);
        trial_free(&t);
    }
}

/* The reference velocity often has another sign than the velocity of the state, so that friction at the two velocities
   differs. */
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

/* --- joints at rest ----------------------------------------------------------------------------------------------- */

enum { AT_REST = 300 };

/* A deadline that counts how often it is checked, and passes after `most` checks. */
typedef struct countdown {
    size_t asked, most;
} countdown;

static bool count_down(const void *arg)
{
    countdown *c = (countdown *)arg;
    return c->asked++ < c->most;
}

/* Sets up the problem of AT_REST joints of a robot with the mass matrix M = D + c 1 1^T. Returns the result. */
static bool set_up_rows(countdown *c, dyn_friction_rows *r, double *room, const double *M, const double *qdd)
{
    const dyn_friction_state state = {.nv = AT_REST, .W = 1, .deadline = {count_down, c}};
    *r                             = dyn_friction_rows_lay_out(AT_REST, AT_REST, room);
    for (r->n = 0; r->n < AT_REST; r->n++) {
        const dyn_stiction_joint joint = {.v = r->n, .tree_v = r->n};
        dyn_friction_row_fill(&state, &joint, r->W + r->n * AT_REST);
    }
    c->asked = 0;
    return dyn_friction_rows_set(r, &state, M, NULL, qdd);
}

/* With all rows, A = M^-1, which Sherman and Morrison's formula gives: D^-1 - c D^-1 1 1^T D^-1 / (1 + c sum(1/d)).
 * Finding it takes 1.5 AT_REST^3 products, during which the deadline is checked at least once in 2^21 products; the
 * function returns at whichever check the deadline passes. */
static void test_joints_at_rest_are_set_up_under_a_deadline(void **state)
{
    const double c    = 0.3;
    double      *room = calloc(dyn_friction_rows_entries(AT_REST, AT_REST), sizeof *room), d[AT_REST], qdd[AT_REST];
    double      *M = calloc(AT_REST * AT_REST, sizeof *M), sum = 0;
    countdown    limit = {.most = SIZE_MAX};
    dyn_friction_rows r;
    (void)state;
    assert_non_null(room);
    assert_non_null(M);
    for (size_t i = 0; i < AT_REST; i++) {
        d[i] = 1.5 + 0.7 * sin((double)i), qdd[i] = cos((double)i), sum += 1 / d[i];
        for (size_t j = 0; j < AT_REST; j++)
            M[i * AT_REST + j] = c;
        M[i * AT_REST + i] += d[i];
    }
    assert_true(set_up_rows(&limit, &r, room, M, qdd));
    for (size_t i = 0; i < AT_REST; i++)
        for (size_t j = 0; j < AT_REST; j++) {
            const double exact = (i == j ? 1 / d[i] : 0) - c / (d[i] * d[j] * (1 + c * sum));
            assert_true(fabs(r.A[i * AT_REST + j] - exact) < 1e-13);
        }
    const size_t asked = limit.asked;
    assert_true(asked >= 3 * (size_t)AT_REST * AT_REST * AT_REST / 2 >> 21);
    for (limit.most = 0; limit.most < asked; limit.most++)
        assert_false(set_up_rows(&limit, &r, room, M, qdd));
    free(room);
    free(M);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_efforts),           cmocka_unit_test(test_other_efforts),
        cmocka_unit_test(test_reference_efforts), cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_refusals),          cmocka_unit_test(test_joints_at_rest_are_set_up_under_a_deadline)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
