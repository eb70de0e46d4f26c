/* test_document.c - checks what the product makes of a model document: order of coordinates, names, canonical text,
 * revision, report. */
#include "tests/api/support/models.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINK(name, parent, joint, type, more)                                                                          \
    "{'name':'" name "','parent':'" parent "','joint':{'name':'" joint "','type':'" type "','axis':[0,0,1]}" more "}"
#define BODY ",'inertial':{'mass':1,'inertia':{'xx':1,'yy':1,'zz':1}}"

static void assert_names(const char *const *actual, size_t n, const char *expected)
{
    char text[512] = "";
    for (size_t i = 0; i < n; i++) {
        strcat(text, i ? " " : "");
        strcat(text, actual[i]);
    }
    assert_string_equal(text, expected);
}

/* clang-format off */
static const char branched[] =
    "{'links':["
    LINK("leaf", "middle", "j4", "revolute", BODY) ","
    LINK("right", "base", "j1", "prismatic", BODY) ","
    LINK("left", "base", "j2", "revolute", BODY) ","
    LINK("glued", "left", "j3", "fixed", BODY) ","
    LINK("middle", "glued", "j5", "continuous", BODY) ","
    LINK("twig", "left", "j6", "revolute", BODY)
    "],'frames':[{'name':'eye','link':'glued','xyz':[0,0,1]}]}";
static const char walking[] =
    "{'base':{'type':'floating','link':'trunk','inertial':{'mass':3,'inertia':{'xx':1,'yy':1,'zz':1}}},'links':["
    LINK("hip", "trunk", "base.z2", "revolute", BODY) "]}";
/* clang-format on */

/* Coordinates must follow the tree depth first, children in document order, whatever the order in which links are
 * listed. */
static void order_of_coordinates(void **state)
{
    api_model *model = model_of(branched);
    assert_names(model->velocity_names, model->nv, "j1 j2 j5 j4 j6");
    assert_names(model->position_names, model->nq, "j1 j2 j5 j4 j6");
    assert_names(model->body_names, model->n_bodies, "right left middle leaf twig");
    assert_names(model->link_names, model->n_links, "base leaf right left glued middle twig");
    assert_int_equal(model->n_frames, 8);
    assert_string_equal(model->frames[4].name, "glued");
    assert_string_equal(model->frames[4].link, "glued");
    assert_int_equal(model->frames[4].frame.body, 1); /* the body of link left, into which this link is merged */
    assert_string_equal(model->frames[7].name, "eye");
    assert_string_equal(model->frames[7].link, "glued");
    assert_int_equal(model->frames[7].frame.body, 1);
    assert_int_equal(model->frames[0].frame.body, DYN_WORLD);
    assert_string_equal(model->joints[3].link, "leaf");
    assert_string_equal(model->joints[3].parent, "middle");
    assert_string_equal(model->joints[2].type, "continuous");
    assert_string_equal(model->joints[0].type, "prismatic");
    assert_int_equal(model->joints[3].body, 3);
    assert_int_equal(api_model_frame(model, "eye", 3), 7);
    assert_int_equal(api_model_frame(model, "eyes", 4), -1);
    assert_int_equal(api_model_frame(model, "ey", 2), -1);
    assert_reported(model, "merged", "/links/3/joint");
    api_model_release(model);
}

static void floating_base(void **state)
{
    api_model *model = model_of(walking);
    assert_int_equal(model->nq, 8);
    assert_int_equal(model->nv, 7);
    assert_names(model->position_names, 8, "base.x base.y base.z base.qx base.qy base.qz base.qw base.z2");
    assert_names(model->velocity_names, 7, "base.vx base.vy base.vz base.wx base.wy base.wz base.z2");
    assert_names(model->body_names, 2, "trunk hip");
    assert_int_equal(model->n_joints, 1);
    assert_true(model->dyn->mass == 4);
    api_model_release(model);
    model = model_of("{'base':{'type':'floating','inertial':{'mass':3}},'links':[]}"); /* a free body without links */
    assert_int_equal(model->nv, 6);
    api_model_release(model);
}

