/* test_mjcf.c - reads MJCF files by api_model_from_mjcf and compares the models with closed forms; checks refusals, and
 * every cut and every changed byte of a file. Agreement with MuJoCo: tests/e2e/mjcf/test_mjcf.py. */
#include "api/robots/mjcf/mjcf.h"
#include "tests/api/support/model_files.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads `text` as the file main.xml. `beside` lists further files as pairs of path and text and ends with NULL. */
static api_model *read_with(const char *text, const char *query, const char *const *beside, api_problem *problem)
{
    api_model_source source    = file_source(text, strlen(text), query);
    api_file_entry   entry[40] = {{"main.xml", text, strlen(text)}};
    api_files        files     = {entry, 1};
    for (const char *const *file = beside; file && *file; file += 2) {
        assert_true(files.n < sizeof entry / sizeof *entry);
        entry[files.n++] = (api_file_entry){file[0], file[1], strlen(file[1])};
    }
    if (beside) source.files = &files;
    source.path = "main.xml";
    return file_read(api_model_from_mjcf, source, problem);
}

static api_model *taken(const char *text, const char *query)
{
    return file_model(api_model_from_mjcf, text, query);
}

static void refused(const char *text, const char *code, const char *words)
{
    assert_file_refused(api_model_from_mjcf, text, code, words);
}

/* The text of a file with this content inside its <worldbody> and after it. */
#define WORLD(inside, after) "<mujoco><compiler angle='radian'/><worldbody>" inside "</worldbody>" after "</mujoco>"
/* A body on a hinge about y with a mass of 2 kg at (1, 0, 0). */
#define ARM(joint) "<body name='a'>" joint "<inertial pos='1 0 0' mass='2' diaginertia='0.1 0.1 0.1'/></body>"

static double mass_of_one(const char *text)
{
    api_model *model = taken(text, NULL);
    double     q     = 0, M;
    assert_int_equal(model->nv, 1);
    mass_matrix(model, &q, &M);
    api_model_release(model);
    return M;
}

/* --- meaning of the elements ------------------------------------------------------------------------------------- */

/* Checks the mass of a geom on a slide: by volume and density, or as given. */
static void geoms_have_mass(void **state)
{
#define GEOM(attributes) mass_of_one(WORLD("<body><joint type='slide'/><geom " attributes "/></body>", ""))
    const double pi = 3.14159265358979323846;
    assert_true(fabs(GEOM("size='0.1'") - 1000 * 4 * pi / 3 * 1e-3) < 1e-12);
    assert_true(fabs(GEOM("type='box' size='0.1 0.2 0.3' density='10'") - 10 * 8 * 0.006) < 1e-14);
    assert_true(fabs(GEOM("type='cylinder' size='0.1 0.2' density='1'") - pi * 0.01 * 0.4) < 1e-15);
    assert_true(fabs(GEOM("type='capsule' size='0.1' fromto='0 0 0 0 0.3 0.4' density='1'") -
                     (pi * 0.01 * 0.5 + 4 * pi / 3 * 1e-3)) < 1e-15);
    assert_true(fabs(GEOM("type='ellipsoid' size='0.1 0.2 0.3' density='1'") - 4 * pi / 3 * 0.006) < 1e-15);
    assert_true(GEOM("type='mesh' mesh='m' mass='0'/><geom size='1' mass='3'") == 3);
    assert_true(GEOM("type='plane' size='1 1 1' mass='5'/><geom size='1' mass='3'") == 3);
}

/* Checks the moment of inertia about the joint's axis, for anchors and frames anywhere. */
static void joints_have_anchors(void **state)
{
    assert_true(fabs(mass_of_one(WORLD(ARM("<joint axis='0 3 0'/>"), "")) - 2.1) < 1e-14);
    assert_true(fabs(mass_of_one(WORLD(ARM("<joint axis='0 1 0' pos='-1 5 0'/>"), "")) - 8.1) < 1e-14);
    assert_true(fabs(mass_of_one(WORLD(ARM("<joint axis='0 1 0' armature='0.4'/>"), "")) - 2.5) < 1e-14);
    assert_true(
        fabs(mass_of_one(WORLD("<frame pos='1 2 3' euler='0 0 1.5'>" ARM("<joint axis='0 1 0'/>") "</frame>", "")) -
             2.1) < 1e-14);
    assert_true(mass_of_one("<mujoco><compiler settotalmass='5'/><worldbody>" ARM(
                    "<joint type='slide'/>") "</worldbody></mujoco>") == 5);
    assert_true(mass_of_one("<mujoco><compiler boundmass='7'/><worldbody>" ARM(
                    "<joint type='slide'/>") "</worldbody></mujoco>") == 7);
    assert_true(fabs(mass_of_one("<mujoco><compiler boundinertia='0.5'/><worldbody>" ARM(
                         "<joint axis='0 1 0' pos='1 0 0'/>") "</worldbody></mujoco>") -
                     0.5) < 1e-15);
}

