/* http_daemon.c - see http_daemon.h.
 *
 * Each connection has a srv_connection from accept to close. Each request has a srv_exchange, from the request line
 * (the only moment when libmicrohttpd gives the undecoded target) to the last byte of the answer. */
#include "http_daemon.h"
#include "client_account.h"
#include "client_rate_limits.h"
#include "exchange.h"
#include "disconnect.h"
#include "response.h"
#include "api/metrics.h"
#include <gnutls/abstract.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>

/* Bytes of libmicrohttpd's memory per connection. A request's head must fit into it. All of it is cleared for every
 * request, which costs time for small ones. The read buffer starts with half of it. An increment of this size never
 * fits, so for a body libmicrohttpd grows the buffer by an eighth of the free memory until 8 KB are left. Thus
 * libmicrohttpd reads 16 KB at a time, and large bodies arrive in half as many pieces. */
static const size_t connection_room = 24 * 1024;

static srv_connection *connection_of(struct MHD_Connection *mhd)
{
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* The client has closed its side. libmicrohttpd does not notice while the connection is suspended, or if the end
 * arrived together with other input (it uses edge-triggered epoll). */
static void on_disconnect(void *arg)
{
    srv_connection *connection = arg;
    srv_loop       *loop       = connection->loop;
    srv_connection_note_client_closed(&loop->connections, connection);
    if (connection->phase == SRV_WORKING) srv_exchange_cancel(connection->exchange);
    srv_loop_turn_soon(loop);
}

/* The session of a TLS connection; NULL: the connection is not encrypted. */
static gnutls_session_t session_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? info->tls_session : NULL;
}

/* A request has begun to arrive: its time limit replaces that of an idle connection. */
static void on_begun(srv_inflow *inflow)
{
    srv_connection *connection = (srv_connection *)((char *)inflow - offsetof(srv_connection, inflow));
    if (connection->phase != SRV_ARRIVED && connection->phase != SRV_IDLE) return;
    srv_connections_read_clock(&connection->loop->connections);
    srv_connection_enter(&connection->loop->connections, connection, SRV_READING);
}

/* There is no memory to read on: the client gets an answer, and libmicrohttpd then closes the connection. */
static void on_short_of_memory(srv_inflow *inflow)
{
    srv_connection *connection = (srv_connection *)((char *)inflow - offsetof(srv_connection, inflow));
    if (connection->exchange)
        srv_exchange_end_short(connection->exchange);
    else
        srv_response_send_shortage(connection->mhd, connection->loop->server->api, false);
    connection->needs_lingering_close = true;
}

/* Registers a new connection. A TLS session gets the newest certificates, which stay until the connection closes. Reads
 * the clock first, because the loop may have slept since its last turn. */
static srv_connection *open_connection(srv_loop *loop, struct MHD_Connection *mhd)
{
    int fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    srv_connections_read_clock(&loop->connections);
    srv_connection *connection = srv_connection_open(&loop->connections, fd);
    if (!connection) return NULL;
    if (!srv_receive_attach(fd, &connection->inflow)) {
        srv_connection_close(&loop->connections, connection);
        return NULL;
    }
    connection->loop         = loop;
    gnutls_session_t session = session_of(mhd);
    srv_peer_read(&connection->peer, fd, MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
    srv_connection_open_account(loop->server->accounts,
                                loop->scope == API_ALL_RESOURCES ? &loop->credentials->proxies : NULL, connection);
    srv_limit_connections(loop, connection);
    connection->tls                    = session;
    connection->mhd                    = mhd;
    connection->inflow.begun           = on_begun;
    connection->inflow.short_of_memory = on_short_of_memory;
    connection->inflow.encrypted       = session != NULL;
    if (session) connection->tls_credentials = srv_credentials_share(loop->credentials);
    if (session && !srv_tls_prepare(loop->credentials->tls, session))
        srv_connection_shut(&loop->connections, connection);
    connection->hangup = srv_disconnect_watch(&loop->uv, fd, on_disconnect, connection);
    return connection;
}

/* Answers a connection for which there is no memory, before it has sent a request. Without a srv_connection it has no
 * time limit, so it is shut down at once. */
static void refuse_connection(srv_loop *loop, struct MHD_Connection *mhd)
{
    if (!session_of(mhd)) srv_response_send_shortage(mhd, loop->server->api, false);
    shutdown(MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd, SHUT_RDWR);
}

static void close_connection(srv_loop *loop, srv_connection *connection)
{
    srv_disconnect_stop(connection->hangup);
    srv_receive_detach(connection->fd, &connection->inflow);
    if (connection->needs_lingering_close && !connection->client_closed && connection->phase != SRV_CLOSING)
        srv_lingering_close_begin(&loop->linger, &loop->uv, connection->fd);
    srv_credentials_release(connection->tls_credentials);
    srv_connection_close_accounts(loop->server->accounts, connection);
    srv_connection_close(&loop->connections, connection);
}

/* Adds `change` to the number of open connections, without those for probes. */
static void count_open(const srv_loop *loop, int change)
{
    if (loop->scope == API_ALL_RESOURCES) api_metric_add(API_METRIC_CONNECTIONS, API_NO_LABELS, change);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    srv_loop *loop = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        count_open(loop, 1);
        api_metric_add(API_METRIC_ACCEPTED, API_NO_LABELS, 1);
        *context = open_connection(loop, mhd);
        if (!*context) refuse_connection(loop, mhd);
    } else {
        if (*context) close_connection(loop, *context);
        *context = NULL;
        count_open(loop, -1);
    }
}

