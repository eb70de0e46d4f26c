/* cbor_typed_elements.c - convert elements of typed arrays, integers and floats of 8 to 64 bits in both orders of
 * bytes, to doubles. */
#include "cbor_typed_elements.h"
#include "api/codec/nodes/integer.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIRST = 64, RESERVED = 76, LAST = 87, WIDEST = 8 };

static bool is_float(uint64_t tag)
{
    return tag >> 4 & 1;
}

static bool is_signed(uint64_t tag)
{
    return tag >> 3 & 1;
}

size_t api_cbor_typed_width(uint64_t tag)
{
    if (tag < FIRST || tag > LAST || tag == RESERVED) return 0;
    size_t width = (size_t)1 << ((is_float(tag) ? 1 : 0) + (tag & 3));
    return width <= WIDEST ? width : 0;
}

bool api_cbor_typed_is_packed(uint64_t tag)
{
    return tag == API_CBOR_TAG_FLOATS || tag == API_CBOR_TAG_DOUBLES;
}

/* Returns the bits of an element as an unsigned integer. */
static uint64_t bits_of(uint64_t tag, const unsigned char *element)
{
    bool     little = tag >> 2 & 1;
    size_t   width  = api_cbor_typed_width(tag);
    uint64_t bits   = 0;
    for (size_t i = 0; i < width; i++)
        bits = bits << 8 | element[little ? width - 1 - i : i];
    return bits;
}

/* Converts a float of 16 bits (IEEE 754 binary16). */
static double half_of(uint64_t bits)
{
    int    exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double magnitude = exponent == 31  ? (fraction ? (double)NAN : (double)INFINITY)
                       : exponent == 0 ? ldexp(fraction, -24)
                                       : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

static double float_of(uint64_t tag, uint64_t bits)
{
    uint32_t half = (uint32_t)bits;
    float    single;
    double   number;
    memcpy(&single, &half, sizeof single);
    memcpy(&number, &bits, sizeof number);
    size_t width = api_cbor_typed_width(tag);
    return width == sizeof number ? number : width == sizeof single ? (double)single : half_of(bits);
}

/* Returns the magnitude of an integer element; sets `negative`. */
static uint64_t magnitude_of(uint64_t tag, uint64_t bits, bool *negative)
{
    unsigned above = 64 - 8 * (unsigned)api_cbor_typed_width(tag);
    *negative      = is_signed(tag) && bits << above >> 63;
    return *negative ? (0 - (bits << above)) >> above : bits;
}

static size_t convert_some(uint64_t tag, const unsigned char *elements, size_t n, double *to)
{
    size_t width = api_cbor_typed_width(tag);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = bits_of(tag, elements + i * width);
        bool     negative;
        if (is_float(tag)) {
            to[i] = float_of(tag, bits);
            continue;
        }
        uint64_t magnitude = magnitude_of(tag, bits, &negative);
        if (!api_is_double(magnitude)) return i;
        to[i] = negative ? -(double)magnitude : (double)magnitude;
    }
    return n;
}

bool api_cbor_typed_convert(const api_read_options *r, uint64_t tag, const unsigned char *elements, size_t n,
                            double *to, size_t *good)
{
    enum { SOME = 1 << 16 /* elements between two checks of the deadline: less than 1 ms */ };
    size_t done = 0, width = api_cbor_typed_width(tag);
    *good = 0;
    for (size_t some; done < n && *good == done; done += some) {
        some = n - done < SOME ? n - done : SOME;
        if (!api_deadline_check(r->deadline, r->pool->problem)) return false;
        *good += convert_some(tag, elements + done * width, some, to + done);
    }
    return true;
}

const char *api_cbor_typed_integer(uint64_t tag, const unsigned char *elements, size_t i,
                                   char text[API_CBOR_INTEGER_MAX])
{
    bool     negative;
    uint64_t bits      = bits_of(tag, elements + i * api_cbor_typed_width(tag)),
             magnitude = magnitude_of(tag, bits, &negative);
    snprintf(text, API_CBOR_INTEGER_MAX, "%s%" PRIu64, negative ? "-" : "", magnitude);
    return text;
}
