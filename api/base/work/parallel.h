/* parallel.h - run independent tasks on the worker's thread and on those of its helpers that are free.
 *
 * The result, or the problem, does not depend on which thread runs which task. */
#pragma once
#include "api/base/memory/pool.h"
#include "deadline.h"

/* Means to run the tasks of a request: helper threads, deadline, memory, and a counter of the helpers' time. */
typedef struct api_parallel {
    const api_helpers  *helpers;  /* NULL: run all tasks on the calling thread */
    const api_deadline *deadline; /* NULL: no deadline */
    api_pool           *pool;     /* pool of the calling thread; receives the problem of a failed task */
    int64_t            *helped;   /* counter, ns; increased by the total time of all tasks minus the elapsed time */
} api_parallel;

/* Runs task number `task`. Tasks that run at the same time have different slots, so a task may use memory that is
 * reserved for its slot. False with `problem`. */
typedef bool api_parallel_task(void *arg, size_t slot, size_t task, api_problem *problem);

/* Returns the number of slots to use for this number of tasks, at least 1. */
size_t api_parallel_slots(const api_parallel *p, size_t tasks);

/* Starts the tasks in order. With several tasks, checks the deadline before each. False with the problem of the first
 * task that fails; tasks after it may have run, too. */
bool api_run_parallel(const api_parallel *p, size_t slots, size_t tasks, api_parallel_task *run, void *arg);
