/* failing_allocators.h - replaces malloc and its kin by functions that fail where fails() returns true.
 *
 * The including file defines fails() and count_blocks(). */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Returns true if this allocation fails; errno is then ENOMEM. */
static bool fails(void);
/* change is 1 when a block was allocated, -1 when one was freed. */
static void count_blocks(int change);

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void *counted(void *memory)
{
    if (memory) count_blocks(1);
    return memory;
}

void *malloc(size_t bytes)
{
    return fails() ? NULL : counted(__libc_malloc(bytes));
}

void *calloc(size_t n, size_t bytes)
{
    return fails() ? NULL : counted(__libc_calloc(n, bytes));
}

void *realloc(void *memory, size_t bytes)
{
    if (fails()) return NULL;
    void *moved = __libc_realloc(memory, bytes);
    if (!memory) return counted(moved);
    if (bytes == 0) count_blocks(-1);
    return moved;
}

void *reallocarray(void *memory, size_t n, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(n, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(memory, all);
}

void *memalign(size_t alignment, size_t bytes)
{
    return fails() ? NULL : counted(__libc_memalign(alignment, bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    void *block = memalign(alignment, bytes);
    if (block) *memory = block;
    return block ? 0 : ENOMEM;
}

void free(void *memory)
{
    if (memory) count_blocks(-1);
    __libc_free(memory);
}
