/* response.c - see response.h. */
#include "response.h"
#include "api/exemplars.h"
#include "api/metrics.h"
#include "server/access/token.h"
#include "server/work/clock.h"
#include "server/memory/disposal.h"
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static ssize_t read_nothing(void *cls, uint64_t position, char *buffer, size_t size)
{
    (void)cls, (void)position, (void)buffer, (void)size;
    /* Never called: an answer to HEAD announces a body without sending it. */
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

static struct MHD_Response *make_response(api_call *call)
{
    static char      empty[1];
    const api_reply *reply = api_reply_of(call);
    if (reply->head) return MHD_create_response_from_callback(reply->length, 1, read_nothing, NULL, NULL);
    size_t length = reply->length;
    if (reply->static_body)
        return MHD_create_response_from_buffer(length, (void *)(uintptr_t)reply->static_body, MHD_RESPMEM_PERSISTENT);
    char *body = api_take_body(call);
    if (!body) return MHD_create_response_from_buffer(0, empty, MHD_RESPMEM_PERSISTENT);
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback(length, body, srv_dispose);
    if (!response) srv_dispose(body);
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

/* Time that the request waited for a worker, ns. */
static uint64_t waited(const api_figures *f, uint64_t queued)
{
    return queued > 0 && f->began > queued ? f->began - queued : 0;
}

/* Appends `NAME;dur=` and the duration in ms, to the microsecond, without the cost of snprintf. Returns the end. */
static char *put_duration(char *to, const char *name, uint64_t ns)
{
    char     reversed[24];
    int      n  = 0;
    uint64_t us = (ns + 500) / 1000;
    if (ns == 0) return to;
    to = stpcpy(to, name);
    do {
        if (n == 3) reversed[n++] = '.';
        reversed[n++] = (char)('0' + us % 10);
    } while ((us /= 10) > 0 || n < 5);
    while (n > 0)
        *to++ = reversed[--n];
    return to;
}

/* Tells the client how long the steps of an operation took (W3C Server Timing). */
static bool add_timing(struct MHD_Response *response, const api_call *call, uint64_t queued)
{
    char        text[160], *to = text;
    api_figures f = api_call_figures(call);
    if (f.decode == 0) return true;
    to  = put_duration(to, "queue;dur=", waited(&f, queued));
    to  = put_duration(to, to == text ? "decode;dur=" : ", decode;dur=", f.decode);
    to  = put_duration(to, ", evaluate;dur=", f.evaluate);
    to  = put_duration(to, ", encode;dur=", f.encode);
    *to = '\0';
    return MHD_add_response_header(response, "Server-Timing", text);
}

enum MHD_Result srv_response_send(struct MHD_Connection *mhd, api_call *call, bool close, unsigned retry_after,
                                  uint64_t queued)
{
    const api_reply     *reply    = api_reply_of(call);
    struct MHD_Response *response = make_response(call);
    if (!response) return MHD_NO;
    bool ok = add_headers(response, reply, close, retry_after);
    ok      = ok && add_timing(response, call, queued);
    ok      = ok && MHD_queue_response(mhd, reply->status, response) == MHD_YES;
    MHD_destroy_response(response); /* the queue has its own reference */
    return ok ? MHD_YES : MHD_NO;
}

/* Sends what the socket takes at once. The connection ends, whether everything was sent or not. `tls` NULL: the
 * connection is not encrypted. */
static void send_last(int fd, gnutls_session_t tls, const char *text, size_t size)
{
    if (tls)
        srv_tls_send_last(tls, text, size);
    else if (send(fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
}

void srv_response_send_shortage(struct MHD_Connection *mhd, api *service, bool head)
{
    const union MHD_ConnectionInfo *tls      = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    const char                     *document = api_shortage_document();
    char                            id[API_ID_SIZE], text[1000];
    api_shortage_id(service, id);
    int length =
        snprintf(text, sizeof text,
                 "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: %zu\r\nContent-Type: "
                 "application/problem+json\r\nRequest-Id: %s\r\nArithmetic: %s\r\nRetry-After: 1\r\n\r\n%s",
                 strlen(document), id, api_arithmetic(service), head ? "" : document);
    send_last(MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
              tls ? tls->tls_session : NULL, text, (size_t)length);
}

void srv_response_send_directly(const srv_connection *connection, const api_call *call)
{
    const api_reply *reply = api_reply_of(call);
    char            *text  = NULL, date[40];
    size_t           size  = 0;
    time_t           now   = time(NULL);
    struct tm        utc;
    FILE            *out = open_memstream(&text, &size);
    if (!out) return;
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &utc));
    fprintf(out, "HTTP/1.1 %u %s\r\nDate: %s\r\nConnection: close\r\nContent-Length: %zu\r\n", reply->status,
            MHD_get_reason_phrase_for(reply->status), date, reply->length);
    if (reply->content_type) fprintf(out, "Content-Type: %s\r\n", reply->content_type);
    for (size_t i = 0; i < reply->n_headers; i++)
        fprintf(out, "%s: %s\r\n", reply->header[i].name, reply->header[i].value);
    fputs("\r\n", out);
    const char *body = reply->static_body ? reply->static_body : reply->body;
    if (body && !reply->head) fwrite(body, 1, reply->length, out);
    if (fclose(out) == 0) send_last(connection->fd, connection->tls, text, size);
    free(text);
}

const char *srv_response_header(const api_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->n_headers; i++)
        if (strcmp(reply->header[i].name, name) == 0) return reply->header[i].value;
    return NULL;
}

/* Logs the target of the request. A token that a client has put there by mistake is masked. */
static void put_target(srv_line *line, const char *target)
{
    char        text[4096];
    size_t      n     = 0;
    const char *token = line->log ? strstr(target, SRV_TOKEN_PREFIX) : NULL;
    for (; token && n + strlen(target) + 4 < sizeof text; token = strstr(target, SRV_TOKEN_PREFIX)) {
        size_t kept = (size_t)(token - target) + sizeof SRV_TOKEN_PREFIX - 1;
        n += (size_t)snprintf(text + n, sizeof text - n, "%.*s***", (int)kept, target);
        target += kept;
        target += strspn(target, "0123456789abcdefABCDEF");
    }
    if (n > 0) snprintf(text + n, sizeof text - n, "%s", target);
    srv_log_text(line, "target", n > 0 ? text : target);
}

static void put_client(srv_line *line, const srv_access *access)
{
    srv_log_text(line, "client", access->client && *access->client ? access->client : NULL);
    srv_log_text(line, "from", access->from);
    srv_log_text(line, "via", access->via);
}

/* Returns the status that was sent; 0 if the connection ended without an answer. */
static unsigned status_of(struct MHD_Connection *mhd, const srv_access *access)
{
    if (access->answered) return access->call ? api_reply_of(access->call)->status : 503;
    const union MHD_ConnectionInfo *own = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_HTTP_STATUS);
    return own ? own->http_status : 0; /* status of an error answer by libmicrohttpd itself */
}

