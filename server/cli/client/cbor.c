/* cbor.c - see cbor.h. */
#include "cbor.h"
#include "server/cli/options.h"
#include <cbor.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_ARRAY = 40, TAG_DOUBLES = 86, HEAD_MAX = 9, NESTING_MOST = 16, KEY_MAX = 256, PATH_MAX_BYTES = 1024 };
static const double EXACT_INTEGERS = 9007199254740992.0; /* 2^53 */

/* --- write ------------------------------------------------------------------------------------------------------- */

/* Appends the head that one of libcbor's functions writes for a number. */
static void add_head(cli_text *to, size_t write(size_t, unsigned char *, size_t), size_t value)
{
    unsigned char *end = (unsigned char *)cli_text_reserve(to, HEAD_MAX);
    if (end) to->length += write(value, end, HEAD_MAX);
}

static size_t write_uint(size_t value, unsigned char *to, size_t size)
{
    return cbor_encode_uint(value, to, size);
}

static size_t write_negative(size_t value, unsigned char *to, size_t size)
{
    return cbor_encode_negint(value, to, size);
}

static size_t write_tag(size_t value, unsigned char *to, size_t size)
{
    return cbor_encode_tag(value, to, size);
}

static void add_key(cli_text *to, const char *key)
{
    add_head(to, cbor_encode_string_start, strlen(key));
    cli_text_add(to, key, strlen(key));
}

/* A number without fraction is written as an integer: fields such as "samples" must be integers. */
static void add_number(cli_text *to, double value)
{
    bool integer = floor(value) == value && fabs(value) < EXACT_INTEGERS && !(value == 0 && signbit(value));
    if (integer && value >= 0) {
        add_head(to, write_uint, (size_t)value);
    } else if (integer) {
        add_head(to, write_negative, (size_t)(-value - 1));
    } else {
        unsigned char *end = (unsigned char *)cli_text_reserve(to, HEAD_MAX);
        if (end) to->length += cbor_encode_double(value, end, HEAD_MAX);
    }
}

static void add_json(cli_text *to, json_t *value)
{
    const char *key;
    json_t     *entry;
    size_t      i;
    if (json_is_object(value)) {
        add_head(to, cbor_encode_map_start, json_object_size(value));
        json_object_foreach (value, key, entry) {
            add_key(to, key);
            add_json(to, entry);
        }
    } else if (json_is_array(value)) {
        add_head(to, cbor_encode_array_start, json_array_size(value));
        json_array_foreach (value, i, entry) {
            add_json(to, entry);
        }
    } else if (json_is_string(value)) {
        add_head(to, cbor_encode_string_start, json_string_length(value));
        cli_text_add(to, json_string_value(value), json_string_length(value));
    } else if (json_is_number(value)) {
        add_number(to, json_number_value(value));
    } else {
        unsigned char *end = (unsigned char *)cli_text_reserve(to, HEAD_MAX);
        if (end)
            to->length += json_is_null(value) ? cbor_encode_null(end, HEAD_MAX)
                                              : cbor_encode_bool(json_is_true(value), end, HEAD_MAX);
    }
}

static void add_array(cli_text *to, const cli_array *array, size_t rows)
{
    size_t axes = array->rank + (array->constant ? 0 : 1), count = array->entries * (array->constant ? 1 : rows);
    if (axes != 1) {
        add_head(to, write_tag, TAG_ARRAY);
        add_head(to, cbor_encode_array_start, 2);
        add_head(to, cbor_encode_array_start, axes);
        if (!array->constant) add_head(to, write_uint, rows);
        for (size_t i = 0; i < array->rank; i++)
            add_head(to, write_uint, array->extent[i]);
    }
    add_head(to, write_tag, TAG_DOUBLES);
    add_head(to, cbor_encode_bytestring_start, count * sizeof(double));
    cli_text_add(to, array->values, count * sizeof(double)); /* little-endian, as the processor's */
}

static bool is_replaced(json_t *options, const char *key)
{
    return json_object_get(options, key) != NULL;
}

