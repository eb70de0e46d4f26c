/* emit_bytes.h - append bytes and the heads of CBOR and MessagePack to an emitter. Private to emit*.c and json_emit.c.
 */
#pragma once
#include "emit.h"
#include "api/codec/nodes/format.h"
#include <stdint.h>
#include <string.h>

static inline const api_binary *api_binary_of(api_media media)
{
    return api_format_of(media)->binary;
}

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

static inline void api_emit_head(api_emit *e, unsigned kind, uint64_t argument)
{
    unsigned char head[API_HEAD_MAX];
    api_emit_put(e, head, api_binary_of(e->media)->head(head, kind, argument));
}

/* Appends a 64-bit float in network byte order. */
static inline void api_emit_double(api_emit *e, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = __builtin_bswap64(bits);
    api_emit_put(e, &api_binary_of(e->media)->number, 1);
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

/* Arrays of numbers in CBOR and MessagePack, in emit_binary.c. api_binary_lanes_states returns false at a number that
 * is not finite. */
void   api_binary_lanes_begin(api_emit *e, const api_lanes *a);
size_t api_binary_lanes_room(api_media media, const api_lanes *a, size_t first, size_t states);
bool   api_binary_lanes_states(api_emit *e, const api_lanes *a, size_t first, size_t states);
