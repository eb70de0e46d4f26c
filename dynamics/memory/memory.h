/* memory.h - takes memory for a computation from its caller, and asks the caller whether the computation may go on.
 *
 * Functions of dynamics/ that need arrays or many steps take a dyn_memory and a dyn_deadline. Both are small records of
 * a function and its argument, so that a server can count bytes and time for each caller, and a program can use malloc
 * (arena.h) and no deadline. All pieces stay valid until their owner frees them together; functions of dynamics/ free
 * no memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct dyn_memory {
    /* Returns `bytes` bytes aligned to DYN_ALIGN (dynamics.h), not cleared, also for 0 bytes. NULL: memory is refused,
     * for a reason that the owner of `arg` knows. */
    void *(*take)(void *arg, size_t bytes);
    void *arg;
} dyn_memory;

/* The condition under which a computation ends early. All zero: the computation runs to its end. */
typedef struct dyn_deadline {
    bool (*may_continue)(const void *arg); /* called between steps, by the thread that computes */
    const void *arg;
} dyn_deadline;

static inline bool dyn_may_continue(dyn_deadline deadline)
{
    return !deadline.may_continue || deadline.may_continue(deadline.arg);
}

static inline void *dyn_take(dyn_memory memory, size_t bytes)
{
    return memory.take(memory.arg, bytes);
}

/* Returns an array of `count` zeros. If memory is refused, returns NULL and sets *succeeded to false, so that a caller
 * of several allocations checks once. */
double *dyn_take_zeroed(dyn_memory memory, size_t count, bool *succeeded);

/* Allocates like dyn_take_zeroed, but also fails if the deadline passes: clearing a hundred megabytes of fresh memory
 * takes a tenth of a second. */
double *dyn_take_zeroed_until(dyn_memory memory, size_t count, dyn_deadline deadline, bool *succeeded);
