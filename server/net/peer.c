/* peer.c - see peer.h. */
#define _GNU_SOURCE /* struct ucred */
#include "peer.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59 /* Linux 4.13 */
#endif

typedef union address {
    struct sockaddr     any;
    struct sockaddr_in  ipv4;
    struct sockaddr_in6 ipv6;
} address;

/* Reads the user of the process that connected, and its groups (unix(7)). */
static void read_user(srv_peer *peer, int fd)
{
    struct ucred user;
    socklen_t    size = sizeof user, groups = sizeof peer->groups - sizeof *peer->groups;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &size) != 0) return;
    peer->is_user   = true;
    peer->uid       = user.uid;
    peer->groups[0] = user.gid;
    peer->n_groups  = 1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, peer->groups + 1, &groups) == 0)
        peer->n_groups += groups / sizeof *peer->groups;
    snprintf(peer->text, sizeof peer->text, "uid:%u", (unsigned)user.uid);
}

/* IPv4 addresses mapped to IPv6 are written as IPv4. */
static void print_ipv6(const struct sockaddr_in6 *from, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "";
    bool mapped                 = IN6_IS_ADDR_V4MAPPED(&from->sin6_addr);
    if (mapped)
        inet_ntop(AF_INET, from->sin6_addr.s6_addr + 12, host, sizeof host);
    else
        inet_ntop(AF_INET6, &from->sin6_addr, host, sizeof host);
    snprintf(text, size, mapped ? "%s:%u" : "[%s]:%u", host, ntohs(from->sin6_port));
}

void srv_peer_read(srv_peer *peer, int fd)
{
    address   from                  = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t size                  = sizeof from;
    char      host[INET_ADDRSTRLEN] = "";
    *peer                           = (srv_peer){.text = ""};
    if (getpeername(fd, &from.any, &size) != 0) return;
    if (from.any.sa_family == AF_UNIX) read_user(peer, fd);
    if (from.any.sa_family == AF_INET6) print_ipv6(&from.ipv6, peer->text, sizeof peer->text);
    if (from.any.sa_family != AF_INET) return;
    inet_ntop(AF_INET, &from.ipv4.sin_addr, host, sizeof host);
    snprintf(peer->text, sizeof peer->text, "%s:%u", host, ntohs(from.ipv4.sin_port));
}
