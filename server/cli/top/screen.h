/* screen.h - draw the figures of a server as lines of text for a terminal. */
#pragma once
#include "metrics_reading.h"
#include "server/cli/client/text.h"

typedef struct cli_top_view {
    const char *address;       /* the URL or path of the server */
    const char *state;         /* "ready", or why it is not */
    const char *reasons;       /* faults that /readyz names, with line ends between them; "" none */
    double      seconds;       /* length of the interval in which counters rose */
    const char *interval;      /* "since 22:14:05" and such, for the head */
    size_t      columns, rows; /* size of the terminal; 0: any */
    bool        colours;       /* true: with escape sequences of ECMA-48 */
} cli_top_view;

/* Appends the lines. Counters of the reading are rises over view->seconds. Bytes of texts that are no printable ASCII
 * become '?'. */
void cli_top_draw(cli_text *text, const cli_top_reading *reading, const cli_top_view *view);
