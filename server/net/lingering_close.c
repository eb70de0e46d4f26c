/* lingering_close.c - see lingering_close.h. */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include "lingering_close.h"
#include "server/work/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINGER_MOST = 32, READS_MOST = 16 };
static const uint64_t linger_time = 5000000000; /* ns */
static const uint64_t linger_most = 64 << 20;   /* bytes */

struct srv_lingerer {
    uv_poll_t     poll; /* first: freed by its address */
    srv_linger   *all;
    srv_lingerer *previous, *next;
    int           fd;
    uint64_t      end, received;
};

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static void finish(srv_lingerer *l)
{
    srv_linger *all                                   = l->all;
    *(l->previous ? &l->previous->next : &all->first) = l->next;
    *(l->next ? &l->next->previous : &all->last)      = l->previous;
    all->count--;
    uv_poll_stop(&l->poll);
    close(l->fd);
    uv_close((uv_handle_t *)&l->poll, on_closed);
}

/* A few reads at a time: others are served on this thread. */
static void on_input(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    srv_lingerer *l = (srv_lingerer *)poll;
    char          waste[65536];
    for (int i = 0; i < READS_MOST; i++) {
        ssize_t n = recv(l->fd, waste, sizeof waste, MSG_DONTWAIT);
        if (n > 0 && (l->received += (uint64_t)n) <= linger_most) continue;
        if (n >= 0 || (errno != EAGAIN && errno != EINTR)) finish(l);
        return;
    }
}

void srv_linger_begin(srv_linger *all, uv_loop_t *loop, int fd)
{
    if (all->count >= LINGER_MOST) return;
    srv_lingerer *l   = calloc(1, sizeof *l);
    int           own = l ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (own < 0 || uv_poll_init(loop, &l->poll, own) != 0) {
        if (own >= 0) close(own);
        free(l);
        return;
    }
    l->all                                        = all;
    l->fd                                         = own;
    l->end                                        = srv_now() + linger_time;
    l->previous                                   = all->last;
    *(all->last ? &all->last->next : &all->first) = l;
    all->last                                     = l;
    all->count++;
    uv_poll_start(&l->poll, UV_READABLE, on_input);
}

uint64_t srv_linger_next(const srv_linger *all)
{
    return all->first ? all->first->end : SRV_NEVER;
}

void srv_linger_expire(srv_linger *all, uint64_t now)
{
    while (all->first && all->first->end <= now)
        finish(all->first);
}

void srv_linger_close(srv_linger *all)
{
    while (all->first)
        finish(all->first);
}
