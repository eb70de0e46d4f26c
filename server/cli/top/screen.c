/* screen.c - lays figures out in lines and columns (screen.h). */
#include "screen.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 512, WIDTH_OF_BAR = 20, NAME_COLUMN = 30, COLUMN = 10 };

typedef enum colour { PLAIN, BOLD, DIM, RED, YELLOW, GREEN, HEADING } colour;

static const char *const sequences[] = {
    [PLAIN] = "0", [BOLD] = "1", [DIM] = "2", [RED] = "1;31", [YELLOW] = "33", [GREEN] = "1;32", [HEADING] = "7"};

typedef struct screen {
    cli_text           *text;
    const cli_top_view *view;
    size_t              rows; /* number of lines so far */
} screen;

/* --- lines -------------------------------------------------------------------------------------------------------- */

static bool is_full(const screen *s, size_t kept)
{
    return s->view->rows > 0 && s->rows + kept >= s->view->rows;
}

/* Appends one line in a colour, cut to the width of the terminal. */
static void put_line(screen *s, colour c, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void put_line(screen *s, colour c, const char *format, ...)
{
    char    line[LINE];
    va_list args;
    if (is_full(s, 0)) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *byte = line; *byte; byte++)
        if (*byte < ' ' || *byte > '~') *byte = '?';
    if (s->view->columns > 0 && s->view->columns < sizeof line) line[s->view->columns] = '\0';
    size_t width = c == HEADING && s->view->columns > 0 && s->view->columns < LINE ? s->view->columns : 0;
    if (s->view->colours && c != PLAIN)
        cli_text_print(s->text, "\033[%sm%-*s\033[0m", sequences[c], (int)width, line);
    else
        cli_text_print(s->text, "%s", line);
    cli_text_print(s->text, s->view->colours ? "\033[K\n" : "\n");
    s->rows++;
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

typedef struct shown {
    char text[24];
} shown;

/* Three digits with a prefix: 0.52, 12.3, 456, 7.89k. */
static shown number_shown(double value)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    shown                    out;
    size_t                   i = 0;
    for (; value >= 999.5 && i + 1 < sizeof prefixes / sizeof *prefixes; i++)
        value /= 1000;
    int decimals = value >= 99.95 || (i == 0 && value == floor(value)) ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(out.text, sizeof out.text, "%.*f%s", decimals, value, prefixes[i]);
    return out;
}

static shown size_shown(double value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    shown                    out;
    size_t                   i = 0;
    for (; value >= 1024 && i + 1 < sizeof units / sizeof *units; i++)
        value /= 1024;
    snprintf(out.text, sizeof out.text, "%.*f %s", i == 0 || value >= 100 ? 0 : 1, value, units[i]);
    return out;
}

static shown time_shown(double seconds)
{
    shown       out;
    const char *unit = "s";
    if (seconds <= 0) return (shown){"-"};
    if (seconds < 1e-3) {
        seconds *= 1e6;
        unit = "us";
    } else if (seconds < 1) {
        seconds *= 1e3;
        unit = "ms";
    }
    snprintf(out.text, sizeof out.text, "%.*f %s", seconds >= 99.95 ? 0 : seconds >= 9.995 ? 1 : 2, seconds, unit);
    return out;
}

static shown age_shown(double seconds)
{
    shown         out;
    unsigned long s = seconds > 0 ? (unsigned long)fmin(seconds, 1e9) : 0;
    if (s >= 86400)
        snprintf(out.text, sizeof out.text, "%lu d %lu h", s / 86400, s % 86400 / 3600);
    else if (s >= 3600)
        snprintf(out.text, sizeof out.text, "%lu h %lu min", s / 3600, s % 3600 / 60);
    else
        snprintf(out.text, sizeof out.text, s >= 60 ? "%lu min %lu s" : "%.0lu%lu s", s / 60, s % 60);
    return out;
}