/* The nearest class that sets an attribute must win; the class of a body is also that of its children. */
static void defaults_nest(void **state)
{
#define CLASSES(joint, attributes)                                                                                     \
    mass_of_one("<mujoco><default><joint armature='1' axis='0 1 0'/><default class='x'><joint armature='2'/>"          \
                "<default class='y'><joint damping='1'/></default></default></default>"                                \
                "<default><joint armature='3'/></default><worldbody><body " attributes ">" joint                       \
                "<inertial pos='0 0 0' mass='1' diaginertia='0 0 0'/></body></worldbody></mujoco>")
    assert_true(CLASSES("<joint/>", "") == 3);
    assert_true(CLASSES("<joint class='x'/>", "") == 2);
    assert_true(CLASSES("<joint class='y'/>", "") == 2);
    assert_true(CLASSES("<joint/>", "childclass='y'") == 2);
    assert_true(CLASSES("<joint class='main'/>", "childclass='y'") == 3);
    assert_true(CLASSES("<joint armature='9'/>", "childclass='y'") == 9);
}

static double torque(api_model *model, double q)
{
    double qd[8] = {0}, qdd[8] = {0}, tau[8], position[8] = {q};
    inverse_dynamics(model, position, qd, qdd, tau);
    return tau[0];
}

/* Coordinates must be MuJoCo's: at q = ref the body has the pose of the file. Springs rest at springref. */
static void references_shift(void **state)
{
    api_model *model = taken(WORLD(ARM("<joint axis='0 1 0' ref='0.3'/>"), ""), NULL);
    assert_true(fabs(torque(model, 0.3) + 2 * 9.81) < 1e-13);
    assert_true(fabs(torque(model, 0.3 + 0.5) + 2 * 9.81 * cos(0.5)) < 1e-13);
    api_model_release(model);
    model = taken(WORLD(ARM("<joint axis='0 0 1' stiffness='5' springref='0.2' ref='0.1'/>"), ""), NULL);
    assert_true(fabs(torque(model, 0.7) - 2.5) < 1e-14);
    api_model_release(model);
    model = taken("<mujoco><option gravity='0 0 -1'/><worldbody>" ARM(
                      "<joint axis='0 0 1' stiffness='5' springref='90'/>") "</worldbody></mujoco>",
                  NULL);
    assert_true(fabs(torque(model, 0) + 5 * 1.57079632679489662) < 1e-14);
    api_model_release(model);
}

/* Gravity compensation that is the same for all bodies must reduce gravity; any other is that of the links. */
static void gravity_is_compensated(void **state)
{
    const char *uniform = WORLD("<body name='a' gravcomp='0.75'><joint axis='0 1 0'/>"
                                "<inertial pos='1 0 0' mass='2' diaginertia='1 1 1'/></body>",
                                "");
    api_model  *model   = taken(uniform, NULL);
    assert_true(fabs(torque(model, 0) + 0.25 * 2 * 9.81) < 1e-14);
    assert_int_equal(count_reports(model, "compensated"), 1);
    api_model_release(model);
    model = taken(WORLD("<body gravcomp='1'><joint axis='0 1 0'/><geom size='1'/><body><joint/><geom size='1'/></body>"
                        "</body>",
                        ""),
                  NULL);
    assert_int_equal(count_reports(model, "not-held"), 0);
    assert_int_equal(count_reports(model, "compensated"), 1);
    assert_true(model->dyn->body[0].compensation.share == 1 && model->dyn->body[1].compensation.share == 0);
    api_model_release(model);
}

