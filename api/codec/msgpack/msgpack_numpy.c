/* msgpack_numpy.c - read arrays of NumPy in the form of the Python package msgpack_numpy. */
#include "api/codec/cbor/cbor_typed_elements.h"
#include "msgpack_reader.h"
#include <math.h>
#include <string.h>

/* An array while its map is read. */
typedef struct numpy {
    bool             array; /* the member nd */
    uint64_t         tag;   /* type of the elements as a tag of RFC 8746; 0: none */
    api_node         node;
    bool             shaped;
    unsigned         read; /* bit 1 << m: member m */
    api_msgpack_item data;
} numpy;

static bool numpy_has_text(const api_msgpack_item *item, const char *text)
{
    bool has_bytes = item->kind == API_MSGPACK_STR || item->kind == API_MSGPACK_BIN;
    return has_bytes && item->length == strlen(text) && memcmp(item->bytes, text, item->length) == 0;
}

bool api_msgpack_is_numpy(const api_msgpack_cursor *c, const api_msgpack_item *map)
{
    const unsigned char *key  = c->body + c->position;
    size_t               left = c->length - c->position;
    if (map->value < 3) return false;
    return (left > 4 && memcmp(key, "\xC4\x02nd", 4) == 0) || (left > 3 && memcmp(key, "\xA2nd", 3) == 0);
}

/* Returns the tag of RFC 8746 that has these elements, such as "<f8": bit 4 floating-point, bit 3 signed, bit 2
 * little-endian, bits 1 and 0 the width. 0: there is none. */
static uint64_t numpy_tag_of(const api_msgpack_item *type)
{
    enum { FIRST = 64 };
    bool has_bytes = type->kind == API_MSGPACK_STR || type->kind == API_MSGPACK_BIN;
    if (!has_bytes || type->length != 3 || !memchr("<>|", type->bytes[0], 3)) return 0;
    bool     little = type->bytes[0] == '<', real = type->bytes[1] == 'f', is_signed = type->bytes[1] == 'i';
    unsigned bytes = (unsigned)type->bytes[2] - '0', width = 0;
    while (width < 4 && 1U << width < bytes)
        width++;
    if (width == 4 || 1U << width != bytes || (type->bytes[0] == '|') != (bytes == 1) ||
        !memchr("fiu", type->bytes[1], 3))
        return 0;
    if (real && width == 0) return 0;
    unsigned kind = (real ? 16U : 0) | (is_signed ? 8U : 0) | (little ? 4U : 0);
    return FIRST + kind + (real ? width - 1 : width);
}

static bool numpy_read_shape(api_msgpack_reader *r, const api_msgpack_item *shape, numpy *n)
{
    api_msgpack_item extent;
    uint64_t         product = 1;
    if (shape->kind != API_MSGPACK_ARRAY || shape->value == 0 || shape->value > API_PACKED_RANK)
        return api_msgpack_refuse(r, API_WRONG_SHAPE, "an array of NumPy has 1 to %d dimensions", API_PACKED_RANK);
    n->node.rank = 0;
    for (uint64_t i = 0; i < shape->value; i++) {
        if (!api_msgpack_next(&r->cursor, &extent)) return false;
        if (extent.kind != API_MSGPACK_INTEGER || extent.negative || extent.value > r->cursor.length ||
            (extent.value == 0 && i > 0))
            return api_msgpack_refuse(
                r, API_WRONG_SHAPE,
                "the shape of an array of NumPy has extents from 1 up to what the body holds; only "
                "the first may be 0");
        product *= extent.value;
        if (product > r->cursor.length)
            return api_msgpack_refuse(r, API_WRONG_SHAPE, "the shape of an array of NumPy is larger than the body");
        n->node.extent[n->node.rank++] = (uint32_t)extent.value;
    }
    n->shaped = true;
    return true;
}

enum { MEMBER_ND, MEMBER_TYPE, MEMBER_KIND, MEMBER_SHAPE, MEMBER_DATA, MEMBERS };

static bool numpy_read_type(api_msgpack_reader *r, const api_msgpack_item *type, numpy *n)
{
    n->tag = numpy_tag_of(type);
    return n->tag > 0 || api_msgpack_refuse(r, API_WRONG_TYPE,
                                            "an array of NumPy that is none of integers or floats up to 64 bits given: "
                                            "send x.astype('<f8')");
}

