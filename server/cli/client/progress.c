/* progress.c - see progress.h. */
#include "progress.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double DELAY = 1.0, INTERVAL = 0.1; /* s */

double cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_progress_start(cli_progress *progress)
{
    *progress = (cli_progress){.start = cli_now(), .enabled = isatty(STDERR_FILENO), .unit = "rows"};
}

void cli_progress_show(cli_progress *progress, const char *what, size_t rows, double fraction)
{
    double now = cli_now(), elapsed = now - progress->start;
    if (!progress->enabled || elapsed < DELAY || now - progress->shown < INTERVAL) return;
    progress->shown = now;
    fprintf(stderr, "\r\x1b[K%s: %zu %s, %.3g %s/s", what, rows, progress->unit, (double)rows / elapsed,
            progress->unit);
    if (fraction > 0) fprintf(stderr, ", %.0f %%, %.0f s left", 100 * fraction, elapsed * (1 - fraction) / fraction);
    fflush(stderr);
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->shown > 0) fputs("\r\x1b[K", stderr);
}
