/* msgpack_reader.c - read a request in MessagePack; msgpack_numpy.c reads arrays of NumPy. The reader is iterative; its
 * stack of open arrays and maps is as deep as the nesting limit. */
#include "msgpack_reader.h"
#include "api/codec/misread_bodies/kind_text.h"
#include "api/codec/misread_bodies/other_format.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    EXT_TYPED     = 0x74, /* msgpackr: a typed array of JavaScript, the number of its type before its elements */
    TYPED_FLOATS  = 7,
    TYPED_DOUBLES = 8,
    EXT_TIMESTAMP = -1,
    EXT_RECORD    = 0x72 /* msgpackr: a record */
};
enum { FIRST_OF_DOUBLE = 0xCB };

bool api_msgpack_refuse(api_msgpack_reader *r, api_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    api_pointer pointer = api_build_pointer(&r->build);
    api_failv(r->cursor.problem, code, api_pointer_text(&pointer), format, args);
    va_end(args);
    return false;
}

bool api_msgpack_build_numbers(api_msgpack_reader *r, const api_node *numbers)
{
    size_t count = 1;
    for (size_t axis = 0; axis < numbers->rank; axis++)
        count *= numbers->extent[axis];
    size_t infinite = api_node_find_non_finite(numbers, count);
    if (infinite == count) return api_build_packed(&r->build, numbers);
    api_pointer pointer = api_build_pointer(&r->build);
    return api_fail_non_finite(r->cursor.problem, &pointer, numbers, infinite);
}

/* The pointer is that of the map, if the map is a field. */
static bool msgpack_refuse_key(api_msgpack_reader *r, const api_msgpack_item *item)
{
    const api_pointer map    = api_build_pointer(&r->build);
    bool              number = item->kind == API_MSGPACK_INTEGER || item->kind == API_MSGPACK_FLOAT;
    api_fail(r->cursor.problem, API_BAD_MSGPACK, r->build.depth > 1 ? api_pointer_text(&map) : NULL,
             "%s as a key, a string expected%s", api_msgpack_kind_text(item->kind), number ? API_NUMBERED_KEYS : "");
    r->cursor.problem->offset = (long long)item->offset;
    return false;
}

/* Reads a key: a str, or a bin that is text, which languages with one type for both write. */
static bool msgpack_read_key(api_msgpack_reader *r, const api_msgpack_item *item)
{
    /* the previous value is complete, so a problem with this key points at the map */
    r->build.open[r->build.depth - 1].key = NULL;
    if (item->kind != API_MSGPACK_STR && item->kind != API_MSGPACK_BIN) return msgpack_refuse_key(r, item);
    if (item->kind == API_MSGPACK_BIN && !api_msgpack_is_utf8(item))
        return api_msgpack_fail(&r->cursor, item->offset, "bin as a key is not UTF-8");
    if (memchr(item->bytes, 0, item->length))
        return api_msgpack_refuse(r, API_BAD_VALUE, "a key contains the character U+0000");
    return api_build_key(&r->build, (const char *)item->bytes, item->length, item->offset);
}

static bool msgpack_read_str(api_msgpack_reader *r, const api_msgpack_item *item)
{
    if (memchr(item->bytes, 0, item->length))
        return api_msgpack_refuse(r, API_BAD_VALUE, "the string contains the character U+0000");
    return api_build_string(&r->build, (const char *)item->bytes, item->length);
}

static bool msgpack_read_number(api_msgpack_reader *r, const api_msgpack_item *item)
{
    if (!isfinite(item->number)) return api_msgpack_refuse(r, API_NON_FINITE, "the number is not finite");
    if (item->kind == API_MSGPACK_INTEGER && !api_msgpack_is_double(item))
        return item->negative
                   ? api_msgpack_refuse(r, API_BAD_VALUE, "the integer %" PRId64 " is no double (64-bit float)",
                                        (int64_t)item->value)
                   : api_msgpack_refuse(r, API_BAD_VALUE, "the integer %" PRIu64 " is no double (64-bit float)",
                                        item->value);
    return api_build_number(&r->build, item->number);
}

/* Reads an array of little-endian doubles or floats, which stay in the body. */
static bool msgpack_read_typed(api_msgpack_reader *r, const api_msgpack_item *item)
{
    int    type  = item->length > 0 ? item->bytes[0] : -1;
    size_t width = type == TYPED_FLOATS ? sizeof(float) : sizeof(double);
    if (type != TYPED_FLOATS && type != TYPED_DOUBLES)
        return api_msgpack_refuse(
            r, API_WRONG_TYPE,
            "a typed array of msgpackr given (ext 0x74) that is none of doubles or floats: send a "
            "Float64Array, or an array of numbers");
    if ((item->length - 1) % width != 0)
        return api_msgpack_refuse(r, API_WRONG_SHAPE, "a typed array of %zu bytes given, a multiple of %zu expected",
                                  item->length - 1, width);
    api_node array  = {.kind = API_ARRAY, .rank = 1, .packing = type == TYPED_FLOATS ? API_FLOATS : API_DOUBLES};
    array.extent[0] = (uint32_t)((item->length - 1) / width);
    array.numbers   = item->bytes + 1;
    return api_msgpack_build_numbers(r, &array);
}

