/* node_read.h - read a request in any encoding into nodes. Nodes lie in a pool; packed numbers may lie in the body. */
#pragma once
#include "api/base/memory/pool.h"
#include "api/base/work/deadline.h"
#include "api/codec/negotiate.h"
#include "node.h"
#include "api/codec/pointer.h"

/* Settings for reading a request. */
typedef struct api_read_options {
    api_pool *pool;    /* allocates the nodes; its problem describes an invalid body */
    unsigned  nesting; /* largest number of nested arrays and objects */
    /* [n_checked_later] members of the root whose packed rows a reader leaves unchecked, see
     * api_check_members_finite. */
    const char *const *checked_later;
    size_t             n_checked_later;
    /* Set by the reader of CBOR to the form of the arrays of numbers in the body, one of API_MEDIA_CBOR*: plain if one
     * of them is plain or there are none. NULL: not wanted. */
    api_media *form;
    /* Asked after every API_READ_LOOK bytes of a body; past it the reading ends with its problem. NULL: none. */
    const api_deadline *deadline;
} api_read_options;

enum { API_READ_LOOK = 32 * 1024 /* bytes; up to 2 ms */ };

/* Checks the deadline when reading has come to the offset `*look`, and advances that. */
static inline bool api_read_goes_on(const api_read_options *r, size_t position, size_t *look)
{
    if (position < *look) return true;
    *look = position + API_READ_LOOK;
    return api_deadline_check(r->deadline, r->pool->problem);
}

/* Reads a body in the encoding `content`. */
bool api_read_request(const api_read_options *r, api_media content, const char *body, size_t length, api_node *root);

/* Checks that those packed numbers of `n` members are finite which a reader has marked `unchecked`. False with a
 * problem at the first that is not. */
bool api_check_members_finite(api_problem *problem, const api_node *members, size_t n);

/* Sets the problem that number i of packed numbers is not finite (422); `pointer` is that of the whole array. Returns
 * false. */
bool api_fail_non_finite(api_problem *problem, const api_pointer *pointer, const api_node *numbers, size_t i);

/* Reads any JSON text. False with a problem: 400 with an offset for malformed JSON, 422 with a pointer for a value that
 * cannot be represented, 503 if memory is short. */
bool api_read_json(const api_read_options *r, const char *text, size_t length, api_node *root);

/* Outcome of api_read_plain_json, which reads JSON without escapes and non-ASCII characters in one pass. DECLINED: the
 * text is invalid or not of this kind. Then api_read_json must read it, which makes the same nodes and words the
 * problems. FAILED: no memory, or the deadline has passed; the problem is set. */
typedef enum api_plain_json_outcome {
    API_PLAIN_JSON_READ,
    API_PLAIN_JSON_DECLINED,
    API_PLAIN_JSON_FAILED
} api_plain_json_outcome;
api_plain_json_outcome api_read_plain_json(const api_read_options *r, const char *text, size_t length, api_node *root);

/* Reads a CBOR item that JSON could represent, or with typed arrays of doubles and floats. False with a problem: 400
 * for malformed CBOR, 422 for a value that cannot be represented, 503 if memory is short. */
bool api_read_cbor(const api_read_options *r, const char *body, size_t length, api_node *root);

/* Reads a MessagePack object that JSON could represent, or with typed arrays of msgpackr (ext 0x74) of doubles and
 * floats. Problems are those of CBOR; an integer that is no double is refused (422). */
bool api_read_msgpack(const api_read_options *r, const char *body, size_t length, api_node *root);
