/* test_urdf.c - reads URDF files by api_model_from_urdf: numbers to the bit, every cut and every changed byte of a
 * file, options, limits; and the functions below (decimal numbers, UTF-8). */
#include "api/codec/number.h"
#include "api/robots/urdf/urdf.h"
#include "api/robots/xml/xml_text.h"
#include "api/codec/utf8.h"
#include "tests/api/support/model_files.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char arm[] =
    "<?xml version='1.0'?>\n<robot name='arm'>\n"
    "<link name='base'><inertial><mass value='3'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
    "</inertial></link>\n"
    "<link name='upper'><inertial><origin xyz='.1 -0 +0.30000000000000004' rpy='0 0 0'/><mass value='1e0'/>"
    "<inertia ixx='0.1' ixy='0.01' ixz='0.02' iyy='0.2' iyz='-0.03' izz='0.25'/></inertial></link>\n"
    "<link name='t&#xF6;ol'/>\n"
    "<joint name='shoulder' type='revolute'><parent link='base'/><child link='upper'/>"
    "<origin xyz='0.1 0.2 0.3' rpy='1.5708 0 -3.14159265359'/><axis xyz='0 0 1'/>"
    "<limit lower='-1' upper='1' velocity='2' effort='3'/><dynamics damping='0.5' friction='0.25'/></joint>\n"
    "<joint name='flange' type='fixed'><parent link='upper'/><child link='t\xC3\xB6ol'/></joint>\n</robot>\n";

/* The document of the same robot. */
static const char twin[] =
    "{'base':{'type':'fixed','link':'base','inertial':{'mass':3,'inertia':{'xx':1,'yy':1,'zz':1}}},'links':["
    "{'name':'upper','parent':'base','joint':{'name':'shoulder','type':'revolute','axis':[0,0,1],"
    "'origin':{'xyz':[0.1,0.2,0.3],'rpy':[1.5708,0,-3.14159265359]},'limits':{'position':[-1,1],'velocity':2,"
    "'effort':3},'friction':{'viscous':0.5,'coulomb':0.25}},'inertial':{'mass':1,'com':[0.1,0,0.30000000000000004],"
    "'inertia':{'xx':0.1,'xy':0.01,'xz':0.02,'yy':0.2,'yz':-0.03,'zz':0.25}}},"
    "{'name':'t\\u00f6ol','parent':'upper','joint':{'name':'flange','type':'fixed'}}]}";

static api_model *read(const char *text, size_t length, api_problem *problem)
{
    return file_read(api_model_from_urdf, file_source(text, length, NULL), problem);
}

static void refused(const char *text, const char *code, const char *words)
{
    assert_file_refused(api_model_from_urdf, text, code, words);
}

/* --- values ---------------------------------------------------------------------------------------------------- */

static void file_and_document_are_one(void **state)
{
    api_problem problem;
    api_model  *model = read(arm, strlen(arm), &problem), *same = model_of(twin);
    assert_non_null(model);
    assert_string_equal(model->revision, same->revision);
    assert_int_equal(model->n_links, 3);
    assert_string_equal(model->link_names[2], "t\xC3\xB6ol");
    assert_reported(model, "merged", "/links/1/joint");
    assert_reported(model, "dropped", "/base/inertial");

    const double q = 0.7, qd = -1.1, qdd = 2.3;
    double       tau, expected;
    inverse_dynamics(model, &q, &qd, &qdd, &tau);
    inverse_dynamics(same, &q, &qd, &qdd, &expected);
    assert_memory_equal(&tau, &expected, sizeof tau);
    api_model_release(model);
    api_model_release(same);
}

