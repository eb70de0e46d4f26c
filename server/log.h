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
 * later line reports their number. */
#pragma once
#include "config.h"
#include "server/work/rate.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { SRV_LOG_CAPACITY = 256 * 1024 };

typedef struct srv_log {
    srv_level level;
    bool      json;
    int       fd;
    size_t    sample;  /* one of so many routine requests has a line */
    uint64_t  slow_ns; /* a request that takes so long is no routine */

    size_t   refusals; /* lines per second for refused requests */
    srv_rate refused;  /* of these lines; guarded by the mutex */

    _Atomic uint64_t routine; /* routine requests so far */
    _Atomic uint64_t omitted; /* requests without a line since the last one with a line */

    pthread_mutex_t  mutex;
    pthread_cond_t   not_empty; /* signalled when lines are pending or the log closes */
    char            *pending;   /* [SRV_LOG_CAPACITY] lines to be written */
    char            *writing;   /* [SRV_LOG_CAPACITY] lines that the writer thread is writing */
    size_t           length;    /* bytes in `pending` */
    uint64_t         lost;      /* lines lost since the last one accepted */
    bool             closing;
    _Atomic uint64_t give_up_at; /* ns; the writer does not wait for the reader beyond this time */
    pthread_t        writer;
} srv_log;

typedef struct srv_line {
    srv_log *log; /* NULL: the event is below the log level */
    size_t   length;
    bool     truncated;
    char     text[4000]; /* shorter than PIPE_BUF, so a pipe takes it in one piece */
} srv_line;

bool srv_log_open(srv_log *log, const srv_config *config, int fd); /* false: no memory or no thread */
void srv_log_close(srv_log *log);                                  /* writes pending lines, for at most 1 s */

void srv_log_begin(srv_line *line, srv_log *log, srv_level level, const char *event);
void srv_log_text(srv_line *line, const char *name, const char *value); /* `value` NULL: omits the field */
void srv_log_count(srv_line *line, const char *name, uint64_t value);
void srv_log_ms(srv_line *line, const char *name, uint64_t ns); /* written in ms with three decimals */
void srv_log_end(srv_line *line);

typedef enum srv_outcome { SRV_SUCCEEDED, SRV_FAILED, SRV_OVERLOADED /* refused with 429 or 503 */ } srv_outcome;

/* True if a request that took `ns` is to have a line. Of the routine ones, which succeeded in less than `slow_ns`, one
 * of `sample` has a line; of the refused ones, `refusals` per second. `omitted` receives the number of requests without
 * a line since the last one with a line. */
bool srv_log_samples(srv_log *log, srv_outcome outcome, uint64_t ns, uint64_t *omitted);

/* Writes a line with one text field, "message". */
void srv_log_message(srv_log *log, srv_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Writes a text unchanged between the lines of the log, for a user at a terminal. The text must be shorter than a
 * line. */
void srv_log_plain(srv_log *log, const char *text);
