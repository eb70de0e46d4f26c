/* test_requests.c - checks every reason to refuse a dynamics request, and the field, entry and row that the error
 * names. */
#include "tests/api/support/door.h"
#include "api/requests/fields/rows.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct refusal {
    const char *target, *body, *code, *pointer;
    long long   row;
    const char *words;
} refusal;

static void check(const refusal *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        post(cases[i].target, cases[i].body);
        assert_problem(422, cases[i].code, cases[i].pointer, cases[i].row);
        assert_detail(cases[i].words);
    }
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))

#define ID   "arm/inverse-dynamics"
#define FD   "arm/forward-dynamics"
#define KIN  "arm/kinematics"
#define EVAL "arm/evaluate"
#define Q    "'q':[1,2,3,4]"

/* A list of vectors may be one state or a batch: the error must name the row of a bad number accordingly. */
static void rows_of_numbers(void **state)
{
    static const refusal cases[] = {
        {"arm/rollout", "{" Q ",'step':1,'torques':[[1,2,3,4],[1,1e999,3,4]]}", "non-finite", "/torques/1/1", -1,
         "overflows"},
        {"arm/rollout", "{" Q ",'step':1,'torques':[[[1,2,3,4],[1,1e999,3,4]]]}", "non-finite", "/torques/0/1/1", 0,
         "overflows"},
        {"arm/trajectory", "{'control_points':[[1,2,3,4],[1,1e999,3,4]]}", "non-finite", "/control_points/1/1", -1,
         "overflows"},
        {"arm/feed-forward", "{" Q ",'higher_derivatives':[[1,2,3,4],[1,1e999,3,4]]}", "non-finite",
         "/higher_derivatives/1/1", -1, "overflows"},
        {"arm/feed-forward", "{" Q ",'higher_derivatives':[[[1,2,3,4]],[[1,2,3,4],[1,2,3,1e999]]]}", "non-finite",
         "/higher_derivatives/1/1/3", 1, "overflows"},
    };
    CHECK(cases);
    assert_int_equal(api_row_of_pointer("/wrenches/0/force/2/1"), 2);
    assert_int_equal(api_row_of_pointer("/wrenches/0/force/values/3/2/1"), 3);
    assert_int_equal(api_row_of_pointer("/wrenches/0/force/values/2/1"), -1);
    assert_int_equal(api_row_of_pointer("/q/4/3/2/1"), -1);
    assert_int_equal(api_row_of_pointer("/payload/0/mass"), -1);
    assert_int_equal(api_row_of_pointer("/0"), -1);
    assert_int_equal(api_row_of_pointer(""), -1);
}

static void shapes(void **state)
{
    static const refusal cases[] = {
        {ID, "{'q':[1,2,3]}", "wrong-shape", "/q", -1, "3 entries given, 4 expected (nq of arm)"},
        {ID, "{'q':[],'qd':[1]}", "wrong-shape", "/qd", -1, "1 entries given, 4 expected"},
        {ID, "{'q':[],'qd':[[1,2,3,4]]}", "wrong-shape", "/qd", -1, "1 rows given, but /q has 0"},
        {ID, "{'q':[[1,2,3,4],[1,2,3]]}", "wrong-shape", "/q/1", 1, "3 entries given, 4 expected"},
        {ID, "{'q':[[]]}", "wrong-shape", "/q/0", 0, "0 entries given"},
        {ID, "{'q':[[1,2,3,4],[1,2,3,4]],'qd':[[1,2,3,4],[1,2,3,4],[1,2,3,4]]}", "wrong-shape", "/qd", -1,
         "3 rows given, but /q has 2"},
        {ID, "{'q':[[1,2,3,4],[1,2,3,4]],'qdd':[[1,2,3,4]]}", "wrong-shape", "/qdd", -1, "1 rows given, but /q has 2"},
        {"free/inverse-dynamics", "{'q':[1,2,3,4,5,6,7,8,9,10]}", "wrong-shape", "/q", -1,
         "10 entries given, 11 expected (nq"},
        {"free/inverse-dynamics", "{'q':[0,0,0,0,0,0,1,1,2,3,4],'qd':[1]}", "wrong-shape", "/qd", -1,
         "10 expected (nv"},
        {ID, "{" Q ",'wrenches':[{'link':'fore','force':[1,2]}]}", "wrong-shape", "/wrenches/0/force", -1,
         "2 entries given, 3"},
        {ID, "{'q':[[1,2,3,4]],'wrenches':[{'link':'fore'},{'link':'fore','point':[[1,2,3],[1,2,3]]}]}", "wrong-shape",
         "/wrenches/1/point", -1, "2 rows given, but /q has 1"},
        {ID, "{" Q ",'wrenches':[{'link':'fore','torque':[[1,2,3],[1,2,3]],'force':[[1,2,3]]}]}", "wrong-shape",
         "/wrenches/0/torque", -1, "/wrenches/0/force has 1"},
        {ID, "{" Q ",'gravity':[1,2]}", "wrong-shape", "/gravity", -1, "2 entries given, 3 expected"},
        {ID, "{" Q ",'payload':{'link':'fore','mass':1,'com':[1,2,3,4]}}", "wrong-shape", "/payload/com", -1,
         "4 entries"},
        {ID, "{" Q ",'joints':['hip']}", "wrong-shape", "/joints", -1, "1 names given, all 4"},
        {ID, "{" Q ",'outputs':[]}", "wrong-shape", "/outputs", -1, "at least one"},
        {EVAL, "{" Q ",'operations':{}}", "wrong-shape", "/operations", -1, "at least one"},
    };
    CHECK(cases);
}

