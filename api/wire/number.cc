// number.cc - read numbers from text, see number.h. fast_float (Lemire 2021) rounds correctly; this file checks the
// grammar.
#include <cmath>
#include <cstring>
#include <fast_float/fast_float.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

extern "C" {
#include "number.h"
}

namespace
{

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Skips a run of digits: returns its end, or nullptr if there is no digit.
const char *skip_digits(const char *p, const char *end)
{
    if (p == end || !is_digit(*p)) return nullptr;
    while (p < end && is_digit(*p))
        p++;
    return p;
}

// number = [ "-" / "+" ] ( 1*digit [ "." *digit ] / "." 1*digit ) [ ("e" / "E") [ "-" / "+" ] 1*digit ]
const char *skip_decimal(const char *p, const char *end)
{
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *whole = skip_digits(p, end);
    if (whole) p = whole;
    if (p < end && *p == '.') {
        const char *fraction = skip_digits(p + 1, end);
        if (!whole && !fraction) return nullptr;
        p = fraction ? fraction : p + 1;
    } else if (!whole) {
        return nullptr;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '-' || *p == '+')) p++;
        p = skip_digits(p, end);
    }
    return p;
}

constexpr int64_t most_digits = 19; // that surely fit a 64-bit integer

// Appends the leading digits of eight bytes to a number and returns how many there are. Their count is unpredictable,
// so there is no branch on it. A byte minus '0' is not a digit if its highest bit is set with or without 0x76 added.
// The digits before the first such byte (carries only reach later bytes) are shifted to the end, with zeros before
// them.
[[gnu::always_inline]] inline int take_eight(const char *p, uint64_t *number)
{
    constexpr uint64_t each     = 0x0101010101010101,
                       powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    bytes ^= '0' * each;
    uint64_t others = ((bytes + 0x76 * each) | bytes) & 0x80 * each;
    int      n      = others ? __builtin_ctzll(others) / 8 : 8;
    if (n == 0) return 0;
    bytes   = (bytes << (64 - 8 * n)) + '0' * each;
    *number = *number * powers[n] + fast_float::parse_eight_digits_unrolled(bytes);
    return n;
}

// Appends a run of digits, possibly empty, to a number. The result is meaningless beyond most_digits digits.
[[gnu::always_inline]] inline const char *take_digits(const char *p, const char *end, uint64_t *number)
{
    while (end - p >= 8) {
        int n = take_eight(p, number);
        p += n;
        if (n < 8) return p;
    }
    for (; p < end && is_digit(*p); p++)
        *number = *number * 10 + static_cast<uint64_t>(*p - '0');
    return p;
}

// Computes digits * 10^exponent, correctly rounded, for exponent <= 0. A quotient of two numbers that are exact doubles
// is correctly rounded (Clinger 1990). False: more precision is needed than the digits give.
[[gnu::always_inline]] inline bool scale(uint64_t digits, int64_t exponent, double *value)
{
    using format = fast_float::binary_format<double>;
    if (digits <= format::max_mantissa_fast_path() && exponent >= format::min_exponent_fast_path()) {
        *value = static_cast<double>(static_cast<int64_t>(digits)) / format::exact_power_of_ten(-exponent);
        return true;
    }
    fast_float::adjusted_mantissa bits = fast_float::compute_float<format>(exponent, digits);
    if (bits.power2 < 0) return false;
    fast_float::to_float(false, bits, *value);
    return true;
}

const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