/* A continuous joint of URDF has no position limits; its limits of velocity and effort must be kept. */
static void continuous_joints_have_no_range(void **state)
{
    static const char file[] = "<robot name='arm'><link name='base'/><link name='a'><inertial><mass value='1'/>"
                               "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>"
                               "<joint name='j' type='continuous'><parent link='base'/><child link='a'/>"
                               "<axis xyz='0 0 1'/><limit lower='-1' upper='1' velocity='2' effort='3'/></joint>"
                               "</robot>";
    static const char document[] =
        "{'base':{'type':'fixed','link':'base'},'links':[{'name':'a','parent':'base','joint':{'name':'j','type':"
        "'continuous','axis':[0,0,1],'limits':{'velocity':2,'effort':3}},'inertial':{'mass':1,'com':[0,0,0],"
        "'inertia':{'xx':1,'xy':0,'xz':0,'yy':1,'yz':0,'zz':1}}}]}";
    api_problem problem;
    api_model  *model = read(file, strlen(file), &problem), *same = model_of(document);
    assert_non_null(model);
    assert_string_equal(model->revision, same->revision);
    api_model_release(model);
    api_model_release(same);
}

/* Texts, the bytes that belong to the decimal at their beginning, and its value. */
static const struct {
    const char *text;
    size_t      used;
    double      value;
} decimal_texts[] = {
    {"1", 1, 1},
    {"+1", 2, 1},
    {"-1", 2, -1},
    {".5", 2, 0.5},
    {"1.", 2, 1},
    {"-.5e1", 5, -5},
    {"1.e2", 4, 100},
    {"007", 3, 7},
    {"00.25", 5, 0.25},
    {"1E+2", 4, 100},
    {"0x10", 1, 0},
    {"1 2", 1, 1},
    {"1,5", 1, 1},
    {"", 0, 0},
    {".", 0, 0},
    {"+", 0, 0},
    {"+-1", 0, 0},
    {"--1", 0, 0},
    {"e1", 0, 0},
    {".e1", 0, 0},
    {"1e", 0, 0},
    {"1e+", 0, 0},
    {"inf", 0, 0},
    {"-inf", 0, 0},
    {"nan", 0, 0},
    {"Infinity", 0, 0},
    {"1e999", 5, INFINITY},
    {"5e-324", 6, 5e-324},
    {"1e-999", 6, 0},
    {"0.1000000000000000055511151231257827021181583404541015625", 57, 0.1},
    {"9007199254740993", 16, 9007199254740992.0},
};

static void decimals(void **state)
{
    for (size_t i = 0; i < sizeof decimal_texts / sizeof *decimal_texts; i++) {
        double value = 0;
        size_t used  = api_number_read_decimal(decimal_texts[i].text, strlen(decimal_texts[i].text), &value);
        if (used != decimal_texts[i].used) fail_msg("%s: %zu bytes", decimal_texts[i].text, used);
        if (used > 0 && value != decimal_texts[i].value) fail_msg("%s: %.17g", decimal_texts[i].text, value);
        if (used > 1)
            assert_true(api_number_read_decimal(decimal_texts[i].text, 1, &value) <= 1); /* a text of length 1 must be
                                                                                            read for one byte at most */
    }
}

/* --- cut and changed bytes ------------------------------------------------------------------------------------- */

static void every_cut_is_refused(void **state)
{
    assert_cuts_refused(api_model_from_urdf, arm, strlen(arm) - 1); /* the last line end may be missing */
}

static void every_byte_may_change(void **state)
{
    assert_bytes_may_change(api_model_from_urdf, arm);
}

