/* log.c - see log.h. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "log.h"
#include "api/metrics.h"
#include "server/work/clock.h"
#include "server/work/priority.h"
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAIL = 32 }; /* bytes kept free for `,"truncated":1}` and the newline */

static const char *name_of(srv_level level)
{
    static const char *const names[] = {"audit", "error", "warning", "info", "debug"};
    return names[level - SRV_AUDIT];
}

/* --- a line ----------------------------------------------------------------------------------------------------- */

/* Appends the text completely, or not at all and returns false. */
static bool put(srv_line *line, const char *text, size_t length)
{
    if (length > sizeof line->text - TAIL - line->length) return false;
    memcpy(line->text + line->length, text, length);
    line->length += length;
    return true;
}

static bool put_text(srv_line *line, const char *text)
{
    return put(line, text, strlen(text));
}

/* Appends text with JSON escapes, also in the text format: control characters of a client must not reach the
 * operator's terminal. Bytes beyond ASCII may be invalid UTF-8 and become '?'. */
static bool put_escaped(srv_line *line, const char *text, bool quoted)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        char   out[8];
        size_t n = 1;
        out[0]   = (char)*c;
        if (*c < 0x20 || *c == 0x7f)
            n = (size_t)snprintf(out, sizeof out, "\\u%04x", *c);
        else if (*c >= 0x80)
            out[0] = '?';
        else if (quoted && (*c == '"' || *c == '\\'))
            n = (size_t)snprintf(out, sizeof out, "\\%c", *c);
        if (!put(line, out, n)) return false;
    }
    return true;
}

/* Writes `value` in decimal with at least `width` digits; returns the end. */
static char *digits(char *to, uint64_t value, int width)
{
    char reversed[24];
    int  n = 0;
    do
        reversed[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0 || n < width);
    while (n > 0)
        *to++ = reversed[--n];
    return to;
}

/* Appends the current time in UTC, such as 2026-01-31T12:00:00.000Z. */
static bool put_time(srv_line *line)
{
    struct timespec now;
    struct tm       utc;
    char            text[40], *to = text;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    const int  part[]  = {utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec};
    const char after[] = "--T::.";
    for (int i = 0; i < 6; i++) {
        to    = digits(to, (uint64_t)part[i], 2);
        *to++ = after[i];
    }
    to    = digits(to, (uint64_t)now.tv_nsec / 1000000, 3);
    *to++ = 'Z';
    return put(line, text, (size_t)(to - text));
}

void srv_log_begin(srv_line *line, srv_log *log, srv_level level, const char *event)
{
    line->log       = level <= log->level ? log : NULL;
    line->length    = 0;
    line->truncated = false;
    if (!line->log) return;
    if (log->json) {
        put_text(line, "{\"time\":\"");
        put_time(line);
        put_text(line, "\",\"level\":\"");
        put_text(line, name_of(level));
        put_text(line, "\",\"event\":\"");
        put_text(line, event);
        put_text(line, "\"");
    } else {
        put_time(line);
        put_text(line, level < SRV_INFO ? " " : "");
        put_text(line, level < SRV_INFO ? name_of(level) : "");
        put_text(line, " ");
        put_text(line, event);
    }
}

static void put_field(srv_line *line, const char *name, const char *value, bool quoted)
{
    if (!line->log) return;
    bool        json   = line->log->json;
    size_t      before = line->length;
    const char *quote  = quoted && (json || !*value || strpbrk(value, " \t=\"\\")) ? "\"" : "";
    bool        fits   = json ? put_text(line, ",\"") && put_text(line, name) && put_text(line, "\":")
                              : put_text(line, " ") && put_text(line, name) && put_text(line, "=");
    fits               = fits && put_text(line, quote) && put_escaped(line, value, *quote) && put_text(line, quote);
    if (fits) return;
    line->length    = before;
    line->truncated = true;
}

void srv_log_text(srv_line *line, const char *name, const char *value)
{
    if (value) put_field(line, name, value, true);
}

