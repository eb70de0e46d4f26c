/* test_parameters.c - checks numbers and names of the parameters of bodies and joints, and base parameters: the
 * regressor's columns times the parameters must be the torques. */
#include "api/robots/model/parameter_names.h"
#include "dynamics/identification/base_parameters.h"
#include "tests/api/support/draws.h"
#include "tests/api/support/models.h"
#include "tests/api/support/rich_robot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Holds one random state, and the kernels for one lane. */
typedef struct motion {
    const dyn_kernels *kernels;
    dyn_scene          scene;
    void              *workspace;
    double            *q, *qd, *qdd, *Y, *joint, *tau;
} motion;

static motion motion_open(const api_model *m)
{
    motion sample = {.kernels = dyn_kernels_find("scalar"), .scene = {.model = m->dyn, .terms = DYN_FRICTION}};
    memcpy(sample.scene.gravity, m->dyn->gravity, sizeof sample.scene.gravity);
    sample.workspace = numbers(sample.kernels->workspace_size(m->dyn) / sizeof(double) + 1);
    sample.q         = numbers(m->nq);
    sample.qd        = numbers(m->nv);
    sample.qdd       = numbers(m->nv);
    sample.tau       = numbers(m->nv);
    sample.Y         = numbers(m->nv * 10 * m->n_bodies);
    sample.joint     = numbers(m->nv * 3 * m->n_movers);
    return sample;
}

static void motion_draw(const api_model *m, motion *sample, uint64_t *seed)
{
    double norm = 0;
    for (size_t i = 0; i < m->nq; i++)
        sample->q[i] = 2 * draw(seed);
    for (size_t i = 3; m->dyn->floating && i < 7; i++)
        norm += sample->q[i] * sample->q[i];
    for (size_t i = 3; m->dyn->floating && i < 7; i++)
        sample->q[i] /= sqrt(norm);
    for (size_t v = 0; v < m->nv; v++) {
        sample->qd[v]  = 2 * draw(seed);
        sample->qdd[v] = 3 * draw(seed);
    }
    dyn_regressor io = {
        .q = sample->q, .qd = sample->qd, .qdd = sample->qdd, .regressor = sample->Y, .joint_regressor = sample->joint};
    dyn_inverse_dynamics id = {.q = sample->q, .qd = sample->qd, .qdd = sample->qdd, .tau = sample->tau};
    sample->kernels->regressor(&sample->scene, sample->workspace, &io, 1);
    sample->kernels->inverse_dynamics(&sample->scene, sample->workspace, &id, 1);
}

static void motion_close(motion *sample)
{
    free(sample->workspace);
    free(sample->q);
    free(sample->qd);
    free(sample->qdd);
    free(sample->tau);
    free(sample->Y);
    free(sample->joint);
}

static dyn_regressor_lane regressed(const motion *sample)
{
    return (dyn_regressor_lane){
        .regressor = sample->Y, .joint_regressor = sample->joint, .rates = sample->qd, .lanes = 1};
}

/* --- parameters ------------------------------------------------------------------------------------------------- */

static void check_own_parameters(const char *document)
{
    api_model    *m          = model_of(document);
    dyn_mechanism robot      = api_model_mechanism(m);
    motion        sample     = motion_open(m);
    size_t        n          = dyn_parameter_count(m->dyn);
    double       *parameters = numbers(n), *tau = numbers(m->nv);
    uint64_t      seed = 3;
    dyn_parameters_compute(m->dyn, parameters);
    for (int i = 0; i < 20; i++) {
        motion_draw(m, &sample, &seed);
        dyn_regressor_lane r = regressed(&sample);
        for (size_t v = 0; v < m->nv; v++) {
            tau[v] = 0;
            for (size_t k = 0; k < n; k++) {
                double effort = dyn_parameter_effort(m->dyn, &r, k, v);
                if (!dyn_parameter_acts(&robot, k, v)) assert_true(effort == 0);
                tau[v] += effort * parameters[k];
            }
        }
        assert_close(tau, sample.tau, m->nv, 1e-12);
    }
    motion_close(&sample);
    free(parameters);
    free(tau);
    api_model_release(m);
}

