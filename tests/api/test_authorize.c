/* test_authorize.c - checks which roles may use which method of which resource, and which models a client may use. */
#include "api/service/http/middleware.h"
#include "tests/target.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static api *service;

static int open_service(void **state)
{
    char       error[200];
    api_config config = {.version = "test",
                         .target  = test_target(),
                         .limits  = {.memory = 1 << 20, .models = 4, .timeout = 1, .body = 1 << 20}};
    service           = api_open(&config, error, sizeof error);
    if (service) api_set_ready(service);
    return service ? 0 : -1;
}

static int close_service(void **state)
{
    api_close(service);
    return 0;
}

static const api_identity nobody    = {0};
static const api_identity wrong     = {.refused = "no client has this token"};
static const api_identity expired   = {.name = "old", .roles = API_ROLE_ADMIN, .refused = "the token has expired"};
static const api_identity powerless = {.name = "powerless"};
static const api_identity evaluate  = {.name = "planner", .roles = API_ROLE_EVALUATE};
static const api_identity admin     = {.name = "boss", .roles = API_ROLE_ADMIN};
static const api_identity observe   = {.name = "prometheus", .roles = API_ROLE_OBSERVE};

static const char *header_of(const api_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (strcmp(reply->header[i].name, name) == 0) return reply->header[i].value;
    return "";
}

/* Returns the status, or 0 if the request would reach its resource's handler with a body. */
static unsigned ask(const char *method, const char *target, const api_identity *who)
{
    const api_request request = {
        .method = method, .target = target, .content_type = "application/json", .identity = who};
    api_call *call = api_begin(service, &request);
    assert_non_null(call);
    unsigned    status    = api_wants_body(call) ? 0 : api_reply_of(call)->status;
    const char *challenge = header_of(api_reply_of(call), "WWW-Authenticate");
    if ((status == 401) != (*challenge != '\0')) fail_msg("%s %s: %u with \"%s\"", method, target, status, challenge);
    api_end(call);
    return status;
}

static void check(const char *method, const char *target, const api_identity *who, unsigned status)
{
    unsigned found = ask(method, target, who);
    if (found != status)
        fail_msg("%s %s by %s: %u, expected %u", method, target, who && who->name ? who->name : "-", found, status);
}

/* A request, the status `with` for a client that has one of the roles `needs` (0: the server then asks for the body).
 */
typedef struct row {
    const char *method, *target;
    unsigned    with, needs;
} row;

enum { E = API_ROLE_EVALUATE, A = API_ROLE_ADMIN, O = API_ROLE_OBSERVE };

static const row rows[] = {
    {"GET", "/v1", 200, E | A | O},
    {"HEAD", "/v1", 200, E | A | O},
    {"GET", "/v1/models", 200, E | A},
    {"GET", "/v1/models/none", 404, E | A},
    {"HEAD", "/v1/models/none", 404, E | A},
    {"GET", "/v1/models/none/document", 404, E | A},
    {"POST", "/v1/models/none/mass-matrix", 404, E | A},
    {"POST", "/v1/models/none/evaluate", 404, E | A},
    {"POST", "/v1/models/none/no-operation", 404, E | A},
    {"PUT", "/v1/models/new", 0, A},
    {"DELETE", "/v1/models/none", 404, A},
    {"GET", "http://robots.example/v1/models", 200, E | A},
    {"GET", "/%76%31/models", 200, E | A},
    {"PUT", "/v1/models/%6eew", 0, A},
};

static void test_roles(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const row          *r       = &rows[i];
        const api_identity *roles[] = {&evaluate, &admin, &observe};
        check(r->method, r->target, NULL, r->with); /* without access control */
        check(r->method, r->target, &nobody, 401);
        check(r->method, r->target, &wrong, 401);
        check(r->method, r->target, &expired, 401);
        check(r->method, r->target, &powerless, 403);
        for (size_t j = 0; j < 3; j++)
            check(r->method, r->target, roles[j], roles[j]->roles & r->needs ? r->with : 403);
    }
}

static void test_public(void **state)
{
    static const char *const open[] = {"/livez", "/readyz", "/openapi.json", "/problems/bad-json", "/"};
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
        check("GET", open[i], &nobody, 200);
        check("HEAD", open[i], &nobody, 200);
        check("GET", open[i], &wrong, 200);
        check("POST", open[i], &nobody, 405);
    }
    check("GET", "/nowhere", &nobody, 404);
    check("GET", "/v1/models/", &nobody, 308);
    check("OPTIONS", "/v1/models/none", &nobody, 204);
    check("BREW", "/v1/models/none", &nobody, 501);
    check("PATCH", "/v1/models/none", &nobody, 405);
}

/* Without a row in the table of authorize.c only administrators could use a resource: every resource must have one. */
static void test_every_resource_has_a_rule(void **state)
{
    unsigned roles;
    for (const api_resource *r = api_resources; r->pattern; r++)
        for (api_method m = 0; m < API_METHOD_COUNT; m++)
            if (r->handler[m] && (!api_roles_of(r, m, &roles) || roles == 0))
                fail_msg("method %d of %s has no rule", m, r->pattern);
}

static void test_models_of_a_client(void **state)
{
    const api_identity some = {.name = "cell", .roles = A, .models = "cell1-*,shared"};
    check("GET", "/v1/models/cell1-a", &some, 404);
    check("GET", "/v1/models/shared", &some, 404);
    check("GET", "/v1/models/shared2", &some, 403);
    check("GET", "/v1/models/cell2-a", &some, 403);
    check("GET", "/v1/models/cell2-a/document", &some, 403);
    check("POST", "/v1/models/cell2-a/mass-matrix", &some, 403);
    check("PUT", "/v1/models/cell1-a", &some, 0);
    check("PUT", "/v1/models/cell2-a", &some, 403);
    check("DELETE", "/v1/models/cell2-a", &some, 403);
    check("PUT", "/v1/models/%63ell2-a", &some, 403);
    check("GET", "/v1/models", &some, 200);
}

static void test_patterns(void **state)
{
    assert_true(api_patterns_match("*", "a"));
    assert_true(api_patterns_match("b,a*", "abc"));
    assert_true(api_patterns_match("a?c", "abc"));
    assert_true(api_patterns_match("a-*,b-*", "b-1"));
    assert_false(api_patterns_match("a", "ab"));
    assert_false(api_patterns_match("ab", "a"));
    assert_false(api_patterns_match("a,b", "a,b"));
    assert_false(api_patterns_match("", "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_public),
        cmocka_unit_test(test_every_resource_has_a_rule),
        cmocka_unit_test(test_models_of_a_client),
        cmocka_unit_test(test_patterns),
    };
    return cmocka_run_group_tests(tests, open_service, close_service);
}
