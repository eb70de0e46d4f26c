/* request_head.c - check the head of a request: middlewares, resource, method, timeout, model, media types,
 * preconditions and query, in this order. */
#include "middleware.h"
#include "api/robots/locked_joints/locked_query.h"
#include "api/codec/number.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_under(const api_route *route, const char *prefix)
{
    return strncmp(route->resource->pattern, prefix, strlen(prefix)) == 0;
}

/* Redirects GET from a path with a slash at its end to the resource without it. False: there is no such resource. */
static bool redirect(api_call *call, const api_request *request)
{
    char location[256];
    if (!api_route_without_slash(call->api->resources, request->target, location, sizeof location)) return false;
    api_reply_header(call, "Location", location);
    api_reply_empty(call, 308);
    return true;
}

/* Answers OPTIONS of the target "*", which asks about the server as a whole. Returns true if the request is to be
 * processed further. */
static bool answer_server_options(api_call *call, const api_request *request)
{
    if (call->kind != API_KIND_OPTIONS || strcmp(request->target, "*") != 0) return true;
    api_reply_static_header(call, "Allow", "GET, HEAD, PUT, POST, DELETE, OPTIONS");
    api_reply_empty(call, 204);
    return false;
}

/* True if the client prefers HTML to JSON, as browsers do. Under /v1 the client must also name XHTML, or navigate
 * (Sec-Fetch-Mode): Java's HttpURLConnection prefers text/html by default, and is a program. */
static bool prefers_page(const api_request *request)
{
    const char *path  = api_target_path(request->target);
    bool        v1    = strncmp(path, "/v1", 3) == 0 && strchr("/?", path[3]); /* strchr also finds the NUL */
    const char *fetch = request->fetch_mode;
    return api_accept_prefers(request->accept, "text/html", "application/json") &&
           (!v1 || (fetch && strcmp(fetch, "navigate") == 0) ||
            api_accept_names(request->accept, "application/xhtml+xml"));
}

/* Fails with 404. Only GET is redirected from a path with a slash at its end. */
static bool fail_path(const api_request *request, api_problem *problem)
{
    const char  *path  = api_target_path(request->target);
    const size_t end   = strcspn(path, "?");
    const bool   slash = end > 1 && path[end - 1] == '/';
    return api_fail(problem, API_NO_SUCH_PATH, NULL,
                    "no resource has the path %.200s%s; operations are at POST /v1/models/{model}/{operation}, and GET "
                    "/openapi.json describes all resources",
                    request->target, slash ? " (leave out the slash at its end)" : "");
}

static bool find_resource(api_call *call, const api_request *request, api_problem *problem)
{
    api_method_kind kind = call->kind;
    if (kind == API_KIND_UNKNOWN)
        return api_fail(problem, API_METHOD_UNKNOWN, NULL, "no resource here has the method %.32s", request->method);
    bool gets        = call->method == API_GET && (kind == API_KIND_PLAIN || kind == API_KIND_HEAD);
    call->wants_page = gets && prefers_page(request);
    if (!api_route_find(call->api->resources, request->target, &call->route))
        return !(gets && redirect(call, request)) && fail_path(request, problem);
    const api_resource *resource = call->route.resource;
    if (resource->exists && !resource->exists(call, NULL, problem)) return false;

    bool taken = (kind == API_KIND_PLAIN || kind == API_KIND_HEAD) && resource->handler[call->method];
    if (taken) return true;
    char allow[64];
    api_route_allow(resource, allow, sizeof allow);
    api_reply_header(call, "Allow", allow);
    if (kind != API_KIND_OPTIONS)
        return api_fail(problem, API_METHOD_NOT_ALLOWED, NULL, "%s supports %s, not %.32s", resource->pattern, allow,
                        request->method);
    api_reply_empty(call, 204);
    return false;
}

/* Reads Request-Timeout = 1*DIGIT [ "." 1*DIGIT ], in seconds, greater than 0. A value above the configured timeout is
 * reduced to it. */
static bool read_timeout(api_call *call, const char *text, api_problem *problem)
{
    call->timeout = call->api->limits.timeout;
    if (!text) return true;
    double seconds = 0;
    size_t length  = strlen(text);
    bool   plain   = length > 0 && strspn(text, "0123456789.") == length;
    if (!plain || api_number_read(text, length, &seconds) != length || !(seconds > 0))
        return api_fail(problem, API_BAD_TIMEOUT, NULL,
                        "Request-Timeout: %.40s is not a positive decimal number of seconds", text);
    call->timeout = fmin(call->timeout, seconds);
    return true;
}

