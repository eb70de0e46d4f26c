/* nodes.h - passes bytes, or bytes in hexadecimal, to a reader of requests, and writes the resulting nodes as text. The
 * service under test must be open (door.h). */
#pragma once
#include "api/codec/nodes/node_read.h"

typedef enum nodes_reader { NODES_TEXT, NODES_JSON, NODES_CBOR, NODES_MSGPACK } nodes_reader;

/* Returns the root node, valid until the next reading. NULL: the body was refused (nodes_problem has the reason), or
 * the one-pass text reader leaves it to jansson (then there is no problem). The bytes are copied to the end of a block
 * of exactly their length, so that a sanitizer notices a read beyond them. */
const api_node    *nodes_read(nodes_reader reader, const void *bytes, size_t length);
const api_problem *nodes_problem(void);
size_t             nodes_taken(void);            /* number of bytes of memory that the last reading used */
int                nodes_teardown(void **state); /* teardown of a group of tests */

/* Writes the tree as text: packed arrays begin with # and their rank, numbers are hexadecimal, keys keep their order.
 * The text is valid until the call after the next. */
const char *nodes_text(const api_node *node);

/* --- bodies in hexadecimal -------------------------------------------------------------------------------------- */

/* The doubles 1 and 2 as typed arrays hold them: eight bytes, little-endian. */
#define ONE "000000000000f03f"
#define TWO "0000000000000040"

void            hex_use(nodes_reader reader);                     /* NODES_CBOR until another is used */
size_t          hex_bytes(const char *hex, unsigned char *bytes); /* returns the number of bytes */
const api_node *hex_read(const char *hex);                        /* see nodes_read */

/* Asserts that this body is read as the same nodes as the JSON text. */
void assert_hex_is(const char *hex, const char *text);

/* Asserts that this body is refused, by the reader or when batches of states are checked, with that code, pointer
 * (NULL: none), and offset (-1: none). */
void assert_hex_refused(const char *hex, api_code code, const char *pointer, long long offset);
