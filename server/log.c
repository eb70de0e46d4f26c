/* log.c - see log.h. */
#include "log.h"
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAIL = 32 }; /* kept free for `,"truncated":1}` and the newline */

static const char *const level_names[] = {"error", "warning", "info", "debug"};

void srv_log_open(srv_log *log, const srv_config *config, int fd)
{
    bool json = config->log_format == SRV_LOG_AUTO ? !isatty(fd) : config->log_format == SRV_LOG_JSON;
    *log      = (srv_log){.level = (srv_level)config->log_level, .json = json, .fd = fd};
    pthread_mutex_init(&log->writing, NULL);
}

/* All or nothing: a field that does not fit is taken back by its caller. */
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

/* JSON's escapes, in text too: no client writes control characters to the operator's terminal. Bytes beyond ASCII may
 * be no UTF-8, and become '?'. */
static bool put_escaped(srv_line *line, const char *text, bool json)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        char   out[8];
        size_t n = 1;
        out[0]   = (char)*c;
        if (*c < 0x20 || *c == 0x7f)
            n = (size_t)snprintf(out, sizeof out, "\\u%04x", *c);
        else if (*c >= 0x80)
            out[0] = '?';
        else if (json && (*c == '"' || *c == '\\'))
            n = (size_t)snprintf(out, sizeof out, "\\%c", *c);
        if (!put(line, out, n)) return false;
    }
    return true;
}

static bool put_time(srv_line *line)
{
    struct timespec now;
    struct tm       utc;
    char            text[40];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, sizeof text - length, ".%03dZ", (int)(now.tv_nsec / 1000000));
    return put_text(line, text);
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
        put_text(line, level_names[level]);
        put_text(line, "\",\"event\":\"");
        put_text(line, event);
        put_text(line, "\"");
    } else {
        put_time(line);
        put_text(line, level < SRV_INFO ? " " : "");
        put_text(line, level < SRV_INFO ? level_names[level] : "");
        put_text(line, " ");
        put_text(line, event);
    }
}

static void put_field(srv_line *line, const char *name, const char *value, bool quoted)
{
    if (!line->log) return;
    bool        json   = line->log->json;
    size_t      before = line->length;
    const char *quote  = !quoted ? "" : json ? "\"" : strpbrk(value, " \t=") || !*value ? "'" : "";
    bool        fits   = json ? put_text(line, ",\"") && put_text(line, name) && put_text(line, "\":")
                              : put_text(line, " ") && put_text(line, name) && put_text(line, "=");
    fits               = fits && put_text(line, quote) && put_escaped(line, value, json) && put_text(line, quote);
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
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    put_field(line, name, text, false);
}

void srv_log_number(srv_line *line, const char *name, double value)
{
    char text[340];
    if (!line->log) return;
    snprintf(text, sizeof text, "%.3f", value);
    put_field(line, name, text, false);
}

static void finish(srv_line *line)
{
    const char *end    = line->log->json ? (line->truncated ? ",\"truncated\":1}\n" : "}\n")
                                         : (line->truncated ? " truncated=1\n" : "\n");
    size_t      length = strlen(end);
    memcpy(line->text + line->length, end, length); /* TAIL keeps the room */
    line->length += length;
}

/* A pipe that polls writable has room for PIPE_BUF bytes: the write does not block as long as nobody else writes. */
static bool write_now(const srv_line *line)
{
    struct pollfd room = {.fd = line->log->fd, .events = POLLOUT};
    if (poll(&room, 1, 0) != 1 || !(room.revents & POLLOUT)) return false;
    return write(room.fd, line->text, line->length) == (ssize_t)line->length;
}

static bool write_lost(srv_log *log)
{
    srv_line line;
    srv_log_begin(&line, log, SRV_ERROR, "lost");
    srv_log_count(&line, "lines", log->lost);
    finish(&line);
    return write_now(&line);
}

void srv_log_end(srv_line *line)
{
    srv_log *log = line->log;
    if (!log) return;
    finish(line);
    pthread_mutex_lock(&log->writing);
    if (log->lost > 0 && write_lost(log)) log->lost = 0;
    if (log->lost > 0 || !write_now(line)) log->lost++;
    pthread_mutex_unlock(&log->writing);
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
