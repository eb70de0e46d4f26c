/* number_read.c - read numbers from text, see number.h. This file checks the grammar; decimal/read.h rounds. */
#include "number_rows.h"
#include "api/codec/decimal/read.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define ALWAYS_INLINE __attribute__((always_inline)) static inline

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns the value of eight digits, one a byte and the first in the least significant byte: joined to pairs, to fours,
 * to eight. */
static inline uint64_t join_eight(uint64_t digits)
{
    uint64_t pairs = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FF;
    uint64_t fours = (pairs * 100 + (pairs >> 16)) & 0x0000FFFF0000FFFF;
    return (fours * 10000 + (fours >> 32)) & 0xFFFFFFFF;
}

/* Appends the leading digits of eight bytes to a number and returns how many there are. Their count is unpredictable,
 * so there is no branch on it. A byte minus '0' is not a digit if its highest bit is set with or without 0x76 added.
 * The digits before the first such byte (carries only reach later bytes) are shifted to the end, with zeros before
 * them. */
ALWAYS_INLINE int take_eight(const char *p, uint64_t *number)
{
    const uint64_t each = 0x0101010101010101;
    uint64_t       bytes;
    memcpy(&bytes, p, sizeof bytes);
    bytes ^= '0' * each;
    uint64_t others = ((bytes + 0x76 * each) | bytes) & 0x80 * each;
    int      n      = others ? __builtin_ctzll(others) / 8 : 8;
    if (n == 0) return 0;
    bytes <<= 64 - 8 * n;
    *number = *number * api_integer_powers[n] + join_eight(bytes);
    return n;
}

/* Appends a run of digits, possibly empty, to a number. The result is meaningless beyond
 * API_DECIMAL_DIGITS digits. */
ALWAYS_INLINE const char *take_digits(const char *p, const char *end, uint64_t *number)
{
    while (end - p >= 8) {
        int n = take_eight(p, number);
        p += n;
        if (n < 8) return p;
    }
    for (; p < end && is_digit(*p); p++)
        *number = *number * 10 + (uint64_t)(*p - '0');
    return p;
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ' && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* exponent = [ "-" / "+" ] 1*digit. Returns its end; NULL if there is none. A larger exponent than any that matters is
 * cut. */
static const char *read_exponent(const char *p, const char *end, int64_t *exponent)
{
    const int64_t most     = 1000000000000000;
    bool          negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end || !is_digit(*p)) return NULL;
    *exponent = 0;
    for (; p < end && is_digit(*p); p++)
        if (*exponent < most) *exponent = *exponent * 10 + (*p - '0');
    if (negative) *exponent = -*exponent;
    return p;
}

static inline void set_value(uint64_t bits, bool negative, double *value)
{
    bits |= (uint64_t)negative << 63;
    memcpy(value, &bits, sizeof bits);
}

/* number = [ "-" ] int [ "." 1*digit ] [ ("e" / "E") exponent ]   (RFC 8259, section 6)
 *
 * with int = "0" / digit1-9 *digit. Returns the end of the number, or `text` if there is none. */
static const char *read_number(const char *text, const char *end, double *value)
{
    bool        negative = text < end && *text == '-';
    const char *whole = text + negative, *p = whole;
    uint64_t    digits = 0, bits;
    int64_t     places = 0, exponent = 0;
    for (; p < end && is_digit(*p); p++)
        digits = digits * 10 + (uint64_t)(*p - '0');
    if (p == whole) return text;
    if ((p > whole + 1) & (*whole == '0')) { /* a number ends after a leading zero */
        end = p = whole + 1;
        digits  = 0;
    }
    int64_t before = p - whole;
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p                    = take_digits(fraction, end, &digits);
        places               = p - fraction;
        if (places == 0) return text;
    }
    const char *last = p;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p = read_exponent(p + 1, end, &exponent);
        if (!p) return text;
    }
    exponent -= places;
    if (before + places > API_DECIMAL_DIGITS || !api_decimal_round(digits, exponent, &bits))
        bits = api_decimal_read(whole, (size_t)(last - whole), exponent);
    set_value(bits, negative, value);
    return p;
}

enum {
    USUAL_ROOM = 32, /* bytes that read_usual reads */
    AVX2_ROOM  = 512 /* bytes of text that are worth AVX2 */
};

#ifdef __SSE2__
static inline __m128i load(const void *p)
{
    return _mm_loadu_si128((const __m128i *)(p));
}

/* Mask of the first n of 16 bytes. */
static inline __m128i first_bytes(int64_t n)
{
    static const unsigned char mask[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                           255, 255, 255, 255, 255, 255, 255, 255};
    return load(mask + 16 - n);
}

/* A bit for each byte that is not one of the neighbours "-./0123456789" in ASCII. */
static inline unsigned find_others(__m128i bytes)
{
    __m128i high = _mm_adds_epu8(_mm_sub_epi8(bytes, _mm_set1_epi8('-')), _mm_set1_epi8(127 - ('9' - '-')));
    return (unsigned)(_mm_movemask_epi8(high));
}

