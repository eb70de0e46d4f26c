/* disposal.c - see disposal.h. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "disposal.h"
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* A block that waits; it lies in the first bytes of the block itself, so that disposal needs no memory. */
typedef struct waiting waiting;
struct waiting {
    waiting *next;
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t  changed;
    pthread_t       thread;
    waiting        *first;
    bool            runs, stops;
} disposal = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Waits for blocks. Returns them all; NULL: there are none, and none will come. */
static waiting *await_blocks(void)
{
    pthread_mutex_lock(&disposal.mutex);
    while (!disposal.first && !disposal.stops)
        pthread_cond_wait(&disposal.changed, &disposal.mutex);
    waiting *first = disposal.first;
    disposal.first = NULL;
    pthread_mutex_unlock(&disposal.mutex);
    return first;
}

static void *run(void *unused)
{
    (void)unused;
    for (waiting *block, *next; (block = await_blocks());)
        for (; block; block = next) {
            next = block->next;
            free(block);
        }
    return NULL;
}

void srv_disposal_start(void)
{
    disposal.stops = false;
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

void srv_dispose(void *block)
{
    if (!disposal.runs || malloc_usable_size(block) < SRV_DISPOSED_BYTES) {
        free(block);
        return;
    }
    pthread_mutex_lock(&disposal.mutex);
    *(waiting *)block = (waiting){.next = disposal.first};
    disposal.first    = block;
    pthread_mutex_unlock(&disposal.mutex);
    pthread_cond_signal(&disposal.changed);
}
