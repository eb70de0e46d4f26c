/* test_preconditions.c - checks entity tags, If-Match and If-None-Match of requests, of models and of their changes
 * (RFC 9110, section 13). */
#include "tests/api/support/door.h"
#include "api/robots/registry/preconditions.h"
#include <stdio.h>
#include <string.h>

static bool hold(const char *if_match, const char *if_none_match, const char *revision)
{
    api_preconditions conditions = {if_match, if_none_match, NULL};
    return api_preconditions_hold(&conditions, revision);
}

static void conditions(void **state)
{
    assert_true(hold(NULL, NULL, "a") && hold(NULL, NULL, NULL));
    assert_true(hold("\"a\"", NULL, "a") && hold("\"b\", \"a\"", NULL, "a") && hold(" ,\"b\",, \"a\" ,", NULL, "a"));
    assert_false(hold(",", NULL, "a"));
    assert_true(hold("\"b\",,\"a\",", NULL, "a") && hold("*", NULL, "a") && hold(" * ", NULL, "a"));
    assert_false(hold("*", NULL, NULL) || hold("\"a\"", NULL, NULL) || hold("\"b\"", NULL, "a") ||
                 hold("W/\"a\"", NULL, "a"));
    assert_false(hold("a", NULL, "a") || hold("", NULL, "a") || hold("\"a", NULL, "a") ||
                 hold("\"a\" \"b\"", NULL, "a"));
    assert_true(hold(NULL, "*", NULL) && hold(NULL, "\"b\"", "a") && hold(NULL, "\"a\"", NULL));
    assert_false(hold(NULL, "*", "a") || hold(NULL, "\"a\"", "a") || hold(NULL, "W/\"a\"", "a") ||
                 hold(NULL, "a", "b"));
    assert_false(hold("\"a\"", "\"a\"", "a"));
    assert_false(hold("\"a\",*", NULL, "a"));
}

static const char *tag_of(const char *model)
{
    static char tag[100];
    char        target[100] = "/v1/models/";
    strcat(target, model);
    strcpy(tag, header_of(ask("GET", target, NULL), "ETag"));
    return tag;
}

static void conditional_requests(void **state)
{
    const char *tag = tag_of("slider"), *slider = "/v1/models/slider";
    assert_int_equal(status_with((api_request){.if_match = tag}), 200);
    assert_int_equal(status_with((api_request){.if_match = "\"x\""}), 412);
    assert_int_equal(status_with((api_request){.if_match = "\"x\"", .content_type = "text/plain"}), 415);
    assert_int_equal(status_with((api_request){.if_none_match = "*"}), 200);
    assert_int_equal(status_with((api_request){.method = "GET", .target = slider, .if_none_match = tag}), 304);
    assert_int_equal(status_with((api_request){.method = "HEAD", .target = slider, .if_none_match = "*"}), 304);
    assert_int_equal(status_with((api_request){.method = "GET", .target = slider, .if_none_match = "\"x\""}), 200);
    assert_int_equal(status_with((api_request){.method = "GET", .target = slider, .if_match = "\"x\""}), 412);
    assert_int_equal(status_with((api_request){.method = "PUT", .target = slider, .if_none_match = "*"}), 412);
    assert_int_equal(status_with((api_request){.method = "PUT", .target = "/v1/models/new", .if_match = "*"}), 412);
    assert_int_equal(status_with((api_request){.method = "DELETE", .target = slider, .if_match = "\"x\""}), 412);
    assert_int_equal(status_with((api_request){.method = "DELETE", .target = "/v1/models/no", .if_match = "\"x\""}),
                     404);
    assert_string_equal(tag_of("slider"), tag);
}

