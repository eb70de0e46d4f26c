/* emit_msgpack.c - the heads and first bytes of MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md). */
#include "emit_bytes.h"

/* Writes a first byte and the argument behind it in `bytes` bytes, most significant first. Returns the length. */
static size_t put_head(unsigned char head[API_HEAD_MAX], unsigned first, size_t bytes, uint64_t argument)
{
    head[0] = (unsigned char)first;
    for (size_t i = 0; i < bytes; i++)
        head[1 + i] = (unsigned char)(argument >> 8 * (bytes - 1 - i));
    return 1 + bytes;
}

/* Returns 0 to 3 for an argument that takes 1, 2, 4 or 8 bytes. */
static unsigned width_of(uint64_t argument)
{
    return argument <= UINT8_MAX ? 0 : argument <= UINT16_MAX ? 1 : argument <= UINT32_MAX ? 2 : 3;
}

/* An integer is -1 - argument if it is negative. */
static size_t integer_head(unsigned char head[API_HEAD_MAX], bool negative, uint64_t argument)
{
    enum { UINT8 = 0xCC, INT8 = 0xD0, LEAST_FIXINT = 32, MOST_FIXINT = 127 };
    if (argument < (negative ? LEAST_FIXINT : MOST_FIXINT + 1))
        return put_head(head, (unsigned)(negative ? ~argument : argument) & UINT8_MAX, 0, 0);
    unsigned width = width_of(negative ? argument << 1 : argument); /* one more bit: the sign */
    return put_head(head, (negative ? INT8 : UINT8) + width, (size_t)1 << width, negative ? ~argument : argument);
}

/* Texts, arrays and maps have a short head and one of 8 (texts alone), 16 or 32 bits: the request that asks for an answer
 * is shorter than 2^32 bytes, and so is each dimension of the answer. */
static size_t msgpack_head(unsigned char head[API_HEAD_MAX], unsigned kind, uint64_t argument)
{
    enum { FIXSTR = 0xA0, STR8 = 0xD9, FIXARRAY = 0x90, ARRAY16 = 0xDC, FIXMAP = 0x80, MAP16 = 0xDE };
    if (kind == CBOR_UNSIGNED || kind == CBOR_NEGATIVE) return integer_head(head, kind == CBOR_NEGATIVE, argument);
    bool     text  = kind == CBOR_TEXT;
    unsigned fixed = text ? FIXSTR : kind == CBOR_ARRAY ? FIXARRAY : FIXMAP, width = width_of(argument);
    if (argument < (text ? 32 : 16)) return put_head(head, fixed + (unsigned)argument, 0, 0);
    if (text) return put_head(head, STR8 + width, (size_t)1 << width, argument);
    if (width == 0) width = 1;
    return put_head(head, (kind == CBOR_ARRAY ? ARRAY16 : MAP16) + width - 1, (size_t)1 << width, argument);
}

const api_binary api_msgpack = {msgpack_head, .no = 0xC2, .yes = 0xC3, .null = 0xC0, .number = 0xCB};
