/* msgpack_reader.h - share the state of the MessagePack reader among its files: msgpack_reader.c reads values,
 * msgpack_numpy.c arrays of NumPy. Private to these files. Every function that returns bool returns false with a
 * problem, unless it is a predicate. */
#pragma once
#include "api/codec/nodes/float_runs.h"
#include "api/codec/nodes/node_read.h"
#include "msgpack_item.h"

typedef struct api_msgpack_reader {
    const api_read_options *options;
    api_msgpack_cursor      cursor;
    api_builder             build;
    api_level              *levels; /* [nesting] one for each array or map that is open in `build` */
    api_float_runs          runs;
} api_msgpack_reader;

/* Sets a problem whose pointer is that of the next value; returns false. */
bool api_msgpack_refuse(api_msgpack_reader *r, api_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds packed numbers, which must be finite. */
bool api_msgpack_build_numbers(api_msgpack_reader *r, const api_node *numbers);

/* True for the map of an array or number of NumPy as the Python package msgpack_numpy writes it: its first key is "nd".
 * The cursor is after the head of the map. */
bool api_msgpack_is_numpy(const api_msgpack_cursor *c, const api_msgpack_item *map);

/* Reads the map of an array or number of NumPy: the members nd (false: a number), type ("<f8"), shape and data (bin),
 * and kind, which is empty. Doubles and floats stay in the body if they are little-endian; other integers and floats
 * are converted. */
bool api_msgpack_read_numpy(api_msgpack_reader *r, const api_msgpack_item *map);
