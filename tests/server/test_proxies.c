/* test_proxies.c - checks networks, the addresses in Forwarded and X-Forwarded-For, and the header of the PROXY
 * protocol. */
#include "server/access/forwarded.h"
#include "server/net/proxy_header.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static srv_networks proxies;

static bool contains(const char *list, const char *text)
{
    srv_networks networks;
    srv_ip       ip;
    assert_true(srv_networks_parse(list, &networks));
    assert_true(srv_ip_parse(text, &ip));
    return srv_networks_contain(&networks, &ip);
}

static void test_networks(void **state)
{
    assert_true(contains("127.0.0.1", "127.0.0.1"));
    assert_true(contains("127.0.0.1", "::ffff:127.0.0.1"));
    assert_false(contains("127.0.0.1", "127.0.0.2"));
    assert_true(contains("10.0.0.0/8,192.168.4.0/22", "192.168.7.255"));
    assert_false(contains("10.0.0.0/8,192.168.4.0/22", "192.168.8.0"));
    assert_false(contains("10.0.0.0/8", "::10.0.0.1"));
    assert_true(contains("0.0.0.0/0", "203.0.113.9"));
    assert_false(contains("0.0.0.0/0", "2001:db8::1"));
    assert_true(contains("::/0", "203.0.113.9"));
    assert_true(contains("2001:db8::/33", "2001:db8:7fff::1"));
    assert_false(contains("2001:db8::/33", "2001:db8:8000::1"));
    assert_false(contains(NULL, "127.0.0.1"));
    assert_false(contains("unix", "127.0.0.1"));
}

static void test_bad_networks(void **state)
{
    static const char *const bad[] = {"",
                                      ",",
                                      "127.0.0.1,",
                                      "127.0.0.1/33",
                                      "127.0.0.1/",
                                      "10.1.0.0/8",
                                      "::1/129",
                                      "localhost",
                                      "127.0.0.1:80",
                                      "[::1]",
                                      "127.0.0.1 ",
                                      "10.0.0.0/8x",
                                      "10.0.0.0/-1",
                                      "2001:db8::1/32",
                                      "1.2.3",
                                      "unixx",
                                      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        srv_networks networks;
        if (srv_networks_parse(bad[i], &networks)) fail_msg("accepted: %s", bad[i]);
    }
}

/* Returns the client's address according to the headers, "" if they name none. */
static const char *client_of(const char *forwarded, const char *x_forwarded_for)
{
    static char text[SRV_IP_TEXT];
    srv_ip      ip;
    assert_true(srv_networks_parse("10.0.0.0/8,2001:db8::/32", &proxies));
    *text = '\0';
    if (srv_forwarded_client(&proxies, forwarded, x_forwarded_for, &ip)) srv_ip_print(&ip, text);
    return text;
}

static void test_x_forwarded_for(void **state)
{
    assert_string_equal(client_of(NULL, "192.0.2.7"), "192.0.2.7");
    assert_string_equal(client_of(NULL, " 192.0.2.7:4711 "), "192.0.2.7");
    assert_string_equal(client_of(NULL, "[2001:dead::7]:80"), "2001:dead::7");
    assert_string_equal(client_of(NULL, "2001:dead::7"), "2001:dead::7");
    assert_string_equal(client_of(NULL, "203.0.113.9, 192.0.2.7"), "192.0.2.7"); /* the client wrote the first */
    assert_string_equal(client_of(NULL, "203.0.113.9, 192.0.2.7, 10.1.2.3, 10.2.3.4"), "192.0.2.7");
    assert_string_equal(client_of(NULL, "10.1.2.3, 10.2.3.4"), "10.1.2.3");
    assert_string_equal(client_of(NULL, "192.0.2.7, rubbish, 10.1.2.3"), "10.1.2.3");
    assert_string_equal(client_of(NULL, "192.0.2.7, rubbish"), "");
    assert_string_equal(client_of(NULL, "192.0.2.7,"), ""); /* the last element is empty */
    assert_string_equal(client_of(NULL, ""), "");
    assert_string_equal(client_of(NULL, "127.1"), "");
    assert_string_equal(client_of(NULL, NULL), "");
}

static void test_forwarded(void **state)
{
    assert_string_equal(client_of("for=192.0.2.60;proto=http;by=203.0.113.43", NULL), "192.0.2.60");
    assert_string_equal(client_of("proto=http; FOR=192.0.2.60", NULL), "192.0.2.60");
    assert_string_equal(client_of("For=\"[2001:dead:cafe::17]:4711\"", NULL), "2001:dead:cafe::17");
    assert_string_equal(client_of("for=\"192.0.2.60:80\"", NULL), "192.0.2.60");
    assert_string_equal(client_of("for=203.0.113.9, for=192.0.2.43, for=10.0.0.1", NULL), "192.0.2.43");
    assert_string_equal(client_of("for=192.0.2.60;secret=\"a,for=1.2.3.4;x\"", NULL), "192.0.2.60");
    assert_string_equal(client_of("for=unknown", NULL), "");
    assert_string_equal(client_of("for=_hidden, for=10.0.0.1", NULL), "10.0.0.1");
    assert_string_equal(client_of("for=", NULL), "");
    assert_string_equal(client_of("by=192.0.2.60", NULL), "");
    assert_string_equal(client_of("\"", NULL), "");
}

/* A proxy replaces one of the two headers; the client may have sent the other one, so a contradiction must name no
 * client. */
