/* exchange.c - see exchange.h. */
#include "exchange_private.h"
#include "client_account.h"
#include "client_identity.h"
#include "client_rate_limits.h"
#include "server/access/forwarded.h"
#include "request_head.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

srv_exchange *srv_exchange_open(srv_loop *loop, srv_connection *connection, struct MHD_Connection *mhd,
                                const char *target)
{
    size_t        size = strlen(target) + 1;
    srv_exchange *x    = malloc(sizeof *x + size);
    if (!x) return NULL;
    *x        = (srv_exchange){.loop = loop, .connection = connection, .mhd = mhd, .began = loop->connections.now};
    x->number = connection->requests;
    memcpy(x->target, target, size);
    x->job.target        = x->target;
    connection->exchange = x;
    return x;
}

/* True if this request is malformed, or stands in place of a malformed one. */
static bool refuses_framing(const srv_exchange *x)
{
    return srv_inflow_refuses(&x->connection->inflow, x->number);
}

static srv_access describe_access(const srv_exchange *x, bool delivered)
{
    bool               replaced = refuses_framing(x) && x->connection->inflow.framing.replaced;
    const srv_account *account  = x->account ? x->account : x->connection->peer_account;
    return (srv_access){.call        = x->job.call,
                        .method      = replaced ? "" : x->method,
                        .target      = replaced ? "" : x->target,
                        .client      = x->client,
                        .from        = *x->forwarded ? x->forwarded : x->connection->peer.text,
                        .via         = *x->forwarded ? x->connection->peer.text : NULL,
                        .account     = account->name,
                        .refused     = x->refused,
                        .received    = x->received,
                        .began       = x->began,
                        .arrived     = x->arrived,
                        .queued      = x->queued,
                        .took        = x->job.took,
                        .slow        = srv_ns(x->loop->server->config->slow_request),
                        .answered    = x->stage == ANSWERED,
                        .audited     = x->audited,
                        .delivered   = delivered,
                        .slow_reader = x->is_slow};
}

/* Uses the line that was reserved for the change, before the client gets the answer. */
static void audit_change(srv_exchange *x)
{
    srv_log   *log    = x->loop->server->log;
    srv_access access = describe_access(x, false);
    if (!x->audit_line) return;
    x->audited = srv_response_audit(log, &access, x->audit_line);
    if (!x->audited) srv_audit_release(&log->audit, x->audit_line);
    x->audit_line = NULL;
}

void srv_exchange_close(srv_exchange *x, bool delivered)
{
    audit_change(x);
    srv_access        access  = describe_access(x, delivered);
    const srv_records records = {x->loop->server->log, x->loop->server->slow_log};
    srv_use           use     = srv_response_record(&records, x->mhd, &access);
    srv_client_use(x->connection, x->account ? x->account : x->connection->peer_account, &use);
    x->connection->exchange = NULL;
    srv_exchange_free_body(x);
    if (x->job.call) api_end(x->job.call);
    free(x);
}

bool srv_exchange_begun(const srv_exchange *x)
{
    return x->stage != OPENED;
}

/* True if the server has handed over, and the next request of this connection has begun to arrive: the connection
 * closes after the last one. */
