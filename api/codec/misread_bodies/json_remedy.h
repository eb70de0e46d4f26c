/* json_remedy.h - name the remedy for malformed JSON that writers of JSON by hand, by templates or by libraries of
 * other notations send: spellings of numbers, words and strings of other languages, other encodings. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The remedy for a syntax error. */
typedef struct api_json_remedy {
    const char *text;     /* a string literal; NULL: none is known */
    bool        in_value; /* true: one value is misspelt */
    size_t      value;    /* offset of the misspelt value, or just after it */
} api_json_remedy;

/* Returns the remedy for text[0 .. length), whose parser stopped after the byte text[position - 1]. */
api_json_remedy api_json_remedy_find(const char *text, size_t length, size_t position);
