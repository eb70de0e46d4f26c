/* hex.h - CBOR written in hexadecimal, through the reader of requests. Needs an open door. */
#pragma once
#include "nodes.h"

/* The numbers 1 and 2 in eight bytes, the lowest first, as typed arrays hold them. */
#define ONE "000000000000f03f"
#define TWO "0000000000000040"

size_t          hex_bytes(const char *hex, unsigned char *bytes); /* how many */
const api_node *hex_read(const char *hex);                        /* as nodes_read */

/* Asserts that it is read as the nodes of that JSON text. */
void assert_hex_is(const char *hex, const char *text);

/* Asserts that it is refused, by the reader or when batches of states are looked at, with that code, pointer (NULL:
 * none), and offset (-1: none). */
void assert_hex_refused(const char *hex, api_code code, const char *pointer, long long offset);
