/* arena.h - allocate memory piece by piece and free all of it at once.
 *
 * The declarer of an api_arena owns it and calls api_arena_free, which frees every piece. Pieces are zeroed and
 * aligned for any type. An all-zero api_arena is empty and valid. */
#pragma once
#include "dynamics/memory/memory.h"
#include <stddef.h>

typedef struct api_arena {
    struct api_arena_block *blocks; /* newest first */
    size_t                  bytes;  /* allocated in total, block headers included */
} api_arena;

void *api_arena_take(api_arena *arena, size_t count, size_t size); /* count * size bytes; NULL: no memory */
char *api_arena_text(api_arena *arena, const char *text); /* copy of a NUL-terminated string; NULL: no memory */
void  api_arena_free(api_arena *arena);

/* Returns the arena as the memory of a computation in dynamics/. Its pieces are zeroed as all others. */
dyn_memory api_arena_memory(api_arena *arena);
