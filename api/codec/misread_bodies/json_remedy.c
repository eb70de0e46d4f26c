/* json_remedy.c - see json_remedy.h: a table of misspellings, each recognised by the token at which the parser stopped
 * and by its neighbours. */
#include "json_remedy.h"
#include <string.h>

enum { TOKEN_MOST = 64 /* bytes of a token on either side of the error */ };

/* The token at the error: letters, digits, signs, points and bytes above ASCII. */
typedef struct scene {
    const char *text;
    size_t      length;
    const char *token;         /* begin of the token, or the byte at which the parser stopped */
    size_t      size;          /* bytes of the token; 0: the parser stopped at the end of the text or at another byte */
    char        before, after; /* the bytes around the token, without blanks; '\0': none */
} scene;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_token_byte(char c)
{
    return is_digit(c) || is_letter(c) || (unsigned char)c >= 0x80 || (c && strchr("+-._#$", c));
}

/* Returns the last byte before `place` that is no blank; '\0' at the beginning. */
static char byte_before(const char *text, const char *place)
{
    while (place > text && is_blank(place[-1]))
        place--;
    return place > text ? place[-1] : '\0';
}

static scene read_scene(const char *text, size_t length, size_t position)
{
    if (position > length) position = length;
    const char *end = text + length, *from = text + (position > 0 ? position - 1 : 0), *to = from;
    while (to < end && to - from < TOKEN_MOST && is_token_byte(*to))
        to++;
    const char *stop = from;
    while (to > stop && from > text && stop - from < TOKEN_MOST && is_token_byte(from[-1]))
        from--;
    scene s  = {.text = text, .length = length, .token = from, .size = (size_t)(to - from)};
    s.before = byte_before(text, from);
    while (to < end && is_blank(*to))
        to++;
    s.after = to < end ? *to : '\0';
    return s;
}

/* The byte i of the token; '\0' after its end. */
static char token_byte(const scene *s, size_t i)
{
    return i < s->size ? s->token[i] : '\0';
}

static bool token_is(const scene *s, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == s->size && memcmp(s->token, *words, s->size) == 0) return true;
    return false;
}

static bool token_has(const scene *s, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= s->size; i++)
        if (memcmp(s->token + i, part, n) == 0) return true;
    return false;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/* True if the token begins as a number, whatever follows. */
static bool is_numeric(const scene *s)
{
    size_t i = token_byte(s, 0) == '-' || token_byte(s, 0) == '+';
    return is_digit(token_byte(s, i)) || (token_byte(s, i) == '.' && is_digit(token_byte(s, i + 1)));
}

static bool is_not_finite(const scene *s)
{
    static const char *const words[] = {"NaN", "nan", "NAN", "Inf", "inf", "INF", "#IND", "#QNAN", NULL};
    for (const char *const *word = words; *word; word++)
        if (token_has(s, *word)) return true;
    return false;
}

static bool has_bare_point(const scene *s)
{
    for (size_t i = 0; is_numeric(s) && i < s->size; i++)
        if (s->token[i] == '.') return i == 0 || !is_digit(s->token[i - 1]) || !is_digit(token_byte(s, i + 1));
    return false;
}

/* An exponent after d or D (Fortran), q or Q: a digit or a sign follows. */
static bool has_other_exponent(const scene *s)
{
    for (size_t i = 1; is_numeric(s) && i < s->size; i++)
        if (strchr("dDqQ", s->token[i]) && is_digit(s->token[i - 1] == '.' ? '0' : s->token[i - 1]))
            return is_digit(token_byte(s, i + 1)) || token_byte(s, i + 1) == '-' || token_byte(s, i + 1) == '+';
    return false;
}

static bool has_plus(const scene *s)
{
    return is_numeric(s) && *s->token == '+';
}

static bool is_hexadecimal(const scene *s)
{
    size_t i = token_byte(s, 0) == '-' || token_byte(s, 0) == '+';
    return token_byte(s, i) == '0' && strchr("xXbBoO", token_byte(s, i + 1)) && token_byte(s, i + 1);
}

static bool has_leading_zero(const scene *s)
{
    size_t i = token_byte(s, 0) == '-';
    return token_byte(s, i) == '0' && is_digit(token_byte(s, i + 1));
}

static bool has_separator(const scene *s)
{
    return is_numeric(s) && (token_has(s, "_") || (s->after == '\'' && s->token[s->size] == '\''));
}

static bool has_suffix(const scene *s)
{
    return is_numeric(s) && strchr("fFlLdDjij", s->token[s->size - 1]) && s->size > 1 &&
           is_digit(s->token[s->size - 2]);
}

static bool is_fraction(const scene *s)
{
    return *s->token == '/' && is_digit(s->before);
}

static bool has_wide_minus(const scene *s)
{
    return s->size > 3 && memcmp(s->token, "\xE2\x88\x92", 3) == 0;
}

/* A digit where a key must stand, after a comma after a digit: {"duration": 0,5}. */
static bool is_decimal_comma(const scene *s)
{
    if (!is_digit(token_byte(s, 0)) || s->before != ',') return false;
    const char *comma = s->token;
    while (*--comma != ',')
        ;
    return is_digit(byte_before(s->text, comma));
}

