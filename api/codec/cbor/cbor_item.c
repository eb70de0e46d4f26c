/* cbor_item.c - see cbor_item.h: collect libcbor's callbacks into one item. */
#include "cbor_item.h"
#include "api/codec/nodes/integer.h"
#include "api/codec/utf8.h"
#include <cbor.h>

const char *api_cbor_kind_text(api_cbor_kind kind)
{
    static const char *const texts[API_CBOR_KINDS] = {[API_CBOR_NUMBER]    = "a number",
                                                      [API_CBOR_BYTES]     = "a byte string",
                                                      [API_CBOR_TEXT]      = "a text string",
                                                      [API_CBOR_ARRAY]     = "an array",
                                                      [API_CBOR_MAP]       = "a map",
                                                      [API_CBOR_TAG]       = "a tag",
                                                      [API_CBOR_FALSE]     = "false",
                                                      [API_CBOR_TRUE]      = "true",
                                                      [API_CBOR_NULL]      = "null",
                                                      [API_CBOR_UNDEFINED] = "undefined",
                                                      [API_CBOR_SIMPLE]    = "a simple value",
                                                      [API_CBOR_BREAK]     = "a break"};
    return texts[kind];
}

bool api_cbor_fail(const api_cbor_cursor *c, size_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    api_failv(c->problem, API_BAD_CBOR, NULL, format, args);
    va_end(args);
    c->problem->offset = (long long)offset;
    return false;
}

/* --- libcbor's callbacks ---------------------------------------------------------------------------------------- */

static void set_unsigned(void *to, uint64_t value)
{
    api_cbor_item *item = to;
    item->kind          = API_CBOR_NUMBER;
    item->is_unsigned   = true;
    item->value         = value;
    item->number        = (double)value;
}
static void on_uint8(void *to, uint8_t value)
{
    set_unsigned(to, value);
}
static void on_uint16(void *to, uint16_t value)
{
    set_unsigned(to, value);
}
static void on_uint32(void *to, uint32_t value)
{
    set_unsigned(to, value);
}
static void on_uint64(void *to, uint64_t value)
{
    set_unsigned(to, value);
}

/* Sets the item to the number -1 - n, rounded once to a double. */
static void set_negative(void *to, uint64_t n)
{
    api_cbor_item *item = to;
    item->kind          = API_CBOR_NUMBER;
    item->is_negative   = true;
    item->value         = n;
    item->number        = n == UINT64_MAX ? -0x1p64 : -(double)(n + 1);
}
static void on_negint8(void *to, uint8_t n)
{
    set_negative(to, n);
}
static void on_negint16(void *to, uint16_t n)
{
    set_negative(to, n);
}
static void on_negint32(void *to, uint32_t n)
{
    set_negative(to, n);
}
static void on_negint64(void *to, uint64_t n)
{
    set_negative(to, n);
}

static void on_double(void *to, double number)
{
    api_cbor_item *item = to;
    item->kind          = API_CBOR_NUMBER;
    item->number        = number;
}
static void on_float(void *to, float number)
{
    on_double(to, (double)number);
}

static void set_string(void *to, api_cbor_kind kind, const unsigned char *bytes, size_t length)
{
    api_cbor_item *item = to;
    item->kind          = kind;
    item->bytes         = bytes;
    item->length        = length;
}
static void on_bytes(void *to, cbor_data bytes, size_t length)
{
    set_string(to, API_CBOR_BYTES, bytes, length);
}
static void on_text(void *to, cbor_data text, size_t length)
{
    set_string(to, API_CBOR_TEXT, text, length);
}

static void set_start(void *to, api_cbor_kind kind, bool indefinite, uint64_t value)
{
    api_cbor_item *item = to;
    item->kind          = kind;
    item->indefinite    = indefinite;
    item->value         = value;
}
static void on_bytes_start(void *to)
{
    set_start(to, API_CBOR_BYTES, true, 0);
}
static void on_text_start(void *to)
{
    set_start(to, API_CBOR_TEXT, true, 0);
}
static void on_open_array(void *to)
{
    set_start(to, API_CBOR_ARRAY, true, 0);
}
static void on_open_map(void *to)
{
    set_start(to, API_CBOR_MAP, true, 0);
}
static void on_array(void *to, size_t items)
{
    set_start(to, API_CBOR_ARRAY, false, items);
}
static void on_map(void *to, size_t pairs)
{
    set_start(to, API_CBOR_MAP, false, pairs);
}
static void on_tag(void *to, uint64_t tag)
{
    set_start(to, API_CBOR_TAG, false, tag);
}
static void on_undefined(void *to)
{
    set_start(to, API_CBOR_UNDEFINED, false, 0);
}
static void on_null(void *to)
{
    set_start(to, API_CBOR_NULL, false, 0);
}
static void on_boolean(void *to, bool truth)
{
    set_start(to, truth ? API_CBOR_TRUE : API_CBOR_FALSE, false, 0);
}
static void on_break(void *to)
{
    set_start(to, API_CBOR_BREAK, false, 0);
}