bool cli_cbor_write(cli_text *to, const cli_batch *batch, json_t *options)
{
    const char *key;
    json_t     *value;
    size_t      members = json_object_size(options);
    for (size_t i = 0; i < batch->n_arrays; i++)
        members += !is_replaced(options, batch->arrays[i].path);
    json_object_foreach (batch->rest, key, value)
        members += !is_replaced(options, key);

    add_head(to, cbor_encode_map_start, members);
    for (size_t i = 0; i < batch->n_arrays; i++) {
        if (is_replaced(options, batch->arrays[i].path)) continue;
        add_key(to, batch->arrays[i].path);
        add_array(to, &batch->arrays[i], batch->rows);
    }
    json_object_foreach (batch->rest, key, value) {
        if (is_replaced(options, key)) continue;
        add_key(to, key);
        add_json(to, value);
    }
    json_object_foreach (options, key, value) {
        add_key(to, key);
        add_json(to, value);
    }
    return !to->failed || cli_error("no memory for the request");
}

/* --- read -------------------------------------------------------------------------------------------------------- */

static bool malformed(void)
{
    return cli_error("the answer is no CBOR of the kind that torqued writes");
}

/* A typed array: the extents and the bytes of its numbers. */
typedef struct typed {
    size_t      rank, extent[CLI_RANK_MOST + 1], count;
    const char *bytes;
} typed;

/* Takes the item that a tag encloses; the tag keeps it alive. */
static cbor_item_t *enclosed(const cbor_item_t *tag)
{
    cbor_item_t *item = cbor_tag_item(tag);
    return cbor_move(item);
}

static bool read_doubles(const cbor_item_t *item, typed *t)
{
    const cbor_item_t *bytes = enclosed(item);
    if (!cbor_isa_bytestring(bytes) || !cbor_bytestring_is_definite(bytes)) return false;
    t->bytes = (const char *)cbor_bytestring_handle(bytes);
    t->count = cbor_bytestring_length(bytes) / sizeof(double);
    return cbor_bytestring_length(bytes) % sizeof(double) == 0;
}

/* Reads tag 86, or tag 40 around extents and tag 86. False if the item is neither. */
static bool read_typed(const cbor_item_t *item, typed *t)
{
    if (!cbor_isa_tag(item)) return false;
    if (cbor_tag_value(item) == TAG_DOUBLES) {
        if (!read_doubles(item, t)) return false;
        t->rank      = 1;
        t->extent[0] = t->count;
        return true;
    }
    const cbor_item_t *pair = enclosed(item);
    if (cbor_tag_value(item) != TAG_ARRAY || !cbor_isa_array(pair) || cbor_array_size(pair) != 2) return false;
    const cbor_item_t *extents = cbor_array_handle(pair)[0], *numbers = cbor_array_handle(pair)[1];
    if (!cbor_isa_array(extents) || cbor_array_size(extents) > CLI_RANK_MOST + 1 || !cbor_isa_tag(numbers) ||
        cbor_tag_value(numbers) != TAG_DOUBLES || !read_doubles(numbers, t))
        return false;
    size_t product = 1;
    t->rank        = cbor_array_size(extents);
    for (size_t i = 0; i < t->rank; i++) {
        const cbor_item_t *extent = cbor_array_handle(extents)[i];
        if (!cbor_isa_uint(extent)) return false;
        t->extent[i] = (size_t)cbor_get_int(extent);
        if (__builtin_mul_overflow(product, t->extent[i], &product)) return false;
    }
    return product == t->count;
}

static bool read_number(const cbor_item_t *item, double *value)
{
    if (cbor_isa_uint(item))
        *value = (double)cbor_get_int(item);
    else if (cbor_isa_negint(item))
        *value = -1 - (double)cbor_get_int(item);
    else if (cbor_is_float(item))
        *value = cbor_float_get_float(item);
    else
        return false;
    return true;
}

static json_t *to_json(const cbor_item_t *item, unsigned depth);

static json_t *typed_to_json(const typed *t, size_t axis, size_t *next)
{
    if (axis == t->rank) {
        double value;
        memcpy(&value, t->bytes + (*next)++ * sizeof value, sizeof value);
        return isfinite(value) ? json_real(value) : json_null();
    }
    json_t *array = json_array();
    for (size_t i = 0; i < t->extent[axis]; i++)
        json_array_append_new(array, typed_to_json(t, axis + 1, next));
    return array;
}

static json_t *map_to_json(const cbor_item_t *item, unsigned depth)
{
    json_t *object = json_object();
    for (size_t i = 0; i < cbor_map_size(item); i++) {
        struct cbor_pair pair = cbor_map_handle(item)[i];
        char             key[KEY_MAX + 1];
        if (!cbor_isa_string(pair.key) || cbor_string_length(pair.key) > KEY_MAX) continue;
        memcpy(key, cbor_string_handle(pair.key), cbor_string_length(pair.key));
        key[cbor_string_length(pair.key)] = '\0';
        json_object_set_new(object, key, to_json(pair.value, depth + 1));
    }
    return object;
}

