/* node_json.c - build the nodes of a request from a jansson tree, which is released at once. */
#include "api/codec/json.h"
#include "node_build.h"
#include "node_read.h"
#include <stdint.h>
#include <string.h>

static bool build(api_builder *b, const json_t *value);

static bool build_array(api_builder *b, const json_t *array)
{
    if (!api_build_open(b, false)) return false;
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!build(b, json_array_get(array, i))) return false;
    return api_build_close(b);
}

static bool build_object(api_builder *b, const json_t *object)
{
    const char *key;
    json_t     *value;
    if (!api_build_open(b, true)) return false;
    /* Cast: the macro of jansson accepts no const object. */
    json_object_foreach ((json_t *)(uintptr_t)object, key, value)
        if (!api_build_key(b, key, strlen(key), 0) || !build(b, value)) return false;
    return api_build_close(b);
}

static bool build(api_builder *b, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return build_object(b, value);
    case JSON_ARRAY: return build_array(b, value);
    case JSON_STRING: return api_build_string(b, json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
    case JSON_REAL: return api_build_number(b, json_number_value(value));
    case JSON_TRUE: return api_build_constant(b, API_TRUE);
    case JSON_FALSE: return api_build_constant(b, API_FALSE);
    case JSON_NULL: break;
    }
    return api_build_constant(b, API_NULL);
}

bool api_read_json(const api_read_options *r, const char *text, size_t length, api_node *root)
{
    api_builder b;
    size_t      weight = api_json_estimate_memory(text, length);
    if (!api_claim(r->pool->share, weight, r->pool->problem)) return false;
    json_t *tree = api_json_parse(text, length, r->nesting, r->pool->problem);
    bool    done = tree && api_build_start(&b, r, length / 16) && build(&b, tree);
    if (done) *root = b.root;
    json_decref(tree);
    api_unclaim(r->pool->share, weight);
    return done;
}
