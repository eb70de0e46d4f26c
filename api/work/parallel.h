/* parallel.h - run independent tasks on the worker's thread and on those of its helpers that are free.
 *
 * The result, or the problem, does not depend on which thread runs which task. */
#pragma once
#include "api/memory/pool.h"
#include "deadline.h"

/* Who may run tasks. */
typedef struct api_parallel {
    const api_helpers  *helpers;  /* NULL: the calling thread alone */
    const api_deadline *deadline; /* may be NULL */
    api_pool           *pool;     /* of the calling thread; its problem is that of a task that fails */
    int64_t            *helped;   /* ns: the time of all tasks beyond the elapsed time is added */
} api_parallel;

/* Runs task `task`. Memory that a task needs to itself belongs to its slot: tasks that run at the same time have
 * different slots. False with `problem`. */
typedef bool api_parallel_task(void *arg, size_t slot, size_t task, api_problem *problem);

/* The number of slots for so many tasks, at least 1. */
size_t api_parallel_slots(const api_parallel *p, size_t tasks);

/* Starts the tasks in order, and checks the deadline before each if there are several. False with the problem of the
 * first task that fails; tasks behind it may have run. */
bool api_run_parallel(const api_parallel *p, size_t slots, size_t tasks, api_parallel_task *run, void *arg);
