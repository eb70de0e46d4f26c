/* sundials_memory.c - lists the blocks of SUNDIALS, and jumps out of it when memory is short (sundials_memory.h). */
#include "sundials_memory.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct dyn_sundials_block {
    struct dyn_sundials_block *previous, *next;
    dyn_sundials_memory       *owner;
    size_t                     bytes;
    max_align_t                data[];
} block;

static _Thread_local dyn_sundials_memory *current;

/* Called by SUNDIALS in place of malloc, calloc, realloc and free: see the Makefile. */
void *dyn_sundials_malloc(size_t bytes);
void *dyn_sundials_calloc(size_t count, size_t bytes);
void *dyn_sundials_realloc(void *data, size_t bytes);
void  dyn_sundials_free(void *data);

static block *block_of(void *data)
{
    return (block *)((char *)data - offsetof(block, data));
}

_Noreturn static void escape(void)
{
    longjmp(current->escape, 1);
}

void *dyn_sundials_malloc(size_t bytes)
{
    block *b = bytes <= SIZE_MAX - sizeof *b ? malloc(sizeof *b + bytes) : NULL;
    if (!b) escape();
    *b = (block){.next = current->blocks, .owner = current, .bytes = bytes};
    if (b->next) b->next->previous = b;
    current->blocks = b;
    return b->data;
}

void *dyn_sundials_calloc(size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) escape();
    return memset(dyn_sundials_malloc(all), 0, all);
}

void *dyn_sundials_realloc(void *data, size_t bytes)
{
    void *moved = dyn_sundials_malloc(bytes);
    if (data) memcpy(moved, data, bytes < block_of(data)->bytes ? bytes : block_of(data)->bytes);
    dyn_sundials_free(data);
    return moved;
}

void dyn_sundials_free(void *data)
{
    if (!data) return;
    block *b                                                = block_of(data);
    *(b->previous ? &b->previous->next : &b->owner->blocks) = b->next;
    if (b->next) b->next->previous = b->previous;
    free(b);
}

bool dyn_sundials_run(dyn_sundials_memory *memory, bool (*work)(void *arg), void *arg, bool *result)
{
    current = memory;
    if (setjmp(memory->escape) != 0) {
        current = NULL;
        return false;
    }
    *result = work(arg);
    current = NULL;
    return true;
}

void dyn_sundials_free_all(dyn_sundials_memory *memory)
{
    for (block *b = memory->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    memory->blocks = NULL;
}
