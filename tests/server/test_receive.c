/* test_receive.c - checks the bytes that recv and gnutls_record_recv return for attached sockets: the shapes of
 * tests/data/framing_shapes over a socket pair and over TLS, with buffers of several sizes. */
#include "tests/server/support/framing_shapes.h"
#include "server/net/receive.h"
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

enum { MOST = 400000 };

/* Holds one connection whose server end is attached. */
typedef struct channel {
    int              client, server;
    gnutls_session_t client_session, server_session; /* NULL: without TLS */
    srv_inflow       inflow;
    bool             ended; /* recv has returned 0 or an error */
} channel;

static char        received[MOST], expected[MOST];
static size_t      n_received;
static size_t      buffer_size;
static srv_framing checked;

static void open_channel(channel *c)
{
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    *c = (channel){.client = fd[0], .server = fd[1]};
    fcntl(c->server, F_SETFL, O_NONBLOCK);
    fcntl(c->client, F_SETFL, O_NONBLOCK);
    assert_true(srv_receive_attach(c->server, &c->inflow));
    n_received = 0;
}

static void close_channel(channel *c)
{
    srv_receive_detach(c->server, &c->inflow);
    assert_null(c->inflow.pending);
    if (c->client_session) {
        gnutls_deinit(c->client_session);
        gnutls_deinit(c->server_session);
    }
    close(c->client);
    close(c->server);
}

/* Reads as libmicrohttpd does with edge-triggered epoll: until a read is short (without TLS) or no bytes are left. */
static void read_all(channel *c)
{
    for (;;) {
        char   *to = received + n_received;
        ssize_t n  = c->server_session ? gnutls_record_recv(c->server_session, to, buffer_size)
                                       : recv(c->server, to, buffer_size, 0);
        if (n == (c->server_session ? GNUTLS_E_AGAIN : -1) && errno == EAGAIN) return;
        if (n <= 0) {
            c->ended = true;
            return;
        }
        n_received += (size_t)n;
        assert_true((size_t)n <= buffer_size && n_received + buffer_size <= MOST);
        if (!c->server_session && (size_t)n < buffer_size) return;
    }
}

/* Sends bytes, and reads whenever the socket is full. */
static void pass(channel *c, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = c->client_session ? gnutls_record_send(c->client_session, bytes, length)
                                      : send(c->client, bytes, length, MSG_NOSIGNAL);
        if (n > 0) {
            bytes += n;
            length -= (size_t)n;
        }
        size_t before = n_received;
        read_all(c);
        /* The server's end has read everything; if the client still cannot write, the connection has been refused. */
        if (n <= 0 && n_received == before) return;
    }
}

/* Checks the same bytes by srv_framing_check, without a socket. */
static size_t check_whole(const framing_shape *shape)
{
    static char data[MOST];
    memcpy(data, shape->bytes, shape->length);
    checked           = (srv_framing){0};
    srv_framed framed = srv_framing_check(&checked, data, 0, shape->length);
    memcpy(expected, data, framed.ready);
    if (checked.stage != SRV_MALFORMED) return framed.ready;
    memcpy(expected + framed.ready, checked.substitute, checked.substitute_length);
    return framed.ready + checked.substitute_length;
}

static void expect_received(const framing_shape *shape, const channel *c, const char *how)
{
    size_t length = check_whole(shape);
    if (n_received != length || memcmp(received, expected, length) != 0)
        fail_msg("%s %s, buffer of %zu: %zu bytes, expected %zu", shape->name, how, buffer_size, n_received, length);
    assert_int_equal(c->inflow.framing.messages, checked.messages);
    assert_true(srv_inflow_refuses(&c->inflow, 1) == (checked.stage == SRV_MALFORMED));
}

static void start_tls(channel *c);

static void pass_shape(const framing_shape *shape, bool tls)
{
    static const size_t sizes[] = {1, 7, 100, 4096, 16384};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t step = 1; step <= shape->length; step = step < 3 ? step + 1 : step * 7) {
            channel c;
            if ((tls || shape->length > 2000) && step < 20) continue;
            buffer_size = sizes[i];
            open_channel(&c);
            if (tls) start_tls(&c);
            for (size_t offset = 0; offset < shape->length; offset += step)
                pass(&c, shape->bytes + offset, step < shape->length - offset ? step : shape->length - offset);
            read_all(&c);
            expect_received(shape, &c, tls ? "over TLS" : "in pieces");
            close_channel(&c);
        }
    }
}

static void pass_plain(const framing_shape *shape)
{
    pass_shape(shape, false);
}

static void test_shapes(void **state)
{
    each_framing_shape(pass_plain);
}

/* --- TLS: anonymous, since certificates do not matter here ----------------------------------------------------------
 */

