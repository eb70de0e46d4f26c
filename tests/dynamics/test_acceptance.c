/* test_acceptance.c - compares kernels and reference with printed results of two published robots (published.h), to
 * every printed digit. The values here have more digits than the books print: they were recomputed independently. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/published.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Compares with a tolerance of half a unit in the last of `digits` significant digits, plus a hundredth for rounding in
 * the kernels. Where the expected entry is zero, the digits are those of the largest entry. */
static void check_printed(const char *what, int digits, size_t n, const double *got, const double *printed)
{
    double most = largest(n, printed);
    for (size_t i = 0; i < n; i++) {
        double size    = printed[i] == 0 ? most * 1e-3 : fabs(printed[i]);
        double allowed = 0.51 * pow(10, floor(log10(size)) + 1 - digits);
        if (!(fabs(got[i] - printed[i]) <= allowed))
            fail_msg("%s: entry %zu is %.15g, printed %.*g", what, i, got[i], digits, printed[i]);
    }
}

/* Makes a trial of a published robot in one state, with a wrench on its tip in the axes of the tip. */
static trial published_trial(const published *robot, const double *q, const double *qd, const double *qdd,
                             const double *tip_wrench)
{
    size_t      n    = robot->description.n_links;
    random_tree tree = {.description = robot->description, .links = calloc(n, sizeof *tree.links)};
    assert_non_null(tree.links);
    memcpy(tree.links, robot->link, n * sizeof *tree.links);
    tree.description.links = tree.links;
    trial t                = trial_of(0, tree, 1, 1);
    memcpy(t.q, q, n * sizeof *q);
    memcpy(t.qd, qd, n * sizeof *qd);
    memcpy(t.qdd, qdd, n * sizeof *qdd);
    const dyn_link_place *last = &t.model->link[n - 1]; /* the axes of the tip are those of the last link */
    t.site[0]                  = (dyn_wrench_site){.body = last->body, .X_bl = last->X_bl};
    t.wrench_link[0]           = (int)n - 1;
    memcpy(t.wrenches, tip_wrench, 6 * sizeof *tip_wrench);
    memcpy(t.wrenches + 6, robot->tip.p, sizeof robot->tip.p);
    return t;
}

static void torque_of_kernels(const dyn_kernels *k, const trial *t, double *tau, double *joint_wrenches)
{
    rows_inverse_dynamics(k, &t->scene, 1,
                          (dyn_inverse_dynamics){.q              = t->q,
                                                 .qd             = t->qd,
                                                 .qdd            = t->qdd,
                                                 .wrenches       = t->wrenches,
                                                 .tau            = tau,
                                                 .joint_wrenches = joint_wrenches});
}

static void torque_of_reference(const trial *t, double *tau, double *joint_wrenches)
{
    reference_wrench w[1];
    reference_scene  scene = trial_reference_scene(t, 0, w);
    reference       *r     = trial_reference(t, 0);
    reference_inverse_dynamics(r, &scene, tau, joint_wrenches);
    reference_free(r);
}

/* --- three_link -------------------------------------------------------------------------------------------- */

static const double three_q[3] = {.1, .1, .1}, three_qd[3] = {.1, .2, .3}, three_qdd[3] = {2, 1.5, 1};
/* In the book (1, 1, 1, 1, 1, 1) is the wrench of the robot on the environment; torqued's wrenches act on the robot. */
static const double three_tip[6] = {-1, -1, -1, -1, -1, -1}, no_tip[6] = {0};

static trial three_link(const double *tip_wrench)
{
    published robot;
    published_three_link(&robot);
    return published_trial(&robot, three_q, three_qd, three_qdd, tip_wrench);
}

