/* test_document_errors.c - checks every reason to refuse a model document, and the field that the error names. */
#include "tests/api/support/models.h"

typedef struct refusal {
    const char *text, *code, *pointer, *words;
} refusal;

static void check(const refusal *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_refused(cases[i].text, cases[i].code, cases[i].pointer, cases[i].words);
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))

/* Texts of documents with one revolute link, and further members of the joint, the link, or the document. */
#define WITH_JOINT(more) "{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'revolute'" more "}}]}"
#define WITH_AXIS(more)  WITH_JOINT(",'axis':[0,0,1]" more)
#define LINK(name, parent, joint, more)                                                                                \
    "{'name':'" name "','parent':'" parent "','joint':{'name':'" joint "','type':'revolute','axis':[0,0,1]}" more "}"
#define WITH_LINK(more)   "{'links':[" LINK("a", "base", "j", more) "]}"
#define WITH_TOP(more)    "{'links':[" LINK("a", "base", "j", "") "]" more "}"
#define INERTIAL(members) WITH_LINK(",'inertial':{" members "}")
#define IDENTITY          "[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]"
#define UNIT_G            "[[1,0,0,0,0,0],[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]"
#define SCREWS(M, G, S)   "{'screws':{'M':[" M "],'G':[" G "],'S':[" S "]}}"

/* Values of a wrong type, and arrays of a wrong shape. */
static const refusal type_refusals[] = {
    {"[]", "wrong-type", "", "expected an object, given an array"},
    {"7", "wrong-type", "", "expected an object, given a number"},
    {"{'links':{}}", "wrong-type", "/links", "expected an array of objects, given an object"},
    {"{'links':[3]}", "wrong-type", "/links/0", "expected an object, given a number"},
    {"{'links':[null]}", "wrong-type", "/links/0", "given null"},
    {"{'links':[{'name':3,'parent':'base','joint':{}}]}", "wrong-type", "/links/0/name", "expected a string"},
    {"{'links':[{'name':'a','parent':'base','joint':[]}]}", "wrong-type", "/links/0/joint", "expected an object"},
    {WITH_TOP(",'name':[null]"), "wrong-type", "/name", "given an array"},
    {WITH_TOP(",'description':1"), "wrong-type", "/description", "expected a string, given a number"},
    {WITH_TOP(",'source':[]"), "wrong-type", "/source", "expected a string, given an array"},
    {WITH_TOP(",'gravity':9.81"), "wrong-type", "/gravity", "expected an array of 3 numbers, given a number"},
    {WITH_TOP(",'gravity':[0,0]"), "wrong-shape", "/gravity", "expected 3 entries, given 2"},
    {WITH_TOP(",'gravity':[0,'0',0]"), "wrong-type", "/gravity/1", "expected a number, given a string"},
    {WITH_TOP(",'gravity':[0,0,null]"), "wrong-type", "/gravity/2", "given null"},
    {WITH_TOP(",'base':'fixed'"), "wrong-type", "/base", "expected an object"},
    {WITH_TOP(",'base':{'type':1}"), "wrong-type", "/base/type", "expected a string"},
    {WITH_TOP(",'frames':{}"), "wrong-type", "/frames", "expected an array"},
    {WITH_TOP(",'frames':[{'name':'f','link':'a','xyz':[1]}]"), "wrong-shape", "/frames/0/xyz", "given 1"},
    {WITH_AXIS(",'actuated':1"), "wrong-type", "/links/0/joint/actuated", "expected true or false"},
    {WITH_AXIS(",'limits':3"), "wrong-type", "/links/0/joint/limits", "expected an object"},
    {WITH_AXIS(",'limits':{'position':[1]}"), "wrong-shape", "/links/0/joint/limits/position", "expected 2 entries"},
    {WITH_AXIS(",'limits':{'velocity':[1]}"), "wrong-type", "/links/0/joint/limits/velocity", "expected a number"},
    {WITH_AXIS(",'friction':{'coulomb':[1,2]}"), "wrong-type", "/links/0/joint/friction/coulomb", "given an array"},
    {WITH_AXIS(",'friction':{'coulomb':{'positive':true}}"), "wrong-type", "/links/0/joint/friction/coulomb/positive",
     "given true"},
    {WITH_AXIS(",'origin':{'matrix':[1,0,0,0]}"), "wrong-type", "/links/0/joint/origin/matrix/0", "array of 4 numbers"},
    {WITH_AXIS(",'origin':{'matrix':[[1,0,0,0]]}"), "wrong-shape", "/links/0/joint/origin/matrix", "given 1"},
    {WITH_JOINT(",'axis':[0,0,1,0]"), "wrong-shape", "/links/0/joint/axis", "expected 3 entries, given 4"},
    {INERTIAL("'inertia':[1,1,1]"), "wrong-type", "/links/0/inertial/inertia", "expected an object"},
    {INERTIAL("'mass':'2'"), "wrong-type", "/links/0/inertial/mass", "given a string"},
    {INERTIAL("'solid':'box','size':[1,1],'mass':1"), "wrong-shape", "/links/0/inertial/size", "edge x"},
    {INERTIAL("'solid':'sphere','size':1,'mass':1"), "wrong-type", "/links/0/inertial/size", "expected an array"},
    {SCREWS(IDENTITY "," IDENTITY "," IDENTITY, UNIT_G, "[0,0,1,0,0,0]"), "wrong-shape", "/screws/M",
     "expected 1 entries, given 3"},
    {SCREWS(IDENTITY, UNIT_G "," UNIT_G, "[0,0,1,0,0,0]"), "wrong-shape", "/screws/G", "expected 1"},
    {SCREWS("[[1,0,0],[0,1,0],[0,0,1],[0,0,0]]", UNIT_G, "[0,0,1,0,0,0]"), "wrong-shape", "/screws/M/0/0", "4"},
    {SCREWS(IDENTITY, UNIT_G, "[0,0,1,0,0]"), "wrong-shape", "/screws/S/0", "expected 6 entries, given 5"},
    {"{'screws':{'M':3,'G':[],'S':[]}}", "wrong-type", "/screws/M", "expected an array"},
};

