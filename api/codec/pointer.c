/* pointer.c - see pointer.h: extend JSON pointers, and find the pointer of the value at an offset in a text. */
#include "pointer.h"
#include "api/base/memory/jansson_memory.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

api_pointer api_pointer_root(void)
{
    return (api_pointer){.text = "", .length = 0};
}

static void append(api_pointer *p, const char *bytes, size_t length)
{
    p->truncated = p->truncated || p->length + length >= sizeof p->text;
    if (p->truncated) return;
    memcpy(p->text + p->length, bytes, length);
    p->length += length;
    p->text[p->length] = '\0';
}

api_pointer api_pointer_key(const api_pointer *parent, const char *key)
{
    api_pointer p = *parent;
    append(&p, "/", 1);
    for (; *key && !p.truncated; key++) {
        if (*key == '~')
            append(&p, "~0", 2);
        else if (*key == '/')
            append(&p, "~1", 2);
        else
            append(&p, key, 1);
    }
    return p;
}

api_pointer api_pointer_index(const api_pointer *parent, size_t index)
{
    char        digits[24];
    api_pointer p = *parent;
    int         n = snprintf(digits, sizeof digits, "/%zu", index);
    append(&p, digits, (size_t)n);
    return p;
}

/* The links lead from the value to the root, but the text of a pointer begins at the root: hence the recursion. */
api_pointer api_place_pointer(const api_place *place)
{
    api_pointer pointer = place ? api_place_pointer(place->parent) : api_pointer_root();
    if (!place) return pointer;
    return place->key ? api_pointer_key(&pointer, place->key) : api_pointer_index(&pointer, place->index);
}

const char *api_pointer_text(const api_pointer *pointer)
{
    return pointer->truncated ? NULL : pointer->text;
}

/* An array or object that is open at the offset. */
typedef struct level {
    bool   is_array, wants_key;
    size_t index;            /* index of the current element, if an array */
    size_t key_from, key_to; /* offsets of the current key in the text, quotes included, if an object */
} level;

enum { MAX_LEVELS = 32 };

/* Returns the offset after the JSON string that starts at `from`. */
static size_t string_end(const char *text, size_t from, size_t end)
{
    size_t i = from + 1;
    while (i < end && text[i] != '"')
        i += text[i] == '\\' ? 2 : 1;
    return i < end ? i + 1 : end;
}

static void update_level(level *top, char c)
{
    if (c == ',' && top->is_array) top->index++;
    if (c == ',' && !top->is_array) top->wants_key = true;
    if (c == ':') top->wants_key = false;
}

/* Appends the current key of an object. jansson, which accepted the key before, decodes its escapes. */
static api_pointer push_key(const api_pointer *parent, const char *text, const level *l)
{
    size_t      length = l->key_to - l->key_from;
    bool        begun  = api_jansson_begin(length);
    json_t     *key    = begun ? json_loadb(text + l->key_from, length, JSON_DECODE_ANY, NULL) : NULL;
    api_pointer p      = key ? api_pointer_key(parent, json_string_value(key)) : *parent;
    p.truncated        = p.truncated || !key;
    json_decref(key);
    if (begun) api_jansson_end();
    return p;
}

api_pointer api_pointer_at_offset(const char *text, size_t offset)
{
    level       levels[MAX_LEVELS];
    size_t      depth = 0;
    api_pointer p     = api_pointer_root();
    for (size_t i = 0; i < offset; i++) {
        level *top = depth > 0 ? &levels[depth - 1] : NULL;
        if (text[i] == '"') {
            size_t end = string_end(text, i, offset);
            if (top && top->wants_key) top->key_from = i, top->key_to = end;
            i = end - 1;
        } else if (text[i] == '[' || text[i] == '{') {
            p.truncated = p.truncated || depth == MAX_LEVELS;
            if (p.truncated) return p;
            levels[depth++] = (level){.is_array = text[i] == '[', .wants_key = text[i] == '{'};
        } else if (text[i] == ']' || text[i] == '}') {
            if (depth > 0) depth--;
        } else if (top) {
            update_level(top, text[i]);
        }
    }
    for (size_t d = 0; d < depth; d++)
        p = levels[d].is_array ? api_pointer_index(&p, levels[d].index) : push_key(&p, text, &levels[d]);
    return p;
}