static void joints_carry_their_limits(void **state)
{
    api_model *model = model_of(
        "{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'revolute','axis':[0,0,1],'actuated':false,"
        "'limits':{'position':[-1,2.5],'velocity':3,'effort':0,'effort_rate':40}}},"
        "{'name':'b','parent':'a','joint':{'name':'k','type':'continuous','axis':[0,0,1],'limits':{'position':[-1,1]}}}"
        "]}");
    const api_joint_name *j = &model->joints[0], *k = &model->joints[1];
    assert_false(j->actuated);
    assert_true(j->has_position_limits && j->limits.has_velocity && j->limits.has_effort);
    assert_true(j->lower == -1 && j->upper == 2.5 && j->limits.velocity == 3 && j->limits.effort == 0);
    assert_true(j->limits.has_effort_rate && j->limits.effort_rate == 40 && !k->limits.has_effort_rate);
    assert_true(k->actuated);
    assert_false(k->has_position_limits || k->limits.has_velocity || k->limits.has_effort);
    assert_reported(model, "dropped", "/links/1/joint/limits/position");
    api_model_release(model);
}

/* --- canonical text -------------------------------------------------------------------------------------------- */

/* Canonical text must order fields, omit defaults, and write gravity and base out. */
static void canonical_text(void **state)
{
    api_model *model = model_of(
        "{'frames':[],'links':[{'inertial':{'inertia':{'yz':0,'xx':2,'zz':1.5,'yy':2.5e0},'com':[0,0,0],'mass':1e1},"
        "'joint':{'axis':[0,0,2],'type':'revolute','name':'j','origin':{'rpy':[0,0,0],'xyz':[0,0.10,0]},'actuated':"
        "true,"
        "'friction':{'coulomb':0,'viscous':0},'limits':{},'spring':{'rest':0},'rotor_inertia':0},'parent':'base',"
        "'name':'a'}],'motors':[],'loops':[],'base':{'inertial':{}},'description':'d'}");
    assert_string_equal(
        model->document,
        "{\"name\":\"robot\",\"description\":\"d\",\"gravity\":[0,0,-9.81],"
        "\"base\":{\"type\":\"fixed\",\"link\":\"base\"},\"links\":[{\"name\":\"a\",\"parent\":\"base\","
        "\"joint\":{\"name\":\"j\",\"type\":\"revolute\",\"origin\":{\"xyz\":[0,0.1,0]},\"axis\":[0,0,2]},"
        "\"inertial\":{\"mass\":10,\"inertia\":{\"xx\":2,\"yy\":2.5,\"zz\":1.5}}}]}");
    assert_int_equal(model->document_length, strlen(model->document));
    api_model_release(model);
}

/* A document with every form and every field: its canonical text must read back as the same model. */
static const char everything[] =
    "{'name':'robot','description':'\\u00e4\\u0001','source':'\\ud83e\\udd16','gravity':[0.1,-0.0,-9.80665],"
    "'base':{'type':'floating','link':'trunk','inertial':{'solid':'capsule','size':[0.1,0.3],'density':1234.5}},'links'"
    ":["
    "{'name':'dh','parent':'trunk','joint':{'name':'j1','type':'revolute','origin':{'dh':{'theta':0.3,'d':0.4,'a':0.5,"
    "'alpha':-1.5707963267948966}},'limits':{'position':[-0.0,2],'velocity':0,'effort':7,'effort_rate':0.5},'friction':"
    "{'viscous':0.1,"
    "'coulomb':{'positive':0.2,'negative':0.3},'coulomb_velocity':0.01,'breakaway':{'positive':0.4,'negative':0.5},"
    "'stribeck_velocity':0.3,'load':0.05},'rotor_inertia':0.01,"
    "'spring':{'stiffness':3,'damping':0.4,'rest':-0.0}},'inertial':{'mass':2,'com':[0.1,-0.0,0.3],"
    "'inertia':{'xx':0.5,'yy':0.6,'zz':0.7,'xy':0.01,'xz':0.02,'yz':-0.03}}},"
    "{'name':'empty "
    "dh','parent':'dh','joint':{'name':'j2','type':'prismatic','origin':{'dh':{}},'friction':{'coulomb':1}},"
    "'inertial':{'solid':'box','size':[0.1,0.2,0.3],'mass':1,'xyz':[1,2,3],'rpy':[0.1,0.2,0.3]}},"
    "{'name':'mdh','parent':'trunk','joint':{'name':'j3','type':'continuous','actuated':false,'origin':{'modified_dh':{"
    "'gamma':0.1,'b':0.2,'alpha':0.3,'d':0.4,'theta':0.5,'r':0.6}}},'inertial':{'solid':'ellipsoid','size':[0.1,0.2,0."
    "3],"
    "'mass':1}},"
    "{'name':'mended','parent':'mdh','joint':{'name':'j4','type':'revolute','axis':[1,2,3],'origin':{'matrix':"
    "[[0.8253356,-0.5646425,0,1],[0.5646425,0.8253356,0,-0.0],[0,0,1,3],[0,0,0,1]]}},'inertial':{'solid':'cylinder',"
    "'size':[0.1,0.2],'density':1000}},"
    "{'name':'plain','parent':'mended','joint':{'name':'j5','type':'prismatic','axis':[-0.0,3e-200,4e-200],"
    "'origin':{'xyz':[1e-7,1e21,123456789012345680000],'rpy':[0.7,0.8,-0.9]}},'inertial':{'solid':'sphere','size':[0.1]"
    ","
    "'mass':0.1}},"
    "{'name':'glued','parent':'plain','joint':{'name':'j6','type':'fixed','axis':[1,0,0],'limits':{'effort':3},"
    "'origin':{'xyz':[0,0,1]}},'inertial':{'mass':1}}],"
    "'frames':[{'name':'tool','link':'glued','xyz':[0,0,-0.0],'rpy':[0,0,1]},{'name':'cam','link':'trunk'}]}";