static void wrong_types_and_shapes(void **state)
{
    CHECK(type_refusals);
}

static void missing_and_unknown_fields(void **state)
{
    static const refusal cases[] = {
        {"{}", "missing-field", "/links", "needed"},
        {"{'links':[{}]}", "missing-field", "/links/0/name", "needed"},
        {"{'links':[{'name':'a'}]}", "missing-field", "/links/0/parent", "needed"},
        {"{'links':[{'name':'a','parent':'base'}]}", "missing-field", "/links/0/joint", "needed"},
        {"{'links':[{'name':'a','parent':'base','joint':{}}]}", "missing-field", "/links/0/joint/name", "needed"},
        {"{'links':[{'name':'a','parent':'base','joint':{'name':'j'}}]}", "missing-field", "/links/0/joint/type", ""},
        {WITH_JOINT(""), "missing-field", "/links/0/joint/axis", "needed"},
        {WITH_JOINT(",'origin':{'xyz':[1,0,0]}"), "missing-field", "/links/0/joint/axis", "needed"},
        {WITH_JOINT(",'origin':{'matrix':" IDENTITY "}"), "missing-field", "/links/0/joint/axis", "needed"},
        {WITH_TOP(",'frames':[{'name':'f'}]"), "missing-field", "/frames/0/link", "needed"},
        {WITH_TOP(",'frames':[{'link':'a'}]"), "missing-field", "/frames/0/name", "needed"},
        {INERTIAL("'solid':'box','mass':1"), "missing-field", "/links/0/inertial/size", "needed"},
        {INERTIAL("'solid':'box','size':[1,1,1]"), "missing-field", "/links/0/inertial", "neither"},
        {"{'screws':{'M':[],'G':[]}}", "missing-field", "/screws/S", "needed"},
        {WITH_TOP(",'colour':1"), "unknown-field", "/colour", "known here: name, description"},
        {WITH_TOP(",'a/b~c':1"), "unknown-field", "/a~1b~0c", "a/b~c"},
        {WITH_TOP(",'base':{'kind':1}"), "unknown-field", "/base/kind", "type, link, inertial"},
        {WITH_LINK(",'mass':1"), "unknown-field", "/links/0/mass", "inertial"},
        {WITH_AXIS(",'damping':1"), "unknown-field", "/links/0/joint/damping", "friction"},
        {WITH_AXIS(",'origin':{'xyz':[0,0,0],'quat':[0,0,0,1]}"), "unknown-field", "/links/0/joint/origin/quat", ""},
        {WITH_JOINT(",'origin':{'dh':{'r':1}}"), "unknown-field", "/links/0/joint/origin/dh/r", "theta, d, a, alpha"},
        {WITH_JOINT(",'origin':{'modified_dh':{'a':1}}"), "unknown-field", "/links/0/joint/origin/modified_dh/a", ""},
        {WITH_AXIS(",'limits':{'snap':1}"), "unknown-field", "/links/0/joint/limits/snap", ""},
        {WITH_AXIS(",'friction':{'static':1}"), "unknown-field", "/links/0/joint/friction/static", ""},
        {WITH_AXIS(",'friction':{'coulomb':{'both':1}}"), "unknown-field", "/links/0/joint/friction/coulomb/both", ""},
        {WITH_AXIS(",'spring':{'k':1}"), "unknown-field", "/links/0/joint/spring/k", "stiffness"},
        {INERTIAL("'inertia':{'yx':1}"), "unknown-field", "/links/0/inertial/inertia/yx", "xx"},
        {INERTIAL("'mass':1,'size':[1]"), "unknown-field", "/links/0/inertial/size", "mass, com, inertia"},
        {INERTIAL("'solid':'sphere','size':[1],'mass':1,'com':[0,0,0]"), "unknown-field", "/links/0/inertial/com", ""},
        {WITH_TOP(",'frames':[{'name':'f','link':'a','matrix':" IDENTITY "}]"), "unknown-field", "/frames/0/matrix",
         ""},
        {"{'screws':{'M':[],'G':[],'S':[],'T':[]}}", "unknown-field", "/screws/T", "M, G, S"},
    };
    CHECK(cases);
}