/* Returns the bytes of the answer's body, 0 unless the client is known to have received all of it. */
static uint64_t sent_bytes(const srv_access *access)
{
    const api_reply *reply = access->call && access->answered ? api_reply_of(access->call) : NULL;
    return reply && access->delivered && !reply->head ? reply->length : 0;
}

static bool is_slow(const srv_access *access, uint64_t ns)
{
    return access->slow > 0 && ns >= access->slow;
}

static void count_request(const srv_access *access, unsigned status, const api_figures *f, uint64_t ns)
{
    api_label_values operation = {{access->call ? api_call_operation(access->call) : 0}};
    api_label_values ended     = {{operation.value[0], api_status_label(status)}};
    api_metric_add(API_METRIC_REQUESTS, ended, 1);
    api_metric_observe(API_METRIC_REQUEST_SECONDS, operation, ns);
    if (access->received > 0) api_metric_add(API_METRIC_RECEIVED_BYTES, API_NO_LABELS, (int64_t)access->received);
    if (sent_bytes(access) > 0) api_metric_add(API_METRIC_SENT_BYTES, API_NO_LABELS, (int64_t)sent_bytes(access));
    if (access->queued > 0 && f->began > 0)
        api_metric_observe(API_METRIC_QUEUE_SECONDS, operation, waited(f, access->queued));
    if (is_slow(access, ns)) api_metric_add(API_METRIC_SLOW_REQUESTS, operation, 1);
    if (access->call && (f->trace || is_slow(access, ns)))
        api_exemplar_note(operation.value[0], ns, f->trace,
                          srv_response_header(api_reply_of(access->call), "Request-Id"));
}

