/* document_node.c - see document_node.h. */
#include "document_node.h"
#include "pointer.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 256, TEXT_MAX_BYTES = 65536, SHOWN_BYTES = 64, DEEPEST = 8 };

/* --- where in the document ------------------------------------------------------------------------------------- */

/* The pointer to `key` of the node (or the node itself when NULL), and on to further indices. */
static api_pointer pointer_to(const api_node *node, const char *key, size_t rank, const size_t *indices)
{
    const api_node *path[DEEPEST];
    size_t          depth = 0;
    for (; node->up && depth < DEEPEST; node = node->up)
        path[depth++] = node;

    api_pointer pointer = api_pointer_root();
    while (depth-- > 0) {
        pointer = api_pointer_key(&pointer, path[depth]->key);
        if (path[depth]->index != API_NO_INDEX) pointer = api_pointer_index(&pointer, path[depth]->index);
    }
    if (key) pointer = api_pointer_key(&pointer, key);
    for (size_t i = 0; i < rank; i++)
        pointer = api_pointer_index(&pointer, indices[i]);
    return pointer;
}

static bool failv(const api_node *node, const char *key, size_t rank, const size_t *indices, api_code code,
                  const char *format, va_list args)
{
    api_pointer pointer = pointer_to(node, key, rank, indices);
    api_failv(node->reader->problem, code, api_pointer_text(&pointer), format, args);
    return false;
}

bool api_node_fail(const api_node *node, const char *key, api_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    failv(node, key, 0, NULL, code, format, args);
    va_end(args);
    return false;
}

static bool fail_at(const api_node *node, const char *key, size_t rank, const size_t *indices, api_code code,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));
static bool fail_at(const api_node *node, const char *key, size_t rank, const size_t *indices, api_code code,
                    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    failv(node, key, rank, indices, code, format, args);
    va_end(args);
    return false;
}

bool api_reader_no_memory(api_reader *reader)
{
    api_fail(reader->problem, API_MEMORY_FULL, NULL, "no memory to read the model document");
    return false;
}

/* --- the report ------------------------------------------------------------------------------------------------ */

/* The longest run of at most `most` bytes that ends between characters: none of which starts with 10xxxxxx. */
static size_t whole_characters(const char *text, size_t most)
{
    size_t end = strnlen(text, most + 1);
    if (end <= most) return end;
    for (end = most; end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80; end--)
        ;
    return end;
}

int api_text_shown(const char *text)
{
    return (int)whole_characters(text, SHOWN_BYTES);
}

static bool reportv(api_reader *reader, const char *where, const char *severity, const char *code, const char *format,
                    va_list args)
{
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    size_t  end   = whole_characters(text, sizeof text - 2); /* jansson refuses a character cut in two */
    json_t *entry = json_pack("{ss ss ss ss%}", "severity", severity, "code", code, "where", where, "text", text, end);
    if (!entry || json_array_append_new(reader->report, entry)) return api_reader_no_memory(reader);
    return true;
}

bool api_reader_report(api_reader *reader, const char *where, const char *severity, const char *code,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool ok = reportv(reader, where, severity, code, format, args);
    va_end(args);
    return ok;
}

bool api_node_report(const api_node *node, const char *key, const char *severity, const char *code, const char *format,
                     ...)
{
    va_list     args;
    api_pointer where = pointer_to(node, key, 0, NULL); /* only keys of the document's form: it fits */
    va_start(args, format);
    bool ok = reportv(node->reader, where.text, severity, code, format, args);
    va_end(args);
    return ok;
}

/* --- objects and lists ----------------------------------------------------------------------------------------- */

static const char *kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER:
    case JSON_REAL: return "a number";
    case JSON_TRUE:
    case JSON_FALSE: return "a truth value";
    case JSON_NULL: return "null";
    }
    return "something else";
}

