/* arena.c - allocates aligned pieces of memory by aligned_alloc() and frees them together (arena.h). */
#include "arena.h"
#include "dynamics/dynamics.h"
#include <stdint.h>
#include <stdlib.h>

typedef struct dyn_arena_piece {
    struct dyn_arena_piece *before;
    _Alignas(DYN_ALIGN) char bytes[];
} dyn_arena_piece;

static void *take(void *arg, size_t bytes)
{
    dyn_arena *arena = arg;
    if (bytes > SIZE_MAX / 2) return NULL;
    /* aligned_alloc() requires a multiple of the alignment. */
    const size_t     whole = (bytes + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN;
    dyn_arena_piece *piece = aligned_alloc(DYN_ALIGN, sizeof *piece + whole);
    if (!piece) return NULL;
    piece->before = arena->last;
    arena->last   = piece;
    return piece->bytes;
}

dyn_memory dyn_arena_memory(dyn_arena *arena)
{
    return (dyn_memory){take, arena};
}

void dyn_arena_free(dyn_arena *arena)
{
    for (dyn_arena_piece *piece = arena->last, *before; piece; piece = before) {
        before = piece->before;
        free(piece);
    }
    *arena = (dyn_arena){0};
}
