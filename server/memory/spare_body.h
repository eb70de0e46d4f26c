/* spare_body.h - keep the memory of a large body for the next large body of the same loop.
 *
 * malloc returns a block of 32 MiB or more to the kernel when it is freed. The next body then costs a page fault and a
 * page of zeros for every 4 KiB: more than the numbers in it cost to read. A loop keeps one block, and frees it when no
 * body has used it for a while. Only the thread of the loop uses a spare body; an all-zero one is empty and valid. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct srv_spare_body {
    char    *bytes; /* owned; NULL: none */
    size_t   capacity;
    uint64_t end; /* ns, when the block is freed */
} srv_spare_body;

/* Returns a block for a body of `bytes` bytes, which the caller owns, and its capacity, which may be less than `bytes`:
 * realloc extends it. NULL: the body is too small to need one, or there is none. */
char *srv_spare_body_take(srv_spare_body *spare, size_t bytes, size_t *capacity);

/* Takes over a block from malloc, or NULL. Keeps one of 32 to 64 MiB if none is kept; disposes of any other. `now`: ns.
 */
void srv_spare_body_give(srv_spare_body *spare, char *bytes, size_t capacity, uint64_t now);

uint64_t srv_spare_body_next(const srv_spare_body *spare); /* ns, when the block is freed; or SRV_NEVER */
void     srv_spare_body_expire(srv_spare_body *spare, uint64_t now);