static bool msgpack_read_ext(api_msgpack_reader *r, const api_msgpack_item *item)
{
    if (item->type == EXT_TYPED) return msgpack_read_typed(r, item);
    if (item->type == EXT_TIMESTAMP)
        return api_msgpack_refuse(r, API_WRONG_TYPE,
                                  "a timestamp given (ext -1), a value that JSON can hold expected: send times "
                                  "as numbers");
    if (item->type == EXT_RECORD)
        return api_msgpack_refuse(r, API_WRONG_TYPE,
                                  "a record of msgpackr given (ext 0x72), a map expected: set \"useRecords: "
                                  "false\" in its Packr");
    return api_msgpack_refuse(
        r, API_WRONG_TYPE,
        "ext of type %d given, a value that JSON can hold expected: send arrays of numbers as arrays of "
        "floats",
        item->type);
}

static bool msgpack_refuse_bin(api_msgpack_reader *r)
{
    return api_msgpack_refuse(
        r, API_WRONG_TYPE,
        "bin given, a value that JSON can hold expected: bin does not name the type of its numbers; send an "
        "array of floats (Array.from(x) of a Float64Array, x.tolist() of NumPy), or msgpack_numpy's form");
}

static bool msgpack_open_value(api_msgpack_reader *r, const api_msgpack_item *item)
{
    if (api_build_at_nesting_limit(&r->build)) {
        api_fail(r->cursor.problem, API_TOO_DEEP, NULL, "arrays and maps are nested deeper than %u",
                 r->options->nesting);
        r->cursor.problem->offset = (long long)item->offset;
        return false;
    }
    if (!api_build_open(&r->build, item->kind == API_MSGPACK_MAP)) return false;
    r->levels[r->build.depth - 1] = (api_level){.left = item->value};
    r->runs.array                 = item->offset;
    return true;
}

static bool msgpack_read_value(api_msgpack_reader *r, const api_msgpack_item *item)
{
    switch (item->kind) {
    case API_MSGPACK_INTEGER:
    case API_MSGPACK_FLOAT: return msgpack_read_number(r, item);
    case API_MSGPACK_STR: return msgpack_read_str(r, item);
    case API_MSGPACK_EXT: return msgpack_read_ext(r, item);
    case API_MSGPACK_TRUE: return api_build_constant(&r->build, API_TRUE);
    case API_MSGPACK_FALSE: return api_build_constant(&r->build, API_FALSE);
    case API_MSGPACK_NIL: return api_build_constant(&r->build, API_NULL);
    case API_MSGPACK_MAP:
        if (api_msgpack_is_numpy(&r->cursor, item)) return api_msgpack_read_numpy(r, item);
        return msgpack_open_value(r, item);
    case API_MSGPACK_ARRAY: return msgpack_open_value(r, item);
    case API_MSGPACK_BIN:
    case API_MSGPACK_KINDS: break;
    }
    return msgpack_refuse_bin(r);
}

/* Reads one value of the innermost array or map, or a run of its floats, or closes it. */
static bool msgpack_read_item(api_msgpack_reader *r)
{
    api_msgpack_item item;
    size_t           depth = r->build.depth;
    if (depth > 0 && r->levels[depth - 1].left == 0) return api_build_close(&r->build);
    if (api_read_float_runs(&r->runs, &r->build, r->levels, &r->cursor.position)) return true;
    if (depth > 0) r->levels[depth - 1].left--;
    if (!api_msgpack_next(&r->cursor, &item)) return false;
    if (depth > 0 && r->build.open[depth - 1].object &&
        (!msgpack_read_key(r, &item) || !api_msgpack_next(&r->cursor, &item)))
        return false;
    return msgpack_read_value(r, &item);
}

static bool msgpack_read_all(api_msgpack_reader *r)
{
    size_t look = API_READ_LOOK;
    do
        if (!msgpack_read_item(r) || !api_read_goes_on(r->options, r->cursor.position, &look)) return false;
    while (r->build.depth > 0);
    return r->cursor.position == r->cursor.length ||
           api_msgpack_fail(
               &r->cursor, r->cursor.position,
               "%zu bytes follow the one object of the body; states are rows of its arrays, and no line end follows",
               r->cursor.length - r->cursor.position);
}

bool api_read_msgpack(const api_read_options *options, const char *body, size_t length, api_node *root)
{
    api_msgpack_reader r = {
        .options = options,
        .cursor  = {.body = (const unsigned char *)body, .length = length, .problem = options->pool->problem},
        .runs    = {.first = FIRST_OF_DOUBLE, .body = (const unsigned char *)body, .length = length}};
    if (length > UINT32_MAX)
        return api_fail(options->pool->problem, API_BODY_TOO_LARGE, NULL,
                        "%zu bytes of MessagePack given, the limit is %u", length, UINT32_MAX);
    r.levels = api_take(options->pool, options->nesting * sizeof *r.levels);
    if (!r.levels || !api_build_start(&r.build, options, 0)) return false;
    if (!msgpack_read_all(&r)) {
        api_check_format(API_BODY_MSGPACK, body, length, r.cursor.problem);
        return false;
    }
    *root = r.build.root;
    return true;
}
