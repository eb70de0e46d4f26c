/* node_read.h - read a request in any encoding into nodes. Nodes lie in a pool; packed numbers may lie in the body. */
#pragma once
#include "api/memory/pool.h"
#include "api/http/negotiate.h"
#include "node.h"
#include "api/wire/pointer.h"

/* Settings of a reader. */
typedef struct api_read_options {
    api_pool          *pool;          /* memory of the nodes; its problem describes what is wrong with the body */
    unsigned           nesting;       /* most levels of arrays and objects */
    const char *const *checked_later; /* [n_checked_later] members of the root whose packed rows the reader does not
                                         check to be finite; api_check_members_finite does */
    size_t n_checked_later;
} api_read_options;

/* Reads a body in the encoding `content`. */
bool api_read_request(const api_read_options *r, api_media content, const char *body, size_t length, api_node *root);

/* Checks the packed numbers of `n` members that are still `unchecked`. False with a problem at the first that is not
 * finite. */
bool api_check_members_finite(api_problem *problem, const api_node *members, size_t n);

/* Fails with 422 at number i of the packed numbers at pointer `at`; returns false. */
bool api_fail_non_finite(api_problem *problem, const api_pointer *pointer, const api_node *numbers, size_t i);

/* Reads any JSON text. False with a problem: 400 with an offset, 422 with a pointer for a value that cannot be
 * represented, or 503. */
bool api_read_json(const api_read_options *r, const char *text, size_t length, api_node *root);

/* Reads a JSON text without escapes and non-ASCII characters in one pass. DECLINED: the text is not of this kind or
 * not valid; api_read_json, which makes the same nodes, must read it and words the problems. FAILED with a problem:
 * no memory. */
typedef enum api_plain_json_outcome {
    API_PLAIN_JSON_READ,
    API_PLAIN_JSON_DECLINED,
    API_PLAIN_JSON_FAILED
} api_plain_json_outcome;
api_plain_json_outcome api_read_plain_json(const api_read_options *r, const char *text, size_t length, api_node *root);

/* Reads a CBOR item that JSON could represent, with typed arrays of doubles and floats. False with a problem as
 * above. */
bool api_read_cbor(const api_read_options *r, const char *body, size_t length, api_node *root);
