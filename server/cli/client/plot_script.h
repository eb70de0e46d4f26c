/* plot_script.h - write the script by which gnuplot draws an answer: a panel for each array over time, or over the rows
 * of a batch, and a legend beside it. */
#pragma once
#include "call.h"
#include <stdio.h>

enum { CLI_LINES_MOST = 40 }; /* most curves of a panel; an array with more entries in a row is not drawn */

typedef struct cli_plot_script {
    const char            *title;
    const cli_batch       *batch;
    const cli_coordinates *coordinates;
    const char            *show; /* names of the arrays to draw, "q,tau"; NULL: all */
    bool                   png;  /* else SVG */
} cli_plot_script;

bool cli_plot_draws(const cli_plot_script *plot, const cli_array *array);

/* Writes the script; gnuplot writes the picture to its standard output. */
void cli_plot_print(const cli_plot_script *plot, FILE *to);
