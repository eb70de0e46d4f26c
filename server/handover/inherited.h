/* inherited.h - take the descriptors that systemd, or the server before this one, has passed on (sd_listen_fds(3)).
 *
 * $LISTEN_PID is this process, $LISTEN_FDS the number of descriptors from 3 on, $LISTEN_FDNAMES their names, separated
 * by colons. systemd passes the sockets of torqued.socket, under names of its own, and keeps them open itself. A server
 * that hands over to this one (successor.h) passes all its listening sockets: its own under SRV_OWN_SOCKET, those of
 * systemd under the names that these had; and three descriptors of the hand-over. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define SRV_OWN_SOCKET "torqued"

enum { SRV_INHERITED_MOST = 512, SRV_INHERITED_NAME = 64 };

/* Descriptors of a hand-over; see successor.h and server/store/handover_sync.h. */
typedef enum srv_handover_end {
    SRV_END_CONTROL,
    SRV_END_STORE_LINK,
    SRV_END_STORE_LOCK,
    SRV_HANDOVER_ENDS
} srv_handover_end;

extern const char *const srv_handover_names[SRV_HANDOVER_ENDS];

typedef struct srv_inherited_socket {
    int                     fd; /* -1: taken */
    char                    name[SRV_INHERITED_NAME];
    struct sockaddr_storage address;
    socklen_t               length;
} srv_inherited_socket;

typedef struct srv_inherited {
    srv_inherited_socket socket[SRV_INHERITED_MOST]; /* [n] listening stream sockets */
    size_t               n;
    int                  handover[SRV_HANDOVER_ENDS]; /* -1: none; without SRV_END_CONTROL this is no hand-over */
} srv_inherited;

/* Reads and removes the three variables. False with a message if a descriptor is missing or of another kind. */
bool srv_inherited_read(srv_inherited *inherited, char *error, size_t error_size);

/* Takes the sockets that are bound to an address: up to `most` descriptors into `sockets`. With
 * port 0 in `address`, takes the sockets of the first port that has not been taken yet. `name` receives the name of the
 * first socket. Returns the number of sockets. */
size_t srv_inherited_take(srv_inherited *inherited, const struct sockaddr *address, int sockets[], size_t most,
                          char name[SRV_INHERITED_NAME]);

/* True if all sockets are taken. False with a message that names the first socket that is not taken, whose
 * connections would wait for ever. */
bool srv_inherited_check_taken(const srv_inherited *inherited, char *error, size_t error_size);
