/* test_sdf.c - reads SDF files by api_model_from_sdf: meaning of the elements, refusals, every cut and every changed
 * byte of a file. Agreement with libsdformat and MuJoCo: tests/e2e/sdf/test_sdf.py. */
#include "api/robots/sdf/sdf.h"
#include "tests/api/support/model_files.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static api_model *taken(const char *text, const char *query)
{
    return file_model(api_model_from_sdf, text, query);
}

static void refused(const char *text, const char *code, const char *words)
{
    assert_file_refused(api_model_from_sdf, text, code, words);
}

#define FILE_OF(inside) "<sdf version='1.9'><model name='m'>" inside "</model></sdf>"
#define INERTIAL                                                                                                       \
    "<inertial><pose>1 0 0 0 0 "                                                                                       \
    "0</pose><mass>2</mass><inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial>"
#define LINK(name)        "<link name='" name "'>" INERTIAL "</link>"
#define ENDS(a, b)        "<parent>" a "</parent><child>" b "</child>"
#define HINGE(a, b, more) "<joint name='j' type='revolute'>" ENDS(a, b) "<axis><xyz>0 1 0</xyz>" more "</axis></joint>"
#define ARM(more)         FILE_OF(LINK("a") HINGE("world", "a", more))

static double torque(api_model *model, double q)
{
    double qd[8] = {0}, qdd[8] = {0}, tau[8], position[8] = {q};
    inverse_dynamics(model, position, qd, qdd, tau);
    return tau[0];
}

static void hinges_turn(void **state)
{
    api_model *model = taken(ARM(""), NULL);
    double     q     = 0.3, M;
    mass_matrix(model, &q, &M);
    assert_true(fabs(M - 2.1) < 1e-14);
    assert_true(fabs(torque(model, 0.5) + 2 * 9.81 * cos(0.5)) < 1e-13);
    api_model_release(model);
    model = taken(
        ARM("<dynamics><spring_stiffness>4</spring_stiffness><spring_reference>0.25</spring_reference></dynamics>"),
        NULL);
    assert_true(fabs(torque(model, 0) + 2 * 9.81 + 1) < 1e-13);
    api_model_release(model);
}

/* A world must bring its gravity; links without gravity are compensated. */
static void gravity(void **state)
{
    api_model *model = taken("<sdf version='1.9'><world name='w'><model name='m'>" LINK("a")
                                 HINGE("world", "a", "") "</model></world></sdf>",
                             NULL);
    assert_true(fabs(torque(model, 0) + 2 * 9.8) < 1e-13);
    api_model_release(model);
    model = taken(FILE_OF("<link name='a'><gravity>false</gravity>" INERTIAL "</link>" HINGE("world", "a", "")), NULL);
    assert_true(torque(model, 0) == 0);
    api_model_release(model);
    model =
        taken(FILE_OF("<link name='a'><gravity>0</gravity>" INERTIAL "</link>" LINK("b") HINGE("a", "b", "")), NULL);
    assert_int_equal(count_reports(model, "not-held"), 0);
    assert_int_equal(count_reports(model, "compensated"), 1);
    assert_true(model->dyn->body[0].compensation.share == 1 && model->dyn->body[1].compensation.share == 0);
    api_model_release(model);
}

/* Checks the pitch of a screw joint: 0.5 m per turn, or -4 pi rad/m. */
static void screws_advance(void **state)
{
    static const char *const pitches[] = {"<screw_thread_pitch>0.5</screw_thread_pitch>",
                                          "<thread_pitch>-12.566370614359172</thread_pitch>"};
    for (size_t i = 0; i < 2; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 FILE_OF(LINK("a") "<joint name='j' type='screw'>" ENDS("world",
                                                                        "a") "<axis><xyz>0 0 1</xyz></axis>%s</joint>"),
                 pitches[i]);
        api_model *model = taken(text, NULL);
        double     q = 0, M, pitch = 0.5 / (2 * 3.14159265358979324);
        mass_matrix(model, &q, &M);
        assert_true(fabs(M - (2.1 + 2 * pitch * pitch)) < 1e-14);
        api_model_release(model);
    }
}

