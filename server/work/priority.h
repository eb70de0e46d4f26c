/* priority.h - keep threads of the server from delaying its real-time threads.
 *
 * A service manager may give the process a real-time policy (deploy/realtime.conf), which every thread inherits. The
 * loops keep it; all other threads leave it, so that long requests do not hold up short ones or the machine. */
#pragma once
#include <pthread.h>

/* Gives the calling thread the default policy. Never fails: leaving a real-time policy needs no privilege. */
void srv_leave_real_time(void);

/* Initialises a mutex that lends the priority of the most urgent waiter to its owner. */
void srv_mutex_init(pthread_mutex_t *mutex);
