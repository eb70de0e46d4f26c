/* test_contract.c - compares openapi.yaml with the product's tables: paths and methods with the resources, operations,
 * fields and outputs with the operations, error codes with the problems. */
#include "api/requests/operations/operation_list.h"
#include "api/problem.h"
#include "api/service/http/route.h"
#include "api/requests/control/controller_fields.h"
#include "api/requests/simulation/integrator.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

extern const char api_openapi_start[], api_openapi_end[];

static json_t *contract;

static int read_contract(void **state)
{
    contract = json_loadb(api_openapi_start, (size_t)(api_openapi_end - api_openapi_start), 0, NULL);
    return contract ? 0 : -1;
}

static int drop_contract(void **state)
{
    json_decref(contract);
    return 0;
}

/* Returns the member at a path of keys that ends with NULL; fails the test if there is none. */
static const json_t *member_at(const json_t *value, ...)
{
    va_list keys;
    va_start(keys, value);
    for (const char *key; (key = va_arg(keys, const char *));) {
        const json_t *member = json_object_get(value, key);
        if (!member) fail_msg("the contract lacks the member \"%s\"", key);
        value = member;
    }
    va_end(keys);
    return value;
}

/* Returns the object that "#/components/<kind>/<name>" refers to. */
static const json_t *follow(const json_t *reference)
{
    const char *path = json_string_value(member_at(reference, "$ref", NULL));
    char        kind[100], name[100];
    assert_non_null(path);
    assert_int_equal(sscanf(path, "#/components/%99[^/]/%99s", kind, name), 2);
    return member_at(contract, "components", kind, name, NULL);
}

static const json_t *post_of(const char *operation)
{
    char path[100];
    snprintf(path, sizeof path, "/v1/models/{model}/%s", operation);
    return member_at(contract, "paths", path, "post", NULL);
}

static const json_t *request_of(const char *operation)
{
    return follow(member_at(post_of(operation), "requestBody", "content", "application/json", "schema", NULL));
}

/* Returns the schema of an answer: form 0 without "on_error", form 1 with it. */
static const json_t *answer_form(const char *operation, size_t form)
{
    const json_t *forms =
        member_at(post_of(operation), "responses", "200", "content", "application/json", "schema", "oneOf", NULL);
    assert_int_equal(json_array_size(forms), 2);
    return follow(json_array_get(forms, form));
}

static const json_t *answer_of(const char *operation)
{
    return answer_form(operation, 0);
}

static bool lists(const json_t *array, const char *text)
{
    size_t  i;
    json_t *entry;
    json_array_foreach (array, i, entry)
        if (!strcmp(json_string_value(entry), text)) return true;
    return false;
}

static size_t count_bits(api_set bits)
{
    return (size_t)(__builtin_popcountll((uint64_t)bits) + __builtin_popcountll((uint64_t)(bits >> 64)));
}

/* Fields of the state that a request may replace by a platform's motion; an answer then begins with these fields. */
#define OF_STATE (API_BIT(API_Q) | API_BIT(API_QD) | API_BIT(API_QDD))

static api_set stands_for(const api_operation *o)
{
    return o->takes & API_BIT(API_PLATFORM) ? OF_STATE : 0;
}

/* Checks "oneOf": the request requires these fields of the state, or a platform. */
static void check_alternatives(const api_operation *o, const json_t *request)
{
    api_set instead = o->needs & stands_for(o);
    if (instead == 0) return;
    const json_t *either = member_at(request, "oneOf", NULL);
    assert_int_equal(json_array_size(either), 2);
    for (int f = API_Q; f <= API_QDD; f++)
        assert_int_equal(lists(member_at(json_array_get(either, 0), "required", NULL), api_field_names[f]),
                         (instead & API_BIT(f)) != 0);
    assert_true(lists(member_at(json_array_get(either, 1), "required", NULL), api_field_names[API_PLATFORM]));
}

/* Returns the fields that a request may have. Operations with a scene for each row take parameters of bodies where they
 * take a payload. */
static api_set taken_by(const api_operation *o)
{
    const api_set fields = o->needs | o->takes | API_BIT(API_NORMALISE) | API_BIT(API_ON_ERROR) | API_BIT(API_LOCKED);
    return o->row_scenes && fields & API_BIT(API_PAYLOAD) ? fields | API_BIT(API_PARAMETERS) : fields;
}

