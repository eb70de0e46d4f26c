/* helping.c - let idle workers run tasks of the job of another worker. */
#include "pool_private.h"
#include "clock.h"

srv_help_request *srv_pool_find_help(srv_pool *pool)
{
    srv_help_request *h = pool->help_requests;
    while (h && (h->exhausted || !h->free_slots))
        h = h->next;
    return h;
}

void srv_pool_help(srv_pool *pool, srv_help_request *h)
{
    int  slot = __builtin_ctzll(h->free_slots);
    bool more = true;
    h->free_slots &= ~(1ull << slot);
    h->n_helpers++;
    pool->n_busy++;
    while (more && pool->queue.n_waiting == 0) {
        pthread_mutex_unlock(&pool->mutex);
        double began = srv_processor_time();
        more         = h->task(h->arg, (size_t)slot);
        double took  = srv_processor_time() - began;
        pthread_mutex_lock(&pool->mutex);
        h->helped += took;
    }
    pool->n_busy--;
    if (!more) h->exhausted = true;
    h->free_slots |= 1ull << slot;
    if (--h->n_helpers == 0) pthread_cond_broadcast(&pool->helper_left);
}

static void request_help(srv_pool *pool, srv_help_request *h, size_t slots)
{
    srv_help_request **last = &pool->help_requests;
    while (*last)
        last = &(*last)->next;
    *last = h;
    for (size_t slot = 1; slot < slots; slot++) {
        h->free_slots |= 1ull << slot;
        pthread_cond_signal(&pool->work_available);
    }
}

static void finish_help_request(srv_pool *pool, srv_help_request *h)
{
    srv_help_request **link = &pool->help_requests;
    while (*link != h)
        link = &(*link)->next;
    *link = h->next;
    while (h->n_helpers > 0)
        pthread_cond_wait(&pool->helper_left, &pool->mutex);
}

void srv_pool_run_with_helpers(void *arg, size_t slots, api_next_task *task, void *task_arg)
{
    srv_worker      *self = arg;
    srv_pool        *pool = self->pool;
    srv_help_request h    = {.task = task, .arg = task_arg};
    pthread_mutex_lock(&pool->mutex);
    request_help(pool, &h, slots);
    pthread_mutex_unlock(&pool->mutex);
    while (task(task_arg, 0))
        ;
    pthread_mutex_lock(&pool->mutex);
    finish_help_request(pool, &h);
    self->helped += h.helped;
    pthread_mutex_unlock(&pool->mutex);
}
