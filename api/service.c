/* service.c - what the server says about itself: GET /v1, /livez, /readyz, /openapi.json, /problems/{code}. */
#include "call.h"
#include "json.h"
#include "operation.h"
#include <string.h>

/* The contract as JSON, from openapi.yaml by the Makefile. */
extern const char api_openapi_start[], api_openapi_end[];

static const char JSON[] = "application/json";

enum { SERVICE_MAX = 64 * 1024 }; /* bytes of an answer of this file */

static void print_operations(api_buffer *b)
{
    for (size_t i = 0; api_operations[i]; i++)
        api_buffer_format(b, "{\"name\":\"%s\",\"path\":\"/v1/models/{model}/%s\"},", api_operations[i]->name,
                          api_operations[i]->name);
    api_buffer_text(b, "{\"name\":\"evaluate\",\"path\":\"/v1/models/{model}/evaluate\"}");
}

static void print_limits(api_buffer *b, const api_limits *limits)
{
    api_buffer_format(b,
                      "{\"body\":%zu,\"answer\":%zu,\"memory\":%zu,\"rows\":%zu,\"nesting\":%u,\"models\":%zu,"
                      "\"links\":%zu,\"dof\":%d,\"timeout\":",
                      limits->body, limits->answer, limits->memory, limits->rows, limits->nesting, limits->models,
                      limits->links, DYN_MAX_DOF);
    api_json_real(b, limits->timeout);
    api_buffer_text(b, ",\"angle\":");
    api_json_real(b, DYN_MAX_ANGLE);
    api_buffer_text(b, "}");
}

bool api_get_service(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    api_buffer b;
    api_buffer_init(&b, SERVICE_MAX);
    api_buffer_text(&b, "{\"name\":\"torqued\",\"version\":");
    api_json_string(&b, call->api->version);
    api_buffer_text(&b, ",\"operations\":[");
    print_operations(&b);
    api_buffer_text(&b, "],\"limits\":");
    print_limits(&b, &call->api->limits);
    api_buffer_format(&b, ",\"target\":\"%s\",\"lanes\":%d}", call->api->kernels->target, call->api->kernels->lanes);
    return api_reply_body(call, 200, JSON, &b, problem);
}

static bool reply_text(api_call *call, const char *text, size_t length, api_problem *problem)
{
    api_buffer b;
    api_buffer_init(&b, length);
    api_buffer_put(&b, text, length);
    return api_reply_body(call, 200, JSON, &b, problem);
}

bool api_get_livez(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    static const char text[] = "{\"status\":\"alive\"}";
    return reply_text(call, text, sizeof text - 1, problem);
}

/* File names may hold any byte. */
static void print_reason(api_buffer *b, const char *reason)
{
    char text[API_REASON_MAX];
    snprintf(text, sizeof text, "%s", reason);
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~') *c = '?';
    api_json_string(b, text);
}

static bool reply_ready(api_call *call, api_problem *problem)
{
    const api *a     = call->api;
    size_t     shown = a->n_reasons < API_REASONS_SHOWN ? a->n_reasons : API_REASONS_SHOWN;
    api_buffer b;
    api_buffer_init(&b, SERVICE_MAX);
    api_buffer_text(&b, "{\"status\":\"ready\",\"reasons\":[");
    for (size_t i = 0; i < shown; i++) {
        if (i > 0) api_buffer_text(&b, ",");
        print_reason(&b, a->reasons[i]);
    }
    if (a->n_reasons > shown) api_buffer_format(&b, ",\"and %zu more, in the log\"", a->n_reasons - shown);
    api_buffer_text(&b, "]}");
    return api_reply_body(call, 200, JSON, &b, problem);
}

bool api_get_readyz(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    switch ((api_phase)atomic_load(&call->api->phase)) {
    case API_LOADING: return api_fail(problem, API_NOT_READY, NULL, "loading: the models are still being loaded");
    case API_DRAINING_PHASE: return api_fail(problem, API_DRAINING, NULL, "draining: the server is shutting down");
    case API_READY: break;
    }
    return reply_ready(call, problem);
}

bool api_get_openapi(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    return reply_text(call, api_openapi_start, (size_t)(api_openapi_end - api_openapi_start), problem);
}

bool api_get_problem(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    const char *name = call->route.capture[0];
    api_code    code = api_problem_named(name, strlen(name));
    if (code == API_NO_PROBLEM) return api_fail(problem, API_NO_SUCH_PATH, NULL, "no problem has the code %s", name);
    const api_problem_kind *kind = api_problem_kind_of(code);
    api_buffer              b;
    api_buffer_init(&b, SERVICE_MAX);
    api_buffer_format(&b, "{\"type\":\"/problems/%s\",\"code\":\"%s\",\"status\":%u,\"title\":", kind->code, kind->code,
                      kind->status);
    api_json_string(&b, kind->title);
    api_buffer_text(&b, ",\"text\":");
    api_json_string(&b, kind->text);
    api_buffer_text(&b, "}");
    return api_reply_body(call, 200, JSON, &b, problem);
}
