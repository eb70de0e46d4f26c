/* watchdog.h - notice threads that are stuck, and let systemd restart a server that cannot serve.
 *
 * The main thread wakes every loop at each check: a loop that does not turn is stuck. A worker is stuck if its request
 * runs on long after its deadline, which computations check between steps; the writer likewise. Stuck threads are
 * logged and counted (torqued_stuck_threads). Systemd is told "WATCHDOG=1" as long as all loops turn and a worker is
 * left. A restart ends all requests, so one stuck worker is no reason for it, and neither is the writer, which may wait
 * for a disk that a restart does not mend.
 *
 * Time in which the whole process was stopped (SIGSTOP, a suspended machine) does not count. */
#pragma once
#include "server/net/event_loop.h"
#include "api/metrics.h"

typedef struct srv_watchdog {
    const srv_server *server;
    srv_loop         *loops; /* [n_loops] */
    size_t            n_loops;
    bool              watched;                   /* true: systemd expects WATCHDOG=1 at intervals */
    uint64_t          interval;                  /* ns between two checks */
    uint64_t          patience;                  /* ns after which a thread counts as stuck */
    uint64_t          checked;                   /* ns, time of the last check */
    unsigned          turns[SRV_LOOPS_MOST + 1]; /* turns of each loop at the last check */
    uint64_t silent[SRV_LOOPS_MOST + 1]; /* ns that each loop has not turned, as far as the checks have seen it */
    uint64_t overdue[API_THREAD_COUNT];  /* ns that the pool of a kind of thread has had overdue requests */
    size_t   stuck[API_THREAD_COUNT];    /* number of stuck threads of each kind */
} srv_watchdog;

void srv_watchdog_begin(srv_watchdog *watchdog, const srv_server *server, srv_loop *loops, size_t n_loops);

/* Checks all threads if it is time to. Returns the time until the next check, ns. */
uint64_t srv_watchdog_check(srv_watchdog *watchdog);
