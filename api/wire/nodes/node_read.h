/* node_read.h - the readers of requests: bytes of one encoding into nodes, which lie in a pool and, packed numbers, in
 * the body itself. */
#pragma once
#include "api/memory/pool.h"
#include "api/http/negotiate.h"
#include "node.h"
#include "api/wire/pointer.h"

/* What readers go by. */
typedef struct api_read_options {
    api_pool          *pool;          /* for the nodes; its problem says what is wrong with the body */
    unsigned           nesting;       /* of arrays and objects, at most */
    const char *const *checked_later; /* [n_checked_later] members of the root whose packed rows nobody looks at here
                                         (api_check_members_finite) */
    size_t n_checked_later;
} api_read_options;

/* A body in the encoding that its head names. */
bool api_read_request(const api_read_options *r, api_media content, const char *body, size_t length, api_node *root);

/* Looks at the numbers among an object's members that nobody has looked at yet; false with a problem at the first that
 * is not finite. */
bool api_check_members_finite(api_problem *problem, const api_node *members, size_t n);

/* 422 at number i of packed ones that stand at `at`. */
bool api_fail_non_finite(api_problem *problem, const api_pointer *at, const api_node *numbers, size_t i);

/* Any JSON text. False with a problem: 400 with an offset, 422 with a pointer for what cannot be held, or 503. */
bool api_read_json(const api_read_options *r, const char *text, size_t length, api_node *root);

/* A plain JSON text; NOT_TAKEN is for api_read_json, which takes all that this does for the same nodes, and has the
 * words for what is wrong. REFUSED with a problem: there is no memory. */
typedef enum api_plain_json_outcome {
    API_PLAIN_JSON_READ,
    API_PLAIN_JSON_DECLINED,
    API_PLAIN_JSON_FAILED
} api_plain_json_outcome;
api_plain_json_outcome api_read_plain_json(const api_read_options *r, const char *text, size_t length, api_node *root);

/* Any CBOR item that JSON could hold, with typed arrays of doubles and floats. False with a problem as above. */
bool api_read_cbor(const api_read_options *r, const char *body, size_t length, api_node *root);
