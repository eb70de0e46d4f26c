/* msgpack_item.h - decode MessagePack one object at a time. Nothing is allocated, so an array may announce any length.
 * (Furuhashi 2013). */
#pragma once
#include "api/problem.h"
#include <stdint.h>

typedef enum api_msgpack_kind {
    API_MSGPACK_NIL,
    API_MSGPACK_FALSE,
    API_MSGPACK_TRUE,
    API_MSGPACK_INTEGER,
    API_MSGPACK_FLOAT, /* a float has 32 or 64 bits */
    API_MSGPACK_STR,
    API_MSGPACK_BIN,
    API_MSGPACK_EXT,
    API_MSGPACK_ARRAY,
    API_MSGPACK_MAP,
    API_MSGPACK_KINDS
} api_msgpack_kind;

typedef struct api_msgpack_item {
    api_msgpack_kind     kind;
    bool                 negative; /* an integer below 0 */
    int8_t               type;     /* the type of an ext */
    uint64_t             value;    /* an integer, in two's complement; items of an array, pairs of a map */
    double               number;   /* for integers and floats: the nearest double */
    const unsigned char *bytes;    /* [length] of a str, bin or ext; points into the body */
    size_t               length;
    size_t               offset; /* offset of the first byte in the body */
} api_msgpack_item;

typedef struct api_msgpack_cursor {
    const unsigned char *body;
    size_t               length, position;
    api_problem         *problem;
} api_msgpack_cursor;

/* Decodes the next first byte and its argument, with the content of a str, bin or ext. False with 400 when it is
 * malformed or incomplete, when a str is not UTF-8, or when an array or map announces more items than bytes are left.
 */
bool api_msgpack_next(api_msgpack_cursor *c, api_msgpack_item *item);

/* True if the bytes of a str or bin are UTF-8. */
bool api_msgpack_is_utf8(const api_msgpack_item *item);

/* True if an integer equals its nearest double. */
bool api_msgpack_is_double(const api_msgpack_item *integer);

/* Sets the problem to 400 with this offset in the body; returns false. */
bool api_msgpack_fail(const api_msgpack_cursor *c, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the kind of an object for messages: "an array", "bin" ... */
const char *api_msgpack_kind_text(api_msgpack_kind kind);