static void test_both(void **state)
{
    assert_string_equal(client_of("for=192.0.2.7", "192.0.2.7"), "192.0.2.7");
    assert_string_equal(client_of("for=192.0.2.7", "203.0.113.9"), "");
    assert_string_equal(client_of("for=192.0.2.7", "rubbish"), "");
    assert_string_equal(client_of("rubbish", "192.0.2.7"), "");
}

/* Feeds a header as its receiver does. Returns the length of the header in bytes, -1 if it is malformed, -2 if it needs
 * more bytes. */
static int feed(const char *bytes, size_t length, srv_proxy_header *header)
{
    int missing;
    header->length = 0;
    while ((missing = srv_proxy_header_missing(header)) > 0) {
        if (header->length + (size_t)missing > length) return -2;
        memcpy(header->bytes + header->length, bytes + header->length, (size_t)missing);
        header->length += (size_t)missing;
    }
    return missing < 0 ? -1 : (int)header->length;
}

static const char *source_of(const char *bytes, size_t length)
{
    static char             text[SRV_IP_TEXT + 10];
    srv_proxy_header        header;
    struct sockaddr_storage client;
    socklen_t               size;
    srv_ip                  ip;
    if (feed(bytes, length, &header) < 0) return "malformed";
    if (!srv_proxy_header_source(&header, &client, &size)) return "local";
    assert_true(srv_ip_of((struct sockaddr *)&client, &ip));
    srv_ip_print(&ip, text);
    return text;
}

/* Returns the port of the client that a header names. */
static unsigned port_of(const char *bytes, size_t length)
{
    struct sockaddr_storage client = {.ss_family = AF_UNSPEC};
    socklen_t               size;
    srv_proxy_header        header;
    assert_true(feed(bytes, length, &header) >= 0 && srv_proxy_header_source(&header, &client, &size));
    return ntohs(client.ss_family == AF_INET ? ((struct sockaddr_in *)&client)->sin_port
                                             : ((struct sockaddr_in6 *)&client)->sin6_port);
}

static const char *source_of_line(const char *line)
{
    return source_of(line, strlen(line));
}

static void test_version_1(void **state)
{
    srv_proxy_header  header;
    static const char line[] = "PROXY TCP4 192.0.2.7 192.0.2.1 40000 443\r\nGET / HTTP/1.1\r\n";
    assert_int_equal(feed(line, sizeof line - 1, &header), 42); /* no byte of the request that follows */
    assert_string_equal(source_of_line(line), "192.0.2.7");
    assert_string_equal(source_of_line("PROXY TCP6 2001:db8::7 2001:db8::1 1 2\r\n"), "2001:db8::7");
    assert_int_equal(port_of(line, sizeof line - 1), 40000);
    assert_int_equal(port_of("PROXY TCP6 2001:db8::7 2001:db8::1 65534 2\r\n", 44), 65534);
    assert_string_equal(source_of_line("PROXY UNKNOWN\r\n"), "local");
    assert_string_equal(source_of_line("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"), "local");
    assert_string_equal(source_of_line("PROXY TCP4 rubbish 192.0.2.1 1 2\r\n"), "local");
    assert_string_equal(source_of_line("GET / HTTP/1.1\r\n"), "malformed");
    assert_string_equal(source_of_line("PROXY TCP4 192.0.2.7 192.0.2.1 1 2\n"), "malformed");
    char endless[300];
    memset(endless, ' ', sizeof endless);
    memcpy(endless, "PROXY ", 6);
    assert_int_equal(feed(endless, sizeof endless, &header), -1);
    assert_int_equal(header.length, 107);
}

static void test_version_2(void **state)
{
    srv_proxy_header header;
    char             v2[16 + 36] = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\xc0\0\x02\x01\x9c\x40\x01\xbb";
    assert_string_equal(source_of(v2, sizeof v2), "192.0.2.7");
    assert_int_equal(feed(v2, sizeof v2, &header), 28);
    assert_int_equal(port_of(v2, sizeof v2), 40000);
    v2[15] = 11; /* too short for its addresses */
    assert_string_equal(source_of(v2, sizeof v2), "local");
    v2[15] = 0x0c;
    v2[12] = 0x20;
    assert_string_equal(source_of(v2, sizeof v2), "local");
    v2[12] = 0x22;
    assert_string_equal(source_of(v2, sizeof v2), "malformed");
    v2[12] = 0x11;
    assert_string_equal(source_of(v2, sizeof v2), "malformed");
    v2[12] = 0x21;
    v2[14] = 0x7f; /* longer than any header that is accepted */
    assert_string_equal(source_of(v2, sizeof v2), "malformed");
    v2[13] = 0x21;
    v2[14] = 0;
    v2[15] = 36;
    inet_pton(AF_INET6, "2001:db8::7", v2 + 16);
    memcpy(v2 + 48, "\x9c\x41\x01\xbb", 4);
    assert_string_equal(source_of(v2, sizeof v2), "2001:db8::7");
    assert_int_equal(port_of(v2, sizeof v2), 40001);
    assert_int_equal(feed(v2, 20, &header), -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_networks),  cmocka_unit_test(test_bad_networks), cmocka_unit_test(test_x_forwarded_for),
        cmocka_unit_test(test_forwarded), cmocka_unit_test(test_both),         cmocka_unit_test(test_version_1),
        cmocka_unit_test(test_version_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
