/* spare_body.c - see spare_body.h. */
#include "spare_body.h"
#include "server/work/clock.h"
#include "server/memory/disposal.h"
#include <stdbool.h>

static const uint64_t kept_time = 5000000000; /* ns for which a block is kept */

char *srv_spare_body_take(srv_spare_body *spare, size_t bytes, size_t *capacity)
{
    char *block = bytes >= SRV_MAPPED_BYTES ? spare->bytes : NULL;
    if (!block) return NULL;
    *capacity = spare->capacity;
    *spare    = (srv_spare_body){0};
    return block;
}

void srv_spare_body_give(srv_spare_body *spare, char *bytes, size_t capacity, uint64_t now)
{
    const bool kept = capacity >= SRV_MAPPED_BYTES && capacity <= SRV_KEPT_BYTES && !spare->bytes;
    if (kept)
        *spare = (srv_spare_body){.bytes = bytes, .capacity = capacity, .end = now + kept_time};
    else
        srv_dispose(bytes);
}

uint64_t srv_spare_body_next(const srv_spare_body *spare)
{
    return spare->bytes ? spare->end : SRV_NEVER;
}

void srv_spare_body_expire(srv_spare_body *spare, uint64_t now)
{
    if (!spare->bytes || now < spare->end) return;
    srv_dispose(spare->bytes);
    *spare = (srv_spare_body){0};
}
