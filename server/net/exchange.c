/* exchange.c - see exchange.h. */
#include "exchange.h"
#include "client_account.h"
#include "client_identity.h"
#include "client_limits.h"
#include "server/access/forwarded.h"
#include "response.h"
#include "request_head.h"
#include "api/metrics.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* MAX_DISCARDED: an unwanted body of up to this many bytes is read and discarded, so that the connection can stay
 * open. FIRST_CLAIM: bytes that are claimed from the memory budget for the start of a body; later claims are in
 * proportion to the bytes received, since a head alone must not occupy the budget. */
enum { MAX_DISCARDED = 1 << 20, FIRST_CLAIM = 65536, MAX_PREALLOCATED = 32 << 20 };
enum { TOLERATED = 10 }; /* times --inline-limit, up to which a request stays on its loop that turns out to be longer */

static const double write_cost = 0.01; /* s, approximate time of the two disk syncs of a change of a model */

typedef enum stage {
    OPENED,     /* the headers are not complete */
    RECEIVING,  /* the body is being received */
    DISCARDING, /* the reply is complete; the rest of the body is read and discarded */
    AWAITING,   /* suspended until this server has applied the change that the request names */
    SUSPENDED,  /* the pool owns the job */
    DELAYED,    /* the reply is complete, and is sent later */
    FINISHED,   /* a worker has finished the job */
    ANSWERED
} stage;

struct srv_exchange {
    srv_job                job; /* first member: the pool returns its address */
    srv_loop              *loop;
    srv_connection        *connection;
    struct MHD_Connection *mhd;
    stage                  stage;
    uint64_t               began;
    uint64_t               send_at;          /* ns, when to send a delayed reply */
    uint64_t               queued;           /* ns, when the job was given to the pool; 0: it ran on this thread */
    uint64_t               number;           /* of the request on its connection, from 1 */
    char                  *body;             /* the received part of job.body; moves when it grows */
    size_t                 capacity;         /* bytes allocated at `body` */
    size_t                 claimed;          /* bytes of `body` that are claimed from the memory budget */
    size_t                 announced_length; /* Content-Length; 0 for a chunked body */
    size_t                 max_length;       /* bytes of the largest body that is accepted */
    uint64_t               received;
    unsigned               retry_after; /* s, replaces Retry-After; 0: keep the api's value */
    srv_pool              *pool;        /* the pool that runs the job */
    srv_account           *account;     /* of the client */
    char forwarded[SRV_IP_TEXT];        /* address of the client, as a trusted proxy says; "": no such proxy */
    char client[SRV_CLIENT_NAME];       /* name of the client, for the log; "": not recognised */
    char method[16];
    char target[]; /* target of the request, for the log */
};

srv_exchange *srv_exchange_open(srv_loop *loop, srv_connection *connection, struct MHD_Connection *mhd,
                                const char *target)
{
    size_t        size = strlen(target) + 1;
    srv_exchange *x    = malloc(sizeof *x + size);
    if (!x) return NULL;
    *x        = (srv_exchange){.loop = loop, .connection = connection, .mhd = mhd, .began = loop->connections.now};
    x->number = connection->requests;
    memcpy(x->target, target, size);
    connection->exchange = x;
    return x;
}

/* Frees the body and its share of the memory budget when the reply is complete; a slow reader must not keep them. */
static void free_body(srv_exchange *x)
{
    if (x->claimed > 0) api_release(x->job.call, x->claimed);
    free(x->body);
    x->body     = NULL;
    x->job.body = NULL;
    x->capacity = x->claimed = x->job.length = 0;
}

/* True if this request is malformed, or stands in place of a malformed one. */
static bool refuses_framing(const srv_exchange *x)
{
    return srv_inflow_refuses(&x->connection->inflow, x->number);
}

void srv_exchange_close(srv_exchange *x, bool delivered)
{
    bool       replaced = refuses_framing(x) && x->connection->inflow.framing.replaced;
    srv_access access   = {.call      = x->job.call,
                           .method    = replaced ? "" : x->method,
                           .target    = replaced ? "" : x->target,
                           .client    = x->client,
                           .from      = *x->forwarded ? x->forwarded : x->connection->peer.text,
                           .via       = *x->forwarded ? x->connection->peer.text : NULL,
                           .received  = x->received,
                           .began     = x->began,
                           .queued    = x->queued,
                           .answered  = x->stage == ANSWERED,
                           .delivered = delivered};
    srv_response_record(x->loop->server->log, x->mhd, &access);
    x->connection->exchange = NULL;
    free_body(x);
    if (x->job.call) api_end(x->job.call);
    free(x);
}

