/* test_models_published.c - evaluates the bundled robots from their files and compares with published numbers. */
#include "tests/api/support/models.h"
#include <math.h>
#include <string.h>

#define HALF_PI 1.5707963267948966

/* Asserts that numbers printed with `digits` significant digits are matched to half a unit of the last digit. */
static void assert_printed(const double *actual, const double *printed, size_t n, int digits)
{
    for (size_t i = 0; i < n; i++) {
        double unit = printed[i] == 0 ? 2e-13 : pow(10, floor(log10(fabs(printed[i]))) + 1 - digits);
        if (fabs(actual[i] - printed[i]) <= 0.501 * unit) continue;
        print_error("entry %zu: %.17g, published %.12g\n", i, actual[i], printed[i]);
        fail();
    }
}

/* Compares with P. Corke's table for the PUMA 560: tau(q, qd, qdd), with 1 for a vector of ones. */
static void puma560_torques(void **state)
{
    static const double qn[6] = {0, HALF_PI / 2, 2 * HALF_PI, 0, HALF_PI / 2, 0}, qz[6] = {0};
    static const double qr[6] = {0, HALF_PI, -HALF_PI, 0, 0, 0}, one[6] = {1, 1, 1, 1, 1, 1};
    static const struct {
        const double *q, *qd, *qdd;
        double        tau[6];
    } cases[] = {
        {qz, qz, qz, {0, 37.48366665, .24892875, 0, 0, 0}},
        {qr, qz, qz, {0, -.77523525, .24892875, 0, 0, 0}},
        {qn, qz, qz, {0, 31.63988038, 6.035138023, 0, .0282528, 0}},
        {qn, qz, one, {3.353110858, 36.00251124, 7.425964077, .1900430346, .2034409311, .1941327899}},
        {qn, one, one, {32.49524275, 60.86698848, 17.74359491, 1.454519026, 1.299110411, .7137808875}},
        {qn, one, qz, {29.1421319, 56.50435761, 16.35276886, 1.264475992, 1.123922279, .5196480975}},
    };
    api_model *model = bundled_model("puma560");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double tau[6];
        inverse_dynamics(model, cases[i].q, cases[i].qd, cases[i].qdd, tau);
        assert_printed(tau, cases[i].tau, 6, 10);
    }
    double M[36], diagonal[6];
    mass_matrix(model, qn, M);
    for (int i = 0; i < 6; i++)
        diagonal[i] = M[7 * i];
    assert_printed(diagonal, (double[]){3.659375412, 4.413741934, .9378415752, .1925317061, .1713484517, .1941045057},
                   6, 10);
    assert_reported(model, "suspicious", "/links/0/inertial"); /* a moment without a mass */
    assert_reported(model, "suspicious", "/links/2/inertial"); /* .066 + .0125 < .086 */
    api_model_release(model);
}

/* Compares with the example of the Modern Robotics library without its tip wrench, whose part J^T F is subtracted. */
static void three_link_screws(void **state)
{
    static const double q[3] = {.1, .1, .1}, qd[3] = {.1, .2, .3}, qdd[3] = {2, 1.5, 1};
    static const double with_wrench[3] = {74.6961615529, -33.0676601585, -3.2305731379};
    static const double of_wrench[3]   = {1.40954607826, 1.85771497232, 1.392409};
    static const double M[9]  = {22.5433380355, -.307146754225,   -.00718426390944, -.307146754225, 1.96850716626,
                                 .432157368293, -.00718426390944, .432157368293,    .191630857514};
    api_model          *model = bundled_model("three_link");
    double              tau[3], actual[9], expected[3];
    for (int i = 0; i < 3; i++)
        expected[i] = with_wrench[i] - of_wrench[i];
    inverse_dynamics(model, q, qd, qdd, tau);
    assert_close(tau, expected, 3, 1e-12); /* each of the two numbers is printed to 5e-11, of magnitudes up to 73 */
    mass_matrix(model, q, actual);
    assert_printed(actual, M, 9, 12);
    inverse_dynamics(model, q, NULL, NULL, tau);
    assert_printed(tau, (double[]){28.4033126182, -37.6409481718, -5.44158919997}, 3, 12);

    assert_string_equal(model->frames[4].name, "tip");
    assert_string_equal(model->joints[0].name, "joint1");
    assert_string_equal(model->body_names[2], "link3");
    api_model_release(model);
}

