/* cbor_typed_arrays.c - read typed arrays and multi-dimensional arrays (RFC 8746) into packed numbers. Little-endian
 * floats stay in the body, other elements are converted to doubles in the memory of the request. */
#include "cbor_reader.h"
#include "cbor_typed_elements.h"
#include <string.h>

/* True if the array is a member of the root whose numbers are checked to be finite later, when they are copied into
 * lanes. */
static bool is_checked_later(const api_cbor_reader *r, const api_node *array)
{
    const api_open_value *top = r->build.open;
    if (r->build.depth != 1 || !top->object || array->rank != 2) return false;
    size_t i = 0;
    while (i < r->options->n_checked_later && strcmp(r->options->checked_later[i], top->key) != 0)
        i++;
    return i < r->options->n_checked_later;
}

/* Checks that the first `numbers` numbers are finite; false with 422 at the first that is not. */
static bool check_finite(api_cbor_reader *r, const api_node *array, size_t numbers)
{
    size_t index = api_node_find_non_finite(array, numbers);
    if (index == numbers) return true;
    api_pointer pointer = api_build_pointer(&r->build);
    return api_fail_non_finite(r->cursor.problem, &pointer, array, index);
}

/* Builds the array of packed numbers. */
static bool finish(api_cbor_reader *r, api_node *array, size_t numbers)
{
    array->unchecked = is_checked_later(r, array);
    return (array->unchecked || check_finite(r, array, numbers)) && api_build_packed(&r->build, array);
}

static size_t count_of(const api_node *array)
{
    size_t numbers = 1;
    for (size_t axis = 0; axis < array->rank; axis++)
        numbers *= array->extent[axis];
    return numbers;
}

enum { SOME = 1 << 16 /* numbers between two checks of the deadline: less than 1 ms */ };

static bool look_at_deadline(api_cbor_reader *r)
{
    r->late = !api_deadline_check(r->options->deadline, r->cursor.problem);
    return !r->late;
}

/* Converts the elements of a typed array to doubles. */
static bool convert(api_cbor_reader *r, uint64_t tag, const unsigned char *elements, size_t numbers, api_node *array)
{
    char    text[API_CBOR_INTEGER_MAX];
    double *converted = api_take(r->build.pool, (numbers + 1) * sizeof *converted);
    if (!converted) return false;
    size_t good;
    r->late = !api_cbor_typed_convert(r->options, tag, elements, numbers, converted, &good);
    if (r->late) return false;
    if (good < numbers)
        return api_cbor_refuse(r, API_BAD_VALUE, "number %zu of a typed array, %s, is no double (64-bit float)", good,
                               api_cbor_typed_integer(tag, elements, good, text));
    array->packing = API_DOUBLES;
    array->numbers = (const unsigned char *)converted;
    return true;
}

/* Reads the content of a typed array. On input `array` has the expected extents, or rank 0 if any length is allowed. */
static bool take_typed(api_cbor_reader *r, uint64_t tag, api_node *array)
{
    api_cbor_item content;
    size_t        width = api_cbor_typed_width(tag);
    if (!api_cbor_next_item(r, &content)) return false;
    if (content.kind != API_CBOR_BYTES) return api_cbor_refuse_kind(r, &content, "the byte string of a typed array");
    if (!api_cbor_join_parts(r, &content)) return false;
    size_t numbers = content.length / width;
    if (content.length % width != 0)
        return api_cbor_refuse(r, API_WRONG_SHAPE, "a typed array of %zu bytes given, a multiple of %zu expected",
                               content.length, width);
    if (array->rank == 0) *array = (api_node){.rank = 1, .extent = {(uint32_t)numbers}};
    if (count_of(array) != numbers)
        return api_cbor_refuse(r, API_WRONG_SHAPE, "%zu numbers given, the extents' product is %zu", numbers,
                               count_of(array));
    array->kind    = API_ARRAY;
    array->packing = tag == API_CBOR_TAG_FLOATS ? API_FLOATS : API_DOUBLES;
    array->numbers = content.bytes;
    r->typed       = true;
    return api_cbor_typed_is_packed(tag) || convert(r, tag, content.bytes, numbers, array);
}