/* Counts a request of the connection. False if it is not one of those that server/framing has passed on: libmicrohttpd
 * has read two requests where the check saw one, or has not received through receive.c. */
static bool is_checked(srv_loop *loop, srv_connection *connection)
{
    if (++connection->requests <= connection->inflow.framing.messages) return true;
    srv_log_message(loop->server->log, SRV_ERROR, "unchecked-request",
                    "libmicrohttpd announced request %llu of a connection, of which %llu were checked; it is closed",
                    (unsigned long long)connection->requests, (unsigned long long)connection->inflow.framing.messages);
    return false;
}

/* Called when the request line is complete. The result becomes the request's context; if it is NULL, on_request
 * closes the connection. */
static void *on_target(void *cls, const char *target, struct MHD_Connection *mhd)
{
    srv_loop       *loop       = cls;
    srv_connection *connection = connection_of(mhd);
    if (!connection || !is_checked(loop, connection)) return NULL;
    srv_connections_read_clock(&loop->connections);
    srv_connection_enter(&loop->connections, connection, SRV_READING);
    srv_exchange *exchange = srv_exchange_open(loop, connection, mhd, target ? target : "");
    if (!exchange) {
        srv_response_send_shortage(mhd, loop->server->api, false);
        connection->needs_lingering_close = true;
    }
    return exchange;
}

/* Called when the headers are complete, then for every piece of the body, and when the body is complete. After a
 * suspension it is called with the complete body again. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
                                  const char *version, const char *data, size_t *size, void **context)
{
    (void)cls, (void)mhd, (void)url, (void)version;
    srv_exchange *exchange = *context;
    if (!exchange) return MHD_NO;
    if (!srv_exchange_begun(exchange)) return srv_exchange_begin(exchange, method);
    if (*size == 0) return srv_exchange_complete(exchange);
    size_t length = *size;
    *size         = 0;
    return srv_exchange_receive(exchange, data, length);
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode code)
{
    srv_loop       *loop       = cls;
    srv_connection *connection = connection_of(mhd);
    if (*context) srv_exchange_close(*context, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    *context = NULL;
    if (!connection) return;
    bool next = srv_inflow_is_midway(&connection->inflow);
    srv_connection_enter(&loop->connections, connection, next ? SRV_READING : SRV_IDLE);
}

/* Leaves percent-escapes in the path: route.c splits the path before decoding it. Decoded by libmicrohttpd, %00
 * would end the path and %2f would be a slash. */
static size_t keep_escapes(void *cls, struct MHD_Connection *mhd, char *text)
{
    (void)cls, (void)mhd;
    return strlen(text);
}

static void on_message(void *cls, const char *format, va_list list) __attribute__((format(printf, 2, 0)));
static void on_message(void *cls, const char *format, va_list list)
{
    srv_loop *loop = cls;
    char      text[512];
    vsnprintf(text, sizeof text, format, list);
    text[strcspn(text, "\n")] = '\0';
    srv_log_message(loop->server->log, SRV_DEBUG, "microhttpd", "%s", text);
}

/* libmicrohttpd does not start with TLS without a certificate or this function. The function is never called: every
 * session has credentials of its own (open_connection). */
static int find_no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int n,
                               const gnutls_pk_algorithm_t *algorithms, int n_algorithms, gnutls_pcert_st **certificate,
                               unsigned int *length, gnutls_privkey_t *key)
{
    (void)session, (void)authorities, (void)n, (void)algorithms, (void)n_algorithms;
    (void)certificate, (void)length, (void)key;
    return -1;
}

struct MHD_Daemon *srv_http_start(srv_loop *loop, srv_daemon daemon)
{
    const struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem tls[]   = {{MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)find_no_certificate},
                                           {MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_NO_LISTEN_SOCKET;
    /* The logger is the first option, so that it receives complaints about the others. Strictness 0: server/framing
     * has checked the request, and its refusals are problem documents. No timeout: connection.h has
     * absolute deadlines. No limit of connections: accept.h counts those of all loops. */
    return MHD_start_daemon(
        flags | (daemon == SRV_TLS ? MHD_USE_TLS : 0), 0, NULL, NULL, on_request, loop, MHD_OPTION_EXTERNAL_LOGGER,
        on_message, loop, MHD_OPTION_NOTIFY_CONNECTION, on_connection, loop, MHD_OPTION_URI_LOG_CALLBACK, on_target,
        loop, MHD_OPTION_NOTIFY_COMPLETED, on_completed, loop, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_CONNECTION_LIMIT, UINT_MAX, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_room, MHD_OPTION_CONNECTION_MEMORY_INCREMENT, connection_room,
        MHD_OPTION_ARRAY, daemon == SRV_TLS ? tls : plain, MHD_OPTION_END);
}
