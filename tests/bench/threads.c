/* threads.c - threads [RUNS]: measures states per second of the Panda arm on one thread, and on two at once.
 *
 * Each thread has states, results and workspace of its own and shares the model. A run takes 50 ms of wall-clock time;
 * runs of one thread and of two alternate, so that other work on the machine affects both. Prints one line per kernel:
 *     kernel, states per second on one thread, on two, ratio     (medians of RUNS, 21; ratio: of the pairs) */
#include "passes.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 2, RUN_NS = 50000000 };

typedef struct runner {
    workload           work;
    const kernel_pass *kernel;
    pthread_barrier_t *start;
    atomic_bool       *stop;
    double             rate; /* states per second */
    pthread_t          thread;
} runner;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *repeat(void *arg)
{
    runner *r      = arg;
    double  passes = 0;
    r->kernel->pass(&r->work);
    pthread_barrier_wait(r->start);
    double began = now();
    while (!atomic_load_explicit(r->stop, memory_order_relaxed)) {
        r->kernel->pass(&r->work);
        passes++;
    }
    r->rate = passes * STATES / (now() - began);
    return NULL;
}

static double rate(runner *runners, const kernel_pass *kernel, unsigned n)
{
    atomic_bool       stop = false;
    pthread_barrier_t start;
    double            sum = 0;
    pthread_barrier_init(&start, NULL, n + 1);
    for (unsigned i = 0; i < n; i++) {
        runners[i].kernel = kernel, runners[i].start = &start, runners[i].stop = &stop;
        if (pthread_create(&runners[i].thread, NULL, repeat, &runners[i]) != 0) abort();
    }
    pthread_barrier_wait(&start);
    nanosleep(&(struct timespec){.tv_nsec = RUN_NS}, NULL);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < n; i++) {
        pthread_join(runners[i].thread, NULL);
        sum += runners[i].rate;
    }
    pthread_barrier_destroy(&start);
    return sum;
}

int main(int argc, char **argv)
{
    static runner runners[THREADS];
    static double one[MAX_RUNS], two[MAX_RUNS], gain[MAX_RUNS];
    robot         arm  = robot_from_file("models/panda.json");
    size_t        runs = runs_asked(argc, argv, 21);
    for (size_t i = 0; i < THREADS; i++)
        workload_prepare(&runners[i].work, &arm, dyn_kernels_find(NULL), STATES, 64);
    for (int k = 0; k < N_KERNELS; k++) {
        if (!kernel_passes[k].per_joint) continue;
        for (size_t run = 0; run < runs; run++) {
            one[run]  = rate(runners, &kernel_passes[k], 1);
            two[run]  = rate(runners, &kernel_passes[k], 2);
            gain[run] = two[run] / one[run];
        }
        sort_runs(one, runs), sort_runs(two, runs), sort_runs(gain, runs);
        printf("%s\t%.0f\t%.0f\t%.3f\n", kernel_passes[k].name, one[runs / 2], two[runs / 2], gain[runs / 2]);
    }
    for (size_t i = 0; i < THREADS; i++)
        workload_release(&runners[i].work);
    robot_release(&arm);
    return 0;
}
