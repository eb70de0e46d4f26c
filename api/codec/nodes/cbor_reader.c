/* cbor_reader.c - read a request in CBOR (RFC 8949), with typed arrays (RFC 8746), whose numbers stay in the body.
 * The reader is iterative; its stack of open arrays and maps is as deep as the nesting limit. */
#include "cbor_item.h"
#include "node_build.h"
#include "node_read.h"
#include <math.h>
#include <string.h>

enum { TAG_MULTI = 40, TAG_FLOATS = 85, TAG_DOUBLES = 86, TAG_CBOR = 55799 };

/* How many items an open array or map still expects. */
typedef struct level {
    uint64_t left; /* items of an array or pairs of a map, unless indefinite */
    bool     indefinite;
} level;

typedef struct reader {
    const api_read_options *options;
    api_cbor_cursor         cursor;
    api_builder             build;
    level                  *levels; /* [nesting] one for each array or map that is open in `build` */
    bool                    plain, typed, multidimensional; /* the forms of the arrays of numbers read so far */
} reader;

static bool next_item(reader *r, api_cbor_item *item)
{
    return api_cbor_next(&r->cursor, item);
}

/* Sets a problem whose pointer is that of the next value; returns false. */
static bool fail(reader *r, api_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fail(reader *r, api_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    api_pointer pointer = api_build_pointer(&r->build);
    api_failv(r->cursor.problem, code, api_pointer_text(&pointer), format, args);
    va_end(args);
    return false;
}

static bool fail_kind(reader *r, const api_cbor_item *item, const char *expected)
{
    if (item->kind == API_CBOR_BREAK)
        return api_cbor_fail(&r->cursor, item->offset, "a break where an item is expected");
    return fail(r, API_WRONG_TYPE, "%s given, %s expected", api_cbor_kind_text(item->kind), expected);
}

/* --- strings ---------------------------------------------------------------------------------------------------- */

/* Joins the parts of a text or byte string of indefinite length. */
static bool join_string_parts(reader *r, api_cbor_item *string)
{
    api_cbor_item part;
    if (!string->indefinite) return true;
    size_t start = r->cursor.position, bytes = 0;
    char  *whole = NULL;
    for (int pass = 0; pass < 2; pass++) { /* the first pass measures the parts, the second copies them */
        r->cursor.position = start;
        bytes              = 0;
        while (next_item(r, &part) && part.kind == string->kind && !part.indefinite) {
            if (whole && part.length > 0) memcpy(whole + bytes, part.bytes, part.length);
            bytes += part.length;
        }
        if (r->cursor.problem->code != API_NO_PROBLEM) return false;
        if (part.kind != API_CBOR_BREAK)
            return api_cbor_fail(&r->cursor, part.offset, "%s among the parts of %s", api_cbor_kind_text(part.kind),
                                 api_cbor_kind_text(string->kind));
        if (!whole && !(whole = api_take(r->build.pool, bytes + 1))) return false;
    }
    string->bytes  = (const unsigned char *)whole;
    string->length = bytes;
    return true;
}

static bool read_key(reader *r, api_cbor_item *item)
{
    /* A problem with this key points at the map: the previous value is complete. */
    r->build.open[r->build.depth - 1].key = NULL;
    if (item->kind != API_CBOR_TEXT)
        return api_cbor_fail(&r->cursor, item->offset, "%s as a key, a text string expected",
                             api_cbor_kind_text(item->kind));
    if (!join_string_parts(r, item)) return false;
    if (memchr(item->bytes, 0, item->length)) return fail(r, API_BAD_VALUE, "a key contains the character U+0000");
    return api_build_key(&r->build, (const char *)item->bytes, item->length, item->offset);
}

static bool read_text(reader *r, api_cbor_item *item)
{
    if (!join_string_parts(r, item)) return false;
    if (memchr(item->bytes, 0, item->length)) return fail(r, API_BAD_VALUE, "the string contains the character U+0000");
    return api_build_string(&r->build, (const char *)item->bytes, item->length);
}

/* --- numbers ---------------------------------------------------------------------------------------------------- */

static bool read_number(reader *r, const api_cbor_item *item)
{
    if (!isfinite(item->number)) return fail(r, API_NON_FINITE, "the number is not finite");
    if (r->build.depth > 0) r->plain |= !r->build.open[r->build.depth - 1].object;
    return api_build_number(&r->build, item->number);
}

/* True if the array is a member of the root whose numbers are checked to be finite later, while they are copied into
 * lanes. */
static bool is_checked_later(const reader *r, const api_node *array)
{
    const api_open_value *top = r->build.open;
    if (r->build.depth != 1 || !top->object || array->rank != 2) return false;
    size_t i = 0;
    while (i < r->options->n_checked_later && strcmp(r->options->checked_later[i], top->key) != 0)
        i++;
    return i < r->options->n_checked_later;
}

/* Checks that the first `numbers` numbers are finite; false with 422 at the first that is not. */
static bool check_finite(reader *r, const api_node *array, size_t numbers)
{
    size_t index = api_node_find_non_finite(array, numbers);
    if (index == numbers) return true;
    api_pointer pointer = api_build_pointer(&r->build);
    return api_fail_non_finite(r->cursor.problem, &pointer, array, index);
}

/* Reads the content of a typed array. On input `array` has the expected extents, or rank 0 if any length is allowed. */
static bool read_typed(reader *r, uint64_t tag, api_node *array)
{
    api_cbor_item content;
    bool          floats = tag == TAG_FLOATS;
    size_t        width = floats ? sizeof(float) : sizeof(double), numbers = 1;
    if (!next_item(r, &content)) return false;
    if (content.kind != API_CBOR_BYTES) return fail_kind(r, &content, "the byte string of a typed array");
    if (!join_string_parts(r, &content)) return false;
    if (content.length % width != 0)
        return fail(r, API_WRONG_SHAPE, "a typed array of %zu bytes given, a multiple of %zu expected", content.length,
                    width);
    if (array->rank == 0) *array = (api_node){.rank = 1, .extent = {(uint32_t)(content.length / width)}};
    for (size_t axis = 0; axis < array->rank; axis++)
        numbers *= array->extent[axis];
    if (numbers != content.length / width)
        return fail(r, API_WRONG_SHAPE, "%zu numbers given, the extents' product is %zu", content.length / width,
                    numbers);
    array->kind      = API_ARRAY;
    array->packing   = floats ? API_FLOATS : API_DOUBLES;
    array->numbers   = content.bytes;
    array->unchecked = is_checked_later(r, array);
    r->typed         = true;
    return (array->unchecked || check_finite(r, array, numbers)) && api_build_packed(&r->build, array);
}

/* --- multi-dimensional arrays: tag 40 on [extents, numbers], row-major ------------------------------------------ */

static bool read_extent(reader *r, const api_cbor_item *item, api_node *array)
{
    if (item->kind != API_CBOR_NUMBER || !item->is_unsigned)
        return fail_kind(r, item, "a whole number from 0, an extent of a multi-dimensional array,");
    if (array->rank == API_PACKED_RANK)
        return fail(r, API_WRONG_SHAPE, "an array of more than %d dimensions given", API_PACKED_RANK);
    if (item->value == 0 && array->rank > 0)
        return fail(r, API_WRONG_SHAPE, "an extent of 0 given; only the first may be 0");
    uint64_t product = item->value; /* a body has fewer than 2^32 bytes, so the product cannot overflow here */
    for (size_t axis = 0; axis < array->rank && product <= r->cursor.length; axis++)
        product *= array->extent[axis];
    if (product > r->cursor.length)
        return fail(r, API_WRONG_SHAPE, "the extents' product is %llu, more than the body has bytes",
                    (unsigned long long)product);
    array->extent[array->rank++] = (uint32_t)item->value;
    return true;
}

static bool read_extents(reader *r, api_node *array)
{
    api_cbor_item list, item;
    *array = (api_node){0};
    if (!next_item(r, &list)) return false;
    if (list.kind != API_CBOR_ARRAY) return fail_kind(r, &list, "the extents of a multi-dimensional array");
    for (uint64_t i = 0; list.indefinite || i < list.value; i++) {
        if (!next_item(r, &item)) return false;
        if (list.indefinite && item.kind == API_CBOR_BREAK) break;
        if (!read_extent(r, &item, array)) return false;
    }
    if (array->rank == 0) return fail(r, API_WRONG_SHAPE, "a multi-dimensional array without extents given");
    if (array->extent[0] == 0) *array = (api_node){.rank = 1}; /* an array without rows is an empty array */
    return true;
}

static bool open_container(reader *r, const api_cbor_item *item)
{
    if (!api_build_at_nesting_limit(&r->build)) return api_build_open(&r->build, item->kind == API_CBOR_MAP);
    api_fail(r->cursor.problem, API_TOO_DEEP, NULL, "arrays and maps are nested deeper than %u", r->options->nesting);
    r->cursor.problem->offset = (long long)item->offset;
    return false;
}

/* Reads the numbers of a plain CBOR array into nested arrays of the given extents. */
static bool read_number_items(reader *r, const api_cbor_item *list, const api_node *array)
{
    size_t        size[API_PACKED_RANK], n = 1, i = 0, rank = array->rank;
    api_cbor_item item;
    for (size_t axis = rank; axis-- > 0;)
        size[axis] = n *= array->extent[axis];
    for (;; i++) {
        bool full = i == n, ends = !list->indefinite && i == list->value;
        if (!ends && !next_item(r, &item)) return false;
        ends |= list->indefinite && item.kind == API_CBOR_BREAK;
        if (ends && full) break;
        if (ends || full)
            return fail(r, API_WRONG_SHAPE, "%s numbers given than the extents' product, %zu", full ? "more" : "fewer",
                        n);
        for (size_t axis = 0; axis < rank; axis++)
            if (i % size[axis] == 0 && !open_container(r, list)) return false;
        if (item.kind != API_CBOR_NUMBER) return fail_kind(r, &item, "a number");
        if (!read_number(r, &item)) return false;
        for (size_t axis = rank; axis-- > 0;)
            if ((i + 1) % size[axis] == 0 && !api_build_close(&r->build)) return false;
    }
    return n > 0 || (open_container(r, list) && api_build_close(&r->build));
}

static bool read_multidimensional(reader *r)
{
    api_node      array;
    api_cbor_item pair, content;
    if (!next_item(r, &pair)) return false;
    if (pair.kind != API_CBOR_ARRAY || (!pair.indefinite && pair.value != 2))
        return fail_kind(r, &pair, "[extents, numbers] in a multi-dimensional array");
    if (!read_extents(r, &array) || !next_item(r, &content)) return false;
    if (content.kind == API_CBOR_TAG && (content.value == TAG_FLOATS || content.value == TAG_DOUBLES)) {
        if (!read_typed(r, content.value, &array)) return false;
    } else if (content.kind != API_CBOR_ARRAY) {
        return fail_kind(r, &content, "the numbers of a multi-dimensional array");
    } else if (!read_number_items(r, &content, &array)) {
        return false;
    }
    r->multidimensional = true;
    if (!pair.indefinite) return true;
    return next_item(r, &content) && (content.kind == API_CBOR_BREAK || fail_kind(r, &content, "the array's end"));
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static bool read_tagged(reader *r, uint64_t tag)
{
    api_node array = {0};
    switch (tag) {
    case TAG_MULTI: return read_multidimensional(r);
    case TAG_FLOATS:
    case TAG_DOUBLES: return read_typed(r, tag, &array);
    default:
        return fail(r, API_WRONG_TYPE, "the CBOR tag %llu given; %d, %d, %d and %d are supported",
                    (unsigned long long)tag, TAG_MULTI, TAG_FLOATS, TAG_DOUBLES, TAG_CBOR);
    }
}

static bool read_value(reader *r, api_cbor_item *item)
{
    while (item->kind == API_CBOR_TAG && item->value == TAG_CBOR)
        if (!next_item(r, item)) return false;
    switch (item->kind) {
    case API_CBOR_NUMBER: return read_number(r, item);
    case API_CBOR_TEXT: return read_text(r, item);
    case API_CBOR_TAG: return read_tagged(r, item->value);
    case API_CBOR_TRUE: return api_build_constant(&r->build, API_TRUE);
    case API_CBOR_FALSE: return api_build_constant(&r->build, API_FALSE);
    case API_CBOR_NULL: return api_build_constant(&r->build, API_NULL);
    case API_CBOR_ARRAY:
    case API_CBOR_MAP:
        if (!open_container(r, item)) return false;
        r->levels[r->build.depth - 1] = (level){item->value, item->indefinite};
        return true;
    case API_CBOR_BYTES:
    case API_CBOR_UNDEFINED:
    case API_CBOR_SIMPLE:
    case API_CBOR_BREAK:
    case API_CBOR_KINDS: break;
    }
    return fail_kind(r, item, "a value that JSON can hold");
}

/* Reads one value of the innermost array or map, or closes it. */
static bool read_item(reader *r)
{
    api_cbor_item item;
    level        *top = r->build.depth > 0 ? &r->levels[r->build.depth - 1] : NULL;
    if (top && !top->indefinite && top->left-- == 0) return api_build_close(&r->build);
    if (!next_item(r, &item)) return false;
    if (top && top->indefinite && item.kind == API_CBOR_BREAK) return api_build_close(&r->build);
    bool keyed = top && r->build.open[r->build.depth - 1].object;
    if (keyed && (!read_key(r, &item) || !next_item(r, &item))) return false;
    return read_value(r, &item);
}

static bool read_all(reader *r)
{
    do
        if (!read_item(r)) return false;
    while (r->build.depth > 0);
    return r->cursor.position == r->cursor.length ||
           api_cbor_fail(&r->cursor, r->cursor.position, "%zu bytes follow the one item of the body",
                         r->cursor.length - r->cursor.position);
}

/* Reports the earliest problem: if an array that is still unchecked has a number that is not finite, this number
 * precedes the problem found so far. */
static bool fail_with_earliest_problem(reader *r)
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

/* Returns the form of the arrays of numbers in the body, as api_read_options describes it. */
static api_media form_of(const reader *r)
{
    if (r->plain) return API_MEDIA_CBOR;
    return r->multidimensional ? API_MEDIA_CBOR_MULTIDIMENSIONAL : r->typed ? API_MEDIA_CBOR_TYPED : API_MEDIA_CBOR;
}

bool api_read_cbor(const api_read_options *options, const char *body, size_t length, api_node *root)
{
    reader r = {.options = options,
                .cursor  = {.body = (const unsigned char *)body, .length = length, .problem = options->pool->problem}};
    if (length > UINT32_MAX)
        return api_fail(options->pool->problem, API_BODY_TOO_LARGE, NULL, "%zu bytes of CBOR given, the limit is %u",
                        length, UINT32_MAX);
    if (length > 1 && (*body == '{' || *body == '[') &&
        body[1] >= '\t') /* a CBOR item that begins with these two bytes would be longer than any body */
        return api_cbor_fail(&r.cursor, 0, "the body is not CBOR but looks like JSON (application/json)");
    r.levels = api_take(options->pool, options->nesting * sizeof *r.levels);
    if (!r.levels || !api_build_start(&r.build, options->pool, options->nesting, 0)) return false;
    if (!read_all(&r)) return fail_with_earliest_problem(&r);
    if (options->form) *options->form = form_of(&r);
    *root = r.build.root;
    return true;
}
