/* cbor_reader.c - read a request in CBOR (RFC 8949), whose typed arrays (RFC 8746) cbor_typed_arrays.c reads. The
 * reader is iterative; its stack of open arrays and maps is as deep as the nesting limit. */
#include "cbor_reader.h"
#include "cbor_typed_elements.h"
#include "api/codec/misread_bodies/kind_text.h"
#include "api/codec/misread_bodies/other_format.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TAG_RECORD = 105, TAG_RECORDS = 57343, FIRST_RECORD = 57344, LAST_RECORD = 65535 /* tags of cbor-x */ };
enum { FIRST_OF_DOUBLE = 0xFB };

bool api_cbor_refuse(api_cbor_reader *r, api_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    api_pointer pointer = api_build_pointer(&r->build);
    api_failv(r->cursor.problem, code, api_pointer_text(&pointer), format, args);
    va_end(args);
    return false;
}

bool api_cbor_refuse_kind(api_cbor_reader *r, const api_cbor_item *item, const char *expected)
{
    if (item->kind == API_CBOR_BREAK)
        return api_cbor_fail(&r->cursor, item->offset, "a break where an item is expected");
    return api_cbor_refuse(r, API_WRONG_TYPE, "%s given, %s expected", api_cbor_kind_text(item->kind), expected);
}

/* --- strings ---------------------------------------------------------------------------------------------------- */

/* Refuses a key that is no text. The problem points at the map, if the map is a field of the request. */
static bool cbor_refuse_key(api_cbor_reader *r, const api_cbor_item *item)
{
    const api_pointer map = api_build_pointer(&r->build);
    api_fail(r->cursor.problem, API_BAD_CBOR, r->build.depth > 1 ? api_pointer_text(&map) : NULL,
             "%s as a key, a text string expected%s", api_cbor_kind_text(item->kind),
             item->kind == API_CBOR_NUMBER ? API_NUMBERED_KEYS : "");
    r->cursor.problem->offset = (long long)item->offset;
    return false;
}

/* Reads a key: a text string, or a byte string that is text, which languages with one type for both write. */
static bool read_key(api_cbor_reader *r, api_cbor_item *item)
{
    /* the previous value is complete, so a problem with this key points at the map */
    r->build.open[r->build.depth - 1].key = NULL;
    if (item->kind != API_CBOR_TEXT && item->kind != API_CBOR_BYTES) return cbor_refuse_key(r, item);
    if (!api_cbor_join_parts(r, item)) return false;
    if (item->kind == API_CBOR_BYTES && !api_cbor_is_utf8(item))
        return api_cbor_fail(&r->cursor, item->offset, "a byte string as a key is not UTF-8");
    if (memchr(item->bytes, 0, item->length))
        return api_cbor_refuse(r, API_BAD_VALUE, "a key contains the character U+0000");
    return api_build_key(&r->build, (const char *)item->bytes, item->length, item->offset);
}