/* Logs what is known about the work of a request: trace, model, states and times. */
static void put_figures(srv_line *line, const srv_access *access, const api_figures *f)
{
    srv_log_text(line, "trace", f->trace);
    srv_log_text(line, "span", f->span);
    srv_log_text(line, "parent", f->parent);
    srv_log_text(line, "model", f->model);
    srv_log_text(line, "revision", f->revision);
    if (f->states > 0) srv_log_count(line, "states", f->states);
    if (access->queued > 0 && f->began > 0) srv_log_ms(line, "queue", waited(f, access->queued));
    if (f->decode > 0) srv_log_ms(line, "decode", f->decode);
    if (f->evaluate > 0) srv_log_ms(line, "evaluate", f->evaluate);
    if (f->encode > 0) srv_log_ms(line, "encode", f->encode);
}

/* Begins the audit line of a change of a model or of a refused credential: by whom, from where, and what it did.
 * `change` NULL: the request was to change nothing. */
static void begin_audit_line(srv_line *line, srv_log *log, const srv_access *access, const api_change *change)
{
    const api_reply *reply  = api_reply_of(access->call);
    bool             denied = reply->status == 401 || reply->status == 403;
    srv_log_begin(line, log, SRV_AUDIT, denied ? "denied" : "change");
    srv_log_text(line, "method", access->method);
    put_target(line, access->target);
    srv_log_count(line, "status", reply->status);
    put_client(line, access);
    if (change) {
        srv_log_text(line, "model", change->model);
        srv_log_text(line, "before", change->before);
        srv_log_text(line, "after", change->after);
    }
    srv_log_text(line, "problem", reply->problem);
    srv_log_text(line, "reason", access->refused);
    srv_log_text(line, "id", srv_response_header(reply, "Request-Id"));
}

/* Logs the times of the phases of a request in their order: reading, waiting for a worker, the steps of the operation,
 * and sending, which includes waiting for the client. `end`: ns, when the request ended. */
static void put_phases(srv_line *line, const srv_access *access, const api_figures *f, uint64_t end)
{
    uint64_t read = access->arrived > 0 ? access->arrived : end, ready = f->ended > 0 ? f->ended : read;
    srv_log_ms(line, "read", read - access->began);
    srv_log_ms(line, "queue", waited(f, access->queued));
    if (f->decode == 0 && f->ended > 0)
        srv_log_ms(line, "run", f->ended - f->began); /* without an operation, as for PUT */
    if (f->decode > 0) srv_log_ms(line, "decode", f->decode);
    if (f->decode > 0) srv_log_ms(line, "evaluate", f->evaluate);
    if (f->decode > 0) srv_log_ms(line, "encode", f->encode);
    srv_log_ms(line, "send", end > ready ? end - ready : 0);
    if (access->took > 0) srv_log_ms(line, "processor", (uint64_t)(access->took * 1e9));
    if (f->estimate > 0) srv_log_ms(line, "estimate", (uint64_t)(fmin(f->estimate, 1e9) * 1e9));
}

/* Writes the line of a slow request. `end`: ns, when it ended. */
static void report_slow(const srv_records *records, const srv_access *access, const api_figures *f, const srv_use *use)
{
    srv_line line;
    uint64_t omitted;
    if (!srv_slow_log_admits(records->slow, use->now, &omitted)) return;
    srv_log_begin(&line, records->log, SRV_WARNING, "slow-request");
    srv_log_text(&line, "method", access->method);
    put_target(&line, access->target);
    srv_log_count(&line, "status", use->status);
    put_client(&line, access);
    srv_log_ms(&line, "ms", use->now - access->began);
    put_phases(&line, access, f, use->now);
    if (access->call) {
        unsigned operation = api_call_operation(access->call);
        srv_log_text(&line, "operation", operation > 0 ? api_operation_name_at(operation - 1) : NULL);
        srv_log_text(&line, "model", f->model);
        srv_log_text(&line, "revision", f->revision);
        if (f->states > 0) srv_log_count(&line, "states", f->states);
        srv_log_text(&line, "problem", access->answered ? api_reply_of(access->call)->problem : NULL);
        srv_log_text(&line, "id", srv_response_header(api_reply_of(access->call), "Request-Id"));
        srv_log_text(&line, "trace", f->trace);
    }
    if (!access->delivered) srv_log_text(&line, "ended", "early");
    if (omitted > 0) srv_log_count(&line, "omitted", omitted);
    srv_log_end(&line);
}

