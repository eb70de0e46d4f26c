/* number_rows.h - what the portable and the AVX2 code for rows of numbers share. Private to number_read.c,
 * number_format.c and their AVX2 counterparts. */
#pragma once
#include "number.h"
#include "decimal/write.h"

/* True if api_numbers_choose has chosen AVX2. */
bool api_numbers_use_avx2(void);

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* The bytes between two numbers, at most four: those under the mask. */
typedef struct api_gap {
    uint32_t bytes, mask;
    size_t   length;
} api_gap;

/* The state of a reader. After each step `next` is the beginning of the next number and `column` counts the numbers of
 * the row before it; if no number follows, reading has ended. */
typedef struct api_rows_reader {
    const char *begin, *end, *next, *behind; /* `behind`: end of the last number */
    size_t      width, column, count, most;
    double     *values;
    api_gap     gap[2]; /* as last seen: between numbers of a row, between rows */
} api_rows_reader;

/* Reads numbers without an exponent until one is unusual, or separated by other bytes than the last ones, or near the
 * end of the text. The caller reads that one. */
void api_rows_read_avx2(api_rows_reader *r);

/* --- writing ------------------------------------------------------------------------------------------------------ */

enum { API_LAYOUT_LEAST = -5, API_LAYOUT_MOST = 17 };

/* How a number 0.d1 ... d17 * 10^n is laid out: byte i of the text is digit[i], counted from 0 within the first sixteen
 * digits, where fixed[i] is 0, else fixed[i]. */
typedef struct api_number_layout {
    unsigned char digit[32], fixed[32];
    unsigned char shift; /* places by which the last of the digits has moved */
    unsigned char last;  /* place of the seventeenth digit */
} api_number_layout;

extern const api_number_layout api_number_layouts[API_LAYOUT_MOST - API_LAYOUT_LEAST + 1];

/* Writes the digits of a number that has no layout. Returns the end of the text. */
char *api_number_put_rest(char *to, api_digits digits);

/* See api_rows_write. */
size_t api_rows_write_avx2(const double *values, size_t count, size_t width, char *text);
