/* log.c - composes the lines of the log and queues them (log.h). */
#include "log_writer.h"
#include "api/metrics.h"
#include "server/work/clock.h"
#include "server/work/priority.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAIL = 32 }; /* bytes kept free for `,"truncated":1}` and the newline */

/* ns; longest waits of srv_log_close for the reader of pending lines, and for that of audit lines */
static const uint64_t patience = 1000000000, audit_patience = 5000000000;

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
    line->json = log->json;
    if (line->json) {
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
    bool        json   = line->json;
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

static void finish(srv_line *line)
{
    const char *end =
        line->json ? (line->truncated ? ",\"truncated\":1}\n" : "}\n") : (line->truncated ? " truncated=1\n" : "\n");
    size_t length = strlen(end);
    memcpy(line->text + line->length, end, length); /* TAIL bytes were kept free for this */
    line->length += length;
}

/* --- lines on their way out -------------------------------------------------------------------------------------- */

/* Appends a line to the pending ones. False if it does not fit. The caller holds the mutex. */
static bool enqueue(srv_log *log, const char *text, size_t length)
{
    if (length > SRV_LOG_CAPACITY - log->length) return false;
    if (log->length == 0) pthread_cond_signal(&log->not_empty);
    memcpy(log->pending + log->length, text, length);
    log->length += length;
    return true;
}

void srv_log_note_lost(srv_log *log, uint64_t lines)
{
    log->lost += lines;
    api_metric_add(API_METRIC_LOST_LINES, API_NO_LABELS, (int64_t)lines);
}

static bool enqueue_lost(srv_log *log)
{
    srv_line line;
    srv_log_begin(&line, log, SRV_ERROR, "lost");
    srv_log_count(&line, "lines", log->lost);
    finish(&line);
    return enqueue(log, line.text, line.length);
}

void srv_log_end(srv_line *line)
{
    srv_log *log = line->log;
    if (!log) return;
    finish(line);
    pthread_mutex_lock(&log->mutex);
    if (log->lost > 0 && enqueue_lost(log)) log->lost = 0;
    if (log->lost > 0 || !enqueue(log, line->text, line->length)) srv_log_note_lost(log, 1);
    pthread_mutex_unlock(&log->mutex);
}

void srv_log_end_audit(srv_line *line, srv_audit_line *reserved)
{
    srv_log *log = line->log; /* lines of this level are below no log level */
    finish(line);
    memcpy(reserved->text, line->text, line->length);
    reserved->length = line->length;
    srv_audit_append(&log->audit, reserved);
}

void srv_log_plain(srv_log *log, const char *text)
{
    pthread_mutex_lock(&log->mutex);
    enqueue(log, text, strlen(text));
    pthread_mutex_unlock(&log->mutex);
}

void srv_log_set(srv_log *log, const srv_config *config)
{
    atomic_store(&log->level, (srv_level)config->log_level);
    atomic_store(&log->json,
                 config->log_format == SRV_LOG_AUTO ? !isatty(log->out.fd) : config->log_format == SRV_LOG_JSON);
    atomic_store(&log->sample, config->log_sample);
    atomic_store(&log->slow_ns, (uint64_t)(config->log_slow * 1e9));
    atomic_store(&log->refusals, config->log_refusals);
}

/* Wakes the writer thread for an audit line. */
static void on_audit_line(void *argument)
{
    srv_log *log = argument;
    if (log->audit_file) return;
    pthread_mutex_lock(&log->mutex);
    pthread_cond_signal(&log->not_empty);
    pthread_mutex_unlock(&log->mutex);
}

static void destroy_log(srv_log *log)
{
    pthread_cond_destroy(&log->not_empty);
    pthread_mutex_destroy(&log->mutex);
    srv_refusals_close(log->refused);
    free(log->pending);
    free(log->writing);
}

bool srv_log_open(srv_log *log, const srv_config *config, int fd)
{
    pthread_condattr_t attributes;
    *log = (srv_log){.out = {.fd = fd, .give_up_at = SRV_NEVER}, .audit_end = SRV_NEVER};
    srv_log_set(log, config);
    srv_mutex_init(&log->mutex);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* steps of the wall clock must not matter */
    pthread_cond_init(&log->not_empty, &attributes);
    pthread_condattr_destroy(&attributes);
    log->pending = malloc(SRV_LOG_CAPACITY);
    log->writing = malloc(SRV_LOG_CAPACITY);
    log->refused = srv_refusals_open();
    bool queue   = srv_audit_open(&log->audit);
    if (log->pending && log->writing && log->refused && queue && srv_log_start_writer(log)) {
        log->audit.arg  = log;
        log->audit.wake = on_audit_line;
        return true;
    }
    if (queue) srv_audit_close(&log->audit);
    destroy_log(log);
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

bool srv_log_open_audit(srv_log *log, const char *path, srv_audit_fault *fault, void *arg, char *error,
                        size_t error_size)
{
    srv_audit_file *file = srv_audit_file_open(&log->audit, path, fault, arg, error, error_size);
    atomic_store(&log->audit_file, file);
    return file != NULL;
}

void srv_log_reopen_audit(srv_log *log)
{
    if (log->audit_file) srv_audit_file_reopen(log->audit_file);
}

void srv_log_close_audit(srv_log *log)
{
    srv_audit_file_close(log->audit_file, srv_now() + audit_patience);
    atomic_store(&log->audit_file, NULL);
}

size_t srv_log_close(srv_log *log)
{
    uint64_t now = srv_now();
    end_sampling(log);
    srv_refusals_review(log->refused, now, true, srv_log_report_refusals, log);
    srv_log_close_audit(log);
    atomic_store(&log->out.give_up_at, now + patience);
    atomic_store(&log->audit_end, now + audit_patience);
    pthread_mutex_lock(&log->mutex);
    log->closing = true;
    pthread_cond_signal(&log->not_empty);
    pthread_mutex_unlock(&log->mutex);
    pthread_join(log->writer, NULL);
    size_t left = srv_audit_close(&log->audit) + log->audit_lost;
    destroy_log(log);
    return left;
}

bool srv_log_admits(srv_log *log, const char *client, unsigned status)
{
    atomic_store(&log->has_refusals, true);
    return srv_refusals_admit(log->refused, client, status, (double)atomic_load(&log->refusals), srv_now());
}

bool srv_log_samples(srv_log *log, bool succeeded, uint64_t ns, uint64_t *omitted)
{
    *omitted = 0;
    if (log->level < SRV_INFO) return false;
    size_t sample  = atomic_load(&log->sample);
    bool   routine = succeeded && ns < atomic_load(&log->slow_ns) && sample > 1;
    if (routine && atomic_fetch_add(&log->routine, 1) % sample != 0) {
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
