/* nodes.h - bytes through a reader of requests, and the nodes as text. */
#pragma once
#include "api/codec/nodes/node_read.h"

typedef enum nodes_reader { NODES_TEXT, NODES_JSON, NODES_CBOR } nodes_reader;

/* The root, valid until the next reading; NULL: refused (nodes_problem says why), or not taken by the text reader (then
 * there is no problem). The bytes are copied to the end of a block of exactly their length. */
const api_node    *nodes_read(nodes_reader reader, const void *bytes, size_t length);
const api_problem *nodes_problem(void);
size_t             nodes_taken(void);            /* bytes that the last reading took */
int                nodes_teardown(void **state); /* of a group of tests */

/* The tree as text: packed arrays begin with # and their rank, numbers are hexadecimal, keys stand as they came.
 * Valid until the next but one. */
const char *nodes_text(const api_node *node);
