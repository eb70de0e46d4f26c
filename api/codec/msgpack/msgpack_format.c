/* msgpack_format.c - write the heads of MessagePack (Furuhashi 2013), and find numbers in a request without reading it.
 */
#include "api/codec/nodes/format.h"
#include "msgpack_item.h"
#include <math.h>
#include <string.h>

enum { FIXSTR = 0xA0 };

/* Writes a first byte and the argument after it in `bytes` bytes, most significant first. Returns the length. */
static size_t msgpack_put_head(unsigned char head[API_HEAD_MAX], unsigned first, size_t bytes, uint64_t argument)
{
    head[0] = (unsigned char)first;
    for (size_t i = 0; i < bytes; i++)
        head[1 + i] = (unsigned char)(argument >> 8 * (bytes - 1 - i));
    return 1 + bytes;
}

/* Returns 0 to 3 for an argument that takes 1, 2, 4 or 8 bytes. */
static unsigned msgpack_width_of(uint64_t argument)
{
    return argument <= UINT8_MAX ? 0 : argument <= UINT16_MAX ? 1 : argument <= UINT32_MAX ? 2 : 3;
}

/* An integer is -1 - argument if it is negative. */
static size_t msgpack_integer_head(unsigned char head[API_HEAD_MAX], bool negative, uint64_t argument)
{
    enum { UINT8 = 0xCC, INT8 = 0xD0, LEAST_FIXINT = 32, MOST_FIXINT = 127 };
    if (argument < (negative ? LEAST_FIXINT : MOST_FIXINT + 1))
        return msgpack_put_head(head, (unsigned)(negative ? ~argument : argument) & UINT8_MAX, 0, 0);
    unsigned width = msgpack_width_of(negative ? argument << 1 : argument); /* one more bit: the sign */
    return msgpack_put_head(head, (negative ? INT8 : UINT8) + width, (size_t)1 << width,
                            negative ? ~argument : argument);
}

/* Texts, arrays and maps have a short head and one of 8 (texts alone), 16 or 32 bits: the request that asks for an
 * answer is shorter than 2^32 bytes, and so is each dimension of the answer. */
static size_t msgpack_head(unsigned char head[API_HEAD_MAX], unsigned kind, uint64_t argument)
{
    enum { STR8 = 0xD9, FIXARRAY = 0x90, ARRAY16 = 0xDC, FIXMAP = 0x80, MAP16 = 0xDE };
    if (kind == CBOR_UNSIGNED || kind == CBOR_NEGATIVE)
        return msgpack_integer_head(head, kind == CBOR_NEGATIVE, argument);
    bool     text  = kind == CBOR_TEXT;
    unsigned fixed = text ? FIXSTR : kind == CBOR_ARRAY ? FIXARRAY : FIXMAP, width = msgpack_width_of(argument);
    if (argument < (text ? 32 : 16)) return msgpack_put_head(head, fixed + (unsigned)argument, 0, 0);
    if (text) return msgpack_put_head(head, STR8 + width, (size_t)1 << width, argument);
    if (width == 0) width = 1;
    return msgpack_put_head(head, (kind == CBOR_ARRAY ? ARRAY16 : MAP16) + width - 1, (size_t)1 << width, argument);
}

static const api_binary msgpack_binary = {msgpack_head, .no = 0xC2, .yes = 0xC3, .null = 0xC0, .number = 0xCB};

/* Reads the next object of MessagePack; false if there is none. */
static bool next_object(api_msgpack_cursor *c, api_msgpack_item *item)
{
    api_problem ignored;
    api_problem_clear(&ignored);
    c->problem = &ignored;
    bool read  = api_msgpack_next(c, item);
    c->problem = NULL;
    return read;
}

/* Reads a number of MessagePack; 0 for any other object. */
static double read_object(const unsigned char *p, const unsigned char *end)
{
    api_msgpack_cursor cursor = {.body = p, .length = (size_t)(end - p)};
    api_msgpack_item   item;
    return next_object(&cursor, &item) ? item.number : 0;
}

/* The largest magnitude in nested arrays of MessagePack, or in a typed array of msgpackr. */
static double largest_object(const unsigned char *p, const unsigned char *end, size_t count)
{
    enum { TYPED = 0x74, DOUBLES = 8 };
    api_msgpack_cursor cursor = {.body = p, .length = (size_t)(end - p)};
    api_msgpack_item   item;
    double             largest = 0, number;
    for (size_t n = 0; n < count && next_object(&cursor, &item);) {
        bool typed = item.kind == API_MSGPACK_EXT && item.type == TYPED && item.length > 0 && *item.bytes == DOUBLES;
        if (item.kind == API_MSGPACK_ARRAY) continue;
        if (!typed && item.kind != API_MSGPACK_INTEGER && item.kind != API_MSGPACK_FLOAT) break;
        if (!typed && isfinite(item.number)) largest = fmax(largest, fabs(item.number));
        n += typed ? 0 : 1;
        for (size_t i = 1; typed && n < count && item.length - i >= sizeof number; i += sizeof number, n++) {
            memcpy(&number, item.bytes + i, sizeof number);
            if (isfinite(number)) largest = fmax(largest, fabs(number));
        }
    }
    return largest;
}

const api_format api_msgpack_format = {.read         = api_read_msgpack,
                                       .binary       = &msgpack_binary,
                                       .text         = FIXSTR,
                                       .number_bytes = 8,
                                       .number       = read_object,
                                       .largest      = largest_object};
