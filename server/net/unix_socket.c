/* unix_socket.c - see listen.h: Unix-domain sockets.
 *
 * The file of a socket remains when its server is killed; connecting to it then fails with ECONNREFUSED (unix(7)).
 * A file of a server that has ended is replaced. The folder is locked from this check until the new socket listens, so
 * that of two servers starting together the second one sees the socket of the first. */
#include "listen.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int open_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static void set_path(struct sockaddr_un *name, const char *path)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(name->sun_path, sizeof name->sun_path, "%s", path);
}

/* True if the file is a socket on which no process listens. False: errno describes the obstacle. */
static bool is_stale(const struct sockaddr_un *name)
{
    struct stat file;
    int         probe = open_socket();
    if (probe < 0) return false;
    bool answered = connect(probe, (const struct sockaddr *)name, sizeof *name) == 0 || errno != ECONNREFUSED;
    close(probe);
    errno = EADDRINUSE;
    if (answered || lstat(name->sun_path, &file) != 0) return false;
    return S_ISSOCK(file.st_mode);
}

/* Opens the folder of a path and locks it against other servers; -1 with errno. */
static int lock_folder(const char *path)
{
    char        folder[sizeof(struct sockaddr_un)];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX) == 0) return fd;
    close(fd);
    return -1;
}

/* Binds the socket to its path and listens. The permissions never exceed `mode`: Linux creates the file with the
 * permissions of the unbound socket, less the umask. */
static bool bind_path(int fd, const struct sockaddr_un *name, mode_t mode)
{
    if (fchmod(fd, mode) != 0) return false;
    bool bound = bind(fd, (const struct sockaddr *)name, sizeof *name) == 0;
    if (!bound && errno == EADDRINUSE && is_stale(name))
        bound = unlink(name->sun_path) == 0 && bind(fd, (const struct sockaddr *)name, sizeof *name) == 0;
    return bound && chmod(name->sun_path, mode) == 0 && listen(fd, SOMAXCONN) == 0;
}

int srv_unix_listen(srv_listener *listener, mode_t mode, char *error, size_t error_size)
{
    const char        *path = listener->address.path;
    struct sockaddr_un name;
    set_path(&name, path);
    int  folder = lock_folder(path), fd = folder < 0 ? -1 : open_socket();
    bool ok      = fd >= 0 && bind_path(fd, &name, mode) && lstat(path, &listener->file) == 0;
    int  problem = errno;
    if (folder >= 0) close(folder);
    if (ok) return fd;
    if (fd >= 0) close(fd);
    snprintf(error, error_size, "cannot listen on unix:%s: %s", path,
             problem == EADDRINUSE ? "another program listens there, or the file is not a socket" : strerror(problem));
    return -1;
}

/* True if the file at the path is still the socket of this process. */
static bool has_own_socket(const srv_listener *listener)
{
    struct stat now;
    const char *path = listener->address.path;
    return *path && lstat(path, &now) == 0 && now.st_dev == listener->file.st_dev &&
           now.st_ino == listener->file.st_ino;
}

void srv_listener_set_mode(const srv_listener *listener, mode_t mode)
{
    if (has_own_socket(listener)) (void)!chmod(listener->address.path, mode);
}

void srv_listener_unlink(const srv_listener *listener)
{
    if (has_own_socket(listener)) unlink(listener->address.path);
}
