/* emit.h - everything an answer is made of, said once for every encoding: an emitter is told objects, arrays, names
 * and numbers, and writes them as JSON text or as CBOR (RFC 8949).
 *
 *     api_emit e;
 *     api_emit_init(&e, media, &buffer);
 *     api_emit_object(&e);
 *     api_emit_key(&e, "mass");
 *     api_emit_number(&e, 9.5);
 *     api_emit_end(&e);
 *
 * Nobody counts ahead: lengths are definite in CBOR, and what an object or array of 24 items or more holds is moved
 * once, when it ends, for the longer head. An emitter without a buffer measures: the same calls add up what they would
 * write, exactly but for numbers in JSON, each of which counts as the longest. Whatever goes wrong (no room, a number
 * that is not finite) sets `failed` for good; check once, with api_emit_done. */
#pragma once
#include "dynamics/dynamics.h"
#include "api/memory/buffer.h"
#include "api/http/negotiate.h"

enum { API_EMIT_DEPTH = 24, API_EMIT_RANK = 6 };

typedef struct api_emit {
    api_media   media;
    api_buffer *buffer; /* NULL: measure */
    size_t      bytes;  /* measured; unused with a buffer */
    bool        failed, after_key;
    unsigned    depth;
    struct {
        size_t begin, items; /* place of the first byte; values so far, keys among them */
        bool   is_object;
    } open[API_EMIT_DEPTH];
} api_emit;

void   api_emit_init(api_emit *e, api_media media, api_buffer *buffer); /* what is not open yet is not cleared */
bool   api_emit_done(const api_emit *e);   /* everything that began has ended, and nothing failed */
size_t api_emit_length(const api_emit *e); /* bytes written or measured */

void api_emit_object(api_emit *e); /* begins: a key, its value, a key ... */
void api_emit_array(api_emit *e);  /* begins */
void api_emit_end(api_emit *e);    /* of what began last */
void api_emit_key(api_emit *e, const char *key);
void api_emit_string(api_emit *e, const char *text); /* what is no UTF-8 in it becomes U+FFFD */
void api_emit_integer(api_emit *e, long long value); /* counts and sizes: an integer in CBOR, too */
void api_emit_number(api_emit *e, double value);     /* finite; 64 bits in CBOR, whatever its value */
void api_emit_boolean(api_emit *e, bool value);
void api_emit_null(api_emit *e);

/* Members of the object that began last: a key and its value. */
void               api_emit_names(api_emit *e, const char *key, const char *const *names, size_t n);
static inline void api_emit_string_member(api_emit *e, const char *key, const char *text)
{
    api_emit_key(e, key);
    api_emit_string(e, text);
}
static inline void api_emit_integer_member(api_emit *e, const char *key, long long value)
{
    api_emit_key(e, key);
    api_emit_integer(e, value);
}
static inline void api_emit_number_member(api_emit *e, const char *key, double value)
{
    api_emit_key(e, key);
    api_emit_number(e, value);
}

/* --- arrays of numbers ------------------------------------------------------------------------------------------ */

/* As kernels leave them: entry k of state s, of which the lanes begin with state `first`, is, with s counted from
 * there, at[(s / W * entries + k) * W + s % W]. In CBOR such an array is a typed array (RFC 8746): tag 86 for one
 * dimension, tag 40 over it for more, a plain float for none. */
typedef struct api_lanes {
    const double      *values;
    const dyn_kernels *kernels; /* of width W */
    size_t             entries;
    size_t             first, states; /* `states` of the whole array */
    bool               batched;       /* whether the states are the first dimension; else there is one */
    size_t             group;         /* of a batch, states that make one row: one more dimension behind it; 0: a state
                                       * is a row */
    size_t               rank, extent[API_EMIT_RANK];
    const int           *order;  /* place i of a state's row-major numbers has entry order[i]; NULL: i */
    const unsigned char *failed; /* [states] not 0: null in JSON, NaN in CBOR stand for the state, of a group for all of
                                  * it; NULL: none */
} api_lanes;

/* The whole array, or its states range after range in order between begin and end; ranges begin with a block of lanes.
 * False at a number that is not finite: `fault` is its place in the row-major answer, states first. */
void api_emit_lanes_begin(api_emit *e, const api_lanes *a);
bool api_emit_lanes_states(api_emit *e, const api_lanes *a, size_t first, size_t states, size_t *fault);
void api_emit_lanes_end(api_emit *e, const api_lanes *a);

/* Whether a number of such a range of states that have not failed is not finite: `fault` is the first one's place. */
bool api_emit_lanes_find_non_finite(const api_lanes *a, size_t first, size_t states, size_t *fault);

/* Most bytes that a range of so many states takes: exactly those it takes in CBOR. */
size_t api_emit_lanes_room(api_media media, const api_lanes *a, size_t states);

/* `values` in row-major sequence: `extent` x ..., rank 1 or more. */
void api_emit_numbers(api_emit *e, const double *values, size_t rank, const size_t *extent);
