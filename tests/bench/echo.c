/* echo.c - echo PORT BYTES: answers requests with as little work as libmicrohttpd and libuv allow, as a baseline for
 * the server.
 *
 * Reads each request's body and answers 200 with BYTES bytes, on one thread, with the server's style of loop: an
 * external epoll descriptor watched by libuv. Serves on loopback until SIGTERM. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

typedef struct echo {
    struct MHD_Daemon   *daemon;
    struct MHD_Response *answer;
    uv_poll_t            readable;
    uv_timer_t           timer;
    uv_signal_t          stop;
} echo;

static enum MHD_Result handle(void *arg, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *body, size_t *length, void **state)
{
    (void)url, (void)method, (void)version, (void)body;
    echo *e = arg;
    if (!*state) { /* libmicrohttpd's first call has only the headers */
        *state = e;
        return MHD_YES;
    }
    if (*length > 0) {
        *length = 0;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK, e->answer);
}

static void on_timer(uv_timer_t *timer);

static void turn(echo *e)
{
    MHD_UNSIGNED_LONG_LONG wait = 0;
    int                    known, rounds = 16;
    do {
        MHD_run(e->daemon);
        known = MHD_get_timeout(e->daemon, &wait) == MHD_YES;
    } while (known && wait == 0 && --rounds > 0);
    if (known)
        uv_timer_start(&e->timer, on_timer, wait, 0);
    else
        uv_timer_stop(&e->timer);
}

static void on_timer(uv_timer_t *timer)
{
    turn(timer->data);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    turn(poll->data);
}

static void on_stop(uv_signal_t *signal, int number)
{
    (void)number;
    uv_stop(signal->loop);
}

static bool start(echo *e, uv_loop_t *loop, uint16_t port, size_t bytes)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    char *body = malloc(bytes + 1);
    if (!body) return false;
    memset(body, 'x', bytes);
    e->answer = MHD_create_response_from_buffer(bytes, body, MHD_RESPMEM_MUST_FREE);
    e->daemon =
        MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle, e, MHD_OPTION_SOCK_ADDR, &address,
                         MHD_OPTION_CONNECTION_LIMIT, 1000u, MHD_OPTION_CONNECTION_TIMEOUT, 75u, MHD_OPTION_END);
    if (!e->daemon || !e->answer) return false;
    MHD_add_response_header(e->answer, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");

    e->readable.data = e->timer.data = e;
    uv_poll_init(loop, &e->readable, MHD_get_daemon_info(e->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
    uv_timer_init(loop, &e->timer);
    uv_signal_init(loop, &e->stop);
    uv_poll_start(&e->readable, UV_READABLE, on_readable);
    uv_signal_start(&e->stop, on_stop, SIGTERM);
    return true;
}

int main(int argc, char **argv)
{
    uv_loop_t loop;
    echo      e = {0};
    if (argc != 3 || uv_loop_init(&loop) != 0 ||
        !start(&e, &loop, (uint16_t)strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10))) {
        fprintf(stderr, "usage: echo PORT BYTES\n");
        return 2;
    }
    turn(&e);
    uv_run(&loop, UV_RUN_DEFAULT);
    MHD_stop_daemon(e.daemon);
    MHD_destroy_response(e.answer);
    return 0;
}
