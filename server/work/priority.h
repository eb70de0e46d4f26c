/* priority.h - keep the server's real-time threads from waiting for other threads and for the disk.
 *
 * A service manager may give the process a real-time policy (deploy/realtime.conf), which every thread inherits. The
 * loops keep it; all other threads leave it, so that long requests do not hold up short ones or the machine. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

/* Gives the calling thread the default policy. Never fails: leaving a real-time policy needs no privilege. */
void srv_leave_real_time(void);

/* Asks the kernel for the shortest slice for the calling thread: it then runs soon after it wakes, where a busy thread
 * of another program would have its slice of some ms first. Linux 6.12 and later do so; earlier ones ignore it. A
 * thread with a real-time policy keeps it. Never fails: without the permission the slice stays as it is. */
void srv_shorten_slice(void);

/* Locks the memory of a process with a real-time policy, pages as they are first used, so that none has to be read back
 * from the disk. Does nothing and returns true under the default policy. False with errno: EAGAIN if the limit of
 * locked memory is finite, because allocations beyond it would then fail. */
bool srv_lock_memory(void);

/* Initialises a mutex that lends the priority of the most urgent waiter to its owner. */
void srv_mutex_init(pthread_mutex_t *mutex);