static void test_fields(void **state)
{
    for (size_t i = 0; api_operations[i]; i++) {
        const api_operation *o          = api_operations[i];
        const json_t        *request    = request_of(o->name);
        const json_t        *properties = member_at(request, "properties", NULL),
                     *required          = json_object_get(request, "required");
        for (int f = 0; f < API_FIELD_COUNT; f++) {
            bool needed = o->needs & API_BIT(f), taken = taken_by(o) & API_BIT(f);
            if (!json_object_get(properties, api_field_names[f]) != !taken)
                fail_msg("%s: %s is %staken", o->name, api_field_names[f], taken ? "" : "not ");
            needed = (needed && !(stands_for(o) & API_BIT(f))) || o->needs_options & API_BIT(f);
            if (lists(required, api_field_names[f]) != needed)
                fail_msg("%s: %s is %sneeded", o->name, api_field_names[f], needed ? "" : "not ");
        }
        assert_int_equal(json_object_size(properties), count_bits(taken_by(o)));
        assert_int_equal(json_array_size(required), count_bits((o->needs & ~stands_for(o)) | o->needs_options));
        check_alternatives(o, request);
        assert_true(json_is_false(member_at(request, "additionalProperties", NULL)));
    }
}

/* Counts the fields of the state with which an answer for a platform begins, unless they are outputs. */
static size_t given_back(const api_operation *o)
{
    size_t n = 0;
    for (int f = API_Q; f <= API_QDD; f++) {
        bool output = false;
        for (size_t k = 0; api_has_output(o, k); k++)
            output = output || !strcmp(o->outputs[k].name, api_field_names[f]);
        n += (stands_for(o) & API_BIT(f)) && !output;
    }
    return n;
}

static void test_outputs(void **state)
{
    for (size_t i = 0; api_operations[i]; i++) {
        const api_operation *o       = api_operations[i];
        const json_t        *outputs = member_at(request_of(o->name), "properties", "outputs", NULL);
        const json_t        *names   = member_at(outputs, "items", "enum", NULL),
                     *defaults       = member_at(outputs, "default", NULL);
        const json_t *answer         = member_at(answer_of(o->name), "properties", NULL);
        size_t        n = 0, by_default = 0;
        while (api_has_output(o, n))
            n++;
        assert_int_equal(json_array_size(names), n);
        member_at(answer, "warnings", NULL);
        assert_int_equal(json_object_size(answer), n + given_back(o) + 1);
        for (size_t k = 0; k < n; k++) {
            const api_output *output = &o->outputs[k];
            by_default += output->by_default;
            if (!lists(names, output->name)) fail_msg("%s: output %s is not in the contract", o->name, output->name);
            if (!json_object_get(answer, output->name))
                fail_msg("%s: the answer's %s is not described", o->name, output->name);
            if (lists(defaults, output->name) != output->by_default)
                fail_msg("%s: %s is %sgiven by default", o->name, output->name, output->by_default ? "" : "not ");
        }
        assert_int_equal(json_array_size(defaults), by_default);
    }
}

/* The text of simulate must say what a named integrator or controller does. */
static void check_described(const char *name)
{
    const char *text =
        json_string_value(member_at(contract, "paths", "/v1/models/{model}/simulate", "post", "description", NULL));
    if (!strstr(text, name)) fail_msg("the description of simulate in api/openapi.yaml says nothing of %s", name);
}

static void test_integrators(void **state)
{
    const json_t *integrators = member_at(request_of("simulate"), "properties", "integrator", "enum", NULL);
    size_t        n           = 0;
    for (; api_integrators[n]; n++) {
        if (!lists(integrators, api_integrators[n]->name))
            fail_msg("%s is not in the contract", api_integrators[n]->name);
        check_described(api_integrators[n]->name);
    }
    assert_int_equal(json_array_size(integrators), n);
}

/* Compares a controller with the form of "input" in the contract that names it. Returns 1. */
static size_t check_controller(const api_controller *c, const json_t *form)
{
    const json_t *required = member_at(form, "required", NULL);
    for (size_t i = 0; c->fields[i]; i++)
        member_at(form, "properties", c->fields[i], NULL);
    for (size_t i = 0; c->needs[i]; i++)
        if (!lists(required, c->needs[i])) fail_msg("%s: %s is not needed", c->law->name, c->needs[i]);
    check_described(c->law->name);
    return 1;
}

