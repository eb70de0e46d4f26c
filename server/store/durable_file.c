/* durable_file.c - see durable_file.h. */
#include "durable_file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Closes fd and returns `ok`, or false if closing fails. Preserves the errno of an earlier failure. */
static bool close_file(int fd, bool ok)
{
    int error = errno;
    if (close(fd) == 0 || !ok)
        errno = error;
    else
        ok = false;
    return ok;
}

int srv_folder_open(int folder, const char *name)
{
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool sync_folder(const char *path)
{
    int fd = srv_folder_open(AT_FDCWD, path);
    return fd >= 0 && close_file(fd, fsync(fd) == 0);
}

/* Creates one folder and syncs the folder above it, which contains the new name. */
static bool make_folder(const char *path, const char *parent)
{
    if (mkdir(path, 0777) == 0) return sync_folder(parent);
    struct stat status;
    int         error  = errno;
    bool        exists = stat(path, &status) == 0;
    bool        ok     = exists && S_ISDIR(status.st_mode);
    errno              = exists ? ENOTDIR : error;
    return ok;
}

bool srv_folder_make(const char *path)
{
    char part[PATH_MAX], parent[PATH_MAX] = ".";
    if (strlen(path) >= sizeof part) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (size_t length = strspn(path, "/"); path[length]; length += strspn(path + length, "/")) {
        if (length > 0) snprintf(parent, sizeof parent, "%.*s", (int)length, path);
        length += strcspn(path + length, "/");
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        if (!make_folder(part, parent)) return false;
    }
    return true;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0) return false;
        bytes += n;
        length -= (size_t)n;
    }
    return true;
}

void srv_owner_take(int fd, int folder)
{
    struct stat made, above;
    int         error = errno;
    if (geteuid() != 0 || fstat(fd, &made) != 0 || fstat(folder, &above) != 0) return;
    if (!S_ISDIR(made.st_mode) && made.st_nlink != 1) return;
    if (fchown(fd, above.st_uid, above.st_gid) != 0) errno = error; /* the file stays root's */
}

bool srv_file_write(int folder, const char *name, const char *bytes, size_t length)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0) srv_owner_take(fd, folder);
    return fd >= 0 && close_file(fd, write_all(fd, bytes, length) && fsync(fd) == 0);
}

static char *read_all(int fd, size_t size, size_t *length)
{
    char   *bytes = malloc(size + 1);
    ssize_t n     = 1;
    for (*length = 0; bytes && n > 0 && *length < size; *length += (size_t)n) {
        n = read(fd, bytes + *length, size - *length);
        if (n >= 0) continue;
        free(bytes);
        return NULL;
    }
    if (bytes) bytes[*length] = '\0';
    return bytes;
}

char *srv_descriptor_read(int fd, size_t limit, size_t *length)
{
    struct stat status;
    if (fstat(fd, &status) != 0) return NULL;
    errno = S_ISREG(status.st_mode) ? EFBIG : S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    if (!S_ISREG(status.st_mode) || (size_t)status.st_size >= limit) return NULL;
    return read_all(fd, (size_t)status.st_size, length);
}

char *srv_file_read(int folder, const char *name, size_t limit, size_t *length)
{
    int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* O_NONBLOCK: opening a pipe must not block */
    if (fd < 0) return NULL;
    char *bytes = srv_descriptor_read(fd, limit, length);
    close_file(fd, false);
    return bytes;
}

char *srv_stream_read(FILE *stream, size_t limit, size_t *length)
{
    size_t room  = 0;
    char  *bytes = NULL;
    for (*length = 0; *length + 1 < limit && !feof(stream) && !ferror(stream);) {
        room         = room ? 2 * room : 65536;
        char *larger = realloc(bytes, room + 1);
        if (!larger) break;
        bytes = larger;
        *length += fread(bytes + *length, 1, room - *length, stream);
    }
    if (bytes && feof(stream) && *length < limit) {
        bytes[*length] = '\0';
        return bytes;
    }
    if (!ferror(stream)) errno = bytes && *length + 1 >= limit ? EFBIG : ENOMEM;
    free(bytes);
    return NULL;
}

char *srv_input_read(const char *name, size_t limit, size_t *length)
{
    bool  standard = strcmp(name, "-") == 0;
    FILE *stream   = standard ? stdin : fopen(name, "re");
    char *bytes    = stream ? srv_stream_read(stream, limit, length) : NULL;
    int   error    = errno;
    if (stream && !standard) fclose(stream);
    errno = error;
    return bytes;
}
