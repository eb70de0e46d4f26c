/* json.h - parse and write JSON trees (jansson) under the rules of the API. */
#pragma once
#include "emit.h"
#include "api/problem.h"
#include <jansson.h>

/* Removes the members that are null from all objects of a tree: fields that are null are absent. Arrays keep their
 * nulls. */
void api_json_drop_nulls(json_t *tree);

/* Parses one JSON text, after a byte order mark if one is there (RFC 8259, section 8.1); reads every number as a real.
 * Returns NULL with a problem: 400 with an offset for malformed JSON, duplicate keys or deep nesting, 422 for a number
 * that overflows or U+0000 in a string. The caller releases the tree with json_decref. */
json_t *api_json_parse(const char *text, size_t length, unsigned nesting, api_problem *problem);

/* Returns an upper estimate, in bytes, of the memory that parsing the text takes; does not parse the text. */
size_t api_json_estimate_memory(const char *text, size_t length);

/* Returns the kind of a JSON value for messages: "a number", "an object" ...; for NULL "nothing". */
const char *api_json_kind(const json_t *value);

/* api_json_emit writes a tree through an emitter, keys in insertion order; in CBOR, arrays of numbers become typed
 * arrays. api_json_print writes compact JSON: a real with an integer value prints as an integer. Both are in
 * json_emit.c. */
void api_json_emit(api_emit *e, const json_t *value);
void api_json_print(api_buffer *buffer, const json_t *value);
