/* listen.c - see listen.h: parsing addresses, and TCP sockets. */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include "listen.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static bool parse_path(const char *path, srv_address *address)
{
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address->path) return false;
    memcpy(address->path, path, length + 1);
    return true;
}

/* Reads "+plain" and "+proxy", each at most once. */
static bool parse_options(const char *text, srv_address *address)
{
    static const char plain[] = "+plain", proxy[] = "+proxy";
    for (size_t length = sizeof plain - 1; *text; text += length) {
        bool *option = strncmp(text, plain, length) == 0   ? &address->plain
                       : strncmp(text, proxy, length) == 0 ? &address->proxy
                                                           : NULL;
        if (!option || *option) return false;
        *option = true;
    }
    return true;
}

/* Splits HOST:PORT at the last colon; an IPv6 address must be in brackets. */
static bool parse_host(const char *text, srv_address *address)
{
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text) return false;
    if (*text == '*') return false; /* refused, because the resolver would take * for the loopback address */
    const char *port   = colon + 1;
    size_t      length = (size_t)(colon - text), digits = strspn(port, "0123456789");
    if (text[0] == '[') {
        if (length < 3 || text[length - 1] != ']') return false;
        text++;
        length -= 2;
    } else if (memchr(text, ':', length)) {
        return false;
    }
    if (length >= sizeof address->host || digits == 0 || digits > 5 || atoi(port) > 65535) return false;
    if (!parse_options(port + digits, address)) return false;
    memcpy(address->host, text, length);
    memcpy(address->port, port, digits);
    return true;
}

bool srv_address_parse(const char *text, srv_address *address)
{
    static const char local[] = "unix:";
    *address                  = (srv_address){0};
    if (strncmp(text, local, sizeof local - 1) == 0) return parse_path(text + sizeof local - 1, address);
    return parse_host(text, address);
}

size_t srv_addresses_parse(const char *list, srv_address addresses[SRV_LISTEN_MOST])
{
    size_t n = 0;
    for (const char *p = list;; p++) {
        char   one[400];
        size_t length = strcspn(p, ",");
        if (n == SRV_LISTEN_MOST || length >= sizeof one) return 0;
        memcpy(one, p, length);
        one[length] = '\0';
        if (!srv_address_parse(one, &addresses[n++])) return 0;
        p += length;
        if (!*p) return n;
    }
}

