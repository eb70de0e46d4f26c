/* inherited.c - reads the variables of socket activation and finds the sockets of an address among the descriptors. */
#include "inherited.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST = 3 }; /* SD_LISTEN_FDS_START */

const char *const srv_handover_names[SRV_HANDOVER_ENDS] = {[SRV_END_CONTROL]    = "torqued.control",
                                                           [SRV_END_STORE_LINK] = "torqued.twin",
                                                           [SRV_END_STORE_LOCK] = "torqued.lock"};

/* Number in a variable; -1: absent or no number. */
static long read_variable(const char *name)
{
    const char *text = getenv(name);
    char       *end  = NULL;
    long        n    = text && *text ? strtol(text, &end, 10) : -1;
    return end && *end == '\0' ? n : -1;
}

/* Copies the next name of $LISTEN_FDNAMES. */
static void take_name(const char **names, char name[SRV_INHERITED_NAME])
{
    size_t length = *names ? strcspn(*names, ":") : 0;
    snprintf(name, SRV_INHERITED_NAME, "%.*s", (int)(length < SRV_INHERITED_NAME ? length : SRV_INHERITED_NAME - 1),
             *names ? *names : "");
    if (*names) *names = (*names)[length] ? *names + length + 1 : NULL;
}

static bool is_listening_stream(int fd)
{
    int       listens = 0, type = 0;
    socklen_t size = sizeof listens;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/* Enters a descriptor by its name. False with a message. */
static bool enter_descriptor(srv_inherited *all, int fd, const char *name, char *error, size_t size)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        snprintf(error, size, "LISTEN_FDS passes descriptor %d (%s), which is not open", fd, name);
        return false;
    }
    for (int i = 0; i < SRV_HANDOVER_ENDS; i++)
        if (strcmp(name, srv_handover_names[i]) == 0) {
            all->handover[i] = fd;
            return true;
        }
    srv_inherited_socket *s = &all->socket[all->n];
    *s                      = (srv_inherited_socket){.fd = fd, .length = sizeof s->address};
    memcpy(s->name, name, strlen(name) + 1);
    bool listens = is_listening_stream(fd) && getsockname(fd, (struct sockaddr *)&s->address, &s->length) == 0 &&
                   fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
    all->n += listens;
    if (!listens)
        snprintf(error, size,
                 "LISTEN_FDS passes descriptor %d (%s), which is no listening stream socket; a .socket unit needs "
                 "ListenStream= and Accept=no",
                 fd, name);
    return listens;
}

static bool enter_all(srv_inherited *all, long n, const char *names, char *error, size_t size)
{
    char name[SRV_INHERITED_NAME];
    if (n > SRV_INHERITED_MOST) {
        snprintf(error, size, "LISTEN_FDS passes %ld descriptors; at most %d are taken", n, SRV_INHERITED_MOST);
        return false;
    }
    for (int i = 0; i < n; i++) {
        take_name(&names, name);
        if (!enter_descriptor(all, FIRST + i, name, error, size)) return false;
    }
    return true;
}

bool srv_inherited_read(srv_inherited *all, char *error, size_t size)
{
    long        process = read_variable("LISTEN_PID"), n = read_variable("LISTEN_FDS");
    const char *names = getenv("LISTEN_FDNAMES");
    char       *copy  = names ? strdup(names) : NULL;
    all->n            = 0;
    for (int i = 0; i < SRV_HANDOVER_ENDS; i++)
        all->handover[i] = -1;
    bool ours = process == (long)getpid() && n > 0;
    bool good = !ours || enter_all(all, n, copy, error, size);
    free(copy);
    unsetenv("LISTEN_PID"); /* processes that this one starts inherit no descriptors */
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return good;
}

/* --- by address --------------------------------------------------------------------------------------------------- */

static unsigned port_of(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) return ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
    if (address->sa_family == AF_INET6) return ntohs(((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
    return 0;
}

static bool is_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family) return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
    if (a->sa_family == AF_INET6)
        return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
                      &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
    return a->sa_family == AF_UNIX && strcmp(((const struct sockaddr_un *)(const void *)a)->sun_path,
                                             ((const struct sockaddr_un *)(const void *)b)->sun_path) == 0;
}

size_t srv_inherited_take(srv_inherited *all, const struct sockaddr *address, int sockets[], size_t most,
                          char name[SRV_INHERITED_NAME])
{
    size_t   n    = 0;
    unsigned port = port_of(address);
    for (size_t i = 0; i < all->n && n < most; i++) {
        srv_inherited_socket  *s     = &all->socket[i];
        const struct sockaddr *bound = (const struct sockaddr *)&s->address;
        if (s->fd < 0 || !is_same_host(bound, address) || (port > 0 && port_of(bound) != port)) continue;
        if (n == 0) memcpy(name, s->name, sizeof s->name);
        port         = port_of(bound);
        sockets[n++] = s->fd;
        s->fd        = -1;
    }
    return n;
}

static void print_bound(const srv_inherited_socket *s, char *text, size_t size)
{
    char                   host[64] = "", port[8] = "";
    const struct sockaddr *address = (const struct sockaddr *)&s->address;
    if (address->sa_family == AF_UNIX) {
        snprintf(text, size, "unix:%s", ((const struct sockaddr_un *)(const void *)address)->sun_path);
        return;
    }
    getnameinfo(address, s->length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(text, size, address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

bool srv_inherited_check_taken(const srv_inherited *all, char *error, size_t size)
{
    char text[200];
    for (size_t i = 0; i < all->n; i++) {
        if (all->socket[i].fd < 0) continue;
        print_bound(&all->socket[i], text, sizeof text);
        snprintf(
            error, size,
            "the socket %s that is passed on (%s) is in no address of --listen; add it there, or remove it from the "
            ".socket unit",
            text, *all->socket[i].name ? all->socket[i].name : "without a name");
        return false;
    }
    return true;
}