void srv_log_count(srv_line *line, const char *name, uint64_t value)
{
    char text[24];
    if (!line->log) return;
    *digits(text, value, 1) = '\0';
    put_field(line, name, text, false);
}

void srv_log_ms(srv_line *line, const char *name, uint64_t ns)
{
    char     text[32], *to;
    uint64_t us = (ns + 500) / 1000;
    if (!line->log) return;
    to                            = digits(text, us / 1000, 1);
    *to                           = '.';
    *digits(to + 1, us % 1000, 3) = '\0';
    put_field(line, name, text, false);
}

/* `log` is that of the line. */
static void finish(const srv_log *log, srv_line *line)
{
    const char *end =
        log->json ? (line->truncated ? ",\"truncated\":1}\n" : "}\n") : (line->truncated ? " truncated=1\n" : "\n");
    size_t length = strlen(end);
    memcpy(line->text + line->length, end, length); /* it fits, because TAIL bytes were kept free */
    line->length += length;
}

/* --- lines on their way out -------------------------------------------------------------------------------------- */

/* Appends a line to the pending ones. False if there is no room. The caller holds the mutex. */
static bool enqueue(srv_log *log, const char *text, size_t length)
{
    if (length > SRV_LOG_CAPACITY - log->length) return false;
    if (log->length == 0) pthread_cond_signal(&log->not_empty);
    memcpy(log->pending + log->length, text, length);
    log->length += length;
    return true;
}

static void note_lost(srv_log *log, uint64_t lines)
{
    log->lost += lines;
    api_metric_add(API_METRIC_LOST_LINES, API_NO_LABELS, (int64_t)lines);
}

static bool enqueue_lost(srv_log *log)
{
    srv_line line;
    srv_log_begin(&line, log, SRV_ERROR, "lost");
    srv_log_count(&line, "lines", log->lost);
    finish(log, &line);
    return enqueue(log, line.text, line.length);
}

void srv_log_end(srv_line *line)
{
    srv_log *log = line->log;
    if (!log) return;
    finish(log, line);
    pthread_mutex_lock(&log->mutex);
    if (log->lost > 0 && enqueue_lost(log)) log->lost = 0;
    if (log->lost > 0 || !enqueue(log, line->text, line->length)) note_lost(log, 1);
    pthread_mutex_unlock(&log->mutex);
}

void srv_log_plain(srv_log *log, const char *text)
{
    pthread_mutex_lock(&log->mutex);
    enqueue(log, text, strlen(text));
    pthread_mutex_unlock(&log->mutex);
}

/* Waits until the log's file can be written. False if that does not happen before give_up_at. */
static bool wait_for_room(srv_log *log)
{
    struct pollfd room = {.fd = log->fd, .events = POLLOUT};
    while (poll(&room, 1, 100) == 0)
        if (srv_now() >= atomic_load(&log->give_up_at)) return false;
    return room.revents & POLLOUT;
}

/* Writes whole lines, at most PIPE_BUF bytes at a time. A pipe that polls writable has room for PIPE_BUF bytes, so
 * the write does not block unless other processes write too. Returns the bytes written. */
static size_t write_lines(srv_log *log, const char *text, size_t length)
{
    size_t done = 0;
    while (done < length) {
        size_t piece = length - done;
        if (piece > PIPE_BUF) {
            piece = PIPE_BUF;
            while (piece > 0 && text[done + piece - 1] != '\n')
                piece--;
        }
        if (!wait_for_room(log) || write(log->fd, text + done, piece) != (ssize_t)piece) break;
        done += piece;
    }
    return done;
}

static uint64_t count_lines(const char *text, size_t length)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

/* The writer thread. The pause lets lines accumulate: on a busy server the thread then wakes only some hundred times
 * per second. */
