/* peer.c - see peer.h. */
#define _GNU_SOURCE /* struct ucred */
#include "peer.h"
#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59 /* Linux 4.13 */
#endif

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

void srv_peer_read(srv_peer *peer, int fd, const struct sockaddr *address)
{
    char host[SRV_IP_TEXT];
    *peer = (srv_peer){.text = ""};
    if (address->sa_family == AF_UNIX) read_user(peer, fd);
    if (!srv_ip_of(address, &peer->ip)) return;
    peer->has_ip  = true;
    uint16_t port = address->sa_family == AF_INET ? ((const struct sockaddr_in *)(const void *)address)->sin_port
                                                  : ((const struct sockaddr_in6 *)(const void *)address)->sin6_port;
    srv_ip_print(&peer->ip, host);
    snprintf(peer->text, sizeof peer->text, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, ntohs(port));
}

uint64_t srv_peer_acknowledged(int fd)
{
    struct tcp_info info = {.tcpi_bytes_acked = 0};
    socklen_t       size = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_acked : 0;
}

bool srv_peer_is_in(const srv_peer *peer, const srv_networks *proxies)
{
    return peer->is_user ? proxies->unix_sockets : peer->has_ip && srv_networks_contain(proxies, &peer->ip);
}
