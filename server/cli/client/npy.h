/* npy.h - read and write arrays in NumPy's format .npy (NEP 1; versions 1.0 to 3.0).
 *
 * Reads doubles, floats and integers of either byte order, in C or Fortran order. Everything else (complex numbers,
 * texts, structures, objects) is refused. */
#pragma once
#include "text.h"

enum { CLI_NPY_RANK_MOST = 9 }; /* the axis of rows, and those of one row */

typedef struct cli_npy {
    size_t  rank, extent[CLI_NPY_RANK_MOST];
    size_t  count;  /* product of the extents */
    double *values; /* malloc'd, in C order; the caller frees it */
} cli_npy;

/* Reads bytes[0..length), which end with the last number. `name` is for messages. False after printing an error. */
bool cli_npy_read(const char *bytes, size_t length, const char *name, cli_npy *array);

/* Appends an array of doubles, version 1.0, in C order. */
void cli_npy_write(cli_text *to, size_t rank, const size_t *extent, const double *values);
