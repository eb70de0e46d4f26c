/* exchange_expiry.c - end the waiting of requests: their worker has finished, their client has gone, or their deadline
 * has passed. */
#include "exchange_private.h"
#include "api/metrics.h"
#include <sys/socket.h>

enum { RESUMED_PER_TURN = 16 }; /* delayed exchanges that go on, before the loop serves other connections */

static const uint64_t rate_interval = 5000000000; /* ns, over which the rate of a transfer is measured */
static const uint64_t late_check    = 1000000000; /* ns; a check that comes later than this judges no transfer */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void srv_schedule_expiry(srv_loop *loop, uint64_t time)
{
    if (time < loop->next_work_deadline) loop->next_work_deadline = time;
}

uint64_t srv_exchange_receive_deadline(const srv_exchange *x)
{
    uint64_t arrival = srv_connection_deadline(&x->loop->connections, x->connection);
    return x->job.deadline.time < arrival ? x->job.deadline.time : arrival;
}

void srv_exchange_watch_progress(srv_exchange *x, uint64_t bytes)
{
    if (x->loop->server->config->transfer_rate == 0) return;
    x->progress = (srv_progress){x->loop->connections.now + rate_interval, bytes};
    srv_schedule_expiry(x->loop, x->progress.end);
}

/* True if fewer bytes than --transfer-rate asks for have passed in the interval that has ended. Otherwise begins the
 * next interval. The loop itself may have been late: then the client has another interval. */
static bool is_too_slow(srv_exchange *x, uint64_t bytes, uint64_t now)
{
    double least = (double)x->loop->server->config->transfer_rate * 1e-9 * (double)rate_interval;
    if (now < x->progress.end + late_check && (double)(bytes - x->progress.bytes) < least) return true;
    x->progress = (srv_progress){now + rate_interval, bytes};
    return false;
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
        srv_exchange_stop_awaiting(x, FINISHED);
        return;
    }
    if (x->stage != DELAYED && !srv_pool_withdraw(x->pool, &x->job)) return;
    x->stage = DELAYED; /* as a delayed reply: the loop ends only a few of those at a time; 500 at once, of clients that
                           leave together, would hold it for 10 ms */
    x->send_at = 0;
    srv_schedule_expiry(x->loop, x->send_at);
    srv_loop_turn_soon(x->loop);
}

/* Ends the receiving of a body with the reply that is complete. The sending side of the connection is then shut down;
 * the connection ends when the client sends more, or the time limit of SRV_REFUSED expires. */
static void end_body(srv_exchange *x)
{
    srv_exchange_answer_directly(x);
    shutdown(x->connection->fd, SHUT_WR);
    srv_connection_enter(&x->loop->connections, x->connection, SRV_REFUSED);
}

/* Answers a request whose body did not arrive in time. If the reply is already an error or 304, it is sent. */
static void refuse_late_body(srv_exchange *x, uint64_t now)
{
    bool has_reply = x->stage == DISCARDING && api_reply_of(x->job.call)->status >= 300;
    if (!has_reply && now >= x->job.deadline.time)
        api_refuse(x->job.call, API_DEADLINE_PASSED, "The request's deadline passed before its body had arrived.");
    else if (!has_reply)
        api_refuse(x->job.call, API_REQUEST_TIMEOUT, "The request's body did not arrive within %g s.",
                   x->loop->server->config->read_deadline);
    end_body(x);
}

static void refuse_slow_body(srv_exchange *x)
{
    api_refuse(x->job.call, API_REQUEST_TIMEOUT,
               "%llu bytes of the request's body arrived within %g s; a body above 64 KiB must arrive at %zu bytes per "
               "second or more.",
               (unsigned long long)(x->received - x->progress.bytes), 1e-9 * (double)rate_interval,
               x->loop->server->config->transfer_rate);
    end_body(x);
}

/* Returns the largest body that arrives for a client with a newer order to give memory back than `seen`; NULL: none. */
static srv_exchange *find_yielding(const srv_loop *loop, unsigned long long seen)
{
    srv_exchange *found = NULL;
    for (const srv_connection *c = loop->connections.first[SRV_READING]; c; c = c->next) {
        srv_exchange *x = c->exchange;
        if (!x || x->stage != RECEIVING || x->claimed <= UNHURRIED || atomic_load(&x->account->yield) <= seen) continue;
        if (!found || x->claimed > found->claimed) found = x;
    }
    return found;
}

