/* log.h - one line per event on standard error: text on a terminal, JSON otherwise.
 *
 *     srv_line line;
 *     srv_log_begin(&line, log, SRV_INFO, "listening");
 *     srv_log_text(&line, "address", address);
 *     srv_log_end(&line);
 *
 * A line is built on the caller's stack; below the level nothing is formatted. Fields that do not fit are left out, and
 * the line says so. A thread of the log's own writes the lines, many at a time, within some milliseconds, whole lines
 * in every write(2). Nobody waits for whoever reads them: lines for which there is no room are lost, and a later one
 * says how many. */
#pragma once
#include "config.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { SRV_LOG_CAPACITY = 256 * 1024 };

typedef struct srv_log {
    srv_level level;
    bool      json;
    int       fd;

    pthread_mutex_t  mutex;
    pthread_cond_t   not_empty; /* lines wait, or the log closes */
    char            *pending;   /* [SRV_LOG_CAPACITY] bytes of lines */
    char            *writing;   /* [SRV_LOG_CAPACITY] the writer's */
    size_t           length;    /* of what waits */
    uint64_t         lost;      /* lines since the last that was kept */
    bool             closing;
    _Atomic uint64_t give_up_at; /* until then the writer waits for whoever reads */
    pthread_t        writer;
} srv_log;

typedef struct srv_line {
    srv_log *log; /* NULL: below the level */
    size_t   length;
    bool     truncated;
    char     text[4000]; /* within PIPE_BUF: written to a pipe in one piece */
} srv_line;

bool srv_log_open(srv_log *log, const srv_config *config, int fd); /* false: no memory or thread */
void srv_log_close(srv_log *log);                                  /* writes what waits, for a second at most */

void srv_log_begin(srv_line *line, srv_log *log, srv_level level, const char *event);
void srv_log_text(srv_line *line, const char *name, const char *value); /* NULL value: no field */
void srv_log_count(srv_line *line, const char *name, uint64_t value);
void srv_log_ms(srv_line *line, const char *name, uint64_t ns); /* as milliseconds, three decimals */
void srv_log_end(srv_line *line);

/* A whole line of one event with one text field "message". */
void srv_log_message(srv_log *log, srv_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A text as it is, in its place between the lines, for someone at a terminal: shorter than a line may be. */
void srv_log_plain(srv_log *log, const char *text);
