/* emit.h - write answers as JSON text, as CBOR (RFC 8949) or as MessagePack through one interface of objects, arrays,
 * names and numbers.
 *
 *     api_emit e;
 *     api_emit_init(&e, media, &buffer);
 *     api_emit_object(&e);
 *     api_emit_key(&e, "mass");
 *     api_emit_number(&e, 9.5);
 *     api_emit_end(&e);
 *
 * The caller need not know sizes in advance. In CBOR and MessagePack all lengths are definite: an object or
 * array of many items is moved once, at its end, to make room for the longer head. A caller that keeps offsets into the
 * buffer begins the objects around them with api_emit_object_of, whose head is final: nothing is moved. Without a
 * buffer an emitter only measures: the same calls add up the bytes that they would write. The sum is exact, except that
 * each JSON number counts as the longest possible. Every error (no memory, a number that is not finite, another number
 * of members than announced) sets `failed` permanently; check it once, with api_emit_done. Keys live until the end. */
#pragma once
#include "dynamics/dynamics.h"
#include "api/base/memory/buffer.h"
#include "api/base/work/deadline.h"
#include "negotiate.h"

enum { API_EMIT_DEPTH = 24, API_EMIT_RANK = 6 };

typedef struct api_emit {
    api_media   media;
    api_buffer *buffer; /* NULL: only measure */
    size_t      bytes;  /* bytes that would have been written; unused with a buffer */
    bool        failed, after_key;
    const char *key;        /* key of the last member that was begun; NULL: none */
    const char *not_finite; /* key of the first number that was not finite; NULL: all were */
    unsigned    depth;
    struct {
        size_t begin, items; /* offset of the first byte; number of values so far, keys included */
        size_t announced;    /* `items` at the end, if the head is final */
        bool   is_object, is_final;
    } open[API_EMIT_DEPTH];
} api_emit;

void   api_emit_init(api_emit *e, api_media media, api_buffer *buffer); /* leaves `open` unset */
bool   api_emit_done(const api_emit *e);   /* true when every object and array has ended and nothing failed */
size_t api_emit_length(const api_emit *e); /* number of bytes written or measured */

void api_emit_object(api_emit *e); /* begins an object: then a key, its value, a key ... */
void api_emit_array(api_emit *e);  /* begins an array */
/* Begins an object of exactly `members` members; its end moves no bytes. */
void api_emit_object_of(api_emit *e, size_t members);
void api_emit_end(api_emit *e); /* ends the innermost object or array */
void api_emit_key(api_emit *e, const char *key);
void api_emit_string(api_emit *e, const char *text); /* NUL-terminated; ill-formed UTF-8 is replaced by U+FFFD */
void api_emit_integer(api_emit *e, long long value); /* writes an integer in every encoding, for counts and sizes */
void api_emit_number(api_emit *e, double value);     /* must be finite; always a 64-bit float in CBOR and MessagePack */
void api_emit_boolean(api_emit *e, bool value);
void api_emit_null(api_emit *e);

/* The functions *_names and *_member write a key and its value into the innermost object. */
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

/* An array of numbers in the lane layout of the kernels: W states side by side. Entry k of state s, counted from
 * state `first`, is values[(s / W * entries + k) * W + s % W]. In CBOR the array has the form of the media type: nested
 * arrays of floats; arrays of typed arrays (RFC 8746, tag 86); or one typed array, with tag 40 around it if it has
 * several dimensions. In MessagePack it is nested arrays of floats. A single number is a plain float. */
typedef struct api_lanes {
    const double      *values;
    const dyn_kernels *kernels; /* W is the lane width of these kernels */
    size_t             entries;
    size_t             first, states; /* first state in `values`; number of states of the whole array */
    bool       batched; /* true: the states are the first dimension; false: one state, without a dimension of states */
    size_t     group;   /* states per row of a batch, as an additional dimension; 0: each state is a row */
    size_t     rank, extent[API_EMIT_RANK];
    const int *order; /* number i of a state, row-major, is entry order[i]; NULL: entry i */
    /* [states] not 0: the state failed; write null, or NaN in typed arrays. In a group all states are marked. NULL: no
     * state failed. */
    const unsigned char *failed;
    /* Past it the rest of a large array is left out in JSON: then no answer is sent. NULL: none. */
    const api_deadline *deadline;
} api_lanes;

/* Write an array of numbers in parts: begin, then ranges of states in order, then end. Each range begins with a full
 * block of lanes. A number that is not finite makes api_emit_lanes_states return false and sets `fault` to its
 * row-major index, states first. */
void api_emit_lanes_begin(api_emit *e, const api_lanes *a);
bool api_emit_lanes_states(api_emit *e, const api_lanes *a, size_t first, size_t states, size_t *fault);
void api_emit_lanes_end(api_emit *e, const api_lanes *a);

/* True if a state that has not failed contains a number that is not finite; `fault` is the row-major index, states
 * first, of the first such number. */
bool api_emit_lanes_find_non_finite(const api_lanes *a, size_t first, size_t states, size_t *fault);

/* Returns the largest number of bytes that `states` states may take. In CBOR it is the exact number, if no state fails
 * and the states are all states of the array, or of no groups. */
size_t api_emit_lanes_room(api_media media, const api_lanes *a, size_t states);

/* Writes an array of numbers that is stored in row-major order, with `rank` (at least 1) dimensions of the lengths
 * `extent`. */
void api_emit_numbers(api_emit *e, const double *values, size_t rank, const size_t *extent);
