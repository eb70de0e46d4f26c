/* startup_tasks.h - run independent tasks on all usable cores, before the server serves. */
#pragma once
#include <stddef.h>

/* Calls task(arg, i) once for each i below `n`, on the calling thread and on up to `threads` - 1 others, and returns
 * when all calls have returned. Calls begin in the order of i and may overlap. Where no thread can be started, fewer
 * share the tasks. */
void srv_run_startup_tasks(size_t threads, size_t n, void (*task)(void *arg, size_t i), void *arg);