void srv_exchanges_yield(srv_loop *loop)
{
    unsigned long long yields = atomic_load(&loop->server->accounts->yields);
    if (yields == loop->yields_seen) return;
    srv_exchange *x   = find_yielding(loop, loop->yields_seen);
    loop->yields_seen = yields;
    if (!x) return;
    api_refuse(x->job.call, API_CLIENT_MEMORY_FULL,
               "Another client needs memory, and the requests of this client hold more than an equal part of it: the "
               "largest one whose body was arriving has ended.");
    end_body(x);
}

static uint64_t expire_reading(srv_loop *loop, uint64_t now)
{
    uint64_t next = SRV_NEVER;
    for (srv_connection *c = loop->connections.first[SRV_READING], *next_connection; c; c = next_connection) {
        srv_exchange *x = c->exchange;
        next_connection = c->next;
        if (!x || (x->stage != RECEIVING && x->stage != DISCARDING)) continue;
        uint64_t end        = srv_exchange_receive_deadline(x);
        bool     is_watched = x->stage == RECEIVING && x->progress.end > 0;
        if (end <= now)
            refuse_late_body(x, now);
        else if (is_watched && x->progress.end <= now && is_too_slow(x, x->received, now))
            refuse_slow_body(x);
        else
            next = earlier(next, is_watched ? earlier(end, x->progress.end) : end);
    }
    return next;
}

/* Ends the connections of clients that do not read their answers. */
static uint64_t expire_writing(srv_loop *loop, uint64_t now)
{
    uint64_t next = SRV_NEVER;
    for (srv_connection *c = loop->connections.first[SRV_WRITING], *next_connection; c; c = next_connection) {
        srv_exchange *x = c->exchange;
        next_connection = c->next;
        if (!x || x->stage != ANSWERED || x->progress.end == 0 || c->peer.is_user) continue;
        if (x->progress.end <= now && is_too_slow(x, srv_peer_acknowledged(c->fd), now)) {
            x->is_slow = true;
            api_metric_add(API_METRIC_SLOW_READERS, API_NO_LABELS, 1);
            srv_connection_shut(&loop->connections, c);
        } else {
            next = earlier(next, x->progress.end);
        }
    }
    return next;
}

/* Sends some of the replies that were delayed until now. Returns the earliest time of the others. */
static uint64_t send_delayed(srv_loop *loop, uint64_t now)
{
    uint64_t next = SRV_NEVER;
    int      left = RESUMED_PER_TURN;
    for (srv_connection *c = loop->connections.first[SRV_WORKING]; c; c = c->next) {
        srv_exchange *x = c->exchange;
        if (x->stage != DELAYED) continue;
        if (x->send_at <= now && left-- > 0)
            srv_exchange_resume(&x->job);
        else
            next = earlier(next, x->send_at);
    }
    if (left < RESUMED_PER_TURN) srv_loop_turn_soon(loop);
    return next;
}

uint64_t srv_exchanges_expire(srv_loop *loop, uint64_t now)
{
    uint64_t next = earlier(expire_reading(loop, now), expire_writing(loop, now));
    next          = earlier(next, send_delayed(loop, now));
    for (srv_connection *c = loop->connections.first[SRV_WORKING]; c; c = c->next) {
        srv_exchange *x        = c->exchange;
        uint64_t      deadline = x->job.deadline.time;
        if (x->stage != SUSPENDED && x->stage != AWAITING) continue;
        if (deadline > now) {
            if (deadline < next) next = deadline;
        } else if (x->stage == AWAITING) {
            api_refuse(x->job.call, API_CHANGE_PENDING,
                       "The change that Model-Change names has not arrived at this server in time.");
            srv_exchange_stop_awaiting(x, FINISHED);
        } else if (srv_pool_withdraw(x->pool, &x->job)) {
            api_refuse(x->job.call, API_DEADLINE_PASSED,
                       "The request's deadline passed while it waited for other requests.");
            srv_exchange_resume(&x->job);
            srv_loop_turn_soon(loop);
        }
    }
    return next;
}
