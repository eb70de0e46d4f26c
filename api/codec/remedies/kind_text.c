/* kind_text.c - recognises numbers, words and JSON texts in strings: see kind_text.h. */
#include "kind_text.h"
#include <string.h>

#define DIGITS "0123456789"

/* Number of bytes at the start of `text` of a decimal number, its sign and exponent included. */
static size_t number_length(const char *text)
{
    size_t n      = *text == '-' || *text == '+';
    size_t digits = strspn(text + n, DIGITS ".");
    if (digits == 0) return 0;
    n += digits;
    if (!text[n] || !strchr("eEdD", text[n])) return n;
    size_t sign = text[n + 1] == '-' || text[n + 1] == '+', exponent = strspn(text + n + 1 + sign, DIGITS);
    return exponent > 0 ? n + 1 + sign + exponent : n;
}

const char *api_kind_of_string(const char *text, size_t length)
{
    const size_t number = number_length(text);
    if (length > 0 && number == length) return "a string that spells a number (send it without quotes)";
    if (number > 0 && text[number] == ',' && strspn(text + number + 1, DIGITS) == length - number - 1)
        return "a string with a decimal comma (send a number with a decimal point: 0.5, not \"0,5\")";
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || strcmp(text, "null") == 0)
        return "a string that spells true, false or null (send it without quotes)";
    if (length > 1 && (*text == '{' || *text == '['))
        return "a string that holds JSON (it was encoded twice: send the object or array itself)";
    return "a string";
}