/* Values that no robot can have. */
static const refusal range_refusals[] = {
    {WITH_JOINT(",'axis':[0,0,0]"), "bad-value", "/links/0/joint/axis", "no direction"},
    {WITH_JOINT(",'axis':[0,-0.0,0]"), "bad-value", "/links/0/joint/axis", "no direction"},
    {WITH_AXIS(",'origin':{'dh':{}}"), "bad-value", "/links/0/joint/axis", "the axis is z"},
    {WITH_AXIS(",'origin':{'modified_dh':{'r':1}}"), "bad-value", "/links/0/joint/axis", "the axis is z"},
    {WITH_JOINT(",'origin':{'dh':{},'xyz':[0,0,0]}"), "bad-value", "/links/0/joint/origin", "one form"},
    {WITH_JOINT(",'origin':{'dh':{},'modified_dh':{}}"), "bad-value", "/links/0/joint/origin", "one form"},
    {WITH_AXIS(",'origin':{'rpy':[0,0,0],'matrix':" IDENTITY "}"), "bad-value", "/links/0/joint/origin", ""},
    {WITH_AXIS(",'limits':{'position':[1,0]}"), "bad-value", "/links/0/joint/limits/position", "above"},
    {WITH_AXIS(",'limits':{'velocity':-1}"), "bad-value", "/links/0/joint/limits/velocity", "negative"},
    {WITH_AXIS(",'limits':{'effort':-1}"), "bad-value", "/links/0/joint/limits/effort", "negative"},
    {WITH_AXIS(",'limits':{'effort_rate':0}"), "bad-value", "/links/0/joint/limits/effort_rate", "greater than 0"},
    {WITH_AXIS(",'limits':{'effort_rate':-3}"), "bad-value", "/links/0/joint/limits/effort_rate", "-3 given"},
    {WITH_AXIS(",'limits':{'effort_rate':[1]}"), "wrong-type", "/links/0/joint/limits/effort_rate", ""},
    {WITH_AXIS(",'friction':{'coulomb':-1}"), "bad-value", "/links/0/joint/friction/coulomb", "negative"},
    {WITH_AXIS(",'friction':{'coulomb':{'negative':-1}}"), "bad-value", "/links/0/joint/friction/coulomb/negative",
     "negative"},
    {WITH_AXIS(",'friction':{'coulomb_velocity':-1}"), "bad-value", "/links/0/joint/friction/coulomb_velocity", ""},
    {WITH_AXIS(",'friction':{'breakaway':1,'coulomb':1.5,'stribeck_velocity':1}"), "bad-value",
     "/links/0/joint/friction/breakaway", "less than the Coulomb friction"},
    {WITH_AXIS(",'friction':{'breakaway':{'positive':2,'negative':1},'coulomb':1.5,'stribeck_velocity':1}"),
     "bad-value", "/links/0/joint/friction/breakaway", "less than the Coulomb friction"},
    {WITH_AXIS(",'friction':{'coulomb':{'positive':1,'negative':2},'breakaway':1.5,'stribeck_velocity':1}"),
     "bad-value", "/links/0/joint/friction/breakaway", "less than the Coulomb friction"},
    {WITH_AXIS(",'friction':{'breakaway':{'positive':1,'negative':2},'coulomb':1.5,'stribeck_velocity':1}"),
     "bad-value", "/links/0/joint/friction/breakaway", "less than the Coulomb friction"},
    {WITH_AXIS(",'friction':{'coulomb':{'positive':2,'negative':1},'breakaway':1.5,'stribeck_velocity':1}"),
     "bad-value", "/links/0/joint/friction/breakaway", "less than the Coulomb friction"},
    {WITH_AXIS(",'friction':{'breakaway':1,'stribeck_velocity':0}"), "bad-value",
     "/links/0/joint/friction/stribeck_velocity", "less than 1e-09"},
    {WITH_AXIS(",'friction':{'load':1}"), "bad-value", "/links/0/joint/friction/load", "is not less than 1"},
    {WITH_AXIS(",'friction':{'load':-0.1}"), "bad-value", "/links/0/joint/friction/load", "negative"},
    {WITH_AXIS(",'friction':{'breakaway':1}"), "missing-field", "/links/0/joint/friction/stribeck_velocity",
     "together"},
    {WITH_AXIS(",'friction':{'stribeck_velocity':1}"), "missing-field", "/links/0/joint/friction/breakaway",
     "together"},
    {WITH_AXIS(",'rotor_inertia':-1e-9"), "bad-value", "/links/0/joint/rotor_inertia", "negative"},
    {INERTIAL("'solid':'cone','size':[1,1],'mass':1"), "bad-value", "/links/0/inertial/solid", "not a solid"},
    {INERTIAL("'solid':'box','size':[1,-1,1],'mass':1"), "bad-value", "/links/0/inertial/size", "negative"},
    {INERTIAL("'solid':'box','size':[1,1,1],'mass':1,'density':1"), "bad-value", "/links/0/inertial", "both"},
    {INERTIAL("'solid':'box','size':[1,1,1],'density':-1"), "bad-value", "/links/0/inertial/density", "negative"},
    {WITH_TOP(",'base':{'type':'free'}"), "bad-value", "/base/type", "floating"},
    {"{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'hinge'}}]}", "bad-value", "/links/0/joint/type",
     "not a joint type"},
    {WITH_TOP(",'screws':{'M':[],'G':[],'S':[]}"), "bad-value", "/screws", "not both"},
    {SCREWS(IDENTITY, UNIT_G, "[0,0,0,0,0,0]"), "bad-value", "/screws/S/0", "zero"},
};

