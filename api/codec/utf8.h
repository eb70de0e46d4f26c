/* utf8.h - check text for well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#pragma once
#include <stddef.h>

/* Returns the length of the UTF-8 character at the start of text[0..length); 0 if it is ill-formed or incomplete.
 * Reading stops at a NUL, so any `length` is safe for a NUL-terminated text. */
size_t api_utf8_character(const char *text, size_t length);

/* Returns the number of bytes of text[0..length) before the first ill-formed character or NUL. */
size_t api_utf8_prefix(const char *text, size_t length);

/* Returns the bytes of the byte order mark, U+FEFF, at the start of text[0..length), which some editors and libraries
 * write: 3, or 0 if there is none. */
size_t api_utf8_mark(const char *text, size_t length);