static bool read_text(api_cbor_reader *r, api_cbor_item *item)
{
    if (!api_cbor_join_parts(r, item)) return false;
    if (memchr(item->bytes, 0, item->length))
        return api_cbor_refuse(r, API_BAD_VALUE, "the string contains the character U+0000");
    return api_build_string(&r->build, (const char *)item->bytes, item->length);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

bool api_cbor_check_integer(api_cbor_reader *r, const api_cbor_item *item)
{
    if (api_cbor_is_double(item)) return true;
    return api_cbor_refuse(r, API_BAD_VALUE, "the integer %s%" PRIu64 " is no double (64-bit float)",
                           item->is_negative ? "-" : "", item->value + item->is_negative);
}

bool api_cbor_read_number(api_cbor_reader *r, const api_cbor_item *item)
{
    if (!isfinite(item->number)) return api_cbor_refuse(r, API_NON_FINITE, "the number is not finite");
    if (!api_cbor_check_integer(r, item)) return false;
    if (r->build.depth > 0) r->plain |= !r->build.open[r->build.depth - 1].object;
    return api_build_number(&r->build, item->number);
}

bool api_cbor_open(api_cbor_reader *r, const api_cbor_item *item)
{
    if (!api_build_at_nesting_limit(&r->build)) return api_build_open(&r->build, item->kind == API_CBOR_MAP);
    api_fail(r->cursor.problem, API_TOO_DEEP, NULL, "arrays and maps are nested deeper than %u", r->options->nesting);
    r->cursor.problem->offset = (long long)item->offset;
    return false;
}

static bool read_tagged(api_cbor_reader *r, uint64_t tag)
{
    if (api_cbor_typed_width(tag) > 0) return api_cbor_read_typed(r, tag);
    if (tag == CBOR_TAG_MULTI || tag == CBOR_TAG_MULTI_BY_COLUMNS)
        return api_cbor_read_multidimensional(r, tag == CBOR_TAG_MULTI_BY_COLUMNS);
    if (tag == TAG_RECORD || (tag >= TAG_RECORDS && tag <= LAST_RECORD && tag != CBOR_TAG_CBOR))
        return api_cbor_refuse(r, API_WRONG_TYPE,
                               "a record of cbor-x given (tag %llu), a map expected: set "
                               "\"useRecords: false\" in its Encoder",
                               (unsigned long long)tag);
    if (tag == CBOR_TAG_STRING || tag == CBOR_TAG_STRINGS)
        return api_cbor_refuse(r, API_WRONG_TYPE,
                               "the CBOR tag %llu given; references to strings (tag 25) need the tag "
                               "256 around the whole body",
                               (unsigned long long)tag);
    return api_cbor_refuse(r, API_WRONG_TYPE, "the CBOR tag %llu given; %s", (unsigned long long)tag,
                           api_remedy_of_tag(tag));
}

/* Skips tags that do not change the meaning: self-described CBOR, the tags of a map or an array and, around the whole
 * body, tag 256 of its strings. */
static bool skip_tags(api_cbor_reader *r, api_cbor_item *item)
{
    while (item->kind == API_CBOR_TAG) {
        bool strings = item->value == CBOR_TAG_STRINGS && r->build.depth == 0 && !r->references;
        bool map     = item->value == CBOR_TAG_MAP;
        bool array   = item->value == CBOR_TAG_HOMOGENEOUS;
        if (!strings && !map && !array && item->value != CBOR_TAG_CBOR) break;
        r->references |= strings;
        if (!api_cbor_next_item(r, item)) return false;
        if (map && item->kind != API_CBOR_MAP) return api_cbor_refuse_kind(r, item, "the map of tag 259");
        if (array && item->kind != API_CBOR_ARRAY) return api_cbor_refuse_kind(r, item, "the array of tag 41");
    }
    return true;
}

static bool read_value(api_cbor_reader *r, api_cbor_item *item)
{
    if (!skip_tags(r, item)) return false;
    switch (item->kind) {
    case API_CBOR_NUMBER: return api_cbor_read_number(r, item);
    case API_CBOR_TEXT: return read_text(r, item);
    case API_CBOR_TAG: return read_tagged(r, item->value);
    case API_CBOR_TRUE: return api_build_constant(&r->build, API_TRUE);
    case API_CBOR_FALSE: return api_build_constant(&r->build, API_FALSE);
    case API_CBOR_NULL:
    case API_CBOR_UNDEFINED: return api_build_constant(&r->build, API_NULL);
    case API_CBOR_ARRAY:
    case API_CBOR_MAP:
        if (!api_cbor_open(r, item)) return false;
        r->levels[r->build.depth - 1] = (api_level){item->value, item->indefinite};
        r->runs.array                 = item->offset;
        return true;
    case API_CBOR_BYTES:
        return api_cbor_refuse(
            r, API_WRONG_TYPE,
            "a byte string given, a value that JSON can hold expected: bytes do not name the type of "
            "their numbers; send an array of floats, or the bytes in a tag of RFC 8746 (86: doubles, "
            "little-endian)");
    case API_CBOR_SIMPLE:
    case API_CBOR_BREAK:
    case API_CBOR_KINDS: break;
    }
    return api_cbor_refuse_kind(r, item, "a value that JSON can hold");
}

/* Reads one value of the innermost array or map, or a run of its floats, or closes it. */
static bool read_item(api_cbor_reader *r)
{
    api_cbor_item item;
    api_level    *top = r->build.depth > 0 ? &r->levels[r->build.depth - 1] : NULL;
    if (top && !top->indefinite && top->left == 0) return api_build_close(&r->build);
    if (api_read_float_runs(&r->runs, &r->build, r->levels, &r->cursor.position)) return r->plain = true;
    if (top && !top->indefinite) top->left--;
    if (!api_cbor_next_item(r, &item)) return false;
    if (top && top->indefinite && item.kind == API_CBOR_BREAK) return api_build_close(&r->build);
    bool keyed = top && r->build.open[r->build.depth - 1].object;
    if (keyed && (!read_key(r, &item) || !api_cbor_next_item(r, &item))) return false;
    return read_value(r, &item);
}

/* Reports the earliest problem: if an array that is still unchecked has a number that is not finite, this number
 * precedes the problem found so far. */
static bool fail_with_earliest_problem(api_cbor_reader *r)
{
    api_problem     late  = *r->cursor.problem;
    const api_node *whole = &r->build.root;
    bool            read  = api_node_is(/* if this is no object, the values are on the stack */ whole, API_OBJECT);
    api_problem_clear(r->cursor.problem);
    if (api_check_members_finite(r->cursor.problem, read ? whole->items : r->build.stack,
                                 read ? api_node_size(whole) : r->build.used))
        *r->cursor.problem = late;
    return false;
}

static bool read_all(api_cbor_reader *r)
{
    do
        if (!read_item(r)) return r->late ? false : fail_with_earliest_problem(r);
    while (r->build.depth > 0);
    if (r->cursor.position == r->cursor.length) return true;
    api_cbor_fail(&r->cursor, r->cursor.position,
                  "%zu bytes follow the one item of the body; states are rows of its arrays, and no line end follows",
                  r->cursor.length - r->cursor.position);
    return fail_with_earliest_problem(r);
}

/* Returns the form of the arrays of numbers in the body, as api_read_options describes it. */
static api_media form_of(const api_cbor_reader *r)
{
    if (r->plain) return API_MEDIA_CBOR;
    return r->multidimensional ? API_MEDIA_CBOR_MULTIDIMENSIONAL : r->typed ? API_MEDIA_CBOR_TYPED : API_MEDIA_CBOR;
}

bool api_read_cbor(const api_read_options *options, const char *body, size_t length, api_node *root)
{
    api_cbor_reader r = {
        .options = options,
        .look    = API_READ_LOOK,
        .cursor  = {.body = (const unsigned char *)body, .length = length, .problem = options->pool->problem},
        .runs    = {.first = FIRST_OF_DOUBLE, .body = (const unsigned char *)body, .length = length}};
    if (length > UINT32_MAX)
        return api_fail(options->pool->problem, API_BODY_TOO_LARGE, NULL, "%zu bytes of CBOR given, the limit is %u",
                        length, UINT32_MAX);
    r.levels = api_take(options->pool, options->nesting * sizeof *r.levels);
    if (!r.levels || !api_build_start(&r.build, options, 0)) return false;
    if (!read_all(&r)) {
        api_check_format(API_BODY_CBOR, body, length, r.cursor.problem);
        return false;
    }
    if (options->form) *options->form = form_of(&r);
    *root = r.build.root;
    return true;
}