/* Converts everything that an answer may have; null for the rest. */
static json_t *to_json(const cbor_item_t *item, unsigned depth)
{
    typed  t;
    double value;
    size_t next = 0;
    if (depth > NESTING_MOST) return json_null();
    if (read_typed(item, &t)) return typed_to_json(&t, 0, &next);
    if (cbor_isa_map(item)) return map_to_json(item, depth);
    if (cbor_isa_uint(item)) return json_integer((json_int_t)cbor_get_int(item));
    if (read_number(item, &value)) return isfinite(value) ? json_real(value) : json_null();
    if (cbor_is_bool(item)) return json_boolean(cbor_get_bool(item));
    if (cbor_isa_string(item)) return json_stringn((const char *)cbor_string_handle(item), cbor_string_length(item));
    if (!cbor_isa_array(item)) return json_null();
    json_t *array = json_array();
    for (size_t i = 0; i < cbor_array_size(item); i++)
        json_array_append_new(array, to_json(cbor_array_handle(item)[i], depth + 1));
    return array;
}

typedef struct reading {
    cli_batch *batch;
    size_t     rows; /* rows of a batched answer; 0: one state */
} reading;

static bool add_typed(const reading *r, const char *path, const typed *t)
{
    size_t skipped = r->rows > 0 && t->rank > 0 && t->extent[0] == r->rows ? 1 : 0;
    if (t->rank - skipped > CLI_RANK_MOST) return malformed();
    cli_array *array = cli_batch_add(r->batch, path, t->rank - skipped, t->extent + skipped, skipped ? r->rows : 1);
    if (!array) return false;
    array->constant = r->rows > 0 && !skipped;
    if (t->count > 0) memcpy(array->values, t->bytes, t->count * sizeof(double));
    return true;
}

static bool read_map(const reading *r, const cbor_item_t *map, const char *prefix, json_t *rest, unsigned depth);

/* Stores the value at a path: as an array of the batch if it is made of numbers, else in `rest`. */
static bool read_value(const reading *r, const cbor_item_t *value, const char *path, const char *key, json_t *rest,
                       unsigned depth)
{
    typed  t;
    double number;
    if (read_typed(value, &t)) return add_typed(r, path, &t);
    if (read_number(value, &number) && !cbor_isa_uint(value)) {
        t = (typed){.count = 1, .bytes = (const char *)&number};
        return add_typed(r, path, &t);
    }
    if (!cbor_isa_map(value) || depth == NESTING_MOST)
        return json_object_set_new(rest, key, to_json(value, depth)) == 0;
    json_t *inner = json_object();
    bool    good  = read_map(r, value, path, inner, depth + 1);
    if (json_object_size(inner) > 0)
        json_object_set_new(rest, key, inner);
    else
        json_decref(inner);
    return good;
}

static bool read_map(const reading *r, const cbor_item_t *map, const char *prefix, json_t *rest, unsigned depth)
{
    for (size_t i = 0; i < cbor_map_size(map); i++) {
        struct cbor_pair pair = cbor_map_handle(map)[i];
        char             path[PATH_MAX_BYTES];
        if (!cbor_isa_string(pair.key) || cbor_string_length(pair.key) > KEY_MAX) return malformed();
        const char separator[] = {*prefix ? CLI_PATH_SEPARATOR : '\0', '\0'};
        int length = snprintf(path, sizeof path, "%s%s%.*s", prefix, separator, (int)cbor_string_length(pair.key),
                              (const char *)cbor_string_handle(pair.key));
        if (length < 0 || (size_t)length >= sizeof path) return malformed();
        const char *last = strrchr(path, CLI_PATH_SEPARATOR);
        if (!read_value(r, pair.value, path, last ? last + 1 : path, rest, depth)) return false;
    }
    return true;
}

bool cli_cbor_read(const char *bytes, size_t length, size_t rows, cli_batch *batch)
{
    struct cbor_load_result result;
    cbor_item_t            *answer = cbor_load((cbor_data)bytes, length, &result);
    *batch    = (cli_batch){.rows = rows > 0 ? rows : 1, .single = rows == 0, .rest = json_object()};
    bool good = answer && cbor_isa_map(answer) && batch->rest;
    good      = good ? read_map(&(reading){.batch = batch, .rows = rows}, answer, "", batch->rest, 0) : malformed();
    if (answer) cbor_decref(&answer);
    if (!good) cli_batch_free(batch);
    return good;
}
