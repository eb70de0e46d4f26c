/* connection.c - see connection.h. */
#include "connection.h"
#include "api/metrics.h"
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

/* ns after which a connection counts as silent: while the server waits for the client's request (sender_patience), and
 * while it waits for the client to read the response (reader_patience). */
static const uint64_t sender_patience = 50000000, reader_patience = 1000000000;

static void append_to_list(srv_connections *all, srv_connection *c, srv_phase phase)
{
    c->phase                                                 = phase;
    c->since                                                 = all->now;
    c->next                                                  = NULL;
    c->previous                                              = all->last[phase];
    *(c->previous ? &c->previous->next : &all->first[phase]) = c;
    all->last[phase]                                         = c;
    all->n_closing += phase == SRV_CLOSING;
}

static void remove_from_list(srv_connections *all, srv_connection *c)
{
    *(c->previous ? &c->previous->next : &all->first[c->phase]) = c->next;
    *(c->next ? &c->next->previous : &all->last[c->phase])      = c->previous;
    all->n_closing -= c->phase == SRV_CLOSING;
}

/* True if the socket's own address is a loopback address: ::1, or 127.0.0.0/8, also mapped to IPv6. */
static bool is_on_loopback(int fd)
{
    union {
        struct sockaddr     any;
        struct sockaddr_in  ipv4;
        struct sockaddr_in6 ipv6;
    } own          = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t size = sizeof own;
    if (getsockname(fd, &own.any, &size) != 0) return true; /* unknown: the stricter rule applies */
    if (own.any.sa_family == AF_INET) return ntohl(own.ipv4.sin_addr.s_addr) >> 24 == 127;
    if (own.any.sa_family != AF_INET6) return false;
    const struct in6_addr *address = &own.ipv6.sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(address) || (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

srv_connection *srv_connection_open(srv_connections *all, int fd)
{
    srv_connection *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->fd          = fd;
    c->on_loopback = is_on_loopback(fd);
    append_to_list(all, c, SRV_ARRIVED);
    all->count++;
    return c;
}

void srv_connection_close(srv_connections *all, srv_connection *c)
{
    remove_from_list(all, c);
    all->count--;
    free(c);
}

void srv_connection_enter(srv_connections *all, srv_connection *c, srv_phase phase)
{
    if (c->phase == SRV_CLOSING) return;
    bool waits = phase == SRV_ARRIVED || phase == SRV_READING || phase == SRV_IDLE;
    remove_from_list(all, c);
    append_to_list(all, c, c->client_closed && waits ? SRV_CLIENT_CLOSED : phase);
}

void srv_connection_note_client_closed(srv_connections *all, srv_connection *c)
{
    c->client_closed = true;
    srv_connection_enter(all, c, c->phase);
}

void srv_connection_shut(srv_connections *all, srv_connection *c)
{
    srv_connection_enter(all, c, SRV_CLOSING);
    shutdown(c->fd, SHUT_RDWR);
}

uint64_t srv_connection_deadline(const srv_connections *all, const srv_connection *c)
{
    uint64_t time_limit = all->time_limit[c->phase];
    return time_limit == SRV_NEVER ? SRV_NEVER : c->since + time_limit;
}

uint64_t srv_connections_next(const srv_connections *all)
{
    uint64_t next = SRV_NEVER;
    for (srv_phase phase = 0; phase < SRV_PHASES; phase++) {
        uint64_t end = all->first[phase] ? srv_connection_deadline(all, all->first[phase]) : SRV_NEVER;
        if (end < next) next = end;
    }
    return next;
}

/* True if the socket has unread input: a request that arrived just before the idle timeout must be served. */
static bool has_input(const srv_connection *c)
{
    char byte;
    return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* Shuts a connection whose client was too slow, and counts it unless it has ended anyway. */
static void shut_slow(srv_connections *all, srv_connection *c)
{
    static const int phases[SRV_PHASES] = {[SRV_ARRIVED] = 1 + API_PHASE_IDLE,
                                           [SRV_READING] = 1 + API_PHASE_REQUEST,
                                           [SRV_REFUSED] = 1 + API_PHASE_REQUEST,
                                           [SRV_WRITING] = 1 + API_PHASE_ANSWER,
                                           [SRV_IDLE]    = 1 + API_PHASE_IDLE};
    int              phase              = phases[c->phase];
    if (phase > 0) api_metric_add(API_METRIC_EXPIRED_CONNECTIONS, (api_label_values){{(unsigned)phase - 1}}, 1);
    if (c->phase == SRV_READING && !c->exchange && all->on_late_head) all->on_late_head(all->on_late_head_arg, c);
    srv_connection_shut(all, c);
}

void srv_connections_expire(srv_connections *all, uint64_t now)
{
    for (srv_phase phase = 0; phase < SRV_CLOSING; phase++) {
        srv_connection *c;
        while ((c = all->first[phase]) && srv_connection_deadline(all, c) <= now) {
            if ((phase == SRV_IDLE || phase == SRV_ARRIVED) && has_input(c))
                srv_connection_enter(all, c, SRV_READING);
            else
                shut_slow(all, c);
        }
    }
}

static size_t connections_of_client(const srv_connection *c)
{
    return c->is_counted ? atomic_load(&c->peer_account->connections) : 0;
}

/* True if the connection gives way to a new one before the other does: its client has more connections, or as many and
 * it has been silent for longer. */
static bool gives_way(const srv_connection *c, const srv_connection *other)
{
    if (!other) return true;
    size_t ours = connections_of_client(c), theirs = connections_of_client(other);
    return ours != theirs ? ours > theirs : c->since < other->since;
}

/* Returns the silent connection that gives way first. NULL: there is none, or a client with more
 * connections than the owners of all silent ones has one that is about to count as silent. */
static srv_connection *find_silent(const srv_connections *all, const srv_account *account, const srv_connection *spared)
{
    static const srv_phase silent[] = {SRV_ARRIVED, SRV_READING, SRV_IDLE, SRV_WRITING};
    srv_connection        *found    = NULL;
    size_t                 most     = 0;
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        uint64_t patience = silent[i] == SRV_WRITING ? reader_patience : sender_patience;
        for (srv_connection *c = all->first[silent[i]]; c; c = c->next) {
            bool is_silent = c->since + patience <= all->now;
            if (c == spared || (account && !(c->is_counted && c->peer_account == account))) continue;
            if (silent[i] != SRV_WRITING && connections_of_client(c) > most) most = connections_of_client(c);
            if (is_silent && gives_way(c, found)) found = c;
        }
    }
    return found && connections_of_client(found) >= most ? found : NULL;
}

bool srv_connections_displace(srv_connections *all, const srv_account *account, const srv_connection *spared)
{
    srv_connection *c;
    while ((c = find_silent(all, account, spared)) && c->phase != SRV_READING && c->phase != SRV_WRITING &&
           has_input(c))
        srv_connection_enter(all, c, SRV_READING); /* the client is not silent any more: a request has arrived */
    if (!c) return false;
    if (c->is_counted) atomic_fetch_sub(&c->peer_account->connections, 1);
    c->is_counted = false;
    srv_connection_shut(all, c);
    api_metric_add(API_METRIC_DISPLACED, API_NO_LABELS, 1);
    return true;
}

void srv_connections_limit_idle(srv_connections *all, uint64_t grace)
{
    static const srv_phase quiet[] = {SRV_ARRIVED, SRV_IDLE};
    for (size_t i = 0; i < 2; i++) {
        all->time_limit[quiet[i]] = grace;
        for (srv_connection *c = all->first[quiet[i]]; c; c = c->next)
            c->since = srv_now();
    }
}
