/* peer.h - describe who is at the other end of a connection: its address or, on a Unix-domain socket, its user. */
#pragma once
#include "server/access/networks.h"
#include <sys/types.h>

enum { SRV_PEER_GROUPS = 32, SRV_PEER_TEXT = 64 };

typedef struct srv_peer {
    char   text[SRV_PEER_TEXT]; /* text for the log: "192.0.2.7:40000", "[2001:db8::7]:40000" or "uid:1000" */
    bool   has_ip;              /* only then `ip` is valid */
    srv_ip ip;
    bool   is_user; /* the socket is a Unix-domain socket; only then the following fields are valid */
    uid_t  uid;
    size_t n_groups;
    gid_t  groups[SRV_PEER_GROUPS]; /* the primary group first; further groups of the user are left out */
} srv_peer;

/* Describes the peer with this address, or the user at the other end of the Unix-domain socket `fd`. */
void srv_peer_read(srv_peer *peer, int fd, const struct sockaddr *address);

/* Returns the bytes of the TCP connection `fd` that its peer has acknowledged (Linux 4.1); 0: not known. A Unix-domain
 * socket has no such number. */
uint64_t srv_peer_acknowledged(int fd);

/* True if the peer is one of the trusted proxies. */
bool srv_peer_is_in(const srv_peer *peer, const srv_networks *proxies);