/* Actuators must add gear^2 times their armature, whatever their type and wherever the armature is set. */
static void actuators_have_armature(void **state)
{
#define DRIVEN(defaults, actuators)                                                                                    \
    mass_of_one("<mujoco>" defaults "<worldbody>" ARM(                                                                 \
        "<joint name='j' axis='0 1 0'/>") "</worldbody><actuator>" actuators "</actuator></mujoco>")
    assert_true(fabs(DRIVEN("", "<motor joint='j' gear='3' armature='.2'/>") - (2.1 + 9 * 0.2)) < 1e-14);
    assert_true(fabs(DRIVEN("", "<position joint='j' gear='-3' armature='.2'/>") - (2.1 + 9 * 0.2)) < 1e-14);
    assert_true(fabs(DRIVEN("<default><general armature='.3' gear='2'/></default>", "<dcmotor joint='j'/>") -
                     (2.1 + 4 * 0.3)) < 1e-14);
    assert_true(fabs(DRIVEN("", "<motor jointinparent='j' armature='.1'/><muscle joint='j' gear='2' armature='.1'/>") -
                     (2.1 + 5 * 0.1)) < 1e-14);
}

/* Checks M of a hinge about y with an <inertial> of 2 kg and 0.1 kg m^2 inside <frame> elements, and with the
   compiler's options boundmass, boundinertia and balanceinertia. */
static void frames_and_bounds_place_masses(void **state)
{
#define PLACED(compiler, content)                                                                                      \
    mass_of_one("<mujoco><compiler " compiler "/><worldbody><body name='a'><joint axis='0 1 0'/>" content              \
                "</body></worldbody></mujoco>")
#define BALL "<inertial pos='1 0 0' mass='2' diaginertia='.1 .1 .1'/>"
    assert_true(fabs(PLACED("", "<frame pos='0 5 3'>" BALL "</frame>") - (0.1 + 2 * 10)) < 1e-13);
    assert_true(fabs(PLACED("", "<frame pos='0 5 3'><frame euler='0 90 0'>" BALL "</frame></frame>") - (0.1 + 2 * 4)) <
                1e-13);
    assert_true(fabs(PLACED("", "<frame pos='0 0 9'>" BALL "</frame><frame pos='1 0 0'>" BALL "</frame>") -
                     (0.1 + 2 * 4)) < 1e-13); /* the last <inertial> applies */
    assert_true(fabs(PLACED("boundmass='.5'", BALL "<body pos='.3 2 0'/>") - (2.1 + 0.5 * 0.36)) < 1e-13);
    assert_true(fabs(PLACED("inertiafromgeom='true'", BALL "<body pos='3 0 0'>" BALL "</body>") -
                     (2.1 + 0.1 + 2 * 16)) < 1e-13);
    assert_true(fabs(PLACED("", BALL "<body pos='3 0 0'><inertial pos='0 0 0' mass='1'/></body>") - (2.1 + 9)) < 1e-13);
    assert_true(fabs(PLACED("settotalmass='1' fusestatic='true'", BALL) - 2.1 / 2) < 1e-15);
    assert_true(fabs(PLACED("balanceinertia='true'", "<inertial pos='0 0 0' mass='1' diaginertia='.7 .1 .8'/>") -
                     (0.7 + 0.1 + 0.8) / 3) < 1e-15); /* balanceinertia: .7 + .1 is less than .8 in doubles */
}

/* A hinge of 2.1 kg m^2 with a time constant T of 0.5 s and a damping ratio r of 2 must get stiffness m/(T r)^2,
 * damping 2 m/T. */
static void springdampers_are_computed(void **state)
{
    const double q = 0.3, qd = 0.7, qdd = 0;
    double       tau;
    api_model   *model = taken("<mujoco><option gravity='0 0 0'/><worldbody>" ARM(
                                   "<joint axis='0 1 0' springdamper='.5 2' stiffness='99'/>") "</worldbody></mujoco>",
                               NULL);
    inverse_dynamics(model, &q, &qd, &qdd, &tau);
    assert_true(fabs(tau - (2.1 * 0.3 + 2 * 2.1 / 0.5 * 0.7)) < 1e-13);
    assert_int_equal(count_reports(model, "not-held"), 0);
    api_model_release(model);
    refused(WORLD(ARM("<joint springdamper='.5 -1'/>"), ""), "bad-value", "two positive numbers");
}