static void *write_all(void *argument)
{
    static const struct timespec pause = {.tv_nsec = 5000000};
    srv_log                     *log   = argument;
    srv_leave_real_time();
    pthread_mutex_lock(&log->mutex);
    for (;;) {
        while (log->length == 0 && !log->closing)
            pthread_cond_wait(&log->not_empty, &log->mutex);
        if (log->length == 0) break;
        char  *text   = log->pending;
        size_t length = log->length;
        bool   last   = log->closing;
        log->pending  = log->writing;
        log->writing  = text;
        log->length   = 0;
        pthread_mutex_unlock(&log->mutex);
        size_t done = write_lines(log, text, length);
        if (!last) nanosleep(&pause, NULL);
        pthread_mutex_lock(&log->mutex);
        note_lost(log, count_lines(text + done, length - done));
    }
    pthread_mutex_unlock(&log->mutex);
    return NULL;
}

/* Starts the writer thread with all signals blocked: main waits for them. */
static bool start_writer(srv_log *log)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&log->writer, NULL, write_all, log) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) pthread_setname_np(log->writer, "torqued-log");
    return started;
}

bool srv_log_open(srv_log *log, const srv_config *config, int fd)
{
    bool json = config->log_format == SRV_LOG_AUTO ? !isatty(fd) : config->log_format == SRV_LOG_JSON;
    *log      = (srv_log){.level      = (srv_level)config->log_level,
                          .json       = json,
                          .fd         = fd,
                          .sample     = config->log_sample,
                          .slow_ns    = (uint64_t)(config->log_slow * 1e9),
                          .refusals   = config->log_refusals,
                          .give_up_at = SRV_NEVER};
    srv_mutex_init(&log->mutex);
    pthread_cond_init(&log->not_empty, NULL);
    log->pending = malloc(SRV_LOG_CAPACITY);
    log->writing = malloc(SRV_LOG_CAPACITY);
    if (log->pending && log->writing && start_writer(log)) return true;
    free(log->pending);
    free(log->writing);
    return false;
}

/* Reports the requests that were omitted after the last one with a line. */
static void end_sampling(srv_log *log)
{
    srv_line line;
    uint64_t omitted = atomic_exchange(&log->omitted, 0);
    if (omitted == 0) return;
    srv_log_begin(&line, log, SRV_INFO, "omitted");
    srv_log_count(&line, "requests", omitted);
    srv_log_end(&line);
}

void srv_log_close(srv_log *log)
{
    end_sampling(log);
    atomic_store(&log->give_up_at, srv_now() + 1000000000);
    pthread_mutex_lock(&log->mutex);
    log->closing = true;
    pthread_cond_signal(&log->not_empty);
    pthread_mutex_unlock(&log->mutex);
    pthread_join(log->writer, NULL);
    pthread_cond_destroy(&log->not_empty);
    pthread_mutex_destroy(&log->mutex);
    free(log->pending);
    free(log->writing);
}

static bool may_log_refusal(srv_log *log)
{
    pthread_mutex_lock(&log->mutex);
    bool may = srv_rate_take(&log->refused, (double)log->refusals, srv_now()) == 0;
    pthread_mutex_unlock(&log->mutex);
    return may;
}

bool srv_log_samples(srv_log *log, srv_outcome outcome, uint64_t ns, uint64_t *omitted)
{
    *omitted = 0;
    if (log->level < SRV_INFO) return false;
    bool routine = outcome == SRV_SUCCEEDED && ns < log->slow_ns && log->sample > 1;
    if ((routine && atomic_fetch_add(&log->routine, 1) % log->sample != 0) ||
        (outcome == SRV_OVERLOADED && !may_log_refusal(log))) {
        atomic_fetch_add(&log->omitted, 1);
        return false;
    }
    *omitted = atomic_exchange(&log->omitted, 0);
    return true;
}

void srv_log_message(srv_log *log, srv_level level, const char *event, const char *format, ...)
{
    if (level > log->level) return;
    char    message[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    srv_line line;
    srv_log_begin(&line, log, level, event);
    srv_log_text(&line, "message", message);
    srv_log_end(&line);
}
