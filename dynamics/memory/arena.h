/* arena.h - gives programs a dyn_memory from malloc: pieces that are freed together.
 *
 *     dyn_arena  arena  = {0};
 *     dyn_memory memory = dyn_arena_memory(&arena);
 *     ... dyn_loop_workspace_open(memory, ...), dyn_take_zeroed(memory, ...) ...
 *     dyn_arena_free(&arena);
 *
 * The declarer owns the arena and frees it once nothing in it is used. An all-zero arena is empty and valid. One thread
 * uses an arena at a time. */
#pragma once
#include "memory.h"

typedef struct dyn_arena {
    struct dyn_arena_piece *last; /* the piece allocated last; each piece points to the one before */
} dyn_arena;

/* Returns a dyn_memory that allocates from the arena. It fails only if malloc fails, and has no limit of its own. */
dyn_memory dyn_arena_memory(dyn_arena *arena);

/* Frees all pieces. The arena is then empty and may be used again. */
void dyn_arena_free(dyn_arena *arena);