bool api_cbor_read_typed(api_cbor_reader *r, uint64_t tag)
{
    api_node array = {0};
    return take_typed(r, tag, &array) && finish(r, &array, count_of(&array));
}

/* --- multi-dimensional arrays: [extents, numbers] in tag 40, row-major -------------------------------------------- */

static bool read_extent(api_cbor_reader *r, const api_cbor_item *item, api_node *array)
{
    if (item->kind != API_CBOR_NUMBER || !item->is_unsigned)
        return api_cbor_refuse_kind(r, item, "a whole number from 0, an extent of a multi-dimensional array,");
    if (array->rank == API_PACKED_RANK)
        return api_cbor_refuse(r, API_WRONG_SHAPE, "an array of more than %d dimensions given", API_PACKED_RANK);
    if (item->value == 0 && array->rank > 0)
        return api_cbor_refuse(r, API_WRONG_SHAPE, "an extent of 0 given; only the first may be 0");
    uint64_t product = item->value; /* a body has fewer than 2^32 bytes, so the product cannot overflow here */
    for (size_t axis = 0; axis < array->rank && product <= r->cursor.length; axis++)
        product *= array->extent[axis];
    if (product > r->cursor.length)
        return api_cbor_refuse(r, API_WRONG_SHAPE, "the extents' product is %llu, more than the body has bytes",
                               (unsigned long long)product);
    array->extent[array->rank++] = (uint32_t)item->value;
    return true;
}

/* Reads the next item, an array. Skips tag 41 before it (section 3.2), which says that all items have one type: the
 * array means the same without it. */
static bool next_homogeneous(api_cbor_reader *r, api_cbor_item *item)
{
    if (!api_cbor_next_item(r, item)) return false;
    if (item->kind != API_CBOR_TAG || item->value != CBOR_TAG_HOMOGENEOUS) return true;
    return api_cbor_next_item(r, item) &&
           (item->kind == API_CBOR_ARRAY || api_cbor_refuse_kind(r, item, "the array of tag 41"));
}

static bool read_extents(api_cbor_reader *r, api_node *array)
{
    api_cbor_item list, item;
    *array = (api_node){0};
    if (!next_homogeneous(r, &list)) return false;
    if (list.kind != API_CBOR_ARRAY) return api_cbor_refuse_kind(r, &list, "the extents of a multi-dimensional array");
    for (uint64_t i = 0; list.indefinite || i < list.value; i++) {
        if (!api_cbor_next_item(r, &item)) return false;
        if (list.indefinite && item.kind == API_CBOR_BREAK) break;
        if (!read_extent(r, &item, array)) return false;
    }
    if (array->rank == 0) return api_cbor_refuse(r, API_WRONG_SHAPE, "a multi-dimensional array without extents given");
    if (array->extent[0] == 0) *array = (api_node){.rank = 1}; /* an array without rows is an empty array */
    return true;
}

/* Reads the numbers of a plain CBOR array into nested arrays of the given extents. */
static bool read_number_items(api_cbor_reader *r, const api_cbor_item *list, const api_node *array)
{
    size_t        size[API_PACKED_RANK], n = 1, i = 0, rank = array->rank;
    api_cbor_item item;
    for (size_t axis = rank; axis-- > 0;)
        size[axis] = n *= array->extent[axis];
    for (;; i++) {
        bool full = i == n, ends = !list->indefinite && i == list->value;
        if (!ends && !api_cbor_next_item(r, &item)) return false;
        ends |= list->indefinite && item.kind == API_CBOR_BREAK;
        if (ends && full) break;
        if (ends || full)
            return api_cbor_refuse(r, API_WRONG_SHAPE, "%s numbers given than the extents' product, %zu",
                                   full ? "more" : "fewer", n);
        for (size_t axis = 0; axis < rank; axis++)
            if (i % size[axis] == 0 && !api_cbor_open(r, list)) return false;
        if (item.kind != API_CBOR_NUMBER) return api_cbor_refuse_kind(r, &item, "a number");
        if (!api_cbor_read_number(r, &item)) return false;
        for (size_t axis = rank; axis-- > 0;)
            if ((i + 1) % size[axis] == 0 && !api_build_close(&r->build)) return false;
    }
    return n > 0 || (api_cbor_open(r, list) && api_build_close(&r->build));
}