static void test_three_link_torques(void **state)
{
    const double tau[3] = {74.6961615529, -33.0676601585, -3.2305731379};
    /* [force; moment] on link 1; in the book (m, f) = (14.0056073068, -33.0672681678, ...) */
    const double wrench[6] = {-2.09119832965, 49.9516675028, 135.1494801, 14.0056073068, -33.0672681678, 15.1925274662};
    trial        t         = three_link(three_tip);
    double       got[3], got_wrenches[18];
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        torque_of_kernels(k, &t, got, got_wrenches);
        check_printed("tau", 12, 3, got, tau);
        check_printed("wrench at joint 1", 12, 6, got_wrenches, wrench);
    }
    torque_of_reference(&t, got, got_wrenches);
    check_printed("reference", 12, 3, got, tau);
    check_printed("reference's wrench at joint 1", 12, 6, got_wrenches, wrench);
    trial_free(&t);
}

static void test_three_link_mass_matrix_and_bias(void **state)
{
    const double       M[9]        = {22.5433380355, -.307146754225,   -.00718426390944, -.307146754225, 1.96850716626,
                                      .432157368293, -.00718426390944, .432157368293,    .191630857514};
    const double       coriolis[3] = {.264531180545, -.0550515682892, -.00689132006825};
    const double       gravity[3]  = {28.4033126182, -37.6409481718, -5.44158919997};
    trial              t           = three_link(no_tip);
    double             got[9], parts[6];
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        rows_mass_matrix(k, &t.scene, 1, (dyn_mass_matrix){.q = t.q, .mass_matrix = got});
        rows_bias(k, &t.scene, 1, (dyn_bias){.q = t.q, .qd = t.qd, .coriolis = parts, .gravity = parts + 3});
        check_printed("M", 12, 9, got, M);
        check_printed("C qd", 12, 3, parts, coriolis);
        check_printed("gravity", 12, 3, parts + 3, gravity);
    }
    trial_free(&t);
}

/* Compares J^T F of a unit wrench, in the axes of the tip, with the torques in the book. */
static void test_three_link_tip_force(void **state)
{
    const double torque[3] = {1.40954607826, 1.85771497232, 1.392409};
    trial        t         = three_link(no_tip);
    published    robot;
    double       J[18], got[3] = {0};
    published_three_link(&robot);
    dyn_frame tip = {t.site[0].body, t.site[0].X_bl};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            tip.X_bf.p[i] += t.site[0].X_bl.R[i][j] * robot.tip.p[j];
    rows_kinematics(test_kernels(), &t.scene, 1,
                    (dyn_kinematics){.q = t.q, .frame = &tip, .frame_axes = true, .jacobian = J});
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 6; i++)
            got[j] += J[3 * i + j];
    check_printed("J^T F", 12, 3, got, torque);
    trial_free(&t);
}

static void test_three_link_accelerations(void **state)
{
    const double       qdd[3] = {-.973929067086, 25.5846678403, -32.9149921248}, tau[3] = {.5, .6, .7};
    trial              t = three_link(three_tip);
    double             got[3], pivot;
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        rows_forward_dynamics(
            k, &t.scene, 1,
            (dyn_forward_dynamics){
                .q = t.q, .qd = t.qd, .tau = tau, .wrenches = t.wrenches, .qdd = got, .singular = &pivot});
        check_printed("qdd", 12, 3, got, qdd);
    }
    trial_free(&t);
}

static void test_three_link_derivatives(void **state)
{
    const double       dtau_dq[9]  = {166.412510174, 22.4182803674, 1.85647789174, 3.33605595641, 4.92877092668,
                                      1.33573280349, .434497429922, 1.10171037691, 1.077055878};
    const double       dtau_dqd[9] = {2.47167007418,  1.15772905472,   .167831809093,
                                      -1.00032106275, -.0143871861482, -.0239786435804,
                                      -.157009316229, .00959145743215, 0};
    const double       tau_dot[3] = {39.9219884382, -1.1374509594, .168311313445}, jerk[3] = {.5, -.4, .3};
    trial              t = three_link(three_tip);
    double             by_q[9], by_qd[9], by_qdd[9], rate[3];
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        rows_sensitivity(k, &t.scene, 1,
                         (dyn_sensitivity){.q         = t.q,
                                           .qd        = t.qd,
                                           .qdd       = t.qdd,
                                           .wrenches  = t.wrenches,
                                           .dtau_dq   = by_q,
                                           .dtau_dqd  = by_qd,
                                           .dtau_dqdd = by_qdd});
        rows_torque_derivative(
            k, &t.scene, 1,
            (dyn_torque_derivative){
                .q = t.q, .qd = t.qd, .qdd = t.qdd, .qddd = jerk, .wrenches = t.wrenches, .tau_dot = rate});
        check_printed("dtau/dq", 12, 9, by_q, dtau_dq);
        check_printed("dtau/dqd", 12, 9, by_qd, dtau_dqd);
        check_printed("tau_dot", 12, 3, rate, tau_dot);
    }
    trial_free(&t);
}