/* Limits of effort: a range that differs in the two directions must be reported, and the model gets the smaller
 * magnitude. */
static void efforts_are_symmetric(void **state)
{
    static const struct {
        const char *actuator;
        double      effort; /* < 0: no limit */
        size_t      warnings;
    } cases[] = {{"<motor joint='j' gear='2' ctrlrange='-3 3'/>", 6, 0},
                 {"<motor joint='j' gear='-2' ctrlrange='-3 5'/>", 6, 1},
                 {"<motor joint='j' ctrlrange='0 5'/>", -1, 1},
                 {"<motor joint='j' ctrlrange='-3 3' forcerange='-1 9'/>", 1, 1},
                 {"<general joint='j' gainprm='4' ctrlrange='-3 3'/>", 12, 0},
                 {"<general joint='j' biastype='affine' ctrlrange='-3 3'/>", -1, 1}}; /* <general> sets no limit */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[700];
        snprintf(text, sizeof text, "<mujoco><worldbody>%s</worldbody><actuator>%s</actuator></mujoco>",
                 ARM("<joint name='j' axis='0 1 0'/>"), cases[i].actuator);
        api_model *model = taken(text, NULL);
        bool       has   = model->joints[0].limits.has_effort;
        assert_int_equal(has, cases[i].effort >= 0);
        if (has) assert_true(model->joints[0].limits.effort == cases[i].effort);
        assert_int_equal(count_reports(model, "not-held"), cases[i].warnings + (i == 4));
        api_model_release(model);
    }
}

/* A site with the name of a body must be renamed, whichever of the two comes first in the file. */
static void sites_give_way_to_bodies(void **state)
{
    api_model *model = taken(WORLD("<body name='a'><joint axis='0 1 0'/><geom size='.1'/><site name='b' pos='9 9 9'/>"
                                   "<body name='b' pos='1 0 0'><joint axis='0 1 0'/><geom size='.1'/></body></body>",
                                   ""),
                             NULL);
    assert_int_equal(count_reports(model, "renamed"), 1);
    api_model_release(model);
}

/* --- equalities -------------------------------------------------------------------------------------------------- */

#define PAIR                                                                                                           \
    ARM("<joint name='j' axis='0 1 0' ref='0.1'/>")                                                                    \
    "<body name='b'><joint name='k' axis='0 1 0' ref='0.2'/>"                                                          \
    "<inertial pos='1 0 0' mass='3' diaginertia='0.1 0.1 0.1'/></body>"

static api_model *coupled(const char *equality, const char *query)
{
    char text[2000];
    snprintf(text, sizeof text, "%s<equality>%s</equality></mujoco>",
             "<mujoco><compiler angle='radian'/><worldbody>" PAIR "</worldbody>", equality);
    return taken(text, query);
}

/* Checks the coupling q_k - 0.2 = 0.5 + 2 (q_j - 0.1). */
static void joints_are_coupled(void **state)
{
    api_model *model = coupled("<joint joint1='k' joint2='j' polycoef='0.5 2'/>", NULL);
    double     q     = 0.4, M;
    assert_int_equal(model->nv, 1);
    mass_matrix(model, &q, &M);
    assert_true(fabs(M - (2.1 + 4 * 3.1)) < 1e-13);
    assert_true(fabs(torque(model, 0.4) + 9.81 * (2 * cos(0.3) + 2 * 3 * cos(0.5 + 2 * 0.3))) < 1e-13);
    api_model_release(model);

    model = coupled("<joint joint1='k' polycoef='0.5'/>", NULL); /* k is locked */
    assert_int_equal(model->nv, 1);
    assert_true(fabs(torque(model, 0.1) + 9.81 * 2) < 1e-13);
    api_model_release(model);

    model = coupled("<joint joint1='k' joint2='j' polycoef='0 1 0.1'/>", NULL); /* quadratic */
    assert_int_equal(model->nv, 2);
    assert_int_equal(count_reports(model, "not-held"), 1);
    api_model_release(model);

    model = coupled("<joint joint1='k' joint2='j'/><joint joint1='j' joint2='k'/>", NULL); /* a cycle */
    assert_int_equal(model->nv, 1);
    assert_int_equal(count_reports(model, "not-held"), 1);
    api_model_release(model);
}

