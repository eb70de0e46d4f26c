/* listen.h - the listening sockets: TCP (listen.c) and sockets in the file system (unix_socket.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { SRV_LISTEN_MOST = 8, SRV_LOOPS_MOST = 64 };

typedef struct srv_address {
    char host[256]; /* without brackets */
    char port[6];
    char path[108]; /* "unix:PATH": then host and port are empty */
} srv_address;

/* An address and its open sockets, one for each loop. */
typedef struct srv_listener {
    srv_address address;
    char        bound[300]; /* as text, with the port in use */
    int         sockets[SRV_LOOPS_MOST];
    struct stat file; /* of a socket in the file system: which one is ours */
} srv_listener;

/* Splits "127.0.0.1:8088", "[::1]:8088", "localhost:0", "unix:/run/torqued.socket"; false for anything else. */
bool srv_address_parse(const char *text, srv_address *address);

/* Addresses with commas between; their number, or 0 when one of them is none or they are too many. */
size_t srv_addresses_parse(const char *list, srv_address addresses[SRV_LISTEN_MOST]);

/* Opens `n` non-blocking listening sockets on listener->address. False: nothing is open, `error` says why.
 *
 * TCP: the address is first bound exclusively, since a second server must fail, not share the port. Only n > 1 then
 * uses SO_REUSEPORT, by which the kernel spreads connections over the sockets.
 *
 * A path: one socket with the permissions `mode`, duplicated n times; whoever comes first takes a connection. A socket
 * that nobody listens on any more is replaced; anything else of that name is left alone, and a failure. */
bool srv_listen(srv_listener *listener, size_t n, mode_t mode, char *error, size_t error_size);

/* Takes our socket out of the file system, so that a next server may have the path. (The sockets are the loops'.) */
void srv_listener_unlink(const srv_listener *listener);

/* What srv_listen does for a path: the socket, or -1 and a message. */
int srv_unix_listen(srv_listener *listener, mode_t mode, char *error, size_t error_size);
