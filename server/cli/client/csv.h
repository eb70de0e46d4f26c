/* csv.h - read states from comma-separated values (RFC 4180) with a header.
 *
 * A column is named by field and coordinate: "q.elbow", "q.3" or "q3" (numbered from 1), "q" alone for a model with one
 * coordinate, or "q elbow [rad]" as the console writes it. Columns may come in any order. Semicolons and tabs separate
 * too: the header tells which, with names in quotes if they contain a separator, a quote, or a blank at an end. Empty
 * lines, and lines that begin with #, are skipped. */
#pragma once
#include "batch.h"
#include "coordinates.h"
#include <stdio.h>

typedef struct cli_csv_column {
    size_t field; /* index in cli_state_fields; CLI_CSV_IGNORED: the column is not sent */
    size_t entry;
} cli_csv_column;

enum { CLI_CSV_IGNORED = 100 };

typedef struct cli_csv {
    FILE                  *file; /* the caller's */
    const char            *name; /* name of the file, for messages */
    const cli_coordinates *coordinates;
    const char            *fields; /* the fields to send, "q,qd"; NULL: all, and an unknown column is an error */
    char                  *line;
    size_t                 size, number; /* number of the line read last, from 1 */
    char                   separator;
    cli_csv_column        *columns;
    size_t                 n_columns;
    unsigned               present; /* bit i: the file has cli_state_fields[i] */
} cli_csv;

/* Set file, name, coordinates and fields first; reads the header. False after printing an error. */
bool cli_csv_open(cli_csv *csv);

/* Reads at most `most` rows into `batch`, which is empty; 0 rows at the end of the file. False after printing an error.
 */
bool cli_csv_read(cli_csv *csv, size_t most, cli_batch *batch);

void cli_csv_close(cli_csv *csv);

/* True if the comma-separated list has the name; a NULL list has every name. */
bool cli_field_is_chosen(const char *list, const char *name);
