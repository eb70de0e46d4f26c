/* json.h - jansson, with the product's rules around it. */
#pragma once
#include "emit.h"
#include "api/problem.h"
#include <jansson.h>

/* Parses one JSON text: duplicates refused, numbers all real, nesting within the limit. NULL and a problem (400
 * with offset, or 422 for a number that overflows or a NUL in a string). The caller json_decref's it. */
json_t *api_json_parse(const char *text, size_t length, unsigned nesting, api_problem *problem);

/* Bytes that parsing such a text takes at most, about: what it costs is known before it is parsed. */
size_t api_json_estimate_memory(const char *text, size_t length);

/* "a number", "an object" ...: the kind of a value, for messages. NULL is "nothing". */
const char *api_json_kind(const json_t *value);

/* A tree through the emitter, keys in insertion order; in CBOR arrays of numbers are typed. And as compact JSON, with
 * api_number_write's numbers: a real that holds an integer prints as an integer. In json_emit.c. */
void api_json_emit(api_emit *e, const json_t *value);
void api_json_print(api_buffer *buffer, const json_t *value);