static void values_out_of_range(void **state)
{
    CHECK(range_refusals);
}

static void invalid_transforms(void **state)
{
#define MATRIX(rows) WITH_AXIS(",'origin':{'matrix':[" rows "]}")
#define AT           "/links/0/joint/origin/matrix"
    static const refusal cases[] = {
        {MATRIX("[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,2]"), "bad-rotation", AT, "last row"},
        {MATRIX("[1,0,0,0],[0,1,0,0],[0,0,1,0],[1,0,0,1]"), "bad-rotation", AT, "last row"},
        {MATRIX("[1,0,0,0],[0,1,0,0],[0,0,-1,0],[0,0,0,1]"), "bad-rotation", AT, "determinant"},
        {MATRIX("[1,0,0,0],[0,1,0,0],[0,0,0,0],[0,0,0,1]"), "bad-rotation", AT, "determinant"},
        {MATRIX("[1,0,0,0],[0,1,0,0],[0,0,1.000002,0],[0,0,0,1]"), "bad-rotation", AT, "at most 1e-6"},
        {MATRIX("[1,1e-5,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]"), "bad-rotation", AT, "at most 1e-6"},
        {MATRIX("[1e200,0,0,0],[0,1e200,0,0],[0,0,1e200,0],[0,0,0,1]"), "bad-rotation", AT, ""},
        {SCREWS("[[2,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]", UNIT_G, "[0,0,1,0,0,0]"), "bad-rotation", "/screws/M/0",
         ""},
        {SCREWS(IDENTITY ",[[0,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]", UNIT_G, "[0,0,1,0,0,0]"), "bad-rotation",
         "/screws/M/1", ""},
    };
    CHECK(cases);
#undef AT
}

static void impossible_inertias(void **state)
{
#define AT "/links/0/inertial"
#define DIAGONAL(a, b, c, d, e, f)                                                                                     \
    "[[" a ",0,0,0,0,0],[0," b ",0,0,0,0],[0,0," c ",0,0,0],[0,0,0," d ",0,0],[0,0,0,0," e ",0],[0,0,0,0,0," f "]]"
    static const refusal cases[] = {
        {INERTIAL("'mass':-1"), "bad-inertia", AT "/mass", "mass -1 kg is negative"},
        {INERTIAL("'mass':1,'inertia':{'xx':-1,'yy':1,'zz':1}"), "bad-inertia", AT, "negative principal moment"},
        {INERTIAL("'mass':1,'inertia':{'xx':-1}"), "bad-inertia", AT, "negative principal moment"},
        {INERTIAL("'mass':1,'inertia':{'xx':1,'yy':1,'zz':1,'xy':1.1}"), "bad-inertia", AT, "-0.1 kg m^2"},
        {INERTIAL("'mass':1,'inertia':{'xx':1,'yy':1,'zz':-1.1e-9}"), "bad-inertia", AT, "negative"},
        {INERTIAL("'mass':1,'inertia':{'xz':1e-3}"), "bad-inertia", AT, "negative"},
        {INERTIAL("'mass':1,'inertia':{'xx':-1e300,'yy':1e300,'zz':1e300}"), "bad-inertia", AT, "negative"},
        {INERTIAL("'solid':'sphere','size':[1],'mass':-2"), "bad-inertia", AT "/mass", "mass -2 kg"},
        {INERTIAL("'solid':'sphere','size':[1e200],'density':1"), "bad-inertia", AT, "not a finite"},
        {INERTIAL("'solid':'box','size':[1e200,1,1],'mass':1"), "bad-inertia", AT, "not finite"},
        {WITH_TOP(",'base':{'inertial':{'mass':-1}}"), "bad-inertia", "/base/inertial/mass", "negative"},
        {SCREWS(IDENTITY, DIAGONAL("1", "1", "1", "1", "1", "2"), "[0,0,1,0,0,0]"), "bad-inertia", "/screws/G/0",
         "entry [5][5] is 2, expected 1"},
        {SCREWS(IDENTITY, DIAGONAL("-1", "1", "1", "1", "1", "1"), "[0,0,1,0,0,0]"), "bad-inertia", "/screws/G/0", ""},
        {SCREWS(IDENTITY, DIAGONAL("1", "1", "1", "-1", "-1", "-1"), "[0,0,1,0,0,0]"), "bad-inertia", "/screws/G/0",
         "negative"},
        {SCREWS(IDENTITY, "[[1,0.1,0,0,0,0],[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]",
                "[0,0,1,0,0,0]"),
         "bad-inertia", "/screws/G/0", "I symmetric"},
    };
    CHECK(cases);
#undef AT
}

