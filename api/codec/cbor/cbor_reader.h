/* cbor_reader.h - share the state of the CBOR reader among its files: cbor_reader.c reads values, cbor_strings.c
 * strings and references to them, cbor_typed_arrays.c arrays of numbers. Private to these files. Every function that
 * returns bool returns false with a problem. */
#pragma once
#include "cbor_item.h"
#include "api/codec/nodes/float_runs.h"
#include "api/codec/nodes/node_read.h"

enum {
    CBOR_TAG_STRING           = 25, /* a reference to a string that precedes */
    CBOR_TAG_MULTI            = 40,
    CBOR_TAG_HOMOGENEOUS      = 41,  /* an array whose items are of one type */
    CBOR_TAG_STRINGS          = 256, /* around the body: its strings may be referenced */
    CBOR_TAG_MAP              = 259, /* a map whose keys may be of any type, such as a Map of JavaScript */
    CBOR_TAG_MULTI_BY_COLUMNS = 1040,
    CBOR_TAG_CBOR             = 55799
};

/* A string of the body that later items may reference. */
typedef struct api_cbor_string {
    api_cbor_kind        kind;
    const unsigned char *bytes;
    size_t               length;
} api_cbor_string;

typedef struct api_cbor_reader {
    const api_read_options *options;
    api_cbor_cursor         cursor;
    api_builder             build;
    api_level              *levels; /* [nesting] one for each array or map that is open in `build` */
    api_float_runs          runs;
    bool                    plain, typed, multidimensional; /* the forms of the arrays of numbers read so far */
    bool                    references; /* the body is in tag 256: its strings are listed in `strings` */
    api_cbor_string        *strings;    /* [n_strings], with space for [strings_capacity] */
    size_t                  n_strings, strings_capacity;
    size_t                  look; /* offset in the body at which the deadline is checked next */
    bool                    late; /* the deadline has passed */
} api_cbor_reader;

/* Checks the deadline when reading has come to the offset `look`, and advances that. False, and `late` is set, if the
 * deadline has passed. */
bool api_cbor_goes_on(api_cbor_reader *r);

/* Reads the next item. A reference to a string (tag 25) becomes that string. */
bool api_cbor_next_item(api_cbor_reader *r, api_cbor_item *item);

/* Joins the parts of a text or byte string of indefinite length. */
bool api_cbor_join_parts(api_cbor_reader *r, api_cbor_item *string);

/* Opens an array or map in the builder. */
bool api_cbor_open(api_cbor_reader *r, const api_cbor_item *item);

bool api_cbor_read_number(api_cbor_reader *r, const api_cbor_item *item);

/* Refuses an integer that is no double. */
bool api_cbor_check_integer(api_cbor_reader *r, const api_cbor_item *item);

/* Reads the byte string of a typed array: the tag is already read, and api_cbor_is_typed. */
bool api_cbor_read_typed(api_cbor_reader *r, uint64_t tag);

/* Reads [extents, numbers] of tag 40, or of tag 1040 if `by_columns`. */
bool api_cbor_read_multidimensional(api_cbor_reader *r, bool by_columns);

/* Set a problem whose pointer is that of the next value; return false. */
bool api_cbor_refuse(api_cbor_reader *r, api_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool api_cbor_refuse_kind(api_cbor_reader *r, const api_cbor_item *item, const char *expected);