/* The value of 16 digits: combined in pairs (10 a + b is the upper byte of 2561 * "ab"), then in fours, then in eights.
 */
static inline uint64_t join_digits(__m128i digits)
{
    __m128i  twos   = _mm_srli_epi16(_mm_mullo_epi16(digits, _mm_set1_epi16(2561)), 8);
    __m128i  fours  = _mm_madd_epi16(twos, _mm_set1_epi32(1 << 16 | 100));
    __m128i  eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
    uint64_t both   = (uint64_t)(_mm_cvtsi128_si64(eights));
    return (both & 0xFFFFFFFF) * 100000000 + (both >> 32);
}

/* The value of the first n of four ASCII digits, n < 4. `*others` is set when a byte that find_others also accepts
 * ('-', '.', '/') is among them. */
static inline uint32_t join_more(uint32_t four, int64_t n, bool *others)
{
    four    = (uint32_t)((uint64_t)(four ^ 0x30303030) << (32 - 8 * n)); /* unused digits become leading zeros */
    *others = (four & 0x10101010) != 0;
    four    = four * 2561 >> 8 & 0x00FF00FF;
    return four * (100 << 16 | 1) >> 16;
}

/* Reads a number in the usual form: at most 19 digits, at most 15 of them before the point, no exponent. NULL:
 * another form, or malformed. There is no branch on the number of digits or the position of the point, which are
 * unpredictable: the point is removed, sixteen digits padded with zeros form one integer, and up to three more another.
 * The position of the point then gives the power of ten. */
ALWAYS_INLINE const char *read_usual(const char *text, double *value)
{
    __m128i  begin  = load(text);
    unsigned ends   = find_others(begin) | find_others(load(text + 16)) << 16;
    unsigned points = (unsigned)(_mm_movemask_epi8(_mm_cmpeq_epi8(begin, _mm_set1_epi8('.'))));
    int64_t  negative =
        (((unsigned char)(*text) ^ '-') - 1u) >> 31; /* branch-free: setcc would depend on the register's old value */
    if (ends == 0) return NULL;
    const char *p   = text + negative;
    int64_t     end = __builtin_ctz(ends), length = end - negative, whole = __builtin_ctz(points | ends) - negative;
    int64_t     digits = length - (whole < length), more = digits > 16 ? digits - 16 : 0;
    uint64_t    most = *p == '0' ? 1 : 15; /* most digits before the point */
    if ((uint64_t)(whole - 1) >= most || whole == length - 1 || more > 3) return NULL;
    uint32_t four;
    memcpy(&four, p + 17, sizeof four);
    bool     others;
    uint32_t last   = join_more(four, more, &others);
    __m128i  before = first_bytes(whole);
    __m128i  first  = _mm_or_si128(_mm_and_si128(before, load(p)), _mm_andnot_si128(before, load(p + 1)));
    first           = _mm_and_si128(_mm_sub_epi8(first, _mm_set1_epi8('0')), first_bytes(digits - more));
    if (_mm_movemask_epi8(first) != 0 || others || (text[end] | 0x20) == 'e') return NULL;
    uint64_t number = join_digits(first) * api_integer_powers[more] + last;
    uint64_t bits;
    if (!api_decimal_round(number, whole - 16 - more, &bits)) return NULL;
    set_value(bits, negative, value);
    return text + end;
}
#else
static inline const char *read_usual(const char *text, double *value)
{
    (void)text;
    (void)value;
    return NULL;
}
#endif