/* Two equalities with the same joint1: the first must be inverted. j follows k through the first, so k follows j; j
 * follows l through the second. */
static void couplings_are_inverted(void **state)
{
    const char *text  = WORLD(PAIR "<body name='c'><joint name='l' axis='0 1 0'/>"
                                    "<inertial pos='1 0 0' mass='1' diaginertia='0.1 0.1 0.1'/></body>",
                              "<equality><joint joint1='j' joint2='k' polycoef='0 2'/>"
                               "<joint joint1='j' joint2='l' polycoef='0.3 4'/></equality>");
    api_model  *model = taken(text, NULL);
    double      q     = 0.2, M;
    assert_int_equal(model->nv, 1); /* q_j - 0.1 = 2 (q_k - 0.2) = 0.3 + 4 q_l */
    mass_matrix(model, &q, &M);
    assert_true(fabs(M - (4 * 2.1 + 3.1 + 0.25 * 1.1)) < 1e-12);
    for (int i = 0; i < 5; i++) {
        const double k = 0.3 * i - 0.4, l = (2 * k - 0.3) / 4; /* q_k - 0.2 and q_l */
        const double expected = -9.81 * (2 * 2 * cos(2 * k) + 3 * cos(k) + 0.5 * cos(l));
        assert_true(fabs(torque(model, 0.2 + k) - expected) < 1e-12);
    }
    api_model_release(model);
}

static void equalities_may_be_left_out(void **state)
{
    const char *active = "<joint joint1='k' joint2='j'/>";
    api_problem problem;
    char        text[2000];
    api_model  *model = coupled(active, "equality=independent");
    assert_int_equal(model->nv, 2);
    assert_int_equal(count_reports(model, "not-held"), 1);
    api_model_release(model);
    model = coupled("<joint joint1='k' joint2='j' active='false'/>", "equality=refuse");
    assert_int_equal(model->nv, 2);
    api_model_release(model);
    snprintf(text, sizeof text, "%s<equality>%s</equality></mujoco>", "<mujoco><worldbody>" PAIR "</worldbody>",
             active);
    assert_null(read_with(text, "equality=refuse", NULL, &problem));
    assert_string_equal(api_problem_kind_of(problem.code)->code, "not-supported");
}

/* Two cranks and a coupler that <connect> closes to a parallelogram must have one coordinate, with the mass of all
 * links felt at the driven crank. */
static void connect_closes_a_loop(void **state)
{
#define CRANK(name, x)                                                                                                 \
    "<body name='" name "' pos='" x " 0 0'><joint name='" name "' axis='0 1 0'/>"                                      \
    "<geom type='capsule' size='0.01' fromto='0 0 0 0 0 0.2'/>"
    const char *text =
        WORLD(CRANK("p", "0") "<body name='rod' pos='0 0 0.2'><joint name='rod' axis='0 1 0'/>"
                              "<geom type='capsule' size='0.01' fromto='0 0 0 0.3 0 0'/></body></body>" CRANK(
                                  "r", "0.3") "</body>",
              "<equality><connect body1='r' body2='rod' anchor='0 0 0.2'/></equality>"
              "<actuator><motor joint='r' ctrlrange='-3 3'/></actuator>");
    api_model *model = taken(text, NULL);
    assert_int_equal(model->nv, 1);
    assert_string_equal(model->velocity_names[0], "r");
    api_model_release(model);
}

/* --- includes ---------------------------------------------------------------------------------------------------- */

#define TWICE(n) "<x><include file='" n ".xml'/><include file='" n ".xml'/></x>"