/* Refuses query parameters, except for PUT of a model in a format with options. */
static bool check_query(api_call *call, api_problem *problem)
{
    const char *query = call->route.query;
    if (!query || *query == '\0') return true;
    if (!call->format)
        return api_fail(problem, API_UNKNOWN_PARAMETER, NULL, "%s takes no query parameters, given ?%.64s%s",
                        call->route.resource->pattern, query,
                        call->method == API_POST ? "; fields are members of the body: {\"q\": [0.1]}" : "");
    api_locked_query split;
    const bool       good = api_locked_query_read(query, &split, problem) &&
                      (!*split.rest || call->format->check_query(split.rest, problem));
    api_locked_query_free(&split);
    if (!good) return false;
    call->query = strdup(query);
    return call->query || api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the request's head");
}

/* Reads Model-Change = 1*19DIGIT. The call waits if this server has not applied the change yet. A store that is not
 * shared does not number changes: its acknowledged changes are applied. */
static bool read_change(api_call *call, const char *text, api_problem *problem)
{
    size_t length = text ? strlen(text) : 0;
    if (!text) return true;
    if (length == 0 || length > 19 || strspn(text, "0123456789") != length)
        return api_fail(problem, API_BAD_CHANGE, NULL, "Model-Change: %.40s is not a number of a change", text);
    uint64_t change = strtoull(text, NULL, 10);
    bool     waits  = atomic_load(&call->api->shared) && change > atomic_load(&call->api->change);
    if (waits && is_under(&call->route, "/v1/models/")) call->change = change;
    return true;
}

static bool check_loaded(const api_call *call, api_problem *problem)
{
    if (!is_under(&call->route, "/v1/models") || atomic_load(&call->api->phase) != API_LOADING) return true;
    return api_fail(problem, API_NOT_READY, NULL, "the models are still being loaded");
}

static bool find_model(api_call *call, api_problem *problem)
{
    const char *name = call->route.capture[0];
    if (!is_under(&call->route, "/v1/models/")) return true;
    if (call->method == API_PUT && !api_model_name_is_valid(name))
        return api_fail(
            problem, API_BAD_NAME, NULL,
            "\"%.64s\" is not a model name: expected a letter or digit, then up to 63 letters, digits, . _ -", name);
    call->model = api_registry_find(call->api->models, name);
    if (call->model || call->method == API_PUT) return true;
    if (!api_registry_check_fault(call->api->models, name, problem)) {
        if (call->method == API_DELETE) api_problem_clear(problem); /* deleting the model ends its fault */
        return call->method == API_DELETE;
    }
    return api_fail(problem, API_NO_SUCH_MODEL, NULL,
                    "there is no model \"%.64s\"; names are case-sensitive, GET /v1/models lists them", name);
}

/* Adds headers to answers to GET. Answers to POST are not cached; they get Vary in api_reply_compress only. nosniff: a
 * browser must not take a model for a script, since the pages' policy allows scripts of this server. */
static void add_get_headers(api_call *call)
{
    if (call->method != API_GET) return;
    bool by_accept = is_under(&call->route, "/v1") || call->route.resource->has_page ||
                     strcmp(call->route.resource->pattern, "/metrics") == 0;
    api_reply_vary(call, (by_accept ? API_VARY_ACCEPT : 0) | API_VARY_ENCODING);
    api_reply_static_header(call, "X-Content-Type-Options", "nosniff");
}

static bool fail_media_type(const api_call *call, const char *content_type, api_problem *problem)
{
    char types[API_MODEL_MEDIA_TYPES];
    _Static_assert((int)API_MODEL_MEDIA_TYPES >= (int)API_FORMATS_TEXT, "types has room for either list");
    if (call->method == API_PUT)
        api_model_media_types(types);
    else
        api_formats_text(" or ", types);
    return api_fail(problem, API_UNSUPPORTED_MEDIA_TYPE, NULL,
                    "Content-Type: %.100s; for JSON send the header Content-Type: application/json (curl --json); this "
                    "takes %s, texts in UTF-8",
                    content_type, types);
}

static bool fail_accept(const char *accept, api_problem *problem)
{
    char formats[API_FORMATS_TEXT];
    return api_fail(problem, API_NOT_ACCEPTABLE, NULL,
                    "Accept: %.100s allows none of %s; of application/cbor the parameter \"arrays\" is plain, typed or "
                    "multidimensional",
                    accept, api_formats_text(" and ", formats));
}

/* Chooses media types and coding; fails with 406 or 415. Resources outside /v1 never fail: Accept decides only
 * between a page and JSON, where there are both. */
