/* exchange_expiry.c - end the waiting of requests: their worker has finished, their client has gone, or their deadline
 * has passed. */
#include "exchange_private.h"
#include <sys/socket.h>

void srv_schedule_expiry(srv_loop *loop, uint64_t time)
{
    if (time < loop->next_work_deadline) loop->next_work_deadline = time;
}

uint64_t srv_exchange_receive_deadline(const srv_exchange *x)
{
    uint64_t arrival = srv_connection_deadline(&x->loop->connections, x->connection);
    return x->job.deadline.time < arrival ? x->job.deadline.time : arrival;
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
    srv_exchange_answer_directly(x);
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
        uint64_t end = srv_exchange_receive_deadline(x);
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
            srv_exchange_stop_awaiting(x, FINISHED);
        } else if (srv_pool_withdraw(x->pool, &x->job)) {
            api_refuse(x->job.call, API_DEADLINE_PASSED,
                       "The request's deadline passed while it waited for other requests.");
            srv_exchange_resume(&x->job);
            srv_loop_wake(loop);
        }
    }
    return next;
}
