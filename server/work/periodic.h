/* periodic.h - call a function at intervals on a thread of its own, for work that may wait for a disk. */
#pragma once

typedef struct srv_periodic srv_periodic;

/* Calls task(arg) every `seconds`, the first time after `seconds`. NULL: no memory or no thread. */
srv_periodic *srv_periodic_start(double seconds, void (*task)(void *arg), void *arg);

/* Waits for a running call and ends the thread. NULL is allowed. */
void srv_periodic_stop(srv_periodic *periodic);
