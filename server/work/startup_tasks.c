/* startup_tasks.c - see startup_tasks.h. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "startup_tasks.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS_MOST = 64 };

typedef struct shared_tasks {
    atomic_size_t next; /* index of the task that is started next */
    size_t        n;
    void (*task)(void *arg, size_t i);
    void *arg;
} shared_tasks;

static void *run_tasks(void *argument)
{
    shared_tasks *tasks = argument;
    for (size_t i; (i = atomic_fetch_add(&tasks->next, 1)) < tasks->n;)
        tasks->task(tasks->arg, i);
    return NULL;
}

void srv_run_startup_tasks(size_t threads, size_t n, void (*task)(void *arg, size_t i), void *arg)
{
    shared_tasks tasks = {.n = n, .task = task, .arg = arg};
    pthread_t    thread[THREADS_MOST];
    size_t       started = 0, others = threads < n ? threads : n;
    if (others > THREADS_MOST) others = THREADS_MOST;
    while (started + 1 < others && pthread_create(&thread[started], NULL, run_tasks, &tasks) == 0)
        pthread_setname_np(thread[started++], "torqued-restore");
    run_tasks(&tasks);
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}
