/* float_runs.h - read runs of 64-bit floats of CBOR and MessagePack, which are most of a large request. In both formats
 * such a number is a first byte and eight bytes in network order. */
#pragma once
#include "node_build.h"

/* Number of items that an open array or map still expects. */
typedef struct api_level {
    uint64_t left; /* items of an array or pairs of a map, unless indefinite */
    bool     indefinite;
} api_level;

typedef struct api_float_runs {
    unsigned char        first; /* first byte of a 64-bit float */
    const unsigned char *body;
    size_t               length;
    size_t               array; /* offset of the head of the array that was opened last */
} api_float_runs;

/* Reads the finite floats from `*position` on into the innermost array, and those of the rows that follow it with the
 * same head in an array of rows of one width. Moves `*position` after the last of them and counts them in the levels
 * of the open arrays, b->depth in number; the last row stays open. False if there is none, if the innermost value is no
 * array, or if memory is short: the caller then reads the next item by itself, and finds the problem. */
bool api_read_float_runs(const api_float_runs *runs, api_builder *b, api_level *levels, size_t *position);
