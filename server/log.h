/* log.h - one line per event on standard error: text on a terminal, JSON otherwise.
 *
 *     srv_line line;
 *     srv_log_begin(&line, log, SRV_INFO, "listening");
 *     srv_log_text(&line, "address", address);
 *     srv_log_end(&line);
 *
 * A line is built on the caller's stack and written with one write(2), so that lines of several threads do not mix.
 * Below the level nothing is formatted. Fields that do not fit are left out, and the line says so. Nobody waits for
 * whoever reads the log: lines for which there is no room are lost, and a later line says how many. */
#pragma once
#include "config.h"
#include <pthread.h>
#include <stdint.h>

typedef struct srv_log {
    srv_level level;
    bool      json;
    int       fd;

    pthread_mutex_t writing;
    uint64_t        lost; /* lines since the last that was written */
} srv_log;

typedef struct srv_line {
    srv_log *log; /* NULL: below the level */
    size_t   length;
    bool     truncated;
    char     text[4000]; /* within PIPE_BUF: one write of a pipe's line is whole */
} srv_line;

void srv_log_open(srv_log *log, const srv_config *config, int fd);

void srv_log_begin(srv_line *line, srv_log *log, srv_level level, const char *event);
void srv_log_text(srv_line *line, const char *name, const char *value); /* NULL value: no field */
void srv_log_count(srv_line *line, const char *name, uint64_t value);
void srv_log_number(srv_line *line, const char *name, double value); /* three decimals */
void srv_log_end(srv_line *line);

/* A whole line of one event with one text field "message". */
void srv_log_message(srv_log *log, srv_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
