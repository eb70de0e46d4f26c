/* answer.c - see answer.h. */
#include "answer.h"
#include "clock.h"
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static ssize_t read_nothing(void *cls, uint64_t position, char *buffer, size_t size)
{
    (void)cls, (void)position, (void)buffer, (void)size;
    return MHD_CONTENT_READER_END_WITH_ERROR; /* a body that is announced and not sent is never read */
}

static struct MHD_Response *make_response(api_call *call)
{
    static char      empty[1];
    const api_reply *reply = api_reply_of(call);
    if (reply->head) return MHD_create_response_from_callback(reply->length, 1, read_nothing, NULL, NULL);
    size_t length = reply->length;
    char  *body   = api_take_body(call);
    if (!body) return MHD_create_response_from_buffer(0, empty, MHD_RESPMEM_PERSISTENT);
    struct MHD_Response *response = MHD_create_response_from_buffer(length, body, MHD_RESPMEM_MUST_FREE);
    if (!response) free(body);
    return response;
}

static bool add_headers(struct MHD_Response *response, const api_reply *reply, bool close, unsigned retry_after)
{
    bool ok = true;
    if (reply->content_type) ok = MHD_add_response_header(response, "Content-Type", reply->content_type);
    for (size_t i = 0; i < reply->n_headers; i++) {
        const char *name = reply->header[i].name, *value = reply->header[i].value;
        char        seconds[16];
        if (retry_after && strcmp(name, "Retry-After") == 0) {
            snprintf(seconds, sizeof seconds, "%u", retry_after);
            value = seconds;
        }
        ok = ok && MHD_add_response_header(response, name, value);
    }
    if (close) ok = ok && MHD_add_response_header(response, "Connection", "close");
    return ok;
}

enum MHD_Result srv_answer_send(struct MHD_Connection *mhd, api_call *call, bool close, unsigned retry_after)
{
    const api_reply     *reply    = api_reply_of(call);
    struct MHD_Response *response = make_response(call);
    if (!response) return MHD_NO;
    bool ok = add_headers(response, reply, close, retry_after);
    ok      = ok && MHD_queue_response(mhd, reply->status, response) == MHD_YES;
    MHD_destroy_response(response); /* the queue has its own reference */
    return ok ? MHD_YES : MHD_NO;
}

static const char *header_of(const api_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (strcmp(reply->header[i].name, name) == 0) return reply->header[i].value;
    return NULL;
}

void srv_answer_log(const srv_log *log, struct MHD_Connection *mhd, const srv_access *access)
{
    srv_line line;
    srv_log_begin(&line, log, SRV_INFO, access->call ? "request" : "refused");
    if (!line.log) return;
    const api_reply                *reply = access->call ? api_reply_of(access->call) : NULL;
    const union MHD_ConnectionInfo *sent  = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_HTTP_STATUS);
    srv_log_text(&line, "method", *access->method ? access->method : NULL);
    srv_log_text(&line, "target", access->target);
    if (sent) srv_log_count(&line, "status", sent->http_status);
    srv_log_number(&line, "ms", (double)(srv_now() - access->began) * 1e-6);
    srv_log_count(&line, "in", access->received);
    if (reply) {
        srv_log_count(&line, "out", sent && !reply->head ? reply->length : 0);
        srv_log_text(&line, "route", api_call_route(access->call));
        srv_log_text(&line, "id", header_of(reply, "Request-Id"));
    }
    if (!access->delivered) srv_log_text(&line, "ended", "early");
    srv_log_end(&line);
}
