/* emit.c - see emit.h: objects, arrays, texts and single values in all encodings. */
#include "emit_bytes.h"
#include "number.h"
#include "utf8.h"
#include <math.h>
#include <stdio.h>

static bool is_json(const api_emit *e)
{
    return e->media == API_MEDIA_JSON;
}

void api_emit_init(api_emit *e, api_media media, api_buffer *buffer)
{
    e->media  = media;
    e->buffer = buffer;
    e->bytes  = 0;
    e->failed = e->after_key = false;
    e->key = e->not_finite = NULL;
    e->depth               = 0;
}

bool api_emit_done(const api_emit *e)
{
    return !e->failed && e->depth == 0 && !(e->buffer && e->buffer->failed);
}

size_t api_emit_length(const api_emit *e)
{
    return e->buffer ? e->buffer->length : e->bytes;
}

/* --- objects and arrays ----------------------------------------------------------------------------------------- */

void api_emit_begin_value(api_emit *e)
{
    if (e->depth == 0) return;
    size_t items = e->open[e->depth - 1].items++;
    if (is_json(e) && items > 0) api_emit_put(e, e->after_key ? ":" : ",", 1);
    e->after_key = false;
}

/* Opens an object or array whose head follows. False if the nesting is too deep. */
static bool open_level(api_emit *e, bool is_object)
{
    api_emit_begin_value(e);
    if (e->depth == API_EMIT_DEPTH) {
        e->failed = true;
        return false;
    }
    e->open[e->depth].begin     = api_emit_length(e);
    e->open[e->depth].items     = 0;
    e->open[e->depth].is_object = is_object;
    e->open[e->depth].is_final  = false;
    e->depth++;
    return true;
}

/* Begins an object or array. In binary encodings it writes one placeholder byte, which api_emit_end replaces when the
 * number of items is known. */
static void begin_nested(api_emit *e, bool is_object)
{
    if (open_level(e, is_object)) api_emit_put(e, is_object ? "{" : "[", 1);
}

void api_emit_object(api_emit *e)
{
    begin_nested(e, true);
}

void api_emit_array(api_emit *e)
{
    begin_nested(e, false);
}

void api_emit_object_of(api_emit *e, size_t members)
{
    if (!open_level(e, true)) return;
    e->open[e->depth - 1].is_final  = true;
    e->open[e->depth - 1].announced = 2 * members;
    if (is_json(e))
        api_emit_put(e, "{", 1);
    else
        api_emit_head(e, CBOR_MAP, members);
}

/* Replaces the placeholder byte at `offset` by the head of a map or array with this number of items. */
static void set_head(api_emit *e, size_t offset, bool is_object, size_t items)
{
    unsigned char head[API_HEAD_MAX];
    size_t n = api_binary_of(e->media)->head(head, is_object ? CBOR_MAP : CBOR_ARRAY, is_object ? items / 2 : items);
    api_emit_put(e, head, n - 1);
    if (!e->buffer || e->buffer->failed) return;
    unsigned char *p = (unsigned char *)e->buffer->data + offset;
    memmove(p + n, p + 1, e->buffer->length - (n - 1) - (offset + 1));
    memcpy(p, head, n);
}

void api_emit_end(api_emit *e)
{
    if (e->depth == 0) {
        e->failed = true;
        return;
    }
    e->depth--;
    bool is_object = e->open[e->depth].is_object, is_final = e->open[e->depth].is_final;
    if (is_final && e->open[e->depth].items != e->open[e->depth].announced) e->failed = true;
    if (is_json(e))
        api_emit_put(e, is_object ? "}" : "]", 1);
    else if (!is_final)
        set_head(e, e->open[e->depth].begin, is_object, e->open[e->depth].items);
}

/* --- text ------------------------------------------------------------------------------------------------------- */

/* Returns the number of leading bytes that need no escape in a JSON string. */
static size_t plain_prefix(const char *text)
{
    size_t n = 0;
    while (text[n] >= ' ' && text[n] < 0x7F && text[n] != '"' && text[n] != '\\')
        n++;
    return n;
}

static void put_json_text(api_emit *e, const char *text)
{
    char escape[8];
    api_emit_put(e, "\"", 1);
    while (*text) {
        size_t plain = plain_prefix(text), n = plain ? plain : api_utf8_character(text, 4);
        if (n == 0)
            api_emit_put(e, "\xEF\xBF\xBD", 3);
        else if (plain || n > 1)
            api_emit_put(e, text, n);
        else if (*text == '"' || *text == '\\')
            api_emit_put(e, (char[]){'\\', *text}, 2);
        else
            api_emit_put(e, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*text));
        text += n ? n : 1;
    }
    api_emit_put(e, "\"", 1);
}

/* Writes a text of CBOR or MessagePack in two passes, because its length precedes the text. */
static void put_binary_text(api_emit *e, const char *text)
{
    size_t length = 0, n;
    for (const char *p = text; *p; p += n ? n : 1) {
        n = api_utf8_character(p, 4);
        length += n ? n : 3;
    }
    api_emit_head(e, CBOR_TEXT, length);
    for (const char *p = text; *p; p += n ? n : 1) {
        n = api_utf8_prefix(p, strlen(p));
        api_emit_put(e, n ? p : "\xEF\xBF\xBD", n ? n : 3);
    }
}

void api_emit_string(api_emit *e, const char *text)
{
    api_emit_begin_value(e);
    if (is_json(e))
        put_json_text(e, text);
    else
        put_binary_text(e, text);
}

void api_emit_key(api_emit *e, const char *key)
{
    api_emit_string(e, key);
    e->key       = key;
    e->after_key = true;
}

void api_emit_names(api_emit *e, const char *key, const char *const *names, size_t n)
{
    api_emit_key(e, key);
    api_emit_array(e);
    for (size_t i = 0; i < n; i++)
        api_emit_string(e, names[i]);
    api_emit_end(e);
}

/* --- other values ----------------------------------------------------------------------------------------------- */

void api_emit_integer(api_emit *e, long long value)
{
    char text[24];
    api_emit_begin_value(e);
    if (is_json(e))
        api_emit_put(e, text, (size_t)snprintf(text, sizeof text, "%lld", value));
    else if (value >= 0)
        api_emit_head(e, CBOR_UNSIGNED, (uint64_t)value);
    else
        api_emit_head(e, CBOR_NEGATIVE, ~(uint64_t)value); /* -1 - value */
}

void api_emit_note_not_finite(api_emit *e)
{
    if (!e->not_finite) e->not_finite = e->key ? e->key : "a number";
    e->failed = true;
}

void api_emit_number(api_emit *e, double value)
{
    char text[API_NUMBER_ROOM];
    api_emit_begin_value(e);
    if (!isfinite(value)) {
        api_emit_note_not_finite(e);
    } else if (is_json(e)) {
        api_emit_put(e, text, e->buffer ? api_number_write(value, text) : API_NUMBER_MAX);
    } else {
        api_emit_double(e, value);
    }
}

/* Writes the text of JSON, or the byte at this offset in an api_binary. */
static void put_simple(api_emit *e, const char *json, size_t offset)
{
    api_emit_begin_value(e);
    if (is_json(e))
        api_emit_put(e, json, strlen(json));
    else
        api_emit_put(e, (const char *)api_binary_of(e->media) + offset, 1);
}

void api_emit_boolean(api_emit *e, bool value)
{
    put_simple(e, value ? "true" : "false", value ? offsetof(api_binary, yes) : offsetof(api_binary, no));
}

void api_emit_null(api_emit *e)
{
    put_simple(e, "null", offsetof(api_binary, null));
}