static double part_of(double value, double limit)
{
    return limit > 0 ? value / limit : 0;
}

/* A bar whose filled part is `part`. */
static shown bar(double part)
{
    shown out;
    int   filled = (int)lround(fmin(fmax(part, 0), 1) * WIDTH_OF_BAR);
    for (int i = 0; i < WIDTH_OF_BAR; i++)
        out.text[i] = i < filled ? '#' : '.';
    out.text[WIDTH_OF_BAR] = '\0';
    return out;
}

static colour colour_of(double part)
{
    return part > 0.9 ? RED : part > 0.7 ? YELLOW : PLAIN;
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

static void put_summary(screen *s, const cli_top_reading *now)
{
    const cli_top_view *v     = s->view;
    bool                ready = strcmp(v->state, "ready") == 0;
    put_line(s, BOLD, "torqued %s at %s  %s  up %s  %s", now->version, v->address, now->target,
             age_shown(now->time - now->figures.started).text, v->interval);
    put_line(s, ready ? GREEN : RED, "%s", v->state);
    for (const char *line = v->reasons; *line; line += strspn(line, "\n")) {
        put_line(s, YELLOW, "  %.*s", (int)strcspn(line, "\n"), line);
        line += strcspn(line, "\n");
    }
    put_line(s, PLAIN, "%s", "");
}

static void put_gauges(screen *s, const cli_top_reading *now)
{
    const cli_top_figures *f      = &now->figures;
    double                 memory = part_of(f->memory, f->memory_limit), models = part_of(f->models, f->models_limit);
    double                 clients = part_of(f->connections, f->connections_limit);
    put_line(s, colour_of(memory), "memory       [%s] %s of %s, resident %s", bar(memory).text,
             size_shown(f->memory).text, size_shown(f->memory_limit).text, size_shown(f->resident).text);
    put_line(s, colour_of(clients), "connections  [%s] %.0f of %.0f, displaced %s/s", bar(clients).text, f->connections,
             f->connections_limit, number_shown(f->displaced / s->view->seconds).text);
    put_line(s, colour_of(models), "models       [%s] %.0f of %.0f, %s of %s", bar(models).text, f->models,
             f->models_limit, size_shown(f->model_bytes).text, size_shown(f->model_bytes_limit).text);
    put_line(s, f->queued > 0 ? YELLOW : PLAIN, "queue        %.0f requests wait, %s work is admitted", f->queued,
             f->admitted > 0 ? time_shown(f->admitted).text : "no");
}

/* Lines that are there only if something is wrong. The certificate has one in its last 14 days, like its alert. */
static void put_faults(screen *s, const cli_top_reading *now)
{
    const cli_top_figures *f    = &now->figures;
    double                 ends = f->certificate_end - now->time;
    if (f->stuck > 0) put_line(s, RED, "stuck        %.0f threads make no progress", f->stuck);
    if (f->lost_lines > 0) put_line(s, RED, "log          %s lines lost", number_shown(f->lost_lines).text);
    if (f->store_errors > 0) put_line(s, RED, "store        %s accesses failed", number_shown(f->store_errors).text);
    if (*now->fault) put_line(s, RED, "database     %s", now->fault);
    if (f->failed_reload > f->reload)
        put_line(s, RED, "reload       the last one failed, %s ago", age_shown(now->time - f->failed_reload).text);
    if (f->certificate_end > 0 && ends < 14 * 86400.0)
        put_line(s, RED, "certificate  %s%s", ends > 0 ? "ends in " : "has ended",
                 ends > 0 ? age_shown(ends).text : "");
    if (f->clock_jumps > 0) put_line(s, YELLOW, "clock        set %.0f times since the start", f->clock_jumps);
}

static void put_rates(screen *s, const cli_top_reading *now)
{
    const cli_top_figures *f       = &now->figures;
    double                 seconds = s->view->seconds, all = 0;
    for (size_t i = 0; i < CLI_TOP_CLASSES; i++)
        all += now->answered[i];
    put_line(s, PLAIN, "requests     %s/s: %s/s 2xx, %s/s 4xx, %s/s 5xx, %s/s without an answer; %s slow",
             number_shown(all / seconds).text, number_shown(now->answered[2] / seconds).text,
             number_shown(now->answered[4] / seconds).text, number_shown(now->answered[5] / seconds).text,
             number_shown(now->answered[0] / seconds).text, number_shown(f->slow).text);
    put_line(s, PLAIN, "work         %.2f cores, %s states/s, in %s/s, out %s/s", f->cpu / seconds,
             number_shown(f->states / seconds).text, size_shown(f->received / seconds).text,
             size_shown(f->sent / seconds).text);
    put_line(s, PLAIN, "%s", "");
}

static void put_operation_table(screen *s, const cli_top_reading *now, size_t kept)
{
    double seconds = s->view->seconds;
    put_line(s, HEADING, "%-*s%*s%*s%*s%*s%*s%*s", NAME_COLUMN, "operation", COLUMN, "req/s", COLUMN, "failed/s",
             COLUMN, "states/s", COLUMN, "median", COLUMN, "90 %", COLUMN, "99 %");
    for (size_t i = 0; i < now->operations && now->operation[i].requests > 0 && !is_full(s, kept); i++) {
        const cli_top_operation *o = &now->operation[i];
        put_line(s, o->failed > 0.1 * o->requests ? YELLOW : PLAIN, "%-*.*s%*s%*s%*s%*s%*s%*s", NAME_COLUMN,
                 NAME_COLUMN - 1, strcmp(o->name, "none") == 0 ? "(other paths)" : o->name, COLUMN,
                 number_shown(o->requests / seconds).text, COLUMN, number_shown(o->failed / seconds).text, COLUMN,
                 number_shown(o->states / seconds).text, COLUMN, time_shown(cli_top_quantile(o, 0.5)).text, COLUMN,
                 time_shown(cli_top_quantile(o, 0.9)).text, COLUMN, time_shown(cli_top_quantile(o, 0.99)).text);
    }
    put_line(s, PLAIN, "%s", "");
}

static void put_client_table(screen *s, const cli_top_reading *now)
{
    double seconds = s->view->seconds;
    put_line(s, HEADING, "%-*s%*s%*s%*s%*s", NAME_COLUMN, "client", COLUMN, "req/s", COLUMN, "refused/s", COLUMN,
             "cores", COLUMN, "memory");
    for (size_t i = 0; i < now->clients && !is_full(s, 0); i++) {
        const cli_top_client *c = &now->client[i];
        if (c->work == 0 && c->requests == 0 && c->refused == 0 && c->memory == 0) continue;
        put_line(s, c->refused > 0.1 * c->requests ? YELLOW : PLAIN, "%-*.*s%*s%*s%*.3f%*s", NAME_COLUMN,
                 NAME_COLUMN - 1, c->name, COLUMN, number_shown(c->requests / seconds).text, COLUMN,
                 number_shown(c->refused / seconds).text, COLUMN, c->work / seconds, COLUMN,
                 size_shown(c->memory).text);
    }
}

void cli_top_draw(cli_text *text, const cli_top_reading *reading, const cli_top_view *view)
{
    enum {
        ROWS_OF_CLIENTS = 9
    }; /* most rows that the table of operations leaves free for that of clients, with the two rows around its heading
        */
    screen s = {text, view, 0};
    put_summary(&s, reading);
    put_gauges(&s, reading);
    put_faults(&s, reading);
    put_rates(&s, reading);
    size_t left = view->rows > s.rows ? view->rows - s.rows : 0;
    put_operation_table(&s, reading, left / 2 < ROWS_OF_CLIENTS ? left / 2 : ROWS_OF_CLIENTS);
    put_client_table(&s, reading);
}