static void assert_same_bits(const api_model *a, const api_model *b)
{
    double q[64], qd[64], qdd[64], x[64], y[64];
    for (size_t i = 0; i < 64; i++) {
        q[i]   = .1 + .37 * (double)i;
        qd[i]  = 1 - .21 * (double)i;
        qdd[i] = .5 * (double)(i % 7) - 1;
    }
    if (a->dyn->floating) memcpy(&q[3], (double[]){.5, -.5, .5, .5}, 4 * sizeof *q);
    assert_int_equal(a->nv, b->nv);
    inverse_dynamics(a, q, qd, qdd, x);
    inverse_dynamics(b, q, qd, qdd, y);
    assert_memory_equal(x, y, a->nv * sizeof *x);
    joint_wrenches(a, q, qd, qdd, x);
    joint_wrenches(b, q, qd, qdd, y);
    assert_memory_equal(x, y, 6 * a->n_bodies * sizeof *x);
    for (size_t i = 0; i < a->n_frames; i++) {
        frame_pose(a, a->frames[i].name, q, x, x + 3);
        frame_pose(b, b->frames[i].name, q, y, y + 3);
        assert_memory_equal(x, y, 7 * sizeof *x);
    }
}

static void assert_fixed_point(const api_model *model)
{
    api_model *again = model_again(model);
    assert_same_bits(model, again);
    api_model_release(again);
}

static void canonical_text_is_a_fixed_point(void **state)
{
    static const char *const robots[] = {
        "two_link", "prismatic_revolute", "stanford", "puma560", "three_link", "ur5", "panda", "tx40"};
    api_model *model = model_of(everything);
    assert_non_null(strstr(model->document, "\"gravity\":[0.1,-0,-9.80665]"));
    assert_non_null(strstr(model->document, "\"xyz\":[1e-7,1e+21,123456789012345680000]"));
    assert_non_null(strstr(model->document, "\"origin\":{\"dh\":{}}"));
    assert_non_null(strstr(model->document, "\"name\":\"cam\",\"link\":\"trunk\"}"));
    assert_fixed_point(model);
    api_model_release(model);
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++) {
        model = bundled_model(robots[i]);
        assert_fixed_point(model);
        api_model_release(model);
    }
}

#define ONE(more) "{'links':[" LINK("a", "base", "j", "revolute", BODY) "]" more "}"

static void assert_revisions(const char *a, const char *b, bool same)
{
    api_model *x = model_of(a), *y = model_of(b);
    assert_int_equal(strlen(x->revision), 32);
    assert_int_equal(strspn(x->revision, "0123456789abcdef"), 32);
    assert_int_equal(strcmp(x->revision, y->revision) == 0, same);
    api_model_release(x);
    api_model_release(y);
}

