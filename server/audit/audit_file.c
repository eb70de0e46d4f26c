/* audit_file.c - writes audit lines to a file or FIFO, and opens it again (audit_file.h). */
#define _GNU_SOURCE /* pthread_setname_np */
#include "audit_file.h"
#include "server/work/clock.h"
#include "server/work/priority.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MODE = 0640 };

static const uint64_t retry    = 200000000;  /* ns, between two attempts to write while the file takes no lines */
static const uint64_t patience = 2000000000; /* ns that a reader may be slow before a fault is reported */

struct srv_audit_file {
    srv_audit_queue *queue;
    const char      *path;
    srv_line_writer  writer; /* fd -1: the file is not open */
    srv_audit_fault *fault;
    void            *arg;
    bool             faulty; /* true: the fault was reported */
    uint64_t    taken; /* ns, time when the file last took a line, or when the line began to wait that is now first */
    atomic_bool reopens, closing;
    _Atomic uint64_t end; /* ns, time at which the thread discards the lines that are left */
    pthread_t        thread;
};

static bool is_file_or_fifo(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode));
}

/* Opens the file to append, or creates it. Never waits for the reader of a FIFO. Returns the descriptor, or -1 with
 * errno; EINVAL: it is neither a regular file nor a FIFO; ENXIO: a FIFO without a reader. */
static int open_audit_path(const char *path, int flags)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, FILE_MODE);
    if (fd < 0 || is_file_or_fifo(fd)) return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

static const char *explain_fault(int error)
{
    if (error == EINVAL || error == EISDIR) return "it is neither a regular file nor a FIFO";
    if (error == ENXIO) return "the FIFO has no reader";
    return error == ETIMEDOUT ? "its reader is too slow" : strerror(error);
}

static void report_fault(srv_audit_file *f, int error)
{
    uint64_t now = srv_now();
    if (error == 0) f->taken = now;
    if (error == ETIMEDOUT && now - f->taken < patience) return;
    if (error == 0 && f->faulty) f->fault(f->arg, NULL);
    if (error != 0 && !f->faulty) f->fault(f->arg, explain_fault(error));
    f->faulty = error != 0;
}

static void close_audit_path(srv_audit_file *f)
{
    if (f->writer.fd >= 0) close(f->writer.fd);
    f->writer.fd = -1;
}

/* Writes one line. A line that was begun in a file which takes no more is written anew where the file is opened next.
 * False: the file takes no lines; the reason was reported. */
static bool write_audit_line(srv_audit_file *f, const srv_audit_line *line, size_t *done)
{
    if (atomic_exchange(&f->reopens, false)) close_audit_path(f);
    if (f->writer.fd < 0) {
        *done        = 0;
        f->writer.fd = open_audit_path(f->path, O_CREAT);
    }
    atomic_store(&f->writer.give_up_at, srv_now() + retry);
    srv_written written = f->writer.fd < 0 ? SRV_BLOCKED : srv_write_lines(&f->writer, line->text, line->length, done);
    int         error   = written == SRV_WRITTEN ? 0 : errno;
    if (written == SRV_GONE) close_audit_path(f); /* a FIFO whose reader has gone */
    report_fault(f, error);
    return written == SRV_WRITTEN;
}

static void *write_audit_file(void *argument)
{
    static const struct timespec pause = {.tv_nsec = (long)retry};
    srv_audit_file              *f     = argument;
    size_t                       done  = 0;
    srv_leave_real_time();
    for (;;) {
        const srv_audit_line *line = srv_audit_first(f->queue);
        if (!line && atomic_load(&f->closing)) break;
        if (!line) {
            srv_audit_wait(f->queue, srv_now() + retry);
            f->taken = srv_now();
        } else if (write_audit_line(f, line, &done)) {
            srv_audit_remove(f->queue);
            done = 0;
        } else if (srv_now() < atomic_load(&f->end)) {
            nanosleep(&pause, NULL);
        } else {
            break;
        }
    }
    return NULL;
}

/* Starts the thread with all signals blocked: main waits for them. */
static bool start_audit_thread(srv_audit_file *f)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&f->thread, NULL, write_audit_file, f) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) pthread_setname_np(f->thread, "torqued-audit");
    return started;
}

static bool fail_to_append(const char *path, int reason, char *error, size_t error_size)
{
    snprintf(error, error_size, "cannot append to the file %.300s of --audit-log: %s", path, explain_fault(reason));
    return false;
}

srv_audit_file *srv_audit_file_open(srv_audit_queue *queue, const char *path, srv_audit_fault *fault, void *arg,
                                    char *error, size_t error_size)
{
    srv_audit_file *f = malloc(sizeof *f);
    if (!f) {
        snprintf(error, error_size, "no memory for the audit log");
        return NULL;
    }
    *f        = (srv_audit_file){.queue  = queue,
                                 .path   = path,
                                 .writer = {.fd = open_audit_path(path, O_CREAT)},
                                 .fault  = fault,
                                 .arg    = arg,
                                 .taken  = srv_now(),
                                 .end    = SRV_NEVER};
    bool good = f->writer.fd >= 0 || errno == ENXIO || fail_to_append(path, errno, error, error_size);
    if (good && start_audit_thread(f)) return f;
    if (good) snprintf(error, error_size, "no thread for the audit log");
    close_audit_path(f);
    free(f);
    return NULL;
}

void srv_audit_file_reopen(srv_audit_file *f)
{
    atomic_store(&f->reopens, true);
    srv_audit_wake(f->queue);
}

void srv_audit_file_close(srv_audit_file *f, uint64_t end)
{
    if (!f) return;
    atomic_store(&f->end, end);
    atomic_store(&f->closing, true);
    srv_audit_wake(f->queue);
    pthread_join(f->thread, NULL);
    close_audit_path(f);
    free(f);
}

/* The file is not opened: a reader of the FIFO would see the end of its input when it is closed again. */
bool srv_audit_file_check(const char *path, char *error, size_t error_size)
{
    char        folder[4096];
    struct stat status;
    if (stat(path, &status) == 0) {
        if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
            return fail_to_append(path, EINVAL, error, error_size);
        return access(path, W_OK) == 0 || fail_to_append(path, errno, error, error_size);
    }
    if (errno != ENOENT) return fail_to_append(path, errno, error, error_size);
    snprintf(folder, sizeof folder, "%s", path);
    return access(dirname(folder), W_OK | X_OK) == 0 || fail_to_append(path, errno, error, error_size);
}