/* Values of a wrong type. */
static const refusal type_refusals[] = {
    {ID, "[]", "wrong-type", "", -1, "an array given, an object expected"},
    {ID, "7", "wrong-type", "", -1, "a number given"},
    {EVAL, "null", "wrong-type", "", -1, "null given"},
    {ID, "{'q':1}", "wrong-type", "/q", -1, "a number given, an array of 4 numbers expected"},
    {ID, "{'q':null}", "missing-field", "/q", -1, "needs q"},
    {ID, "{'q':[1,2,'x',4]}", "wrong-type", "/q/2", -1, "a string given for grasp, a number expected"},
    {ID, "{'q':[1,[2],3,4]}", "wrong-type", "/q/1", -1, "an array given for elbow"},
    {ID, "{'q':[[1,2,3,4],5]}", "wrong-type", "/q/1", 1, "a number given"},
    {ID, "{'q':[[1,2,3,4],[1,2,3,true]]}", "wrong-type", "/q/1/3", 1, "true given for hip"},
    {ID, "{'q':[[[1,2,3,4]]]}", "wrong-type", "/q/0/0", 0, "an array given"},
    {ID, "{'q':[1,2,3,4,{}]}", "wrong-type", "/q/4", -1, "an object given, a number expected"},
    {ID, "{'q':{'shoulder':1,'elbow':'x','grasp':3,'hip':4}}", "wrong-type", "/q/elbow", -1,
     "a string given for elbow"},
    {ID, "{'q':[{'shoulder':1,'elbow':1,'grasp':3,'hip':4}]}", "wrong-type", "/q/0", -1, "an object given"},
    {ID, "{'q':{'shoulder':1,'elbow':1,'grasp':3,'hip':4},'qd':[[1,2,3,4]]}", "wrong-type", "/q", -1, "/qd is a batch"},
    {ID, "{" Q ",'friction':0}", "wrong-type", "/friction", -1, "a number given, true or false"},
    {ID, "{" Q ",'gravity':[[[0,0,1]]]}", "wrong-type", "/gravity/0/0", -1, "an array given"},
    {ID, "{" Q ",'gravity':9.81}", "wrong-type", "/gravity", -1, "an array of 3 numbers expected"},
    {ID, "{" Q ",'wrenches':{}}", "wrong-type", "/wrenches", -1, "an array of wrenches expected"},
    {ID, "{" Q ",'wrenches':[3]}", "wrong-type", "/wrenches/0", -1, "a number given, an object expected"},
    {ID, "{" Q ",'wrenches':[{'link':3}]}", "wrong-type", "/wrenches/0/link", -1, "a string expected"},
    {ID, "{" Q ",'wrenches':[{'link':'fore','frame':true}]}", "wrong-type", "/wrenches/0/frame", -1,
     "a string expected"},
    {ID, "{" Q ",'wrenches':[{'link':'fore','force':{}}]}", "wrong-type", "/wrenches/0/force", -1, "an object given"},
    {ID, "{" Q ",'wrenches':[{'link':'fore','force':[[1,2,3],[1,2,null]]}]}", "wrong-type", "/wrenches/0/force/1/2", 1,
     "null given, a number expected"},
    {ID, "{" Q ",'payload':1}", "wrong-type", "/payload", -1, "a payload or an array"},
    {ID, "{" Q ",'payload':[1]}", "wrong-type", "/payload/0", -1, "an object expected"},
    {ID, "{" Q ",'payload':{'link':'fore','mass':'x'}}", "wrong-type", "/payload/mass", -1, "a string given"},
    {ID, "{" Q ",'payload':{'link':'fore','mass':'1'}}", "wrong-type", "/payload/mass", -1, "spells a number"},
    {ID, "{" Q ",'payload':{'link':'fore','mass':1,'inertia':[1]}}", "wrong-type", "/payload/inertia", -1, "an object"},
    {ID, "{" Q ",'payload':{'link':'fore','mass':1,'inertia':{'xx':{}}}}", "wrong-type", "/payload/inertia/xx", -1,
     "an object"},
    {ID, "{" Q ",'on_error':1}", "wrong-type", "/on_error", -1, "a number given, a string expected"},
    {ID, "{" Q ",'joints':'hip'}", "wrong-shape", "/joints", -1, "1 names given, all 4"},
    {ID, "{" Q ",'joints':{'hip':1}}", "wrong-type", "/joints", -1, "an object given"},
    {ID, "{" Q ",'joints':['hip','elbow',3,'grasp']}", "wrong-type", "/joints/2", -1, "a number given"},
    {ID, "{" Q ",'outputs':'tua'}", "unknown-name", "/outputs", -1, "tua"},
    {ID, "{" Q ",'outputs':1}", "wrong-type", "/outputs", -1, "a number given"},
    {ID, "{" Q ",'outputs':[1]}", "wrong-type", "/outputs/0", -1, "a number given"},
    {KIN, "{" Q ",'frames':'tol'}", "unknown-name", "/frames", -1, "tol"},
    {KIN, "{" Q ",'frames':true}", "wrong-type", "/frames", -1, "true given"},
    {KIN, "{" Q ",'frame':['tool']}", "wrong-type", "/frame", -1, "an array given"},
    {KIN, "{" Q ",'reference':1}", "wrong-type", "/reference", -1, "a number given"},
    {EVAL, "{" Q ",'operations':['bias']}", "wrong-type", "/operations", -1, "an array given"},
    {EVAL, "{" Q ",'operations':{'bias':[]}}", "wrong-type", "/operations/bias", -1, "an array given, an object"},
    {EVAL, "{" Q ",'operations':{'bias':null}}", "wrong-shape", "/operations", -1, "an empty object given"},
};

