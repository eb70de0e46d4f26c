/* test_listen.c - addresses and listening sockets, on free ports of the loopback. */
#include "server/listen.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void assert_address(const char *text, const char *host, const char *port)
{
    srv_address address;
    assert_true(srv_address_parse(text, &address));
    assert_string_equal(address.host, host);
    assert_string_equal(address.port, port);
}

static void test_addresses(void **state)
{
    assert_address("127.0.0.1:8088", "127.0.0.1", "8088");
    assert_address("[::1]:0", "::1", "0");
    assert_address("[::]:65535", "::", "65535");
    assert_address("localhost:1", "localhost", "1");
}

static void test_bad_addresses(void **state)
{
    static const char *const bad[] = {"",         ":",       ":80",        "host",        "host:",    "host:x",
                                      "host:80x", "host:-1", "host:65536", "host:100000", "::1:80",   "[::1]",
                                      "[]:80",    "[::1:80", "::1]:80",    "[::1]80",     "host:8 0", "a:b:80"};
    srv_address              address;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (srv_address_parse(bad[i], &address)) fail_msg("\"%s\" was taken", bad[i]);
    char text[400];
    memset(text, 'h', sizeof text);
    memcpy(text + sizeof text - 4, ":80", 4);
    assert_false(srv_address_parse(text, &address));
}

static bool open_sockets(const char *text, size_t n, int sockets[], char bound[100], char error[300])
{
    srv_address address;
    assert_true(srv_address_parse(text, &address));
    return srv_listen(&address, n, sockets, bound, 100, error, 300);
}

static void test_a_taken_port_is_named(void **state)
{
    int  first, others[2];
    char bound[100], again[100], error[300];
    assert_true(open_sockets("127.0.0.1:0", 1, &first, bound, error));
    assert_true(strncmp(bound, "127.0.0.1:", 10) == 0 && strcmp(bound, "127.0.0.1:0") != 0);
    for (size_t n = 1; n <= 2; n++) { /* a sharer of ports is refused as well */
        assert_false(open_sockets(bound, n, others, again, error));
        assert_non_null(strstr(error, strchr(bound, ':') + 1));
        assert_non_null(strstr(error, "--listen"));
    }
    close(first);
    assert_true(open_sockets(bound, 1, &first, again, error)); /* and is free again */
    close(first);
}

static void test_several_sockets_share_one_port(void **state)
{
    int  sockets[3], other;
    char bound[100], again[100], error[300];
    assert_true(open_sockets("127.0.0.1:0", 3, sockets, bound, error));
    assert_false(open_sockets(bound, 1, &other, again, error));
    int more[3];
    assert_false(open_sockets(bound, 3, more, again, error)); /* another process's sharers are kept out too */
    for (int i = 0; i < 3; i++)
        close(sockets[i]);
}

static void test_ipv6(void **state)
{
    int  fd;
    char bound[100], error[300];
    if (!open_sockets("[::1]:0", 1, &fd, bound, error)) skip(); /* a machine without IPv6 */
    assert_memory_equal(bound, "[::1]:", 6);
    close(fd);
}

static void test_what_cannot_be(void **state)
{
    int  fd;
    char bound[100], error[300];
    assert_false(open_sockets("no-such-host.invalid:80", 1, &fd, bound, error));
    assert_non_null(strstr(error, "no-such-host.invalid"));
    assert_false(open_sockets("192.0.2.1:80", 1, &fd, bound, error)); /* not an address of this machine */
    assert_non_null(strstr(error, "192.0.2.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_bad_addresses),
        cmocka_unit_test(test_a_taken_port_is_named),
        cmocka_unit_test(test_several_sockets_share_one_port),
        cmocka_unit_test(test_ipv6),
        cmocka_unit_test(test_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