/* --- puma560 ----------------------------------------------------------------------------------------------- */

static const double zeros[6] = {0}, ones[6] = {1, 1, 1, 1, 1, 1};
static const double qn[6] = {0, M_PI_4, M_PI, 0, M_PI_4, 0}, qr[6] = {0, M_PI_2, -M_PI_2, 0, 0, 0};

static void test_puma_torques(void **state)
{
    static const struct {
        const double *q, *qd, *qdd;
        double        tau[6];
    } cases[] = {
        {zeros, zeros, zeros, {0, 37.48366665, .24892875, 0, 0, 0}},
        {qr, zeros, zeros, {0, -.77523525, .24892875, 0, 0, 0}},
        {qn, zeros, zeros, {0, 31.63988038, 6.035138023, 0, .0282528, 0}},
        {qn, zeros, ones, {3.353110858, 36.00251124, 7.425964077, .1900430346, .2034409311, .1941327899}},
        {qn, ones, ones, {32.49524275, 60.86698848, 17.74359491, 1.454519026, 1.299110411, .7137808875}},
        {qn, ones, zeros, {29.1421319, 56.50435761, 16.35276886, 1.264475992, 1.123922279, .5196480975}},
    };
    published robot;
    published_puma560(&robot);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        trial              t = published_trial(&robot, cases[c].q, cases[c].qd, cases[c].qdd, no_tip);
        double             tau[6];
        const dyn_kernels *k;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            torque_of_kernels(k, &t, tau, NULL);
            check_printed(k->target, 10, 6, tau, cases[c].tau);
        }
        torque_of_reference(&t, tau, NULL);
        check_printed("reference", 10, 6, tau, cases[c].tau);
        trial_free(&t);
    }
}

static void test_puma_mass_matrix(void **state)
{
    const double diagonal[6] = {3.659375412, 4.413741934, .9378415752, .1925317061, .1713484517, .1941045057};
    published    robot;
    double       M[36], got[6];
    published_puma560(&robot);
    trial              t = published_trial(&robot, qn, zeros, zeros, no_tip);
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        rows_mass_matrix(k, &t.scene, 1, (dyn_mass_matrix){.q = t.q, .mass_matrix = M});
        for (int j = 0; j < 6; j++)
            got[j] = M[7 * j];
        check_printed("diagonal of M", 10, 6, got, diagonal);
    }
    trial_free(&t);
}

static void test_puma_torque_rate(void **state)
{
    const double tau_dot[6] = {-.2791756974, 2.505165072, 16.59369151, .5092464377, .5223768729, .3133993539};
    const double jerk[6]    = {.5, .5, .5, .5, .5, .5};
    published    robot;
    double       got[6];
    published_puma560(&robot);
    trial              t = published_trial(&robot, qn, ones, ones, no_tip);
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        rows_torque_derivative(
            k, &t.scene, 1, (dyn_torque_derivative){.q = t.q, .qd = t.qd, .qdd = t.qdd, .qddd = jerk, .tau_dot = got});
        check_printed("tau_dot", 10, 6, got, tau_dot);
    }
    trial_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_link_torques),     cmocka_unit_test(test_three_link_mass_matrix_and_bias),
        cmocka_unit_test(test_three_link_tip_force),   cmocka_unit_test(test_three_link_accelerations),
        cmocka_unit_test(test_three_link_derivatives), cmocka_unit_test(test_puma_torques),
        cmocka_unit_test(test_puma_mass_matrix),       cmocka_unit_test(test_puma_torque_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
