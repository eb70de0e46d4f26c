/* kind_text.h - describe values of the wrong kind for messages, with the remedy where the writer's mistake shows. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Describes an object with the key "0": a typed array of JavaScript through JSON.stringify, or an array of PHP whose
 * keys have a gap. */
#define API_INDEXED_OBJECT                                                                                             \
    "an object with the keys \"0\", \"1\", ... (send an array: Array.from in JavaScript, array_values in PHP)"

/* The remedy for numbers as keys: a table of Lua with a gap, an array of PHP, a dict of Python. */
#define API_NUMBERED_KEYS " (send an array in place of the keys 0, 1, ...; names of fields are texts)"

/* The remedy for a tag of CBOR that no request has. */
const char *api_remedy_of_tag(uint64_t tag);

/* Describes a string: one that spells a number or another JSON text with its remedy, any other as "a string". */
const char *api_kind_of_string(const char *text, size_t length);
