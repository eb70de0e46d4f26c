/* batch.h - hold named arrays of numbers, one row a state: what a file of states contains, and what an answer has. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { CLI_RANK_MOST = 8 };

/* Separates the keys of a nested object in a path; a name cannot contain it. */
#define CLI_PATH_SEPARATOR '\x1f'

typedef struct cli_array {
    char   *path; /* keys that lead to the array: "tau", or "poses\x1f" "tip\x1f" "position" */
    size_t  rank; /* number of axes of one row; 0: a number */
    size_t  extent[CLI_RANK_MOST];
    size_t  entries;  /* numbers of one row: the product of the extents */
    bool    constant; /* true: the array has a single row, which applies to all rows of the batch */
    double *values;   /* rows * entries */
} cli_array;

typedef struct cli_batch {
    size_t     rows;
    bool       single; /* true: one state, not a batch of one row; JSON writes it without the outer brackets */
    cli_array *arrays;
    size_t     n_arrays;
    size_t    *lines; /* line of the file for each row, from 1; NULL: the file has no lines */
    json_t    *rest;  /* everything that is no array of numbers: options, errors, names; NULL: nothing */
} cli_batch;

/* Initialise a batch with {0}. The batch owns its arrays, `lines` and `rest`. */
void cli_batch_free(cli_batch *batch);

/* Adds an array with room for `rows` rows, values not set; NULL after printing an error: memory is short, or the sizes
 * overflow. The array is valid until the next call. `extent` has `rank` entries. */
cli_array *cli_batch_add(cli_batch *batch, const char *path, size_t rank, const size_t *extent, size_t rows);

cli_array *cli_batch_find(const cli_batch *batch, const char *path);

/* Appends the rows of `more` to `batch`, which is empty or has the same arrays. `errors` of `rest` are appended too,
 * their rows shifted by the rows of `batch`; other members of `rest` are those of the first part. False after printing
 * an error. */
bool cli_batch_append(cli_batch *batch, const cli_batch *more);

/* Makes `part` a view of rows [first, first + rows) of `batch`; it owns only the list of its arrays: free that alone.
 */
bool cli_batch_slice(const cli_batch *batch, size_t first, size_t rows, cli_batch *part);

/* True if a row of the answer depends on other rows or on its place among them, as samples in time and random positions
 * do, or if an output is of all rows, such as a sum. `fields`: the fields of a part of the request other than states,
 * which are those of every part; NULL: none. */
bool cli_rows_depend(const char *operation, const json_t *fields);

/* True if the fields ask for an output that is a sum over all rows. */
bool cli_asks_for_sums(const json_t *fields);

static inline const double *cli_row(const cli_array *array, size_t row)
{
    return array->values + (array->constant ? 0 : row) * array->entries;
}
