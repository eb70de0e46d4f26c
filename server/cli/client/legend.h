/* legend.h - lay out the legend of a plot: the names of the curves in one or two columns to the right of all panels, as
 * wide as the names need. Names that are too long lose their middle to an ellipsis. */
#pragma once
#include <stddef.h>

enum { CLI_LEGEND_NAME_SIZE = 1204 }; /* bytes of a name that has been cut, with its NUL */

typedef struct cli_legend {
    size_t curves; /* most curves of a panel */
    double widest; /* width of the widest name, in average characters */
} cli_legend;

/* Takes the name of a curve into account. `index` is the number of the curve in its panel. Initialise with {0}. */
void cli_legend_add(cli_legend *legend, size_t index, const char *name);

/* Returns the number of columns. Call this and the following functions after all names have been added. */
size_t cli_legend_columns(const cli_legend *legend);
size_t cli_legend_rows(const cli_legend *legend);
double cli_legend_width(const cli_legend *legend); /* width of one column's names, in average characters */

/* Writes `name`, cut to the width of a column. */
void cli_legend_cut(const cli_legend *legend, const char *name, char cut[CLI_LEGEND_NAME_SIZE]);

/* Estimates the width of text[0..length) in UTF-8, in average characters of a proportional font. */
double cli_text_width(const char *text, size_t length);
