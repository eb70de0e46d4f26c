/* peek.c - see peek.h. */
#include "peek.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* END: search only so many bytes at each end of a long body; long arrays of numbers are usually in the middle. */
enum { END = 512, LONGEST = 32 /* characters of a number */ };

/* Substring search. memchr for the first letter is faster than memmem here: letters are rare among numbers, and
 * memmem first builds a table. */
static const unsigned char *search(const char *in, size_t length, const char *text, size_t n)
{
    const char *last = in + length - n;
    for (const char *at = in; length >= n && at <= last; at++) {
        at = memchr(at, *text, (size_t)(last - at) + 1);
        if (!at) break;
        if (memcmp(at, text, n) == 0) return (const unsigned char *)at;
    }
    return NULL;
}

/* Finds a text in the body, in either encoding; NULL if absent. Of a body longer than 2 END bytes, only the ends are
 * searched. */
static const unsigned char *find(const api_input *input, const char *text, size_t n)
{
    size_t length = input->length;
    if (!input->body) return NULL;
    const unsigned char *at = search(input->body, length <= 2 * END ? length : END, text, n);
    return at || length <= 2 * END ? at : search(input->body + length - END, END, text, n);
}

bool api_body_mentions(const api_input *input, const char *name)
{
    return find(input, name, strlen(name)) != NULL;
}

/* Reads a decimal number after a colon and blanks; 0 if there is none. */
static double read_decimal(const char *at, const char *end)
{
    char   text[LONGEST];
    size_t n = 0;
    while (at < end && memchr(": \t\r\n", *at, 5))
        at++;
    while (at < end && n < sizeof text - 1 && memchr("+-.0123456789eE", *at, 15))
        text[n++] = *at++;
    text[n] = 0;
    return strtod(text, NULL);
}

/* Reads a CBOR unsigned integer, or a float of 64 or 32 bits (RFC 8949, section 3); 0 for any other item. */
static double read_item(const unsigned char *at, const unsigned char *end)
{
    if (at == end) return 0;
    size_t   bytes = *at % 32 >= 24 && *at % 32 < 28 ? (size_t)1 << (*at % 32 - 24) : 0;
    uint64_t value = *at % 32;
    if (bytes > 0) value = 0;
    if ((size_t)(end - at) <= bytes) return 0;
    for (size_t i = 1; i <= bytes; i++)
        value = value << 8 | at[i];
    uint32_t half = (uint32_t)value;
    double   number;
    float    single;
    memcpy(&number, &value, sizeof number);
    memcpy(&single, &half, sizeof single);
    return *at / 32 == 0 ? (double)value : *at == 0xfb ? number : *at == 0xfa ? (double)single : 0;
}

/* The first byte after the field's name (JSON: after its closing quote); NULL if the field is absent. */
static const unsigned char *find_value(const api_call *call, const api_input *input, api_field field)
{
    char   key[64];
    bool   binary = call->content == API_MEDIA_CBOR;
    size_t length = strlen(api_field_names[field]);
    snprintf(key, sizeof key, binary ? "%c%s" : "%c%s\"", binary ? (int)(0x60 + length) : '"', api_field_names[field]);
    const unsigned char *at = find(input, key, strlen(key));
    return at ? at + strlen(key) : NULL;
}

double api_peek_number(const api_call *call, const api_input *input, api_field field)
{
    const unsigned char *at = find_value(call, input, field), *end = (const unsigned char *)input->body + input->length;
    if (!at) return 0;
    double number =
        call->content == API_MEDIA_CBOR ? read_item(at, end) : read_decimal((const char *)at, (const char *)end);
    return isfinite(number) && number > 0 ? number : 0;
}

static double largest_decimal(const char *at, const char *end, size_t count)
{
    double largest = 0;
    for (size_t n = 0; n < count; n++) {
        char text[LONGEST], *after;
        while (at < end && memchr(": \t\r\n,[]", *at, 8))
            at++;
        size_t length = (size_t)(end - at) < sizeof text - 1 ? (size_t)(end - at) : sizeof text - 1;
        memcpy(text, at, length);
        text[length] = 0;
        largest      = fmax(largest, fabs(strtod(text, &after)));
        if (after == text) break;
        at += after - text;
    }
    return largest;
}

/* Bytes of a CBOR item's head: the initial byte and its argument (RFC 8949, section 3). */
static size_t head_bytes(unsigned char first)
{
    return first % 32 >= 24 && first % 32 < 28 ? 1 + ((size_t)1 << (first % 32 - 24)) : 1;
}

/* The largest magnitude in a typed array of little-endian doubles (RFC 8746, tag 86), or in nested CBOR arrays of
 * numbers. */
static double largest_item(const unsigned char *at, const unsigned char *end, size_t count)
{
    enum { TAG = 0xd8, LITTLE_ENDIAN_DOUBLES = 86, MOST_HEADS = 8 };
    const unsigned char *typed   = memchr(at, TAG, (size_t)(end - at) < MOST_HEADS ? (size_t)(end - at) : MOST_HEADS);
    bool                 dense   = typed && end - typed > 2 && typed[1] == LITTLE_ENDIAN_DOUBLES;
    double               largest = 0, number;
    if (dense) at = typed + 2 + head_bytes(typed[2]);
    for (size_t n = 0; n < count && at < end; n++) {
        while (!dense && at < end && *at / 32 == 4) /* enter a nested array */
            at += head_bytes(*at);
        if (end - at < 9) break;
        if (dense) memcpy(&number, at, sizeof number);
        if (!dense) number = read_item(at, end);
        at += dense ? 8 : head_bytes(*at);
        if (isfinite(number)) largest = fmax(largest, fabs(number));
    }
    return largest;
}

double api_peek_largest(const api_call *call, const api_input *input, api_field field, size_t count)
{
    const unsigned char *at = find_value(call, input, field), *end = (const unsigned char *)input->body + input->length;
    if (!at || at > end) return 0;
    double largest = call->content == API_MEDIA_CBOR ? largest_item(at, end, count)
                                                     : largest_decimal((const char *)at, (const char *)end, count);
    return isfinite(largest) ? largest : 0;
}