bool srv_exchange_begun(const srv_exchange *x)
{
    return x->stage != OPENED;
}

/* A connection whose certificate does not count, perhaps since the authorities were replaced, closes after the answer:
 * a client can show another certificate only on a new connection. A malformed request ends its connection, and a
 * surplus connection has one request. */
static bool must_close(const srv_exchange *x)
{
    return x->loop->draining || x->connection->certificate.refused || x->connection->is_surplus || refuses_framing(x);
}

void srv_exchange_end_short(srv_exchange *x)
{
    if (x->stage == ANSWERED) return;
    x->stage                             = ANSWERED;
    x->connection->needs_lingering_close = true;
    if (x->job.call) api_refuse(x->job.call, API_MEMORY_FULL, "there was no memory"); /* for the log */
    srv_response_send_shortage(x->mhd, x->loop->server->api, strcmp(x->method, "HEAD") == 0);
}

static enum MHD_Result answer(srv_exchange *x)
{
    free_body(x);
    srv_connection_enter(&x->loop->connections, x->connection, SRV_WRITING);
    bool sent = srv_response_send(x->mhd, x->job.call, must_close(x), x->retry_after, x->queued) == MHD_YES;
    if (!sent) srv_exchange_end_short(x);
    x->stage = ANSWERED;
    return sent ? MHD_YES : MHD_NO;
}

/* Answers before the body was received. libmicrohttpd closes the connection afterwards. */
static enum MHD_Result answer_early(srv_exchange *x)
{
    x->connection->needs_lingering_close = true;
    return answer(x);
}

/* Answers in the middle of a body, where libmicrohttpd cannot, by writing to the socket. The connection must end. */
static void answer_directly(srv_exchange *x)
{
    x->stage                             = ANSWERED;
    x->connection->needs_lingering_close = true;
    free_body(x);
    srv_response_send_directly(x->connection, x->job.call);
}

