/* cbor_item.h - CBOR (RFC 8949) head by head, through libcbor's stateless decoder, which allocates nothing. */
#pragma once
#include "api/problem.h"
#include <stdint.h>

typedef enum api_cbor_kind {
    API_CBOR_NUMBER, /* integers and floats of any width */
    API_CBOR_BYTES,
    API_CBOR_TEXT,
    API_CBOR_ARRAY,
    API_CBOR_MAP,
    API_CBOR_TAG,
    API_CBOR_FALSE,
    API_CBOR_TRUE,
    API_CBOR_NULL,
    API_CBOR_UNDEFINED,
    API_CBOR_SIMPLE, /* any other simple value */
    API_CBOR_BREAK,
    API_CBOR_KINDS
} api_cbor_kind;

typedef struct api_cbor_item {
    api_cbor_kind        kind;
    bool                 indefinite;  /* bytes, text, array, map: parts or items follow until a break */
    bool                 is_unsigned; /* number: not negative and no float, `value` has it */
    uint64_t             value;       /* items of an array, pairs of a map, number of a tag */
    double               number;      /* nearest double */
    const unsigned char *bytes;       /* [length] of bytes or text, in the body */
    size_t               length;
    size_t               offset; /* of its first byte in the body */
} api_cbor_item;

typedef struct api_cbor_cursor {
    const unsigned char *body;
    size_t               length, position;
    api_problem         *problem;
} api_cbor_cursor;

/* The next head, with the content of bytes and text. False with 400 when it is malformed, is not all there, or when
 * an array or map has more items than bytes are left; text is well-formed UTF-8. */
bool api_cbor_next(api_cbor_cursor *c, api_cbor_item *item);

/* 400 with that offset; returns false. */
bool api_cbor_fail(const api_cbor_cursor *c, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "an array", "a byte string" ...: the kind, for messages. */
const char *api_cbor_kind_text(api_cbor_kind kind);
