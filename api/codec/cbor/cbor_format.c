/* cbor_format.c - write the heads of CBOR (RFC 8949, section 3), and find numbers in a request without reading it. */
#include "api/codec/nodes/format.h"
#include "cbor_reader.h"
#include <math.h>
#include <string.h>

/* Writes the head of a CBOR item in its shortest form, most significant byte first. Returns the length of the head. */
static size_t cbor_head(unsigned char head[API_HEAD_MAX], unsigned major, uint64_t argument)
{
    size_t   n    = argument < 24            ? 0
                    : argument <= UINT8_MAX  ? 1
                    : argument <= UINT16_MAX ? 2
                    : argument <= UINT32_MAX ? 4
                                             : 8;
    unsigned code = n == 0 ? (unsigned)argument : n == 1 ? 24 : n == 2 ? 25 : n == 4 ? 26 : 27;
    head[0]       = (unsigned char)(major << 5 | code);
    for (size_t i = 0; i < n; i++)
        head[1 + i] = (unsigned char)(argument >> 8 * (n - 1 - i));
    return 1 + n;
}

static const api_binary cbor_binary = {cbor_head, .no = 0xF4, .yes = 0xF5, .null = 0xF6, .number = 0xFB};

/* Reads a CBOR unsigned integer, or a float of 64 or 32 bits (RFC 8949, section 3); 0 for any other item. */
static double number_of_item(const unsigned char *p, const unsigned char *end)
{
    if (p == end) return 0;
    size_t   bytes = *p % 32 >= 24 && *p % 32 < 28 ? (size_t)1 << (*p % 32 - 24) : 0;
    uint64_t value = *p % 32;
    if (bytes > 0) value = 0;
    if ((size_t)(end - p) <= bytes) return 0;
    for (size_t i = 1; i <= bytes; i++)
        value = value << 8 | p[i];
    uint32_t half = (uint32_t)value;
    double   number;
    float    single;
    memcpy(&number, &value, sizeof number);
    memcpy(&single, &half, sizeof single);
    return *p / 32 == 0 ? (double)value : *p == 0xfb ? number : *p == 0xfa ? (double)single : 0;
}

/* Bytes of a CBOR item's head: the initial byte and its argument (RFC 8949, section 3). */
static size_t head_bytes(unsigned char first)
{
    return first % 32 >= 24 && first % 32 < 28 ? 1 + ((size_t)1 << (first % 32 - 24)) : 1;
}

/* The largest magnitude in a typed array of little-endian doubles (RFC 8746, tag 86), or in nested CBOR arrays of
 * numbers. */
static double largest_item(const unsigned char *p, const unsigned char *end, size_t count)
{
    enum { TAG = 0xd8, LITTLE_ENDIAN_DOUBLES = 86, MOST_HEADS = 8 };
    const unsigned char *typed   = memchr(p, TAG, (size_t)(end - p) < MOST_HEADS ? (size_t)(end - p) : MOST_HEADS);
    bool                 dense   = typed && end - typed > 2 && typed[1] == LITTLE_ENDIAN_DOUBLES;
    double               largest = 0, number;
    if (dense) p = typed + 2 + head_bytes(typed[2]);
    for (size_t n = 0; n < count && p < end; n++) {
        while (!dense && p < end && *p / 32 == 4) /* enter a nested array */
            p += head_bytes(*p);
        if (end - p < 9) break;
        if (dense) memcpy(&number, p, sizeof number);
        if (!dense) number = number_of_item(p, end);
        p += dense ? 8 : head_bytes(*p);
        if (isfinite(number)) largest = fmax(largest, fabs(number));
    }
    return largest;
}

const api_format api_cbor_format = {.read         = api_read_cbor,
                                    .binary       = &cbor_binary,
                                    .text         = CBOR_TEXT << 5,
                                    .number_bytes = 8,
                                    .number       = number_of_item,
                                    .largest      = largest_item};
