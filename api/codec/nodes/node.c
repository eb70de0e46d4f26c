/* node.c - see node.h: find members by key, and read packed numbers. */
#include "node.h"
#include "api/codec/misread_bodies/kind_text.h"
#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packed numbers are copied as they stand in the body");

const char *api_node_kind_text(const api_node *node)
{
    static const char *const texts[] = {
        [API_NULL] = "null",       [API_FALSE] = "false",    [API_TRUE] = "true",       [API_NUMBER] = "a number",
        [API_STRING] = "a string", [API_ARRAY] = "an array", [API_OBJECT] = "an object"};
    if (api_node_get(node, "0") || api_node_get(node, "1")) return API_INDEXED_OBJECT;
    if (node && node->kind == API_STRING) return api_kind_of_string(node->text, node->extent[0]);
    return node ? texts[node->kind] : "nothing";
}

const char *api_node_remedy(const api_node *node)
{
    if (api_node_is(node, API_NULL)) return "; encoders of JavaScript, MATLAB and Lua write NaN as null";
    if (api_node_is(node, API_ARRAY) && api_node_size(node) == 1)
        return "; R writes one value without brackets with auto_unbox = TRUE";
    if (!api_node_is(node, API_OBJECT)) return "";
    if (api_node_size(node) == 0) return "; a Map or Set of JavaScript and NULL of R are written as {}";
    return api_node_get(node, "type") && api_node_get(node, "data")
               ? "; send a Buffer of Node as Array.from of its numbers"
               : "";
}

size_t api_node_size(const api_node *node)
{
    return node && (node->kind == API_ARRAY || node->kind == API_OBJECT) ? node->extent[0] : 0;
}

/* --- members by key --------------------------------------------------------------------------------------------- */

/* Compares two keys in some total order: by length, then by bytes. */
static int compare_key(const api_node *member, const char *key, size_t length)
{
    if (member->key_length != length) return member->key_length < length ? -1 : 1;
    return memcmp(member->key, key, length);
}

/* Returns the index of a large object, which is stored after its members: the members' numbers, sorted by key. */
static uint32_t *key_index(const api_node *object)
{
    return (uint32_t *)(uintptr_t)(object->items + object->extent[0]);
}

size_t api_node_members_bytes(size_t members)
{
    return members * sizeof(api_node) + (members > API_NODE_UNINDEXED_MAX ? 2 * members * sizeof(uint32_t) : 0);
}

/* Merges the sorted runs [0, half) and [half, n) of `from` into `to`. The merge is stable. */
static void merge(const api_node *members, const uint32_t *from, size_t half, size_t n, uint32_t *to)
{
    size_t a = 0, b = half;
    for (size_t i = 0; i < n; i++) {
        const api_node *left = a < half ? &members[from[a]] : NULL;
        bool take_left = left && (b == n || compare_key(left, members[from[b]].key, members[from[b]].key_length) <= 0);
        to[i]          = from[take_left ? a++ : b++];
    }
}

/* Sorts the index of an object by bottom-up merge sort, with the equally large space after the index as the second
 * buffer. */
static void sort_index(const api_node *object)
{
    size_t    n    = object->extent[0];
    uint32_t *from = key_index(object), *to = from + n;
    for (size_t i = 0; i < n; i++)
        from[i] = (uint32_t)i;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t start = 0; start < n; start += 2 * run) {
            size_t rest = n - start, all = rest < 2 * run ? rest : 2 * run;
            merge(object->items, from + start, all < run ? all : run, all, to + start);
        }
        uint32_t *sorted = to;
        to               = from;
        from             = sorted;
    }
    if (from != key_index(object)) memcpy(key_index(object), from, n * sizeof *from);
}

const api_node *api_node_find_repeated_key(const api_node *object)
{
    const api_node *members = object->items;
    size_t          n       = object->extent[0];
    if (n > API_NODE_UNINDEXED_MAX) {
        const uint32_t *index = key_index(object);
        sort_index(object);
        for (size_t i = 1; i < n; i++)
            if (compare_key(&members[index[i - 1]], members[index[i]].key, members[index[i]].key_length) == 0)
                return &members[index[i]];
        return NULL;
    }
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (compare_key(&members[j], members[i].key, members[i].key_length) == 0) return &members[i];
    return NULL;
}