static gnutls_anon_server_credentials_t server_credentials;
static gnutls_anon_client_credentials_t client_credentials;

static gnutls_session_t make_session(unsigned flags, int fd, void *credentials)
{
    gnutls_session_t session;
    assert_int_equal(gnutls_init(&session, flags | GNUTLS_NONBLOCK), 0);
    assert_int_equal(gnutls_priority_set_direct(session, "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+ANON-ECDH", NULL), 0);
    assert_int_equal(gnutls_credentials_set(session, GNUTLS_CRD_ANON, credentials), 0);
    gnutls_transport_set_ptr(session, (gnutls_transport_ptr_t)(intptr_t)fd); /* passes the descriptor as libmicrohttpd
                                                                                does */
    return session;
}

static void start_tls(channel *c)
{
    c->inflow.encrypted = true;
    c->client_session   = make_session(GNUTLS_CLIENT, c->client, client_credentials);
    c->server_session   = make_session(GNUTLS_SERVER, c->server, server_credentials);
    for (int client = -1, server = -1; client != 0 || server != 0;) {
        if (client != 0) client = gnutls_handshake(c->client_session);
        if (server != 0) server = gnutls_handshake(c->server_session);
        assert_true((client == 0 || client == GNUTLS_E_AGAIN) && (server == 0 || server == GNUTLS_E_AGAIN));
    }
}

static void pass_tls(const framing_shape *shape)
{
    if (shape->length < 20000) pass_shape(shape, true);
}

static void test_shapes_over_tls(void **state)
{
    gnutls_anon_allocate_server_credentials(&server_credentials);
    gnutls_anon_allocate_client_credentials(&client_credentials);
    each_framing_shape(pass_tls);
    gnutls_anon_free_server_credentials(server_credentials);
    gnutls_anon_free_client_credentials(client_credentials);
}

/* --- single rules ---------------------------------------------------------------------------------------------------
 */

static void send_text(const channel *c, const char *text)
{
    assert_int_equal(send(c->client, text, strlen(text), 0), strlen(text));
}

static void test_a_socket_that_is_not_attached(void **state)
{
    channel c;
    char    byte[8];
    open_channel(&c);
    srv_receive_detach(c.server, &c.inflow);
    send_text(&c, "\n\n");
    assert_int_equal(recv(c.server, byte, 1, MSG_PEEK), 1);
    assert_int_equal(recv(c.server, byte, sizeof byte, 0), 2);
    assert_int_equal(recv(c.server, byte, sizeof byte, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(recv(-1, byte, 1, 0), -1);
    close_channel(&c);
}

static void test_peeked_bytes_are_not_passed_on(void **state)
{
    channel c;
    char    bytes[64];
    open_channel(&c);
    send_text(&c, "GET /livez");
    assert_int_equal(recv(c.server, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT), 10);
    assert_int_equal(recv(c.server, bytes, sizeof bytes, 0), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(c.inflow.held, 10);
    close_channel(&c);
}

static void test_the_end_of_the_input(void **state)
{
    static const char *const inputs[] = {"", "GET /li", "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
                                         "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        channel c;
        buffer_size = 16384;
        open_channel(&c);
        send_text(&c, inputs[i]);
        shutdown(c.client, SHUT_WR);
        read_all(&c);
        read_all(&c);
        assert_true(c.ended);
        assert_int_equal(n_received, i < 2 ? 0 : strlen(inputs[i]));
        close_channel(&c);
    }
}

static unsigned n_begun;

static void count_begun(srv_inflow *inflow)
{
    (void)inflow;
    n_begun++;
}

static void test_the_start_of_a_request(void **state)
{
    channel c;
    buffer_size = 16384;
    n_begun     = 0;
    open_channel(&c);
    c.inflow.begun = count_begun;
    assert_false(srv_inflow_is_midway(&c.inflow));
    pass(&c, "G", 1);
    assert_int_equal(n_begun, 1);
    assert_true(srv_inflow_is_midway(&c.inflow));
    pass(&c, "ET /livez HTTP/1.1\r\nHost: a\r\n\r\n", 31);
    assert_int_equal(n_begun, 1);
    assert_false(srv_inflow_is_midway(&c.inflow));
    pass(&c, "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", 48);
    assert_int_equal(n_begun, 2);
    assert_true(srv_inflow_is_midway(&c.inflow));
    close_channel(&c);
}

static int end_thread(void **state)
{
    srv_receive_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_shapes_over_tls),
        cmocka_unit_test(test_a_socket_that_is_not_attached),
        cmocka_unit_test(test_peeked_bytes_are_not_passed_on),
        cmocka_unit_test(test_the_end_of_the_input),
        cmocka_unit_test(test_the_start_of_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, end_thread);
}
