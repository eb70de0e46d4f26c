/* number.h - doubles as text, through the packaged fast_float and dragonbox headers (number.cc and number_write.cc are
 * the only C++ of the product). Neither depends on the locale. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define API_NUMBER_MAX  25 /* longest text: sign, 0., five zeros, 17 digits */
#define API_NUMBER_ROOM 40 /* what must be writable for one number: bytes behind its text may be overwritten */

/* Writes the shortest text that reads back to the same double, laid out as ECMAScript's Number::toString does;
 * -0 as "-0". Returns its length, no NUL. The value must be finite. */
size_t api_number_write(double value, char text[API_NUMBER_ROOM]);

/* The same for some numbers with a comma between each two, which takes less time than one by one. There must be
 * API_NUMBER_ROOM bytes behind where a text of API_NUMBER_MAX bytes each and the commas would end. */
size_t api_numbers_write(const double *values, size_t count, char *text);

/* The same as a string, for a message: it lasts as long as the block around. What is not finite is "inf" or "nan". */
#define API_NUMBER_TEXT(value) api_number_text(value, (char[API_NUMBER_ROOM]){0})
const char *api_number_text(double value, char text[API_NUMBER_ROOM]);

/* Reads a JSON number (RFC 8259 grammar, checked here) at the start of text[0..length). Returns the bytes used,
 * 0 if there is none. `*value` is infinite when the number overflows; underflow rounds. */
size_t api_number_read(const char *text, size_t length, double *value);

/* The same for finite numbers with a comma and white space between each two, `most` of them or fewer: stops behind the
 * last number, before whatever does not go on like that. */
size_t api_numbers_read(const char *text, size_t length, double *values, size_t most, size_t *count);

/* The same for a decimal number as C programs write it, which is what URDF files hold: also "+1", ".5", "1." and
 * "007"; no hexadecimal, no "inf", no "nan". */
size_t api_number_read_decimal(const char *text, size_t length, double *value);