static void includes(void **state)
{
    static const char *const beside[] = {"arm.xml",
                                         "<x><include file='more.xml'/></x>",
                                         "more.xml",
                                         "<x><body name='a'>\n<joint/><geom size='1'/></body></x>",
                                         "bad.xml",
                                         "<x>\n<body><joint/>\n<geom size='-1'/></body></x>",
                                         "cut.xml",
                                         "<x>",
                                         "self.xml",
                                         "<x><include file='self.xml'/></x>",
                                         "turn.xml",
                                         "<x><body><include file='back.xml'/></body></x>",
                                         "back.xml",
                                         "<x><include file='turn.xml'/></x>",
                                         "limb.xml",
                                         "<x><joint/><geom size='1'/></x>",
                                         "pair.xml",
                                         "<x><body><include file='limb.xml'/></body><body><include "
                                         "file='sub/../limb.xml'/></body></x>",
                                         "four.xml",
                                         "<x><include file='pair.xml'/><include file='pair.xml'/></x>",
                                         "2.xml",
                                         TWICE("3"),
                                         "3.xml",
                                         TWICE("4"),
                                         "4.xml",
                                         TWICE("5"),
                                         "5.xml",
                                         TWICE("6"),
                                         "6.xml",
                                         TWICE("7"),
                                         "7.xml",
                                         TWICE("8"),
                                         "8.xml",
                                         TWICE("9"),
                                         "9.xml",
                                         TWICE("10"),
                                         "10.xml",
                                         TWICE("11"),
                                         "11.xml",
                                         "<x/>",
                                         NULL};
    static const struct {
        const char *text, *words;
    } cases[] = {{WORLD("<include file='none.xml'/>", ""), "no such file"},
                 {WORLD("<include/>", ""), "\"file\""},
                 {WORLD("<include file='bad.xml'/>", ""), "line 3 of bad.xml"},
                 {WORLD("<include file='cut.xml'/>", ""), "in cut.xml: line 1"},
                 {WORLD("<include file='self.xml'/>", ""), "\"self.xml\" includes itself"},
                 {WORLD("<include file='main.xml'/>", ""), "\"main.xml\" includes itself"},
                 {WORLD("<include file='turn.xml'/>", ""), "\"turn.xml\" includes itself"},
                 {WORLD("<include file='2.xml'/><include file='2.xml'/>", ""), "more than 1000 files"},
                 {WORLD("<include file='../main.xml'/>", ""), "no such file"},
                 {WORLD("<include file='more.xml'/><include file='arm.xml'/>", ""), "body \"a\""},
                 {WORLD("<include file='more.xml'/><include file='sub/../more.xml'/>", ""), "body \"a\""}};
    api_problem problem;
    const char *good  = WORLD("<include file='arm.xml'/>", "");
    api_model  *model = read_with(good, NULL, beside, &problem);
    assert_non_null(model);
    assert_int_equal(model->nv, 1);
    api_model_release(model);
    /* expected numbers of joints: those of MuJoCo 3.14, which refuses the last file */
    static const struct {
        const char *text;
        size_t      nv;
    } repeated[] = {{WORLD("<include file='pair.xml'/>", ""), 2},
                    {WORLD("<include file='four.xml'/>", ""), 4},
                    {WORLD("<include file='pair.xml'/><body><include file='limb.xml'/></body>", ""), 3},
                    {WORLD("<body><include file='limb.xml'/></body><include file='pair.xml'/>", ""), 3}};
    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
        model = read_with(repeated[i].text, NULL, beside, &problem);
        if (!model) fail_msg("%s", problem.detail);
        assert_int_equal(model->nv, repeated[i].nv);
        api_model_release(model);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(read_with(cases[i].text, NULL, beside, &problem));
        if (!strstr(problem.detail, cases[i].words)) fail_msg("%s", problem.detail);
    }
    refused(good, "not-supported", "a request with one file has no other");
}

/* As in MuJoCo 3.14, an included file is first searched in the folder of the main file, then in that of the including
   file; files of one name in two folders are different files. */
static void include_folders(void **state)
{
#define BODY(name) "<x><body name='" name "'><joint name='" name "'/><geom size='1'/></body></x>"
    static const char *const beside[] = {
        "d/a.xml", "<x><include file='b.xml'/></x>", "b.xml",   BODY("near_main"), "d/b.xml", BODY("near_a"),
        "d/c.xml", "<x><include file='e.xml'/></x>", "d/e.xml", BODY("below"),     NULL};
    (void)state;
    api_problem problem;
    api_model  *model =
        read_with(WORLD("<include file='d/a.xml'/><include file='d/b.xml'/><include file='d/c.xml'/>", ""), NULL,
                  beside, &problem);
    assert_non_null(model);
    assert_int_equal(model->nv, 3);
    assert_string_equal(model->velocity_names[0], "near_main");
    assert_string_equal(model->velocity_names[1], "near_a");
    assert_string_equal(model->velocity_names[2], "below");
    api_model_release(model);
}