static void types(void **state)
{
    CHECK(type_refusals);
}

/* Fields that are missing, or that the operation does not take. */
static const refusal field_refusals[] = {
    {ID, "{}", "missing-field", "/q", -1, "inverse-dynamics needs q"},
    {FD, "{" Q "}", "missing-field", "/tau", -1, "forward-dynamics needs tau"},
    {EVAL, "{" Q "}", "missing-field", "/operations", -1, "needs operations"},
    {EVAL, "{" Q ",'operations':{'bias':{},'forward-dynamics':{}}}", "missing-field", "/tau", -1,
     "forward-dynamics needs tau"},
    {KIN, "{" Q ",'outputs':['jacobian']}", "missing-field", "/frame", -1, "need \"frame\""},
    {EVAL, "{" Q ",'operations':{'kinematics':{'outputs':['jerk']}}}", "missing-field", "/operations/kinematics/frame",
     -1, ""},
    {ID, "{'q':{'shoulder':1,'elbow':2,'grasp':3}}", "missing-field", "/q/hip", -1, "hip is missing"},
    {ID, "{'q':{'shoulder':1,'elbow':2,'grasp':3,'hips':4}}", "unknown-name", "/q/hips", -1, "\"hips\""},
    {ID, "{" Q ",'wrenches':[{'force':[1,2,3]}]}", "missing-field", "/wrenches/0/link", -1, "needs its link"},
    {ID, "{" Q ",'payload':{'mass':1}}", "missing-field", "/payload/link", -1, "needs its link"},
    {ID, "{" Q ",'payload':[{'link':'fore'}]}", "missing-field", "/payload/0/mass", -1, "needs its mass"},
    {ID, "{" Q ",'tau':[1,2,3,4]}", "unknown-field", "/tau", -1, "takes tau only for free coordinates"},
    {ID, "{" Q ",'qddd':[1,2,3,4]}", "unknown-field", "/qddd", -1,
     "there are: q, qd, qdd, tau, qd_reference, qdd_reference, gravity"},
    {ID, "{" Q ",'':1}", "unknown-field", "/", -1, "\"\""},
    {ID, "{" Q ",'a/b~c':1}", "unknown-field", "/a~1b~0c", -1, "a/b~c"},
    {ID, "{" Q ",'operations':{}}", "unknown-field", "/operations", -1, ""},
    {ID, "{" Q ",'frame':'tool'}", "unknown-field", "/frame", -1, ""},
    {"arm/mass-matrix", "{" Q ",'gravity':[0,0,0]}", "unknown-field", "/gravity", -1,
     "q, payload, joints, guess, platform, parameters, locked, normalise, on_error, outputs"},
    {"arm/energy", "{" Q ",'wrenches':[]}", "unknown-field", "/wrenches", -1, ""},
    {KIN, "{" Q ",'payload':[]}", "unknown-field", "/payload", -1, ""},
    {EVAL, "{" Q ",'operations':{'bias':{'q':[1,2,3,4]}}}", "unknown-field", "/operations/bias/q", -1,
     "there are: outputs"},
    {EVAL, "{" Q ",'qdd':[1,2,3,4],'operations':{'bias':{}}}", "unknown-field", "/qdd", -1,
     "evaluate with these operations"},
    {EVAL, "{" Q ",'outputs':['bias'],'operations':{'bias':{}}}", "unknown-field", "/outputs", -1, ""},
    {ID, "{" Q ",'wrenches':[{'link':'fore','forces':[1,2,3]}]}", "unknown-field", "/wrenches/0/forces", -1,
     "a wrench"},
    {ID, "{" Q ",'payload':{'link':'fore','mass':1,'colour':1}}", "unknown-field", "/payload/colour", -1, "a payload"},
    {ID, "{" Q ",'payload':{'link':'fore','mass':1,'inertia':{'ixx':1}}}", "unknown-field", "/payload/inertia/ixx", -1,
     "xx"},
};