static void revisions(void **state)
{
    assert_revisions(ONE(""), ONE(",'name':'other'"), true); /* the name is not part of the revision */
    assert_revisions(ONE(""), ONE(",'gravity':[0,0,-9.81],'base':{'type':'fixed'}"), true);
    assert_revisions(ONE(""), ONE(",'gravity':[0,0,-9.80]"), false);
    assert_revisions(ONE(""), ONE(",'description':'x'"), false);
    assert_revisions(ONE(""), ONE(",'gravity':[-0.0,0,-9.81]"), false); /* -0 and 0 are different doubles */
}

/* Compares with the SHA-256 of the canonical text without its name, computed with another program. */
static void revision_is_a_hash_of_the_text(void **state)
{
    api_model *model = model_of(ONE(""));
    assert_string_equal(model->revision, "723b4155008d80e2f4b21171652db308");
    api_model_release(model);
}

/* --- report ---------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const char questionable[] =
    "{'name':'other','base':{'inertial':{'mass':4}},'links':["
    LINK("a", "base", "j0", "fixed", ",'inertial':{'mass':2}") ","
    LINK("b", "a", "j1", "revolute", "") ","
    LINK("c", "a", "j2", "revolute", ",'inertial':{'inertia':{'xx':1,'yy':1,'zz':1}}") ","
    LINK("d", "c", "j3", "prismatic", "") ","
    LINK("e", "a", "j4", "revolute", ",'inertial':{'mass':1,'inertia':{'xx':1,'yy':1,'zz':3}}") ","
    "{'name':'f','parent':'e','joint':{'name':'j5','type':'revolute','axis':[0,0,1],'rotor_inertia':1,"
    "'friction':{'viscous':-1},'spring':{'damping':-1,'damping_polynomial':[1,-2]}}}]}";
static const char weightless[] =
    "{'base':{'type':'floating'},'gravity':[0,0,0],'links':[" LINK("a", "base", "j", "prismatic", "") "]}";
static const char hanger[] = /* without gravity, a free body puts no load on any joint */
    "{'gravity':[0,0,0],'links':[" LINK("a", "base", "j", "revolute", "") ","
    "{'name':'b','parent':'a','joint':{'name':'k','type':'floating'},'inertial':{'mass':1,'inertia':{'xx':0.01,'yy':0.01,'zz':0.01}}}]}";
static const char plate[] =
    "{'gravity':[0,0,0],'links':["
    LINK("a", "base", "j", "revolute", ",'inertial':{'solid':'box','size':[0.1,0.7,0],'mass':3,'rpy':[0.1,0.2,0.3]}") "]}";
/* clang-format on */

static void report(void **state)
{
    api_model *model = model_of(questionable);
    assert_reported(model, "replaced", "/name");
    assert_reported(model, "assumed", "/gravity");
    assert_reported(model, "dropped", "/base/inertial");
    assert_reported(model, "merged", "/links/0/joint");
    assert_reported(model, "dropped", "/links/0/joint/axis");
    assert_reported(model, "suspicious", "/links/1");          /* the link moves no mass */
    assert_reported(model, "suspicious", "/links/2/inertial"); /* an inertia tensor without a mass */
    assert_reported(model, "suspicious", "/links/3");          /* a prismatic joint that moves no mass */
    assert_reported(model, "suspicious", "/links/4/inertial"); /* principal moments violate the triangle inequality */
    assert_reported(model, "suspicious", "/links/5/joint/friction/viscous");
    assert_reported(model, "suspicious", "/links/5/joint/spring/damping");
    assert_reported(model, "suspicious", "/links/5/joint/spring/damping_polynomial");
    assert_int_equal(json_array_size(model->report), 12); /* no further entries: link 5 has a rotor */
    assert_true(model->dyn->mass == 1);                   /* links fixed to the world do not count */
    api_model_release(model);

    model = model_of(weightless);
    assert_reported(model, "suspicious", "/links"); /* one entry for the robot, none per joint */
    assert_int_equal(json_array_size(model->report), 1);
    api_model_release(model);

    model = model_of(hanger);
    assert_reported(model, "suspicious", "/links/0");
    assert_int_equal(json_array_size(model->report), 1);
    api_model_release(model);

    model = model_of(plate); /* l1 + l2 = l3 up to rounding: not suspicious */
    assert_int_equal(json_array_size(model->report), 0);
    api_model_release(model);
}

