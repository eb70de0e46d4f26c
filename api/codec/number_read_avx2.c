/* number_read_avx2.c - read rows of numbers with AVX2. The ends of numbers are found 64 bytes at a time, so that no
 * number waits for the one before it. The digits of a number are the bytes before its end; those before the point are
 * moved by one byte, to the place of the point. Four numbers at a time become doubles; decimal/ROUNDING.md proves that
 * they are rounded correctly or left to the portable code. */
#include "number_rows.h"
#ifdef __AVX2__
#include "api/codec/decimal/read.h"
#include <immintrin.h>
#include <string.h>

enum {
    BLOCK  = 64, /* bytes in which ends are found at once */
    BEFORE = 33, /* bytes before the end of a number that are read */
    BEHIND = 8,  /* bytes after the beginning or the end of a number that are read */
    MANY   = 64, /* numbers whose ends are found before the first of them is converted */
    USUAL  = 4,  /* most blocks have at most this number of ends */
    LANES  = 4
};

static inline __m256i load(const void *p)
{
    return _mm256_loadu_si256((const __m256i_u *)p);
}

/* Returns a mask of the last n of 32 bytes. */
static inline __m256i last_bytes(size_t n)
{
    static const unsigned char mask[64] = {[32] = 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                           255,        255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                           255,        255, 255, 255, 255, 255, 255, 255, 255, 255};
    return load(mask + n);
}

/* --- ends of numbers ---------------------------------------------------------------------------------------------- */

static inline uint64_t mask_of_bytes(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

/* Marks digits and points. */
static inline __m256i find_digits(__m256i bytes)
{
    __m256i value = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
    __m256i digit = _mm256_cmpeq_epi8(_mm256_min_epu8(value, _mm256_set1_epi8(9)), value);
    return _mm256_or_si256(digit, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('.')));
}

/* Returns a bit for each of 64 bytes that follows a number. A minus continues no number. `*before`: 1 if the byte
 * before belongs to a number. */
static inline uint64_t find_ends_in_block(const char *p, uint64_t *before)
{
    const __m256i sign = _mm256_set1_epi8('-'), low = load(p), high = load(p + 32);
    uint64_t      minus  = mask_of_bytes(_mm256_cmpeq_epi8(low, sign), _mm256_cmpeq_epi8(high, sign));
    uint64_t      number = mask_of_bytes(find_digits(low), find_digits(high)) | minus;
    number &= ~(minus & (number << 1 | *before));
    uint64_t ends = ~number & (number << 1 | *before);
    *before       = number >> 63;
    return ends;
}

/* Finds the ends of numbers in blocks of 64 bytes that lie wholly in the text, until MANY are found. Writes the offset
 * from `text` of the byte after each number. Returns their number. */
static size_t find_ends(const char *text, const char *end, uint32_t ends[MANY + BLOCK])
{
    size_t   n      = 0;
    uint64_t before = 0;
    for (const char *p = text; n < MANY && end - p >= BLOCK + BEHIND; p += BLOCK) {
        uint64_t found  = find_ends_in_block(p, &before);
        uint32_t offset = (uint32_t)(p - text), *to = ends + n;
        n += (size_t)__builtin_popcountll(found);
        for (int i = 0; i < USUAL; i++, found &= found - 1) /* fixed count: no unpredictable branch for most blocks */
            to[i] = offset + (uint32_t)_tzcnt_u64(found);
        for (to += USUAL; found > 0; found &= found - 1)
            *to++ = offset + (uint32_t)_tzcnt_u64(found);
    }
    return n;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/* Digits and powers of ten of up to MANY numbers, which are converted together. */
typedef struct group {
    uint64_t upper[MANY], lower[MANY]; /* two numbers of eight digits each, the first in the lower half */
    double   power[MANY][2];           /* the power of ten to multiply by, as a sum */
    uint64_t text[MANY];               /* the first eight bytes of the number's text */
    uint32_t begin[MANY + 1];          /* offset at which each number begins */
} group;

/* Prepares text[0..length) as number i of the group: its digits without the point, and its power of ten. Bytes below
 * '0' become the digit 0. Returns 0 if there is at most one point. */
__attribute__((always_inline)) static inline uint32_t stage(const char *text, size_t length, group *g, size_t i)
{
    const char *end    = text + length;
    __m256i     last   = _mm256_and_si256(load(end - 32), last_bytes(length));
    __m256i     moved  = _mm256_and_si256(load(end - BEFORE), last_bytes(length - 1));
    uint32_t    points = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(last, _mm256_set1_epi8('.')));
    size_t      places = _lzcnt_u32(points); /* digits after the point; 32 without a point */
    __m256i     digits = _mm256_blendv_epi8(moved, last, last_bytes(places));
    digits             = _mm256_subs_epu8(digits, _mm256_set1_epi8('0'));
    __m256i pairs      = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(1 << 8 | 10));
    __m256i fours      = _mm256_madd_epi16(pairs, _mm256_set1_epi32(1 << 16 | 100));
    __m256i eights     = _mm256_madd_epi16(_mm256_packus_epi32(fours, fours), _mm256_set1_epi32(1 << 16 | 10000));
    _mm_storel_epi64((__m128i_u *)&g->upper[i], _mm256_castsi256_si128(eights));
    _mm_storel_epi64((__m128i_u *)&g->lower[i], _mm256_extracti128_si256(eights, 1));
    _mm_storeu_pd(g->power[i], _mm_loadu_pd(api_powers_by_places[places]));
    memcpy(&g->text[i], text, sizeof *g->text);
    return points & (points - 1);
}

