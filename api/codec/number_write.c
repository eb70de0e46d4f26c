/* number_write.c - write doubles as text, see number.h. The layout is that of Number::toString in ECMA-262. Digits are
 * made and moved eight at a time in registers, and written past the end of the text where that saves a branch. Each
 * step from number to text depends on the step before it, so a single number leaves the processor waiting. Taking each
 * step for several numbers before the next step hides that latency. */
#include "number_rows.h"
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first digit is the byte of least weight");

#define ALWAYS_INLINE __attribute__((always_inline)) static inline

enum {
    DIGITS = 17, /* most digits that a double needs */
    GROUP  = 8   /* numbers that take each step together */
};

#define ZEROS 0x3030303030303030u /* "00000000" */

/* value = 0.d1 d2 ... dk * 10^n. Sixteen digits follow the first one; those from d(k+1) on are zeros. */
typedef struct decimal {
    uint64_t all; /* the seventeen digits */
    int      k, n;
    uint64_t first, next, last; /* the first digit, the next eight and the last eight */
} decimal;

/* Step 1: find the shortest digits. */
ALWAYS_INLINE void shorten(double value, decimal *d)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    api_digits digits = api_decimal_shorten(bits & INT64_MAX);
    d->all            = digits.all;
    d->n              = digits.point;
}

/* Step 2: split the digits into one digit and two numbers of eight digits. */
ALWAYS_INLINE void divide(decimal *d)
{
    const uint64_t ten_to_8 = 100000000, ten_to_16 = 10000000000000000;
    uint64_t       most = d->all / ten_to_8;
    d->first            = d->all / ten_to_16;
    d->next             = most - d->first * ten_to_8;
    d->last             = d->all - most * ten_to_8;
}

#ifdef __SSE2__
/* Step 3: make the digits, one a byte. Quotient and remainder by 10000, 100 and 10 stand side by side; the products
 * replace divisions and are exact in the range of the lanes. */
ALWAYS_INLINE void spell(decimal *d)
{
    __m128i x = _mm_set_epi64x((long long)d->last, (long long)d->next);
    __m128i q = _mm_srli_epi64(_mm_mul_epu32(x, _mm_set1_epi64x(109951163)), 40);
    x         = _mm_or_si128(q, _mm_slli_epi64(_mm_sub_epi64(x, _mm_mul_epu32(q, _mm_set1_epi64x(10000))), 32));
    q         = _mm_srli_epi16(_mm_mulhi_epu16(x, _mm_set1_epi32(5243)), 3);
    x         = _mm_or_si128(q, _mm_slli_epi32(_mm_sub_epi16(x, _mm_mullo_epi16(q, _mm_set1_epi32(100))), 16));
    q         = _mm_mulhi_epu16(x, _mm_set1_epi16(6554));
    x         = _mm_or_si128(q, _mm_slli_epi16(_mm_sub_epi16(x, _mm_mullo_epi16(q, _mm_set1_epi16(10))), 8));
    d->next   = (uint64_t)_mm_cvtsi128_si64(x);
    d->last   = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(x, x));
}
#else
/* Converts 12345678 to one digit per byte, the first in the least significant byte. Quotient and remainder are computed
 * side by side in two lanes of 32 bits, then four of 16, then eight of 8. The products replace divisions by 100 and 10,
 * and are exact in the range of the lanes. */
ALWAYS_INLINE uint64_t eight_digits(uint64_t x)
{
    uint64_t q = x / 10000;
    x          = q | (x - 10000 * q) << 32;
    q          = (x * 10486 >> 20) & 0x0000007F0000007F;
    x          = q | (x - 100 * q) << 16;
    q          = (x * 103 >> 10) & 0x000F000F000F000F;
    x          = q | (x - 10 * q) << 8;
    return x;
}

/* Step 3: make the digits. */
ALWAYS_INLINE void spell(decimal *d)
{
    d->next = eight_digits(d->next);
    d->last = eight_digits(d->last);
}
#endif

/* Step 4: count the digits before the trailing zeros, and convert all digits to ASCII. */
ALWAYS_INLINE void complete(decimal *d)
{
    uint64_t end   = d->last ? d->last : d->next;
    int      zeros = __builtin_ctzll(__builtin_bswap64(end | 1)) / 8;
    d->k           = end ? (d->last ? DIGITS : DIGITS - 8) - zeros : 1;
    d->first |= '0';
    d->next |= ZEROS;
    d->last |= ZEROS;
}

static inline void put_eight(char *p, uint64_t eight)
{
    memcpy(p, &eight, sizeof eight);
}

static inline void put_digits(char *p, const decimal *d)
{
    *p = (char)(d->first);
    put_eight(p + 1, d->next);
    put_eight(p + 9, d->last);
}

/* Combines eight bytes: from `from` where the mask is set, from `others` elsewhere. */
static inline uint64_t merge(const unsigned char *mask, uint64_t from, uint64_t others)
{
    uint64_t bits;
    memcpy(&bits, mask, sizeof bits);
    return others ^ ((others ^ from) & bits);
}