static bool numpy_read_member(api_msgpack_reader *r, numpy *n)
{
    static const char *const names[MEMBERS] = {"nd", "type", "kind", "shape", "data"};
    api_msgpack_item         key, value;
    int                      m = 0;
    if (!api_msgpack_next(&r->cursor, &key) || !api_msgpack_next(&r->cursor, &value)) return false;
    while (m < MEMBERS && !numpy_has_text(&key, names[m]))
        m++;
    bool repeated = m < MEMBERS && n->read >> m & 1,
         boolean  = value.kind == API_MSGPACK_TRUE || value.kind == API_MSGPACK_FALSE;
    n->read |= 1U << m;
    if (repeated)
        return api_msgpack_fail(&r->cursor, key.offset, "the key \"%s\" appears twice in one array", names[m]);
    if (m == MEMBER_SHAPE) return numpy_read_shape(r, &value, n);
    if (m == MEMBER_TYPE) return numpy_read_type(r, &value, n);
    if (m == MEMBER_ND && boolean) n->array = value.kind == API_MSGPACK_TRUE;
    if (m == MEMBER_DATA && value.kind == API_MSGPACK_BIN) n->data = value;
    if ((m == MEMBER_ND && boolean) || (m == MEMBER_DATA && n->data.bytes) ||
        (m == MEMBER_KIND && numpy_has_text(&value, "")))
        return true;
    return api_msgpack_refuse(r, API_WRONG_TYPE,
                              "an array of NumPy (msgpack_numpy) has nd, type, an empty kind, shape and data; \"%.*s\" "
                              "with %s given",
                              key.length < 20 ? (int)key.length : 20, key.bytes ? (const char *)key.bytes : "",
                              api_msgpack_kind_text(value.kind));
}

/* Sets the numbers of the node, converted unless they are little-endian doubles or floats. */
static bool numpy_set_numbers(api_msgpack_reader *r, numpy *n, size_t count)
{
    n->node.kind    = API_ARRAY;
    n->node.packing = n->tag == API_CBOR_TAG_FLOATS ? API_FLOATS : API_DOUBLES;
    n->node.numbers = n->data.bytes;
    if (api_cbor_typed_is_packed(n->tag)) return true;
    char    text[API_CBOR_INTEGER_MAX];
    double *converted = api_take(r->build.pool, (count + 1) * sizeof *converted);
    if (!converted) return false;
    size_t good;
    if (!api_cbor_typed_convert(r->options, n->tag, n->data.bytes, count, converted, &good)) return false;
    if (good < count)
        return api_msgpack_refuse(r, API_BAD_VALUE, "number %zu of an array, %s, is no double (64-bit float)", good,
                                  api_cbor_typed_integer(n->tag, n->data.bytes, good, text));
    n->node.numbers = (const unsigned char *)converted;
    return true;
}

static bool numpy_build_number(api_msgpack_reader *r, const numpy *n)
{
    double number;
    api_node_numbers(&n->node, 0, 1, &number);
    if (!isfinite(number)) return api_msgpack_refuse(r, API_NON_FINITE, "the number is not finite");
    return api_build_number(&r->build, number);
}

bool api_msgpack_read_numpy(api_msgpack_reader *r, const api_msgpack_item *map)
{
    numpy  n     = {0};
    size_t count = 1;
    for (uint64_t i = 0; i < map->value; i++)
        if (!numpy_read_member(r, &n)) return false;
    for (size_t axis = 0; axis < n.node.rank; axis++)
        count *= n.node.extent[axis];
    if (n.tag == 0 || n.shaped != n.array || !n.data.bytes)
        return api_msgpack_refuse(r, API_WRONG_TYPE, "an array of NumPy (msgpack_numpy) lacks its type, shape or data");
    if (n.data.length != count * api_cbor_typed_width(n.tag))
        return api_msgpack_refuse(r, API_WRONG_SHAPE, "%zu bytes of an array given, its shape and type have %zu",
                                  n.data.length, count * api_cbor_typed_width(n.tag));
    if (!numpy_set_numbers(r, &n, count)) return false;
    if (!n.array) return numpy_build_number(r, &n);
    if (count == 0) n.node = (api_node){.kind = API_ARRAY, .rank = 1, .numbers = n.node.numbers};
    return api_msgpack_build_numbers(r, &n.node);
}
