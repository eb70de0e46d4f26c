/* reply.c - build the reply of a call: headers, body, problem document, content coding (call.h). */
#include "call.h"
#include "api/codec/compress.h"
#include "api/codec/emit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char JSON[] = "application/json", PROBLEM[] = "application/problem+json";

enum { WORTH_CODING = 1024 }; /* bytes; smaller bodies are not compressed, because they fit one packet anyway */
/* Bytes of the largest problem document: detail and pointer with every byte escaped. */
enum { PROBLEM_MAX = 16 * 1024 };

void api_reply_static_header(api_call *call, const char *name, const char *text)
{
    api_reply *reply = &call->reply;
    size_t     i     = 0;
    while (i < reply->n_headers && strcmp(reply->header[i].name, name) != 0)
        i++;
    if (i == sizeof reply->header / sizeof *reply->header) return;
    if (i == reply->n_headers) reply->n_headers++;
    reply->header[i] = (api_header){name, text};
}

void api_reply_header(api_call *call, const char *name, const char *text)
{
    size_t size = strlen(text) + 1;
    if (size > sizeof call->text - call->n_text) return;
    api_reply_static_header(call, name, memcpy(call->text + call->n_text, text, size));
    call->n_text += size;
}

void api_reply_vary(api_call *call, unsigned headers)
{
    static const char *const lists[API_VARY_SETS] = {
        [API_VARY_ACCEPT]                                       = "Accept",
        [API_VARY_ENCODING]                                     = "Accept-Encoding",
        [API_VARY_ACCEPT | API_VARY_ENCODING]                   = "Accept, Accept-Encoding",
        [API_VARY_ORIGIN]                                       = "Origin",
        [API_VARY_ORIGIN | API_VARY_ACCEPT]                     = "Origin, Accept",
        [API_VARY_ORIGIN | API_VARY_ENCODING]                   = "Origin, Accept-Encoding",
        [API_VARY_ORIGIN | API_VARY_ACCEPT | API_VARY_ENCODING] = "Origin, Accept, Accept-Encoding",
    };
    call->vary |= headers;
    api_reply_static_header(call, "Vary", lists[call->vary]);
}

void api_reply_empty(api_call *call, unsigned status)
{
    free(call->reply.body);
    call->reply.status       = status;
    call->reply.content_type = NULL;
    call->reply.body         = NULL;
    call->reply.static_body  = NULL;
    call->reply.length       = 0;
    call->reply.problem      = NULL;
}

bool api_reply_body(api_call *call, unsigned status, const char *content_type, api_buffer *body, api_problem *problem)
{
    size_t length = body->length;
    char  *bytes  = api_buffer_take(body);
    if (!bytes) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the answer");
    api_reply_empty(call, status);
    call->reply.content_type = content_type;
    call->reply.body         = bytes;
    call->reply.length       = length;
    return true;
}

bool api_reply_emitted(api_call *call, unsigned status, const api_emit *e, api_problem *problem)
{
    if (!api_emit_done(e)) e->buffer->failed = true;
    return api_reply_body(call, status, api_media_type(e->media, &call->accepted), e->buffer, problem);
}

static void emit_problem(api_emit *e, const api_problem *problem)
{
    const api_problem_kind *kind = api_problem_kind_of(problem->code);
    char                    type[64];
    snprintf(type, sizeof type, "/problems/%s", kind->code);
    api_emit_object(e);
    api_emit_string_member(e, "type", type);
    api_emit_string_member(e, "code", kind->code);
    api_emit_string_member(e, "title", kind->title);
    api_emit_integer_member(e, "status", kind->status);
    api_emit_string_member(e, "detail", problem->detail);
    if (problem->has_pointer) api_emit_string_member(e, "pointer", problem->pointer);
    if (problem->row >= 0) api_emit_integer_member(e, "row", problem->row);
    if (problem->offset >= 0) api_emit_integer_member(e, "offset", problem->offset);
    if (problem->fraction >= 0) api_emit_number_member(e, "fraction", problem->fraction);
    if (problem->time >= 0) api_emit_number_member(e, "time", problem->time);
    if (problem->code == API_NOT_READY ||
        problem->code == API_DRAINING) { /* "reasons" is also in the reply of a ready server */
        api_emit_key(e, "reasons");
        api_emit_array(e);
        api_emit_string(e, problem->detail);
        api_emit_end(e);
    }
    api_emit_end(e);
}