/* The regressor times a model's own parameters must be the torques of inverse dynamics, including asymmetric
 * friction. */
static void own_parameters_make_the_torques(void **state)
{
    check_own_parameters(ROBOT("fixed"));
    check_own_parameters(ROBOT("floating"));
}

/* Checks the friction of motors as the joint feels it through the gear; a negative ratio exchanges the two
 * directions. */
static void motors_own_parameters(void **state)
{
    static const char *const ratios[] = {"20", "-20"};
    for (int i = 0; i < 4; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{'links':[{'name':'a','parent':'base','joint':{'name':'ja','type':'revolute','axis':[0,1,1]%s}," BODY
                 "},{'name':'b','parent':'a','joint':{'name':'jb','type':'revolute','axis':[1,0,0]}," BODY "}],"
                 "'motors':[{'joint':'ja','link':'base','axis':[0,0,1],'gear_ratio':%s,'spin_inertia':3e-4,'friction':"
                 "{'viscous':1e-3,'coulomb':{'positive':0.01,'negative':0.03}}}]}",
                 i < 2 ? "" : ",'elastic':{'stiffness':50}", ratios[i % 2]);
        check_own_parameters(text);
    }
}

/* The rotor of a motor on a moving link must act on the joints of that link as well. */
static void motors_on_a_moving_link(void **state)
{
    static const char *const elastic[] = {"", ",'elastic':{'stiffness':50}"};
    for (int i = 0; i < 2; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{'links':[{'name':'a','parent':'base','joint':{'name':'ja','type':'revolute','axis':[0,1,1]}," BODY
                 "},{'name':'b','parent':'a','joint':{'name':'jb','type':'revolute','axis':[1,0,0]%s}," BODY "}],"
                 "'motors':[{'joint':'jb','link':'a','axis':[0,0,1],'gear_ratio':20,'spin_inertia':3e-4}]}",
                 elastic[i]);
        check_own_parameters(text);
        api_model    *m     = model_of(text);
        dyn_mechanism robot = api_model_mechanism(m);
        assert_true(dyn_parameter_acts(&robot, dyn_joint_parameter(m->dyn, m->n_movers - 1, DYN_ROTOR_INERTIA), 0));
        assert_false(dyn_parameter_acts(&robot, dyn_joint_parameter(m->dyn, m->n_movers - 1, DYN_VISCOUS), 0));
        api_model_release(m);
    }
}

static void parameters_have_names(void **state)
{
    static const char *const expected[] = {"base.m", "a.Ixx", "c.Izz", "ja.rotor_inertia", "jc.coulomb_negative"};
    static const size_t      number[]   = {0, 14, 39, 40, 51};
    api_model               *m          = model_of(ROBOT("floating"));
    char                     name[API_PARAMETER_NAME];
    assert_int_equal(dyn_parameter_count(m->dyn), 52);
    for (size_t i = 0; i < 5; i++) {
        api_parameter_name(m, number[i], name);
        assert_string_equal(name, expected[i]);
    }
    assert_int_equal(dyn_joint_parameter(m->dyn, 2, DYN_COULOMB_NEGATIVE), 51);
    api_model_release(m);
}

static void pseudo_inertia_there_and_back(void **state)
{
    double   p[DYN_PER_BODY], J[16], again[DYN_PER_BODY];
    uint64_t seed = 1;
    for (int i = 0; i < DYN_PER_BODY; i++)
        p[i] = draw(&seed);
    dyn_pseudo_inertia(p, J);
    dyn_pseudo_inertia_parameters(J, again);
    assert_close(again, p, DYN_PER_BODY, 1e-15);
    assert_true(J[0] + J[5] == p[9] || fabs(J[0] + J[5] - p[9]) < 1e-15); /* Izz = int x^2 + y^2 dm */
    assert_true(J[1] == -p[5] && J[3] == p[1] && J[15] == p[0]);
}

/* --- base parameters -------------------------------------------------------------------------------------------- */

/* For random parameters, all columns times the parameters must equal the kept columns times the base parameters. */
static void check_base(const char *document, unsigned with)
{
    api_model    *m     = model_of(document);
    dyn_mechanism robot = api_model_mechanism(m);
    bool          too_large;
    motion        sample = motion_open(m);
    dyn_base     *base   = dyn_base_find(&robot, sample.kernels, NULL, with, (dyn_deadline){0}, &too_large);
    size_t        n      = dyn_parameter_count(m->dyn);
    double       *pi = numbers(n), *whole = numbers(m->nv), *grouped = numbers(m->nv);
    uint64_t      seed = 5;
    assert_non_null(base);
    for (size_t k = 0; k < n; k++) {
        bool   joint = k >= 10 * m->n_bodies, rotor = joint && (k - 10 * m->n_bodies) % 4 == DYN_ROTOR_INERTIA;
        double x = draw(&seed);
        pi[k]    = !joint || (with & (rotor ? DYN_BASE_ROTORS : DYN_BASE_FRICTION)) ? x : 0;
    }
    for (int i = 0; i < 20; i++) {
        motion_draw(m, &sample, &seed);
        dyn_regressor_lane r = regressed(&sample);
        for (size_t v = 0; v < m->nv; v++) {
            whole[v] = grouped[v] = 0;
            for (size_t k = 0; k < n; k++)
                whole[v] += dyn_parameter_effort(m->dyn, &r, k, v) * pi[k];
            for (size_t k = 0; k < base->n; k++)
                grouped[v] += dyn_parameter_effort(m->dyn, &r, base->parameter[k], v) * dyn_base_value(base, k, pi);
            for (size_t k = 0; k < base->n_no_effect; k++)
                assert_true(fabs(dyn_parameter_effort(m->dyn, &r, base->no_effect[k], v)) < 1e-12);
        }
        assert_close(grouped, whole, m->nv, 1e-8);
    }
    dyn_base_free(base);
    motion_close(&sample);
    free(pi);
    free(whole);
    free(grouped);
    api_model_release(m);
}

static void base_parameters_make_the_torques(void **state)
{
    for (unsigned with = 0; with < 4; with++) {
        check_base(ROBOT("fixed"), with);
        check_base(ROBOT("floating"), with);
    }
}

/* Joints that share a coordinate must share their rotors and friction; with the ratio -2, the friction of the positive
   and of the negative direction are exchanged: tau_a = -2 tau_c. */
static void joints_on_one_coordinate(void **state)
{
    api_model    *m     = model_of(ROBOT("fixed"));
    dyn_mechanism robot = api_model_mechanism(m);
    bool          too_large;
    dyn_base     *base =
        dyn_base_find(&robot, dyn_kernels_find("scalar"), NULL, DYN_BASE_FRICTION, (dyn_deadline){0}, &too_large);
    size_t found = 0;
    assert_non_null(base);
    for (size_t k = 0; k < base->n; k++) {
        static const double coefficient[] = {0, 4, 2, 2};
        size_t              j             = base->parameter[k] - 10 * m->n_bodies;
        if (base->parameter[k] < 10 * m->n_bodies || j >= 4) continue;
        const dyn_base_term *part  = &base->term[base->first[k]];
        size_t               other = j == DYN_VISCOUS ? j : DYN_COULOMB_POSITIVE + DYN_COULOMB_NEGATIVE - j;
        assert_int_equal(base->first[k + 1] - base->first[k], 1);
        assert_int_equal(part->parameter, dyn_joint_parameter(m->dyn, 2, other));
        assert_true(part->coefficient == coefficient[j]);
        found++;
    }
    assert_int_equal(found, 3);
    dyn_base_free(base);
    api_model_release(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_parameters_make_the_torques), cmocka_unit_test(motors_own_parameters),
        cmocka_unit_test(motors_on_a_moving_link),         cmocka_unit_test(parameters_have_names),
        cmocka_unit_test(pseudo_inertia_there_and_back),   cmocka_unit_test(base_parameters_make_the_torques),
        cmocka_unit_test(joints_on_one_coordinate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