// number = [ "-" ] int [ "." 1*digit ] [ ("e" / "E") [ "-" / "+" ] 1*digit ]   (RFC 8259, section 6)
//
// with int = "0" / digit1-9 *digit. Returns the end of the number, or `text` if there is none. One pass suffices
// without an exponent when the digits fit an integer; otherwise fast_float reads the number again, and stops before an
// exponent without digits. The sign is unpredictable, so there is no branch on it.
const char *read_number(const char *text, const char *end, double *value)
{
    bool        negative = text < end && *text == '-';
    const char *whole = text + negative, *p = whole;
    uint64_t    digits = 0;
    int64_t     places = 0;
    for (; p < end && is_digit(*p); p++)
        digits = digits * 10 + static_cast<uint64_t>(*p - '0');
    if (p == whole) return text;
    if ((p > whole + 1) & (*whole == '0')) { // a number ends after a leading zero
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
    double number;
    bool   more = p < end && (*p == 'e' || *p == 'E');
    if (more || before + places > most_digits || !scale(digits, -places, &number)) {
        p = fast_float::from_chars(whole, end, number).ptr;
        if (p < end && (*p == 'e' || *p == 'E')) return text;
    }
    *value = std::copysign(number, negative ? -1.0 : 1.0);
    return p;
}

constexpr ptrdiff_t usual_room = 32; // bytes that read_usual reads

#ifdef __SSE2__
inline __m128i load(const void *p)
{
    return _mm_loadu_si128(static_cast<const __m128i *>(p));
}

// Mask of the first n of 16 bytes.
inline __m128i first_bytes(int64_t n)
{
    alignas(32) static constexpr unsigned char mask[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                           255, 255, 255, 255, 255, 255, 255, 255};
    return load(mask + 16 - n);
}

// A bit for each byte that is not one of the neighbours "-./0123456789" in ASCII.
inline unsigned find_others(__m128i bytes)
{
    __m128i high = _mm_adds_epu8(_mm_sub_epi8(bytes, _mm_set1_epi8('-')), _mm_set1_epi8(127 - ('9' - '-')));
    return static_cast<unsigned>(_mm_movemask_epi8(high));
}

// The value of 16 digits: combined in pairs (10 a + b is the upper byte of 2561 * "ab"), then in fours, then in eights.
inline uint64_t join_digits(__m128i digits)
{
    __m128i  twos   = _mm_srli_epi16(_mm_mullo_epi16(digits, _mm_set1_epi16(2561)), 8);
    __m128i  fours  = _mm_madd_epi16(twos, _mm_set1_epi32(1 << 16 | 100));
    __m128i  eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
    uint64_t both   = static_cast<uint64_t>(_mm_cvtsi128_si64(eights));
    return (both & 0xFFFFFFFF) * 100000000 + (both >> 32);
}

// The value of the first n of four ASCII digits, n < 4. `*others` is set when a byte that find_others also accepts
// ('-', '.', '/') is among them.
inline uint32_t join_more(uint32_t four, int64_t n, bool *others)
{
    four    = static_cast<uint32_t>(static_cast<uint64_t>(four ^ 0x30303030)
                                 << (32 - 8 * n)); // unused digits become leading zeros
    *others = (four & 0x10101010) != 0;
    four    = four * 2561 >> 8 & 0x00FF00FF;
    return four * (100 << 16 | 1) >> 16;
}

// Reads a number in the usual form: at most 19 digits, at most 15 of them before the point, no exponent. nullptr:
// another form, or malformed. There is no branch on the number of digits or the position of the point, which are
// unpredictable: the point is removed, sixteen digits padded with zeros form one integer, and up to three more another.
// The position of the point then gives the power of ten.
[[gnu::always_inline]] inline const char *read_usual(const char *text, double *value)
{
    static constexpr uint64_t powers[] = {1, 10, 100, 1000};
    __m128i                   begin    = load(text);
    unsigned                  ends     = find_others(begin) | find_others(load(text + 16)) << 16;
    unsigned points   = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(begin, _mm_set1_epi8('.'))));
    int64_t  negative = ((static_cast<unsigned char>(*text) ^ '-') - 1u) >>
                       31; // branch-free: setcc would depend on the register's old value
    if (ends == 0) return nullptr;
    const char *p   = text + negative;
    int64_t     end = __builtin_ctz(ends), length = end - negative, whole = __builtin_ctz(points | ends) - negative;
    int64_t     digits = length - (whole < length), more = digits > 16 ? digits - 16 : 0;
    uint64_t    most = *p == '0' ? 1 : 15; // most digits before the point
    if (static_cast<uint64_t>(whole - 1) >= most || whole == length - 1 || more > 3) return nullptr;
    uint32_t four;
    std::memcpy(&four, p + 17, sizeof four);
    bool     others;
    uint32_t last   = join_more(four, more, &others);
    __m128i  before = first_bytes(whole);
    __m128i  first  = _mm_or_si128(_mm_and_si128(before, load(p)), _mm_andnot_si128(before, load(p + 1)));
    first           = _mm_and_si128(_mm_sub_epi8(first, _mm_set1_epi8('0')), first_bytes(digits - more));
    if (_mm_movemask_epi8(first) != 0 || others || (text[end] | 0x20) == 'e') return nullptr;
    uint64_t number = join_digits(first) * powers[more] + last;
    fast_float::to_float(
        negative != 0, fast_float::compute_float<fast_float::binary_format<double>>(whole - 16 - more, number), *value);
    return text + end;
}
#else
inline const char *read_usual(const char *, double *)
{
    return nullptr;
}
#endif

// A single digit followed by a comma, as zeros are often written.
inline bool is_alone(const char *text)
{
    return text[1] == ',' && is_digit(text[0]); // this order makes the branch predictable for other numbers
}
inline const char *read_alone(const char *text, double *value)
{
    *value = text[0] - '0';
    return text + 1;
}

} // namespace

extern "C" size_t api_number_read(const char *text, size_t length, double *value)
{
    return static_cast<size_t>(read_number(text, text + length, value) - text);
}

extern "C" size_t api_numbers_read(const char *text, size_t length, double *values, size_t most, size_t *count)
{
    const char *end = text + length, *next = text, *behind = text;
    size_t      n = 0;
    while (n < most) {
        const char *p = nullptr;
        if (end - next >= usual_room) p = is_alone(next) ? read_alone(next, &values[n]) : read_usual(next, &values[n]);
        if (!p) {
            p = read_number(next, end, &values[n]);
            if (p == next || !std::isfinite(values[n])) break;
        }
        n++;
        behind = p;
        p      = skip_space(p, end);
        if (p == end || *p != ',') break;
        next = skip_space(p + 1, end);
    }
    *count = n;
    return static_cast<size_t>(behind - text);
}

extern "C" size_t api_number_read_decimal(const char *text, size_t length, double *value)
{
    const char *end = skip_decimal(text, text + length);
    if (!end) return 0;
    const char *start = *text == '+' ? text + 1 : text; // fast_float rejects a plus sign
    fast_float::from_chars(start, end, *value);
    return static_cast<size_t>(end - text);
}
