/* calls.c - one call from its head to its end: api_begin, api_run with the body, perhaps again later, and api_end. */
#include "metrics.h"
#include "api/service/http/call.h"
#include "api/requests/cost/cost.h"
#include "api/base/memory/shortage.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Turns the reply into 304: the headers of the 200, Content-Length included, without the body. */
static void reply_unchanged(api_call *call)
{
    call->reply.status       = 304;
    call->reply.content_type = NULL;
    call->reply.head         = true;
    free(call->reply.body);
    call->reply.body        = NULL;
    call->reply.static_body = NULL;
}

/* Decides from the head how the call continues: waiting for a change, receiving the body, or the reply. */
static void end_head(api_call *call, bool go_on, api_problem *problem)
{
    bool gets = call->method == API_GET && call->change == 0;
    if (go_on && (call->method != API_GET || (gets && call->route.resource->is_long)))
        call->wants_body = true;
    else if (go_on && gets && call->route.resource->handler[API_GET](call, NULL, problem))
        call->wants_coding = !call->unchanged && api_reply_coding(call) != API_CODING_NONE;
    if (api_shortage_check(problem) || problem->code) {
        call->change     = 0;
        call->wants_body = false;
        api_reply_problem(call, problem);
    } else if (call->unchanged)
        reply_unchanged(call);
}

api_call *api_begin(api *a, const api_request *request)
{
    api_call *call = malloc(sizeof *call); /* faster than calloc, which bypasses malloc's thread cache */
    if (!call) return NULL;
    api_problem problem;
    api_problem_clear(&problem);
    api_shortage_forget();
    memset(call, 0, offsetof(api_call, text));
    call->api          = a;
    call->share.budget = &a->budget;
    call->share.client = request->memory;
    call->timeout      = a->limits.timeout;
    api_reply_request_id(call, request->request_id);
    api_reply_static_header(call, "Arithmetic", dyn_kernels_arithmetic(a->kernels));
    bool go_on = api_head_check(call, request, &problem);
    end_head(call, go_on, &problem);
    call->identity = NULL; /* strings of the identity need not outlive this function */
    return call;
}

bool api_waits_for_change(const api_call *call)
{
    return call->change > atomic_load(&call->api->change);
}

void api_resume(api_call *call)
{
    api_problem problem;
    if (call->change == 0) return;
    api_problem_clear(&problem);
    api_shortage_forget();
    call->wants_body = false;
    bool go_on       = api_head_resume(call, &problem);
    end_head(call, go_on, &problem);
}

bool api_wants_body(const api_call *call)
{
    return call->wants_body;
}

bool api_wants_run(const api_call *call)
{
    return call->wants_body || call->wants_coding || call->change > 0;
}

bool api_waits_for_store(const api_call *call)
{
    return call->wants_body && (call->method == API_PUT || call->method == API_DELETE);
}

double api_timeout(const api_call *call)
{
    return call->timeout;
}

bool api_reserve(api_call *call, size_t bytes)
{
    api_problem problem;
    api_problem_clear(&problem);
    if (api_claim(&call->share, bytes, &problem)) return true;
    api_reply_problem(call, &problem);
    return false;
}

void api_release(api_call *call, size_t bytes)
{
    api_unclaim(&call->share, bytes);
}

void api_refuse(api_call *call, api_code code, const char *format, ...)
{
    api_problem problem;
    va_list     args;
    api_problem_clear(&problem);
    va_start(args, format);
    api_failv(&problem, code, NULL, format, args);
    va_end(args);
    api_reply_problem(call, &problem);
}

/* --- running ---------------------------------------------------------------------------------------------------------
 */

/* The duration of a step, ns, that ended at `end` or, if the request did not get so far, with the request; 0: it did
 * not begin. */
static uint64_t duration(const api_call *call, uint64_t began, uint64_t end)
{
    if (end == 0) end = call->stamps.ended;
    return began > 0 && end > began ? end - began : 0;
}

api_figures api_call_figures(const api_call *call)
{
    const api_stamps *stamps = &call->stamps;
    const api_model  *model  = call->model;
    api_figures       f      = {.began    = stamps->began,
                                .ended    = stamps->ended,
                                .estimate = call->expected,
                                .states   = call->states,
                                .model    = model ? model->name : NULL,
                                .revision = model ? model->revision : NULL,
                                .trace    = *call->trace ? call->trace : NULL,
                                .span     = *call->trace ? call->span : NULL,
                                .parent   = *call->trace ? call->parent_span : NULL};
    if (call->operation_number == 0) return f;
    f.decode   = duration(call, stamps->began, stamps->decoded);
    f.evaluate = duration(call, stamps->decoded, stamps->evaluated);
    f.encode   = duration(call, stamps->evaluated, 0);
    return f;
}