/* Answers a malformed request. The rest of the connection is not read. */
static enum MHD_Result answer_malformed(srv_exchange *x)
{
    const srv_framing *framing = &x->connection->inflow.framing;
    api_refuse(x->job.call, framing->code, "%s", framing->detail);
    return answer_early(x);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Claims and allocates space for `bytes` bytes of body. False: the reply is complete. An announced length is
 * allocated at once, up to MAX_PREALLOCATED, because copying a growing body delays other requests on this thread. */
static bool grow_body(srv_exchange *x, size_t bytes)
{
    if (bytes <= x->claimed) return true;
    if (!api_reserve(x->job.call, bytes - x->claimed)) return false;
    x->claimed = bytes;
    if (bytes <= x->capacity) return true;
    size_t at_once = smaller(x->announced_length, MAX_PREALLOCATED), room = bytes > at_once ? bytes : at_once;
    char  *body = realloc(x->body, room);
    if (!body) {
        api_refuse(x->job.call, API_MEMORY_FULL, "There is no memory for a body of %zu bytes.", room);
        return false;
    }
    x->body     = body;
    x->capacity = room;
    return true;
}

static void refuse_body(srv_exchange *x)
{
    api_refuse(x->job.call, API_BODY_TOO_LARGE, "The body is larger than %zu bytes, the limit of this server.",
               x->loop->server->config->max_body);
}

/* Makes the loop check for expired requests at `time` (ns) at the latest. */
static void schedule_expiry(srv_loop *loop, uint64_t time)
{
    if (time < loop->next_work_deadline) loop->next_work_deadline = time;
}

/* The earlier of the request's own deadline and the deadline for receiving any request, ns. */
static uint64_t receive_deadline(const srv_exchange *x)
{
    uint64_t arrival = srv_connection_deadline(&x->loop->connections, x->connection);
    return x->job.deadline.time < arrival ? x->job.deadline.time : arrival;
}

/* Decides how to treat the body. An answer before the end of the body closes the connection, so it is sent only if
 * there is no other way: malformed framing, a body that is too large, or a body that the client withholds (Expect:
 * 100-continue). */
static enum MHD_Result handle_head(srv_exchange *x, const srv_head *head)
{
    if (refuses_framing(x)) return answer_malformed(x);
    bool wanted = api_wants_body(x->job.call);
    if (wanted && head->length > x->loop->server->config->max_body) {
        refuse_body(x);
        return answer_early(x);
    }
    x->announced_length = head->chunked ? 0 : (size_t)head->length;
    x->max_length       = head->chunked ? x->loop->server->config->max_body : x->announced_length;
    x->stage            = wanted && grow_body(x, smaller(x->announced_length, FIRST_CLAIM)) ? RECEIVING : DISCARDING;
    bool held_back      = head->expects_continue && head->request.has_body;
    if (x->stage == DISCARDING && (head->length > MAX_DISCARDED || held_back)) return answer_early(x);
    if (head->request.has_body) schedule_expiry(x->loop, receive_deadline(x));
    return MHD_YES;
}

/* Adds to the head what the server knows about the client, and finds its account. */
static void recognise(srv_exchange *x, srv_head *head, api_identity *identity)
{
    const srv_networks *proxies = &x->loop->server->proxies;
    srv_ip              client;
    head->request.on_loopback = x->connection->on_loopback;
    bool is_forwarded         = srv_peer_is_in(&x->connection->peer, proxies) &&
                        srv_forwarded_client(proxies, head->forwarded, head->x_forwarded_for, &client);
    if (is_forwarded) srv_ip_print(&client, x->forwarded);
    if (srv_identify(x->loop->credentials, x->connection, head, identity)) head->request.identity = identity;
    if (head->request.identity && identity->name) snprintf(x->client, sizeof x->client, "%s", identity->name);
    x->account = srv_client_account(x->loop->server->accounts, x->connection, head->request.identity,
                                    is_forwarded ? &client : NULL);
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

/* Appends received data to the body. False if the body is too large or memory is short; then the reply is complete. */
static bool append_body(srv_exchange *x, const char *data, size_t length)
{
    if (length > x->max_length - x->job.length) {
        refuse_body(x);
        return false;
    }
    size_t needed = x->job.length + length;
    if (needed > x->claimed && !grow_body(x, smaller(2 * needed, x->max_length))) return false;
    memcpy(x->body + x->job.length, data, length);
    x->job.length = needed;
    return true;
}

enum MHD_Result srv_exchange_receive(srv_exchange *x, const char *data, size_t length)
{
    x->received += length;
    if (x->stage == ANSWERED) return MHD_NO; /* the deadline passed, so the request is already answered */
    bool goes_on = x->stage == RECEIVING ? append_body(x, data, length) : x->received <= MAX_DISCARDED;
    if (goes_on) return MHD_YES;
    answer_directly(x);
    return MHD_NO;
}

static void on_worker_done(srv_job *job)
{
    srv_loop_post(((srv_exchange *)job)->loop, job);
}

/* Passes the admitted job to the workers. Suspends the connection first, because the worker may finish before
 * srv_pool_push returns. */
static enum MHD_Result suspend(srv_exchange *x)
{
    x->stage    = SUSPENDED;
    x->job.done = on_worker_done;
    srv_connection_enter(&x->loop->connections, x->connection, SRV_WORKING);
    MHD_suspend_connection(x->mhd);
    if (x->connection->client_closed)
        atomic_store(&x->job.deadline.cancelled, true); /* the client disconnected before the request was complete */
    schedule_expiry(x->loop, x->job.deadline.time);
    x->queued = srv_now();
    srv_pool_push(x->pool, &x->job);
    return MHD_YES;
}

/* Suspends the request until this server has applied the change that it names. */
static enum MHD_Result await_change(srv_exchange *x)
{
    x->stage = AWAITING;
    x->loop->awaiting++;
    srv_connection_enter(&x->loop->connections, x->connection, SRV_WORKING);
    MHD_suspend_connection(x->mhd);
    schedule_expiry(x->loop, x->job.deadline.time);
    return MHD_YES;
}

/* Ends the waiting for a change. */
static void stop_awaiting(srv_exchange *x, stage next)
{
    x->stage = next;
    x->loop->awaiting--;
    MHD_resume_connection(x->mhd);
    srv_loop_wake(x->loop);
}

void srv_exchanges_advance(srv_loop *loop)
{
    for (srv_connection *c = loop->connections.first[SRV_WORKING]; c && loop->awaiting > 0; c = c->next) {
        srv_exchange *x = c->exchange;
        if (x->stage != AWAITING || api_waits_for_change(x->job.call)) continue;
        api_resume(x->job.call);
        stop_awaiting(x, api_wants_run(x->job.call) ? RECEIVING : FINISHED);
    }
}

static void count_run(api_thread_label thread)
{
    api_metric_add(API_METRIC_RUNS, (api_label_values){{thread}}, 1);
}

/* Sends the complete reply after so many seconds. A client that asks again the moment it is refused would otherwise
 * keep the loop busy with refusals: 500 such connections take a whole core. */
static enum MHD_Result delay_answer(srv_exchange *x, double seconds)
{
    free_body(x);
    x->stage   = DELAYED;
    x->send_at = x->loop->connections.now + srv_ns(seconds);
    srv_connection_enter(&x->loop->connections, x->connection, SRV_WORKING);
    MHD_suspend_connection(x->mhd);
    if (x->connection->client_closed) x->send_at = 0;
    schedule_expiry(x->loop, x->send_at);
    return MHD_YES;
}

/* Answers a request for which the queue has no room. `wait`: s of work that waits. */
static enum MHD_Result refuse(srv_exchange *x, srv_admission reason, double wait)
{
    if (reason == SRV_QUEUE_FULL)
        api_refuse(x->job.call, API_QUEUE_FULL, "Requests for about %.1f s of work are waiting already.", wait);
    else
        api_refuse(x->job.call, API_CLIENT_QUEUE_FULL,
                   "This client has its share of the queue, in which requests for about %.1f s of work are waiting.",
                   wait);
    x->retry_after = srv_spread_retry(x->loop, wait);
    double delay   = srv_account_refusal(x->loop->server->accounts, x->account, x->loop->connections.now);
    return delay > 0 ? delay_answer(x, delay) : answer(x);
}

/* Admits a request to this thread whose fields show that it takes longer than was estimated. */
static bool is_short(void *arg, double seconds)
{
    srv_exchange *x = arg;
    x->job.cost     = seconds;
    return seconds * 1e6 <= TOLERATED * x->loop->server->config->inline_limit;
}

/* Runs the request on this thread. False: it is too long, as its fields show. */
static bool run_here(srv_exchange *x)
{
    const api_scheduler scheduler = {.admit = is_short, .arg = x};
    x->job.deadline.scheduler     = &scheduler;
    bool done                     = srv_job_run(&x->job, x->loop->scratch);
    x->job.deadline.scheduler     = NULL;
    if (done) count_run(API_THREAD_LOOP);
    return done;
}

/* Passes the request to a worker if it is admitted. It costs no more than the time until its deadline. */
static enum MHD_Result pass_on(srv_exchange *x, bool writes)
{
    uint64_t now = srv_now(), deadline = x->job.deadline.time;
    double   wait;
    x->job.cost             = fmin(x->job.cost, deadline > now ? 1e-9 * (double)(deadline - now) : 0);
    x->job.flow             = &x->account->flow[writes ? SRV_CHANGES : SRV_EVALUATIONS];
    srv_admission admission = srv_pool_admit(x->pool, &x->job, &wait);
    if (admission != SRV_ADMITTED) return refuse(x, admission, wait);
    count_run(writes ? API_THREAD_WRITER : API_THREAD_WORKER);
    return suspend(x);
}

/* Answers a request that a worker has finished. */
static enum MHD_Result answer_finished(srv_exchange *x)
{
    if (atomic_load(&x->job.deadline.cancelled)) return MHD_NO; /* the client has disconnected: close the connection */
    return x->job.refused ? refuse(x, SRV_CLIENT_QUEUE_FULL, x->job.wait) : answer(x);
}

/* Runs the complete request. Waking a worker costs 30-40 us, so a request with a short estimate runs on this thread. (A
 * worker has colder caches; if the limit is near the cost of a kind of request, that kind alternates between threads.)
 * Changes of models have their own worker: they wait for each other and for the disk, and evaluations must not wait for
 * them. */
static enum MHD_Result evaluate(srv_exchange *x)
{
    const srv_server *server = x->loop->server;
    if (api_waits_for_change(x->job.call)) return await_change(x);
    api_resume(x->job.call);
    if (!api_wants_run(x->job.call)) return answer(x);
    x->job.body = x->body;
    x->job.cost = api_estimate_cost(x->job.call, x->job.body, x->job.length);
    bool writes = api_waits_for_store(x->job.call);
    x->pool     = writes ? server->writer : server->pool;
    x->job.cost += writes ? write_cost : 0;
    if (!writes && x->job.cost * 1e6 <= server->config->inline_limit && run_here(x)) return answer(x);
    return pass_on(x, writes);
}

enum MHD_Result srv_exchange_complete(srv_exchange *x)
{
    if (refuses_framing(x) && (x->stage == RECEIVING || x->stage == DISCARDING)) return answer_malformed(x);
    switch (x->stage) {
    case RECEIVING: return evaluate(x);
    case DISCARDING: return api_wants_run(x->job.call) ? evaluate(x) : answer(x);
    case FINISHED: return answer_finished(x);
    case ANSWERED: return MHD_NO; /* the reply was already sent: close the connection */
    default: return MHD_YES;
    }
}

void srv_exchange_resume(srv_job *job)
{
    srv_exchange *x = (srv_exchange *)job;
    x->stage        = FINISHED;
    MHD_resume_connection(x->mhd);
}

void srv_exchange_cancel(srv_exchange *x)
{
    atomic_store(&x->job.deadline.cancelled, true); /* a running job stops at its next check */
    if (x->stage == AWAITING) {
        stop_awaiting(x, FINISHED);
        return;
    }
    if (x->stage != DELAYED && !srv_pool_withdraw(x->pool, &x->job)) return;
    srv_exchange_resume(&x->job);
    srv_loop_wake(x->loop); /* wakes the loop, so that libmicrohttpd continues the request */
}

/* Answers a request whose body did not arrive in time. If the reply is already an error or 304, it is sent. The sending
 * side of the connection is then shut down; the connection ends when the client sends more, or the time limit of
 * SRV_REFUSED expires. */
static void refuse_late_body(srv_exchange *x, uint64_t now)
{
    bool has_reply = x->stage == DISCARDING && api_reply_of(x->job.call)->status >= 300;
    if (!has_reply && now >= x->job.deadline.time)
        api_refuse(x->job.call, API_DEADLINE_PASSED, "The request's deadline passed before its body had arrived.");
    else if (!has_reply)
        api_refuse(x->job.call, API_REQUEST_TIMEOUT, "The request's body did not arrive within %g s.",
                   x->loop->server->config->read_deadline);
    answer_directly(x);
    shutdown(x->connection->fd, SHUT_WR);
    srv_connection_enter(&x->loop->connections, x->connection, SRV_REFUSED);
}

static uint64_t expire_reading(srv_loop *loop, uint64_t now)
{
    uint64_t next = SRV_NEVER;
    for (srv_connection *c = loop->connections.first[SRV_READING], *next_connection; c; c = next_connection) {
        srv_exchange *x = c->exchange;
        next_connection = c->next;
        if (!x || (x->stage != RECEIVING && x->stage != DISCARDING)) continue;
        uint64_t end = receive_deadline(x);
        if (end <= now)
            refuse_late_body(x, now);
        else if (end < next)
            next = end;
    }
    return next;
}

/* Sends the replies that were delayed until now. Returns the earliest time of the others. */
static uint64_t send_delayed(srv_loop *loop, uint64_t now)
{
    uint64_t next = SRV_NEVER;
    for (srv_connection *c = loop->connections.first[SRV_WORKING]; c; c = c->next) {
        srv_exchange *x = c->exchange;
        if (x->stage != DELAYED) continue;
        if (x->send_at > now) {
            if (x->send_at < next) next = x->send_at;
        } else {
            srv_exchange_resume(&x->job);
            srv_loop_wake(loop);
        }
    }
    return next;
}

uint64_t srv_exchanges_expire(srv_loop *loop, uint64_t now)
{
    uint64_t next = expire_reading(loop, now), delayed = send_delayed(loop, now);
    if (delayed < next) next = delayed;
    for (srv_connection *c = loop->connections.first[SRV_WORKING]; c; c = c->next) {
        srv_exchange *x        = c->exchange;
        uint64_t      deadline = x->job.deadline.time;
        if (x->stage != SUSPENDED && x->stage != AWAITING) continue;
        if (deadline > now) {
            if (deadline < next) next = deadline;
        } else if (x->stage == AWAITING) {
            api_refuse(x->job.call, API_CHANGE_PENDING,
                       "The change that Model-Change names has not arrived at this server in time.");
            stop_awaiting(x, FINISHED);
        } else if (srv_pool_withdraw(x->pool, &x->job)) {
            api_refuse(x->job.call, API_DEADLINE_PASSED,
                       "The request's deadline passed while it waited for other requests.");
            srv_exchange_resume(&x->job);
            srv_loop_wake(loop);
        }
    }
    return next;
}