/* Returns a socket bound to `where`; -1 with errno. */
static int bind_one(const struct addrinfo *where, bool shared)
{
    int fd = socket(where->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    const int on = 1, off = 0;
    /* allows a restart while old connections are in TIME_WAIT; a listener on the same port still makes bind fail */
    bool ok = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0;
    if (shared) ok = ok && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0;
    if (where->ai_family == AF_INET6) /* [::] accepts IPv4 as well */
        ok = ok && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0;
    if (ok && bind(fd, where->ai_addr, where->ai_addrlen) == 0) return fd;
    int problem = errno;
    close(fd);
    errno = problem;
    return -1;
}

/* Stores the port that the kernel chose in the address, so that the other sockets bind to it. */
static bool learn_port(int fd, struct addrinfo *where)
{
    return getsockname(fd, where->ai_addr, &where->ai_addrlen) == 0;
}

static bool listen_all(struct addrinfo *where, size_t n, int sockets[])
{
    int first = bind_one(where, false);
    if (first < 0) return false;
    if (listen(first, SOMAXCONN) < 0 || !learn_port(first, where)) {
        int problem = errno;
        close(first);
        errno = problem;
        return false;
    }
    sockets[0] = first;
    if (n == 1) return true;

    close(first); /* the port was free: open sockets that share it */
    for (size_t i = 0; i < n; i++) {
        sockets[i] = bind_one(where, true);
        if (sockets[i] >= 0 && listen(sockets[i], SOMAXCONN) == 0) continue;
        int problem = errno;
        for (size_t j = 0; j <= i; j++)
            if (sockets[j] >= 0) close(sockets[j]);
        errno = problem;
        return false;
    }
    return true;
}

static void print_address(const struct addrinfo *where, char *text, size_t size)
{
    char host[64] = "", port[8] = "";
    getnameinfo(where->ai_addr, where->ai_addrlen, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(text, size, where->ai_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

static bool is_loopback(const struct sockaddr *address)
{
    const struct in6_addr *ipv6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(ipv6) || (IN6_IS_ADDR_V4MAPPED(ipv6) && ipv6->s6_addr[12] == 127);
}

static void explain(const srv_listener *listener, char *error, size_t size)
{
    const srv_address *address = &listener->address;
    if (errno == EADDRINUSE)
        snprintf(error, size,
                 "port %s is taken: another program listens on %s; stop it, or choose another port with "
                 "%s HOST:PORT",
                 address->port, address->host, listener->setting);
    else
        snprintf(error, size, "cannot listen on %s port %s: %s; choose another address with %s HOST:PORT",
                 address->host, address->port, strerror(errno), listener->setting);
}

/* Finds the addresses of host and port; the first is used, which clients also try first. The caller frees them. NULL
 * with a message. */
static struct addrinfo *resolve_address(const srv_listener *listener, char *error, size_t error_size)
{
    const srv_address *address = &listener->address;
    struct addrinfo    hints   = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo   *found   = NULL;
    int                problem = getaddrinfo(address->host, address->port, &hints, &found);
    if (problem == 0) return found;
    snprintf(error, error_size, "%s names the host %.80s: %s", listener->setting, address->host, gai_strerror(problem));
    return NULL;
}

bool srv_listener_resolve(srv_listener *listener, char *error, size_t error_size)
{
    const srv_address *address = &listener->address;
    struct addrinfo   *found   = *address->path ? NULL : resolve_address(listener, error, error_size);
    if (!*address->path && !found) return false;
    listener->is_reachable = found && !is_loopback(found->ai_addr);
    if (*address->path)
        snprintf(listener->bound, sizeof listener->bound, "unix:%s", address->path);
    else
        snprintf(listener->bound, sizeof listener->bound, "%.250s:%.40s", address->host, address->port);
    if (found) freeaddrinfo(found);
    return true;
}

static bool listen_tcp(srv_listener *listener, size_t n, char *error, size_t error_size)
{
    struct addrinfo *found = resolve_address(listener, error, error_size);
    if (!found) return false;
    bool ok                = listen_all(found, n, listener->sockets);
    listener->is_reachable = !is_loopback(found->ai_addr);
    if (ok)
        print_address(found, listener->bound, sizeof listener->bound);
    else
        explain(listener, error, error_size);
    freeaddrinfo(found);
    return ok;
}

static bool listen_path(srv_listener *listener, size_t n, mode_t mode, char *error, size_t error_size)
{
    int *sockets = listener->sockets;
    sockets[0]   = srv_unix_listen(listener, mode, error, error_size);
    if (sockets[0] < 0) return false;
    snprintf(listener->bound, sizeof listener->bound, "unix:%s", listener->address.path);
    for (size_t i = 1; i < n; i++) {
        sockets[i] = fcntl(sockets[0], F_DUPFD_CLOEXEC, 0);
        if (sockets[i] >= 0) continue;
        snprintf(error, error_size, "cannot share unix:%s between %zu loops: %s", listener->address.path, n,
                 strerror(errno));
        srv_listener_unlink(listener);
        while (i-- > 0)
            close(sockets[i]);
        return false;
    }
    return true;
}

bool srv_listen(srv_listener *listener, size_t n, mode_t mode, char *error, size_t error_size)
{
    listener->n_sockets = n;
    if (*listener->address.path) return listen_path(listener, n, mode, error, error_size);
    return listen_tcp(listener, n, error, error_size);
}

/* --- sockets that were passed on ---------------------------------------------------------------------------------- */

/* Duplicates the first sockets until each of `n` loops has one. */
static bool share_sockets(srv_listener *listener, size_t n, char *error, size_t error_size)
{
    for (size_t first = listener->n_sockets; listener->n_sockets < n; listener->n_sockets++) {
        int copy = fcntl(listener->sockets[listener->n_sockets % first], F_DUPFD_CLOEXEC, 0);
        if (copy < 0) {
            snprintf(error, error_size, "cannot share %.200s between %zu loops: %s", listener->bound, n,
                     strerror(errno));
            return false;
        }
        listener->sockets[listener->n_sockets] = copy;
    }
    return true;
}

/* Takes the sockets that are bound to an address. The file of a Unix-domain socket belongs to this process unless
 * systemd keeps the socket. */
static void take_sockets(srv_listener *listener, srv_inherited *inherited, const struct sockaddr *address)
{
    char        name[SRV_INHERITED_NAME] = "";
    const char *path                     = listener->address.path;
    listener->n_sockets = srv_inherited_take(inherited, address, listener->sockets, SRV_SOCKETS_MOST, name);
    bool is_own         = strcmp(name, SRV_OWN_SOCKET) == 0;
    if (listener->n_sockets == 0) return;
    snprintf(listener->name, sizeof listener->name, "%s", is_own ? "" : *name ? name : "unnamed");
    if (*path && is_own && lstat(path, &listener->file) != 0) listener->file = (struct stat){0};
}

bool srv_listen_inherited(srv_listener *listener, size_t n, srv_inherited *inherited, bool *taken, char *error,
                          size_t error_size)
{
    const srv_address *address = &listener->address;
    if (*address->path) {
        struct sockaddr_un local = {.sun_family = AF_UNIX};
        snprintf(local.sun_path, sizeof local.sun_path, "%s", address->path);
        take_sockets(listener, inherited, (const struct sockaddr *)&local);
        snprintf(listener->bound, sizeof listener->bound, "unix:%s", address->path);
    } else {
        struct addrinfo *found = resolve_address(listener, error, error_size);
        if (!found) return false;
        take_sockets(listener, inherited, found->ai_addr);
        listener->is_reachable = !is_loopback(found->ai_addr);
        if (listener->n_sockets > 0 && learn_port(listener->sockets[0], found))
            print_address(found, listener->bound, sizeof listener->bound);
        freeaddrinfo(found);
    }
    *taken = listener->n_sockets > 0;
    return !*taken || share_sockets(listener, n, error, error_size);
}
