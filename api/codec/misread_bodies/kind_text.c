/* kind_text.c - recognises numbers, words and JSON texts in strings: see kind_text.h. */
#include "kind_text.h"
#include <stdbool.h>
#include <string.h>

const char *api_remedy_of_tag(uint64_t tag)
{
    static const struct {
        uint64_t    first, last;
        const char *remedy;
    } tags[] = {
        {0, 1, "send a time as a number"},
        {2, 3, "send a big integer as a float"},
        {4, 5, "send a decimal number as a float (float(x) in Python, to_f in Ruby)"},
        {26, 27, "send an object of a language as a map"},
        {28, 29, "write repeated values out (cbor2: value_sharing=False; cbor-x: structuredClone: false)"},
        {30, 30, "send a fraction as a float (float(x) in Python, to_f in Ruby)"},
        {32, 37, "send a text without a tag"},
        {83, 87, "send floats of 128 bits as 64-bit floats"}, /* 84 to 86 are read */
        {100, 100, "send a date as a number"},
        {258, 258, "send a set as an array"},
        {264, 265, "send a decimal number as a float"},
        {1004, 1004, "send a date as a number"},
    };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (tag >= tags[i].first && tag <= tags[i].last) return tags[i].remedy;
    return "arrays of numbers may be in the tags 40, 1040, 64 to 75, 77 to 82 and 84 to 86";
}

#define DIGITS "0123456789"

/* Number of bytes at the start of `text` of a decimal number, its sign and exponent included. */
static size_t number_length(const char *text)
{
    size_t n     = *text == '-' || *text == '+';
    size_t whole = strspn(text + n, DIGITS), point = text[n + whole] == '.',
           part = point ? strspn(text + n + whole + 1, DIGITS) : 0;
    if (whole + part == 0) return 0;
    n += whole + point + part;
    if (!text[n] || !strchr("eEdD", text[n])) return n;
    size_t sign = text[n + 1] == '-' || text[n + 1] == '+', exponent = strspn(text + n + 1 + sign, DIGITS);
    return exponent > 0 ? n + 1 + sign + exponent : n;
}

/* True for the words that encoders write for infinity and NaN. */
static bool spells_not_finite(const char *text)
{
    static const char *const words[] = {"NA", "NaN", "nan", "Inf", "inf", "Infinity"};
    size_t                   sign    = *text == '-' || *text == '+';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text + sign, words[i]) == 0) return true;
    return false;
}

/* True for at least two numbers between brackets, commas, semicolons and blanks. */
static bool spells_numbers(const char *text)
{
    size_t count = 0;
    for (;;) {
        text += strspn(text, " \t\r\n,;[]()");
        size_t length = number_length(text);
        if (!*text || length == 0) break;
        count++;
        text += length;
    }
    return !*text && count > 1;
}

const char *api_kind_of_string(const char *text, size_t length)
{
    const size_t number = number_length(text);
    if (length > 0 && number == length) return "a string that spells a number (send it without quotes)";
    if (number > 0 && text[number] == ',' && strspn(text + number + 1, DIGITS) == length - number - 1)
        return "a string with a decimal comma (send a number with a decimal point: 0.5, not \"0,5\")";
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || strcmp(text, "null") == 0)
        return "a string that spells true, false or null (send it without quotes)";
    if (spells_not_finite(text)) return "a string for NaN, NA or infinity, which no number is (leave such states out)";
    if (number > 0 && text[number] == '/' && number_length(text + number + 1) == length - number - 1)
        return "a string that spells a fraction (send a number: 0.5, not 1/2)";
    if (length > 1 && (*text == '{' || *text == '['))
        return "a string that holds JSON (it was encoded twice: send the object or array itself)";
    if (spells_numbers(text)) return "a string that spells several numbers (send an array of them)";
    return "a string";
}
