/* json_emit.c - write jansson trees (documents, reports, problems) through an emitter. */
#include "emit_bytes.h"
#include "json.h"
#include <stdint.h>

/* Writes the extents that a nested array has if it is rectangular, judged by its first entries, and returns their
 * number. Returns 0 if the innermost entry is not a number. */
static size_t presumed_shape(const json_t *value, size_t extent[API_EMIT_RANK])
{
    size_t rank = 0;
    while (json_is_array(value) && json_array_size(value) > 0 && rank < API_EMIT_RANK) {
        extent[rank++] = json_array_size(value);
        value          = json_array_get(value, 0);
    }
    return json_is_number(value) ? rank : 0;
}

static bool has_shape(const json_t *value, size_t rank, const size_t *extent)
{
    if (rank == 0) return json_is_number(value);
    if (!json_is_array(value) || json_array_size(value) != *extent) return false;
    for (size_t i = 0; i < *extent; i++)
        if (!has_shape(json_array_get(value, i), rank - 1, extent + 1)) return false;
    return true;
}

/* Appends the doubles of a typed array; its heads are already written. */
static void put_numbers(api_emit *e, const json_t *value)
{
    double number = json_number_value(value);
    if (json_is_number(value)) api_emit_put(e, &number, sizeof number);
    for (size_t i = 0; i < json_array_size(value); i++)
        put_numbers(e, json_array_get(value, i));
}

/* Writes a rectangular array of numbers in CBOR or MessagePack. */
static void put_array(api_emit *e, const json_t *array, size_t rank, const size_t *extent)
{
    if (e->media == API_MEDIA_CBOR_MULTIDIMENSIONAL || (e->media == API_MEDIA_CBOR_TYPED && rank == 1)) {
        api_emit_typed(e, rank, extent);
        put_numbers(e, array);
        return;
    }
    api_emit_head(e, CBOR_ARRAY, *extent);
    for (size_t i = 0; i < *extent; i++) {
        if (rank > 1)
            put_array(e, json_array_get(array, i), rank - 1, extent + 1);
        else
            api_emit_double(e, json_number_value(json_array_get(array, i)));
    }
}

static void emit_array(api_emit *e, const json_t *array)
{
    size_t extent[API_EMIT_RANK], rank = e->media != API_MEDIA_JSON ? presumed_shape(array, extent) : 0;
    if (rank > 0 && has_shape(array, rank, extent)) {
        api_emit_begin_value(e);
        put_array(e, array, rank, extent);
        return;
    }
    api_emit_array(e);
    for (size_t i = 0; i < json_array_size(array); i++)
        api_json_emit(e, json_array_get(array, i));
    api_emit_end(e);
}

static void emit_object(api_emit *e, const json_t *object)
{
    const char *key;
    json_t     *value;
    api_emit_object(e);
    /* Cast: the macro of jansson accepts no const object. */
    json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
        api_emit_key(e, key);
        api_json_emit(e, value);
    }
    api_emit_end(e);
}

void api_json_emit(api_emit *e, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: emit_object(e, value); break;
    case JSON_ARRAY: emit_array(e, value); break;
    case JSON_STRING: api_emit_string(e, json_string_value(value)); break;
    case JSON_INTEGER: api_emit_integer(e, json_integer_value(value)); break;
    case JSON_REAL: api_emit_number(e, json_real_value(value)); break;
    case JSON_TRUE: api_emit_boolean(e, true); break;
    case JSON_FALSE: api_emit_boolean(e, false); break;
    case JSON_NULL: api_emit_null(e); break;
    }
}

void api_json_print(api_buffer *buffer, const json_t *value)
{
    api_emit e;
    api_emit_init(&e, API_MEDIA_JSON, buffer);
    api_json_emit(&e, value);
    if (!api_emit_done(&e)) buffer->failed = true;
}
