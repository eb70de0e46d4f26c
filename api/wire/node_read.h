/* node_read.h - the readers of requests: bytes of one encoding into nodes. */
#pragma once
#include "api/evaluation/evaluation.h"
#include "node.h"

/* The body of the evaluation's input, in the encoding that its head names. */
bool api_read_request(api_evaluation *e, api_node *root);

/* Looks at the numbers among an object's members that nobody has looked at yet; false with a problem at the first that
 * is not finite. */
bool api_look_at(api_problem *problem, const api_node *members, size_t n);

/* 422 at number i of packed ones that stand at `at`. */
bool api_fail_infinite(api_problem *problem, const api_pointer *at, const api_node *numbers, size_t i);

/* Any JSON text. False with a problem: 400 with an offset, 422 with a pointer for what cannot be held, or 503. */
bool api_read_json(api_evaluation *e, const char *text, size_t length, api_node *root);

/* A plain JSON text; NOT_TAKEN is for api_read_json, which takes all that this does for the same nodes, and has the
 * words for what is wrong. REFUSED with a problem: there is no memory. */
typedef enum api_taken { API_TAKEN, API_NOT_TAKEN, API_REFUSED } api_taken;
api_taken api_read_text(api_evaluation *e, const char *text, size_t length, api_node *root);

/* Any CBOR item that JSON could hold, with typed arrays of doubles and floats. False with a problem as above. */
bool api_read_cbor(api_evaluation *e, const char *body, size_t length, api_node *root);
