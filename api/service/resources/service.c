/* service.c - handlers that describe the server: GET /v1, /livez, /readyz, /problems/{code}. */
#include "api/service/http/call.h"
#include "api/codec/json.h"
#include "api/requests/operations/operation_list.h"
#include <string.h>

static const char JSON[] = "application/json";

enum { SERVICE_MAX = 64 * 1024 }; /* largest body that these handlers produce, bytes */

static void emit_operation(api_emit *e, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/v1/models/{model}/%s", name);
    api_emit_object(e);
    api_emit_string_member(e, "name", name);
    api_emit_string_member(e, "path", path);
    api_emit_end(e);
}

static void emit_limits(api_emit *e, const api_current_limits *limits)
{
    api_emit_object(e);
    api_emit_integer_member(e, "body", (long long)limits->body);
    api_emit_integer_member(e, "answer", (long long)limits->answer);
    api_emit_integer_member(e, "memory", (long long)limits->memory);
    api_emit_integer_member(e, "rows", (long long)limits->rows);
    api_emit_integer_member(e, "nesting", limits->nesting);
    api_emit_integer_member(e, "models", (long long)limits->models);
    api_emit_integer_member(e, "links", (long long)limits->links);
    api_emit_integer_member(e, "dof", DYN_MAX_DOF);
    api_emit_number_member(e, "timeout", limits->timeout);
    api_emit_number_member(e, "angle", DYN_MAX_ANGLE);
    api_emit_end(e);
}

bool api_get_service(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    api_buffer b;
    api_emit   e;
    api_emit_init(&e, call->media, &b);
    api_buffer_init(&b, SERVICE_MAX);
    api_emit_object(&e);
    api_emit_string_member(&e, "name", "torqued");
    api_emit_string_member(&e, "version", call->api->version);
    api_emit_string_member(&e, "build", call->api->build);
    api_emit_key(&e, "operations");
    api_emit_array(&e);
    for (size_t i = 0; api_operations[i]; i++)
        emit_operation(&e, api_operations[i]->name);
    emit_operation(&e, "evaluate");
    api_emit_end(&e);
    api_emit_key(&e, "limits");
    emit_limits(&e, &call->api->limits);
    api_emit_string_member(&e, "target", call->api->kernels->target);
    api_emit_integer_member(&e, "lanes", call->api->kernels->lanes);
    api_emit_string_member(&e, "arithmetic", dyn_kernels_arithmetic(call->api->kernels));
    api_emit_end(&e);
    return api_reply_emitted(call, 200, &e, problem);
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

static bool reply_ready(api_call *call, api_problem *problem)
{
    api_buffer b;
    api_emit   e;
    api_emit_init(&e, API_MEDIA_JSON, &b);
    api_buffer_init(&b, SERVICE_MAX);
    api_emit_object(&e);
    api_emit_string_member(&e, "status", "ready");
    api_emit_key(&e, "reasons");
    api_reasons_emit(call->api, &e);
    api_emit_end(&e);
    return api_reply_emitted(call, 200, &e, problem);
}

static bool fail_loading(api *a, api_problem *problem)
{
    char reason[API_REASON_MAX];
    bool known = api_reasons_first(a, reason);
    return api_fail(problem, API_NOT_READY, NULL, "loading: %s", known ? reason : "the models are still being loaded");
}

bool api_get_readyz(api_call *call, const api_input *input, api_problem *problem)
{
    char reason[API_REASON_MAX];
    (void)input;
    switch ((api_phase)atomic_load(&call->api->phase)) {
    case API_LOADING: return fail_loading(call->api, problem);
    case API_DRAINING_PHASE: return api_fail(problem, API_DRAINING, NULL, "draining: the server is shutting down");
    case API_READY: break;
    }
    if (api_reasons_unready(call->api, reason)) return api_fail(problem, API_NOT_READY, NULL, "%s", reason);
    return reply_ready(call, problem);
}

bool api_get_problem(api_call *call, const api_input *input, api_problem *problem)
{
    (void)input;
    const char *name = call->route.capture[0];
    api_code    code = api_problem_named(name, strlen(name));
    if (code == API_NO_PROBLEM) return api_fail(problem, API_NO_SUCH_PATH, NULL, "no problem has the code %s", name);
    const api_problem_kind *kind = api_problem_kind_of(code);
    if (call->wants_page) return api_reply_problem_page(call, kind, NULL, problem);
    char       type[64];
    api_buffer b;
    api_emit   e;
    api_emit_init(&e, API_MEDIA_JSON, &b);
    snprintf(type, sizeof type, "/problems/%s", kind->code);
    api_buffer_init(&b, SERVICE_MAX);
    api_emit_object(&e);
    api_emit_string_member(&e, "type", type);
    api_emit_string_member(&e, "code", kind->code);
    api_emit_integer_member(&e, "status", kind->status);
    api_emit_string_member(&e, "title", kind->title);
    api_emit_string_member(&e, "text", kind->text);
    api_emit_end(&e);
    return api_reply_emitted(call, 200, &e, problem);
}
