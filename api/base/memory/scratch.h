/* scratch.h - allocate a worker's temporary memory for one request and free all of it at once.
 *
 * The first block stays allocated between requests, which is enough for small requests. Larger pieces are freed by the
 * next reset. Only one thread uses a scratch. */
#pragma once
#include <stddef.h>

typedef struct api_scratch {
    struct api_scratch_piece *kept, *extra; /* `extra`: list of pieces that the next reset frees */
    size_t                    used;         /* bytes in use of `kept` */
} api_scratch;

void *api_scratch_take(api_scratch *scratch, size_t bytes); /* aligned to DYN_ALIGN, not cleared; NULL: no memory */
void  api_scratch_reset(api_scratch *scratch);              /* invalidates every piece */
void  api_scratch_free(api_scratch *scratch); /* frees everything; an all-zero api_scratch is empty and valid */
