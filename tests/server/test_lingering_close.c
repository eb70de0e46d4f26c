/* test_lingering_close.c - checks the limits of lingering closes (a closed connection still reads for a while): their
 * number, time and bytes. */
#include "server/work/clock.h"
#include "server/net/lingering_close.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum { MOST = 32, SECONDS = 5, MEGABYTES = 64 };

static uv_loop_t          loop;
static srv_lingering_list all;

static int open_loop(void **state)
{
    all = (srv_lingering_list){0};
    return uv_loop_init(&loop);
}

static int close_loop(void **state)
{
    srv_lingering_close_end_all(&all);
    uv_run(&loop, UV_RUN_DEFAULT);
    return uv_loop_close(&loop);
}

/* Starts a lingering close and closes the server's own descriptor; returns the client's end. */
static int linger(void)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    srv_lingering_close_begin(&all, &loop, ends[0]);
    close(ends[0]);
    return ends[1];
}

static bool is_open(int client)
{
    return send(client, "x", 1, MSG_NOSIGNAL) == 1 || errno == EAGAIN;
}

static int lowest_free_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

static void test_further_input_is_discarded(void **state)
{
    static char data[100000];
    int         client = linger();
    for (int i = 0; i < 20; i++) {
        assert_true(send(client, data, sizeof data, MSG_NOSIGNAL) == (ssize_t)sizeof data);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(all.count, 1);
    shutdown(client, SHUT_WR);
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(all.count, 0);
    assert_null(all.first);
    assert_null(all.last);
    assert_false(is_open(client));
    close(client);
}

/* Beyond the limit of bytes the client's writes must fail. */
static void test_bytes(void **state)
{
    static char data[65536];
    int         client = linger();
    size_t      sent   = 0;
    while (is_open(client) && sent < (size_t)2 * MEGABYTES << 20) {
        ssize_t n = send(client, data, sizeof data, MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    assert_in_range(sent, MEGABYTES << 20, (MEGABYTES + 1) << 20);
    assert_int_equal(all.count, 0);
    close(client);
}

static void test_time(void **state)
{
    assert_true(srv_lingering_close_next(&all) == SRV_NEVER);
    uint64_t before = srv_now();
    int      first  = linger();
    uint64_t after = srv_now(), end = srv_lingering_close_next(&all);
    assert_true(end >= before + SECONDS * 1000000000ull && end <= after + SECONDS * 1000000000ull);
    int second = linger();
    assert_true(srv_lingering_close_next(&all) == end); /* the oldest one expires first */
    srv_lingering_close_expire(&all, end - 1);
    assert_true(is_open(first));
    srv_lingering_close_expire(&all, end);
    assert_false(is_open(first));
    assert_true(is_open(second));
    assert_int_equal(all.count, 1);
    srv_lingering_close_expire(&all, srv_lingering_close_next(&all));
    assert_false(is_open(second));
    close(first);
    close(second);
}

/* Beyond the limit of lingering closes a connection must be closed at once; an ended one makes room for another. */
static void test_limit_of_their_number(void **state)
{
    int clients[MOST + 3];
    for (int i = 0; i < MOST + 3; i++)
        clients[i] = linger();
    assert_int_equal(all.count, MOST);
    for (int i = 0; i < MOST + 3; i++)
        assert_int_equal(is_open(clients[i]), i < MOST);
    shutdown(clients[7], SHUT_WR); /* ends a lingering close in the middle of the list */
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(all.count, MOST - 1);
    int more = linger();
    assert_true(is_open(more));
    assert_int_equal(all.count, MOST);
    srv_lingering_close_end_all(&all);
    assert_int_equal(all.count, 0);
    for (int i = 0; i < MOST + 3; i++)
        assert_false(is_open(clients[i])), close(clients[i]);
    assert_false(is_open(more));
    close(more);
}

/* A descriptor that cannot be polled must be closed. */
static void test_nothing_is_leaked(void **state)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), before = lowest_free_descriptor();
    srv_lingering_close_begin(&all, &loop, file);
    assert_int_equal(all.count, 0);
    assert_int_equal(lowest_free_descriptor(), before);
    close(file);
    before = lowest_free_descriptor();
    close(linger());
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(all.count, 0);
    assert_int_equal(lowest_free_descriptor(), before);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_loop, close_loop)
    const struct CMUnitTest tests[] = {
        TEST(test_further_input_is_discarded), TEST(test_bytes), TEST(test_time), TEST(test_limit_of_their_number),
        TEST(test_nothing_is_leaked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
