/* msgpack_item.c - see msgpack_item.h: one row for each range of first bytes. */
#include "msgpack_item.h"
#include "api/codec/nodes/integer.h"
#include "api/codec/utf8.h"
#include <string.h>

const char *api_msgpack_kind_text(api_msgpack_kind kind)
{
    static const char *const texts[API_MSGPACK_KINDS] = {
        [API_MSGPACK_NIL] = "nil",          [API_MSGPACK_FALSE] = "false",    [API_MSGPACK_TRUE] = "true",
        [API_MSGPACK_INTEGER] = "a number", [API_MSGPACK_FLOAT] = "a number", [API_MSGPACK_STR] = "a string",
        [API_MSGPACK_BIN] = "bin",          [API_MSGPACK_EXT] = "ext",        [API_MSGPACK_ARRAY] = "an array",
        [API_MSGPACK_MAP] = "a map"};
    return texts[kind];
}

bool api_msgpack_fail(const api_msgpack_cursor *c, size_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    api_failv(c->problem, API_BAD_MSGPACK, NULL, format, args);
    va_end(args);
    c->problem->offset = (long long)offset;
    return false;
}

/* --- first bytes ------------------------------------------------------------------------------------------------ */

/* The meaning of a first byte. */
typedef struct first_byte {
    uint8_t          least; /* the first byte, or the least of those that hold a value themselves */
    api_msgpack_kind kind;
    uint8_t          argument; /* bytes of the number, length or count that follows; 0: the first byte holds it */
    bool             is_signed;
    uint8_t          fixed; /* fixext: the length */
} first_byte;

/* In ascending order; a first byte has the meaning of the last row that is not above it. 0xC1 is never used. */
static const first_byte first_bytes[] = {
    {0x00, API_MSGPACK_INTEGER, 0, false, 0}, {0x80, API_MSGPACK_MAP, 0, false, 0},
    {0x90, API_MSGPACK_ARRAY, 0, false, 0},   {0xA0, API_MSGPACK_STR, 0, false, 0},
    {0xC0, API_MSGPACK_NIL, 0, false, 0},     {0xC1, API_MSGPACK_KINDS, 0, false, 0},
    {0xC2, API_MSGPACK_FALSE, 0, false, 0},   {0xC3, API_MSGPACK_TRUE, 0, false, 0},
    {0xC4, API_MSGPACK_BIN, 1, false, 0},     {0xC5, API_MSGPACK_BIN, 2, false, 0},
    {0xC6, API_MSGPACK_BIN, 4, false, 0},     {0xC7, API_MSGPACK_EXT, 1, false, 0},
    {0xC8, API_MSGPACK_EXT, 2, false, 0},     {0xC9, API_MSGPACK_EXT, 4, false, 0},
    {0xCA, API_MSGPACK_FLOAT, 4, false, 0},   {0xCB, API_MSGPACK_FLOAT, 8, false, 0},
    {0xCC, API_MSGPACK_INTEGER, 1, false, 0}, {0xCD, API_MSGPACK_INTEGER, 2, false, 0},
    {0xCE, API_MSGPACK_INTEGER, 4, false, 0}, {0xCF, API_MSGPACK_INTEGER, 8, false, 0},
    {0xD0, API_MSGPACK_INTEGER, 1, true, 0},  {0xD1, API_MSGPACK_INTEGER, 2, true, 0},
    {0xD2, API_MSGPACK_INTEGER, 4, true, 0},  {0xD3, API_MSGPACK_INTEGER, 8, true, 0},
    {0xD4, API_MSGPACK_EXT, 0, false, 1},     {0xD5, API_MSGPACK_EXT, 0, false, 2},
    {0xD6, API_MSGPACK_EXT, 0, false, 4},     {0xD7, API_MSGPACK_EXT, 0, false, 8},
    {0xD8, API_MSGPACK_EXT, 0, false, 16},    {0xD9, API_MSGPACK_STR, 1, false, 0},
    {0xDA, API_MSGPACK_STR, 2, false, 0},     {0xDB, API_MSGPACK_STR, 4, false, 0},
    {0xDC, API_MSGPACK_ARRAY, 2, false, 0},   {0xDD, API_MSGPACK_ARRAY, 4, false, 0},
    {0xDE, API_MSGPACK_MAP, 2, false, 0},     {0xDF, API_MSGPACK_MAP, 4, false, 0},
    {0xE0, API_MSGPACK_INTEGER, 0, true, 0},
};

static const first_byte *msgpack_meaning_of(unsigned char byte)
{
    size_t low = 0, high = sizeof first_bytes / sizeof *first_bytes;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (first_bytes[middle].least <= byte)
            low = middle;
        else
            high = middle;
    }
    return &first_bytes[low];
}