/* Each controller of simulate must be named by one form of "input", which has its fields. */
static void test_controllers(void **state)
{
    const json_t *forms = member_at(request_of("simulate"), "properties", "input", "oneOf", NULL);
    size_t        found = 0, n = 0;
    while (api_controllers[n].law)
        n++;
    for (size_t k = 1; k < json_array_size(forms); k++) {
        const json_t *form  = json_array_get(forms, k);
        const json_t *names = member_at(form, "properties", "controller", "enum", NULL);
        for (size_t i = 0; i < n; i++)
            if (lists(names, api_controllers[i].law->name)) found += check_controller(&api_controllers[i], form);
    }
    assert_int_equal(found, n);
}

/* With "on_error" the schema must have the same outputs, and the errors. */
static void test_row_forms(void **state)
{
    for (size_t i = 0; api_operations[i]; i++) {
        const json_t *plain = member_at(answer_form(api_operations[i]->name, 0), "properties", NULL);
        const json_t *rows = answer_form(api_operations[i]->name, 1), *properties = member_at(rows, "properties", NULL);
        const char   *key;
        json_t       *value;
        json_object_foreach ((json_t *)(uintptr_t)plain, key, value)
            member_at(properties, key, NULL);
        assert_int_equal(json_object_size(properties), json_object_size(plain) + 1);
        assert_true(lists(member_at(rows, "required", NULL), "errors"));
        assert_true(json_is_false(member_at(rows, "additionalProperties", NULL)));
    }
}

/* Operations that are not part of evaluate, and fields that only they take, must be absent from the schema of
 * evaluate. */
static void test_evaluate(void **state)
{
    const json_t *request    = request_of("evaluate");
    const json_t *operations = member_at(request, "properties", "operations", "properties", NULL);
    const json_t *answer     = member_at(answer_of("evaluate"), "properties", NULL);
    api_set       shared     = API_BIT(API_ON_ERROR);
    size_t        n          = 0;
    for (size_t i = 0; api_operations[i]; i++) {
        const api_operation *o = api_operations[i];
        if (o->alone) continue;
        const json_t *options  = member_at(operations, o->name, "properties", NULL);
        size_t        n_fields = 0;
        member_at(answer, o->name, NULL);
        for (int f = API_SHARED_FIELDS; f < API_FIELD_COUNT; f++) {
            if (!(o->takes & API_BIT(f))) continue;
            member_at(options, api_field_names[f], NULL);
            n_fields++;
        }
        assert_int_equal(json_object_size(options), n_fields);
        const json_t *options_needed = json_object_get(json_object_get(operations, o->name), "required");
        assert_int_equal(json_array_size(options_needed), count_bits(o->needs_options));
        const json_t *outputs = member_at(request_of(o->name), "properties", "outputs", NULL);
        if (!json_equal(member_at(options, "outputs", NULL), outputs))
            fail_msg("%s: evaluate describes other outputs", o->name);
        shared |= taken_by(o) & ~API_BIT(API_ON_ERROR) & (API_BIT(API_SHARED_FIELDS) - 1);
        n++;
    }
    assert_int_equal(json_object_size(operations), n);
    member_at(answer, "warnings", NULL);
    assert_int_equal(json_object_size(answer), n + count_bits(OF_STATE) + 1);
    for (int f = 0; f < API_SHARED_FIELDS; f++)
        if (shared & API_BIT(f)) member_at(request, "properties", api_field_names[f], NULL);
    assert_int_equal(json_object_size(member_at(request, "properties", NULL)), count_bits(shared) + 1);
}

/* The methods of a resource must be those of its path in the contract. */
static void check_methods(const api_resource *resource, const char *path)
{
    static const char *const names[API_METHOD_COUNT] = {
        [API_GET] = "get", [API_PUT] = "put", [API_POST] = "post", [API_DELETE] = "delete"};
    const json_t *described = member_at(contract, "paths", path, NULL);
    for (int m = 0; m < API_METHOD_COUNT; m++)
        if (!json_object_get(described, names[m]) != !resource->handler[m]) fail_msg("%s: method %s", path, names[m]);
}