/* --- refusals ---------------------------------------------------------------------------------------------------- */

static void refusals(void **state)
{
    refused("", "bad-xml", "empty");
    refused("<!DOCTYPE mujoco []><mujoco/>", "not-supported", "document type");
    refused("<mujoco/>", "bad-model",
            "no <body>: a file without <worldbody> is a part, send the file that includes it");
    refused("<mujoco><worldbody/></mujoco>", "bad-model", "the world has no <body>");
    refused("<m:mujoco xmlns:m='x'/>", "bad-model", "prefix");
    refused(WORLD("<body name='a'><joint/></body>", ""), "bad-inertia",
            "line 1, body \"a\": the body moves but has no mass");
    refused(WORLD("<body name='a'><joint/><geom type='mesh' mesh='m'/></body>", ""), "unknown-name", "\"m\"");
    refused(WORLD("<body name='a'><joint/><geom type='mesh' mesh='m'/></body>",
                  "<asset><mesh name='m' file='m.stl'/></asset>"),
            "bad-inertia", "did not come with the request");
    refused(WORLD(ARM("<joint axis='0 0 0'/>"), ""), "bad-value", "no direction");
    refused(WORLD(ARM("<joint range='1 x'/>"), ""), "wrong-type", "\"x\"");
    refused(WORLD(ARM("<joint range='2 1' limited='true'/>"), ""), "bad-value", "not below");
    refused(WORLD(ARM("<joint type='screw'/>"), ""), "bad-value", "free, ball, slide, hinge");
    refused(WORLD(ARM("<joint class='none'/>"), ""), "unknown-name", "class \"none\"");
    refused(WORLD(ARM("<freejoint/><joint/>"), ""), "bad-value", "no other joint");
    refused(WORLD("<body><geom size='1'/>" ARM("<freejoint/>") "</body>", ""), "bad-value", "body of the world");
    refused(WORLD("<joint/>", ""), "bad-value", "the world has no joints");
    refused(WORLD(ARM("<joint name='j'/><joint name='j'/>"), ""), "duplicate-name", "joint \"j\"");
    refused(WORLD("<body quat='1 0 0 0' euler='0 0 0'/>", ""), "bad-value", "more than one");
    refused(WORLD("<body quat='0 0 0 0'/>", ""), "bad-value", "zero");
    refused(WORLD("<body><joint/><geom size='0'/></body>", ""), "bad-value", "not positive");
    refused(WORLD("<body><joint/><geom type='box' size='1'/></body>", ""), "wrong-shape", "expected 3");
    refused(WORLD("<body><joint/><geom fromto='0 0 0 0 0 1' size='1'/></body>", ""), "bad-value", "fromto");
    refused(WORLD("<body><joint/><geom size='1' mass='-1'/></body>", ""), "bad-inertia", "negative");
    refused(WORLD("<body><joint/><inertial mass='1' pos='0 0 0'/></body>", ""), "missing-field", "neither");
    refused(WORLD("<body><attach/></body>", ""), "missing-field", "\"prefix\"");
    refused(WORLD(ARM("<joint/>"), "<equality><joint joint1='x'/></equality>"), "unknown-name", "\"x\"");
    refused(WORLD(ARM("<joint/>"), "<equality><weld body1='x'/></equality>"), "unknown-name", "\"x\"");
    refused(WORLD(ARM("<joint/>"), "<actuator><motor joint='x'/></actuator>"), "unknown-name", "\"x\"");
    refused(WORLD(ARM("<joint ref='1e111'/>"), ""), "angle-too-large", "from its reference");
    refused(WORLD(ARM("<joint name='j'/>"), "<equality><joint joint1='j' polycoef='-1e20 0'/></equality>"),
            "angle-too-large", "from its reference");
    refused("<mujoco><compiler eulerseq='xyq'/></mujoco>", "bad-value", "three of the letters");
    refused(WORLD(ARM("<joint name='j' armature='1e308'/>"),
                  "<actuator><motor joint='j' gear='1e200' armature='1'/></actuator>"),
            "non-finite", "armature with that of the actuators is beyond");
    refused(WORLD(ARM("<joint name='j'/>"), "<actuator><motor joint='j' gear='1e200' damping='1'/></actuator>"),
            "non-finite", "damping with that of the actuators is beyond");
    refused(WORLD("<body gravcomp='1e308'><joint/><geom size='1'/></body>", ""), "non-finite", "gravity");
    refused("<mujoco><compiler settotalmass='1e308'/><worldbody><body><joint/><geom size='1' "
            "mass='1e-3'/></body></worldbody>"
            "</mujoco>",
            "non-finite", "beyond the range");
    refused("<mujoco><default><default class='a'/><default class='a'/></default></mujoco>", "duplicate-name", "\"a\"");
}

