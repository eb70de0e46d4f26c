/* cbor_typed_elements.h - convert the elements of typed arrays (RFC 8746, section 2) to doubles. A tag from 64 to 87
 * gives the type: bit 4 floating-point, bit 3 signed, bit 2 little-endian, bits 1 and 0 the width. */
#pragma once
#include "api/codec/nodes/node_read.h"

enum { API_CBOR_TAG_FLOATS = 85, API_CBOR_TAG_DOUBLES = 86, API_CBOR_INTEGER_MAX = 24 };

/* Returns the bytes of an element; 0 if this tag is none of a typed array, is reserved (76), or has elements of 128
 * bits. */
size_t api_cbor_typed_width(uint64_t tag);

/* True for little-endian floats and doubles, which nodes hold as they are. */
bool api_cbor_typed_is_packed(uint64_t tag);

/* Converts [n] elements. Sets `*good` to n, or to the index of the first integer that is no double. False with a
 * problem if the deadline has passed. */
bool api_cbor_typed_convert(const api_read_options *r, uint64_t tag, const unsigned char *elements, size_t n,
                            double *to, size_t *good);

/* Writes element i of an array of integers as text; returns the text. */
const char *api_cbor_typed_integer(uint64_t tag, const unsigned char *elements, size_t i,
                                   char text[API_CBOR_INTEGER_MAX]);
