/* large_block.c - see large_block.h. */
#include "large_block.h"
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static api_block_source *source;

void api_large_blocks_from(api_block_source *from)
{
    source = from;
}

char *api_large_block(size_t bytes)
{
    return source && bytes >= API_LARGE_BLOCK ? source(bytes) : NULL;
}

char *api_fit_block(char *block, size_t used)
{
    const size_t size = malloc_usable_size(block), page = (size_t)sysconf(_SC_PAGESIZE);
    if (size < API_LARGE_BLOCK) return realloc(block, used);
    const size_t begin = ((uintptr_t)block + used + page - 1) / page * page - (uintptr_t)block;
    const size_t end   = ((uintptr_t)block + size) / page * page - (uintptr_t)block;
    if (end > begin && madvise(block + begin, end - begin, MADV_DONTNEED) != 0) return NULL;
    return block;
}
