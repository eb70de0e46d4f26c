/* number_format_avx2.c - write rows of numbers with AVX2: sixteen digits are made side by side, and one permutation of
 * bytes puts them around the point. */
#include "number_rows.h"
#ifdef __AVX2__
#include <immintrin.h>
#include <string.h>

/* Returns sixteen digits, one a byte, of two numbers of eight digits. Quotient and remainder by 10000, 100 and 10 come
 * to stand side by side; the products are exact in their ranges. */
static inline __m128i make_digits(uint64_t high, uint64_t low)
{
    __m128i x = _mm_set_epi64x((long long)low, (long long)high);
    __m128i q = _mm_srli_epi64(_mm_mul_epu32(x, _mm_set1_epi64x(109951163)), 40);
    x         = _mm_or_si128(q, _mm_slli_epi64(_mm_sub_epi64(x, _mm_mul_epu32(q, _mm_set1_epi64x(10000))), 32));
    q         = _mm_srli_epi16(_mm_mulhi_epu16(x, _mm_set1_epi32(5243)), 3);
    x         = _mm_or_si128(q, _mm_slli_epi32(_mm_sub_epi16(x, _mm_mullo_epi16(q, _mm_set1_epi32(100))), 16));
    q         = _mm_mulhi_epu16(x, _mm_set1_epi16(6554));
    return _mm_or_si128(q, _mm_slli_epi16(_mm_sub_epi16(x, _mm_mullo_epi16(q, _mm_set1_epi16(10))), 8));
}

/* Writes the digits in their layout. Returns the end of the text; up to 32 bytes are written. */
__attribute__((always_inline)) static inline char *put_usual(char *to, api_digits d)
{
    const api_number_layout *layout  = &api_number_layouts[d.point - API_LAYOUT_LEAST];
    uint64_t                 sixteen = d.all / 10, last = d.all - sixteen * 10, high = sixteen / 100000000,
             low    = sixteen - high * 100000000;
    __m128i  digits = make_digits(high, low);
    uint32_t zeros  = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(digits, _mm_setzero_si128()));
    int      seen   = 32 - (int)_lzcnt_u32(zeros ^ 0xFFFF); /* digits before the zeros at the end */
    int      full   = -(last != 0);
    API_NO_BRANCH(full);
    int     k = seen + ((17 - seen) & full), n = d.point;
    __m256i both = _mm256_broadcastsi128_si256(_mm_or_si128(digits, _mm_set1_epi8('0')));
    __m256i text = _mm256_or_si256(_mm256_shuffle_epi8(both, _mm256_loadu_si256((const __m256i_u *)layout->digit)),
                                   _mm256_loadu_si256((const __m256i_u *)layout->fixed));
    _mm256_storeu_si256((__m256i_u *)to, text);
    to[layout->last] = (char)('0' + last);
    int has_point    = -(k > n);
    API_NO_BRANCH(has_point);
    return to + n + ((k + layout->shift - n) & has_point);
}

enum { GROUP = 16 }; /* numbers whose digits are found before the first is written; that hides latency */

static void shorten(const double *values, size_t n, api_digits *digits)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        digits[i] = api_decimal_shorten(bits & INT64_MAX);
    }
}

size_t api_rows_write_avx2(const double *values, size_t count, size_t width, char *text)
{
    api_digits digits[GROUP];
    char      *to = text;
    for (size_t i = 0, column = 0; i < count; i++) {
        if (i % GROUP == 0) shorten(values + i, count - i < GROUP ? count - i : GROUP, digits);
        api_digits d = digits[i % GROUP];
        uint64_t   bits;
        memcpy(&bits, &values[i], sizeof bits);
        *to = '-';
        to += bits >> 63;
        if (API_LAYOUT_LEAST <= d.point && d.point <= API_LAYOUT_MOST)
            to = put_usual(to, d);
        else
            to = api_number_put_rest(to, d);
        if (i + 1 == count) break;
        bool row = ++column == width;
        memcpy(to, row ? "],[" : ",\0\0", 4);
        to += row ? 3 : 1;
        column = row ? 0 : column;
    }
    return (size_t)(to - text);
}
#endif