/* Checks the mimic q_k = 3 (q_j - 0.1) + 0.5. */
static void joints_mimic(void **state)
{
    const char *text  = FILE_OF(LINK("a") HINGE("world", "a", "") LINK("b") "<joint name='k' type='revolute'>" ENDS(
         "world", "b") "<axis><xyz>0 1 0</xyz><mimic joint='j'><multiplier>3</multiplier><offset>0.5</offset>"
                        "<reference>0.1</reference></mimic></axis></joint>");
    api_model  *model = taken(text, NULL);
    double      q     = 0.3, M;
    api_problem problem;
    assert_int_equal(model->nv, 1);
    mass_matrix(model, &q, &M);
    assert_true(fabs(M - 10 * 2.1) < 1e-13);
    assert_true(fabs(torque(model, 0.3) + 2 * 9.81 * (cos(0.3) + 3 * cos(3 * 0.2 + 0.5))) < 1e-13);
    api_model_release(model);
    model = taken(text, "mimic=independent");
    assert_int_equal(model->nv, 2);
    api_model_release(model);
    assert_null(file_read(api_model_from_sdf, file_source(text, strlen(text), "mimic=refuse"), &problem));
}

/* A default of the format must be reported, since users rarely intend it. */
static void defaults_are_reported(void **state)
{
    api_model *model = taken(FILE_OF("<link name='a'/>" HINGE("world", "a", "")), NULL);
    double     q     = 0, M;
    mass_matrix(model, &q, &M);
    assert_true(M == 1);
    assert_int_equal(count_reports(model, "assumed"), 2); /* the mass and gravity */
    api_model_release(model);
    model = taken(
        ARM("<limit><lower>-1e16</lower><upper>1e16</upper><effort>-1</effort><velocity>inf</velocity></limit>"), NULL);
    assert_false(model->joints[0].has_position_limits || model->joints[0].limits.has_effort ||
                 model->joints[0].limits.has_velocity);
    api_model_release(model);
    static const char *const endless[] = {"inf", "+inf", "-inf", "Inf", "+Inf", "infinity", "-infinity"};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        char text[2000];
        snprintf(text, sizeof text, ARM("<limit><lower>-3</lower><upper>%s</upper><effort>%s</effort></limit>"),
                 endless[i], endless[i]);
        model = taken(text, NULL);
        assert_false(model->joints[0].has_position_limits || model->joints[0].limits.has_effort);
        assert_int_equal(count_reports(model, "not-held"), 1); /* the lower limit */
        api_model_release(model);
    }
}

/* The tree must be found whichever way joints point, and whatever their order. */
static void any_link_may_be_the_root(void **state)
{
    const char *text  = FILE_OF(LINK("c") LINK("b") LINK("a") "<joint name='k' type='revolute'>" ENDS(
         "c", "b") "<axis><xyz>1 0 0</xyz></axis></joint>" HINGE("a", "b", ""));
    api_model  *model = taken(text, NULL);
    assert_int_equal(model->nv, 8);
    assert_true(model->dyn->floating);
    api_model_release(model);
}

static void refusals(void **state)
{
    refused("", "bad-xml", "empty");
    refused("<!DOCTYPE sdf []><sdf/>", "not-supported", "document type");
    refused("<s:sdf xmlns:s='x'/>", "bad-model", "prefix");
    refused("<sdf version='2.0'/>", "not-supported", "1.2 to 1.12");
    refused("<sdf version='1.9'/>", "bad-model", "no <model>");
    refused("<sdf><model name='m'><static>true</static><link name='a'/></model></sdf>", "bad-model", "nothing moves");
    refused("<sdf><model name='m'/><model name='n'/></sdf>", "bad-model",
            "2 models are not static, and one is read: choose it by its name, ?model=NAME");
    refused(FILE_OF(""), "bad-model", "no <link>");
    refused(FILE_OF("<link/>"), "missing-field", "\"name\"");
    refused(FILE_OF("<link name='a'/><frame name='a'/>"), "duplicate-name", "frame \"a\"");
    refused(FILE_OF("<link name='a'><pose relative_to='x'/></link>"), "unknown-name", "\"x\"");
    refused(FILE_OF("<link name='a'><pose relative_to='b'/></link><link name='b'><pose relative_to='a'/></link>"),
            "bad-model", "circle");
    refused(FILE_OF("<link name='a'/><frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>"), "bad-model",
            "circle");
    refused(FILE_OF("<link name='a'><pose>1 2 3</pose></link>"), "wrong-shape", "expected 6 numbers, given 3");
    refused(FILE_OF("<link name='a'><pose>1 2 3 x 0 0</pose></link>"), "wrong-type", "\"x\"");
    refused(FILE_OF("<link name='a'><pose rotation_format='quat_xyzw'>0 0 0 0 0 0 0</pose></link>"), "bad-quaternion",
            "length 0");
    refused(FILE_OF("<link name='a'><inertial><mass>-1</mass></inertial></link>" HINGE("world", "a", "")),
            "bad-inertia", "link \"a\"");
    refused(FILE_OF("<link name='a'><inertial auto='true'/></link>"), "bad-inertia", "there are none");
    refused(FILE_OF("<include><uri>model://x</uri></include>"), "not-supported", "<include>");
    refused(FILE_OF("<link name='a'/><joint name='j' type='hinge'>" ENDS("world", "a") "</joint>"), "bad-value",
            "revolute");
    refused(FILE_OF("<link name='a'/><joint name='j' type='fixed'><parent>a</parent></joint>"), "missing-field",
            "no <child>");
    refused(FILE_OF("<link name='a'/>" HINGE("a", "a", "")), "bad-model", "same link");
    refused(FILE_OF("<link name='a'/>" HINGE("a", "x", "")), "unknown-name", "\"x\"");
    refused(ARM("<xyz/>") "x", "bad-xml", "line 1");
    refused(ARM("<limit><lower>1</lower><upper>0</upper></limit>"), "bad-value", "above");
    refused(ARM("<mimic joint='x'/>"), "unknown-name", "\"x\"");
    refused(ARM("<dynamics><friction>-1</friction></dynamics>"), "bad-value", "negative");
}

