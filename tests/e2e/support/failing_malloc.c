/* failing_malloc.c - lets the k-th allocation of a process fail: a library for LD_PRELOAD that replaces malloc, calloc,
 * realloc and free.
 *
 * FAILING_MALLOC names a file that the test and the process map. The test arms the failure by writing to the file; with
 * `at_main` the process arms itself before main runs, when its libraries have been initialised. Without the variable
 * nothing fails. */
#define _GNU_SOURCE
#include "tests/failing_allocators.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Content of the file; tests/e2e/process/failing.py writes and reads it with the same layout. */
typedef struct control {
    atomic_llong armed;    /* 0: no allocation fails */
    atomic_llong at_main;  /* 1: armed before main */
    atomic_llong wait;     /* the allocation that fails, counted from 1 */
    atomic_llong sticky;   /* 1: all later allocations fail too */
    atomic_llong count;    /* allocations since the failure was armed */
    atomic_llong failures; /* allocations that failed since the failure was armed */
    atomic_llong blocks;   /* blocks that are allocated now */
} control;

static control  unused;
static control *shared = &unused;

static bool fails(void)
{
    if (!atomic_load(&shared->armed)) return false;
    long long number = atomic_fetch_add(&shared->count, 1) + 1, wait = atomic_load(&shared->wait);
    if (number < wait || (number > wait && !atomic_load(&shared->sticky))) return false;
    atomic_fetch_add(&shared->failures, 1);
    errno = ENOMEM;
    return true;
}

static void count_blocks(int change)
{
    atomic_fetch_add(&shared->blocks, change);
}

static void map_control(void)
{
    const char *path = getenv("FAILING_MALLOC");
    int         fd   = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *memory = mmap(NULL, sizeof(control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED) return;
    atomic_store(&((control *)memory)->blocks, atomic_load(&unused.blocks));
    shared = memory;
}

static int (*real_main)(int, char **, char **);

static int run_main(int argc, char **argv, char **environment)
{
    map_control();
    if (atomic_load(&shared->at_main)) atomic_store(&shared->armed, 1);
    return real_main(argc, argv, environment);
}

int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void    *stack_end);

/* Replaces the C library's function and runs main through run_main. */
int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void    *stack_end)
{
    int (*start)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main        = program;
    return start(run_main, argc, argv, init, fini, loader_fini, stack_end);
}
