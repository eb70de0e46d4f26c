/* arena.c - see arena.h. */
#include "arena.h"
#include "shortage.h"
#include "dynamics/dynamics.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 4096 };

typedef struct api_arena_block {
    struct api_arena_block *older;
    size_t                  used, capacity;
    max_align_t             data[];
} api_arena_block;

static api_arena_block *add_block(api_arena *arena, size_t bytes)
{
    size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    if (capacity > (size_t)-1 - sizeof(api_arena_block)) return NULL;
    api_arena_block *block = calloc(1, sizeof *block + capacity);
    if (!block) {
        api_shortage_note();
        return NULL;
    }
    block->capacity = capacity;
    block->older    = arena->blocks;
    arena->blocks   = block;
    arena->bytes += sizeof *block + capacity;
    return block;
}

void *api_arena_take(api_arena *arena, size_t count, size_t size)
{
    const size_t unit = sizeof(max_align_t);
    size_t       bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > (size_t)-1 - unit) return NULL;
    bytes = (bytes / unit + 1) * unit; /* at least one unit even for 0 bytes: NULL always means failure */

    api_arena_block *block = arena->blocks;
    if (!block || bytes > block->capacity - block->used) block = add_block(arena, bytes);
    if (!block) return NULL;
    char *piece = (char *)block->data + block->used;
    block->used += bytes;
    return piece;
}

char *api_arena_text(api_arena *arena, const char *text)
{
    size_t length = strlen(text);
    char  *copy   = api_arena_take(arena, length + 1, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

static void *take_aligned(void *arena, size_t bytes)
{
    if (bytes > SIZE_MAX - DYN_ALIGN) return NULL;
    char *piece = api_arena_take(arena, bytes + DYN_ALIGN, 1);
    return piece ? piece + (DYN_ALIGN - (uintptr_t)piece % DYN_ALIGN) % DYN_ALIGN : NULL;
}

dyn_memory api_arena_memory(api_arena *arena)
{
    return (dyn_memory){take_aligned, arena};
}

void api_arena_free(api_arena *arena)
{
    for (api_arena_block *block = arena->blocks, *older; block; block = older) {
        older = block->older;
        free(block);
    }
    *arena = (api_arena){0};
}