static void missing_and_unknown_fields(void **state)
{
    CHECK(field_refusals);
}

static void names(void **state)
{
    static const refusal cases[] = {
        {ID, "{'q':{'shoulder':1,'elbow':2,'grasp':3,'hip':4,'knee':5}}", "unknown-name", "/q/knee", -1, "knee"},
        {ID, "{" Q ",'joints':['hip','elbow','knee','grasp']}", "unknown-name", "/joints/2", -1,
         "no velocity coordinate \"knee\""},
        {ID, "{" Q ",'joints':['hip','elbow','hip','grasp']}", "duplicate-name", "/joints/2", -1,
         "hip is listed twice"},
        {"free/bias", "{'q':[0,0,0,0,0,0,1,1,2,3,4],'joints':[]}", "wrong-shape", "/joints", -1, "all 4 of free"},
        {ID, "{" Q ",'outputs':['tau','tua']}", "unknown-name", "/outputs/1", -1, "there are: tau, joint_wrenches"},
        {ID, "{" Q ",'outputs':['tau','tau']}", "duplicate-name", "/outputs/1", -1, "tau is listed twice"},
        {KIN, "{" Q ",'frames':['tool','tol']}", "unknown-name", "/frames/1", -1, "no link or frame \"tol\""},
        {KIN, "{" Q ",'frames':['tool','hip']}", "unknown-name", "/frames/1", -1, "no link or frame \"hip\""},
        {KIN, "{" Q ",'frames':['tool','tool']}", "duplicate-name", "/frames/1", -1, "tool is listed twice"},
        {KIN, "{" Q ",'frame':'tol'}", "unknown-name", "/frame", -1, "tol"},
        {KIN, "{" Q ",'reference':'body'}", "bad-value", "/reference", -1, "\"world\" or \"frame\" expected"},
        {ID, "{" Q ",'wrenches':[{'link':'tol'}]}", "unknown-name", "/wrenches/0/link", -1,
         "no link or frame \"tol\"; there are: torso, "},
        {ID, "{" Q ",'wrenches':[{'link':'fore','frame':'World'}]}", "unknown-name", "/wrenches/0/frame", -1,
         "\"world\", \"link\" or a link or frame expected; there are: torso, "},
        {ID, "{" Q ",'wrenches':[{'link':'fore','frame':'upper'}]}", "bad-value", "/wrenches/0/frame", -1,
         "\"upper\" moves against the body"},
        {ID, "{" Q ",'payload':{'link':'nowhere','mass':1}}", "unknown-name", "/payload/link", -1,
         "no link or frame \"nowhere\"; there are: torso, "},
        {EVAL, "{" Q ",'operations':{'bais':{}}}", "unknown-name", "/operations/bais", -1, "the nearest are: bias"},
        {EVAL, "{" Q ",'operations':{'evaluate':{}}}", "unknown-name", "/operations/evaluate", -1, ""},
        {EVAL, "{" Q ",'operations':{'kinematics':{'frames':['x']}}}", "unknown-name",
         "/operations/kinematics/frames/0", -1, ""},
    };
    CHECK(cases);
}