static void names_and_trees(void **state)
{
#define TWO(a, b)     "{'links':[" a "," b "]}"
#define TAIL          LINK("tail", "a", "h", "")
#define CIRCLE_BESIDE TWO(LINK("z", "base", "i", "") "," TAIL, LINK("a", "b", "j", "") "," LINK("b", "a", "k", ""))
    static const refusal cases[] = {
        {TWO(LINK("a", "base", "j", ""), LINK("a", "base", "k", "")), "duplicate-name", "/links/1/name", "\"a\""},
        {TWO(LINK("a", "base", "j", ""), LINK("b", "a", "j", "")), "duplicate-name", "/links/1/joint/name", "\"j\""},
        {"{'links':[" LINK("base", "base", "j", "") "]}", "duplicate-name", "/links/0/name", "\"base\""},
        {WITH_TOP(",'frames':[{'name':'a','link':'a'}]"), "duplicate-name", "/frames/0/name", "one namespace"},
        {WITH_TOP(",'frames':[{'name':'base','link':'a'}]"), "duplicate-name", "/frames/0/name", "one namespace"},
        {WITH_TOP(",'frames':[{'name':'f','link':'a'},{'name':'f','link':'a'}]"), "duplicate-name", "/frames/1/name",
         ""},
        {"{'base':{'type':'floating'},'links':[" LINK("a", "base", "base.wz", "") "]}", "duplicate-name",
         "/links/0/joint/name", "floating base"},
        {"{'base':{'type':'floating'},'links':[" LINK("a", "base", "base.qw", "") "]}", "duplicate-name",
         "/links/0/joint/name", "floating base"},
        {"{'links':[" LINK("a", "b", "j", "") "]}", "unknown-name", "/links/0/parent", "no link \"b\""},
        {"{'links':[" LINK("a", "base", "j", "") "],'base':{'link':'root'}}", "unknown-name", "/links/0/parent",
         "base"},
        {WITH_TOP(",'frames':[{'name':'f','link':'b'}]"), "unknown-name", "/frames/0/link", "no link \"b\""},
        {WITH_TOP(",'frames':[{'name':'f','link':'a'},{'name':'g','link':'f'}]"), "unknown-name", "/frames/1/link", ""},
        {"{'links':[" LINK("a", "a", "j", "") "]}", "bad-model", "/links/0/parent", "cycle"},
        {TWO(LINK("a", "b", "j", ""), LINK("b", "a", "k", "")), "bad-model", "/links/0/parent", "cycle"},
        {CIRCLE_BESIDE, "bad-model", "/links/3/parent", "\"b\" hangs on \"a\""},
        {"{'links':[" LINK("", "base", "j", "") "]}", "bad-name", "/links/0/name", "empty"},
        {"{'links':[" LINK("a\\u0007", "base", "j", "") "]}", "bad-name", "/links/0/name", "control"},
        {"{'links':[" LINK("a", "base", "j\\u0085", "") "]}", "bad-name", "/links/0/joint/name", "control"},
        {WITH_TOP(",'frames':[{'name':'\\u007f','link':'a'}]"), "bad-name", "/frames/0/name", "control"},
        {"{'screws':{'M':[" IDENTITY "," IDENTITY "],'G':[" UNIT_G
         "],'S':[[0,0,1,0,0,0]]},'frames':[{'name':'tip','link':'link1'}]}",
         "duplicate-name", "/frames/0/name", "\"tip\""},
        {"{'screws':{'M':[" IDENTITY "],'G':[" UNIT_G "],'S':[[0,0,1,0,0,0]]},'base':{'link':'link1'}}",
         "duplicate-name", "/screws", "\"link1\""},
        {"{'links':[]}", "bad-model", "", "nothing moves"},
        {"{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'fixed'}}]}", "bad-model", "",
         "nothing moves"},
    };
    CHECK(cases);
}

#define OF_TYPE(type, more)                                                                                            \
    "{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'" type "','axis':[0,0,1]" more "}}]}"

