/* disposal.c - see disposal.h. */
#define _GNU_SOURCE /* pthread_setname_np, pthread_cond_clockwait */
#include "disposal.h"
#include "server/work/clock.h"
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t kept_time = 5000000000; /* ns for which a block is kept */

/* A block that waits; it lies in the first bytes of the block itself, so that disposal needs no memory. */
typedef struct waiting waiting;
struct waiting {
    waiting *next;
    bool     returns_pages; /* true: the pages go back to the kernel; false: malloc may keep them */
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t  changed;
    pthread_t       thread;
    waiting        *first;
    void           *kept; /* NULL: none */
    uint64_t        end;  /* ns, when the kept block is freed */
    size_t          most; /* bytes of memory of the kept block */
    bool            runs, stops;
} disposal = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Waits, with the mutex, until a block comes, the kept block is to be freed, or the thread stops. */
static void await_disposed(void)
{
    const struct timespec end = {(time_t)(disposal.end / 1000000000), (long)(disposal.end % 1000000000)};
    if (!disposal.kept)
        pthread_cond_wait(&disposal.changed, &disposal.mutex);
    else
        pthread_cond_clockwait(&disposal.changed, &disposal.mutex, CLOCK_MONOTONIC, &end);
}

/* Keeps a block if it is mapped on its own and none is kept. The caller has the mutex. */
static bool keep_block(void *block)
{
    const bool keeps = !disposal.kept && !disposal.stops && malloc_usable_size(block) >= SRV_MAPPED_BYTES;
    if (!keeps) return false;
    disposal.kept = block;
    disposal.end  = srv_now() + kept_time;
    return true;
}

/* Removes the next block that is to be freed, or cut before it is kept. NULL: none. The caller has the mutex. */
static void *next_block(bool *returns_pages)
{
    void *block;
    *returns_pages = false;
    while ((block = disposal.first)) {
        *returns_pages = disposal.first->returns_pages;
        disposal.first = disposal.first->next;
        if (malloc_usable_size(block) > disposal.most || !keep_block(block)) return block;
    }
    if (!disposal.stops && srv_now() < disposal.end) return NULL;
    block         = disposal.kept;
    disposal.kept = NULL;
    return block;
}

/* Waits for a block. Returns NULL if there is none and none will come. */
static void *await_block(bool *returns_pages)
{
    void *block;
    pthread_mutex_lock(&disposal.mutex);
    while (!(block = next_block(returns_pages)) && !disposal.stops)
        await_disposed();
    pthread_mutex_unlock(&disposal.mutex);
    return block;
}

/* Returns the whole pages of some bytes of a block to the kernel. The contents of these pages are lost. */
static void return_pages(char *bytes, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = ((uintptr_t)bytes + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)bytes + size) / page * page;
    if (end > start) madvise(bytes + (start - (uintptr_t)bytes), end - start, MADV_DONTNEED);
}

/* Returns the pages of a block that has more memory than may be kept, and keeps it. */
static bool cut_and_keep(void *block)
{
    const size_t size = malloc_usable_size(block);
    if (size < SRV_MAPPED_BYTES || size <= disposal.most || disposal.most == 0) return false;
    return_pages((char *)block + disposal.most, size - disposal.most);
    pthread_mutex_lock(&disposal.mutex);
    const bool keeps = keep_block(block);
    pthread_mutex_unlock(&disposal.mutex);
    return keeps;
}

static void *run(void *unused)
{
    (void)unused;
    bool returns_pages;
    for (void *block; (block = await_block(&returns_pages));) {
        if (returns_pages) return_pages(block, malloc_usable_size(block));
        if (!cut_and_keep(block)) free(block);
    }
    return NULL;
}

void srv_disposal_start(size_t kept)
{
    disposal.stops = false;
    disposal.most  = kept;
    disposal.runs  = pthread_create(&disposal.thread, NULL, run, NULL) == 0;
    if (disposal.runs) pthread_setname_np(disposal.thread, "torqued-free");
}

void srv_disposal_stop(void)
{
    if (!disposal.runs) return;
    pthread_mutex_lock(&disposal.mutex);
    disposal.stops = true;
    pthread_mutex_unlock(&disposal.mutex);
    pthread_cond_signal(&disposal.changed);
    pthread_join(disposal.thread, NULL);
    disposal.runs = false;
}

/* Passes a large block to the thread. False: the block is small, or there is no thread. */
static bool queue_block(void *block, bool returns_pages)
{
    if (!disposal.runs || malloc_usable_size(block) < SRV_DISPOSED_BYTES) return false;
    pthread_mutex_lock(&disposal.mutex);
    *(waiting *)block = (waiting){.next = disposal.first, .returns_pages = returns_pages};
    disposal.first    = block;
    pthread_mutex_unlock(&disposal.mutex);
    pthread_cond_signal(&disposal.changed);
    return true;
}

void srv_dispose(void *block)
{
    if (!queue_block(block, false)) free(block);
}

void srv_dispose_pages(void *block)
{
    if (queue_block(block, true)) return;
    if (block) return_pages(block, malloc_usable_size(block));
    free(block);
}

/* Removes and returns a mapped block that waits to be freed, or else the kept one. NULL: there is none. */
static void *remove_mapped(void)
{
    void *block = NULL;
    pthread_mutex_lock(&disposal.mutex);
    waiting **link = &disposal.first;
    while (*link && malloc_usable_size(*link) < SRV_MAPPED_BYTES)
        link = &(*link)->next;
    if (*link) {
        block = *link;
        *link = (*link)->next;
    } else {
        block         = disposal.kept;
        disposal.kept = NULL;
    }
    pthread_mutex_unlock(&disposal.mutex);
    return block;
}

void *srv_disposal_take(size_t bytes)
{
    void *block = bytes >= SRV_MAPPED_BYTES && disposal.runs ? remove_mapped() : NULL;
    if (!block || malloc_usable_size(block) >= bytes) return block;
    void *larger = realloc(block, bytes); /* moves page tables, not bytes */
    if (!larger) free(block);
    return larger;
}