static const char *header_of(const api_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (strcmp(reply->header[i].name, name) == 0) return reply->header[i].value;
    return NULL;
}

api_coding api_reply_coding(const api_call *call)
{
    const api_reply *reply = &call->reply;
    bool             worth = reply->body && reply->length >= WORTH_CODING && strcmp(reply->content_type, JSON) == 0 &&
                 !header_of(reply, "ETag");
    return worth ? call->coding : API_CODING_NONE;
}

bool api_reply_compress(api_call *call, const api_deadline *deadline, api_problem *problem)
{
    api_buffer coded;
    api_coding coding = api_reply_coding(call);
    size_t     length = call->reply.length;
    if (coding == API_CODING_NONE) return true;
    size_t      bound = api_compress_bound(coding, length), memory = api_compress_memory(coding, length);
    api_problem short_of;
    api_problem_clear(&short_of);
    /* Memory is short: send the body uncompressed. */
    if (!api_claim(&call->share, bound + memory, &short_of)) return true;
    api_buffer_init(&coded, bound);
    bool done = api_compress(coding, call->reply.body, length, deadline, &coded, problem);
    if (done) done = api_reply_body(call, call->reply.status, call->reply.content_type, &coded, problem);
    api_buffer_free(&coded);
    api_unclaim(&call->share, memory);
    if (!done) return false;
    api_reply_header(call, "Content-Encoding", api_coding_name(coding));
    if (call->method != API_GET) api_reply_vary(call, API_VARY_ACCEPT | API_VARY_ENCODING);
    return true;
}

const char *api_shortage_document(void)
{
    return "{\"type\":\"/problems/memory-full\",\"code\":\"memory-full\",\"title\":\"Memory budget full\","
           "\"status\":503,\"detail\":\"the server has no memory for this request or for its answer\"}\n";
}

/* Replies 503 without any memory. */
static void reply_shortage(api_call *call)
{
    api_reply_empty(call, 503);
    call->reply.content_type = PROBLEM;
    call->reply.static_body  = api_shortage_document();
    call->reply.length       = strlen(call->reply.static_body);
}

static bool reply_problem_document(api_call *call, const api_problem *problem, api_problem *memory)
{
    api_buffer body;
    api_emit   e;
    api_emit_init(&e, API_MEDIA_JSON, &body);
    api_buffer_init(&body, PROBLEM_MAX);
    emit_problem(&e, problem);
    unsigned status = api_problem_kind_of(problem->code)->status;
    return api_reply_body(call, status, PROBLEM, &body, memory);
}

void api_reply_problem(api_call *call, const api_problem *problem)
{
    const api_problem_kind *kind = api_problem_kind_of(problem->code);
    api_problem             memory;
    api_problem_clear(&memory);
    if (kind->status == 404 && call->method == API_GET) api_reply_vary(call, API_VARY_ACCEPT);
    bool page = kind->status == 404 && call->wants_page;
    if (!(page ? api_reply_problem_page(call, kind, problem->detail, &memory)
               : reply_problem_document(call, problem, &memory))) {
        kind = api_problem_kind_of(API_MEMORY_FULL);
        reply_shortage(call);
    }
    call->reply.status  = kind->status;
    call->reply.problem = kind->code;
    call->wants_body = call->wants_coding = false;
    if (kind->status == 503 || kind->status == 429) api_reply_static_header(call, "Retry-After", "1");
}
