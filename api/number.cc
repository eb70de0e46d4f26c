// number.cc - see number.h. Digits come from dragonbox (Jeon 2020, shortest and closest), values from fast_float
// (Lemire 2021, correctly rounded); the grammar of the one and the layout of the other are ours.
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <dragonbox/dragonbox.h>
#include <fast_float/fast_float.h>

extern "C" {
#include "number.h"
}

namespace
{

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// int = "0" / digit1-9 *digit;  a run of digits; both return the first byte behind, or nullptr if there is none.
const char *skip_digits(const char *p, const char *end)
{
    if (p == end || !is_digit(*p)) return nullptr;
    while (p < end && is_digit(*p))
        p++;
    return p;
}

const char *skip_int(const char *p, const char *end)
{
    if (p < end && *p == '0') return p + 1;
    return skip_digits(p, end);
}

// number = [ "-" ] int [ "." 1*digit ] [ ("e" / "E") [ "-" / "+" ] 1*digit ]   (RFC 8259, section 6)
const char *skip_number(const char *p, const char *end)
{
    if (p < end && *p == '-') p++;
    p = skip_int(p, end);
    if (p && p < end && *p == '.') p = skip_digits(p + 1, end);
    if (p && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '-' || *p == '+')) p++;
        p = skip_digits(p, end);
    }
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

// Decimal digits of a positive number without leading zeros, most significant first; returns how many.
int write_digits(std::uint64_t significand, char digits[20])
{
    char reversed[20];
    int  n = 0;
    for (; significand != 0; significand /= 10)
        reversed[n++] = static_cast<char>('0' + significand % 10);
    for (int i = 0; i < n; i++)
        digits[i] = reversed[n - 1 - i];
    return n;
}

char *put(char *p, const char *bytes, int n)
{
    std::memcpy(p, bytes, static_cast<std::size_t>(n));
    return p + n;
}

char *put_zeros(char *p, int n)
{
    std::memset(p, '0', static_cast<std::size_t>(n));
    return p + n;
}

char *put_exponent(char *p, int exponent)
{
    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    char digits[20];
    int  k = write_digits(static_cast<std::uint64_t>(exponent < 0 ? -exponent : exponent), digits);
    return put(p, digits, k);
}

// ECMA-262, Number::toString: the value is 0.d1 d2 .. dk * 10^n.
char *put_laid_out(char *p, const char *digits, int k, int n)
{
    if (k <= n && n <= 21) return put_zeros(put(p, digits, k), n - k);
    if (0 < n && n <= 21) {
        p    = put(p, digits, n);
        *p++ = '.';
        return put(p, digits + n, k - n);
    }
    if (-6 < n && n <= 0) return put(put_zeros(put(p, "0.", 2), -n), digits, k);
    *p++ = digits[0];
    if (k > 1) {
        *p++ = '.';
        p    = put(p, digits + 1, k - 1);
    }
    return put_exponent(p, n - 1);
}

} // namespace

extern "C" size_t api_number_write(double value, char text[API_NUMBER_MAX])
{
    char *p = text;
    if (std::signbit(value)) *p++ = '-';
    if (value == 0) {
        *p++ = '0';
        return static_cast<size_t>(p - text);
    }
    auto decimal = jkj::dragonbox::to_decimal(std::fabs(value), jkj::dragonbox::policy::sign::ignore);
    char digits[20];
    int  k = write_digits(decimal.significand, digits);
    p      = put_laid_out(p, digits, k, k + decimal.exponent);
    return static_cast<size_t>(p - text);
}

extern "C" size_t api_number_read(const char *text, size_t length, double *value)
{
    const char *end = skip_number(text, text + length);
    if (!end) return 0;
    fast_float::from_chars(text, end, *value);
    return static_cast<size_t>(end - text);
}

extern "C" size_t api_number_read_decimal(const char *text, size_t length, double *value)
{
    const char *end = skip_decimal(text, text + length);
    if (!end) return 0;
    const char *start = *text == '+' ? text + 1 : text; // fast_float takes no plus
    fast_float::from_chars(start, end, *value);
    return static_cast<size_t>(end - text);
}