/* Each element and attribute that the reader ignores must be reported. */
static void nothing_is_dropped_silently(void **state)
{
    api_model *model =
        taken(WORLD(ARM("<joint damping='0.1 1' solreflimit='1 1' shape='7'/>") "<body mocap='true'><light/></body>",
                    "<tendon><fixed/></tendon><actuator><muscle/></actuator><option density='1.2'/><own/>"),
              NULL);
    assert_int_equal(count_reports(model, "not-held"), 2); /* muscle, density */
    assert_int_equal(count_reports(model, "unknown"), 2);  /* shape, <own> */
    assert_int_equal(count_reports(model, "dropped"), 3);  /* solreflimit, light, tendon */
    api_model_release(model);
}

static const char whole[] =
    "<mujoco model='w'><compiler angle='radian'/><default><joint damping='1'/><default class='c'><geom type='box'/>"
    "</default></default><worldbody><body name='a' pos='0 0 1' childclass='c'><freejoint/><geom size='.1 .2 .3'/>"
    "<body name='b' euler='.1 .2 .3'><joint name='j' axis='0 1 0' range='-1 1' ref='.2'/><joint name='k' type='slide'/>"
    "<inertial pos='0 0 .1' mass='1' fullinertia='.1 .1 .1 .01 .02 .03'/><site name='s' zaxis='1 1 0'/></body></body>"
    "</worldbody><equality><joint joint1='k' joint2='j' polycoef='0 .1'/></equality>"
    "<actuator><motor joint='j' gear='2' ctrlrange='-1 1'/></actuator></mujoco>";

static void every_cut_is_refused(void **state)
{
    assert_cuts_refused(api_model_from_mjcf, whole, strlen(whole));
    api_model *model = taken(whole, NULL), *again = model_again(model);
    assert_int_equal(model->nv, 7);
    api_model_release(model);
    api_model_release(again);
}

static void every_byte_may_change(void **state)
{
    assert_bytes_may_change(api_model_from_mjcf, whole);
}

static void bounds(void **state)
{
    char   text[60000];
    size_t end = (size_t)sprintf(text, "<mujoco><worldbody>");
    for (int i = 0; i < 100; i++)
        end += (size_t)sprintf(text + end, "<body>");
    refused(text, "too-deep", "100");
    end = (size_t)sprintf(text, "<mujoco><worldbody>");
    for (int i = 0; i <= LINKS; i++)
        end += (size_t)sprintf(text + end, "<body/>");
    sprintf(text + end, "</worldbody></mujoco>");
    refused(text, "model-too-large", "101 bodies");
    end = (size_t)sprintf(text, "<mujoco>");
    for (int i = 0; i <= 100; i++)
        end += (size_t)sprintf(text + end, "<default/>");
    sprintf(text + end, "</mujoco>");
    refused(text, "model-too-large", "100 outermost");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geoms_have_mass),
        cmocka_unit_test(joints_have_anchors),
        cmocka_unit_test(defaults_nest),
        cmocka_unit_test(references_shift),
        cmocka_unit_test(gravity_is_compensated),
        cmocka_unit_test(actuators_have_armature),
        cmocka_unit_test(frames_and_bounds_place_masses),
        cmocka_unit_test(springdampers_are_computed),
        cmocka_unit_test(efforts_are_symmetric),
        cmocka_unit_test(sites_give_way_to_bodies),
        cmocka_unit_test(joints_are_coupled),
        cmocka_unit_test(couplings_are_inverted),
        cmocka_unit_test(equalities_may_be_left_out),
        cmocka_unit_test(connect_closes_a_loop),
        cmocka_unit_test(includes),
        cmocka_unit_test(include_folders),
        cmocka_unit_test(refusals),
        cmocka_unit_test(nothing_is_dropped_silently),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_byte_may_change),
        cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
