/* emit_bytes.h - append bytes and the heads of CBOR items to an emitter. Private to emit*.c and json_emit.c. */
#pragma once
#include "emit.h"
#include <stdint.h>
#include <string.h>

/* Major types of CBOR (RFC 8949, section 3.1), and complete first bytes of major type 7. */
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

/* Tags of arrays of numbers (RFC 8746): 40 for a multi-dimensional array in row-major order, 86 for little-endian
 * doubles. */
enum { CBOR_TAG_DIMENSIONS = 40, CBOR_TAG_DOUBLES = 86 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "doubles are copied into typed arrays as they are");

static inline void api_emit_put(api_emit *e, const void *bytes, size_t length)
{
    if (!e->buffer)
        e->bytes += length;
    else
        api_buffer_put(e->buffer, bytes, length);
}

/* Writes the head of a CBOR item in its shortest form, most significant byte first. Returns the length of the head. */
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

/* Appends a 64-bit float in network byte order. */
static inline void api_emit_double(api_emit *e, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = __builtin_bswap64(bits);
    api_emit_put(e, (unsigned char[]){CBOR_DOUBLE}, 1);
    api_emit_put(e, &bits, sizeof bits);
}

/* Counts a value in the innermost object or array and writes the separator before it. Every value and key begins
 * with this call. */
void api_emit_begin_value(api_emit *e);

/* Sets `failed`, and `not_finite` to the key of the last member, for a number that is not finite. */
void api_emit_note_not_finite(api_emit *e);

/* Writes the heads of a typed array of doubles with `rank` (at least 1) dimensions; the caller appends the doubles. If
 * rank > 1, no extent may be zero. */
void api_emit_typed(api_emit *e, size_t rank, const size_t *extent);

/* Lanes of an array of numbers: number of entries of one state in the answer, and all dimensions, states first; returns
 * the number of dimensions. In emit_lanes.c. */
size_t api_lanes_count(const api_lanes *a);
size_t api_lanes_dimensions(const api_lanes *a, size_t extent[API_EMIT_RANK + 2]);

/* Arrays of numbers in CBOR, in emit_cbor.c. api_cbor_lanes_states returns false at a number that is not finite. */
void   api_cbor_lanes_begin(api_emit *e, const api_lanes *a);
size_t api_cbor_lanes_room(api_media media, const api_lanes *a, size_t first, size_t states);
bool   api_cbor_lanes_states(api_emit *e, const api_lanes *a, size_t first, size_t states);
