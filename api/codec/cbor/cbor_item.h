/* cbor_item.h - decode CBOR (RFC 8949) one item head at a time with libcbor's stateless decoder. Nothing is
 * allocated. */
#pragma once
#include "api/problem.h"
#include <stdint.h>

typedef enum api_cbor_kind {
    API_CBOR_NUMBER, /* an integer or float of any width */
    API_CBOR_BYTES,
    API_CBOR_TEXT,
    API_CBOR_ARRAY,
    API_CBOR_MAP,
    API_CBOR_TAG,
    API_CBOR_FALSE,
    API_CBOR_TRUE,
    API_CBOR_NULL,
    API_CBOR_UNDEFINED,
    API_CBOR_SIMPLE, /* a simple value other than false, true, null and undefined */
    API_CBOR_BREAK,
    API_CBOR_KINDS
} api_cbor_kind;

typedef struct api_cbor_item {
    api_cbor_kind        kind;
    bool                 indefinite;  /* bytes, text, array or map: parts or items follow until a break */
    bool                 is_unsigned; /* the number is a non-negative integer, equal to `value` */
    bool                 is_negative; /* the number is an integer, equal to -1 - `value` */
    uint64_t             value;       /* number of items of an array or pairs of a map; number of a tag */
    double               number;      /* for a number: the nearest double */
    const unsigned char *bytes;       /* [length] of a byte or text string; points into the body */
    size_t               length;
    size_t               offset; /* offset of the item's first byte in the body */
} api_cbor_item;

typedef struct api_cbor_cursor {
    const unsigned char *body;
    size_t               length, position;
    api_problem         *problem;
} api_cbor_cursor;

/* Decodes the next head, with the content of a byte or text string. False with 400 when the item is malformed or
 * incomplete, when text is not UTF-8, or when an array or map announces more items than bytes are left. */
bool api_cbor_next(api_cbor_cursor *c, api_cbor_item *item);

/* True unless the number is an integer that is no double. */
bool api_cbor_is_double(const api_cbor_item *number);

/* True if the bytes of a byte or text string are UTF-8. */
bool api_cbor_is_utf8(const api_cbor_item *string);

/* Sets the problem to 400 with this offset in the body; returns false. */
bool api_cbor_fail(const api_cbor_cursor *c, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the kind of an item for messages: "an array", "a byte string" ... */
const char *api_cbor_kind_text(api_cbor_kind kind);
