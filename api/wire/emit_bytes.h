/* emit_bytes.h - private to emit*.c: bytes behind what was emitted, and the heads of CBOR's items. */
#pragma once
#include "emit.h"
#include <stdint.h>
#include <string.h>

/* Major types of CBOR (RFC 8949, section 3.1), and what is used of the last. */
enum {
    CBOR_UNSIGNED,
    CBOR_NEGATIVE,
    CBOR_BYTES,
    CBOR_TEXT,
    CBOR_ARRAY,
    CBOR_MAP,
    CBOR_TAG,
    CBOR_FALSE  = 0xF4,
    CBOR_TRUE   = 0xF5,
    CBOR_NULL   = 0xF6,
    CBOR_DOUBLE = 0xFB,
};

enum { CBOR_HEAD_MAX = 9 };

/* Typed arrays (RFC 8746): doubles, least significant byte first; several dimensions, row-major. */
enum { CBOR_TAG_DIMENSIONS = 40, CBOR_TAG_DOUBLES = 86 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "doubles are copied into typed arrays as they are");

static inline void api_emit_put(api_emit *e, const void *bytes, size_t length)
{
    if (!e->buffer)
        e->bytes += length;
    else
        api_buffer_put(e->buffer, bytes, length);
}

/* The head of an item in its shortest form, most significant byte first; returns its length. */
static inline size_t api_cbor_head(unsigned char head[CBOR_HEAD_MAX], unsigned major, uint64_t argument)
{
    size_t   n    = argument < 24            ? 0
                    : argument <= UINT8_MAX  ? 1
                    : argument <= UINT16_MAX ? 2
                    : argument <= UINT32_MAX ? 4
                                             : 8;
    unsigned code = n == 0 ? (unsigned)argument : n == 1 ? 24 : n == 2 ? 25 : n == 4 ? 26 : 27;
    head[0]       = (unsigned char)(major << 5 | code);
    for (size_t i = 0; i < n; i++)
        head[1 + i] = (unsigned char)(argument >> 8 * (n - 1 - i));
    return 1 + n;
}

static inline void api_emit_head(api_emit *e, unsigned major, uint64_t argument)
{
    unsigned char head[CBOR_HEAD_MAX];
    api_emit_put(e, head, api_cbor_head(head, major, argument));
}

/* A float of 64 bits. */
static inline void api_emit_double(api_emit *e, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = __builtin_bswap64(bits);
    api_emit_put(e, (unsigned char[]){CBOR_DOUBLE}, 1);
    api_emit_put(e, &bits, sizeof bits);
}

/* Counts a value in what is open, and separates it from the one before. Everything that is written begins with it. */
void api_emit_begin_value(api_emit *e);

/* Heads of a typed array of so many doubles, whose bytes follow: rank 1 or more, no extent zero if it is more. */
void api_emit_typed(api_emit *e, size_t rank, const size_t *extent);