static bool check_fields(const api_node *node, const char *const *fields)
{
    const char *key;
    json_t     *value;
    if (!json_is_object(node->in))
        return api_node_fail(node, NULL, API_WRONG_TYPE, "expected an object, given %s", kind_of(node->in));
    json_object_foreach ((json_t *)(uintptr_t)node->in, key, value) { /* the macro's prototypes lack const */
        size_t i = 0;
        while (fields[i] && strcmp(fields[i], key) != 0)
            i++;
        if (fields[i]) continue;
        api_buffer known;
        api_buffer_init(&known, 256);
        for (i = 0; fields[i]; i++)
            api_buffer_format(&known, "%s%s", i ? ", " : "", fields[i]);
        char *list = api_buffer_take(&known);
        api_node_fail(node, key, API_UNKNOWN_FIELD, "unknown field \"%.*s\"; known here: %s", api_text_shown(key), key,
                      list ? list : "");
        free(list);
        return false;
    }
    return true;
}

bool api_node_root(api_node *node, api_reader *reader, const json_t *in, json_t *out, const char *const *fields)
{
    *node = (api_node){.reader = reader, .key = "", .index = API_NO_INDEX, .in = in, .out = out};
    return check_fields(node, fields);
}

bool api_node_open(api_node *node, const api_node *up, const char *key, const char *const *fields)
{
    *node     = (api_node){.reader = up->reader, .up = up, .key = key, .index = API_NO_INDEX};
    node->in  = json_object_get(up->in, key);
    node->out = json_object();
    if (!api_node_keep(up, key, node->out)) return false;
    return check_fields(node, fields);
}

bool api_node_item(api_node *node, const api_node *up, const char *key, size_t index, const char *const *fields)
{
    *node     = (api_node){.reader = up->reader, .up = up, .key = key, .index = index};
    node->in  = json_array_get(json_object_get(up->in, key), index);
    node->out = json_object();
    if (json_array_append_new(json_object_get(up->out, key), node->out)) return api_reader_no_memory(up->reader);
    return check_fields(node, fields);
}

void api_node_close(api_node *node, bool keep)
{
    if (!keep && json_object_size(node->out) == 0) json_object_del(node->up->out, node->key);
}

api_node api_node_place(const api_node *up, const char *key, size_t index)
{
    return (api_node){.reader = up->reader, .up = up, .key = key, .index = index};
}

bool api_node_has(const api_node *node, const char *key)
{
    return json_object_get(node->in, key) != NULL;
}

/* Sets *value to the field, NULL when it is absent and may be. */
static bool find(const api_node *node, const char *key, int need, const json_t **value)
{
    *value = json_object_get(node->in, key);
    if (*value || need != API_REQUIRED) return true;
    return api_node_fail(node, key, API_MISSING_FIELD, "\"%s\" is needed here and missing", key);
}

bool api_node_list(const api_node *node, const char *key, int need, size_t *count)
{
    const json_t *list;
    *count = 0;
    if (!find(node, key, need, &list)) return false;
    if (!list) return true;
    if (!json_is_array(list))
        return api_node_fail(node, key, API_WRONG_TYPE, "expected an array of objects, given %s", kind_of(list));
    *count = json_array_size(list);
    if (*count == 0 && need != API_REQUIRED) return true;
    return api_node_keep(node, key, json_array());
}

bool api_node_keep(const api_node *node, const char *key, json_t *value)
{
    if (!value || json_object_set_new(node->out, key, value)) return api_reader_no_memory(node->reader);
    return true;
}

bool api_node_refuse_later(const api_node *node, const char *key)
{
    const json_t *value = json_object_get(node->in, key);
    if (!value || (json_is_array(value) && json_array_size(value) == 0)) return true;
    return api_node_fail(node, key, API_NOT_SUPPORTED, "\"%s\" is not supported by this version", key);
}

/* --- fields ---------------------------------------------------------------------------------------------------- */

