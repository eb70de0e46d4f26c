/* number.h - read and write doubles as decimal text: number_read.c and number_write.c. decimal/ROUNDING.md proves that
 * the results are rounded correctly. No result depends on the locale. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define API_NUMBER_MAX  25 /* bytes of the longest text: sign, "0.", five zeros, 17 digits */
#define API_NUMBER_ROOM 40 /* bytes that must be writable for one number: a write may touch bytes after the text */

/* Writes the shortest text that reads back as the same double, laid out as ECMAScript's Number::toString; -0 as
 * "-0". Returns the length; no NUL is written. The value must be finite. */
size_t api_number_write(double value, char text[API_NUMBER_ROOM]);

/* Writes `count` numbers separated by commas, faster than single calls of api_number_write. `text` must have space for
 * API_NUMBER_MAX bytes per number, the commas, and API_NUMBER_ROOM more bytes. */
size_t api_numbers_write(const double *values, size_t count, char *text);

/* Writes rows of `width` numbers: "1,2],[3,4", without the brackets around all of them; `count` numbers in all. The
 * last row may be shorter; a width of 0 makes one row. Two more bytes are needed for each row. */
size_t api_rows_write(const double *values, size_t count, size_t width, char *text);

/* Yields a number as a NUL-terminated string for a message, valid until the enclosing block ends. A number that is not
 * finite gives "inf" or "nan". */
#define API_NUMBER_TEXT(value) api_number_text(value, (char[API_NUMBER_ROOM]){0})
const char *api_number_text(double value, char text[API_NUMBER_ROOM]);

/* Reads a JSON number (grammar of RFC 8259) at the start of text[0..length). Returns the bytes read, 0 if there is
 * no number. `*value` is infinite when the number overflows; a number that underflows is rounded. */
size_t api_number_read(const char *text, size_t length, double *value);

/* Reads at most `most` finite numbers separated by commas and white space, and sets `*count` to how many were read.
 * Returns the bytes read, up to the end of the last number. */
size_t api_numbers_read(const char *text, size_t length, double *values, size_t most, size_t *count);

/* Rows of numbers in a text: "1,2],[3,4" from the first number on. */
typedef struct api_rows {
    const char *begin; /* the text is readable from here on, which may be before the first number */
    const char *text, *end;
    size_t      width; /* numbers of a row; 0: all numbers are in one row */
} api_rows;

/* Reads at most `most` finite numbers of rows, and sets `*count` to how many were read. Returns the bytes read, up to
 * the end of the last number. Reading stops before a row that has fewer or more numbers. */
size_t api_rows_read(const api_rows *rows, double *values, size_t most, size_t *count);

/* Chooses the code that reads and writes lists and rows by the target of the kernels; results do not depend on it. AVX2
 * is used for "avx2" and "avx512" where the processor has it. */
void api_numbers_choose(const char *target);

/* Reads a decimal number in the form of C programs, which URDF files use: also "+1", ".5", "1." and "007"; no
 * hexadecimal, "inf" or "nan". */
size_t api_number_read_decimal(const char *text, size_t length, double *value);
