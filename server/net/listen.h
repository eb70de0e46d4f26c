/* listen.h - open listening sockets: TCP (listen.c) and Unix-domain sockets (unix_socket.c). */
#pragma once
#include "server/handover/inherited.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { SRV_LISTEN_MOST = 8, SRV_LOOPS_MOST = 64, SRV_SOCKETS_MOST = 256 };

typedef struct srv_address {
    char host[256]; /* without brackets */
    char port[6];
    char path[108]; /* path in "unix:PATH"; then host and port are empty */
    bool proxy;     /* HOST:PORT+proxy: connections begin with the header of the PROXY protocol */
    bool plain;     /* HOST:PORT+plain: without TLS, also if the server has a certificate */
} srv_address;

/* An address and its open listening sockets, one or more for each loop: loop i of n has numbers i, i + n, ... */
typedef struct srv_listener {
    srv_address address;
    const char *setting;      /* "--listen" or "--health-listen", for messages */
    bool        is_reachable; /* other machines can connect: it is no loopback address and no Unix-domain socket */
    char        bound[300];   /* the address as text, with the actual port */
    int         sockets[SRV_SOCKETS_MOST];
    size_t      n_sockets;
    char        name[SRV_INHERITED_NAME]; /* name of sockets that systemd keeps open; "": they are our own */
    struct stat file; /* identity of the file of a Unix-domain socket that this process created or took over */
} srv_listener;

/* All listeners of the server. */
typedef struct srv_listeners {
    srv_listener listener[SRV_LISTEN_MOST];
    size_t       n;
    size_t       loops;      /* number of loops that share the sockets */
    bool         for_probes; /* addresses of --health-listen */
    bool has_certificate; /* true: the server has a certificate, and all listeners speak TLS except Unix-domain sockets
                             and `plain` ones */
} srv_listeners;

static inline bool srv_listener_uses_tls(const srv_listeners *all, size_t i)
{
    const srv_address *address = &all->listener[i].address;
    return all->has_certificate && !*address->path && !address->plain;
}

/* Parses an address such as "127.0.0.1:8088", "[::1]:8088", "localhost:0" or "unix:/run/torqued.socket". False if
 * malformed. */
bool srv_address_parse(const char *text, srv_address *address);

/* Parses addresses separated by commas. Returns their number; 0 if one is malformed or there are too many. */
size_t srv_addresses_parse(const char *list, srv_address addresses[SRV_LISTEN_MOST]);

/* Opens `n` non-blocking listening sockets on listener->address. False: nothing is open, and `error` has the reason.
 *
 * TCP: the address is first bound exclusively, so that a second server fails instead of sharing the port. If n > 1,
 * the sockets then use SO_REUSEPORT, and the kernel distributes connections over them.
 *
 * Unix domain: one socket with the permissions `mode`, duplicated n times; every loop accepts from it. A socket file
 * that no process listens on is replaced. Any other file of that name is an error and stays. */
bool srv_listen(srv_listener *listener, size_t n, mode_t mode, char *error, size_t error_size);

/* Takes the sockets of listener->address that were passed on to this process, for `n` loops; if there are fewer, loops
 * share them. No socket is closed: its queue may have connections. *taken is false if there is none: nothing is open
 * then. False with a message. */
bool srv_listen_inherited(srv_listener *listener, size_t n, srv_inherited *inherited, bool *taken, char *error,
                          size_t error_size);

/* Changes the permissions of the listener's Unix-domain socket, which are those of its file. Does nothing for TCP. */
void srv_listener_set_mode(const srv_listener *listener, mode_t mode);

/* Finds, without listening, whether other machines can reach listener->address, and writes its text to `bound`. False
 * with a message: its name has no address. */
bool srv_listener_resolve(srv_listener *listener, char *error, size_t error_size);

/* Deletes the file of the listener's Unix-domain socket, so that the next server can use the path. Does nothing for
 * TCP. (The loops own the sockets.) */
void srv_listener_unlink(const srv_listener *listener);

/* Opens the Unix-domain socket of srv_listen. Returns its descriptor, or -1 with a message. */
int srv_unix_listen(srv_listener *listener, mode_t mode, char *error, size_t error_size);
