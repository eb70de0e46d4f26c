/* json_format.c - choose between the readers of JSON, and find numbers in a request without reading it. */
#include "format.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 32 /* most characters of a number */ };

static bool read_json_text(const api_read_options *r, const char *body, size_t length, api_node *root)
{
    switch (api_read_plain_json(r, body, length, root)) {
    case API_PLAIN_JSON_READ: return true;
    case API_PLAIN_JSON_DECLINED: return api_read_json(r, body, length, root);
    case API_PLAIN_JSON_FAILED: break;
    }
    return false;
}

/* Reads a decimal number after a colon and blanks; 0 if there is none. */
static double read_decimal(const char *p, const char *end)
{
    char   text[LONGEST];
    size_t n = 0;
    while (p < end && memchr(": \t\r\n", *p, 5))
        p++;
    while (p < end && n < sizeof text - 1 && memchr("+-.0123456789eE", *p, 15))
        text[n++] = *p++;
    text[n] = 0;
    return strtod(text, NULL);
}

static double largest_decimal(const char *p, const char *end, size_t count)
{
    double largest = 0;
    for (size_t n = 0; n < count; n++) {
        char text[LONGEST], *after;
        while (p < end && memchr(": \t\r\n,[]", *p, 8))
            p++;
        size_t length = (size_t)(end - p) < sizeof text - 1 ? (size_t)(end - p) : sizeof text - 1;
        memcpy(text, p, length);
        text[length] = 0;
        largest      = fmax(largest, fabs(strtod(text, &after)));
        if (after == text) break;
        p += after - text;
    }
    return largest;
}

static double decimal_at(const unsigned char *p, const unsigned char *end)
{
    return read_decimal((const char *)p, (const char *)end);
}

static double largest_decimal_at(const unsigned char *p, const unsigned char *end, size_t count)
{
    return largest_decimal((const char *)p, (const char *)end, count);
}

const api_format api_json_format = {
    .read = read_json_text, .number_bytes = 6, .number = decimal_at, .largest = largest_decimal_at};
