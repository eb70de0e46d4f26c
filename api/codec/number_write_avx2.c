/* number_write_avx2.c - write rows of numbers with AVX2. Four numbers at a time become seventeen digits each; all
 * steps are exact in doubles, see decimal/ROUNDING.md. One permutation of bytes then puts the digits of a number around
 * its point. */
#include "number_rows.h"
#ifdef __AVX2__
#include <immintrin.h>
#include <math.h>
#include <string.h>

enum {
    LANES = 4,
    BLOCK = 16 /* numbers whose digits are found together, before the first is written */
};

/* The digits of numbers, as characters. */
typedef struct block {
    char     digits[BLOCK][32]; /* digits 1 to 16, then 2 to 17 */
    uint64_t layout[BLOCK];     /* index in api_number_layouts */
} block;

/* --- digits ------------------------------------------------------------------------------------------------------- */

/* Returns the powers of ten that belong to binary exponents, counted from API_SCALE_LEAST. */
static inline __m256d load_powers(__m256i exponents)
{
    uint64_t e[LANES];
    _mm256_storeu_si256((__m256i_u *)e, exponents);
    return _mm256_set_pd(api_scale_powers[e[3]], api_scale_powers[e[2]], api_scale_powers[e[1]],
                         api_scale_powers[e[0]]);
}

/* Returns the indices of the layouts: the decimal places of the first sixteen digits, and whether the first is 0. */
static inline __m256i find_layout(__m256i exponent, __m256d leading_zero)
{
    __m256i below  = _mm256_sub_epi64(_mm256_set1_epi64x(-API_SCALE_LEAST), exponent);
    __m256i places = _mm256_srli_epi64(_mm256_mul_epu32(below, _mm256_set1_epi64x(1233)), 12);
    return _mm256_sub_epi64(_mm256_add_epi64(places, places), _mm256_castpd_si256(leading_zero));
}

static inline __m256d round_to_even(__m256d x)
{
    return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Finds the shortest digits of four doubles like api_decimal_shorten: sixteen of them in `whole`, one in `last`.
 * Returns a bit for each double that is neither 0 nor from 2^-19 to below 2^52; such a double gives meaningless digits.
 */
__attribute__((always_inline)) static inline unsigned shorten(const double *values, __m256d *whole, __m256d *last,
                                                              uint64_t layout[LANES])
{
    const __m256d one = _mm256_set1_pd(1), top = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7FF0000000000000));
    __m256d       size  = _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_loadu_pd(values));
    __m256d       zero  = _mm256_cmp_pd(size, _mm256_setzero_pd(), _CMP_EQ_OQ);
    __m256d       usual = _mm256_and_pd(_mm256_cmp_pd(size, _mm256_set1_pd(0x1p-19), _CMP_GE_OQ),
                                        _mm256_cmp_pd(size, _mm256_set1_pd(0x1p52), _CMP_LT_OQ));
    size                = _mm256_blendv_pd(one, size, usual); /* 0 is computed like 1, without its digit */
    __m256i exponent =
        _mm256_sub_epi64(_mm256_srli_epi64(_mm256_castpd_si256(size), 52), _mm256_set1_epi64x(1075 + API_SCALE_LEAST));
    __m256d power   = load_powers(exponent);
    __m256d half    = _mm256_mul_pd(power, _mm256_mul_pd(_mm256_and_pd(size, top), _mm256_set1_pd(0x1p-53)));
    __m256d product = _mm256_mul_pd(size, power), error = _mm256_fmsub_pd(size, power, product);
    __m256d n = _mm256_floor_pd(product), fraction = _mm256_add_pd(_mm256_sub_pd(product, n), error);
    __m256d carry  = _mm256_floor_pd(fraction);
    n              = _mm256_add_pd(n, carry);
    fraction       = _mm256_sub_pd(fraction, carry);
    __m256d up     = _mm256_cmp_pd(fraction, _mm256_sub_pd(one, half), _CMP_GT_OQ);
    __m256d enough = _mm256_or_pd(up, _mm256_cmp_pd(fraction, half, _CMP_LT_OQ));
    __m256d digit  = round_to_even(_mm256_mul_pd(fraction, _mm256_set1_pd(10)));
    n              = _mm256_add_pd(n, _mm256_and_pd(up, one));
    _mm256_storeu_si256((__m256i_u *)layout, find_layout(exponent, _mm256_cmp_pd(n, _mm256_set1_pd(1e15), _CMP_LT_OQ)));
    *whole = _mm256_andnot_pd(zero, n);
    *last  = _mm256_andnot_pd(enough, digit);
    return ~(unsigned)_mm256_movemask_pd(_mm256_or_pd(usual, zero)) & 0xF;
}

/* Splits integers below 2^53 in two of eight digits. */
static inline __m256d split_eight(__m256d x, __m256d *rest)
{
    __m256d q = _mm256_floor_pd(_mm256_mul_pd(x, _mm256_set1_pd(1e-8)));
    *rest     = _mm256_fnmadd_pd(q, _mm256_set1_pd(1e8), x);
    return q;
}

/* Splits integers of eight digits in two of four, 10^4 a + b: returns a + 2^16 b in the lower 32 bits. */
static inline __m256i split_four(__m256d x)
{
    __m256d a    = _mm256_floor_pd(_mm256_mul_pd(x, _mm256_set1_pd(1e-4)));
    __m256d both = _mm256_fnmadd_pd(a, _mm256_set1_pd(0x1p16 * 1e4 - 1), _mm256_mul_pd(x, _mm256_set1_pd(0x1p16)));
    return _mm256_castpd_si256(_mm256_add_pd(both, _mm256_set1_pd(0x1p52)));
}

