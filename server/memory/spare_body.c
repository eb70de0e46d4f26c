/* spare_body.c - see spare_body.h. */
#include "spare_body.h"
#include "server/work/clock.h"
#include "server/memory/disposal.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t kept_time = 5000000000; /* ns */

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
    if (capacity < SRV_MAPPED_BYTES || spare->bytes) {
        srv_dispose(bytes);
        return;
    }
    char *cut = capacity > SRV_KEPT_BYTES ? realloc(bytes, SRV_KEPT_BYTES) : NULL;
    *spare    = (srv_spare_body){
           .bytes = cut ? cut : bytes, .capacity = cut ? SRV_KEPT_BYTES : capacity, .end = now + kept_time};
}

void srv_body_return_pages(char *bytes, size_t capacity)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = ((uintptr_t)bytes + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)bytes + capacity) / page * page;
    if (bytes && end > start) madvise((char *)bytes + (start - (uintptr_t)bytes), end - start, MADV_DONTNEED);
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