size_t api_number_read(const char *text, size_t length, double *value)
{
    return (size_t)(read_number(text, text + length, value) - text);
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* A single digit followed by a comma, as zeros are often written. */
static inline bool is_alone(const char *text)
{
    return text[1] == ',' && is_digit(text[0]); /* this order makes the branch predictable for other numbers */
}

/* Reads numbers of one digit without white space between them, up to the last one before a number of another form. */
__attribute__((noinline)) static void read_single_digits(api_rows_reader *r)
{
    const char *p      = r->next;
    size_t      column = r->column, count = r->count;
    while (r->end - p >= USUAL_ROOM + 4 && count + 1 < r->most) {
        bool   row    = column + 1 == r->width;
        size_t length = row ? 4 : 2;
        if ((row ? memcmp(p + 1, "],[", 3) != 0 : p[1] != ',') || !is_digit(p[length])) break;
        r->values[count++] = *p - '0';
        r->behind          = p + 1;
        p += length;
        column = row ? 0 : column + 1;
    }
    r->next   = p;
    r->column = column;
    r->count  = count;
}

/* Reads the number at r->next, and the numbers of one digit that precede it. False if there is no number, or it is
 * infinite. */
ALWAYS_INLINE bool read_one(api_rows_reader *r)
{
    double      value;
    const char *p = NULL;
    if (r->end - r->next >= USUAL_ROOM) {
        if (is_alone(r->next) && api_rows_begin_with_digits(r)) read_single_digits(r);
        if (is_alone(r->next)) {
            value = r->next[0] - '0';
            p     = r->next + 1;
        } else {
            p = read_usual(r->next, &value);
        }
    }
    if (!p) {
        p = read_number(r->next, r->end, &value);
        if (p == r->next || !isfinite(value)) return false;
    }
    r->values[r->count++] = value;
    r->column++;
    r->behind = p;
    return true;
}

/* Skips white space and one character. NULL if another character comes. */
static inline const char *skip_character(const char *p, const char *end, char c)
{
    p = skip_space(p, end);
    return p < end && *p == c ? p + 1 : NULL;
}

static void remember_gap(api_gap *gap, const char *text, size_t length)
{
    if (length > sizeof gap->bytes) return;
    *gap = (api_gap){.mask = (uint32_t)(((uint64_t)1 << 8 * length) - 1), .length = length};
    memcpy(&gap->bytes, text, length);
}

/* Goes from the end of a number to the next number. False if none follows. */
ALWAYS_INLINE bool pass_gap(api_rows_reader *r)
{
    bool row = r->column == r->width;
    if (!row && r->end - r->behind > 1 && r->behind[0] == ',' && r->behind[1] > ' ') {
        r->next = r->behind + 1;
        return true;
    }
    const char *p = row ? skip_character(r->behind, r->end, ']') : r->behind;
    if (p) p = skip_character(p, r->end, ',');
    if (p && row) p = skip_character(p, r->end, '[');
    if (!p) return false;
    r->next = skip_space(p, r->end);
    if (row) r->column = 0;
    return true;
}

static bool read_some(api_rows_reader *r, size_t most)
{
    for (; most > 0; most--) {
        bool ends_row = r->column + 1 == r->width;
        if (!read_one(r) || r->count == r->most || !pass_gap(r)) return false;
        remember_gap(&r->gap[ends_row], r->behind, (size_t)(r->next - r->behind));
    }
    return true;
}

static void read_portably(api_rows_reader *r)
{
    api_rows_reader own = *r; /* a local copy, which the compiler can keep in registers */
    while (read_one(&own) && own.count < own.most && pass_gap(&own))
        ;
    *r = own;
}

#ifdef __x86_64__
/* Reads by AVX2, and by the portable code where the text does not suit AVX2. Each time that AVX2 reads few numbers,
 * twice as many are read portably before the next attempt. */
static void read_with_avx2(api_rows_reader *r)
{
    enum { LONG_RUN = 16, MOST = 256 };
    for (size_t some = 1; r->end - r->next >= AVX2_ROOM;) {
        size_t before = r->count;
        api_rows_read_avx2(r);
        if (r->count == r->most) return;
        if (r->count > before)
            r->next = skip_space(r->next, r->end); /* there may be more white space than in the previous gap */
        some = r->count - before >= LONG_RUN ? 1 : some < MOST ? 2 * some : MOST;
        if (!read_some(r, some)) return;
    }
    read_portably(r);
}
#endif

size_t api_rows_read(const api_rows *rows, double *values, size_t most, size_t *count)
{
    api_rows_reader r = {.begin  = rows->begin,
                         .end    = rows->end,
                         .next   = rows->text,
                         .behind = rows->text,
                         .width  = rows->width,
                         .most   = most,
                         .values = values,
                         .gap    = {{',', 0xFF, 1}, {']' | ',' << 8 | '[' << 16, 0xFFFFFF, 3}}};
    if (most == 0) {
#ifdef __x86_64__
    } else if (api_numbers_use_avx2()) {
        read_with_avx2(&r);
#endif
    } else {
        read_portably(&r);
    }
    *count = r.count;
    return (size_t)(r.behind - rows->text);
}

size_t api_numbers_read(const char *text, size_t length, double *values, size_t most, size_t *count)
{
    const api_rows list = {.begin = text, .text = text, .end = text + length};
    return api_rows_read(&list, values, most, count);
}

/* number = [ "-" / "+" ] ( 1*digit [ "." *digit ] / "." 1*digit ) [ ("e" / "E") exponent ] */
size_t api_number_read_decimal(const char *text, size_t length, double *value)
{
    const char *end = text + length, *p = text, *point = NULL, *last;
    bool        negative = p < end && *p == '-';
    int64_t     exponent = 0;
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *first = p;
    for (; p < end && (is_digit(*p) || (*p == '.' && !point)); p++)
        if (*p == '.') point = p;
    last = p;
    if (last - first - (point != NULL) == 0) return 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p = read_exponent(p + 1, end, &exponent);
        if (!p) return 0;
    }
    if (point) exponent -= last - point - 1;
    set_value(api_decimal_read(first, (size_t)(last - first), exponent), negative, value);
    return (size_t)(p - text);
}