/* Splits numbers of four digits, 100 a + b, in 16 bits each: returns the a, and the b in `*rest`. */
static inline __m256i split_two(__m256i x, __m256i *rest)
{
    __m256i a = _mm256_srli_epi16(_mm256_mulhi_epu16(x, _mm256_set1_epi16(5243)), 3);
    *rest     = _mm256_sub_epi16(x, _mm256_maddubs_epi16(a, _mm256_set1_epi16(100)));
    return a;
}

/* Splits numbers of two digits, 10 a + b, in 16 bits each: returns a + 2^8 b. */
static inline __m256i split_one(__m256i x)
{
    __m256i factor = _mm256_set1_epi16(10 * 256 - 1);
    __asm__("" : "+x"(factor)); /* unknown to gcc: it would replace the product by five shifts and sums */
    return _mm256_sub_epi16(_mm256_slli_epi16(x, 8),
                            _mm256_mullo_epi16(_mm256_mulhi_epu16(x, _mm256_set1_epi16(6554)), factor));
}

/* Stores the digits 1 to 16 and 2 to 17 of two numbers, each in a half of the vectors, for every second number. */
static inline void store_halves(char (*digits)[32], __m256i first, __m256i shifted)
{
    _mm256_storeu_si256((__m256i_u *)digits[0], _mm256_permute2x128_si256(first, shifted, 0x20));
    _mm256_storeu_si256((__m256i_u *)digits[2], _mm256_permute2x128_si256(first, shifted, 0x31));
}

/* Splits numbers of sixteen digits in four of four, in 16 bits each. */
static inline __m256i split_sixteen(__m256d whole)
{
    __m256d low, high = split_eight(whole, &low);
    return _mm256_blend_epi32(split_four(high), _mm256_slli_epi64(split_four(low), 32), 0xAA);
}

/* Writes the digits of four numbers: four times four of them, and one from `last`. */
__attribute__((always_inline)) static inline void spell(__m256i fours, __m256d last, char (*digits)[32])
{
    __m256i r, q = split_two(fours, &r);
    __m256i even = split_one(_mm256_unpacklo_epi16(q, r)), odd = split_one(_mm256_unpackhi_epi16(q, r));
    __m256i one = _mm256_castpd_si256(_mm256_add_pd(last, _mm256_set1_pd(0x1p52)));
    store_halves(digits, even, _mm256_alignr_epi8(one, even, 1));
    store_halves(digits + 1, odd, _mm256_alignr_epi8(_mm256_unpackhi_epi64(one, one), odd, 1));
}

/* --- text --------------------------------------------------------------------------------------------------------- */

/* Finds the digits of `n` numbers, one step after the other for all of them, which hides latency. Returns a bit for
 * each number that must be written portably. */
static unsigned find_digits(const double *values, size_t n, block *b)
{
    __m256d  whole[BLOCK / LANES], last[BLOCK / LANES];
    __m256i  fours[BLOCK / LANES];
    double   some[BLOCK] = {0};
    unsigned unusual     = 0;
    if (n < BLOCK) values = memcpy(some, values, n * sizeof *values);
    for (size_t i = 0; i < n; i += LANES)
        unusual |= shorten(values + i, &whole[i / LANES], &last[i / LANES], b->layout + i) << i;
    for (size_t i = 0; i < n; i += LANES)
        fours[i / LANES] = split_sixteen(whole[i / LANES]);
    for (size_t i = 0; i < n; i += LANES)
        spell(fours[i / LANES], last[i / LANES], b->digits + i);
    return unusual;
}

/* Writes the digits of a number in their layout. Returns the end of the text; 32 bytes are written. */
__attribute__((always_inline)) static inline char *put_digits(char *to, const char digits[32], uint64_t index)
{
    const api_number_layout *layout = &api_number_layouts[index];
    __m256i                  moved  = _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i_u *)digits),
                                                          _mm256_loadu_si256((const __m256i_u *)layout->digit));
    __m256i                  text   = _mm256_or_si256(moved, _mm256_loadu_si256((const __m256i_u *)layout->fixed));
    _mm256_storeu_si256((__m256i_u *)to, text);
    __m256i significant = _mm256_cmpgt_epi8(text, _mm256_loadu_si256((const __m256i_u *)layout->least));
    return to + 32 - _lzcnt_u32((uint32_t)_mm256_movemask_epi8(significant));
}

/* Writes up to BLOCK numbers. Where most of them are unusual, the portable code takes all, which is faster. */
static void write_block(api_rows_writer *w, const double *values, size_t n)
{
    block    b;
    unsigned unusual = find_digits(values, n, &b);
    if ((size_t)__builtin_popcount(unusual) > n / 2) {
        api_rows_write_portably(w, values, n);
        return;
    }
    api_rows_writer next = *w; /* text could overwrite *w, but not a local variable */
    for (size_t i = 0; i < n; i++, unusual >>= 1) {
        if (unusual & 1) {
            *w = next;
            api_rows_write_portably(w, &values[i], 1);
            next = *w;
        } else {
            next.to = put_digits(api_rows_write_gap(&next, signbit(values[i])), b.digits[i], b.layout[i]);
        }
    }
    *w = next;
}

void api_rows_write_avx2(api_rows_writer *w, const double *values, size_t count)
{
    for (; count >= BLOCK; count -= BLOCK, values += BLOCK)
        if (api_rows_are_zeros(values, BLOCK))
            api_rows_write_zeros(w, BLOCK);
        else
            write_block(w, values, BLOCK);
    if (count > 0) write_block(w, values, count);
}
#endif
