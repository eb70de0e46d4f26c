/* probe.c - see probe.h. */
#include "probe.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define NAME ".probe"

/* Random bytes: a file of zeros may take no space on a file system that compresses. */
static void fill(unsigned char *bytes, size_t n)
{
    unsigned x = 1;
    for (size_t i = 0; i < n; i++) {
        x        = x * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(x >> 24);
    }
}

static bool write_bytes(int fd, size_t bytes)
{
    unsigned char block[SRV_PROBE_LEAST];
    fill(block, sizeof block);
    for (size_t left = bytes; left > 0;) {
        ssize_t n = write(fd, block, left < sizeof block ? left : sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        left -= (size_t)n;
    }
    return true;
}

bool srv_probe_folder(int folder, size_t bytes, bool sync)
{
    int fd = openat(folder, NAME, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bytes      = bytes < SRV_PROBE_LEAST ? SRV_PROBE_LEAST : bytes > SRV_PROBE_MOST ? SRV_PROBE_MOST : bytes;
    bool done  = write_bytes(fd, bytes) && (!sync || fsync(fd) == 0);
    int  error = errno;
    if (close(fd) != 0 && done) {
        done  = false;
        error = errno;
    }
    unlinkat(folder, NAME, 0);
    errno = error;
    return done;
}
