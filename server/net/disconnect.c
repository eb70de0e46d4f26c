/* disconnect.c - see disconnect.h. */
#include "disconnect.h"
#include <stdlib.h>

struct srv_disconnect {
    uv_poll_t poll; /* first member: libuv's handle has the address of the struct */
    void (*callback)(void *arg);
    void *arg;
};

static void on_poll(uv_poll_t *poll, int status, int events)
{
    srv_disconnect *watch = (srv_disconnect *)poll;
    if (status == 0 && !(events & UV_DISCONNECT)) return;
    uv_poll_stop(poll); /* the poll is level-triggered and would fire again and again */
    watch->callback(watch->arg);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

srv_disconnect *srv_disconnect_watch(uv_loop_t *loop, int fd, void (*callback)(void *arg), void *arg)
{
    srv_disconnect *watch = calloc(1, sizeof *watch);
    if (!watch) return NULL;
    watch->callback = callback;
    watch->arg      = arg;
    if (uv_poll_init(loop, &watch->poll, fd) != 0) {
        free(watch);
        return NULL;
    }
    uv_poll_start(&watch->poll, UV_DISCONNECT, on_poll);
    return watch;
}

void srv_disconnect_stop(srv_disconnect *watch)
{
    if (watch) uv_close((uv_handle_t *)&watch->poll, on_closed);
}
