/* scratch.c - see scratch.h. */
#include "scratch.h"
#include "dynamics/dynamics.h"
#include <stdint.h>
#include <stdlib.h>

/* Under AddressSanitizer every piece is a separate allocation, so that a write beyond its end is detected. */
#ifdef __SANITIZE_ADDRESS__
enum { KEPT_BYTES = 0 };
#else
enum { KEPT_BYTES = 256 * 1024 };
#endif

typedef struct api_scratch_piece {
    struct api_scratch_piece *next;
    _Alignas(DYN_ALIGN) char bytes[];
} api_scratch_piece;

static api_scratch_piece *new_piece(size_t bytes)
{
    if (bytes > SIZE_MAX - sizeof(api_scratch_piece)) return NULL;
    return aligned_alloc(DYN_ALIGN, sizeof(api_scratch_piece) + bytes);
}

void *api_scratch_take(api_scratch *scratch, size_t bytes)
{
    if (bytes > SIZE_MAX - DYN_ALIGN) return NULL;
    bytes = (bytes + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN;
    if (!scratch->kept) scratch->kept = new_piece(KEPT_BYTES);
    if (scratch->kept && bytes <= KEPT_BYTES - scratch->used) {
        void *memory = scratch->kept->bytes + scratch->used;
        scratch->used += bytes;
        return memory;
    }
    api_scratch_piece *piece = new_piece(bytes);
    if (!piece) return NULL;
    piece->next    = scratch->extra;
    scratch->extra = piece;
    return piece->bytes;
}

void api_scratch_reset(api_scratch *scratch)
{
    while (scratch->extra) {
        api_scratch_piece *next = scratch->extra->next;
        free(scratch->extra);
        scratch->extra = next;
    }
    scratch->used = 0;
}

void api_scratch_free(api_scratch *scratch)
{
    api_scratch_reset(scratch);
    free(scratch->kept);
    scratch->kept = NULL;
}