/* Reads a nest of arrays of `shape[done..rank)` into *v, moving *v along, and returns its twin. */
static json_t *read_nest(const api_node *node, const char *key, const json_t *in, size_t rank, const size_t *shape,
                         size_t done, size_t *indices, double **v)
{
    if (done == rank) {
        if (!json_is_number(in)) {
            fail_at(node, key, rank, indices, API_WRONG_TYPE, "expected a number, given %s", kind_of(in));
            return NULL;
        }
        *(*v)++ = json_number_value(in);
        return json_real(json_number_value(in));
    }
    if (!json_is_array(in)) {
        fail_at(node, key, done, indices, API_WRONG_TYPE, "expected an array of %zu %s, given %s", shape[done],
                done + 1 == rank ? "numbers" : "arrays", kind_of(in));
        return NULL;
    }
    if (json_array_size(in) != shape[done]) {
        fail_at(node, key, done, indices, API_WRONG_SHAPE, "expected %zu entries, given %zu", shape[done],
                json_array_size(in));
        return NULL;
    }
    json_t *out = json_array();
    for (size_t i = 0; out && i < shape[done]; i++) {
        indices[done] = i;
        json_t *entry = read_nest(node, key, json_array_get(in, i), rank, shape, done + 1, indices, v);
        if (!entry || json_array_append_new(out, entry)) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

bool api_node_numbers(const api_node *node, const char *key, int need, double *v, size_t rank, const size_t *shape)
{
    size_t        indices[4], count = 1;
    const json_t *in;
    if (!find(node, key, need, &in)) return false;
    if (!in) return true;
    for (size_t i = 0; i < rank; i++)
        count *= shape[i];
    double *end = v, *absent = api_arena_take(node->reader->arena, count, sizeof *v);
    if (!absent) return api_reader_no_memory(node->reader);
    memcpy(absent, v, count * sizeof *v);

    json_t *twin = read_nest(node, key, in, rank, shape, 0, indices, &end);
    if (!twin) return api_reader_no_memory(node->reader); /* unless another problem was found */
    if (need == API_REQUIRED || memcmp(absent, v, count * sizeof *v) != 0) return api_node_keep(node, key, twin);
    json_decref(twin);
    return true;
}

bool api_node_number(const api_node *node, const char *key, int need, double *v)
{
    return api_node_numbers(node, key, need, v, 0, NULL);
}

bool api_node_vector(const api_node *node, const char *key, int need, double *v, size_t n)
{
    return api_node_numbers(node, key, need, v, 1, &n);
}

bool api_node_not_negative(const api_node *node, const char *key, int need, double *v)
{
    if (!api_node_number(node, key, need, v)) return false;
    if (*v >= 0) return true;
    return api_node_fail(node, key, API_BAD_VALUE, "\"%s\" must not be negative, given %.17g", key, *v);
}

bool api_node_flag(const api_node *node, const char *key, bool *flag)
{
    const json_t *in = json_object_get(node->in, key);
    if (!in) return true;
    if (!json_is_boolean(in))
        return api_node_fail(node, key, API_WRONG_TYPE, "expected true or false, given %s", kind_of(in));
    bool absent = *flag;
    *flag       = json_is_true(in);
    return *flag == absent || api_node_keep(node, key, json_boolean(*flag));
}

bool api_node_text(const api_node *node, const char *key, int need, const char **text)
{
    const json_t *in;
    if (!find(node, key, need, &in)) return false;
    if (!in) return true;
    if (!json_is_string(in))
        return api_node_fail(node, key, API_WRONG_TYPE, "expected a string, given %s", kind_of(in));
    if (json_string_length(in) > TEXT_MAX_BYTES)
        return api_node_fail(node, key, API_MODEL_TOO_LARGE, "a text has at most %d bytes, given %zu", TEXT_MAX_BYTES,
                             json_string_length(in));
    *text = api_arena_text(node->reader->arena, json_string_value(in));
    if (!*text) return api_reader_no_memory(node->reader);
    return api_node_keep(node, key, json_string(*text));
}

/* Control characters: U+0000 to U+001F, U+007F, and U+0080 to U+009F (C2 80 to C2 9F in UTF-8). */
static bool has_control(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p < 0x20 || *p == 0x7F || (p[0] == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0)) return true;
    return false;
}

bool api_node_name(const api_node *node, const char *key, int need, const char **name)
{
    if (!api_node_text(node, key, need, name)) return false;
    if (!api_node_has(node, key)) return true;
    size_t length = strlen(*name);
    if (length == 0) return api_node_fail(node, key, API_BAD_NAME, "a name must not be empty");
    if (length > NAME_MAX_BYTES)
        return api_node_fail(node, key, API_BAD_NAME, "a name has at most %d bytes, given %zu", NAME_MAX_BYTES, length);
    if (has_control(*name)) return api_node_fail(node, key, API_BAD_NAME, "a name must not hold control characters");
    return true;
}