/* Returns the doubles of integers below 2^52. */
static inline __m256d to_doubles(__m256i x)
{
    const __m256d base = _mm256_set1_pd(0x1p52);
    return _mm256_sub_pd(_mm256_or_pd(_mm256_castsi256_pd(x), base), base);
}

/* Marks with their highest bit texts that begin with no digit, or with a zero before another digit. */
static inline __m256i find_unsound(__m256i text)
{
    const __m256i byte = _mm256_set1_epi64x(0xFF), zero = _mm256_set1_epi64x('0'), nine = _mm256_set1_epi64x(9);
    __m256i       first  = _mm256_sub_epi64(_mm256_and_si256(text, byte), zero);
    __m256i       second = _mm256_sub_epi64(_mm256_and_si256(_mm256_srli_epi64(text, 8), byte), zero);
    __m256i       other =
        _mm256_or_si256(_mm256_cmpgt_epi64(first, nine), first); /* the highest bit of each lane is the result */
    __m256i no_more = _mm256_or_si256(_mm256_cmpgt_epi64(second, nine), second);
    return _mm256_or_si256(other, _mm256_andnot_si256(no_more, _mm256_cmpeq_epi64(first, _mm256_setzero_si256())));
}

/* Rounds the sum high + low times the sum of two powers. Marks in `open` the products whose rounding errors leave two
 * possible results. */
static inline __m256d multiply(__m256d high, __m256d low, const double power[LANES][2], __m256d *open)
{
    __m256d p0 = _mm256_loadu_pd(power[0]), p1 = _mm256_loadu_pd(power[2]);
    __m256d first   = _mm256_permute4x64_pd(_mm256_unpacklo_pd(p0, p1), 0xD8),
            second  = _mm256_permute4x64_pd(_mm256_unpackhi_pd(p0, p1), 0xD8);
    __m256d product = _mm256_mul_pd(high, first), error = _mm256_fmsub_pd(high, first, product);
    __m256d rest  = _mm256_fmadd_pd(high, second, _mm256_fmadd_pd(low, first, error)),
            sum   = _mm256_add_pd(product, rest);
    __m256d left  = _mm256_sub_pd(rest, _mm256_sub_pd(sum, product));
    __m256d again = _mm256_fmadd_pd(left, _mm256_set1_pd(1 + 0x1p-44), sum);
    *open         = _mm256_cmp_pd(sum, again, _CMP_NEQ_UQ);
    return sum;
}

/* Writes four doubles. Returns a bit for each number that is malformed, has more than 23 digits, or whose rounding is
 * not decided. */