/* Compares with table 4.3, read literally: M = [[m1 + m2, -m2 l sin q2], [., I + m2 l^2]] with l = L2/2. */
static void prismatic_revolute_mass_matrix(void **state)
{
    api_model *model = bundled_model("prismatic_revolute");
    for (double angle = -3; angle < 3; angle += .37) {
        double q[2] = {.1, angle}, M[4], tau[2];
        mass_matrix(model, q, M);
        assert_close(M, (double[]){1, -.1 * sin(angle), -.1 * sin(angle), .12}, 4, 1e-15);
        inverse_dynamics(model, q, NULL, NULL, tau);
        assert_true(tau[0] == 0 && tau[1] == 0); /* no gravity */
    }
    api_model_release(model);
}

/* Derives M of two equal links from their kinetic energy: m = 0.5, L = 0.4, I = 0.1, centres of mass at half length. */
static void two_link_mass_matrix(void **state)
{
    api_model *model = bundled_model("two_link");
    for (double angle = -3; angle < 3; angle += .37) {
        double q[2] = {.3, angle}, M[4], tau[2], c = .5 * .4 * .2 * cos(angle);
        double M22 = .1 + .5 * .04, M11 = .1 + .5 * .04 + .5 * .16 + M22;
        mass_matrix(model, q, M);
        assert_close(M, (double[]){M11 + 2 * c, M22 + c, M22 + c, M22}, 4, 2e-15);
        inverse_dynamics(model, q, NULL, NULL, tau);
        assert_true(fabs(tau[0]) < 1e-15 && fabs(tau[1]) < 1e-15); /* the arm moves in a horizontal plane */
    }
    api_model_release(model);
}

/* Compares the Stanford arm at rest with its statics: the force along the slide and the moments follow from weights and
 * lever arms alone. With q2 = 0 the boom is vertical; with q2 = 90 deg it is horizontal and slides without load. */
static void stanford_statics(void **state)
{
    static const double weight_of_boom = 9.81 * (4.25 + 1.08 + .63 + .51);
    api_model          *model          = bundled_model("stanford");
    double              tau[6];
    inverse_dynamics(model, (double[]){.4, 0, .5, .1, 0, 0}, NULL, NULL, tau);
    assert_close(&tau[2], &weight_of_boom, 1, 1e-14);
    assert_true(fabs(tau[0]) < 1e-13);
    inverse_dynamics(model, (double[]){.4, HALF_PI, .5, .1, 0, 0}, NULL, NULL, tau);
    assert_true(fabs(tau[2]) < 1e-13);
    /* Levers along the boom from joint 2's axis, on which link 2's centre of mass lies; y of frame 5 points back. */
    double d3     = .5,
           moment = 9.81 * (4.25 * (d3 - .6447) + 1.08 * (d3 - .0092) + .63 * (d3 + .0566) + .51 * (d3 + .263 + .1554));
    double size   = fabs(tau[1]);
    assert_close(&size, &moment, 1, 1e-13);
    api_model_release(model);
}

static void every_model_is_sound(void **state)
{
    static const struct {
        const char *name;
        size_t      nv, suspicious;
        double      mass;
    } robots[] = {
        {"two_link", 2, 0, 1},      {"prismatic_revolute", 2, 0, 1}, {"stanford", 6, 0, 20.77},
        {"puma560", 6, 2, 23.45},   {"three_link", 3, 0, 14.368},    {"ur5", 6, 0, 17.0489},
        {"panda", 7, 0, 16.062132}, {"tx40", 6, 0, 22.37},
    };
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++) {
        api_model *model = bundled_model(robots[i].name);
        assert_int_equal(model->nv, robots[i].nv);
        assert_close(&model->dyn->mass, &robots[i].mass, 1, 1e-14);
        assert_int_equal(count_reports(model, "suspicious"), robots[i].suspicious);
        assert_int_equal(count_reports(model, "replaced"), 0); /* names are those of the files */
        assert_non_null(strstr(model->document, "\"source\":"));
        api_model_release(model);
    }
}

