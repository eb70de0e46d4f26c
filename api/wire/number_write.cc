// number_write.cc - doubles as text, see number.h. Shortest digits come from dragonbox (Jeon 2020); the layout is
// ECMA-262's, Number::toString. Digits are made and moved eight at a time in registers, and written past the end of
// the text where that saves a branch.
#include <cassert>
#include <cmath>
#include <cstdint>
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

// The value is 0.d1 d2 ... dk * 10^n; behind the first digit are sixteen more, zeros from d(k+1) on.
struct decimal {
    char          first;
    std::uint64_t next, last; // ASCII, eight each
    int           k, n;
};

// "12345678" of 12345678: quotient and remainder side by side, in two lanes of 32 bits, then four of 16, then eight
// of 8. The products stand for divisions by 100 and by 10 and are exact for what the lanes can hold.
std::uint64_t eight_digits(std::uint64_t x)
{
    std::uint64_t q = x / 10000;
    x               = q | (x - 10000 * q) << 32;
    q               = (x * 10486 >> 20) & 0x0000007F0000007F;
    x               = q | (x - 100 * q) << 16;
    q               = (x * 103 >> 10) & 0x000F000F000F000F;
    x               = q | (x - 10 * q) << 8;
    return x | ZEROS;
}

int count_digits(std::uint64_t x) // x > 0
{
    int about = (64 - __builtin_clzll(x)) * 1233 >> 12; // log10(2) = 1233 / 4096, about
    return about + (x >= powers[about]);
}

// Digits before the zeros at the end, of eight in ASCII.
int count_significant(std::uint64_t eight)
{
    return eight == ZEROS ? 0 : 8 - __builtin_clzll(eight ^ ZEROS) / 8;
}

decimal split(std::uint64_t significand, int exponent)
{
    int           digits = count_digits(significand);
    std::uint64_t all = significand * powers[DIGITS - digits], rest = all % powers[16];
    decimal       d = {static_cast<char>('0' + all / powers[16]), eight_digits(rest / powers[8]),
                       eight_digits(rest % powers[8]), 1, digits + exponent};
    d.k             = d.last != ZEROS ? 9 + count_significant(d.last) : 1 + count_significant(d.next);
    return d;
}

void put_eight(char *p, std::uint64_t eight)
{
    std::memcpy(p, &eight, sizeof eight);
}

void put_digits(char *p, const decimal &d)
{
    *p = d.first;
    put_eight(p + 1, d.next);
    put_eight(p + 9, d.last);
}

// "123.4": all digits, then those behind the point once more, one place on.
char *put_point(char *p, const decimal &d)
{
    unsigned __int128 behind = (static_cast<unsigned __int128>(d.last) << 64 | d.next) >> 8 * (d.n - 1);
    put_digits(p, d);
    p[d.n] = '.';
    put_eight(p + d.n + 1, static_cast<std::uint64_t>(behind));
    put_eight(p + d.n + 9, static_cast<std::uint64_t>(behind >> 64));
    return p + d.k + 1;
}

// "1.234e-56"
char *put_exponential(char *p, const decimal &d)
{
    int exponent = d.n - 1, size = exponent < 0 ? -exponent : exponent;
    p[0] = d.first;
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

char *put_laid_out(char *p, const decimal &d)
{
    if (0 < d.n && d.n < d.k) return put_point(p, d);
    if (d.k <= d.n && d.n <= 21) {
        put_digits(p, d);
        put_eight(p + DIGITS, ZEROS);
        return p + d.n;
    }
    if (-6 < d.n && d.n <= 0) {
        put_eight(p, ZEROS);
        p[1] = '.';
        put_digits(p + 2 - d.n, d);
        return p + 2 - d.n + d.k;
    }
    return put_exponential(p, d);
}

} // namespace

extern "C" size_t api_number_write(double value, char text[API_NUMBER_ROOM])
{
    char  *p    = text;
    double size = std::fabs(value);
    *p          = '-';
    p += std::signbit(value);
    if (size < 0x1p53 && size == static_cast<double>(static_cast<std::int64_t>(size))) { // its digits are the shortest
        auto whole = static_cast<std::uint64_t>(size);
        if (whole >= 10) return static_cast<size_t>(put_laid_out(p, split(whole, 0)) - text);
        *p = static_cast<char>('0' + whole);
        return static_cast<size_t>(p + 1 - text);
    }
    namespace policy = jkj::dragonbox::policy;
    auto shortest    = jkj::dragonbox::to_decimal(size, policy::sign::ignore, policy::trailing_zero::ignore);
    return static_cast<size_t>(put_laid_out(p, split(shortest.significand, shortest.exponent)) - text);
}