static void count_run(const api_call *call)
{
    const api_label_values operation = {{call->operation_number}};
    const api_figures      f         = api_call_figures(call);
    if (f.decode > 0) api_metric_observe(API_METRIC_DECODE_SECONDS, operation, f.decode);
    if (f.evaluate > 0) api_metric_observe(API_METRIC_EVALUATE_SECONDS, operation, f.evaluate);
    if (f.encode > 0) api_metric_observe(API_METRIC_ENCODE_SECONDS, operation, f.encode);
    if (call->reply.status == 200) api_metric_add(API_METRIC_STATES, operation, (int64_t)call->states);
}

/* True if a run that has ended unfinished is to be repeated: it was not admitted, or had to leave its thread. */
static bool is_deferred(const api_call *call, const api_deadline *deadline, api_problem *problem)
{
    const uint64_t now = api_now();
    if (call->deferred) return problem->code == API_NO_PROBLEM && !api_shortage_check(problem);
    api_problem passed;
    api_problem_clear(&passed);
    return problem->code == API_DEADLINE_PASSED && api_deadline_must_leave(deadline, now) &&
           api_deadline_check_at(deadline, now, &passed);
}

/* Forgets a run without a reply, so that the call can run again. `bytes`: those claimed before. */
static void undo_run(api_call *call, size_t bytes)
{
    if (!call->wants_coding) {
        free(call->reply.body);
        call->reply.body = NULL;
    }
    call->stamps = (api_stamps){0};
    call->helped = 0;
    api_unclaim(&call->share, call->share.bytes - bytes);
}

/* Expands a body that has a content coding, once for all runs, and estimates the time of the request by it. */
static bool expand_body(api_call *call, api_input *input, api_problem *problem)
{
    const api_coded coded = {call->body_coding, input->body, input->length, input->deadline};
    if (call->body_coding == API_CODING_NONE) return true;
    if (!call->expanded.bytes) {
        if (!api_expand(&coded, call->api->limits.body, &call->share, &call->expanded, problem)) return false;
        api_estimate_cost(call, call->expanded.bytes, call->expanded.length);
    }
    input->body   = call->expanded.bytes;
    input->length = call->expanded.length;
    return true;
}

bool api_run(api_call *call, api_worker *worker, const char *body, size_t length, const api_deadline *deadline)
{
    api_problem problem;
    api_input   input = {worker, body, length, deadline};
    api_problem_clear(&problem);
    if (!api_wants_run(call)) return true;
    api_shortage_forget();
    api_scratch_reset(&worker->scratch);
    bool done          = call->wants_coding;
    call->deferred     = false;
    call->stamps.began = api_now();
    size_t claimed     = call->share.bytes;
    if (!done && length > call->api->limits.body)
        api_fail(&problem, API_BODY_TOO_LARGE, NULL, "the body has %zu bytes, the limit is %zu", length,
                 call->api->limits.body);
    else if (!done && api_deadline_check_at(deadline, call->stamps.began, &problem) &&
             expand_body(call, &input, &problem)) {
        claimed = call->share.bytes;
        done    = call->route.resource->handler[call->method](call, &input, &problem);
    }
    if (!done && is_deferred(call, deadline, &problem)) {
        undo_run(call, claimed);
        return false;
    }
    call->wants_body = call->wants_coding = false;
    api_expanded_free(&call->expanded, &call->share);
    if (done && call->unchanged) reply_unchanged(call);
    if (done && !call->unchanged) api_reply_compress(call, deadline, &problem);
    if (api_shortage_check(&problem) || problem.code) api_reply_problem(call, &problem);
    call->stamps.ended = api_now();
    count_run(call);
    api_cost_learn(call);
    return true;
}

/* --- the reply and the end -------------------------------------------------------------------------------------------
 */

const api_reply *api_reply_of(const api_call *call)
{
    return &call->reply;
}

char *api_take_body(api_call *call)
{
    char *body       = call->reply.body;
    call->reply.body = NULL;
    return body;
}

const char *api_call_route(const api_call *call)
{
    return call->route.resource ? call->route.resource->pattern : "-";
}

unsigned api_call_operation(const api_call *call)
{
    return call->operation_number;
}

bool api_call_change(const api_call *call, api_change *change)
{
    bool changes = call->kind == API_KIND_PLAIN && (call->method == API_PUT || call->method == API_DELETE);
    *change      = (api_change){call->route.capture[0], call->changed.before, call->revision_after};
    return changes && call->route.resource && call->route.resource->handler[call->method];
}

static void count_problem(const char *code)
{
    unsigned label = api_problem_named(code, strlen(code));
    api_metric_add(API_METRIC_PROBLEMS, (api_label_values){{label}}, 1);
}

void api_shortage_id(api *a, char id[API_ID_SIZE])
{
    api_make_id(a, id);
    count_problem(api_problem_kind_of(API_MEMORY_FULL)->code);
}

void api_end(api_call *call)
{
    if (!call) return;
    if (call->reply.problem) count_problem(call->reply.problem);
    api_expanded_free(&call->expanded, &call->share);
    api_unclaim(&call->share, call->share.bytes);
    api_model_release(call->model);
    free(call->models);
    free(call->if_match);
    free(call->if_none_match);
    free(call->if_revision);
    free(call->query);
    free(call->reply.body);
    free(call);
}
