/* test_mimic.c - checks joints that mimic another one (share its coordinate): composed ratios, canonical text, reports,
 * refusals. */
#include "tests/api/support/models.h"
#include <string.h>

#define BODY                      "'inertial':{'mass':8,'inertia':{'xx':0.1,'yy':0.1,'zz':0.1}}"
#define JOINT(name, more)         "'joint':{'name':'" name "','type':'revolute','axis':[0,0,1]" more "}"
#define LINK(name, parent, joint) "{'name':'" name "','parent':'" parent "'," joint "," BODY "}"
#define MIMIC(more)               ",'mimic':{" more "}"
#define ROBOT(links)              "{'links':[" links "]}"

/* Joint `jc` is listed before `jb`, which it mimics and which mimics `ja`. With ja at q, jc is at 3 (2 q + 0.5) - 1. */
#define CHAIN                                                                                                          \
    ROBOT(LINK("c", "b", JOINT("jc", MIMIC("'joint':'jb','multiplier':3,'offset':-1"))) "," LINK(                      \
        "a", "base", JOINT("ja", "")) "," LINK("b", "a",                                                               \
                                               JOINT("jb", MIMIC("'joint':'ja','multiplier':2,'offset':0.5"))))

static void chains_are_composed(void **state)
{
    api_model *model = model_of(CHAIN);
    assert_int_equal(model->nq, 1);
    assert_int_equal(model->nv, 1);
    assert_int_equal(model->n_bodies, 3);
    assert_int_equal(model->n_joints, 3);
    assert_string_equal(model->velocity_names[0], "ja");
    assert_string_equal(model->position_names[0], "ja");
    assert_null(model->joints[0].leader);
    assert_string_equal(model->joints[2].name, "jc");
    assert_string_equal(model->joints[2].leader, "ja");
    assert_true(model->joints[2].multiplier == 6 && model->joints[2].offset == 0.5);
    assert_int_equal(count_reports(model, "coupled"), 2);
    assert_reported(model, "coupled", "/links/0/joint/mimic");

    /* angles add up along the chain: rates 1, 1 + 2, 1 + 2 + 6 */
    const double q = 0.2, expected = 0.1 * (1 + 9 + 81);
    double       M;
    mass_matrix(model, &q, &M);
    assert_close(&M, &expected, 1, 1e-14);

    char             text[API_ANGLE_TEXT];
    const double     far    = 20000; /* rotates c beyond the range of sine and cosine */
    const dyn_bound *beyond = api_find_angle_beyond_limit(model, &far, 1);
    assert_null(api_find_angle_beyond_limit(model, &q, 1));
    assert_non_null(beyond);
    api_angle_write(beyond, far, text);
    assert_string_equal(text, "20000, which turns a joint by 120000.5");
    assert_non_null(api_find_angle_beyond_limit(model, &(double){16666.6}, 1)); /* due to the offset */
    assert_null(api_find_angle_beyond_limit(model, &(double){16666.5}, 1));
    assert_null(api_find_angle_beyond_limit(model, &(double){-16666.6}, 1));
    assert_non_null(api_find_angle_beyond_limit(model, &(double){-16666.8}, 1));
    api_model_release(model);
}

/* Canonical text must keep mimics as given: not composed, and without members that state a default. */
static void documents_keep_mimics_as_given(void **state)
{
    api_model *model = model_of(ROBOT(LINK("a", "base", JOINT("ja", "")) "," LINK(
        "b", "a",
        JOINT("jb",
              MIMIC("'joint':'ja','multiplier':1,'offset':0"))) "," LINK("c", "b",
                                                                         JOINT(
                                                                             "jc",
                                                                             MIMIC("'joint':'jb','multiplier':-2")))));
    assert_non_null(strstr(model->document, "\"mimic\":{\"joint\":\"ja\"}"));
    assert_non_null(strstr(model->document, "\"mimic\":{\"joint\":\"jb\",\"multiplier\":-2}"));
    api_model_release(model_again(model));
    api_model_release(model);
}

/* A prismatic and a revolute joint may share a coordinate; a fixed joint must not mimic. */
static void kinds(void **state)
{
    api_model *model = model_of(
        ROBOT(LINK("a", "base", JOINT("ja", "")) ",{'name':'b','parent':'a','joint':{'name':'jb','type':'prismatic',"
                                                 "'axis':[1,0,0],'mimic':{'joint':'ja','multiplier':0.01}}," BODY "},"
                                                 "{'name':'c','parent':'b','joint':{'name':'jc','type':'fixed','mimic':"
                                                 "{'joint':'nobody'}}}"));
    assert_int_equal(model->nv, 1);
    assert_reported(model, "dropped", "/links/2/joint/mimic");
    assert_int_equal(count_reports(model, "coupled"), 1);
    api_model_release(model);
}