/* --- words and strings ------------------------------------------------------------------------------------------- */

static bool is_other_word(const scene *s)
{
    static const char *const words[] = {"None", "True",   "False",   "TRUE", "FALSE", "NULL", "Null",
                                        "nil",  ".true.", ".false.", "NA",   "T",     "F",    NULL};
    return token_is(s, words);
}

static bool is_undefined(const scene *s)
{
    static const char *const words[] = {"undefined", NULL};
    return token_is(s, words);
}

static bool has_other_quote(const scene *s)
{
    return *s->token == '\'' || *s->token == '`' || token_has(s, "\xE2\x80\x9C") || token_has(s, "\xE2\x80\x9D") ||
           token_has(s, "\xE2\x80\x9E") || token_has(s, "\xE2\x80\x99");
}

static bool is_bare_key(const scene *s)
{
    return s->size > 0 && (s->before == '{' || s->before == ',') && (s->after == ':' || s->after == '=') &&
           (is_letter(*s->token) || *s->token == '_');
}

static bool is_form(const scene *s)
{
    return s->token == s->text && is_letter(*s->token) && s->after == '=';
}

static bool is_comment(const scene *s)
{
    return (*s->token == '/' && s->size == 0) || *s->token == '#';
}

/* --- punctuation ---------------------------------------------------------------------------------------------------
 */

/* The character that ends strings in C. */
static bool is_nul(const scene *s)
{
    return s->token < s->text + s->length && *s->token == '\0';
}

static bool is_cut(const scene *s)
{
    const char *open = memchr(s->text, '"', s->length);
    return s->size == 0 && (s->token + 1 >= s->text + s->length || open == s->token) && s->length > 0;
}

static bool has_last_comma(const scene *s)
{
    return s->size == 0 && s->before == ',' && (*s->token == ']' || *s->token == '}');
}

static bool has_empty_entry(const scene *s)
{
    return *s->token == ',' && s->size == 0 && s->before && strchr("[{,:", s->before);
}

static bool is_tuple(const scene *s)
{
    return *s->token == '(';
}

static bool lacks_comma(const scene *s)
{
    bool value = is_digit(s->before) || s->before == ']' || s->before == '}' || s->before == '"';
    return value && (*s->token == ';' || *s->token == '[' || *s->token == '"' || is_numeric(s));
}

static bool is_second_text(const scene *s)
{
    return *s->token == '{' && s->before == '}';
}

/* `in_value`: the problem points at the value. The first row that fits counts. */
static const struct {
    bool (*fits)(const scene *s);
    bool        in_value;
    const char *text;
} remedies[] = {
    {is_form, false, "send a JSON text, not a form (curl --json)"},
    {has_wide_minus, true, "the sign of a number is the ASCII hyphen -, not the typographic minus"},
    {is_not_finite, true, "JSON has neither NaN nor infinity"},
    {has_bare_point, true, "a number has a digit on both sides of the point: -0.357, not -.357, and 1.0, not 1."},
    {has_other_exponent, true, "the exponent of a number is e: 3.5e-01, not 3.5D-01"},
    {is_hexadecimal, true, "numbers are decimal, without 0x"},
    {has_leading_zero, true, "a number has no zeros in front: 1, not 01"},
    {has_plus, true, "a positive number has no sign: 1, not +1"},
    {has_separator, true, "a number has no marks between its digits: 1000, not 1_000"},
    {has_suffix, true, "a number has no suffix: 1.5, not 1.5f"},
    {is_fraction, true, "a number is not a fraction: 0.5, not 1/2"},
    {is_decimal_comma, true, "a number has a decimal point, no decimal comma: 0.5, not 0,5"},
    {is_other_word, true, "the words are true, false and null, as Python's json.dumps and not its str writes them"},
    {is_undefined, true, "leave the field out, or send null"},
    {has_other_quote, false, "keys and strings stand in double quotes \", as json.dumps and not str writes them"},
    {is_bare_key, false, "keys stand in double quotes: {\"q\": [0.1]}"},
    {is_second_text, false, "a request is one JSON text: send many states as rows of its arrays"},
    {is_comment, false, "JSON has no comments"},
    {has_last_comma, false, "no comma follows the last entry"},
    {has_empty_entry, false, "an entry is missing before the comma"},
    {is_tuple, true, "arrays stand in brackets: [1, 2], not (1, 2)"},
    {lacks_comma, false, "entries are separated by commas"},
    {is_nul, false, "a NUL character is no part of JSON: send strlen(text) bytes, not sizeof or strlen + 1"},
    {is_cut, false, "the text ends early: Content-Length counts bytes, not characters"},
};

api_json_remedy api_json_remedy_find(const char *text, size_t length, size_t position)
{
    const scene s = read_scene(text, length, position);
    for (size_t i = 0; length > 0 && i < sizeof remedies / sizeof *remedies; i++) {
        if (!remedies[i].fits(&s)) continue;
        size_t value = (size_t)(s.token - text);
        while (remedies[i].fits == is_decimal_comma && text[--value] != ',')
            ;
        return (api_json_remedy){remedies[i].text, remedies[i].in_value, value};
    }
    return (api_json_remedy){0};
}
