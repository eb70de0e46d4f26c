/* metrics_text.c - takes the lines of a page of metrics apart (metrics_text.h). */
#include "metrics_text.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void append_byte(char *to, size_t size, size_t *length, char c)
{
    if (*length + 1 < size) to[(*length)++] = c;
    to[*length] = '\0';
}

/* Reads characters up to one of `ends`. Returns their end. */
static const char *read_until(const char *from, const char *ends, char *to, size_t size)
{
    size_t length = 0;
    to[0]         = '\0';
    for (; *from && *from != '\n' && !strchr(ends, *from); from++)
        append_byte(to, size, &length, *from);
    return from;
}

/* Reads a value with its escapes after its quotation mark. Returns the end after the closing one. */
static const char *read_label_value(const char *from, char *to, size_t size)
{
    size_t length = 0;
    to[0]         = '\0';
    for (; *from && *from != '\n' && *from != '"'; from++) {
        if (*from == '\\' && from[1]) from++;
        append_byte(to, size, &length, from[-1] == '\\' && *from == 'n' ? '\n' : *from);
    }
    return *from == '"' ? from + 1 : from;
}

/* Reads `{name="value",...}`. Returns the end, NULL if it is malformed. */
static const char *read_labels(const char *from, cli_metric *metric)
{
    cli_metric_label beyond = {.name = ""};
    for (from++; *from && *from != '}'; from += *from == ',') {
        cli_metric_label *label = metric->n_labels < CLI_METRIC_LABELS ? &metric->label[metric->n_labels++] : &beyond;
        from                    = read_until(from, "=", label->name, sizeof label->name);
        if (from[0] != '=' || from[1] != '"') return NULL;
        from = read_label_value(from + 2, label->value, sizeof label->value);
        if (*from != ',' && *from != '}') return NULL;
    }
    return *from == '}' ? from + 1 : NULL;
}

static bool read_series(const char *line, cli_metric *metric)
{
    char *end;
    *metric          = (cli_metric){.n_labels = 0};
    const char *from = read_until(line, "{ ", metric->name, sizeof metric->name);
    if (*from == '{') from = read_labels(from, metric);
    if (!from || *from != ' ') return false;
    metric->value = strtod(from + 1, &end);
    return end != from + 1;
}

const char *cli_metric_label_of(const cli_metric *metric, const char *name)
{
    for (size_t i = 0; i < metric->n_labels; i++)
        if (strcmp(metric->label[i].name, name) == 0) return metric->label[i].value;
    return "";
}

void cli_metrics_read(const char *page, void (*visit)(void *arg, const cli_metric *metric), void *arg)
{
    cli_metric metric;
    for (const char *line = page; *line; line += *line == '\n') {
        if (*line != '#' && read_series(line, &metric)) visit(arg, &metric);
        line += strcspn(line, "\n");
    }
}
