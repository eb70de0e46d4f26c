/* test_document_sizes.c - checks the limits of a model document: links, degrees of freedom, names, texts. */
#include "tests/api/support/models.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of a document with one revolute link of that name, and further members of the document. */
#define LINK(name, more)                                                                                               \
    "{'links':[{'name':'" name "','parent':'base','joint':{'name':'j','type':'revolute','axis':[0,0,1]}}]" more "}"

/* Makes a chain of n links with joints of that type and the given base. */
static json_t *chain(size_t n, const char *type, const char *base)
{
    json_t *links = json_array();
    for (size_t i = 0; i < n; i++) {
        char name[32], parent[32];
        snprintf(name, sizeof name, "l%zu", i);
        snprintf(parent, sizeof parent, i ? "l%zu" : "base", i - 1);
        json_array_append_new(links, json_pack("{s:s,s:s,s:{s:s,s:s,s:[fff]},s:{s:f}}", "name", name, "parent", parent,
                                               "joint", "name", name, "type", type, "axis", 0., 0., 1., "inertial",
                                               "mass", 1.));
    }
    return json_pack("{s:{s:s},s:o}", "base", "type", base, "links", links);
}

static void assert_chain(size_t n, const char *type, const char *base, size_t max_links, api_code expected)
{
    api_problem problem;
    json_t     *document = chain(n, type, base);
    api_problem_clear(&problem);
    api_model *model = api_model_from_document(document, "chain", max_links, &problem);
    assert_int_equal(problem.code, expected);
    assert_int_equal(model != NULL, expected == API_NO_PROBLEM);
    api_model_release(model);
    json_decref(document);
}

static void sizes(void **state)
{
    assert_chain(512, "revolute", "fixed", 1024, API_NO_PROBLEM);
    assert_chain(513, "revolute", "fixed", 1024, API_MODEL_TOO_LARGE);
    assert_chain(506, "prismatic", "floating", 1024, API_NO_PROBLEM);
    assert_chain(507, "prismatic", "floating", 1024, API_MODEL_TOO_LARGE);
    assert_chain(10, "revolute", "fixed", 10, API_NO_PROBLEM);
    assert_chain(11, "revolute", "fixed", 10, API_MODEL_TOO_LARGE);
    assert_chain(20000, "fixed", "floating", 20000, API_NO_PROBLEM); /* deep: recursion would overflow the stack */
}

static void long_names(void **state)
{
    char text[1024], name[300];
    memset(name, 'x', sizeof name);
    name[256] = '\0';
    snprintf(text, sizeof text, LINK("%s", ""), name);
    api_model_release(model_of(text));
    name[256] = 'x';
    name[257] = '\0';
    snprintf(text, sizeof text, LINK("%s", ""), name);
    assert_refused(text, "bad-name", "/links/0/name", "at most 256 bytes, given 257");
}

static void long_texts(void **state)
{
    char *text = malloc(70000), *words = malloc(65538);
    memset(words, 'x', 65537);
    words[65537] = '\0';
    snprintf(text, 70000, LINK("a", ",'description':'%s'"), words);
    assert_refused(text, "model-too-large", "/description", "at most 65536 bytes, given 65537");
    words[65536] = '\0';
    snprintf(text, 70000, LINK("a", ",'description':'%s'"), words);
    api_model_release(model_of(text));
    free(text);
    free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(long_names),
        cmocka_unit_test(long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
