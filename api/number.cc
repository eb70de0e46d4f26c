// number.cc - numbers from text, see number.h. Values come from fast_float (Lemire 2021, correctly rounded); the
// grammar is ours.
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

} // namespace

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