#define FREE(type, more) "{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'" type "'" more "}}]}"

static void spherical_and_floating_joints(void **state)
{
    static const refusal cases[] = {
        {OF_TYPE("spherical", ""), "bad-value", "/links/0/joint/axis", "has no axis"},
        {OF_TYPE("floating", ""), "bad-value", "/links/0/joint/axis", "has no axis"},
        {FREE("spherical", ",'limits':{'effort':1}"), "bad-value", "/links/0/joint/limits", "several coordinates"},
        {FREE("floating", ",'friction':{}"), "bad-value", "/links/0/joint/friction", "several coordinates"},
        {FREE("spherical", ",'rotor_inertia':-1"), "bad-value", "/links/0/joint/rotor_inertia", "negative"},
        {OF_TYPE("planar", ",'rotor_inertia':1"), "bad-value", "/links/0/joint/rotor_inertia", "several coordinates"},
        {OF_TYPE("planar", ",'spring':{}"), "bad-value", "/links/0/joint/spring", "several coordinates"},
        {FREE("floating", ",'spring':{'stiffness':1}"), "bad-value", "/links/0/joint/spring/stiffness", "damping"},
        {FREE("spherical", ",'spring':{'stiffness_polynomial':[1,2]}"), "bad-value",
         "/links/0/joint/spring/stiffness_polynomial", "linear"},
        {FREE("floating", ",'spring':{'damping_polynomial':[1,2]}"), "bad-value",
         "/links/0/joint/spring/damping_polynomial", "linear"},
        {OF_TYPE("revolute", ",'spring':{'stiffness_polynomial':[1]}"), "wrong-shape",
         "/links/0/joint/spring/stiffness_polynomial", "2"},
        {OF_TYPE("revolute", ",'spring':{'damping_polynomial':1}"), "wrong-type",
         "/links/0/joint/spring/damping_polynomial", "array"},
        {FREE("spherical", ",'spring':{'rest':1}"), "bad-value", "/links/0/joint/spring/rest", "without rotation"},
        {"{'base':{'type':'floating','spring':{'stiffness':1}}}", "bad-value", "/base/spring/stiffness", "damping"},
        {"{'base':{'type':'floating','rotor_inertia':-1}}", "bad-value", "/base/rotor_inertia", "negative"},
        {FREE("spherical", ",'elastic':{'stiffness':1}"), "bad-value", "/links/0/joint/elastic", "several coordinates"},
        {FREE("spherical", ",'pitch':1"), "bad-value", "/links/0/joint/pitch", "no pitch"},
        {FREE("floating", ",'origin':{'dh':{}}"), "bad-value", "/links/0/joint/origin", "xyz and rpy"},
        {FREE("spherical", ",'home':[0,0,0]"), "wrong-shape", "/links/0/joint/home", "4"},
        {FREE("floating", ",'home':[1,2,3,0,0,0,1.1]"), "bad-quaternion", "/links/0/joint/home", "norm 1.1"},
        {"{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'spherical'}}," LINK("b", "a", "j.wx",
                                                                                                "") "]}",
         "duplicate-name", "/links/0/joint/name", "j.wx"},
    };
    CHECK(cases);
    api_model_release(model_of(FREE("spherical", ",'home':[0,0,0,1]")));
}

static void helical_and_planar_joints(void **state)
{
    static const refusal cases[] = {
        {OF_TYPE("helical", ""), "missing-field", "/links/0/joint/pitch", "needed"},
        {OF_TYPE("helical", ",'pitch':'x'"), "wrong-type", "/links/0/joint/pitch", "a number"},
        {OF_TYPE("revolute", ",'pitch':1"), "bad-value", "/links/0/joint/pitch", "a revolute joint has no pitch"},
        {OF_TYPE("planar", ",'pitch':1"), "bad-value", "/links/0/joint/pitch", "a planar joint has no pitch"},
        {"{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'planar'}}]}", "missing-field",
         "/links/0/joint/axis", "needed"},
        {"{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'planar','origin':{'dh':{}}}}]}",
         "bad-value", "/links/0/joint/origin", "xyz and rpy"},
        {"{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'helical','pitch':1,'origin':{'modified_dh':"
         "{}}}}]}",
         "bad-value", "/links/0/joint/origin", "helical"},
        {OF_TYPE("planar", ",'limits':{}"), "bad-value", "/links/0/joint/limits", "several coordinates"},
        {OF_TYPE("planar", ",'friction':{}"), "bad-value", "/links/0/joint/friction", "joints with one"},
        {OF_TYPE("planar", ",'rotor_inertia':0"), "bad-value", "/links/0/joint/rotor_inertia", "planar"},
        {OF_TYPE("planar", ",'spring':{}"), "bad-value", "/links/0/joint/spring", "planar"},
        {OF_TYPE("planar", ",'elastic':{'stiffness':1}"), "bad-value", "/links/0/joint/elastic", "planar"},
        {OF_TYPE("planar", ",'mimic':{'joint':'k'}"), "bad-value", "/links/0/joint/mimic", "planar"},
        {"{'links':[" LINK("b", "base", "j.angle",
                           "") ",{'name':'a','parent':'base','joint':{'name':'j','type':'planar',"
                               "'axis':[0,0,1]}}]}",
         "duplicate-name", "/links/1/joint/name", "another joint's name"},
        {"{'base':{'type':'floating'},'links':[{'name':'a','parent':'base','joint':{'name':'base','type':'planar',"
         "'axis':[0,0,1]}}]}",
         "duplicate-name", "/links/0/joint/name", "floating base"},
        {"{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'planar','axis':[0,0,1]}},{'name':'b',"
         "'parent':'a','joint':{'name':'k','type':'revolute','axis':[1,0,0],'mimic':{'joint':'j'}}}]}",
         "bad-value", "/links/1/joint/mimic/joint", "several coordinates"},
        {OF_TYPE("planar", ",'home':[0,0,1e6]"), "angle-too-large", "/links/0/joint/home/2", "1000000"},
    };
    CHECK(cases);
    api_model_release(model_of(OF_TYPE("planar", ",'home':[1e6,0,0]")));
}

