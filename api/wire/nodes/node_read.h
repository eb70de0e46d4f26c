/* node_read.h - the readers of requests: bytes of one encoding into nodes, which lie in a pool and, packed numbers, in
 * the body itself. */
#pragma once
#include "api/memory/pool.h"
#include "api/http/negotiate.h"
#include "node.h"
#include "api/wire/pointer.h"

/* What readers go by. */
typedef struct api_reading {
    api_pool          *pool;    /* for the nodes; its problem says what is wrong with the body */
    unsigned           nesting; /* of arrays and objects, at most */
    const char *const *later;   /* [n_later] members of the root whose packed rows nobody looks at here (api_look_at) */
    size_t             n_later;
} api_reading;

/* A body in the encoding that its head names. */
bool api_read_request(const api_reading *r, api_media content, const char *body, size_t length, api_node *root);

/* Looks at the numbers among an object's members that nobody has looked at yet; false with a problem at the first that
 * is not finite. */
bool api_look_at(api_problem *problem, const api_node *members, size_t n);

/* 422 at number i of packed ones that stand at `at`. */
bool api_fail_infinite(api_problem *problem, const api_pointer *at, const api_node *numbers, size_t i);

/* Any JSON text. False with a problem: 400 with an offset, 422 with a pointer for what cannot be held, or 503. */
bool api_read_json(const api_reading *r, const char *text, size_t length, api_node *root);

/* A plain JSON text; NOT_TAKEN is for api_read_json, which takes all that this does for the same nodes, and has the
 * words for what is wrong. REFUSED with a problem: there is no memory. */
typedef enum api_taken { API_TAKEN, API_NOT_TAKEN, API_REFUSED } api_taken;
api_taken api_read_text(const api_reading *r, const char *text, size_t length, api_node *root);

/* Any CBOR item that JSON could hold, with typed arrays of doubles and floats. False with a problem as above. */
bool api_read_cbor(const api_reading *r, const char *body, size_t length, api_node *root);
