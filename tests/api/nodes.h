/* nodes.h - passes bytes to a reader of requests, and writes the resulting nodes as text. */
#pragma once
#include "api/codec/nodes/node_read.h"

typedef enum nodes_reader { NODES_TEXT, NODES_JSON, NODES_CBOR, NODES_MSGPACK } nodes_reader;

/* Returns the root node, valid until the next reading. NULL: refused (nodes_problem has the reason), or left to the
 * other reader by the text reader (then there is no problem). The bytes are copied to the end of a block of exactly
 * their length, so that a sanitizer notices a read beyond them. */
const api_node    *nodes_read(nodes_reader reader, const void *bytes, size_t length);
const api_problem *nodes_problem(void);
size_t             nodes_taken(void);            /* number of bytes of memory that the last reading used */
int                nodes_teardown(void **state); /* teardown of a group of tests */

/* Writes the tree as text: packed arrays begin with # and their rank, numbers are hexadecimal, keys keep their order.
 * The text is valid until the call after the next. */
const char *nodes_text(const api_node *node);
