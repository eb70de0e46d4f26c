/* notify.h - tell systemd about the state of the service, by the protocol of sd_notify(3).
 *
 * The protocol is one datagram to the socket that $NOTIFY_SOCKET names, so that libsystemd is not needed. Without the
 * variable nothing is sent. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Sends assignments, separated by newlines, such as "READY=1". A message that cannot be sent is lost. */
void srv_notify(const char *state);

/* Returns the time, ns, within which systemd wants "WATCHDOG=1" again and again; 0: it does not watch this process. */
uint64_t srv_notify_watchdog(void);