/* clang-format off */
static const char misread[] =
    "{'gravity':[0,0,0],'links':["
    LINK("a", "base", "j", "revolute", ",'inertial':{'mass':1,'com':[0,0,150]}") ","
    LINK("b", "a", "k", "prismatic", ",'inertial':{'mass':1}") ","
    "{'name':'c','parent':'b','inertial':{'mass':1,'com':[99,0,0]},'joint':{'name':'l','type':'revolute','axis':[0,0,1],"
    "'origin':{'xyz':[0,300,0],'rpy':[0,6.9,-90]},'limits':{'position':[-180,0]}}},"
    "{'name':'d','parent':'c','inertial':{'mass':1},'joint':{'name':'m','type':'revolute',"
    "'origin':{'dh':{'theta':180,'alpha':-7,'a':99}},'limits':{'position':[-30,30]}}},"
    "{'name':'e','parent':'d','inertial':{'mass':1},'joint':{'name':'n','type':'revolute','axis':[1,0,0],"
    "'limits':{'position':[-1e16,1e16]}}}]}";
/* clang-format on */

/* Values that look like degrees or millimetres are accepted and reported as suspicious. */
static void units(void **state)
{
    api_model *model = model_of(misread);
    assert_reported(model, "suspicious", "/links/0/inertial");
    assert_reported(model, "suspicious", "/links/2/joint");
    assert_reported(model, "suspicious", "/links/2/joint/origin/rpy/2");
    assert_reported(model, "suspicious", "/links/2/joint/limits/position");
    assert_reported(model, "suspicious", "/links/3/joint/origin/dh/theta");
    assert_int_equal(json_array_size(model->report), 6); /* one of the entries is about masses without an inertia */
    api_model_release(model);
}

/* Long names in the report must be cut between UTF-8 characters, wherever the cut falls. */
static void long_names_in_the_report(void **state)
{
    char text[4096], name[257], link[512];
    for (size_t start = 0; start < 4; start++) {
        memset(name, 'x', sizeof name);
        for (size_t i = start; i + 4 <= 255; i += 4)
            memcpy(name + i, "\xF0\x9F\xA4\x96", 4); /* U+1F916 */
        name[255] = '\0';
        snprintf(link, sizeof link, "y%s", name);
        snprintf(
            text, sizeof text,
            "{'name':'%s','links':[{'name':'%s','parent':'base','joint':{'name':'j','type':'revolute','axis':[0,0,1]}},"
            "{'name':'%s','parent':'%s','joint':{'name':'k','type':'fixed'}}]}",
            name, name, link, name);
        api_model *model = model_of(text);
        assert_reported(model, "replaced", "/name");
        assert_reported(model, "merged", "/links/1/joint");
        api_model_release(model);
    }
}

/* --- memory ---------------------------------------------------------------------------------------------------- */

static void sharing(void **state)
{
    api_model *model = model_of(ONE(""));
    assert_ptr_equal(api_model_share(model), model);
    api_model_release(model);
    assert_string_equal(model->velocity_names[0], "j"); /* the name is still allocated */
    api_model_release(model);
    api_model_release(NULL);
}

static size_t allocations_left;

static void *failing_malloc(size_t bytes)
{
    return allocations_left == 0 ? NULL : (allocations_left--, malloc(bytes));
}

/* Lets each allocation of the JSON library fail in turn: the answer must be a problem, and nothing may leak or
 * crash. */
static void memory_runs_out(void **state)
{
    json_t     *document = json_of(everything);
    api_model  *model    = NULL;
    api_problem problem;
    size_t      limit = 0;
    for (; !model && limit < 100000; limit++) {
        api_problem_clear(&problem);
        allocations_left = limit;
        json_set_alloc_funcs(failing_malloc, free);
        model = api_model_from_document(document, "robot", 4096, &problem);
        json_set_alloc_funcs(malloc, free);
        if (!model) assert_int_equal(problem.code, API_MEMORY_FULL);
    }
    assert_true(limit > 100);
    assert_non_null(model);
    api_model_release(model);
    json_decref(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_coordinates),
        cmocka_unit_test(floating_base),
        cmocka_unit_test(joints_carry_their_limits),
        cmocka_unit_test(canonical_text),
        cmocka_unit_test(canonical_text_is_a_fixed_point),
        cmocka_unit_test(revisions),
        cmocka_unit_test(revision_is_a_hash_of_the_text),
        cmocka_unit_test(report),
        cmocka_unit_test(units),
        cmocka_unit_test(long_names_in_the_report),
        cmocka_unit_test(sharing),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
