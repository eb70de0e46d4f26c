/* text_reader.c - the usual request in JSON, in one pass without a tree between text and nodes. Whatever is not usual -
 * escapes, other characters than ASCII, whatever is wrong - is left to jansson, so that there is one language and one
 * wording of errors: what this reader takes, jansson takes too, for the same nodes. */
#include "node_build.h"
#include "node_read.h"
#include "api/wire/number.h"
#include <math.h>
#include <string.h>

typedef struct reader {
    const char *at, *end;
    api_builder build;
} reader;

/* What comes next, '\0' behind the end. */
static char peek(const reader *r)
{
    return r->at < r->end ? *r->at : '\0';
}

static inline char skip_space(reader *r)
{
    while (r->at < r->end && (unsigned char)*r->at <= ' ' &&
           (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
    return peek(r);
}

static bool begins_number(char c)
{
    return c == '-' || (c >= '0' && c <= '9');
}

/* The inside of a string whose first quote is next; false unless it is all plain. */
static bool read_plain(reader *r, const char **text, size_t *length)
{
    const char *from = r->at + 1, *p = from;
    while (p < r->end && *p >= ' ' && *p < 0x7F && *p != '"' && *p != '\\')
        p++;
    if (p == r->end || *p != '"') return false;
    *text   = from;
    *length = (size_t)(p - from);
    r->at   = p + 1;
    return true;
}

static bool read_key(reader *r)
{
    const char *key;
    size_t      length;
    if (skip_space(r) != '"' || !read_plain(r, &key, &length)) return false;
    if (skip_space(r) != ':') return false;
    r->at++;
    return api_build_key(&r->build, key, length, 0);
}

/* As many numbers of an array as it has and there is room for; one, if it is not made of numbers alone. */
static bool take_numbers(reader *r)
{
    size_t  room, count, left = (size_t)(r->end - r->at);
    double *numbers = api_build_numbers(&r->build, &room), number;
    if (numbers) {
        r->at += api_numbers_read(r->at, left, numbers, room, &count);
        api_build_count(&r->build, count);
        return count > 0;
    }
    size_t length = api_number_read(r->at, left, &number);
    r->at += length;
    return length > 0 && isfinite(number) && api_build_number(&r->build, number);
}

/* A number; in an array, numbers to its end or to the first item that is none. */
static bool read_numbers(reader *r)
{
    bool array = r->build.depth > 0 && !r->build.open[r->build.depth - 1].object;
    for (;;) {
        if (!take_numbers(r)) return false;
        if (!array || skip_space(r) != ',') return true;
        const char *comma = r->at++;
        if (begins_number(skip_space(r))) continue;
        r->at = comma; /* whoever reads the next item wants to see it */
        return true;
    }
}

static bool read_word(reader *r, const char *word, api_kind kind)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0) return false;
    r->at += length;
    return api_build_constant(&r->build, kind);
}

static bool read_string(reader *r)
{
    const char *text;
    size_t      length;
    return read_plain(r, &text, &length) && api_build_string(&r->build, text, length);
}

/* Opens an array or object; `open` stays true when there is something in it. */
static bool read_open(reader *r, bool object, bool *open)
{
    if (api_build_full(&r->build) || !api_build_open(&r->build, object)) return false;
    r->at++;
    *open = skip_space(r) != (object ? '}' : ']');
    if (*open) return !object || read_key(r);
    r->at++;
    return api_build_close(&r->build);
}

/* Reads a value, or the beginning of one: then `open`. */
static bool read_value(reader *r, bool *open)
{
    char c = skip_space(r);
    *open  = false;
    switch (c) {
    case '{':
    case '[': return read_open(r, c == '{', open);
    case '"': return read_string(r);
    case 't': return read_word(r, "true", API_TRUE);
    case 'f': return read_word(r, "false", API_FALSE);
    case 'n': return read_word(r, "null", API_NULL);
    default: return begins_number(c) && read_numbers(r);
    }
}

/* What follows a value: ends of arrays and objects, until there is a comma or the whole is complete. */
static bool read_ends(reader *r)
{
    while (r->build.depth > 0) {
        bool object = r->build.open[r->build.depth - 1].object;
        char c      = skip_space(r);
        if (c != ',' && c != (object ? '}' : ']')) return false;
        r->at++;
        if (c == ',') return !object || read_key(r);
        if (!api_build_close(&r->build)) return false;
    }
    return true;
}

api_taken api_read_text(const api_reading *how, const char *text, size_t length, api_node *root)
{
    enum { BYTES_A_NUMBER = 16 }; /* of full-length numbers, rather fewer than they have */
    reader r    = {.at = text, .end = text + length};
    bool   open = false;
    bool   good = length <= UINT32_MAX && api_build_start(&r.build, how->pool, how->nesting, length / BYTES_A_NUMBER);
    do
        good = good && read_value(&r, &open) && (open || read_ends(&r));
    while (good && r.build.depth > 0);
    if (good) skip_space(&r);
    if (good && r.at == r.end) {
        *root = r.build.root;
        return API_TAKEN;
    }
    if (how->pool->problem->code == API_MEMORY_FULL) return API_REFUSED;
    api_problem_clear(how->pool->problem); /* a key that stands twice: jansson says where */
    return API_NOT_TAKEN;
}