/* Each encoding must have an entity tag of its own; a change of a model accepts either. */
static void tags_of_encodings(void **state)
{
    api_request get = {.method = "GET", .target = "/v1/models/slider"};
    char        json[64], cbor[64];
    snprintf(json, sizeof json, "%s", header_of(ask_with(&get, NULL, 0, NULL), "ETag"));
    get.accept = "application/cbor; arrays=multidimensional";
    snprintf(cbor, sizeof cbor, "%s", header_of(ask_with(&get, NULL, 0, NULL), "ETag"));
    assert_int_equal(strlen(json), 2 + 32);
    assert_int_equal(strlen(cbor), 2 + 32 + 5);
    assert_memory_equal(json, cbor, 33);
    get.if_none_match = cbor;
    assert_int_equal(ask_with(&get, NULL, 0, NULL)->status, 304);
    get.if_none_match = json;
    assert_int_equal(ask_with(&get, NULL, 0, NULL)->status, 200);
    get.if_none_match = NULL;
    get.if_match      = json;
    assert_int_equal(ask_with(&get, NULL, 0, NULL)->status, 200);
    assert_int_equal(status_with((api_request){.if_match = cbor}), 200);
    assert_int_equal(status_with((api_request){.if_match = "\"00000000000000000000000000000000-cbor\""}), 412);
    json[33] = '\0'; /* a tag without its closing quote, and a suffix that the service never writes */
    assert_int_equal(status_with((api_request){.if_match = json}), 412);
    strcat(json, "-gzip\"");
    assert_int_equal(status_with((api_request){.if_match = json}), 412);
}

/* A 304 must state the length of the 200 that it replaces, and have no body (RFC 9110 §8.6, §15.4.5). */
static void not_modified_is_the_head_of_the_model(void **state)
{
    const char *targets[] = {"/v1/models/slider", "/v1/models/slider/document"};
    for (int i = 0; i < 2; i++) {
        size_t    length = ask("GET", targets[i], NULL)->length;
        api_call *call =
            api_begin(door_api(), &(api_request){.method = "GET", .target = targets[i], .if_none_match = "*"});
        const api_reply *reply = api_reply_of(call);
        assert_int_equal(reply->status, 304);
        assert_true(reply->head && reply->length == length && !reply->content_type);
        assert_string_equal(reply->header[2].name, "Vary"); /* header 2 follows Request-Id and Arithmetic */
        assert_string_equal(reply->header[3].name, "X-Content-Type-Options");
        assert_string_equal(reply->header[4].name, "ETag");
        api_end(call);
    }
}

/* If a model changes between a request's head and its body, the condition must be checked again when the change is
 * committed. */
static void conditions_hold_at_commit(void **state)
{
    static const char body[] = "{\"links\":[{\"name\":\"l\",\"parent\":\"base\",\"joint\":{\"name\":\"j\",\"type\":"
                               "\"prismatic\",\"axis\":[0,0,1]}}]}";
    api_worker       *worker = api_worker_open();
    for (int i = 0; i < 3; i++) {
        ask("PUT", "/v1/models/raced",
            "{'links':[{'name':'a','parent':'base','joint':{'name':'j','type':'revolute','axis':[1,0,0]}}]}");
        const char *tag    = tag_of("raced");
        api_request head[] = {{.method = "PUT", .target = "/v1/models/raced", .if_match = tag},
                              {.method = "DELETE", .target = "/v1/models/raced", .if_match = tag},
                              {.method = "PUT", .target = "/v1/models/raced2", .if_none_match = "*"}};
        api_call   *call   = api_begin(door_api(), &head[i]);
        assert_true(api_wants_body(call));
        assert_in_set(ask("PUT", head[i].target,
                          "{'links':[{'name':'b','parent':'base','joint':{'name':'k','type':"
                          "'revolute','axis':[1,0,0]}}]}")
                          ->status,
                      ((LargestIntegralType[]){200, 201}), 2);
        api_run(call, worker, body, sizeof body - 1, NULL);
        assert_int_equal(api_reply_of(call)->status, 412);
        api_end(call);
        ask("GET", head[i].target, NULL);
    }
    api_worker_close(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions),
        cmocka_unit_test(conditional_requests),
        cmocka_unit_test(tags_of_encodings),
        cmocka_unit_test(not_modified_is_the_head_of_the_model),
        cmocka_unit_test(conditions_hold_at_commit),
    };
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
