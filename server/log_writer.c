/* log_writer.c - writes pending lines, audit lines and reports of refusals (log_writer.h). */
#define _GNU_SOURCE /* pthread_setname_np */
#include "log_writer.h"
#include "server/work/clock.h"
#include "server/work/priority.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PIECE = 4096 }; /* bytes of other lines between two checks for audit lines, rounded up to whole lines */

static uint64_t count_lines(const char *text, size_t length)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

static void lose_audit_line(srv_log *log)
{
    log->audit_lost++;
    pthread_mutex_lock(&log->mutex);
    srv_log_note_lost(log, 1);
    pthread_mutex_unlock(&log->mutex);
}

/* Writes the audit lines in the queue. False: the descriptor takes none now, and the rest stays in the queue, until
 * `audit_end`. Lines for a descriptor without a reader are lost. */
static bool write_audit(srv_log *log)
{
    const srv_audit_line *line;
    while (!log->audit_file && (line = srv_audit_first(&log->audit))) {
        size_t      done    = 0;
        srv_written written = srv_write_lines(&log->out, line->text, line->length, &done);
        if (written == SRV_BLOCKED && srv_now() < atomic_load(&log->audit_end)) return false;
        if (written != SRV_WRITTEN) lose_audit_line(log);
        srv_audit_remove(&log->audit);
    }
    return true;
}

/* Writes lines piece by piece, and audit lines before each piece. Returns the bytes written of the former. */
static size_t write_pieces(srv_log *log, const char *text, size_t length)
{
    size_t done = 0;
    while (done < length) {
        size_t end = done;
        (void)write_audit(log);
        for (const char *line = text + done; end < length && end - done < PIECE; line = text + end)
            end = (size_t)((const char *)memchr(line, '\n', length - end) - text) + 1;
        if (srv_write_lines(&log->out, text, end, &done) != SRV_WRITTEN) break;
    }
    return done;
}

void srv_log_report_refusals(void *arg, const srv_refusal *refusal, double seconds)
{
    srv_line line;
    char     message[300];
    snprintf(message, sizeof message, "%llu more like this from %s in %.1f s", (unsigned long long)refusal->omitted,
             refusal->client, seconds);
    srv_log_begin(&line, arg, SRV_AUDIT, "omitted-refusals");
    srv_log_text(&line, "from", refusal->client);
    srv_log_count(&line, "status", refusal->status);
    srv_log_count(&line, "requests", refusal->omitted);
    srv_log_ms(&line, "ms", (uint64_t)(seconds * 1e9));
    srv_log_text(&line, "message", message);
    srv_log_end(&line);
}

/* Waits for lines, for a second at most while refusals may be due for a report. The caller holds the mutex. */
static void wait_for_lines(srv_log *log, bool reviews)
{
    uint64_t              end  = srv_now() + (reviews ? 1000000000u : 3600000000000u);
    const struct timespec time = {.tv_sec = (time_t)(end / 1000000000), .tv_nsec = (long)(end % 1000000000)};
    pthread_cond_timedwait(&log->not_empty, &log->mutex, &time);
}

/* True if there is something to write. The caller holds the mutex. */
static bool has_lines(srv_log *log)
{
    return log->length > 0 || (!log->audit_file && srv_audit_first(&log->audit));
}

/* Writes the pending lines. The pause lets lines accumulate: on a busy server the thread then wakes only some hundred
 * times per second. The caller holds the mutex, which is released meanwhile. */
static void write_pending(srv_log *log)
{
    static const struct timespec pause = {.tv_nsec = 5000000}, long_pause = {.tv_nsec = 100000000};
    char                        *text   = log->pending;
    size_t                       length = log->length;
    bool                         last   = log->closing;
    log->pending                        = log->writing;
    log->writing                        = text;
    log->length                         = 0;
    pthread_mutex_unlock(&log->mutex);
    size_t done    = write_pieces(log, text, length);
    bool   audited = write_audit(log);
    if (!last) nanosleep(audited ? &pause : &long_pause, NULL);
    pthread_mutex_lock(&log->mutex);
    srv_log_note_lost(log, count_lines(text + done, length - done));
}

/* Reports refusals. The flag is cleared first: a refusal that comes meanwhile sets it again. */
static void review_refusals(srv_log *log, uint64_t now)
{
    atomic_store(&log->has_refusals, false);
    if (srv_refusals_review(log->refused, now, false, srv_log_report_refusals, log) > 0)
        atomic_store(&log->has_refusals, true);
}

/* The writer thread. */
static void *write_log(void *argument)
{
    srv_log *log      = argument;
    uint64_t reviewed = srv_now();
    srv_leave_real_time();
    pthread_mutex_lock(&log->mutex);
    for (;;) {
        uint64_t now = srv_now();
        if (now - reviewed >= 1000000000) {
            pthread_mutex_unlock(&log->mutex);
            review_refusals(log, now);
            pthread_mutex_lock(&log->mutex);
            reviewed = now;
        }
        if (has_lines(log))
            write_pending(log);
        else if (log->closing)
            break;
        else
            wait_for_lines(log, atomic_load(&log->has_refusals));
    }
    pthread_mutex_unlock(&log->mutex);
    return NULL;
}

/* Starts the writer thread with all signals blocked: main waits for them. */
bool srv_log_start_writer(srv_log *log)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&log->writer, NULL, write_log, log) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) pthread_setname_np(log->writer, "torqued-log");
    return started;
}
