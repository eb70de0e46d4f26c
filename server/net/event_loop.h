/* event_loop.h - serve connections on one thread: a libuv loop that drives libmicrohttpd in external epoll mode.
 *
 * All calls into libmicrohttpd for the connections of a loop come from the loop's thread. Other threads use only
 * srv_loop_post and srv_loop_order. A turn is one iteration of the loop. */
#pragma once
#include "accept.h"
#include "connection.h"
#include "lingering_close.h"
#include "server/memory/spare_body.h"
#include "server/access/credentials.h"
#include "server/access/networks.h"
#include "server/log.h"
#include "server/audit/slow_log.h"
#include "server/work/worker.h"
#include <microhttpd.h>
#include <pthread.h>
#include <uv.h>

/* Shared by all loops; read-only or with its own locking. */
typedef struct srv_server {
    const srv_config *_Atomic config; /* newer settings take its place while the server runs */
    srv_log                  *log;
    srv_slow_log             *slow_log;
    api                      *api;
    srv_pool                 *pool;     /* workers for evaluations */
    srv_pool                 *writer;   /* workers for changes of models */
    srv_accounts             *accounts; /* accounts of all clients */
    srv_credentials *credentials; /* credentials at the start; srv_loop_set_credentials replaces those of a loop */
} srv_server;

/* SRV_HAND_OVER: as SRV_DRAIN, while another process accepts from the same sockets. Connections close after their next
 * answer, and silent ones at the end of the drain time, so that no request is lost. */
typedef enum srv_order { SRV_RUN, SRV_HAND_OVER, SRV_DRAIN, SRV_ABANDON } srv_order;

/* ns after which a turn of the loop is full: it ends as soon as each connection that is ready has been served once. */
enum { SRV_FULL_TURN = 250000 };

typedef struct srv_loop {
    const srv_server  *server;
    api_scope          scope;            /* resources at the addresses of this loop */
    struct MHD_Daemon *mhd[SRV_DAEMONS]; /* NULL: no listener needs it */
    api_worker        *scratch;          /* memory for requests that run on this thread */
    srv_credentials   *credentials;
    srv_connections    connections;
    srv_lingering_list linger;
    srv_spare_body     spare;
    srv_acceptor       acceptor;
    srv_proxy_arrival *proxy_arrivals; /* connections from proxies that have not named their client; NULL: none */
    bool               draining, abandoned;
    bool               handed_over; /* draining, and another process serves new connections */
    uint64_t           drain_end, timer_time;
    double             measured;    /* s, processor time of the thread as it was last read */
    uint64_t           measured_at; /* ns, the time at which `measured` was read */
    uint64_t           turn_began;  /* ns, beginning of the present turn */
    srv_connection    *resting,
        **last_resting;    /* connections whose bodies are paused, and the link to which the next one is appended */
    unsigned refusals;     /* requests refused because the queue was full; wraps around */
    srv_rate refusal_rate; /* rate of all refusals, see srv_account_refusal */
    size_t   awaiting;     /* requests that wait for a change of a shared store */
    unsigned long long
        yields_seen; /* number of orders to give memory back (srv_account_want_memory) that this loop has carried out */
    uint64_t   next_work_deadline; /* ns; every request that waits for a body or a worker expires later */
    uv_loop_t  uv;
    uv_poll_t  ready[SRV_DAEMONS]; /* poll libmicrohttpd's epoll descriptors */
    uv_timer_t timer;
    uv_idle_t  busy;       /* runs turns while there is work that needs no event */
    bool       again;      /* another turn is to follow the present one, or comes next */
    int        wake_event; /* eventfd, see srv_loop_wake */
    uv_poll_t  wake;
    atomic_int order;
    _Atomic(srv_credentials *) next_credentials; /* newer ones, which the loop has not taken yet; NULL: none */
    pthread_mutex_t            mutex;
    srv_job                   *done;    /* list of jobs that workers have finished; guarded by the mutex */
    atomic_uint                turns;   /* number of turns, for the watchdog */
    atomic_uint                posting; /* number of workers inside srv_loop_post */
    pthread_t                  thread;
} srv_loop;

/* Starts loop number `index` on its socket of each listener, which it owns from now on. False with a message; nothing
 * is cleaned up, because the process ends. */
bool srv_loop_start(srv_loop *loop, const srv_server *server, const srv_listeners *listeners, size_t index, char *error,
                    size_t error_size);

void srv_loop_order(srv_loop *loop, srv_order order); /* from any thread; `order` must not decrease */
/* From any thread: makes the loop turn once. uv_async_send would not do: a loop that it wakes spins until the sender
 * has left the function, for good if the loop has a real-time policy and shares its core with the sender. */
void srv_loop_wake(srv_loop *loop);
void srv_loop_turn_soon(srv_loop *loop); /* from the loop's own thread: makes it turn again without an event */
/* From the main thread: replaces the credentials by which the loop recognises clients, and lets the loop take its time
 * limits from the newest configuration. Waits until the loop uses the new ones, for a second at most; a loop that is
 * late takes them at its next turn. */
void srv_loop_set_credentials(srv_loop *loop, srv_credentials *credentials);
void srv_loop_post(srv_loop *loop, srv_job *job); /* from a worker: hands a finished job back to the loop */
bool srv_loop_try_join(srv_loop *loop);           /* true if the thread has ended; then everything is freed */