/* Compares the poses of the hands of public arms at q = 0 with sums of their published lengths. */
static void hands_at_home(void **state)
{
    static const double ur5[3]   = {-.425 - .39225, -.10915 - .0823, .089159 - .09465};
    static const double panda[3] = {.0825 - .0825 + .088, 0, .333 + .316 + .384 - .107};
    static const double zero[7]  = {0};
    double              position[3], orientation[4];
    api_model          *model = bundled_model("ur5");
    frame_pose(model, "tool0", zero, position, orientation);
    assert_close(position, ur5, 3, 1e-15);
    api_model_release(model);
    model = bundled_model("panda");
    frame_pose(model, "panda_flange", zero, position, orientation);
    assert_close(position, panda, 3, 1e-15);
    assert_close(orientation, (double[]){1, 0, 0, 0}, 4, 1e-15); /* z axis down */
    api_model_release(model);
}

/* The maker's hand and fingers are fixed to the arm; inverse dynamics and mass matrices of random states are compared
 * with the reference values of tests/data. */
static const char hand[] =
    "[{'name':'hand','parent':'panda_link7','joint':{'name':'h','type':'fixed','origin':{'xyz':[0,0,0.107],"
    "'rpy':[0,0,-0.7853981633974483]}},'inertial':{'mass':0.73,'com':[-0.01,0,0.03],'inertia':{'xx':0.001,'yy':0.0025,"
    "'zz':0.0017}}},"
    "{'name':'left','parent':'hand','joint':{'name':'l','type':'fixed','origin':{'xyz':[0,0,0.0584]}},'inertial':{"
    "'mass':0.015,'inertia':{'xx':2.3749999999999997e-6,'yy':2.3749999999999997e-6,'zz':7.5e-7}}},"
    "{'name':'right','parent':'hand','joint':{'name':'r','type':'fixed','origin':{'xyz':[0,0,0.0584]}},'inertial':{"
    "'mass':0.015,'inertia':{'xx':2.3749999999999997e-6,'yy':2.3749999999999997e-6,'zz':7.5e-7}}}]";

static void read_reals(const json_t *from, double *v, size_t n)
{
    assert_int_equal(json_array_size(from), n);
    for (size_t i = 0; i < n; i++)
        v[i] = json_number_value(json_array_get(from, i));
}

static void panda_against_reference_values(void **state)
{
    json_t *tables = json_load_file("tests/data/references/panda_arm.json", 0, NULL);
    assert_non_null(tables);
    json_t *document = json_load_file("models/panda.json", JSON_DECODE_INT_AS_REAL, NULL), *links = json_of(hand);
    assert_non_null(document);
    assert_int_equal(json_array_extend(json_object_get(document, "links"), links), 0);
    api_model *model = model_of_json(document);
    size_t     i;
    json_t    *entry;
    json_array_foreach (json_object_get(tables, "states"), i, entry) {
        double        q[7], v[7], a[7], expected[49], actual[49];
        const json_t *given_state = json_object_get(entry, "given");
        read_reals(json_object_get(given_state, "q"), q, 7);
        read_reals(json_object_get(given_state, "qd"), v, 7);
        read_reals(json_object_get(given_state, "qdd"), a, 7);
        read_reals(json_object_get(json_object_get(entry, "inverse-dynamics"), "tau"), expected, 7);
        inverse_dynamics(model, q, v, a, actual);
        assert_close(actual, expected, 7, 1e-13);
        for (size_t row = 0; row < 7; row++)
            read_reals(json_array_get(json_object_get(json_object_get(entry, "mass-matrix"), "mass_matrix"), row),
                       expected + 7 * row, 7);
        mass_matrix(model, q, actual);
        assert_close(actual, expected, 49, 1e-13);
    }
    assert_true(i > 1);
    api_model_release(model);
    json_decref(links);
    json_decref(document);
    json_decref(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puma560_torques),
        cmocka_unit_test(three_link_screws),
        cmocka_unit_test(prismatic_revolute_mass_matrix),
        cmocka_unit_test(two_link_mass_matrix),
        cmocka_unit_test(stanford_statics),
        cmocka_unit_test(every_model_is_sound),
        cmocka_unit_test(hands_at_home),
        cmocka_unit_test(panda_against_reference_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