static void test_paths(void **state)
{
    size_t n = 0;
    for (const api_resource *r = api_resources; r->pattern; r++) {
        const char *wild = strstr(r->pattern, "{operation}");
        if (!wild) {
            check_methods(r, r->pattern);
            n++;
        }
        for (size_t i = 0; wild; i++, n++) {
            char path[200];
            snprintf(path, sizeof path, "%.*s%s", (int)(wild - r->pattern), r->pattern,
                     api_operations[i] ? api_operations[i]->name : "evaluate");
            check_methods(r, path);
            if (!api_operations[i]) wild = NULL; /* evaluate, which is not in the table, was the last one */
        }
    }
    assert_int_equal(json_object_size(member_at(contract, "paths", NULL)), n);
}

#define X(CODE, code, status, title, text) {code, status},
static const struct {
    const char *code;
    int         status;
} problems[] = {API_PROBLEMS(X)};
#undef X
enum { N_PROBLEMS = sizeof problems / sizeof problems[0] };

static void test_problem_codes(void **state)
{
    const json_t *codes = member_at(contract, "components", "schemas", "ProblemCode", "enum", NULL);
    assert_int_equal(json_array_size(codes), N_PROBLEMS);
    for (size_t i = 0; i < N_PROBLEMS; i++)
        if (!lists(codes, problems[i].code)) fail_msg("%s is not in the contract", problems[i].code);
}

/* Returns the status that the table gives a code; fails for a code that is not in the table. */
static int status_of(const char *code)
{
    for (size_t i = 0; i < N_PROBLEMS; i++)
        if (!strcmp(code, problems[i].code)) return problems[i].status;
    fail_msg("the contract has the code %s, the product has not", code);
    return 0;
}

/* Every response that names error codes must have the status of these codes, wherever a path refers to it. */
static void test_problem_statuses(void **state)
{
    const char *path, *method, *status;
    json_t     *item, *operation, *response;
    json_object_foreach ((json_t *)(uintptr_t)member_at(contract, "paths", NULL), path, item) {
        json_object_foreach (item, method, operation) {
            if (!json_is_object(operation)) continue; /* the path's parameters */
            json_object_foreach (json_object_get(operation, "responses"), status, response) {
                if (!json_object_get(response, "$ref") || !strcmp(status, "default")) continue;
                const json_t *schema =
                    member_at(follow(response), "content", "application/problem+json", "schema", "allOf", NULL);
                const json_t *codes = member_at(json_array_get(schema, 1), "properties", "code", "enum", NULL);
                size_t        i;
                json_t       *code;
                json_array_foreach (codes, i, code)
                    if (status_of(json_string_value(code)) != (int)strtol(status, NULL, 10))
                        fail_msg("%s %s: %s does not go with %s", method, path, json_string_value(code), status);
            }
        }
    }
}

/* Each code must be listed by a response, where the pages and the tests of errors read it. Four codes belong to no
 * path: server/framing answers them. */
static void test_every_code_has_a_response(void **state)
{
    static const char before_paths[] = "uri-too-long headers-too-large method-unknown version-not-supported";
    const json_t     *responses      = member_at(contract, "components", "responses", NULL);
    for (size_t i = 0; i < N_PROBLEMS; i++) {
        bool        found = strstr(before_paths, problems[i].code);
        const char *name;
        json_t     *response;
        json_object_foreach ((json_t *)(uintptr_t)responses, name, response) {
            json_t *codes = NULL;
            json_unpack(response, "{s{s{s{s[o{s{s{so}}}]}}}}", "content", "application/problem+json", "schema", "allOf",
                        &(json_t *){NULL}, "properties", "code", "enum", &codes);
            found = found || lists(codes, problems[i].code);
        }
        if (!found) fail_msg("no response in api/openapi.yaml lists %s (%d)", problems[i].code, problems[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_row_forms),
        cmocka_unit_test(test_evaluate),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_problem_codes),
        cmocka_unit_test(test_problem_statuses),
        cmocka_unit_test(test_every_code_has_a_response),
        cmocka_unit_test(test_integrators),
        cmocka_unit_test(test_controllers),
    };
    return cmocka_run_group_tests(tests, read_contract, drop_contract);
}
