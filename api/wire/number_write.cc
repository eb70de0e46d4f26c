// number_write.cc - write doubles as text, see number.h. dragonbox (Jeon 2020) gives the shortest digits; the layout is
// that of Number::toString in ECMA-262. Digits are made and moved eight at a time in registers, and written past the
// end of the text where that saves a branch. Each step from number to text depends on the step before it, so a single
// number leaves the processor waiting. Taking each step for several numbers before the next step hides that latency.
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dragonbox/dragonbox.h>

extern "C" {
#include "number.h"
}

namespace
{

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first digit is the byte of least weight");

constexpr int DIGITS = 17; // most digits that a double needs

constexpr std::uint64_t powers[DIGITS + 1] = {1,
                                              10,
                                              100,
                                              1000,
                                              10000,
                                              100000,
                                              1000000,
                                              10000000,
                                              100000000,
                                              1000000000,
                                              10000000000,
                                              100000000000,
                                              1000000000000,
                                              10000000000000,
                                              100000000000000,
                                              1000000000000000,
                                              10000000000000000,
                                              100000000000000000};

constexpr std::uint64_t ZEROS = 0x3030303030303030; // "00000000"

constexpr std::size_t GROUP = 8; // numbers that take each step together

//
// value
// = significand * 10^exponent = 0.d1 d2 ... dk * 10^n. Sixteen digits follow the first one; those from d(k+1) on are
// zeros.
struct decimal {
    std::uint64_t significand;
    int           exponent, k, n;
    std::uint64_t first, next, last; // the first digit, the next eight and the last eight
};

// Step 1: find the shortest digits.
[[gnu::always_inline]] inline void shorten(double size, decimal *d)
{
    namespace policy = jkj::dragonbox::policy;
    if (size < 0x1p53 &&
        size == static_cast<double>(static_cast<std::int64_t>(size))) { // the digits of an integer are its shortest
        d->significand = static_cast<std::uint64_t>(size);
        d->exponent    = 0;
        return;
    }
    auto shortest  = jkj::dragonbox::to_decimal(size, policy::sign::ignore, policy::trailing_zero::ignore);
    d->significand = shortest.significand;
    d->exponent    = shortest.exponent;
}

// Zero has one digit. The logarithm is taken from the exponent of a double: bsr, the instruction that counts leading
// zeros on every x86-64, depends on the old value of its register, which may be the last result of the previous number.
[[gnu::always_inline]] inline int count_digits(std::uint64_t x)
{
    double        about = static_cast<double>(static_cast<std::int64_t>(x | 1));
    std::uint64_t bits;
    std::memcpy(&bits, &about, sizeof bits);
    int digits = (static_cast<int>(bits >> 52) - 1022) * 1233 >> 12; // approximately log10(2) = 1233 / 4096
    return digits + (x >= powers[digits]);
}

// Step 2: split the digits into one digit and two numbers of eight digits.
[[gnu::always_inline]] inline void divide(decimal *d)
{
    int           digits = count_digits(d->significand | 1);
    std::uint64_t all = d->significand * powers[DIGITS - digits], most = all / powers[8];
    d->first = all / powers[16];
    d->next  = most - d->first * powers[8];
    d->last  = all - most * powers[8];
    d->n     = digits + d->exponent;
}

// Converts 12345678 to one digit per byte, the first in the least significant byte. Quotient and remainder are computed
// side by side in two lanes of 32 bits, then four of 16, then eight of 8. The products replace divisions by 100 and 10,
// and are exact in the range of the lanes.
[[gnu::always_inline]] inline std::uint64_t eight_digits(std::uint64_t x)
{
    std::uint64_t q = x / 10000;
    x               = q | (x - 10000 * q) << 32;
    q               = (x * 10486 >> 20) & 0x0000007F0000007F;
    x               = q | (x - 100 * q) << 16;
    q               = (x * 103 >> 10) & 0x000F000F000F000F;
    x               = q | (x - 10 * q) << 8;
    return x;
}

// Step 3: make the digits.
[[gnu::always_inline]] inline void spell(decimal *d)
{
    d->next = eight_digits(d->next);
    d->last = eight_digits(d->last);
}

// Step 4: count the digits before the trailing zeros, and convert all digits to ASCII.
[[gnu::always_inline]] inline void complete(decimal *d)
{
    std::uint64_t end   = d->last ? d->last : d->next;
    int           zeros = __builtin_ctzll(__builtin_bswap64(end | 1)) / 8;
    d->k                = end ? (d->last ? DIGITS : DIGITS - 8) - zeros : 1;
    d->first |= '0';
    d->next |= ZEROS;
    d->last |= ZEROS;
}

inline void put_eight(char *p, std::uint64_t eight)
{
    std::memcpy(p, &eight, sizeof eight);
}

inline void put_digits(char *p, const decimal &d)
{
    *p = static_cast<char>(d.first);
    put_eight(p + 1, d.next);
    put_eight(p + 9, d.last);
}

// Combines eight bytes: from `from` where the mask is set, from `others` elsewhere.
inline std::uint64_t merge(const unsigned char *mask, std::uint64_t from, std::uint64_t others)
{
    std::uint64_t bits;
    std::memcpy(&bits, mask, sizeof bits);
    return others ^ ((others ^ from) & bits);
}

// Writes "123.4" and "0.00123", for -6 < n < k. Which of the two forms applies is unpredictable, so there is no branch
// on it. With n <= 0 the digits follow "0.00000". Otherwise the digits before the point come first, and the others are
// shifted by one place.
[[gnu::always_inline]] inline char *put_point(char *p, const decimal &d)
{
    static constexpr unsigned char mask[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                               255, 255, 255, 255, 255, 255, 255, 255};
    bool                           among    = d.n > 0;
    char                          *digits = p + (among ? 0 : 2 - d.n), *point = p + (among ? d.n : 1);
    const unsigned char           *before = mask + (among ? DIGITS - d.n : 0);
    put_eight(p, ZEROS);
    put_eight(digits + 10, d.last);
    *digits = static_cast<char>(d.first);
    put_eight(digits + 1, merge(before, d.next, d.next << 8 | d.first));
    put_eight(digits + 9, merge(before + 8, d.last, d.last << 8 | d.next >> 56));
    *point = '.';
    return digits + d.k + among;
}

// "1.234e-56"
char *put_exponential(char *p, const decimal &d)
{
    int exponent = d.n - 1, size = exponent < 0 ? -exponent : exponent;
    p[0] = static_cast<char>(d.first);
    p[1] = '.';
    put_eight(p + 2, d.next);
    put_eight(p + 10, d.last);
    p += d.k > 1 ? d.k + 1 : 1;
    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    if (size >= 100) *p++ = static_cast<char>('0' + size / 100);
    if (size >= 10) *p++ = static_cast<char>('0' + size / 10 % 10);
    *p++ = static_cast<char>('0' + size % 10);
    return p;
}

// Writes integers and numbers with an exponent.
[[gnu::noinline]] char *put_rest(char *p, const decimal &d)
{
    if (d.n <= -6 || d.n > 21) return put_exponential(p, d);
    put_digits(p, d);
    put_eight(p + DIGITS, ZEROS);
    return p + d.n;
}

[[gnu::always_inline]] inline char *put(char *p, double value, const decimal &d)
{
    *p = '-';
    p += std::signbit(value);
    return -6 < d.n && d.n < d.k ? put_point(p, d) : put_rest(p, d);
}

} // namespace

extern "C" size_t api_numbers_write(const double *values, size_t count, char *text)
{
    decimal d[GROUP];
    char   *p = text;
    for (size_t n; count > 0; count -= n, values += n) {
        n = count < GROUP ? count : GROUP;
        for (size_t i = 0; i < n; i++)
            shorten(std::fabs(values[i]), &d[i]);
        for (size_t i = 0; i < n; i++)
            divide(&d[i]);
        for (size_t i = 0; i < n; i++)
            spell(&d[i]);
        for (size_t i = 0; i < n; i++)
            complete(&d[i]);
        for (size_t i = 0; i < n; i++) {
            if (p > text) *p++ = ',';
            p = put(p, values[i], d[i]);
        }
    }
    return static_cast<size_t>(p - text);
}

extern "C" size_t api_number_write(double value, char text[API_NUMBER_ROOM])
{
    return api_numbers_write(&value, 1, text);
}

extern "C" const char *api_number_text(double value, char text[API_NUMBER_ROOM])
{
    if (__builtin_isfinite(value))
        text[api_number_write(value, text)] = '\0';
    else
        snprintf(text, API_NUMBER_ROOM, "%g", value);
    return text;
}