static const api_node *search(const api_node *object, const char *key, size_t length)
{
    const uint32_t *index = key_index(object);
    size_t          low = 0, high = object->extent[0];
    while (low < high) {
        size_t          middle = low + (high - low) / 2;
        const api_node *member = &object->items[index[middle]];
        int             order  = compare_key(member, key, length);
        if (order == 0) return member;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const api_node *api_node_get(const api_node *object, const char *key)
{
    if (!api_node_is(object, API_OBJECT)) return NULL;
    size_t length = strlen(key), n = object->extent[0];
    if (n > API_NODE_UNINDEXED_MAX) return search(object, key, length);
    for (size_t i = 0; i < n; i++)
        if (compare_key(&object->items[i], key, length) == 0) return &object->items[i];
    return NULL;
}

const char *api_node_key(const api_node *object, size_t i)
{
    return object->items[i].key;
}

const api_node *api_node_value(const api_node *object, size_t i)
{
    return &object->items[i];
}

double api_node_number(const api_node *node)
{
    return node->number;
}

const char *api_node_string(const api_node *node, size_t *length)
{
    if (length) *length = node->extent[0];
    return node->text;
}

/* --- packed numbers --------------------------------------------------------------------------------------------- */

static size_t width_of(const api_node *node)
{
    return node->packing == API_FLOATS ? sizeof(float) : sizeof(double);
}

size_t api_node_packed(const api_node *node, size_t extent[API_PACKED_RANK])
{
    for (size_t axis = 0; axis < node->rank; axis++)
        extent[axis] = node->extent[axis];
    return node->rank;
}

/* Converts `count` floats to doubles, exactly. */
static void widen(const unsigned char *from, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++) {
        float number;
        memcpy(&number, from + i * sizeof number, sizeof number);
        to[i] = (double)number;
    }
}

void api_node_numbers(const api_node *node, size_t first, size_t count, double *to)
{
    const unsigned char *from = node->numbers + first * width_of(node);
    if (node->packing == API_FLOATS)
        widen(from, count, to);
    else if (count > 0)
        memcpy(to, from, count * sizeof *to);
}

const void *api_node_doubles(const api_node *node, size_t first)
{
    return node->packing == API_DOUBLES ? node->numbers + first * sizeof(double) : NULL;
}

/* Tests numbers for infinity and NaN: the sum of 0 * x is 0 unless some x is infinite or NaN. Four vector sums run in
 * parallel, so that memory bandwidth is the limit. */
#define ANY_INFINITE(name, type, wide)                                                                                 \
    static bool name(const unsigned char *bytes, size_t count)                                                         \
    {                                                                                                                  \
        typedef type lanes __attribute__((vector_size((wide) * sizeof(type))));                                        \
        lanes        sum[4] = {{0}};                                                                                   \
        type         rest   = 0, one;                                                                                  \
        size_t       i      = 0;                                                                                       \
        for (; i + 4 * (wide) <= count; i += 4 * (wide))                                                               \
            for (size_t k = 0; k < 4; k++) {                                                                           \
                lanes x;                                                                                               \
                memcpy(&x, bytes + (i + k * (wide)) * sizeof(type), sizeof x);                                         \
                sum[k] += 0 * x;                                                                                       \
            }                                                                                                          \
        for (; i < count; i++) {                                                                                       \
            memcpy(&one, bytes + i * sizeof one, sizeof one);                                                          \
            rest += 0 * one;                                                                                           \
        }                                                                                                              \
        sum[0] += (sum[1] + sum[2]) + sum[3];                                                                          \
        for (size_t k = 0; k < (wide); k++)                                                                            \
            rest += sum[0][k];                                                                                         \
        return isnan(rest);                                                                                            \
    }
ANY_INFINITE(any_infinite_double, double, 2)
ANY_INFINITE(any_infinite_float, float, 4)

size_t api_node_find_non_finite(const api_node *node, size_t count)
{
    double number;
    bool   any = node->packing == API_FLOATS ? any_infinite_float(node->numbers, count)
                                             : any_infinite_double(node->numbers, count);
    if (!any) return count;
    for (size_t i = 0; i < count; i++) {
        api_node_numbers(node, i, 1, &number);
        if (!isfinite(number)) return i;
    }
    return count;
}

static void packed_item(const api_node *array, size_t i, api_node *item)
{
    size_t numbers = 1;
    *item          = (api_node){.kind = API_NUMBER};
    if (array->rank == 1) {
        api_node_numbers(array, i, 1, &item->number);
        return;
    }
    item->kind    = API_ARRAY;
    item->packing = array->packing;
    item->rank    = (uint8_t)(array->rank - 1);
    for (size_t axis = 0; axis < item->rank; axis++)
        numbers *= item->extent[axis] = array->extent[axis + 1];
    item->numbers = array->numbers + i * numbers * width_of(array);
}

bool api_node_item(const api_node *array, size_t i, api_node *item)
{
    if (!api_node_is(array, API_ARRAY) || i >= array->extent[0]) return false;
    if (array->rank > 0)
        packed_item(array, i, item);
    else
        *item = array->items[i];
    return true;
}
