/* hex.h - passes CBOR or MessagePack written in hexadecimal to the reader of requests. The service under test must be
 * open (door.h). */
#pragma once
#include "nodes.h"

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
