/* output.h - write the answer to a batch in any of the formats.
 *
 * CSV and JSON lines are written as parts of the answer arrive; the other formats at the end. Numbers are the shortest
 * texts that read back as the same double, or the doubles themselves. */
#pragma once
#include "output_file.h"
#include "states.h"

typedef struct cli_output {
    cli_format             format;
    cli_output_file        file;
    const cli_coordinates *coordinates; /* names for the columns; NULL: numbers */
    cli_batch              all;         /* all rows; of streamed formats (CSV, JSON lines) only the shapes */
    bool                   started;
} cli_output;

/* Opens FILE, "-" or NULL for standard output, as output_file.h says. Returns 0, or the exit status after printing an
 * error. */
int cli_output_open(cli_output *output, const char *file, cli_format format, const cli_coordinates *coordinates);

/* cli_output_add writes the rows of a part. cli_output_finish completes the file and gives it its name. Both functions
 * return false after printing an error. */
bool cli_output_add(cli_output *output, const cli_batch *part);
bool cli_output_finish(cli_output *output);

/* Frees the rows and closes the file; an unfinished one is discarded. */
void cli_output_close(cli_output *output);

/* Writes the name of a column: "tau.elbow", "mass_matrix.1.2", "poses.tip.position.1", "kinetic". */
void cli_column_name(const cli_coordinates *coordinates, const cli_array *array, size_t entry, char *name, size_t size);

/* Prints on standard error what only JSON can hold: rows that failed, warnings, and the names of other members.
 * `first_row` is the number of rows before the part. */
void cli_report_rest(const cli_batch *part, size_t first_row);
