/* progress.h - show on a terminal how far a batch has got. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct cli_progress {
    double      start, shown; /* s on the monotonic clock; shown: when the line was written last, 0 never */
    bool        enabled;      /* standard error is a terminal */
    const char *unit;         /* name of the things that are counted, in the plural */
} cli_progress;

void cli_progress_start(cli_progress *progress);

/* Writes the line anew, once a second has passed since the start and at most ten times a second. `fraction` is negative
 * if the number of rows is not known. cli_progress_start sets `unit` to "rows". */
void cli_progress_show(cli_progress *progress, const char *what, size_t rows, double fraction);

/* Erases the line. */
void cli_progress_end(cli_progress *progress);

double cli_now(void); /* s on the monotonic clock */