/* Writes "123.4", "0.00123" and "1200", for -6 < n <= 17. Which of the forms applies is unpredictable, so there is no
 * branch on it. With n <= 0 the digits follow "0.00000". Otherwise the digits before the point come first, and the
 * others are shifted by one place; an integer ends before the point. */
ALWAYS_INLINE char *put_point(char *p, const decimal *d)
{
    static const unsigned char mask[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                           255, 255, 255, 255, 255, 255, 255, 255};
    bool                       among    = d->n > 0;
    char                      *digits = p + (among ? 0 : 2 - d->n), *point = p + (among ? d->n : 1);
    const unsigned char       *before = mask + (among ? DIGITS - d->n : 0);
    put_eight(p, ZEROS);
    put_eight(digits + 10, d->last);
    *digits = (char)d->first;
    put_eight(digits + 1, merge(before, d->next, d->next << 8 | d->first));
    put_eight(digits + 9, merge(before + 8, d->last, d->last << 8 | d->next >> 56));
    *point = '.';
    return d->k <= d->n ? point : digits + d->k + among;
}

/* "1.234e-56" */
static char *put_exponential(char *p, const decimal *d)
{
    int exponent = d->n - 1, size = exponent < 0 ? -exponent : exponent;
    p[0] = (char)(d->first);
    p[1] = '.';
    put_eight(p + 2, d->next);
    put_eight(p + 10, d->last);
    p += d->k > 1 ? d->k + 1 : 1;
    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    if (size >= 100) *p++ = (char)('0' + size / 100);
    if (size >= 10) *p++ = (char)('0' + size / 10 % 10);
    *p++ = (char)('0' + size % 10);
    return p;
}

/* Writes integers of more than 17 digits and numbers with an exponent. */
__attribute__((noinline)) static char *put_rest(char *p, const decimal *d)
{
    if (d->n <= -6 || d->n > 21) return put_exponential(p, d);
    put_digits(p, d);
    put_eight(p + DIGITS, ZEROS);
    return p + d->n;
}

ALWAYS_INLINE char *put(char *p, const decimal *d)
{
    return -6 < d->n && d->n <= DIGITS ? put_point(p, d) : put_rest(p, d);
}

/* Writes up to GROUP numbers: each step is done for all of them before the next step, which hides latency. */
ALWAYS_INLINE void write_group(api_rows_writer *w, const double *values, size_t n)
{
    decimal d[GROUP];
    for (size_t i = 0; i < n; i++)
        shorten(values[i], &d[i]);
    for (size_t i = 0; i < n; i++)
        divide(&d[i]);
    for (size_t i = 0; i < n; i++)
        spell(&d[i]);
    for (size_t i = 0; i < n; i++)
        complete(&d[i]);
    api_rows_writer next = *w; /* the compiler must take the text for a change of *w, but not of a local variable */
    for (size_t i = 0; i < n; i++)
        next.to = put(api_rows_write_gap(&next, signbit(values[i])), &d[i]);
    *w = next;
}

void api_rows_write_portably(api_rows_writer *w, const double *values, size_t count)
{
    for (; count >= GROUP; count -= GROUP, values += GROUP)
        if (api_rows_are_zeros(values, GROUP))
            api_rows_write_zeros(w, GROUP);
        else
            write_group(w, values, GROUP);
    write_group(w, values, count);
}

/* --- the choice of code ------------------------------------------------------------------------------------------- */

static atomic_bool use_avx2;

bool api_numbers_use_avx2(void)
{
    return atomic_load_explicit(&use_avx2, memory_order_relaxed);
}

void api_numbers_choose(const char *target)
{
    bool wide = false;
#ifdef __x86_64__
    wide = (!strcmp(target, "avx2") || !strcmp(target, "avx512")) && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#endif
    (void)target;
    atomic_store_explicit(&use_avx2, wide, memory_order_relaxed);
}

size_t api_rows_write(const double *values, size_t count, size_t width, char *text)
{
    api_rows_writer w = {.to = text, .width = width};
#ifdef __x86_64__
    if (api_numbers_use_avx2())
        api_rows_write_avx2(&w, values, count);
    else
#endif
        api_rows_write_portably(&w, values, count);
    return (size_t)(w.to - text);
}

size_t api_numbers_write(const double *values, size_t count, char *text)
{
    return api_rows_write(values, count, 0, text);
}

size_t api_number_write(double value, char text[API_NUMBER_ROOM])
{
    return api_numbers_write(&value, 1, text);
}

const char *api_number_text(double value, char text[API_NUMBER_ROOM])
{
    if (__builtin_isfinite(value))
        text[api_number_write(value, text)] = '\0';
    else
        snprintf(text, API_NUMBER_ROOM, "%g", value);
    return text;
}