static const struct cbor_callbacks callbacks = {
    .uint8             = on_uint8,
    .uint16            = on_uint16,
    .uint32            = on_uint32,
    .uint64            = on_uint64,
    .negint8           = on_negint8,
    .negint16          = on_negint16,
    .negint32          = on_negint32,
    .negint64          = on_negint64,
    .byte_string       = on_bytes,
    .byte_string_start = on_bytes_start,
    .string            = on_text,
    .string_start      = on_text_start,
    .indef_array_start = on_open_array,
    .array_start       = on_array,
    .indef_map_start   = on_open_map,
    .map_start         = on_map,
    .tag               = on_tag,
    .float2            = on_float,
    .float4            = on_float,
    .float8            = on_double,
    .undefined         = on_undefined,
    .null              = on_null,
    .boolean           = on_boolean,
    .indef_break       = on_break,
};

/* --- the next head ---------------------------------------------------------------------------------------------- */

/* Returns the length of an unassigned simple value, which libcbor rejects, or 0: values 0 to 19 are in the head, 32 to
 * 255 in the byte after it. */
static size_t simple_bytes(const unsigned char *bytes, size_t left)
{
    if (bytes[0] >= 0xE0 && bytes[0] <= 0xF3) return 1;
    return bytes[0] == 0xF8 && left > 1 && bytes[1] >= 32 ? 2 : 0;
}

bool api_cbor_is_double(const api_cbor_item *number)
{
    if (number->is_negative) return api_is_double(number->value + 1); /* 2^64 is 0 here, and a double */
    return !number->is_unsigned || api_is_double(number->value);
}

bool api_cbor_is_utf8(const api_cbor_item *string)
{
    const char *text = (const char *)string->bytes;
    for (size_t i = 0; i < string->length;) {
        size_t n = string->bytes[i] < 0x80 ? 1 : api_utf8_character(text + i, string->length - i);
        if (n == 0) return false;
        i += n;
    }
    return true;
}

/* Checks that text is UTF-8, and that the announced items of an array or map can fit: an item takes at least one
 * byte. */
static bool check_item(const api_cbor_cursor *c, const api_cbor_item *item)
{
    size_t   left = c->length - c->position;
    uint64_t most = item->kind == API_CBOR_MAP ? left / 2 : left;
    if ((item->kind == API_CBOR_ARRAY || item->kind == API_CBOR_MAP) && item->value > most)
        return api_cbor_fail(c, item->offset, "%s of length %llu, but only %zu bytes are left",
                             api_cbor_kind_text(item->kind), (unsigned long long)item->value, left);
    return item->kind != API_CBOR_TEXT || api_cbor_is_utf8(item) ||
           api_cbor_fail(c, item->offset, "a text string is not UTF-8");
}

bool api_cbor_next(api_cbor_cursor *c, api_cbor_item *item)
{
    const unsigned char *bytes = c->body + c->position;
    size_t               left  = c->length - c->position;
    *item                      = (api_cbor_item){.offset = c->position};
    if (left == 0)
        return api_cbor_fail(c, c->position,
                             c->length == 0 ? "the body is empty" : "the body ends where an item should begin");
    struct cbor_decoder_result result = cbor_stream_decode(bytes, left, &callbacks, item);
    if (result.status == CBOR_DECODER_NEDATA)
        return api_cbor_fail(c, c->position,
                             "an item is longer than the %zu bytes that are left: the body is cut short", left);
    if (result.status == CBOR_DECODER_ERROR) {
        result.read = simple_bytes(bytes, left);
        item->kind  = API_CBOR_SIMPLE;
        if (result.read == 0) return api_cbor_fail(c, c->position, "byte 0x%02x does not begin an item", bytes[0]);
    }
    c->position += result.read;
    return check_item(c, item);
}
