/* utf8.h - well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing past U+10FFFF. */
#pragma once
#include <stddef.h>

/* Length of the character at the start of text[0..length), 0 if it is ill-formed or cut off. Does not look behind a
 * NUL, so that any length will do for a text that ends with one. */
size_t api_utf8_character(const char *text, size_t length);

/* Bytes of text[0..length) before the first that is ill-formed or NUL. */
size_t api_utf8_prefix(const char *text, size_t length);