static void utf8(void **state)
{
    static const struct {
        const char *text;
        size_t      length, prefix;
    } cases[] = {
        {"", 0, 0},
        {"abc", 3, 3},
        {"a\0c", 3, 1},
        {"\xC3\xB6", 2, 2},
        {"\xC3\xB6", 1, 0},
        {"\xC0\x80", 2, 0},
        {"\xE0\x9F\xBF", 3, 0},
        {"\xE2\x82\xAC", 3, 3},
        {"\xED\xA0\x80", 3, 0},
        {"\xEF\xBB\xBF<", 4, 4},
        {"\xF0\x9F\xA4\x96", 4, 4},
        {"\xF0\x9F\xA4\x96", 3, 0},
        {"\xF4\x90\x80\x80", 4, 0},
        {"\xFE\xFF", 2, 0},
        {"x\x80", 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(api_utf8_prefix(cases[i].text, cases[i].length), cases[i].prefix);
}

/* --- refusals -------------------------------------------------------------------------------------------------- */

#define TREE(inside)                                                                                                   \
    "<robot><link name='a'/><link name='b'/><joint name='j' type='revolute'>"                                          \
    "<parent link='a'/><child link='b'/>" inside "</joint></robot>"

/* The server passes NULL for a body without bytes, which must be refused; UndefinedBehaviorSanitizer would report a
   copy from NULL. */
static void a_body_without_memory_is_refused(void **state)
{
    const api_model_source source  = file_source(NULL, 0, NULL);
    api_problem            problem = {.code = API_NO_PROBLEM};
    assert_null(api_model_from_urdf(&source, &problem));
    assert_int_equal(problem.code, API_BAD_XML);
}

static void refusals(void **state)
{
    refused("", "bad-xml", "empty");
    refused("<robot>", "bad-xml", "line 1");
    refused("<!DOCTYPE robot []><robot/>", "not-supported", "document type");
    refused("<robot>&x;</robot>", "bad-xml", "x");
    refused("<urdf/>", "bad-model", "<urdf>");
    refused("<x:robot xmlns:x='y'/>", "bad-model", "<robot>");
    refused(TREE("<axis xyz='1 0 x'/>"), "wrong-type", "line 1, joint \"j\"");
    refused(TREE("<axis xyz='1 0'/>"), "wrong-shape", "expected 3 numbers, given 2");
    refused(TREE("<dynamics damping='1 2'/>"), "wrong-shape", "expected 1 number, given 2");
    refused(TREE("<dynamics friction='-1'/>"), "bad-value", "negative");
    refused(TREE("<mimic multiplier='2'/>"), "missing-field", "\"joint\"");
    refused(TREE("<origin rpy='1e400 0 0'/>"), "non-finite", "entry 1");
    refused("<robot><link name='a'/><link name='a'/></robot>", "duplicate-name", "link \"a\"");
}

/* The reader must also check values of joints that do not move. */
static void fixed_joints_are_read(void **state)
{
#define FIXED(inside)                                                                                                  \
    "<robot><link name='a'/><link name='b'/><link name='c'/><joint name='j' type='continuous'>"                        \
    "<parent link='a'/><child link='b'/></joint><joint name='k' type='fixed'><parent link='b'/>"                       \
    "<child link='c'/>" inside "</joint></robot>"
    api_problem problem;
    const char *text  = FIXED("<axis xyz='0 0 0'/><limit effort='1'/><mimic joint='nobody'/>");
    api_model  *model = read(text, strlen(text), &problem);
    assert_non_null(model);
    assert_int_equal(model->nv, 1);
    assert_int_equal(count_reports(model, "dropped"), 2);
    api_model_release(model);
    refused(FIXED("<axis xyz='0 0 nan'/>"), "wrong-type", "joint \"k\"");
    refused(FIXED("<limit effort='much'/>"), "wrong-type", "joint \"k\"");
}

static void bounds(void **state)
{
    char   text[40000] = "<robot>";
    size_t end         = strlen(text);
    for (int i = 0; i < 100; i++)
        end += (size_t)sprintf(text + end, "<a>");
    refused(text, "too-deep", "100");

    end = (size_t)sprintf(text, "<robot><link name='l0'/>");
    for (int i = 1; i <= LINKS + 1; i++)
        end += (size_t)sprintf(text + end,
                               "<link name='l%d'/><joint name='j%d' type='continuous'><parent link='l%d'/>"
                               "<child link='l%d'/></joint>",
                               i, i, i - 1, i);
    sprintf(text + end, "</robot>");
    refused(text, "model-too-large", "102 links");

    end = (size_t)sprintf(text, "<robot><link name='l0'/>");
    for (int i = 1; i <= LINKS; i++)
        end += (size_t)sprintf(text + end,
                               "<link name='l%d'/><joint name='j%d' type='continuous'><parent link='l0'/>"
                               "<child link='l%d'/></joint>",
                               i, i, i);
    sprintf(text + end, "<joint name='more' type='fixed'><parent link='l1'/><child link='l2'/></joint></robot>");
    refused(text, "model-too-large", "101 joints");

    end = (size_t)sprintf(text, "<robot ");
    for (int i = 0; i <= 100; i++)
        end += (size_t)sprintf(text + end, "a%d = '='", i);
    sprintf(text + end, "/>");
    refused(text, "bad-xml", "100 attributes");

    enum { NAMES = 10000 };
    char *names = malloc(NAMES * 16);
    end         = (size_t)sprintf(names, "<robot>");
    for (int i = 0; i < NAMES; i++)
        end += (size_t)sprintf(names + end, "<name%d/>", i);
    sprintf(names + end, "</robot>");
    refused(names, "model-too-large", "different names");
    free(names);
}

/* Unknown elements must be reported by name up to a limit, and only counted beyond it. */
static void many_kinds(void **state)
{
    char        text[8000];
    size_t      end = (size_t)sprintf(text, "%s", TREE(""));
    api_problem problem;
    end -= strlen("</robot>");
    for (int i = 0; i < 200; i++)
        end += (size_t)sprintf(text + end, "<k%d/><k%d/>", i, i);
    end += (size_t)sprintf(text + end, "</robot>");
    api_model *model = read(text, end, &problem);
    assert_non_null(model);
    assert_int_equal(count_reports(model, "unknown"), 64 + 1);
    api_model_release(model);
}

/* A report entry must count the elements of its kind. */
#define BALL "<visual><geometry><sphere radius='1'/></geometry></visual>"

static void kinds_are_counted(void **state)
{
    api_problem problem;
    const char *text = "<robot><link name='a'>" BALL BALL "<collision/>" BALL "</link><link name='b'/>"
                       "<joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint></robot>";
    api_model                                       *model = read(text, strlen(text), &problem);
    assert_non_null(model);
    assert_int_equal(count_reports(model, "dropped"), 2);
    char *report = json_dumps(model->report, 0);
    if (!strstr(report, "<visual> in <link> \\\"a\\\" has no part in the dynamics; 3 of this kind"))
        fail_msg("%s", report);
    if (!strstr(report, "<collision> in <link> \\\"a\\\" has no part in the dynamics\"")) fail_msg("%s", report);
    free(report);
    api_model_release(model);
}

static void options(void **state)
{
    static const char *const bad[] = {"base",
                                      "base=",
                                      "base=Fixed",
                                      "base=fixedx",
                                      "mimic=refused",
                                      "base=fixed&base=fixed",
                                      "&",
                                      "x=1",
                                      "=",
                                      "base=fixed&&mimic=refuse",
                                      "basemimic=coupled",
                                      "base=%6",
                                      "base=%6&b",
                                      "base=fixed%00",
                                      "%zz=fixed"};
    api_urdf_options         o;
    api_problem              problem;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        api_problem_clear(&problem);
        if (api_urdf_options_read(bad[i], &o, &problem)) fail_msg("%s is accepted", bad[i]);
        assert_int_equal(api_problem_kind_of(problem.code)->status, 422);
    }
    api_problem_clear(&problem);
    assert_true(api_urdf_options_read(NULL, &o, &problem));
    assert_true(!o.floating && o.mimic == API_MIMIC_INDEPENDENT);
    assert_true(api_urdf_options_read("mimic=refuse&base=floating", &o, &problem));
    assert_true(o.floating && o.mimic == API_MIMIC_REFUSE);
    assert_true(api_urdf_options_read("mimi%63=%63oupled&b%61se=%66%6Coa%74ing", &o, &problem));
    assert_true(o.floating && o.mimic == API_MIMIC_COUPLED);
}

static void kinds_of_files(void **state)
{
    assert_true(api_xml_begins("\xEF\xBB\xBF \n<robot/>", 13));
    assert_true(api_xml_begins("<", 1));
    assert_false(api_xml_begins("", 0));
    assert_false(api_xml_begins(" \t", 2));
    assert_false(api_xml_begins("{\"a\":\"<\"}", 9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_and_document_are_one),
        cmocka_unit_test(continuous_joints_have_no_range),
        cmocka_unit_test(decimals),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_byte_may_change),
        cmocka_unit_test(utf8),
        cmocka_unit_test(a_body_without_memory_is_refused),
        cmocka_unit_test(refusals),
        cmocka_unit_test(fixed_joints_are_read),
        cmocka_unit_test(bounds),
        cmocka_unit_test(many_kinds),
        cmocka_unit_test(kinds_are_counted),
        cmocka_unit_test(options),
        cmocka_unit_test(kinds_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
