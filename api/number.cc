// number.cc - numbers from text, see number.h. Values come from fast_float (Lemire 2021, correctly rounded); the
// grammar is ours.
#include <cmath>
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

// A run of digits: returns the first byte behind, or nullptr if there is none.
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

} // namespace

// number = [ "-" ] int [ "." 1*digit ] [ ("e" / "E") [ "-" / "+" ] 1*digit ]   (RFC 8259, section 6)
//
// with int = "0" / digit1-9 *digit. fast_float finds the end of the number itself. Its grammar differs from this one in
// what may stand before the point and must behind it, and in that it stops before an exponent without digits. Signs and
// leading zeros are as good as random: there are no branches on them.
extern "C" size_t api_number_read(const char *text, size_t length, double *value)
{
    const char *end      = text + length;
    bool        negative = length > 0 && *text == '-';
    const char *whole = text + negative, *p = skip_digits(whole, end);
    if (!p) return 0;
    if (p < end && *p == '.' && (p + 1 == end || !is_digit(p[1]))) return 0;
    if ((p > whole + 1) & (*whole == '0')) end = whole + 1;
    double number;
    p = fast_float::from_chars(whole, end, number).ptr;
    if (p < end && (*p == 'e' || *p == 'E')) return 0;
    *value = std::copysign(number, negative ? -1.0 : 1.0);
    return static_cast<size_t>(p - text);
}

extern "C" size_t api_number_read_decimal(const char *text, size_t length, double *value)
{
    const char *end = skip_decimal(text, text + length);
    if (!end) return 0;
    const char *start = *text == '+' ? text + 1 : text; // fast_float takes no plus
    fast_float::from_chars(start, end, *value);
    return static_cast<size_t>(end - text);
}