static void figures(void **state)
{
    static const refusal cases[] = {
        {ID, "{'q':[1,2,1e999,4]}", "non-finite", "/q/2", -1, "overflows"},
        {ID, "{'q':[[1,2,3,4],[1,-1e999,3,4]]}", "non-finite", "/q/1/1", 1, "overflows"},
        {ID, "{" Q ",'wrenches':[{'link':'fore','force':[[1,2,3],[4,5,6],[7,8,1e309]]}]}", "non-finite",
         "/wrenches/0/force/2/2", 2, "overflows"},
        {ID, "{'q':[1e6,2,3,4]}", "angle-too-large", "/q/0", -1, "shoulder is 1000000"},
        {ID, "{'q':[[1,2,3,4],[1,2,1e9,-100001]]}", "angle-too-large", "/q/1/3", 1, "hip is -100001"},
        {ID, "{'q':[1,2,1e6,4],'joints':['grasp','hip','shoulder','elbow']}", "angle-too-large", "/q/2", -1,
         "shoulder is"},
        {ID, "{'q':{'shoulder':1,'elbow':2e9,'grasp':3,'hip':4}}", "angle-too-large", "/q/elbow", -1, "elbow is"},
        {ID, "{'q':[1e6,2,3,4],'qd':[[1,2,3,4],[1,2,3,4]]}", "angle-too-large", "/q/0", -1, "shoulder is"},
        {"free/bias", "{'q':[0,0,0,0,0,0,1.0000011,1,2,3,4]}", "bad-quaternion", "/q/3", -1, "1.0000011"},
        {"free/bias", "{'q':[0,0,0,0,0,0,0.9999989,1,2,3,4]}", "bad-quaternion", "/q/3", -1, "0.9999989"},
        {"free/bias", "{'q':[0,0,0,0,0,0,0,1,2,3,4]}", "bad-quaternion", "/q/3", -1, "the norm 0"},
        {"free/bias", "{'q':[[0,0,0,0,0,0,1,1,2,3,4],[0,0,0,1e200,1e200,0,1,1,2,3,4]]}", "bad-quaternion", "/q/1/3", 1,
         "norm"},
        {ID, "{" Q ",'payload':{'link':'fore','mass':-1}}", "bad-inertia", "/payload", -1, "negative"},
        {ID, "{" Q ",'payload':[{'link':'fore','mass':1,'inertia':{'xx':-1,'yy':1,'zz':1}}]}", "bad-inertia",
         "/payload/0", -1, "negative principal moment"},
        {ID, "{" Q ",'qd':[1e200,1e200,0,0]}", "result-not-finite", NULL, -1, "tau["},
        {ID, "{'q':[[1,2,3,4],[1,2,3,4]],'qd':[[0,0,0,0],[1e200,1e200,0,0]]}", "result-not-finite", NULL, 1, "tau["},
        {"slider/energy", "{'q':[0],'qd':[1e200]}", "result-not-finite", NULL, -1, "kinetic"},
        {"slider/energy", "{'q':[[0],[0]],'qd':[[1],[-1e200]]}", "result-not-finite", NULL, 1, "kinetic"},
    };
    CHECK(cases);
    assert_int_equal(post(ID, "{'q':[100000,-100000,1e9,0]}")->status, 200);
    assert_int_equal(post("free/bias", "{'q':[0,0,0,0,0,0,1.0000009,1,2,3,4]}")->status, 200);
}

