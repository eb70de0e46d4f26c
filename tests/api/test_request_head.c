/* test_request_head.c - checks decisions from the head of a request: routes, methods, media types, timeouts, ids. */
#include "tests/api/support/door.h"
#include "api/codec/negotiate.h"
#include "api/service/http/route.h"
#include "dynamics/dynamics.h"
#include "tests/target.h"
#include <string.h>

/* --- routes ----------------------------------------------------------------------------------------------------- */

static void targets(void **state)
{
    static const struct {
        const char *target, *pattern, *first, *second;
    } cases[] = {
        {"/", "/", "", ""},
        {"/?x", "/", "", ""},
        {"http://host", "/", "", ""},
        {"/assets/a.js", "/assets/{file}", "a.js", ""},
        {"/v1", "/v1", "", ""},
        {"/v1?x=1", "/v1", "", ""},
        {"/v1/models/arm", "/v1/models/{model}", "arm", ""},
        {"/v1/models/%61%72%6D?", "/v1/models/{model}", "arm", ""},
        {"/v1/models/arm/document", "/v1/models/{model}/document", "arm", ""},
        {"/v1/models/arm/export/urdf", "/v1/models/{model}/export/{format}", "arm", "urdf"},
        {"/v1/models/a/x-y", "/v1/models/{model}/{operation}", "a", "x-y"},
        {"http://host:80/v1/models/arm", "/v1/models/{model}", "arm", ""},
        {"HTTPS://host/v1", "/v1", "", ""},
        {"/%76%31", "/v1", "", ""},
        {"/v1/models/a?b/c", "/v1/models/{model}", "a", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        api_route route;
        if (!api_route_find(api_resources, cases[i].target, &route)) fail_msg("%s has no route", cases[i].target);
        assert_string_equal(route.resource->pattern, cases[i].pattern);
        assert_string_equal(route.capture[0], cases[i].first);
        assert_string_equal(route.capture[1], cases[i].second);
    }
}

static const char *const targets_of_nothing[] = {
    "",
    "*",
    "//",
    "v1",
    "/v2",
    "/v1/",
    "/v1//models",
    "/v1/models/",
    "/v1/models//document",
    "/v1/models/a/",
    "/v1/models/a/document/",
    "/v1/models/a/b/c",
    "/v1/models/a%00",
    "/v1/models/%00",
    "/v1/models/a%2fdocument",
    "/v1/models/a%2Fb",
    "/v1%2fmodels",
    "/v1/models/%",
    "/v1/models/%4",
    "/v1/models/a%4g",
    "/v1/models/%zz",
    "/V1",
    "/v1/../v1",
    "https:///v2",
    "/livez/x",
    "/livezx",
    "/live",
    "/v1x/models",
    "/v1/modelsx",
    "/problems",
    "/v1/models/a/b/c/d/e/f/g/h",
};

static void unknown_targets(void **state)
{
    api_route route;
    char      path[400] = "/v1/models/";
    for (size_t i = 0; i < sizeof targets_of_nothing / sizeof *targets_of_nothing; i++)
        if (api_route_find(api_resources, targets_of_nothing[i], &route))
            fail_msg("%s is routed to %s", targets_of_nothing[i], route.resource->pattern);
    memset(path + strlen(path), 'a', 300); /* a name that is too long is refused by its resource */
    assert_true(api_route_find(api_resources, path, &route));
}

static void methods(void **state)
{
    static const struct {
        const char *method, *target;
        unsigned    status;
        const char *allow;
    } cases[] = {
        {"POST", "/v1", 405, "GET, HEAD, OPTIONS"},
        {"PATCH", "/v1/models/arm", 405, "GET, HEAD, PUT, DELETE, OPTIONS"},
        {"GET", "/v1/models/arm/bias", 405, "POST, OPTIONS"},
        {"HEAD", "/v1/models/arm/bias", 405, "POST, OPTIONS"},
        {"OPTIONS", "/v1/models/arm", 204, "GET, HEAD, PUT, DELETE, OPTIONS"},
        {"OPTIONS", "/v1/models/none", 204, "GET, HEAD, PUT, DELETE, OPTIONS"},
        {"OPTIONS", "*", 204, "GET, HEAD, PUT, POST, DELETE, OPTIONS"},
        {"OPTIONS", "/v1/models/arm/nonsense", 404, NULL},
        {"GET", "/v1/models/none", 404, NULL},
        {"GET", "/v1/models/arm/nonsense", 404, NULL},
        {"BREW", "/v1", 501, NULL},
        {"BREW", "/nowhere", 501, NULL},
        {"get", "/v1", 501, NULL},
        {"GET", "/v1", 200, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const answer *a     = ask(cases[i].method, cases[i].target, NULL);
        const char   *allow = header_of(a, "Allow");
        if (a->status != cases[i].status) fail_msg("%s %s: %u", cases[i].method, cases[i].target, a->status);
        assert_string_equal(allow ? allow : "(none)", cases[i].allow ? cases[i].allow : "(none)");
        assert_true(!a->text == (a->status == 204));
    }
}

static void head_is_get_without_a_body(void **state)
{
    size_t           length = ask("GET", "/v1/models/arm", NULL)->length;
    api_request      head   = {.method = "HEAD", .target = "/v1/models/arm"};
    api_call        *call   = api_begin(door_api(), &head);
    const api_reply *reply  = api_reply_of(call);
    assert_int_equal(reply->status, 200);
    assert_true(reply->head);
    assert_int_equal(reply->length, length);
    api_end(call);
}

static void queries(void **state)
{
    ask("GET", "/v1/models?x=1", NULL);
    assert_problem(422, "unknown-parameter", NULL, -1);
    assert_detail("x=1");
    assert_int_equal(ask("GET", "/v1/models?", NULL)->status, 200);
    ask("PUT", "/v1/models/arm?on_meshes=ignore", "{}"); /* a query parameter that exists only for XML formats */
    assert_problem(422, "unknown-parameter", NULL, -1);
    assert_detail("in JSON");
}

static void model_names(void **state)
{
    ask("PUT", "/v1/models/-a", "{}");
    assert_problem(422, "bad-name", NULL, -1);
    ask("PUT", "/v1/models/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "{}");
    assert_problem(422, "bad-name", NULL, -1);
    ask("GET", "/v1/models/-a", NULL);
    assert_problem(404, "no-such-model", NULL, -1);
}

/* --- media types ------------------------------------------------------------------------------------------------ */

static void content_types(void **state)
{
    static const char *const json[]  = {"",
                                        "application/json",
                                        "APPLICATION/Json",
                                        " application/json ",
                                        "application/json;",
                                        "application/json; charset=utf-8",
                                        "application/json;charset=\"UTF-8\"",
                                        "application/json ; x=\"a;b\\\"c\" ; charset=UTF-8"};
    static const char *const other[] = {"text/plain",
                                        "application/jsonp",
                                        "json",
                                        "application",
                                        "application/",
                                        "/json",
                                        "application/json, text/plain",
                                        "application/json x",
                                        "application/json;charset=latin1",
                                        "application/json; charset=\"utf-16\"",
                                        "*/*",
                                        "application/x-www-form-urlencoded"};
    assert_int_equal(api_media_of_content(NULL, NULL), API_MEDIA_JSON);
    for (size_t i = 0; i < sizeof json / sizeof *json; i++)
        if (api_media_of_content(json[i], NULL) != API_MEDIA_JSON) fail_msg("%s", json[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (api_media_of_content(other[i], NULL) != API_MEDIA_NONE) fail_msg("%s", other[i]);
}

static api_media chosen_media(const char *accept, api_media preferred, api_media form)
{
    return api_accepted_media(api_accept(accept, preferred), form);
}

/* Expects the same choice between JSON and CBOR for n texts of Accept. */
static void expect_media(const char *const *accept, size_t n, api_media expected)
{
    for (size_t i = 0; i < n; i++)
        if (chosen_media(accept[i], API_MEDIA_JSON, API_MEDIA_CBOR) != expected) fail_msg("%s", accept[i]);
}

static void accepted_types(void **state)
{
    static const char *const yes[] = {"",
                                      "*/*",
                                      "application/*",
                                      "application/json",
                                      "text/html, application/json;q=0.1",
                                      "text/html;q=1,*/*;q=0.001",
                                      "application/json;charset=utf-8",
                                      "APPLICATION/JSON;Q=0.5",
                                      "*/*;q=0, application/*",
                                      ",, application/json ,",
                                      "application/*;q=0, application/json",
                                      "text/plain;q=2, application/json",
                                      "application/json;q=0.1234",
                                      "application/json;q=1.",
                                      "application/json;q=1.0000",
                                      "application/json;q=., */*", /* a malformed range is ignored */
                                      "application/json;q=, */*",
                                      "application/json;q=01, */*",
                                      "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"};
    static const char *const no[]  = {"text/html",
                                      "application/json;q=0",
                                      "application/json;q=0.000",
                                      "*/*;q=0",
                                      "application/json;q=nonsense",
                                      "application/json;q=1.5",
                                      "application/json;q=",
                                      "application/json;q=.",
                                      "application/json;q=01",
                                      "application/json;q=0.0000",
                                      "json",
                                      "application",
                                      "image/*",
                                      "application/*;q=0, */*"};
    assert_int_equal(chosen_media(NULL, API_MEDIA_JSON, API_MEDIA_CBOR), API_MEDIA_JSON);
    expect_media(yes, sizeof yes / sizeof *yes, API_MEDIA_JSON);
    expect_media(no, sizeof no / sizeof *no, API_MEDIA_NONE);
}

/* The greatest quality value must decide; among equal ones, the media type of the request's body. */
static void chosen_types(void **state)
{
    static const struct {
        const char *accept;
        api_media   body_type, chosen;
    } each[] = {
        {NULL, API_MEDIA_CBOR, API_MEDIA_CBOR},
        {"*/*", API_MEDIA_CBOR, API_MEDIA_CBOR},
        {"application/*;q=0.3", API_MEDIA_CBOR, API_MEDIA_CBOR},
        {"application/json", API_MEDIA_CBOR, API_MEDIA_JSON},
        {"application/cbor", API_MEDIA_JSON, API_MEDIA_CBOR},
        {"application/json;q=0, */*", API_MEDIA_JSON, API_MEDIA_CBOR},
        {"application/cbor;q=0.9, application/json;q=0.8", API_MEDIA_JSON, API_MEDIA_CBOR},
        {"application/cbor;q=0.8, application/json;q=0.9", API_MEDIA_CBOR, API_MEDIA_JSON},
        {"application/cbor, application/json", API_MEDIA_JSON, API_MEDIA_JSON},
        {"application/json, application/cbor", API_MEDIA_CBOR, API_MEDIA_CBOR},
        {"application/json, */*;q=0.1", API_MEDIA_CBOR, API_MEDIA_JSON},
        {"application/cbor;q=0, */*;q=0.1", API_MEDIA_CBOR, API_MEDIA_JSON},
        {"application/cbor;q=0, application/json;q=0, */*", API_MEDIA_CBOR, API_MEDIA_MSGPACK},
        {"application/cbor;q=0, application/json;q=0, application/msgpack;q=0, */*", API_MEDIA_CBOR, API_MEDIA_NONE},
        {NULL, API_MEDIA_MSGPACK, API_MEDIA_MSGPACK},
        {"application/msgpack, application/json, application/cbor", API_MEDIA_MSGPACK, API_MEDIA_MSGPACK},
        {"application/x-msgpack, application/cbor", API_MEDIA_JSON, API_MEDIA_CBOR},
        {"application/cbor;q=0.9, application/vnd.msgpack", API_MEDIA_JSON, API_MEDIA_MSGPACK},
        {"application/cbor-seq", API_MEDIA_CBOR, API_MEDIA_NONE},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (chosen_media(each[i].accept, each[i].body_type, API_MEDIA_CBOR) != each[i].chosen)
            fail_msg("%s", each[i].accept);
}

/* The form of arrays: of those in Accept the one of the greatest quality; among equal ones that of the request. A media
 * range that names a form is more specific than one that does not, and an unknown form matches nothing. */
static void chosen_forms(void **state)
{
    enum {
        JSON   = API_MEDIA_JSON,
        PLAIN  = API_MEDIA_CBOR,
        TYPED  = API_MEDIA_CBOR_TYPED,
        SHAPED = API_MEDIA_CBOR_MULTIDIMENSIONAL,
        NONE   = API_MEDIA_NONE
    };
    static const struct {
        const char *accept;
        int         form, chosen;
        const char *type;
    } each[] = {
        {NULL, PLAIN, PLAIN, "application/cbor"},
        {NULL, TYPED, TYPED, "application/cbor"},
        {"*/*", SHAPED, SHAPED, "application/cbor"},
        {"application/cbor", PLAIN, PLAIN, "application/cbor"},
        {"application/cbor", SHAPED, SHAPED, "application/cbor"},
        {"application/cbor; arrays=plain", SHAPED, PLAIN, "application/cbor; arrays=plain"},
        {"application/cbor;arrays=typed", PLAIN, TYPED, "application/cbor; arrays=typed"},
        {"application/cbor ; Arrays = \"MultiDimensional\"", PLAIN, SHAPED,
         "application/cbor; arrays=multidimensional"},
        {"application/cbor;arrays=typed;q=0.5, application/cbor;arrays=plain;q=0.4", PLAIN, TYPED,
         "application/cbor; arrays=typed"},
        {"application/cbor;arrays=typed;q=0.5, application/cbor;arrays=plain;q=0.6", TYPED, PLAIN,
         "application/cbor; arrays=plain"},
        {"application/cbor;arrays=typed, application/cbor;arrays=plain", TYPED, TYPED,
         "application/cbor; arrays=typed"},
        {"application/cbor;arrays=typed, application/cbor;arrays=plain", SHAPED, PLAIN,
         "application/cbor; arrays=plain"},
        {"application/cbor;arrays=typed;q=0, application/cbor", TYPED, PLAIN, "application/cbor"},
        {"application/cbor;arrays=typed;q=0, application/cbor", SHAPED, SHAPED, "application/cbor"},
        {"application/cbor;arrays=typed;q=0.3, application/cbor;q=0.7", TYPED, PLAIN, "application/cbor"},
        {"application/cbor;arrays=typed, */*;q=0.9", PLAIN, TYPED, "application/cbor; arrays=typed"},
        {"application/cbor;arrays=typed;q=0.5, application/json", PLAIN, JSON, "application/json"},
        {"application/cbor;arrays=nested", PLAIN, NONE, NULL},
        {"application/cbor;arrays=", PLAIN, NONE, NULL},
        {"application/cbor;arrays", PLAIN, NONE, NULL},
        {"application/cbor;arrays=nested, application/json", PLAIN, JSON, "application/json"},
        {"application/cbor;arrays=nested, application/cbor;arrays=typed;q=0.1", PLAIN, TYPED,
         "application/cbor; arrays=typed"},
        {"application/cbor;version=2", PLAIN, PLAIN, "application/cbor"},
        {"application/json;arrays=typed", PLAIN, JSON, "application/json"},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        api_accepted accepted = api_accept(each[i].accept, API_MEDIA_CBOR);
        api_media    chosen   = api_accepted_media(accepted, (api_media)each[i].form);
        if ((int)chosen != each[i].chosen) fail_msg("%s: %d", each[i].accept, (int)chosen);
        if (each[i].type) assert_string_equal(api_media_type(chosen, &accepted), each[i].type);
    }
}

/* An answer has the media type that the client has named: by Accept, the first of equal quality. */
static void named_types(void **state)
{
    static const struct {
        const char *accept, *type;
        int         name;
    } each[] = {
        {"application/vnd.msgpack", "application/vnd.msgpack", 0},
        {"application/msgpack", "application/msgpack", 1},
        {"Application/X-MsgPack;q=0.7", "application/x-msgpack", 2},
        {"application/msgpack;q=0.4, application/x-msgpack;q=0.6", "application/x-msgpack", 2},
        {"application/x-msgpack, application/msgpack", "application/x-msgpack", 2},
        {"application/json;q=0, application/cbor;q=0, */*", "application/vnd.msgpack", -1},
        {"application/json;q=0.5, application/msgpack;q=0.5, application/cbor;q=0.6", "application/cbor", 0},
        {NULL, "application/json", -1},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        api_accepted accepted = api_accept(each[i].accept, API_MEDIA_JSON);
        assert_string_equal(api_media_type(api_accepted_media(accepted, API_MEDIA_CBOR), &accepted), each[i].type);
        assert_int_equal(accepted.name, each[i].name);
    }
    int name = 7;
    assert_int_equal(api_media_of_content("application/msgpack; charset=utf-8", &name), API_MEDIA_MSGPACK);
    assert_int_equal(name, 1);
    assert_int_equal(api_media_of_content("application/vnd.msgpack", &name), API_MEDIA_MSGPACK);
    assert_int_equal(name, 0);
}

static void negotiation(void **state)
{
    assert_int_equal(status_with((api_request){0}), 200);
    assert_int_equal(status_with((api_request){.content_type = "text/plain"}), 415);
    assert_int_equal(status_with((api_request){.content_encoding = "br"}), 415);
    assert_int_equal(status_with((api_request){.content_encoding = "gzip, gzip"}), 415);
    assert_int_equal(status_with((api_request){.content_encoding = "identity"}), 200);
    assert_int_equal(status_with((api_request){.content_encoding = "gzip"}), 400); /* a body that is not gzip */
    assert_int_equal(status_with((api_request){.accept = "text/html"}), 406);
    assert_int_equal(status_with((api_request){.accept = "text/html", .content_type = "text/plain"}), 406);
    assert_int_equal(status_with((api_request){.accept = "text/html", .target = "/v1/models/slider/x"}), 404);
    assert_int_equal(status_with((api_request){.accept = "text/html", .method = "GET", .target = "/livez"}), 200);
    assert_int_equal(status_with((api_request){.content_type = "text/x", .method = "GET", .target = "/v1"}), 200);
}

/* --- timeouts, ids ---------------------------------------------------------------------------------------------- */

static void timeouts(void **state)
{
    static const char *const bad[] = {"",    "0",  "0.0", "-1", "+1", "1s",  "nan", "inf",   "1e3",
                                      "0x1", ".5", "1.",  " 1", "1 ", "1,5", "one", "1.5.2", "01"};
    static const struct {
        const char *text;
        double      seconds;
    } good[] = {{NULL, 10}, {"1", 1}, {"0.25", 0.25}, {"0.001", 0.001}, {"1000", 10}, {"99999999999999999999999", 10}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (status_with((api_request){.request_timeout = bad[i]}) != 400) fail_msg("\"%s\" is accepted", bad[i]);
    assert_problem(400, "bad-timeout", NULL, -1);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        api_request head = {.method = "GET", .target = "/v1", .request_timeout = good[i].text};
        api_call   *call = api_begin(door_api(), &head);
        assert_true(api_timeout(call) == good[i].seconds);
        api_end(call);
    }
}

static const char *id_for(const char *sent)
{
    api_request head = {.method = "GET", .target = "/nowhere", .request_id = sent};
    return header_of(ask_with(&head, "", 0, NULL), "Request-Id");
}

static void request_ids(void **state)
{
    char longest[129 + 1], first[200];
    memset(longest, 'x', sizeof longest - 1);
    longest[129] = '\0';
    assert_string_equal(id_for("a-B_9/:=\"{}"), "a-B_9/:=\"{}");
    assert_string_not_equal(id_for(longest), longest);
    longest[128] = '\0';
    assert_string_equal(id_for(longest), longest);
    assert_string_not_equal(id_for("a b"), "a b");
    assert_string_not_equal(id_for("a\r\nb"), "a\r\nb");
    assert_string_not_equal(id_for("\xC3\xA9"), "\xC3\xA9");
    strcpy(first, id_for(NULL));
    assert_int_equal(strlen(first), 16);
    assert_string_not_equal(id_for(NULL), first);
    assert_int_equal(strlen(id_for("")), 16);
}

/* --- starting and stopping -------------------------------------------------------------------------------------- */

/* Returns the status at a phase of the service; asserts that a 503, and no other status, has Retry-After. */
static unsigned status_at(api *a, const char *target)
{
    api_request      head  = {.method = "GET", .target = target};
    api_call        *call  = api_begin(a, &head);
    const api_reply *reply = api_reply_of(call);
    unsigned         times = 0, status = reply->status;
    for (size_t i = 0; i < reply->n_headers; i++)
        times += strcmp(reply->header[i].name, "Retry-After") == 0;
    assert_int_equal(times, status == 503);
    api_end(call);
    return status;
}

static void phases(void **state)
{
    char       error[100];
    api_config config = {.version = "test", .target = test_target(), .limits = door_limits};
    api       *a      = api_open(&config, error, sizeof error);
    assert_int_equal(status_at(a, "/readyz"), 503);
    assert_int_equal(status_at(a, "/livez"), 200);
    assert_int_equal(status_at(a, "/v1"), 200);
    assert_int_equal(status_at(a, "/v1/models"), 503);
    assert_int_equal(status_at(a, "/v1/models/x"), 503);
    api_set_ready(a);
    assert_int_equal(status_at(a, "/readyz"), 200);
    assert_int_equal(status_at(a, "/v1/models/x"), 404);
    api_set_draining(a);
    api_set_ready(a);
    assert_int_equal(status_at(a, "/readyz"), 503);
    assert_int_equal(status_at(a, "/v1/models/x"), 404);
    api_close(a);
}

static void unknown_targets_are_refused(void **state)
{
    char       error[100] = "";
    api_config config     = {.version = "test", .target = "pdp11", .limits = door_limits};
    assert_null(api_open(&config, error, sizeof error));
    assert_non_null(strstr(error, "pdp11"));
    assert_non_null(strstr(error, "scalar"));
}

static void every_problem_is_explained(void **state)
{
    for (int code = 1; code < API_PROBLEM_COUNT; code++) {
        char target[100] = "/problems/";
        strcat(target, api_problem_kind_of((api_code)code)->code);
        const answer *a = ask("GET", target, NULL);
        assert_int_equal(a->status, 200);
        assert_true(strlen(json_string_value(json_object_get(a->json, "text"))) > 20);
    }
    ask("GET", "/problems/none", NULL);
    assert_problem(404, "no-such-path", NULL, -1);
}

static void the_service_publishes_its_limits(void **state)
{
    ask("GET", "/v1", NULL);
    assert_true(number_at("limits/rows") == 20000 && number_at("limits/timeout") == 10);
    assert_true(number_at("limits/angle") >= 1e5 && number_at("lanes") >= 1);
    const dyn_kernels *k       = test_kernels();
    const json_t      *service = ask("GET", "/v1", NULL)->json;
    assert_string_equal(json_string_value(json_object_get(service, "target")), k->target);
    assert_string_equal(json_string_value(json_object_get(service, "arithmetic")), dyn_kernels_arithmetic(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets),
        cmocka_unit_test(unknown_targets),
        cmocka_unit_test(methods),
        cmocka_unit_test(head_is_get_without_a_body),
        cmocka_unit_test(queries),
        cmocka_unit_test(model_names),
        cmocka_unit_test(content_types),
        cmocka_unit_test(accepted_types),
        cmocka_unit_test(chosen_types),
        cmocka_unit_test(chosen_forms),
        cmocka_unit_test(named_types),
        cmocka_unit_test(negotiation),
        cmocka_unit_test(timeouts),
        cmocka_unit_test(request_ids),
        cmocka_unit_test(phases),
        cmocka_unit_test(unknown_targets_are_refused),
        cmocka_unit_test(every_problem_is_explained),
        cmocka_unit_test(the_service_publishes_its_limits),
    };
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