__attribute__((always_inline)) static inline uint32_t convert(const group *g, size_t i, double values[LANES])
{
    const __m256i half = _mm256_set1_epi64x(UINT32_MAX), none = _mm256_setzero_si256();
    const __m256d ten_to_8 = _mm256_set1_pd(1e8);
    __m256i       text     = load(&g->text[i]);
    __m256i negative = _mm256_cmpeq_epi64(_mm256_and_si256(text, _mm256_set1_epi64x(0xFF)), _mm256_set1_epi64x('-'));
    __m256i unsound  = find_unsound(_mm256_blendv_epi8(text, _mm256_srli_epi64(text, 8), negative));
    __m256i upper = load(&g->upper[i]), lower = load(&g->lower[i]);
    unsound        = _mm256_or_si256(unsound, _mm256_sub_epi64(none, _mm256_and_si256(upper, half)));
    __m256d first  = to_doubles(_mm256_srli_epi64(upper, 32)), open;
    __m256d second = to_doubles(_mm256_and_si256(lower, half)), third = to_doubles(_mm256_srli_epi64(lower, 32));
    __m256d large = _mm256_cmp_pd(first, _mm256_set1_pd(1e7), _CMP_GE_OQ);
    __m256d most = _mm256_fmadd_pd(first, ten_to_8, second), high = _mm256_fmadd_pd(most, ten_to_8, third);
    __m256d low   = _mm256_add_pd(_mm256_fmsub_pd(most, ten_to_8, high), third);
    __m256d value = multiply(high, low, &g->power[i], &open);
    open          = _mm256_or_pd(_mm256_or_pd(open, large), _mm256_castsi256_pd(unsound));
    _mm256_storeu_pd(values, _mm256_or_pd(value, _mm256_castsi256_pd(_mm256_slli_epi64(negative, 63))));
    return (uint32_t)_mm256_movemask_pd(open);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static inline uint32_t differs(const char *p, const api_gap *gap)
{
    uint32_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return (bytes ^ gap->bytes) & gap->mask;
}

/* Prepares the numbers from `next` on that end at the offsets `ends` from there, as long as each number is short enough
 * and the bytes after it equal the last gap of its kind. Returns their number; g->begin has the offset of the number
 * after them. */
static size_t stage_all(const api_rows_reader *r, const uint32_t *ends, size_t n, group *g)
{
    const char   *text = r->next, *p = text;
    const api_gap within = r->gap[0], between = r->gap[1];
    size_t        column = r->column, i = 0;
    for (;; i++) {
        g->begin[i] = (uint32_t)(p - text);
        if (i == n) return i;
        const char *end    = text + ends[i];
        size_t      length = (size_t)(end - p);
        if (length - 1 > 30) return i;
        bool ends_row = ++column == r->width;
        if (stage(p, length, g, i) | differs(end, ends_row ? &between : &within)) return i;
        p      = end + (ends_row ? between.length : within.length);
        column = ends_row ? 0 : column;
    }
}

/* Converts prepared numbers up to the first that convert() marks. Returns the number of those before it. */
static size_t convert_all(group *g, size_t n, double *values)
{
    double   some[LANES];
    uint32_t open = 0;
    size_t   i    = 0;
    for (; i + LANES <= n && open == 0; i += LANES)
        open = convert(g, i, values + i);
    if (open > 0) return i - LANES + (size_t)__builtin_ctz(open);
    if (i == n) return n;
    for (size_t k = n; k < i + LANES; k++) { /* fills the unused lanes after the last number */
        g->text[k]  = '0';
        g->upper[k] = g->lower[k] = 0;
        g->power[k][0] = g->power[k][1] = 0;
    }
    open         = convert(g, i, some) | 1u << (n - i);
    size_t sound = (size_t)__builtin_ctz(open);
    memcpy(values + i, some, sound * sizeof *some);
    return i + sound;
}

/* Reads the numbers that end at `ends`. False: one of them must be read by the portable code. */
static bool read_found(api_rows_reader *r, const uint32_t *ends, size_t n)
{
    group       g;
    const char *text  = r->next;
    size_t      count = convert_all(&g, stage_all(r, ends, n, &g), r->values + r->count);
    if (count == 0) return false;
    r->count += count;
    r->behind = text + ends[count - 1];
    r->next   = text + g.begin[count];
    r->column = r->width > 0 ? (r->column + count) % r->width : 0;
    return count == n;
}

void api_rows_read_avx2(api_rows_reader *r)
{
    uint32_t ends[MANY + BLOCK];
    size_t   n, most;
    if (r->next - r->begin < BEFORE) return;
    do {
        n    = find_ends(r->next, r->end, ends);
        most = r->most - r->count < MANY ? r->most - r->count : MANY;
        if (n > most) n = most;
    } while (read_found(r, ends, n) && r->count < r->most && !api_rows_begin_with_digits(r));
}
#endif
