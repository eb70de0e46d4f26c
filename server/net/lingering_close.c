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

enum { MAX_LINGERING = 32, READS_PER_TURN = 16 };
static const uint64_t max_time  = 5000000000; /* ns; a lingering close ends after this time */
static const uint64_t max_bytes = 64 << 20;   /* bytes; a lingering close ends after this much input */

struct srv_lingering_socket {
    uv_poll_t             poll; /* first member: libuv's handle has the address of the struct */
    srv_lingering_list   *all;
    srv_lingering_socket *previous, *next;
    int                   fd;
    uint64_t              end, received;
};

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static void finish(srv_lingering_socket *l)
{
    srv_lingering_list *all                           = l->all;
    *(l->previous ? &l->previous->next : &all->first) = l->next;
    *(l->next ? &l->next->previous : &all->last)      = l->previous;
    all->count--;
    uv_poll_stop(&l->poll);
    close(l->fd);
    uv_close((uv_handle_t *)&l->poll, on_closed);
}

/* Reads and discards input, a few reads per event, because the thread serves other connections too. */
static void on_input(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    srv_lingering_socket *l = (srv_lingering_socket *)poll;
    char                  waste[65536];
    for (int i = 0; i < READS_PER_TURN; i++) {
        ssize_t n = recv(l->fd, waste, sizeof waste, MSG_DONTWAIT);
        if (n > 0 && (l->received += (uint64_t)n) <= max_bytes) continue;
        if (n >= 0 || (errno != EAGAIN && errno != EINTR)) finish(l);
        return;
    }
}

void srv_lingering_close_begin(srv_lingering_list *all, uv_loop_t *loop, int fd)
{
    if (all->count >= MAX_LINGERING) return;
    srv_lingering_socket *l   = calloc(1, sizeof *l);
    int                   own = l ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (own < 0 || uv_poll_init(loop, &l->poll, own) != 0) {
        if (own >= 0) close(own);
        free(l);
        return;
    }
    l->all                                        = all;
    l->fd                                         = own;
    l->end                                        = srv_now() + max_time;
    l->previous                                   = all->last;
    *(all->last ? &all->last->next : &all->first) = l;
    all->last                                     = l;
    all->count++;
    uv_poll_start(&l->poll, UV_READABLE, on_input);
}

uint64_t srv_lingering_close_next(const srv_lingering_list *all)
{
    return all->first ? all->first->end : SRV_NEVER;
}

void srv_lingering_close_expire(srv_lingering_list *all, uint64_t now)
{
    while (all->first && all->first->end <= now)
        finish(all->first);
}

void srv_lingering_close_end_all(srv_lingering_list *all)
{
    while (all->first)
        finish(all->first);
}