#define MOTOR(joint, link, more)                                                                                       \
    WITH_TOP(",'motors':[{'joint':'" joint "','link':'" link "','axis':[0,0,2],'gear_ratio':5,'spin_inertia':1" more   \
             "}]")

/* Motors and elastic joints that contradict the rest of the document. */
static const refusal motor_refusals[] = {
    {WITH_AXIS(",'elastic':{}"), "missing-field", "/links/0/joint/elastic/stiffness", "needed"},
    {WITH_AXIS(",'elastic':{'stiffness':0}"), "bad-value", "/links/0/joint/elastic/stiffness", "not positive"},
    {WITH_AXIS(",'elastic':{'stiffness':-1}"), "bad-value", "/links/0/joint/elastic/stiffness", "not positive"},
    {WITH_AXIS(",'elastic':{'stiffness':1,'gear':2}"), "unknown-field", "/links/0/joint/elastic/gear", "gear"},
    {WITH_AXIS(",'elastic':{'stiffness':1},'mimic':{'joint':'j'}"), "bad-value", "/links/0/joint/elastic",
     "no coordinate of its own"},
    {"{'links':[" LINK("b", "base", "j.motor", "") ",{'name':'a','parent':'base','joint':{'name':'j','type':"
                                                   "'revolute','axis':[0,0,1],'elastic':{'stiffness':1}}}]}",
     "duplicate-name", "/links/1/joint/name", "another joint's name"},
    {WITH_TOP(",'motors':{}"), "wrong-type", "/motors", "array"},
    {WITH_TOP(",'motors':[{}]"), "missing-field", "/motors/0/joint", "needed"},
    {MOTOR("k", "a", ""), "unknown-name", "/motors/0/joint", "no joint"},
    {MOTOR("j", "z", ""), "unknown-name", "/motors/0/link", "no link"},
    {MOTOR("j", "a", ",'power':1"), "unknown-field", "/motors/0/power", "power"},
    {MOTOR("j", "a", ",'friction':{'coulomb':-1}"), "bad-value", "/motors/0/friction/coulomb", "negative"},
    {MOTOR("j", "a", ",'inertial':{'mass':-1}"), "bad-inertia", "/motors/0/inertial/mass", "negative"},
    {WITH_TOP(",'motors':[{'joint':'j','link':'a','axis':[0,0,0],'gear_ratio':5,'spin_inertia':1}]"), "bad-value",
     "/motors/0/axis", "no direction"},
    {WITH_TOP(",'motors':[{'joint':'j','link':'a','axis':[0,0,1],'gear_ratio':0,'spin_inertia':1}]"), "bad-value",
     "/motors/0/gear_ratio", "must not be 0"},
    {WITH_TOP(",'motors':[{'joint':'j','link':'a','axis':[0,0,1],'gear_ratio':5,'spin_inertia':-1}]"), "bad-value",
     "/motors/0/spin_inertia", "negative"},
    {WITH_TOP(",'motors':[{'joint':'j','link':'a','axis':[0,0,1],'gear_ratio':1e-200,'spin_inertia':1,'friction':"
              "{'viscous':1}}]"),
     "non-finite", "/links/0", "overflow"},
    {WITH_TOP(",'motors':[{'joint':'j','link':'a','axis':[0,0,1],'gear_ratio':5,'spin_inertia':1},"
              "{'joint':'j','link':'base','axis':[0,0,1],'gear_ratio':5,'spin_inertia':1}]"),
     "duplicate-name", "/motors/1/joint", "another motor"},
    {"{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'revolute','axis':[0,0,1],'rotor_inertia':1}"
     "}],"
     "'motors':[{'joint':'j','link':'a','axis':[0,0,1],'gear_ratio':5,'spin_inertia':1}]}",
     "bad-value", "/motors/0/joint", "rotor_inertia"},
    {"{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'planar','axis':[0,0,1]}}],"
     "'motors':[{'joint':'j','link':'a','axis':[0,0,1],'gear_ratio':5,'spin_inertia':1}]}",
     "bad-value", "/motors/0/joint", "one coordinate"},
    {"{'screws':{'M':[" IDENTITY "],'G':[" UNIT_G "],'S':[[0,0,1,0,0,0]]},'motors':[{'joint':'joint1','link':'base',"
     "'axis':[0,0,1],'gear_ratio':5,'spin_inertia':1}]}",
     "not-supported", "/motors", "screws"},
};

