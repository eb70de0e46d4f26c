/* test_document_forms.c - compares every form of geometry and inertia in a document with 4x4 matrix products, matrix
 * exponentials and integrals over volumes computed here. */
#include "dynamics/math/geometry.h"
#include "api/robots/document/inertia.h"
#include "tests/api/support/models.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- 4x4 matrices ---------------------------------------------------------------------------------------------- */

typedef struct matrix {
    double a[4][4];
} matrix;

static matrix unit(void)
{
    return (matrix){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
}

static matrix times(matrix A, matrix B)
{
    matrix C = {{{0}}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                C.a[i][j] += A.a[i][k] * B.a[k][j];
    return C;
}

static matrix product(size_t n, const matrix *factors)
{
    matrix P = unit();
    for (size_t i = 0; i < n; i++)
        P = times(P, factors[i]);
    return P;
}
#define PRODUCT(...) product(sizeof((matrix[]){__VA_ARGS__}) / sizeof(matrix), (matrix[]){__VA_ARGS__})

/* Returns the rotation by `angle` about x, y or z (axis 0, 1, 2). */
static matrix turn(int axis, double angle)
{
    matrix T = unit();
    int    i = (axis + 1) % 3, j = (axis + 2) % 3;
    T.a[i][i] = T.a[j][j] = cos(angle);
    T.a[j][i]             = sin(angle);
    T.a[i][j]             = -sin(angle);
    return T;
}

static matrix shift(double x, double y, double z)
{
    return (matrix){{{1, 0, 0, x}, {0, 1, 0, y}, {0, 0, 1, z}, {0, 0, 0, 1}}};
}

/* Computes exp([w; v] q) of a twist by the power series. */
static matrix exponential(const double S[6], double q)
{
    matrix X = {
        {{0, -S[2] * q, S[1] * q, S[3] * q}, {S[2] * q, 0, -S[0] * q, S[4] * q}, {-S[1] * q, S[0] * q, 0, S[5] * q}}};
    matrix sum = unit(), term = unit();
    for (int k = 1; k < 40; k++) {
        term = times(term, X);
        for (int i = 0; i < 16; i++) {
            term.a[i / 4][i % 4] /= k;
            sum.a[i / 4][i % 4] += term.a[i / 4][i % 4];
        }
    }
    return sum;
}

/* Asserts that a frame has the pose T: position, and the rotation of its quaternion. */
static void assert_pose(const api_model *model, const char *frame, const double *q, matrix T)
{
    double p[3], o[4], actual[12], expected[12];
    frame_pose(model, frame, q, p, o);
    double       x = o[0], y = o[1], z = o[2], w = o[3];
    const double R[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                            {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                            {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            actual[4 * i + j]   = R[i][j];
            expected[4 * i + j] = T.a[i][j];
        }
        actual[4 * i + 3]   = p[i];
        expected[4 * i + 3] = T.a[i][3];
    }
    assert_close(actual, expected, 12, 2e-14);
}

/* --- geometry -------------------------------------------------------------------------------------------------- */

#define JOINT(type, origin, axis)                                                                                      \
    "{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'" type "','origin':" origin axis "},"           \
    "'inertial':{'mass':1,'inertia':{'xx':0.01,'yy':0.01,'zz':0.01}}}]}"

static void xyz_and_rpy(void **state)
{
    api_model *model = model_of(JOINT("revolute", "{'xyz':[0.1,0.2,-0.3],'rpy':[0.4,-1.1,2.2]}", ",'axis':[1,2,2]"));
    double     q = .7, S[6] = {1 / 3., 2 / 3., 2 / 3.};
    assert_pose(model, "a", &q,
                PRODUCT(shift(.1, .2, -.3), turn(2, 2.2), turn(1, -1.1), turn(0, .4), exponential(S, q)));
    api_model_release(model);

    model = model_of(JOINT("prismatic", "{'rpy':[0.4,-1.1,2.2]}", ",'axis':[0,-3,4]"));
    assert_pose(model, "a", &q, PRODUCT(turn(2, 2.2), turn(1, -1.1), turn(0, .4), shift(0, -.6 * q, .8 * q)));
    api_model_release(model);
}

static void matrix_form(void **state)
{
    api_model *model = model_of(
        JOINT("continuous", "{'matrix':[[0,0,1,0.28],[0,1,0,0.13585],[-1,0,0,0],[0,0,0,1]]}", ",'axis':[0,0,-2]"));
    double q = .7;
    assert_pose(model, "a", &q, PRODUCT(shift(.28, .13585, 0), turn(1, asin(1)), turn(2, -q)));
    assert_int_equal(json_array_size(model->report), 1); /* the report says only that gravity is assumed */
    api_model_release(model);
}

/* An angle that is a right angle to the last digit of a double must become an exact one; 1.5708 must stay an angle of
 * its own. */
static void only_exact_right_angles_are_special(void **state)
{
    static const struct {
        const char *origin;
        dyn_turn    turn;
    } cases[] = {
        {"{'modified_dh':{'alpha':1.5707963267948966}}", DYN_TURN_X_PLUS},
        {"{'modified_dh':{'alpha':-1.5707963267948966}}", DYN_TURN_X_MINUS},
        {"{'modified_dh':{'alpha':1.5708}}", DYN_TURN_X},
        {"{'modified_dh':{'alpha':1.570796326794}}", DYN_TURN_X},
        {"{'modified_dh':{'alpha':0}}", DYN_TURN_NONE},
        {"{'modified_dh':{'alpha':1e-12}}", DYN_TURN_X},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, JOINT("revolute", "%s", ""), cases[i].origin);
        api_model *model = model_of(text);
        assert_int_equal(model->dyn->body[0].pose.turn, cases[i].turn);
        api_model_release(model);
    }
}

/* A rotation matrix printed with seven digits is accurate to about 1e-7: the nearest rotation must be used, and
 * reported. */
static void rounded_matrices_become_rotations(void **state)
{
    api_model *model = model_of(
        JOINT("revolute", "{'matrix':[[0.8253356,-0.5646425,0,0],[0.5646425,0.8253356,0,0],[0,0,1,0],[0,0,0,1]]}",
              ",'axis':[0,0,1]"));
    double q = .25;
    assert_pose(model, "a", &q, turn(2, atan2(.5646425, .8253356) + q));
    assert_reported(model, "orthonormalised", "/links/0/joint/origin/matrix");
    api_model_release(model);

    /* Orientations in answers are quaternions, which would hide a scale of the matrix; the position of a distant point
       on a fixed link shows a scale. */
    model =
        model_of("{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'prismatic','axis':[0,0,1]}},"
                 "{'name':'b','parent':'a','joint':{'name':'k','type':'fixed','origin':{'matrix':[[1.0000004,0,0,0],"
                 "[0,1.0000004,0,0],[0,0,1.0000004,0],[0,0,0,1]]}}},"
                 "{'name':'c','parent':'b','joint':{'name':'l','type':'fixed','origin':{'xyz':[5,6,7]}}}]}");
    assert_pose(model, "c", &q, shift(5, 6, 7 + q));
    api_model_release(model);
}

static void standard_dh(void **state)
{
    static const char origin[] = "{'dh':{'theta':0.3,'d':0.4,'a':0.5,'alpha':-0.6}}";
    double            q        = 1.1;
    char              text[512];
    snprintf(text, sizeof text, JOINT("revolute", "%s", ""), origin);
    api_model *model = model_of(text);
    assert_pose(model, "a", &q, PRODUCT(turn(2, .3 + q), shift(0, 0, .4), shift(.5, 0, 0), turn(0, -.6)));
    assert_true(model->dyn->body[0].joint.moment_at_parent_frame);
    api_model_release(model);
    snprintf(text, sizeof text, JOINT("prismatic", "%s", ""), origin);
    model = model_of(text);
    assert_pose(model, "a", &q, PRODUCT(turn(2, .3), shift(0, 0, .4 + q), shift(.5, 0, 0), turn(0, -.6)));
    api_model_release(model);
}

static void modified_dh(void **state)
{
    static const char origin[] = "{'modified_dh':{'gamma':0.2,'b':0.3,'alpha':-0.6,'d':0.5,'theta':0.7,'r':-0.8}}";
    double            q        = 1.1;
    char              text[512];
    snprintf(text, sizeof text, JOINT("revolute", "%s", ""), origin);
    api_model *model = model_of(text);
    matrix     T     = PRODUCT(turn(2, .2), shift(0, 0, .3), turn(0, -.6), shift(.5, 0, 0));
    assert_pose(model, "a", &q, PRODUCT(T, turn(2, .7 + q), shift(0, 0, -.8)));
    assert_false(model->dyn->body[0].joint.moment_at_parent_frame);
    api_model_release(model);
    snprintf(text, sizeof text, JOINT("prismatic", "%s", ""), origin);
    model = model_of(text);
    assert_pose(model, "a", &q, PRODUCT(T, turn(2, .7), shift(0, 0, -.8 + q)));
    api_model_release(model);
}

/* The spring and the friction of a DH joint must act on q, not on theta + q. */
static void spring_and_friction_act_on_q(void **state)
{
    api_model *model = model_of("{'gravity':[0,0,0],'links':[{'name':'a','parent':'base','joint':{'name':'j',"
                                "'type':'revolute','origin':{'dh':{'theta':1,'d':1}},'rotor_inertia':3,"
                                "'friction':{'viscous':0.5,'coulomb':{'positive':7,'negative':11}},"
                                "'spring':{'stiffness':10,'damping':2,'rest':0.25}},'inertial':{'mass':1}}]}");
    double     q = .75, qd = -2, qdd = 4, tau, expected = 3 * 4 + .5 * -2 - 11 + 10 * (.75 - .25) + 2 * -2;
    inverse_dynamics(model, &q, &qd, &qdd, &tau);
    assert_close(&tau, &expected, 1, 1e-15);
    api_model_release(model);
}

/* Checks the point about which the moment of a joint wrench is taken, the origin of the joint frame: by the DH
 * parameters the link frame lies .5 m from the joint's origin, and the mass of 1 kg at (.2, 0, 0) in the link frame.
 * Gravity is along -y of all frames; z is the axis. */
static void origin_of_the_joint_wrench(void **state)
{
#define WEIGHED(origin, axis)                                                                                          \
    "{'gravity':[0,-10,0],'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'revolute','origin':" origin \
                             axis "},'inertial':{'mass':1,'com':[0.2,0,0]}}]}"
    static const char *const documents[] = {WEIGHED("{'dh':{'a':0.5}}", ""), WEIGHED("{'modified_dh':{'d':0.5}}", ""),
                                            WEIGHED("{'xyz':[0.5,0,0]}", ",'axis':[0,0,1]")};
    static const double      levers[]    = {.7, .2, .2};
    for (int i = 0; i < 3; i++) {
        api_model *model = model_of(documents[i]);
        double     q     = 0, wrench[6];
        joint_wrenches(model, &q, NULL, NULL, wrench);
        assert_close(wrench, (double[]){0, 10, 0, 0, 0, 10 * levers[i]}, 6, 1e-15);
        api_model_release(model);
    }
}

static void screws(void **state)
{
    static const double S1[6] = {1, 0, 1, 0, 1, 0}, S2[6] = {0, 0, 0, .6, 0, 1.8}, S3[6] = {0, -2, 0, .3, 0, .425};
    static const char   text[] =
        "{'screws':{'S':[[1,0,1,0,1,0],[0,0,0,0.6,0,1.8],[0,-2,0,0.3,0,0.425]],"
        "'M':[[[1,0,0,0.1],[0,1,0,0.2],[0,0,1,0.3],[0,0,0,1]],[[0,0,1,0.28],[0,1,0,0.13],[-1,0,0,0],[0,0,0,1]],"
        "[[1,0,0,0],[0,0,-1,0.2],[0,1,0,0.4],[0,0,0,1]],[[1,0,0,0],[0,1,0,0],[0,0,1,0.5],[0,0,0,1]]],"
        "'G':[[[2,0,0,0,0,0],[0,2,0,0,0,0],[0,0,2,0,0,0],[0,0,0,3,0,0],[0,0,0,0,3,0],[0,0,0,0,0,3]],"
        "[[2,0,0,0,0,0],[0,2,0,0,0,0],[0,0,2,0,0,0],[0,0,0,3,0,0],[0,0,0,0,3,0],[0,0,0,0,0,3]],"
        "[[2,0,0,0,0,0],[0,2,0,0,0,0],[0,0,2,0,0,0],[0,0,0,3,0,0],[0,0,0,0,3,0],[0,0,0,0,0,3]]]},"
        "'frames':[{'name':'camera','link':'link2'}]}";
    double     q[3] = {.4, -.7, 1.3};
    matrix     M1 = shift(.1, .2, .3), M2 = PRODUCT(shift(.28, .13, 0), turn(1, asin(1)));
    matrix     M3 = PRODUCT(shift(0, .2, .4), turn(0, asin(1)));
    matrix     E1 = exponential(S1, q[0]), E2 = exponential(S2, q[1]), E3 = exponential(S3, q[2]);
    api_model *model = model_of(text);
    assert_pose(model, "link1", q, PRODUCT(E1, M1));
    assert_pose(model, "link2", q, PRODUCT(E1, E2, M1, M2));
    assert_pose(model, "camera", q, PRODUCT(E1, E2, M1, M2));
    assert_pose(model, "link3", q, PRODUCT(E1, E2, E3, M1, M2, M3));
    assert_pose(model, "tip", q, PRODUCT(E1, E2, E3, M1, M2, M3, shift(0, 0, .5)));
    assert_string_equal(model->joints[1].type, "prismatic");
    assert_string_equal(model->frames[model->n_frames - 1].name, "tip");
    api_model_release(model);
}

/* G is the spatial inertia, about the origin of the link frame, of 2 kg at (.1, .2, .3) with moments (.5, .6, .7) and
 * xy = .05 about that point; an `inertial` describes the same body. tau is conjugate to q: with |w| = 2 it is twice the
 * moment. */
static void spatial_inertia_of_screws(void **state)
{
    api_model *screw = model_of("{'screws':{'S':[[0,0,2,0,0,0]],'M':[[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]],'G':[["
                                "[0.76,0.01,-0.06,0,-0.6,0.4],[0.01,0.8,-0.12,0.6,0,-0.2],[-0.06,-0.12,0.8,-0.4,0.2,0],"
                                "[0,0.6,-0.4,2,0,0],[-0.6,0,0.2,0,2,0],[0.4,-0.2,0,0,0,2]]]}}");
    api_model *plain = model_of("{'links':[{'name':'link1','parent':'base','joint':{'name':'joint1','type':'revolute',"
                                "'axis':[0,0,1]},'inertial':{'mass':2,'com':[0.1,0.2,0.3],"
                                "'inertia':{'xx':0.5,'yy':0.6,'zz':0.7,'xy':0.05}}}]}");
    double     q = .3, twice = .6, qd = .5, twice_qd = 1, qdd = .25, twice_qdd = .5, a[6], b[6], tau, moment;
    joint_wrenches(screw, &q, &qd, &qdd, a);
    joint_wrenches(plain, &twice, &twice_qd, &twice_qdd, b);
    assert_close(a, b, 6, 1e-14);
    inverse_dynamics(screw, &q, &qd, &qdd, &tau);
    inverse_dynamics(plain, &twice, &twice_qd, &twice_qdd, &moment);
    moment *= 2;
    assert_close(&tau, &moment, 1, 1e-14);
    api_model_release(screw);
    api_model_release(plain);
}

/* --- solids ---------------------------------------------------------------------------------------------------- */

static bool inside(api_solid solid, const double *s, double x, double y, double z)
{
    double r2 = x * x + y * y, beyond = fmax(fabs(z) - s[1] / 2, 0);
    switch (solid) {
    case API_BOX: return fabs(x) < s[0] / 2 && fabs(y) < s[1] / 2 && fabs(z) < s[2] / 2;
    case API_CYLINDER: return r2 < s[0] * s[0] && fabs(z) < s[1] / 2;
    case API_SPHERE: return r2 + z * z < s[0] * s[0];
    case API_ELLIPSOID: return x * x / (s[0] * s[0]) + y * y / (s[1] * s[1]) + z * z / (s[2] * s[2]) < 1;
    case API_CAPSULE: return r2 + beyond * beyond < s[0] * s[0];
    default: return false;
    }
}

/* Computes volume and the integrals of x^2, y^2, z^2 by the midpoint rule on a cube of edge 2: exact to about 1e-3. */
static void integrate(api_solid solid, const double *size, double integral[4])
{
    const int    n = 160;
    const double h = 2. / n;
    memset(integral, 0, 4 * sizeof *integral);
    for (int i = 0; i < n * n * n; i++) {
        int    column = i % n, row = i / n % n, layer = i / n / n;
        double x = (column + .5) * h - 1, y = (row + .5) * h - 1, z = (layer + .5) * h - 1;
        if (!inside(solid, size, x, y, z)) continue;
        integral[0] += h * h * h;
        integral[1] += h * h * h * x * x;
        integral[2] += h * h * h * y * y;
        integral[3] += h * h * h * z * z;
    }
}

static void solids_have_the_moments_of_their_volume(void **state)
{
    static const double sizes[API_SOLIDS][3] = {
        [API_BOX] = {1.2, .7, 1.6},     [API_CYLINDER] = {.6, 1.5}, [API_SPHERE] = {.9},
        [API_ELLIPSOID] = {.5, .7, .9}, [API_CAPSULE] = {.4, 1},
    };
    for (api_solid solid = 0; solid < API_SOLIDS; solid++) {
        double   in[4], volume = api_solid_volume(solid, sizes[solid]);
        dyn_pose X = dyn_pose_identity();
        integrate(solid, sizes[solid], in);
        assert_close(&volume, in, 1, 4e-3);
        dyn_inertia inertia = api_solid_inertia(solid, sizes[solid], volume, &X);
        assert_close(inertia.about_com, (double[]){in[2] + in[3], 0, 0, in[1] + in[3], 0, in[1] + in[2]}, 6, 8e-3);
    }
}

/* A solid in a document must equal the inertial with its mass and moments, rotated and moved by xyz and rpy. */
static void solids_in_documents(void **state)
{
#define BODY(inertial)                                                                                                 \
    "{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'revolute','axis':[1,2,3]},'inertial':"          \
    "{" inertial "}}]}"
    api_model *solid = model_of(
        BODY("'solid':'box','size':[0.1,0.2,0.3],'density':2000,'xyz':[0.5,0.6,0.7],'rpy':[0,0,1.5707963267948966]"));
    api_model *plain = model_of(BODY("'mass':12,'com':[0.5,0.6,0.7],'inertia':{'xx':0.1,'yy':0.13,'zz':0.05}"));
    double     q = .4, qd = 1, qdd = 2, a[6], b[6];
    joint_wrenches(solid, &q, &qd, &qdd, a);
    joint_wrenches(plain, &q, &qd, &qdd, b);
    assert_close(a, b, 6, 1e-14);
    assert_close(&solid->dyn->mass, &plain->dyn->mass, 1, 1e-15);
    api_model_release(solid);
    api_model_release(plain);
    api_model_release(model_of(BODY("'solid':'cylinder','size':[0,1],'mass':1"))); /* a rod */
    api_model_release(model_of(BODY("'solid':'capsule','size':[0,0],'mass':1")));  /* a point */
    api_model_release(model_of(BODY("'solid':'box','size':[1,1,0],'mass':1")));    /* a plate */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xyz_and_rpy),
        cmocka_unit_test(matrix_form),
        cmocka_unit_test(only_exact_right_angles_are_special),
        cmocka_unit_test(rounded_matrices_become_rotations),
        cmocka_unit_test(standard_dh),
        cmocka_unit_test(modified_dh),
        cmocka_unit_test(spring_and_friction_act_on_q),
        cmocka_unit_test(origin_of_the_joint_wrench),
        cmocka_unit_test(screws),
        cmocka_unit_test(spatial_inertia_of_screws),
        cmocka_unit_test(solids_have_the_moments_of_their_volume),
        cmocka_unit_test(solids_in_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
