/* framing_shapes.c - reads tests/data/framing_shapes (framing_shapes.h). */
#define _GNU_SOURCE /* for getline */
#include "framing_shapes.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A request of 83 bytes that deletes a model. */
static const char hidden[] =
    "DELETE /v1/models/victim HTTP/1.1\r\nHost: localhost\r\nX-A: 12345678901234\r\nX-B: c\r\n\r\n";

enum { MOST = 200000 };
static char expanded[MOST];

static size_t append(size_t length, const char *text, size_t n)
{
    assert_true(length + n < MOST);
    memcpy(expanded + length, text, n);
    return length + n;
}

static size_t append_escape(size_t length, const char **text)
{
    const char *p = *text + 1;
    char        c = *p == 'r' ? '\r' : *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
    if (*p == 'x') {
        char hex[3] = {p[1], p[2], '\0'};
        c           = (char)strtol(hex, NULL, 16);
        p += 2;
    }
    *text = p + 1;
    return append(length, &c, 1);
}

/* Expands escapes, repetitions and HIDDEN up to `stop`. Returns the end of the expansion; *text then points behind
 * `stop`. */
static size_t expand(size_t length, const char **text, char stop)
{
    while (**text && **text != stop) {
        if (**text == '\\') {
            length = append_escape(length, text);
        } else if (strncmp(*text, "HIDDEN", 6) == 0) {
            length = append(length, hidden, sizeof hidden - 1);
            *text += 6;
        } else if (**text == '{') {
            char  *star;
            long   times = strtol(*text + 1, &star, 10);
            size_t begin = length;
            *text        = star + 1;
            length       = expand(length, text, '}');
            for (size_t n = length - begin; times > 1; times--)
                length = append(length, expanded + begin, n);
        } else {
            length = append(length, (*text)++, 1);
        }
    }
    *text += **text == stop && stop;
    return length;
}

void each_framing_shape(void (*visit)(const framing_shape *shape))
{
    FILE   *file = fopen("tests/data/framing_shapes", "r");
    char   *line = NULL;
    size_t  size = 0, shapes = 0;
    ssize_t n;
    assert_non_null(file);
    while ((n = getline(&line, &size, file)) > 0) {
        if (*line == '#' || *line == '\n') continue;
        line[n - 1]         = '\0';
        char *colon         = strstr(line, ": ");
        *colon              = '\0';
        const char   *text  = colon + 2;
        framing_shape shape = {.name = strchr(line, ' ') + 1, .status = atoi(line), .changed = line[3] == '='};
        shape.length        = expand(0, &text, '\0');
        shape.bytes         = expanded;
        visit(&shape);
        shapes++;
    }
    free(line);
    fclose(file);
    assert_true(shapes > 100);
}
