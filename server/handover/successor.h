/* successor.h - hand over to a new process of the program, such as a newer version, without refusing a connection.
 *
 * The server starts the program anew with its own arguments and environment, and passes its listening sockets on by
 * $LISTEN_FDS (inherited.h). The sockets stay open all the time, and so do their queues: closing one of several
 * SO_REUSEPORT sockets would reset the connections in its queue. Both ends of a pair of sockets then exchange:
 *
 *     successor    LOADED      its models are loaded
 *     server       GO          all changes of models so far are known to the successor
 *     successor    ACCEPTING   it accepts connections
 *
 * After that the server stops accepting, answers the requests of its connections, and ends. If the successor ends
 * before, or is too slow, nothing changes. For systemd (Type=notify) the server names the process number of the
 * successor as MAINPID, which only the present main process may do. SCM_RIGHTS over a socket in the file system would
 * need its path and permissions, and a process that another service starts, in another control group. */
#pragma once
#include "inherited.h"
#include <stdint.h>
#include <sys/types.h>

typedef struct srv_successor {
    pid_t    process; /* 0: none */
    int      control; /* this process's end of the socket pair with the successor; -1: none */
    uint64_t end;     /* ns, the time by which the successor must accept */
} srv_successor;

typedef enum srv_handover_event {
    SRV_HANDOVER_NOTHING,
    SRV_HANDOVER_LOADED,
    SRV_HANDOVER_ACCEPTING,
    SRV_HANDOVER_FAILED /* the successor has ended, or was ended because its time is over */
} srv_handover_event;

/* A descriptor that is passed on, and its name. */
typedef struct srv_passed {
    int         fd;
    const char *name;
} srv_passed;

/* Remembers the path of the program, which a newer version may replace, and its arguments. Call at the start. */
void srv_successor_remember(char **arguments);

/* Starts the program with these descriptors, [n], and an end of the control link. False with errno. */
bool srv_successor_start(srv_successor *successor, const srv_passed *passed, size_t n);

/* Returns the next event of the hand-over, without waiting. */
srv_handover_event srv_successor_look(srv_successor *successor);
void               srv_successor_go(const srv_successor *successor);
void               srv_successor_stop(srv_successor *successor); /* ends the process, if there is one */

/* In the successor: tells the server, and waits for its answer. False: there is none, so that changes of models that it
 * has acknowledged meanwhile are not known here. */
bool srv_predecessor_tell_loaded(int control);
void srv_predecessor_tell_accepting(int control);