bool srv_response_audit(srv_log *log, const srv_access *access, srv_audit_line *reserved)
{
    api_change change = {0};
    srv_line   line;
    unsigned   status = api_reply_of(access->call)->status;
    if (!api_call_change(access->call, &change)) return false;
    bool made = *change.before || *change.after;
    if (!made && status >= 400 && status < 500) return false;
    begin_audit_line(&line, log, access, &change);
    srv_log_end_audit(&line, reserved);
    return true;
}

/* Writes the audit line of a change of a model that was refused, or of a refused credential. */
static void audit_refusal(srv_log *log, const srv_access *access)
{
    api_change change = {0};
    srv_line   line;
    begin_audit_line(&line, log, access, api_call_change(access->call, &change) ? &change : NULL);
    srv_log_end(&line);
}

/* True if the request has an audit line beside its own. */
static bool is_audited(const srv_access *access, unsigned status)
{
    api_change change;
    if (!access->call || access->audited) return false;
    return status == 401 || status == 403 || api_call_change(access->call, &change);
}

static bool request_has_succeeded(const srv_access *access, unsigned status)
{
    return access->call && access->delivered && status < 400;
}

/* Writes the usual line of a request. `omitted`: routine requests without a line before it. */
static void put_request(srv_log *log, const srv_access *access, const api_figures *f, const srv_use *use,
                        uint64_t omitted)
{
    srv_line line;
    srv_log_begin(&line, log, SRV_INFO, access->call ? "request" : "refused");
    srv_log_text(&line, "method", *access->method ? access->method : NULL);
    if (*access->target) put_target(&line, access->target);
    srv_log_count(&line, "status", use->status);
    put_client(&line, access);
    srv_log_ms(&line, "ms", use->now - access->began);
    srv_log_count(&line, "in", access->received);
    if (access->call) {
        const api_reply *reply = api_reply_of(access->call);
        srv_log_count(&line, "out", access->answered && !reply->head ? reply->length : 0);
        srv_log_text(&line, "problem", access->answered ? reply->problem : NULL);
        srv_log_text(&line, "route", api_call_route(access->call));
        srv_log_text(&line, "id", srv_response_header(reply, "Request-Id"));
        put_figures(&line, access, f);
    }
    if (!access->delivered) srv_log_text(&line, "ended", access->slow_reader ? "slow-reader" : "early");
    if (omitted > 0) srv_log_count(&line, "omitted", omitted);
    srv_log_end(&line);
}

/* Writes the usual line of a request, and that about a change or a refused credential. */
static void put_lines(srv_log *log, const srv_access *access, const api_figures *f, const srv_use *use)
{
    uint64_t ns   = use->now - access->began, omitted;
    bool     good = request_has_succeeded(access, use->status), audited = is_audited(access, use->status);
    if (!audited && log->level < SRV_INFO) return;
    if (!good && !srv_log_admits(log, access->account, use->status)) return;
    if (audited) audit_refusal(log, access);
    if (srv_log_samples(log, good, ns, &omitted)) put_request(log, access, f, use, omitted);
}

srv_use srv_response_record(const srv_records *records, struct MHD_Connection *mhd, const srv_access *access)
{
    srv_use     use = {.status = status_of(mhd, access), .now = srv_now()};
    api_figures f   = {0};
    if (access->call) f = api_call_figures(access->call);
    count_request(access, use.status, &f, use.now - access->began);
    put_lines(records->log, access, &f, &use);
    if (is_slow(access, use.now - access->began)) report_slow(records, access, &f, &use);
    use.work = access->took > 0 ? (uint64_t)(access->took * 1e9) : f.decode + f.evaluate + f.encode;
    return use;
}
