// number_write.cc - doubles as text, see number.h. Shortest digits come from dragonbox (Jeon 2020); the layout is
// ECMA-262's, Number::toString. Digits are made and moved eight at a time in registers, and written past the end of
// the text where that saves a branch. Each step from number to text hangs on the one before: what a processor waits for
// with one number it can do for the next, if steps are taken for some numbers before the next step is.
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

constexpr int DIGITS = 17; // of a double, at most

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

constexpr std::size_t GROUP = 8; // numbers that go each step together

// |value| = significand * 10^exponent = 0.d1 d2 ... dk * 10^n; behind the first digit are sixteen more, zeros from
// d(k+1) on.
struct decimal {
    std::uint64_t significand;
    int           exponent, k, n;
    std::uint64_t first, next, last; // one digit, eight and eight
};

// The first step: the shortest digits.
[[gnu::always_inline]] inline void shorten(double size, decimal *d)
{
    namespace policy = jkj::dragonbox::policy;
    if (size < 0x1p53 && size == static_cast<double>(static_cast<std::int64_t>(size))) { // its own are the shortest
        d->significand = static_cast<std::uint64_t>(size);
        d->exponent    = 0;
        return;
    }
    auto shortest  = jkj::dragonbox::to_decimal(size, policy::sign::ignore, policy::trailing_zero::ignore);
    d->significand = shortest.significand;
    d->exponent    = shortest.exponent;
}

// Zero has one digit. The logarithm is that of a double's exponent: what counts leading zeros on any x86-64, bsr, waits
// for whatever was in its register before, and that may be all of the last number's work.
[[gnu::always_inline]] inline int count_digits(std::uint64_t x)
{
    double        about = static_cast<double>(static_cast<std::int64_t>(x | 1));
    std::uint64_t bits;
    std::memcpy(&bits, &about, sizeof bits);
    int digits = (static_cast<int>(bits >> 52) - 1022) * 1233 >> 12; // log10(2) = 1233 / 4096, about
    return digits + (x >= powers[digits]);
}

// The second step: one digit, and two numbers of eight.
[[gnu::always_inline]] inline void divide(decimal *d)
{
    int           digits = count_digits(d->significand | 1);
    std::uint64_t all = d->significand * powers[DIGITS - digits], most = all / powers[8];
    d->first = all / powers[16];
    d->next  = most - d->first * powers[8];
    d->last  = all - most * powers[8];
    d->n     = digits + d->exponent;
}

// The digits of 12345678, a byte each, the first in the byte of least weight: quotient and remainder side by side, in
// two lanes of 32 bits, then four of 16, then eight of 8. The products stand for divisions by 100 and by 10 and are
// exact for what the lanes can hold.
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

// The third step: digits.
[[gnu::always_inline]] inline void spell(decimal *d)
{
    d->next = eight_digits(d->next);
    d->last = eight_digits(d->last);
}

// The fourth: how many there are before the zeros at the end, and all in ASCII.
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

// Of eight bytes, those that the mask has from the first, the others from the second.
inline std::uint64_t merge(const unsigned char *mask, std::uint64_t from, std::uint64_t others)
{
    std::uint64_t bits;
    std::memcpy(&bits, mask, sizeof bits);
    return others ^ ((others ^ from) & bits);
}

// "123.4" and "0.00123", -6 < n < k: which of both is as good as random, so there is no branch on it. The digits stand
// behind "0.00000", or, where the point is among them, those before it stand at the beginning, the others one place on.
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

// Integers, and what has an exponent.
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
