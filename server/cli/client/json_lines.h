/* json_lines.h - read states from JSON lines: an object a line, such as {"q": [0, 1], "qd": [0, 0]}.
 *
 * All lines have the fields of the first one, in the same shapes. Empty lines are skipped. */
#pragma once
#include "batch.h"
#include <stdio.h>

typedef struct cli_json_lines {
    FILE       *file;   /* the caller's */
    const char *name;   /* name of the file, for messages */
    const char *fields; /* the fields to send, "q,qd"; NULL: all */
    char       *line;
    size_t      size, number; /* number of the line read last, from 1 */
    cli_batch   shape;        /* the fields of the first line, without rows; empty before it */
} cli_json_lines;

/* Set file, name and fields first. Reads at most `most` rows into `batch`, which is empty; 0 rows at the end of the
 * file. False after printing an error. */
bool cli_json_lines_read(cli_json_lines *lines, size_t most, cli_batch *batch);
void cli_json_lines_close(cli_json_lines *lines);

/* Adds a JSON array of numbers of any rank, or a number, to a batch. With `rows` above 0 the first axis is that of the
 * rows. False, without a message, if the value is something else or ragged. */
bool cli_batch_add_json(cli_batch *batch, const char *name, const json_t *value, size_t rows);
