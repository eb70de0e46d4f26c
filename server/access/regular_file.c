/* regular_file.c - opens files without waiting for a writer, and refuses other kinds of files (regular_file.h). */
#include "regular_file.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_of_file(mode_t mode)
{
    if (S_ISDIR(mode)) return "it is a folder";
    if (S_ISFIFO(mode)) return "it is a FIFO";
    return S_ISSOCK(mode) ? "it is a socket" : "it is a device";
}

static FILE *open_file(const char *path, bool trusted, char *reason, size_t size)
{
    struct stat status;
    FILE       *file = NULL;
    int         fd   = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool        good = fd >= 0 && fstat(fd, &status) == 0;
    if (!good)
        snprintf(reason, size, "%s", errno == ENXIO ? "it is a socket; expected a regular file" : strerror(errno));
    else if (!S_ISREG(status.st_mode))
        snprintf(reason, size, "%s; expected a regular file", kind_of_file(status.st_mode));
    else if (trusted && status.st_mode & S_IWOTH)
        snprintf(reason, size, "it must be a file that only its owner or group can write (chmod o-w)");
    else if (!(file = fdopen(fd, "r")))
        snprintf(reason, size, "%s", strerror(errno));
    if (fd >= 0 && !file) close(fd);
    return file;
}

FILE *srv_regular_file_open(const char *path, char *reason, size_t size)
{
    return open_file(path, false, reason, size);
}

FILE *srv_trusted_file_open(const char *path, char *reason, size_t size)
{
    return open_file(path, true, reason, size);
}
