/* event_loop.h - one thread that serves connections: a libuv loop driving libmicrohttpd in external epoll mode.
 *
 * All calls into libmicrohttpd for the connections of a loop come from its thread. Other threads reach it by
 * srv_loop_post and srv_loop_order only. */
#pragma once
#include "accept.h"
#include "connection.h"
#include "lingering_close.h"
#include "server/log.h"
#include "server/work/worker.h"
#include <microhttpd.h>
#include <pthread.h>
#include <uv.h>

/* What all loops share; read only, or locked inside. */
typedef struct srv_server {
    const srv_config *config;
    srv_log          *log;
    api              *api;
    srv_pool         *pool;   /* evaluates */
    srv_pool         *writer; /* one worker, which changes models */
    atomic_size_t    *open;   /* connections, of all loops */
} srv_server;

typedef enum srv_order { SRV_RUN, SRV_DRAIN, SRV_ABANDON } srv_order;

typedef struct srv_loop {
    const srv_server  *server;
    struct MHD_Daemon *mhd;
    api_worker        *scratch; /* for requests that run on this thread */
    srv_connections    connections;
    srv_lingering_list linger;
    srv_acceptor       acceptor;
    bool               draining, abandoned;
    uint64_t           drain_end, timer_time;
    uint64_t           next_work_deadline; /* no request that waits for its body or a worker has an earlier deadline */
    uv_loop_t          uv;
    uv_poll_t          ready; /* libmicrohttpd's epoll descriptor */
    uv_timer_t         timer;
    uv_idle_t          busy; /* active while libmicrohttpd has more to do at once */
    uv_async_t         wake;
    atomic_int         order;
    pthread_mutex_t    mutex;
    srv_job           *done;    /* finished by workers; under the mutex */
    atomic_uint        posting; /* workers that are in srv_loop_post */
    pthread_t          thread;
} srv_loop;

/* Starts a loop on listening sockets, which it owns from here on. False and a message, and the process ends. */
bool srv_loop_start(srv_loop *loop, const srv_server *server, const int listeners[], size_t n_listeners, char *error,
                    size_t error_size);

void srv_loop_order(srv_loop *loop, srv_order order); /* from any thread; only ever upwards */
void srv_loop_post(srv_loop *loop, srv_job *job);     /* from a worker: the job is finished */
bool srv_loop_try_join(srv_loop *loop);               /* true, once, when the loop has drained: all is given back */