static void massless_robots_have_no_centre(void **state)
{
    ask("PUT", "/v1/models/ghost", "{'base':{'type':'floating'},'links':[]}");
    post("ghost/energy", "{'q':[0,0,0,0,0,0,1],'outputs':['com']}");
    assert_problem(422, "result-not-finite", NULL, -1);
    assert_detail("nothing that moves has one");
    ask("DELETE", "/v1/models/ghost", NULL);
}

/* The limit applies to the angle, not to the coordinate: a screw of length |w| rotates by |w| q. */
static void angles_of_geared_joints(void **state)
{
    static const refusal cases[] = {
        {"screw/bias", "{'q':[30000]}", "angle-too-large", "/q/0", -1, "joint1 is 30000"},
        {"screw/bias", "{'q':[[1],[-30000]]}", "angle-too-large", "/q/1/0", 1, "joint1 is -30000"},
    };
    static const char document[] =
        "{'screws':{'M':[[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]],'S':[[0,0,4,0,0,0]],'G':[[[1,0,0,0,0,0],"
        "[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]]}}";
    assert_int_equal(ask("PUT", "/v1/models/screw", document)->status, 201);
    CHECK(cases);
    assert_int_equal(post("screw/bias", "{'q':[25000]}")->status, 200);
    ask("DELETE", "/v1/models/screw", NULL);
}

/* The row in an error must count from the start of the batch, not of the chunk in which it was evaluated. */
static void singular_in_a_late_chunk(void **state)
{
    enum { ROWS = 1300, BAD = 1201 };
    char *text = malloc(ROWS * 16 + 100), *p = text + sprintf(text, "{'tau':[0,0],'q':[");
    for (int i = 0; i < ROWS; i++)
        p += sprintf(p, "%s[0,%s]", i > 0 ? "," : "", i == BAD ? "0" : "1.5");
    sprintf(p, "]}");
    assert_int_equal(
        ask("PUT", "/v1/models/straight",
            "{'links':[{'name':'a','parent':'base','joint':{'name':'shoulder','type':'revolute','axis':[0,0,1]}},"
            "{'name':'b','parent':'a','joint':{'name':'elbow','type':'revolute','axis':[0,0,1],'origin':"
            "{'xyz':[1,0,0]}},'inertial':{'mass':1,'com':[1,0,0]}}]}")
            ->status,
        201);
    post("straight/forward-dynamics", text);
    assert_problem(422, "singular-mass-matrix", "/q/1201", BAD);
    assert_detail("shoulder");
    free(text);
    ask("DELETE", "/v1/models/straight", NULL);
}

static void singular_mass_matrices(void **state)
{
    static const refusal cases[] = {
        {"limp/forward-dynamics", "{'q':[1,2],'tau':[1,2]}", "singular-mass-matrix", "/q", -1, "wrist"},
        {"limp/forward-dynamics", "{'q':[1,2],'tau':[[1,2],[3,4]],'outputs':['joint_wrenches']}",
         "singular-mass-matrix", "/q", 0, "wrist"},
        {"limp/mass-matrix", "{'q':[1,2],'outputs':['inverse']}", "singular-mass-matrix", "/q", -1, "wrist"},
        {"limp/evaluate", "{'q':[1,2],'operations':{'mass-matrix':{'outputs':['inverse']}}}", "singular-mass-matrix",
         "/q", -1, "wrist"},
    };
    assert_int_equal(
        ask("PUT", "/v1/models/limp",
            "{'links':[{'name':'a','parent':'base','joint':{'name':'elbow','type':"
            "'revolute','axis':[0,0,1]},'inertial':{'mass':1,'com':[1,0,0]}},{'name':'b','parent':'a','joint':"
            "{'name':'wrist','type':'revolute','axis':[0,0,1]}}]}")
            ->status,
        201);
    CHECK(cases);
    assert_int_equal(post("limp/mass-matrix", "{'q':[1,2]}")->status, 200);
    assert_int_equal(post("limp/inverse-dynamics", "{'q':[1,2]}")->status, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_numbers),
        cmocka_unit_test(shapes),
        cmocka_unit_test(types),
        cmocka_unit_test(missing_and_unknown_fields),
        cmocka_unit_test(names),
        cmocka_unit_test(figures),
        cmocka_unit_test(massless_robots_have_no_centre),
        cmocka_unit_test(angles_of_geared_joints),
        cmocka_unit_test(singular_mass_matrices),
        cmocka_unit_test(singular_in_a_late_chunk),
    };
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
