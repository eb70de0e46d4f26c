/* number_rows.h - declare the types and functions that the portable code and the AVX2 code for rows of numbers share.
 * Private to number_read.c, number_write.c and their AVX2 counterparts. */
#pragma once
#include "number.h"
#include "api/codec/decimal/write.h"
#include <string.h>

/* True if api_numbers_choose has chosen AVX2. */
bool api_numbers_use_avx2(void);

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* The bytes between two numbers, at most four; `mask` selects them. */
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
    api_gap     gap[2]; /* last gaps that were read: [0] between numbers of a row, [1] between rows */
} api_rows_reader;

/* True if the next four numbers have one digit and a comma after it. */
static inline bool api_rows_begin_with_digits(const api_rows_reader *r)
{
    const uint64_t commas = 0x2C002C002C002C00, between = 0xFF00FF00FF00FF00;
    uint64_t       text;
    if (r->end - r->next < (ptrdiff_t)sizeof text) return false;
    memcpy(&text, r->next, sizeof text);
    return (text & between) == commas;
}

/* Reads numbers until one has an exponent or another unusual form, has other bytes before it than the last gap, is near
 * the end of the text, or is the first of several with one digit. The caller reads that number. */
void api_rows_read_avx2(api_rows_reader *r);

/* --- writing ------------------------------------------------------------------------------------------------------ */

enum { API_LAYOUTS = 44 };

/* Positions of seventeen digits in a text. The first sixteen have index / 2 decimal places; if the index is odd, the
 * first digit is a 0 that is left out. Byte i of the text is fixed[i], or byte digit[i] of sixteen: for i < 16 of the
 * digits 1 to 16, else of the digits 2 to 17. The text ends after the last byte that is larger than least[i]: a digit
 * other than 0, or the digit before the point. */
typedef struct api_number_layout {
    unsigned char digit[32], fixed[32];
    char          least[32];
} api_number_layout;

extern const api_number_layout api_number_layouts[API_LAYOUTS];

/* The state of a writer. `gap` tells what comes before the next number: 0 nothing, 1 a comma, 3 the end of a row. */
typedef struct api_rows_writer {
    char  *to; /* end of the last number */
    size_t width, column, gap;
} api_rows_writer;

/* Writes the separator before a number. Returns the place of its first digit. */
__attribute__((always_inline)) static inline char *api_rows_write_gap(api_rows_writer *w, bool negative)
{
    static const char gaps[][4] = {"-", ",-", "", "],[-"};
    memcpy(w->to, gaps[w->gap], sizeof *gaps);
    char *to  = w->to + w->gap + negative;
    w->column = w->column + 1 == w->width ? 0 : w->column + 1;
    w->gap    = w->column == 0 ? 3 : 1;
    return to;
}

static inline uint64_t api_bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* True if all numbers are 0, none of them negative. Most other arrays fail at the first or the last number. */
__attribute__((always_inline)) static inline bool api_rows_are_zeros(const double *values, size_t count)
{
    uint64_t any = api_bits_of(values[0]) | api_bits_of(values[count - 1]);
    for (size_t i = 1; i + 1 < count && any == 0; i++)
        any = api_bits_of(values[i]);
    return any == 0;
}

/* Writes zeros, which whole arrays often are: accelerations at rest. */
static inline void api_rows_write_zeros(api_rows_writer *w, size_t count)
{
    api_rows_writer next = *w; /* text could overwrite *w, but not a local variable */
    for (size_t i = 0; i < count; i++) {
        next.to    = api_rows_write_gap(&next, false);
        *next.to++ = '0';
    }
    *w = next;
}

/* Write numbers after those already written: see api_rows_write. */
void api_rows_write_portably(api_rows_writer *w, const double *values, size_t count);
void api_rows_write_avx2(api_rows_writer *w, const double *values, size_t count);