#define BALL "<geometry><sphere><radius>1</radius></sphere></geometry>"

static void nothing_is_dropped_silently(void **state)
{
    api_model *model =
        taken(FILE_OF("<plugin name='p'/><own/><link name='a'><velocity_decay/><visual name='v'>" BALL
                      "</visual>" INERTIAL "</link>" HINGE("world", "a", "<limit><stiffness>1</stiffness></limit>")),
              NULL);
    assert_int_equal(count_reports(model, "not-held"), 2); /* plugin, velocity_decay */
    assert_int_equal(count_reports(model, "unknown"), 1);  /* own */
    assert_int_equal(count_reports(model, "dropped"), 2);  /* visual, stiffness */
    api_model_release(model);
}

static const char whole[] =
    "<sdf version='1.9'><world name='w'><gravity>0 0 -9</gravity><model name='m'><pose>0 0 1 0 0 0</pose>"
    "<frame name='f'><pose degrees='true'>0 0 1 0 90 0</pose></frame><link name='a'><pose relative_to='f'>1 0 0 .1 0 0"
    "</pose>" INERTIAL "</link><joint name='j' type='universal'><pose>0 0 .1 0 0 0</pose><parent>world</parent>"
    "<child>a</child><axis><xyz expressed_in='f'>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>"
    "<model name='n'><link name='b'>" INERTIAL "</link></model><joint name='k' type='prismatic'><parent>f</parent>"
    "<child>n::b</child><axis/></joint></model></world></sdf>";

static void every_cut_is_refused(void **state)
{
    assert_cuts_refused(api_model_from_sdf, whole, strlen(whole));
    api_model *model = taken(whole, NULL), *again = model_again(model);
    assert_int_equal(model->nv, 3); /* f is fixed to link a */
    api_model_release(model);
    api_model_release(again);
}

static void every_byte_may_change(void **state)
{
    assert_bytes_may_change(api_model_from_sdf, whole);
}

static void bounds(void **state)
{
    static char text[90000];
    size_t      end = (size_t)sprintf(text, "<sdf>");
    for (int i = 0; i < 100; i++)
        end += (size_t)sprintf(text + end, "<model name='m'>");
    refused(text, "too-deep", "100");
    end = (size_t)sprintf(text, "<sdf version='1.9'><model name='m'><link name='a'/>");
    for (int i = 0; i < 4 * LINKS; i++)
        end += (size_t)sprintf(text + end, "<frame name='f%d'><pose relative_to='f%d'/></frame>", i, i + 1);
    sprintf(text + end, "</model></sdf>");
    refused(text, "model-too-large", "the limit is 400");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hinges_turn),
        cmocka_unit_test(gravity),
        cmocka_unit_test(screws_advance),
        cmocka_unit_test(joints_mimic),
        cmocka_unit_test(defaults_are_reported),
        cmocka_unit_test(any_link_may_be_the_root),
        cmocka_unit_test(refusals),
        cmocka_unit_test(nothing_is_dropped_silently),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_byte_may_change),
        cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