static bool negotiate(api_call *call, const api_request *request, api_problem *problem)
{
    call->coding     = api_coding_by_accept(request->accept_encoding);
    call->takes_gzip = call->file && api_accepts_gzip(request->accept_encoding);
    add_get_headers(call);
    call->wants_openmetrics = api_accept_prefers(request->accept, "application/openmetrics-text", "text/plain");
    if (!is_under(&call->route, "/v1")) return true;
    bool        sends        = call->method == API_PUT || call->method == API_POST;
    const char *content_type = sends ? request->content_type : NULL;
    int         name;
    api_media   body_media = api_media_of_content(content_type, &name);
    if (call->method == API_PUT) {
        call->format = api_model_format_of_content(content_type);
        body_media   = call->format ? API_MEDIA_JSON : API_MEDIA_NONE;
    }
    call->content  = body_media;
    call->accepted = api_accept(request->accept, body_media == API_MEDIA_NONE ? API_MEDIA_JSON : body_media);
    call->media    = api_accepted_media(call->accepted, API_MEDIA_CBOR);
    if (call->media == API_MEDIA_NONE) return fail_accept(request->accept, problem);
    if (call->accepted.name < 0 && call->media == body_media) call->accepted.name = name;
    if (body_media == API_MEDIA_NONE) return fail_media_type(call, content_type, problem);
    call->body_coding = sends ? api_coding_of_content(request->content_encoding) : API_CODING_NONE;
    if (call->body_coding != API_CODING_COUNT) return true;
    api_reply_static_header(call, "Accept-Encoding", "gzip, zstd");
    return api_fail(problem, API_UNSUPPORTED_MEDIA_TYPE, NULL,
                    "Content-Encoding: %.40s; bodies have one of gzip, zstd and identity", request->content_encoding);
}

/* Copies If-Match, If-None-Match and Model-Revision, because the registry checks them again when the change takes
 * effect. POST creates and replaces nothing, so If-None-Match does not apply to it. */
static bool keep_conditions(api_call *call, const api_request *request, api_problem *problem)
{
    const char *if_match      = request->if_match;
    const char *if_none_match = call->method == API_POST ? NULL : request->if_none_match;
    const char *if_revision   = request->model_revision;
    call->if_match            = if_match ? strdup(if_match) : NULL;
    call->if_none_match       = if_none_match ? strdup(if_none_match) : NULL;
    call->if_revision         = if_revision ? strdup(if_revision) : NULL;
    bool copied               = !call->if_match == !if_match && !call->if_none_match == !if_none_match;
    if (copied && !call->if_revision == !if_revision) return true;
    return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the request's head");
}

static bool check_conditions(api_call *call, api_problem *problem)
{
    if (!is_under(&call->route, "/v1/models/")) return true;
    const char       *revision   = call->model ? call->model->revision : NULL;
    api_preconditions conditions = api_call_conditions(call), no_none_match = {call->if_match, NULL, call->if_revision};
    bool              get = call->method == API_GET; /* for GET, If-None-Match leads to 304, not 412 */
    if (!call->model && api_preconditions_exist(&conditions) &&
        !api_registry_check_fault(call->api->models, call->route.capture[0], problem))
        return false;
    if (!api_preconditions_hold(get ? &no_none_match : &conditions, revision))
        return revision ? api_fail(problem, API_PRECONDITION_FAILED, NULL, "the model here has the entity tag \"%s\"",
                                   revision)
                        : api_fail(problem, API_PRECONDITION_FAILED, NULL, "there is no such model");
    if (!get || !api_preconditions_unchanged(&conditions, revision, call->media)) return true;
    call->unchanged = true;
    return true;
}

bool api_head_check(api_call *call, const api_request *request, api_problem *problem)
{
    call->kind       = api_method_of(request->method, &call->method);
    call->identity   = request->identity;
    call->reply.head = call->kind == API_KIND_HEAD;
    return api_pass_middlewares(api_middlewares, call, request, problem) && answer_server_options(call, request) &&
           find_resource(call, request, problem) && check_loaded(call, problem) &&
           read_timeout(call, request->request_timeout, problem) && read_change(call, request->model_change, problem) &&
           (call->change || find_model(call, problem)) && negotiate(call, request, problem) &&
           keep_conditions(call, request, problem) && (call->change || check_conditions(call, problem)) &&
           check_query(call, problem);
}

bool api_head_resume(api_call *call, api_problem *problem)
{
    call->change = 0;
    return find_model(call, problem) && check_conditions(call, problem);
}
