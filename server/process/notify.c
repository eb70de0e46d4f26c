/* notify.c - see notify.h. */
#include "notify.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void srv_notify(const char *state)
{
    const char        *path    = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t             length  = path ? strlen(path) : 0;
    if (length < 2 || length >= sizeof address.sun_path) return;
    memcpy(address.sun_path, path, length);
    if (*path == '@') address.sun_path[0] = '\0'; /* a name in the abstract namespace */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    (void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(fd);
}

static unsigned long long number_in(const char *variable)
{
    const char        *text   = getenv(variable);
    char              *end    = NULL;
    unsigned long long number = text ? strtoull(text, &end, 10) : 0;
    return end && end != text && *end == '\0' ? number : 0;
}

uint64_t srv_notify_watchdog(void)
{
    const unsigned long long most    = 1000000000000; /* us; the product with 1000 must fit */
    unsigned long long       us      = number_in("WATCHDOG_USEC");
    unsigned long long       process = number_in("WATCHDOG_PID");
    if (getenv("WATCHDOG_PID") && process != (unsigned long long)getpid()) return 0;
    return 1000 * (us < most ? us : most);
}