static bool has_next_request(const srv_exchange *x)
{
    const srv_inflow *inflow = &x->connection->inflow;
    char              byte;
    return x->loop->handed_over && (inflow->framing.messages > x->number || srv_inflow_is_midway(inflow) ||
                                    recv(x->connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0);
}

/* A connection whose certificate does not count, perhaps since the authorities were replaced, closes after the answer:
 * a client can show another certificate only on a new connection. A malformed request ends its connection; a
 * surplus connection, and one for probes, have one request. */
static bool must_close(const srv_exchange *x)
{
    return (x->loop->draining && !has_next_request(x)) || x->connection->certificate.refused ||
           x->connection->is_surplus || refuses_framing(x) || x->loop->scope != API_ALL_RESOURCES;
}

void srv_exchange_end_short(srv_exchange *x)
{
    if (x->stage == ANSWERED) return;
    x->stage                             = ANSWERED;
    x->connection->needs_lingering_close = true;
    if (x->job.call)
        api_refuse(x->job.call, API_MEMORY_FULL, "there was no memory"); /* so that the log has the reason */
    srv_response_send_shortage(x->mhd, x->loop->server->api, strcmp(x->method, "HEAD") == 0);
}

enum MHD_Result srv_exchange_answer(srv_exchange *x)
{
    audit_change(x);
    srv_exchange_free_body(x);
    srv_exchange_want_memory(x);
    srv_connection_enter(&x->loop->connections, x->connection, SRV_WRITING);
    bool closes = must_close(x);
    /* a request that arrives after all must not reset the connection before the client has this answer */
    if (closes && x->loop->handed_over) x->connection->needs_lingering_close = true;
    bool sent = srv_response_send(x->mhd, x->job.call, closes, x->retry_after, x->queued) == MHD_YES;
    if (!sent) srv_exchange_end_short(x);
    x->stage        = ANSWERED;
    x->progress.end = 0;
    if (sent && api_reply_of(x->job.call)->length > UNHURRIED)
        srv_exchange_watch_progress(x, srv_peer_acknowledged(x->connection->fd));
    return sent ? MHD_YES : MHD_NO;
}

/* Answers before the body was received. libmicrohttpd closes the connection afterwards. */
static enum MHD_Result answer_early(srv_exchange *x)
{
    x->connection->needs_lingering_close = true;
    return srv_exchange_answer(x);
}

/* Answers a malformed request. The rest of the connection is not read. */
static enum MHD_Result answer_malformed(srv_exchange *x)
{
    const srv_framing *framing = &x->connection->inflow.framing;
    api_refuse(x->job.call, framing->code, "%s", framing->detail);
    return answer_early(x);
}

/* Decides how to treat the body. An answer before the end of the body closes the connection, so it is sent only if
 * there is no other way: malformed framing, a body that is too large, or a body that the client withholds (Expect:
 * 100-continue). */
static enum MHD_Result handle_head(srv_exchange *x, const srv_head *head)
{
    if (refuses_framing(x)) return answer_malformed(x);
    bool wanted = api_wants_body(x->job.call);
    if (wanted && head->length > x->loop->server->config->max_body) {
        srv_exchange_refuse_body(x);
        return answer_early(x);
    }
    x->announced_length = head->chunked ? 0 : (size_t)head->length;
    x->max_length       = head->chunked ? x->loop->server->config->max_body : x->announced_length;
    x->stage            = wanted && srv_exchange_begin_body(x) ? RECEIVING : DISCARDING;
    bool held_back      = head->expects_continue && head->request.has_body;
    if (x->stage == DISCARDING && (head->length > MAX_DISCARDED || held_back)) return answer_early(x);
    if (head->request.has_body) srv_schedule_expiry(x->loop, srv_exchange_receive_deadline(x));
    return MHD_YES;
}

/* True if names other than loopback names are refused: pages of other sites could reach this server by a name of theirs
 * (DNS rebinding). A name in the certificate is the server's. */
static bool guards_names(const srv_exchange *x, const srv_head *head)
{
    const srv_tls *tls = x->connection->tls ? x->loop->credentials->tls : NULL;
    if (!x->connection->on_loopback) return false;
    return !tls || !head->request.host || *head->request.target != '/' || !srv_tls_names_host(tls, head->request.host);
}

/* Adds to the head what the server knows about the client, and finds its account. */
static void recognise(srv_exchange *x, srv_head *head, api_identity *identity)
{
    const srv_networks *proxies = &x->loop->credentials->proxies;
    srv_ip              client;
    head->request.on_loopback = guards_names(x, head);
    head->request.scope       = x->loop->scope;
    if (x->loop->scope != API_ALL_RESOURCES) head->request.accept_encoding = NULL; /* compressing could need a worker */
    bool is_forwarded = srv_peer_is_in(&x->connection->peer, proxies) &&
                        srv_forwarded_client(proxies, head->forwarded, head->x_forwarded_for, &client);
    if (is_forwarded) srv_ip_print(&client, x->forwarded);
    if (srv_identify(x->loop->credentials, x->connection, head, identity)) head->request.identity = identity;
    if (head->request.identity) x->refused = identity->refused;
    if (head->request.identity && identity->name) snprintf(x->client, sizeof x->client, "%s", identity->name);
    x->account           = srv_client_account(x->loop->server->accounts, x->connection, head->request.identity,
                                    is_forwarded ? &client : NULL);
    head->request.memory = &x->account->memory;
}

enum MHD_Result srv_exchange_begin(srv_exchange *x, const char *method)
{
    srv_head     head;
    api_identity identity;
    memccpy(x->method, method, '\0', sizeof x->method - 1);
    if (srv_head_read(&head, x->mhd, method, x->target)) {
        recognise(x, &head, &identity);
        x->job.call = api_begin(x->loop->server->api, &head.request);
    }
    srv_head_free(&head);
    if (!x->job.call) {
        srv_exchange_end_short(x);
        return MHD_NO;
    }
    x->job.deadline.time = x->loop->connections.now + srv_ns(api_timeout(x->job.call));
    x->retry_after       = srv_limit_requests(x->loop, x->connection, x->account, x->job.call);
    return handle_head(x, &head);
}

/* True if the reply refuses a request before evaluation: the client has no permission, sends too much, or there is no
 * memory or place in the queue. */
static bool is_refusal(const srv_exchange *x)
{
    unsigned status = api_reply_of(x->job.call)->status;
    if (srv_is_probe(x->job.call)) return false;
    return status == 401 || status == 403 || status == 429 || status == 503;
}

/* Answers a request whose body is not wanted. */
static enum MHD_Result answer_bodiless(srv_exchange *x)
{
    if (api_wants_run(x->job.call)) return srv_exchange_evaluate(x);
    return is_refusal(x) ? srv_exchange_send_refusal(x) : srv_exchange_answer(x);
}

enum MHD_Result srv_exchange_complete(srv_exchange *x)
{
    if (x->arrived == 0) x->arrived = x->loop->connections.now;
    if (refuses_framing(x) && (x->stage == RECEIVING || x->stage == DISCARDING)) return answer_malformed(x);
    switch (x->stage) {
    case RECEIVING: return srv_exchange_evaluate(x);
    case DISCARDING: return answer_bodiless(x);
    case FINISHED: return srv_exchange_answer_finished(x);
    case ANSWERED: return MHD_NO; /* the reply was already sent: close the connection */
    case OPENED:
    case AWAITING:
    case SUSPENDED:
    case DELAYED: break;
    }
    return MHD_YES;
}
