/* log.h - write one line per event to standard error: text on a terminal, JSON otherwise.
 *
 *     srv_line line;
 *     srv_log_begin(&line, log, SRV_INFO, "listening");
 *     srv_log_text(&line, "address", address);
 *     srv_log_end(&line);
 *
 * A line is built on the caller's stack; an event below the log level is not formatted. A field that does not fit is
 * omitted, and the line says "truncated". A separate thread writes the lines within a few milliseconds, whole lines
 * in every write(2). Callers never wait for the reader of the log: lines that do not fit the buffer are lost, and a
 * later line reports their number. Lines about changes wait in a queue of their own, which is written first, to the
 * same descriptor or to a file of its own (server/audit): they are lost only if the descriptor has no reader any more.
 */
#pragma once
#include "config.h"
#include "server/audit/audit_file.h"
#include "server/audit/refusals.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { SRV_LOG_CAPACITY = 256 * 1024 };

typedef struct srv_log {
    _Atomic srv_level level;
    atomic_bool       json;
    _Atomic size_t    sample;   /* one of this many routine requests gets a line */
    _Atomic uint64_t  slow_ns;  /* ns; a request that takes this long is not routine */
    _Atomic size_t    refusals; /* lines per second for refused requests of one client and status */
    srv_refusals     *refused;
    atomic_bool       has_refusals; /* true: refusals without a line may be due for a report */

    srv_audit_queue         audit;
    srv_audit_file *_Atomic audit_file; /* NULL: the writer thread writes the audit lines, too */
    srv_line_writer         out;

    _Atomic uint64_t routine; /* routine requests so far */
    _Atomic uint64_t omitted; /* requests without a line since the last one with a line */

    pthread_mutex_t  mutex;
    pthread_cond_t   not_empty; /* signalled when lines are pending or the log closes */
    char            *pending;   /* [SRV_LOG_CAPACITY] lines to be written */
    char            *writing;   /* [SRV_LOG_CAPACITY] lines that the writer thread is writing */
    size_t           length;    /* bytes in `pending` */
    uint64_t         lost;      /* lines lost since the last one accepted */
    bool             closing;
    _Atomic uint64_t audit_end;  /* ns; time at which the writer thread discards the audit lines that are left */
    size_t           audit_lost; /* audit lines whose reader was gone, or did not take them before the end */
    pthread_t        writer;
} srv_log;

typedef struct srv_line {
    srv_log *log; /* NULL: the event is below the log level */
    bool     json;
    size_t   length;
    bool     truncated;
    char     text[SRV_LINE_SIZE];
} srv_line;

bool srv_log_open(srv_log *log, const srv_config *config, int fd); /* false: no memory or no thread */
void srv_log_set(srv_log *log, const srv_config *config);          /* takes new settings, from any thread */

/* Writes the audit lines to a file of their own from now on, see audit_file.h. srv_log_close_audit waits until they are
 * written, for at most 5 s; those that are left go where the other lines go. */
bool srv_log_open_audit(srv_log *log, const char *path, srv_audit_fault *fault, void *arg, char *error,
                        size_t error_size);
void srv_log_reopen_audit(srv_log *log); /* opens the file anew, if there is one */
void srv_log_close_audit(srv_log *log);

/* Writes pending lines, for at most 1 s, and audit lines for at most 5 s. Returns the number of audit lines lost. */
size_t srv_log_close(srv_log *log);

void srv_log_begin(srv_line *line, srv_log *log, srv_level level, const char *event);
void srv_log_text(srv_line *line, const char *name, const char *value); /* `value` NULL: omits the field */
void srv_log_count(srv_line *line, const char *name, uint64_t value);
void srv_log_ms(srv_line *line, const char *name, uint64_t ns); /* written in ms with three decimals */
void srv_log_end(srv_line *line);

/* Ends a line about a change. `reserved`: its place in the audit queue, which the log takes. */
void srv_log_end_audit(srv_line *line, srv_audit_line *reserved);

/* True if a request that was refused or has failed may have lines; `client` and `status` name the kind of which
 * `refusals` per second have. The log counts and reports the other requests. Lines below the log level need no call. */
bool srv_log_admits(srv_log *log, const char *client, unsigned status);

/* True if a request that took `ns` is to have a line. One in `sample` routine requests, which succeeded in less than
 * `slow_ns`, has a line. `omitted` receives the number of routine requests without a line since the last line. */
bool srv_log_samples(srv_log *log, bool succeeded, uint64_t ns, uint64_t *omitted);

/* Writes a line with one text field, "message". */
void srv_log_message(srv_log *log, srv_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Writes a text unchanged between the lines of the log, for a user at a terminal. The text must be shorter than a
 * line. */
void srv_log_plain(srv_log *log, const char *text);
