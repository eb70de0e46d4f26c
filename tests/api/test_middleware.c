/* test_middleware.c - checks that middlewares see a request before routing, in order, and that the first one that
 * answers ends the list. */
#include "api/service/http/middleware.h"
#include "tests/target.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* --- the list of middlewares ------------------------------------------------------------------------------------ */

static char        seen[16];
static const char *target_seen;

static bool note(const api_request *request, char name)
{
    seen[strlen(seen)] = name;
    target_seen        = request->target;
    return true;
}

static bool first_passes(api_call *call, const api_request *request, api_problem *problem)
{
    return note(request, '1');
}

static bool second_passes(api_call *call, const api_request *request, api_problem *problem)
{
    return note(request, '2');
}

static bool refuses(api_call *call, const api_request *request, api_problem *problem)
{
    note(request, 'r');
    return api_fail(problem, API_BAD_REQUEST, NULL, "refused");
}

static bool answers(api_call *call, const api_request *request, api_problem *problem)
{
    note(request, 'a');
    api_reply_empty(call, 204);
    return false;
}

static bool pass(api_middleware *const *list, api_call *call, api_problem *problem)
{
    const api_request request = {.method = "GET", .target = "/nowhere"};
    memset(seen, 0, sizeof seen);
    memset(call, 0, sizeof *call);
    api_problem_clear(problem);
    return api_pass_middlewares(list, call, &request, problem);
}

static void test_the_list(void **state)
{
    api_middleware *const none[] = {NULL}, *const both[] = {first_passes, second_passes, NULL};
    api_middleware *const fails[]    = {first_passes, refuses, second_passes, NULL};
    api_middleware *const complete[] = {answers, refuses, NULL};
    api_call              call;
    api_problem           problem;
    assert_true(pass(none, &call, &problem));
    assert_string_equal(seen, "");
    assert_true(pass(both, &call, &problem));
    assert_string_equal(seen, "12");
    assert_string_equal(target_seen, "/nowhere");
    assert_false(pass(fails, &call, &problem));
    assert_string_equal(seen, "1r");
    assert_int_equal(problem.code, API_BAD_REQUEST);
    assert_false(pass(complete, &call, &problem));
    assert_string_equal(seen, "a");
    assert_int_equal(problem.code, API_NO_PROBLEM);
    assert_int_equal(call.reply.status, 204);
}

/* --- the middlewares of the product ------------------------------------------------------------------------------ */

static api *service;

static int open_service(void **state)
{
    char       error[200];
    api_config config = {.version = "test",
                         .target  = test_target(),
                         .limits  = {.memory = 1 << 20, .models = 1, .timeout = 1},
                         .hosts   = "robots.example",
                         .origins = "https://pages.example"};
    service           = api_open(&config, error, sizeof error);
    return service ? 0 : -1;
}

static int close_service(void **state)
{
    api_close(service);
    return 0;
}

static const char *header_of(const api_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (strcmp(reply->header[i].name, name) == 0) return reply->header[i].value;
    return "";
}

/* Checks the status of the answer to a request, and the origin that may read the answer. */
static void check_answer(api_request request, unsigned status, const char *reader)
{
    api_call *call = api_begin(service, &request);
    assert_non_null(call);
    const api_reply *reply = api_reply_of(call);
    if (reply->status != status) fail_msg("%s %s: %u", request.method, request.target, reply->status);
    assert_string_equal(header_of(reply, "Access-Control-Allow-Origin"), reader);
    assert_string_equal(api_call_route(call), status == 200 ? "/livez" : "-");
    api_end(call);
}

static const char own_host[] = "robots.example", page[] = "https://pages.example";

static void test_a_foreign_host_is_refused_before_routing(void **state)
{
    check_answer((api_request){.method = "GET", .target = "/livez", .host = own_host}, 200, "");
    check_answer((api_request){.method = "GET", .target = "/livez", .host = "evil.example"}, 421, "");
    check_answer((api_request){.method = "GET", .target = "/nowhere", .host = own_host}, 404, "");
    check_answer((api_request){.method = "GET", .target = "/nowhere", .host = "evil.example"}, 421, "");
    check_answer((api_request){.method = "BREW", .target = "/livez", .host = own_host}, 501, "");
    check_answer((api_request){.method = "BREW", .target = "/livez", .host = "evil.example"}, 421, "");
    /* The Host check comes first: a page of a listed origin cannot read its refusal. */
    check_answer((api_request){.method = "GET", .target = "/livez", .host = "evil.example", .origin = page}, 421, "");
}

/* Checks the status of a GET at an address of that scope. */
static void check_scope(api_scope scope, const char *target, unsigned status)
{
    api_request request = {.method = "GET", .target = target, .host = own_host, .scope = scope};
    api_call   *call    = api_begin(service, &request);
    assert_non_null(call);
    if (api_reply_of(call)->status != status) fail_msg("%s: %u", target, api_reply_of(call)->status);
    api_end(call);
}

/* At an address for probes only the paths of probes exist, in whatever spelling a request writes other paths or
   queries. */
static void test_an_address_for_probes_has_no_other_path(void **state)
{
    for (api_scope scope = API_PROBES; scope <= API_PROBES_AND_METRICS; scope++) {
        check_scope(scope, "/livez", 200);
        check_scope(scope, "/%6civez", 200);
        check_scope(scope, "/v1", 404);
        check_scope(scope, "/v1?/livez", 404);
        check_scope(scope, "/livez/../v1", 404);
        check_scope(scope, "/nowhere", 404);
        check_scope(scope, "*", 404);
    }
    check_scope(API_PROBES, "/metrics", 404);
    check_scope(API_PROBES_AND_METRICS, "/metrics", 200);
    check_scope(API_ALL_RESOURCES, "/v1", 200);
}

static void test_origins_are_admitted_before_routing(void **state)
{
    check_answer((api_request){.method = "GET", .target = "/livez", .host = own_host, .origin = page}, 200, page);
    check_answer((api_request){.method = "GET", .target = "/nowhere", .host = own_host, .origin = page}, 404, page);
    check_answer((api_request){.method = "GET", .target = "/livez", .host = own_host, .origin = "https://b.example"},
                 200, "");
    api_request preflight = {
        .method = "OPTIONS", .target = "/nowhere", .host = own_host, .origin = page, .preflight_method = "PUT"};
    check_answer(preflight, 204, page);
    preflight.origin = "https://b.example";
    check_answer(preflight, 404, "");
    preflight.target = "*";
    check_answer(preflight, 204, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_list),
        cmocka_unit_test_setup_teardown(test_a_foreign_host_is_refused_before_routing, open_service, close_service),
        cmocka_unit_test_setup_teardown(test_an_address_for_probes_has_no_other_path, open_service, close_service),
        cmocka_unit_test_setup_teardown(test_origins_are_admitted_before_routing, open_service, close_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
