/* memory_watch.h - tell when requests find no memory, and return freed memory to the system.
 *
 * The main thread checks once a second. While less than 1/64 of --memory is free for requests that are not light, and
 * has been for 5 s, /readyz answers 503 and torqued_memory_exhausted is 1.
 *
 * malloc keeps what requests have freed, for those that follow. After 5 s without a request of any weight the server
 * returns it, if it is more than 64 MiB; at once, every 2 s at most, if it is more than a quarter of --memory: what a
 * process needs (memory_needs.h) would not be bounded otherwise. Returning 1.4 GiB takes 90 ms of processor time, in
 * which the threads that share an arena of malloc with that memory wait. */
#pragma once
#include "api/api.h"
#include "server/log.h"

typedef struct srv_memory_watch {
    api     *api;
    srv_log *log;
    size_t   limit;           /* bytes, --memory */
    size_t   base;            /* bytes that the process had when it began to serve, without its models */
    uint64_t next;            /* ns, time of the next check */
    uint64_t exhausted_since; /* ns; 0: there is memory */
    uint64_t idle_since;      /* ns; 0: requests hold memory */
    uint64_t next_trim;       /* ns, when memory may be returned again although requests hold some */
    size_t   unreturned;      /* bytes that the last trim amid requests could not return */
    size_t   left;            /* bytes that the last return of an idle server has left; 0 since requests hold memory */
    bool     is_trimmed;      /* memory was returned since the server is idle */
    bool     is_exhausted;    /* true: /readyz reports the exhaustion */
} srv_memory_watch;

void srv_memory_watch_begin(srv_memory_watch *watch, api *service, srv_log *log, size_t limit);

/* Runs the check if the next one is due. */
void srv_memory_watch_check(srv_memory_watch *watch);