static uint64_t msgpack_read_bits(const unsigned char *bytes, size_t n)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits = bits << 8 | bytes[i];
    return bits;
}

/* Returns the number, length or count of an object. */
static uint64_t msgpack_argument_of(const first_byte *f, const unsigned char *bytes)
{
    if (f->fixed > 0) return f->fixed;
    if (f->argument == 0) return f->is_signed ? (uint64_t)(int8_t)*bytes : (uint64_t)*bytes - f->least;
    uint64_t bits  = msgpack_read_bits(bytes + 1, f->argument);
    unsigned above = 64 - 8 * (unsigned)f->argument;
    return f->is_signed && above > 0 && bits << above >> 63 ? bits | UINT64_MAX << (64 - above) : bits;
}

/* --- the next object -------------------------------------------------------------------------------------------- */

static double msgpack_float_of(uint64_t bits, size_t bytes)
{
    uint32_t half = (uint32_t)bits;
    float    single;
    double   number;
    memcpy(&single, &half, sizeof single);
    memcpy(&number, &bits, sizeof number);
    return bytes == sizeof single ? (double)single : number;
}

static uint64_t msgpack_magnitude_of(const api_msgpack_item *integer)
{
    return integer->negative ? 0 - integer->value : integer->value;
}

bool api_msgpack_is_double(const api_msgpack_item *integer)
{
    return api_is_double(msgpack_magnitude_of(integer));
}

bool api_msgpack_is_utf8(const api_msgpack_item *item)
{
    const char *text = (const char *)item->bytes;
    for (size_t i = 0; i < item->length;) {
        size_t n = item->bytes[i] < 0x80 ? 1 : api_utf8_character(text + i, item->length - i);
        if (n == 0) return false;
        i += n;
    }
    return true;
}

/* Takes the type of an ext and the content of a str, bin or ext, of item->value bytes. */
static bool msgpack_take_content(api_msgpack_cursor *c, api_msgpack_item *item)
{
    size_t left = c->length - c->position, type = item->kind == API_MSGPACK_EXT;
    if (left < type || left - type < item->value)
        return api_msgpack_fail(c, item->offset,
                                "an object is longer than the %zu bytes that are left: the body is cut short",
                                c->length - item->offset);
    if (type) item->type = (int8_t)c->body[c->position];
    item->bytes  = c->body + c->position + type;
    item->length = (size_t)item->value;
    c->position += type + item->length;
    return item->kind != API_MSGPACK_STR || api_msgpack_is_utf8(item) ||
           api_msgpack_fail(c, item->offset, "a string is not UTF-8");
}

/* Checks that the announced items of an array or map can fit: an object takes at least one byte. */
static bool msgpack_check_count(const api_msgpack_cursor *c, const api_msgpack_item *item)
{
    size_t left = c->length - c->position;
    return item->value <= (item->kind == API_MSGPACK_MAP ? left / 2 : left) ||
           api_msgpack_fail(c, item->offset, "%s of length %llu, but only %zu bytes are left",
                            api_msgpack_kind_text(item->kind), (unsigned long long)item->value, left);
}

bool api_msgpack_next(api_msgpack_cursor *c, api_msgpack_item *item)
{
    const unsigned char *bytes = c->body + c->position;
    size_t               left  = c->length - c->position;
    *item                      = (api_msgpack_item){.offset = c->position};
    if (left == 0)
        return api_msgpack_fail(c, c->position,
                                c->length == 0 ? "the body is empty" : "the body ends where an object should begin");
    const first_byte *f = msgpack_meaning_of(*bytes);
    item->kind          = f->kind;
    if (f->kind == API_MSGPACK_KINDS)
        return api_msgpack_fail(c, c->position, "byte 0x%02x does not begin an object", *bytes);
    if (left - 1 < f->argument)
        return api_msgpack_fail(c, c->position,
                                "an object is longer than the %zu bytes that are left: the body is cut short", left);
    item->value = msgpack_argument_of(f, bytes);
    c->position += 1 + (size_t)f->argument;
    switch (f->kind) {
    case API_MSGPACK_INTEGER:
        item->negative = f->is_signed && item->value >> 63;
        item->number   = item->negative ? -(double)msgpack_magnitude_of(item) : (double)item->value;
        return true;
    case API_MSGPACK_FLOAT: item->number = msgpack_float_of(item->value, f->argument); return true;
    case API_MSGPACK_STR:
    case API_MSGPACK_BIN:
    case API_MSGPACK_EXT: return msgpack_take_content(c, item);
    case API_MSGPACK_ARRAY:
    case API_MSGPACK_MAP: return msgpack_check_count(c, item);
    case API_MSGPACK_NIL:
    case API_MSGPACK_FALSE:
    case API_MSGPACK_TRUE:
    case API_MSGPACK_KINDS: break;
    }
    return true;
}