/* A coordinate that moves some mass must not be reported as suspicious, whether the leader or the mimic moves the
 * mass. */
static void one_joint_with_mass_is_enough(void **state)
{
#define BARE(name, parent, joint) "{'name':'" name "','parent':'" parent "'," joint "}"
    api_model *model =
        model_of(ROBOT(BARE("a", "base", JOINT("ja", "")) "," LINK("b", "base", JOINT("jb", MIMIC("'joint':'ja'")))));
    assert_int_equal(count_reports(model, "suspicious"), 0);
    api_model_release(model);
    model =
        model_of(ROBOT(LINK("a", "base", JOINT("ja", "")) "," BARE("b", "base", JOINT("jb", MIMIC("'joint':'ja'")))));
    assert_int_equal(count_reports(model, "suspicious"), 0);
    api_model_release(model);
    model = model_of(ROBOT(LINK("x", "base", JOINT("jx", "")) "," BARE("a", "base", JOINT("ja", "")) "," BARE(
        "b", "base", JOINT("jb", MIMIC("'joint':'ja'")))));
    assert_int_equal(count_reports(model, "suspicious"), 1);
    assert_reported(model, "suspicious", "/links/1");
    api_model_release(model);
}

static void refusals(void **state)
{
#define TWO(mimic) ROBOT(LINK("a", "base", JOINT("ja", "")) "," LINK("b", "a", JOINT("jb", MIMIC(mimic))))
    static const char pointer[] = "/links/1/joint/mimic/joint";
    assert_refused(TWO("'joint':'jx'"), "unknown-name", pointer, "\"jx\", which is not a joint");
    assert_refused(TWO("'joint':'jb'"), "bad-model", pointer, "\"jb\", which mimics it in turn");
    assert_refused(TWO("'multiplier':2"), "missing-field", pointer, "joint");
    assert_refused(TWO("'joint':''"), "bad-name", pointer, "empty");
    assert_refused(TWO("'joint':1"), "wrong-type", pointer, "a number");
    assert_refused(TWO("'joint':'ja','multiplier':0"), "bad-value", "/links/1/joint/mimic/multiplier", "fixed");
    assert_refused(TWO("'joint':'ja','ratio':2"), "unknown-field", "/links/1/joint/mimic/ratio", "multiplier");
    assert_refused(
        ROBOT(LINK("a", "base", JOINT("ja", MIMIC("'joint':'jb'"))) "," LINK(
            "b", "a", JOINT("jb", MIMIC("'joint':'jc'"))) "," LINK("c", "b", JOINT("jc", MIMIC("'joint':'jb'")))),
        "bad-model", "/links/1/joint/mimic/joint", "in turn");
    assert_refused(ROBOT("{'name':'f','parent':'base','joint':{'name':'jf','type':'fixed'}}," LINK(
                       "a", "base", JOINT("ja", MIMIC("'joint':'jf'")))),
                   "bad-value", pointer, "which is fixed");
    assert_refused(
        ROBOT(LINK("a", "base", JOINT("ja", "")) "," LINK(
            "b", "a",
            JOINT("jb",
                  MIMIC("'joint':'ja','multiplier':1e200"))) "," LINK("c", "b",
                                                                      JOINT("jc",
                                                                            MIMIC("'joint':'jb','multiplier':1e200")))),
        "non-finite", "/links/2/joint/mimic/joint", "overflow or vanish");
}

/* The limit of degrees of freedom counts coordinates: more links than the limit may mimic one joint. */
static void long_chain(void **state)
{
    enum { LINKS = 600 };
    static char text[LINKS * 300];
    size_t      length = (size_t)sprintf(text, "{'links':[" LINK("l0", "base", JOINT("j0", "")));
    for (int i = 1; i < LINKS; i++)
        length +=
            (size_t)sprintf(text + length,
                            ",{'name':'l%d','parent':'l%d','joint':{'name':'j%d','type':'prismatic','axis':[0,0,1],"
                            "'mimic':{'joint':'j%d'}},'inertial':{'mass':1}}",
                            i, i - 1, i, LINKS - i == i ? 0 : i - 1);
    sprintf(text + length, "]}");
    api_model *model = model_of(text);
    assert_int_equal(model->nv, 1);
    assert_int_equal(model->n_bodies, LINKS);
    api_model_release(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_composed),
        cmocka_unit_test(documents_keep_mimics_as_given),
        cmocka_unit_test(kinds),
        cmocka_unit_test(one_joint_with_mass_is_enough),
        cmocka_unit_test(refusals),
        cmocka_unit_test(long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
