/* arena.h - memory that is taken piece by piece and given back all at once. Owner: whoever declared the arena;
 * api_arena_free gives back everything that was taken from it. Pieces are zeroed and aligned for any type.
 * An arena that is all zeros is empty and ready. */
#pragma once
#include <stddef.h>

typedef struct api_arena {
    struct api_arena_block *blocks; /* newest first */
    size_t                  bytes;  /* held, blocks' headers included */
} api_arena;

void *api_arena_take(api_arena *arena, size_t count, size_t size); /* count x size bytes; NULL: no memory */
char *api_arena_text(api_arena *arena, const char *text);          /* a copy; NULL: no memory */
void  api_arena_free(api_arena *arena);
