/* sundials_memory.c - see sundials_memory.h. */
#include "sundials_memory.h"
#include "api/base/memory/shortage.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct api_sundials_block {
    struct api_sundials_block *previous, *next;
    api_sundials_memory       *owner;
    size_t                     bytes;
    max_align_t                data[];
} block;

static _Thread_local api_sundials_memory *current;

/* Called by SUNDIALS in place of malloc and its kin: see the Makefile. */
void *api_sundials_malloc(size_t bytes);
void *api_sundials_calloc(size_t count, size_t bytes);
void *api_sundials_realloc(void *data, size_t bytes);
void  api_sundials_free(void *data);

static block *block_of(void *data)
{
    return (block *)((char *)data - offsetof(block, data));
}

_Noreturn static void escape(void)
{
    api_shortage_note();
    longjmp(current->escape, 1);
}

void *api_sundials_malloc(size_t bytes)
{
    block *b = bytes <= SIZE_MAX - sizeof *b ? malloc(sizeof *b + bytes) : NULL;
    if (!b) escape();
    *b = (block){.next = current->blocks, .owner = current, .bytes = bytes};
    if (b->next) b->next->previous = b;
    current->blocks = b;
    return b->data;
}

void *api_sundials_calloc(size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) escape();
    return memset(api_sundials_malloc(all), 0, all);
}

void *api_sundials_realloc(void *data, size_t bytes)
{
    void *moved = api_sundials_malloc(bytes);
    if (data) memcpy(moved, data, bytes < block_of(data)->bytes ? bytes : block_of(data)->bytes);
    api_sundials_free(data);
    return moved;
}

void api_sundials_free(void *data)
{
    if (!data) return;
    block *b                                                = block_of(data);
    *(b->previous ? &b->previous->next : &b->owner->blocks) = b->next;
    if (b->next) b->next->previous = b->previous;
    free(b);
}

bool api_sundials_run(api_sundials_memory *memory, bool (*work)(void *arg), void *arg, bool *result)
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

void api_sundials_free_all(api_sundials_memory *memory)
{
    for (block *b = memory->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    memory->blocks = NULL;
}