static void motors_and_elastic_joints(void **state)
{
    CHECK(motor_refusals);
}

/* Angles beyond the range in which sine and cosine are accurate must be refused, as in states. */
static void angles_too_large(void **state)
{
    static const refusal cases[] = {
        {WITH_AXIS(",'origin':{'rpy':[0,1e5,-100000.1]}"), "angle-too-large", "/links/0/joint/origin/rpy/2",
         "-100000.1; angles are limited to 100000 rad"},
        {WITH_JOINT(",'origin':{'dh':{'theta':1e300}}"), "angle-too-large", "/links/0/joint/origin/dh/theta", "1e+300"},
        {WITH_JOINT(",'origin':{'dh':{'alpha':2e5,'d':2e5}}"), "angle-too-large", "/links/0/joint/origin/dh/alpha", ""},
        {WITH_JOINT(",'origin':{'modified_dh':{'b':2e5,'gamma':2e5}}"), "angle-too-large",
         "/links/0/joint/origin/modified_dh/gamma", "200000"},
        {WITH_JOINT(",'origin':{'modified_dh':{'d':2e5,'alpha':2e5}}"), "angle-too-large",
         "/links/0/joint/origin/modified_dh/alpha", "200000"},
        {WITH_JOINT(",'origin':{'modified_dh':{'r':2e5,'theta':2e5}}"), "angle-too-large",
         "/links/0/joint/origin/modified_dh/theta", "200000"},
        {WITH_TOP(",'frames':[{'name':'f','link':'a','rpy':[2e5,0,0]}]"), "angle-too-large", "/frames/0/rpy/0", ""},
        {INERTIAL("'solid':'sphere','size':[1],'mass':1,'rpy':[0,2e5,0]"), "angle-too-large", "/links/0/inertial/rpy/1",
         ""},
    };
    CHECK(cases);
}

/* Finite values whose products or sums overflow while the model is built must be refused. */
static void figures_that_overflow_together(void **state)
{
    assert_refused(INERTIAL("'mass':1e300,'com':[1e300,0,0]"), "non-finite", "/links/0", "overflow");
    assert_refused("{'links':[" LINK("a", "base", "j",
                                     ",'inertial':{'mass':1e308}") ","
                                                                   "{'name':'b','parent':'a','joint':{'name':'k','type'"
                                                                   ":'fixed'},'inertial':{'mass':1e308}}]}",
                   "non-finite", "/links/0", "overflow"); /* /links/0: the body of link a, into which b is merged */
    assert_refused(
        "{'links':[{'name':'f','parent':'base','joint':{'name':'m','type':'fixed','origin':{'xyz':[1.5e308,0,0]}}"
        "},{'name':'a','parent':'f','joint':{'name':'j','type':'spherical','origin':{'xyz':[1.5e308,0,0]}}}]}",
        "non-finite", "/links/1", "overflow");
    static const char *const far[] = {"[1.5e308,0,0]", "[0,1.5e308,0]", "[0,0,1.5e308]"};
    for (int i = 0; i < 3; i++) { /* position of a link without a mass that is fixed to the world */
        char text[600];
        snprintf(text, sizeof text,
                 "{'links':[" LINK("a", "base", "j",
                                   ",'inertial':{'mass':1}") ",{'name':'b','parent':'base','joint':{'name':"
                                                             "'k','type':'fixed','origin':{'xyz':%s}}},{'name':'c','"
                                                             "parent':'b','joint':{'name':'l','type':'fixed',"
                                                             "'origin':{'xyz':%s}}}]}",
                 far[i], far[i]);
        assert_refused(text, "non-finite", "/links/2", "overflows");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_types_and_shapes),    cmocka_unit_test(missing_and_unknown_fields),
        cmocka_unit_test(values_out_of_range),       cmocka_unit_test(invalid_transforms),
        cmocka_unit_test(impossible_inertias),       cmocka_unit_test(names_and_trees),
        cmocka_unit_test(helical_and_planar_joints), cmocka_unit_test(spherical_and_floating_joints),
        cmocka_unit_test(motors_and_elastic_joints), cmocka_unit_test(figures_that_overflow_together),
        cmocka_unit_test(angles_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
