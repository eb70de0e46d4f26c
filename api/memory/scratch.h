/* scratch.h - a worker's memory for one request at a time: taken piece by piece, given back all at once. What
 * small requests need stays allocated between requests, larger pieces are freed. One thread. */
#pragma once
#include <stddef.h>

typedef struct api_scratch {
    struct api_scratch_piece *kept, *extra; /* extra: list of pieces freed by the next reset */
    size_t                    used;         /* of `kept` */
} api_scratch;

void *api_scratch_take(api_scratch *scratch, size_t bytes); /* aligned to DYN_ALIGN, not cleared; NULL: no memory */
void  api_scratch_reset(api_scratch *scratch);              /* everything taken is gone */
void  api_scratch_free(api_scratch *scratch);               /* a zeroed api_scratch is empty and valid */