/* --- column-major order (tag 1040) ------------------------------------------------------------------------------ */

/* Reads the numbers of a plain CBOR array in their order in the body. */
static bool take_number_items(api_cbor_reader *r, const api_cbor_item *list, api_node *array)
{
    size_t        n = count_of(array), i = 0;
    api_cbor_item item;
    double       *numbers = api_take(r->build.pool, (n + 1) * sizeof *numbers);
    if (!numbers) return false;
    for (;; i++) {
        bool ends = !list->indefinite && i == list->value;
        if (!ends && !api_cbor_next_item(r, &item)) return false;
        if (ends || (list->indefinite && item.kind == API_CBOR_BREAK)) break;
        if (item.kind != API_CBOR_NUMBER) return api_cbor_refuse_kind(r, &item, "a number");
        if (!api_cbor_check_integer(r, &item)) return false;
        if (i < n) numbers[i] = item.number;
    }
    if (i != n)
        return api_cbor_refuse(r, API_WRONG_SHAPE, "%s numbers given than the extents' product, %zu",
                               i > n ? "more" : "fewer", n);
    array->kind    = API_ARRAY;
    array->packing = API_DOUBLES;
    array->numbers = (const unsigned char *)numbers;
    r->plain       = true;
    return true;
}

/* Changes the numbers from column-major order, in which the first index runs fastest, to row-major order. */
static bool transpose(api_cbor_reader *r, api_node *array)
{
    size_t  n    = count_of(array);
    double *rows = api_take(r->build.pool, (n + 1) * sizeof *rows);
    if (!rows) return false;
    for (size_t i = 0; i < n; i++) {
        if (i % SOME == 0 && !look_at_deadline(r)) return false;
        size_t left = i, stride = n, from = 0;
        for (size_t axis = array->rank; axis-- > 0; left /= array->extent[axis]) {
            stride /= array->extent[axis];
            from += stride * (left % array->extent[axis]);
        }
        api_node_numbers(array, from, 1, &rows[i]);
    }
    array->packing = API_DOUBLES;
    array->numbers = (const unsigned char *)rows;
    return true;
}

/* --- both orders ------------------------------------------------------------------------------------------------ */

static bool read_content(api_cbor_reader *r, const api_cbor_item *content, api_node *array, bool by_columns)
{
    bool typed = content->kind == API_CBOR_TAG && api_cbor_typed_width(content->value) > 0;
    if (!typed && content->kind != API_CBOR_ARRAY)
        return api_cbor_refuse_kind(r, content, "the numbers of a multi-dimensional array");
    if (!typed && !by_columns) return read_number_items(r, content, array);
    return (typed ? take_typed(r, content->value, array) : take_number_items(r, content, array)) &&
           (!by_columns || transpose(r, array)) && finish(r, array, count_of(array));
}

bool api_cbor_read_multidimensional(api_cbor_reader *r, bool by_columns)
{
    api_node      array;
    api_cbor_item pair, content;
    if (!api_cbor_next_item(r, &pair)) return false;
    if (pair.kind != API_CBOR_ARRAY || (!pair.indefinite && pair.value != 2))
        return api_cbor_refuse_kind(r, &pair, "[extents, numbers] in a multi-dimensional array");
    if (!read_extents(r, &array) || !next_homogeneous(r, &content)) return false;
    if (!read_content(r, &content, &array, by_columns)) return false;
    r->multidimensional = true;
    if (!pair.indefinite) return true;
    return api_cbor_next_item(r, &content) &&
           (content.kind == API_CBOR_BREAK || api_cbor_refuse_kind(r, &content, "the array's end"));
}
