/* authorize.c - a middleware (middleware.h): let a request pass only if its client has the role for its method and
 * path.
 *
 * The server recognises the client (api_identity); the table `rules` says which roles may do what. A resource without a
 * rule is for administrators alone. A path that no resource has passes: it is answered 404 and holds no data, and so
 * does a method that the resource does not support. A challenge names the scheme of RFC 6750. */
#include "middleware.h"
#include <stdio.h>
#include <string.h>

enum { ADMIN = API_ROLE_ADMIN, USE = API_ROLE_EVALUATE | ADMIN, WATCH = API_ROLE_OBSERVE | ADMIN, ANY = 1 << 30 };

/* The roles that may use a method of a resource; ANY: all clients, also those without a credential. */
static const struct {
    const char *pattern;
    unsigned    roles[API_METHOD_COUNT];
} rules[] = {
    {"/v1/models/{model}/{operation}", {[API_POST] = USE}},
    {"/v1/models/{model}/document", {[API_GET] = USE}},
    {"/v1/models/{model}/export/{format}", {[API_GET] = USE}},
    {"/v1/models/{model}", {[API_GET] = USE, [API_PUT] = ADMIN, [API_DELETE] = ADMIN}},
    {"/v1/models", {[API_GET] = USE}},
    {"/v1", {[API_GET] = USE | WATCH}},
    {"/metrics", {[API_GET] = WATCH}},
    {"/livez", {[API_GET] = ANY}},
    {"/readyz", {[API_GET] = ANY}},
    {"/openapi.json", {[API_GET] = ANY}},
    {"/problems/{code}", {[API_GET] = ANY}},
    {"/", {[API_GET] = ANY}},
    {"/docs", {[API_GET] = ANY}},
    {"/document", {[API_GET] = ANY}},
    {"/document.css", {[API_GET] = ANY}},
    {"/document.schema.json", {[API_GET] = ANY}},
    {"/clients", {[API_GET] = ANY}},
    {"/clients/{file}", {[API_GET] = ANY}},
    {"/assets/{file}", {[API_GET] = ANY}},
    {"/favicon.ico", {[API_GET] = ANY}},
    {"/THIRD_PARTY.txt", {[API_GET] = ANY}},
};

bool api_roles_of(const api_resource *resource, api_method method, unsigned *roles)
{
    *roles = ADMIN;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i].pattern, resource->pattern) == 0) {
            *roles = rules[i].roles[method];
            return true;
        }
    return false;
}

/* Writes the names of roles: "evaluate or admin". */
static void list_roles(unsigned roles, char *text, size_t size)
{
    static const struct {
        const char *name;
        unsigned    bit;
    } all[] = {
#define X(NAME, name, bit) {name, bit},
        API_ROLES(X)
#undef X
    };
    size_t n = 0;
    *text    = '\0';
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (roles & all[i].bit && n < size)
            n += (size_t)snprintf(text + n, size - n, "%s%s", n > 0 ? " or " : "", all[i].name);
}

static bool fail_unauthorized(api_call *call, const char *roles, api_problem *problem)
{
    const char *refused = call->identity->refused;
    api_reply_static_header(call, "WWW-Authenticate",
                            refused ? "Bearer realm=\"torqued\", error=\"invalid_token\"" : "Bearer realm=\"torqued\"");
    if (refused) return api_fail(problem, API_UNAUTHORIZED, NULL, "%s", refused);
    return api_fail(problem, API_UNAUTHORIZED, NULL,
                    "the request has no credential; expected Authorization: Bearer TOKEN of a client with the role %s",
                    roles);
}

/* Copies the patterns of the client's models. */
static bool keep_models(api_call *call, const api_identity *client, api_problem *problem)
{
    if (!client->models) return true;
    call->models = strdup(client->models);
    return call->models || api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the request's head");
}

static bool check_model(const api_call *call, const api_route *route, api_problem *problem)
{
    const char *model = route->capture[0];
    if (strncmp(route->resource->pattern, "/v1/models/", 11) != 0 || api_may_use_model(call, model)) return true;
    return api_fail(problem, API_FORBIDDEN, NULL, "%s may not use the model \"%.64s\", only the models %.200s",
                    call->identity->name, model, call->models);
}

bool api_check_role(api_call *call, const api_request *request, api_problem *problem)
{
    const api_identity *client = call->identity;
    api_route           route;
    char                wanted[64], held[64];
    unsigned            roles;
    bool                handled = call->kind == API_KIND_PLAIN || call->kind == API_KIND_HEAD;
    if (!client) return true;
    if (!keep_models(call, client, problem)) return false;
    if (!handled || !api_route_find(call->api->resources, request->target, &route)) return true;
    api_roles_of(route.resource, call->method, &roles);
    if (roles == ANY || !route.resource->handler[call->method]) return true;
    list_roles(roles, wanted, sizeof wanted);
    if (!client->name || client->refused) return fail_unauthorized(call, wanted, problem);
    if (client->roles & roles) return check_model(call, &route, problem);
    list_roles(client->roles, held, sizeof held);
    return api_fail(problem, API_FORBIDDEN, NULL, "%s has the role %s; %s %s needs the role %s", client->name,
                    *held ? held : "of no client", request->method, route.resource->pattern, wanted);
}
