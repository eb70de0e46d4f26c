/* proxy_header.h - read the header of the PROXY protocol, versions 1 and 2, by which a proxy on the level of TCP names
 * the client of a connection (haproxy.org, The PROXY protocol). The header precedes all other bytes, also those of TLS.
 */
#pragma once
#include "accept.h"
#include <sys/socket.h>

enum { SRV_PROXY_HEADER = 1024 }; /* bytes of the longest header that is accepted */

typedef struct srv_proxy_header {
    unsigned char bytes[SRV_PROXY_HEADER];
    size_t        length; /* bytes received */
} srv_proxy_header;

/* Returns the number of bytes to receive next, so that nothing behind the header is received: 0 if the header is
 * complete, -1 if it is malformed. */
int srv_proxy_header_missing(const srv_proxy_header *header);

/* Reads the client's address from a complete header. False: the proxy speaks for itself (LOCAL, UNKNOWN). */
bool srv_proxy_header_source(const srv_proxy_header *header, struct sockaddr_storage *client, socklen_t *size);

/* Receives the header of an accepted connection, then hands the connection to libmicrohttpd with the client's address.
 * Closes the socket if the header is malformed or does not arrive before the read deadline. `peer` is the proxy. */
void srv_proxy_header_begin(struct srv_loop *loop, int fd, srv_daemon daemon, const struct sockaddr_storage *peer);

void srv_proxy_headers_end_all(struct srv_loop *loop); /* closes the connections whose header has not arrived */
