/* large_block.h - take the memory of large answers from a source of blocks that were used before, and return the part
 * that an answer does not need.
 *
 * malloc maps a block of 32 MiB or more anew, which costs a page fault and a page of zeros for every 4 KiB. There is
 * one source for the process, as there is one malloc. */
#pragma once
#include <stddef.h>

enum { API_LARGE_BLOCK = 32 << 20 }; /* bytes from which malloc maps a block on its own */

/* Returns a block of malloc of at least `bytes` bytes, which the caller frees, or NULL. From any thread. */
typedef void *api_block_source(size_t bytes);

/* Sets the source, before any thread takes blocks; NULL: there is none. */
void api_large_blocks_from(api_block_source *source);

/* Returns a block of the source of at least `bytes` bytes, whose content is undefined. NULL: `bytes` is not large, or
 * the source has none. */
char *api_large_block(size_t bytes);

/* Returns the memory after the first `used` bytes of a block from malloc to malloc or, if it is large, its pages to
 * the system: the addresses of a large block stay, so that its pages serve another answer. Returns the block, which may
 * have moved; NULL: it is as it was. */
char *api_fit_block(char *block, size_t used);
