/* json.c - see json.h: parse a JSON text, and word the parser's errors. */
#include "json.h"
#include "api/codec/misread_bodies/json_remedy.h"
#include "api/codec/misread_bodies/other_format.h"
#include "api/codec/misread_bodies/kind_text.h"
#include "pointer.h"
#include "utf8.h"
#include "api/base/memory/jansson_memory.h"
#include "api/base/memory/shortage.h"
#include <limits.h>
#include <string.h>

/* Returns the offset of the bracket that exceeds the nesting limit, or `length` if none does. Brackets inside strings
 * do not count. Malformed JSON is left to the parser. */
static size_t find_too_deep(const char *text, size_t length, unsigned nesting)
{
    size_t depth     = 0;
    bool   in_string = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > nesting) return i;
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return length;
}

/* Returns at least the bytes of the longest string, number or word. */
static size_t longest_token(const char *text, size_t length)
{
    size_t longest = 0, begin = 0;
    bool   in_string = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (in_string && c == '\\') {
            i++;
            continue;
        }
        if (c == '"') in_string = !in_string;
        if (in_string || (c != ',' && c != ':' && c != '"' && c != ' ' && c != '\n')) continue;
        if (i - begin > longest) longest = i - begin;
        begin = i;
    }
    return length - begin > longest ? length - begin : longest;
}

/* Estimates the bytes that jansson allocates, rounded up as in malloc. A number takes 32 bytes and its slot in a
 * growing array, an array 48 bytes and eight slots, an object 56 bytes and its hash table, a member its node. Strings
 * take about the bytes of their text. Commas and brackets inside strings count too, so the estimate is high. */
size_t api_json_estimate_memory(const char *text, size_t length)
{
    size_t values = 0, arrays = 0, objects = 0, members = 0;
    for (size_t i = 0; i < length; i++) {
        values += text[i] == ',';
        arrays += text[i] == '[';
        objects += text[i] == '{';
        members += text[i] == ':';
    }
    return 48 * (values + arrays + 1) + 128 * arrays + 320 * objects + 112 * members + length;
}

const char *api_json_kind(const json_t *value)
{
    if (!value) return "nothing";
    switch (json_typeof(value)) {
    case JSON_OBJECT: return json_object_get(value, "0") ? API_INDEXED_OBJECT : "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return api_kind_of_string(json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
    case JSON_REAL: return "a number";
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_NULL: break;
    }
    return "null";
}

/* Sets the problem for an error of jansson: a pointer if the JSON is well-formed but a value cannot be represented, an
 * offset if the JSON is malformed. */
static void fail_with_parser(api_problem *problem, const json_error_t *error, const char *text, size_t length)
{
    const api_json_remedy remedy = api_json_remedy_find(text, length, (size_t)error->position);
    api_pointer           pointer;
    switch (json_error_code(error)) {
    case json_error_numeric_overflow:
        pointer = api_pointer_at_offset(text, (size_t)error->position);
        api_fail(problem, API_NON_FINITE, api_pointer_text(&pointer),
                 "the number that ends at byte %d overflows a 64-bit float", error->position);
        return;
    case json_error_null_character:
    case json_error_null_byte_in_key:
        pointer = api_pointer_at_offset(text, (size_t)error->position);
        api_fail(problem, API_BAD_VALUE, api_pointer_text(&pointer),
                 "the string that ends at byte %d contains the character U+0000", error->position);
        return;
    case json_error_out_of_memory:
        api_fail(problem, API_MEMORY_FULL, NULL, "no memory to read the request's JSON");
        return;
    case json_error_duplicate_key: api_fail(problem, API_DUPLICATE_KEY, NULL, "%s", error->text); break;
    default:
        pointer = api_pointer_at_offset(text, remedy.value);
        api_fail(problem, API_BAD_JSON, remedy.in_value ? api_pointer_text(&pointer) : NULL,
                 "line %d, column %d: %s%s%s", error->line, error->column, error->text, remedy.text ? "; " : "",
                 remedy.text ? remedy.text : "");
    }
    problem->offset = error->position;
}

static json_t *parse_unmarked(const char *text, size_t length, unsigned nesting, api_problem *problem)
{
    if (length == 0) {
        api_fail(problem, API_BAD_JSON, NULL, "the body is empty, JSON expected");
        problem->offset = 0;
        return NULL;
    }
    if (length > INT_MAX) { /* jansson counts bytes in ints */
        api_fail(problem, API_BODY_TOO_LARGE, NULL, "%zu bytes of JSON given, the limit is %d", length, INT_MAX);
        return NULL;
    }
    size_t deep = find_too_deep(text, length, nesting);
    if (deep < length) {
        api_fail(problem, API_TOO_DEEP, NULL, "arrays and objects are nested deeper than %u", nesting);
        problem->offset = (long long)deep;
        return NULL;
    }
    if (!api_check_format(API_BODY_JSON, text, length, problem)) return NULL;
    json_error_t error;
    size_t       flags = JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY;
    if (!api_jansson_begin(longest_token(text, length))) {
        api_shortage_check(problem);
        return NULL;
    }
    json_t *value    = json_loadb(text, length, flags, &error);
    bool    is_short = api_shortage_check(problem);
    if (is_short) json_decref(value);
    api_jansson_end();
    if (!value && !is_short) fail_with_parser(problem, &error, text, length);
    return is_short ? NULL : value;
}

json_t *api_json_parse(const char *text, size_t length, unsigned nesting, api_problem *problem)
{
    size_t  mark  = api_utf8_mark(text, length);
    json_t *value = parse_unmarked(text + mark, length - mark, nesting, problem);
    if (!value && problem->offset >= 0) problem->offset += (long long)mark;
    return value;
}

void api_json_drop_nulls(json_t *tree)
{
    for (size_t i = 0; i < json_array_size(tree); i++)
        api_json_drop_nulls(json_array_get(tree, i));
    for (void *next, *member = json_object_iter(tree); member; member = next) {
        json_t *value = json_object_iter_value(member);
        next          = json_object_iter_next(tree, member);
        api_json_drop_nulls(value);
        if (json_is_null(value)) json_object_del(tree, json_object_iter_key(member));
    }
}
