/* text_reader.c - read the usual JSON request in one pass, without a tree between text and nodes. Everything unusual
 * (escapes, non-ASCII characters, errors) is left to jansson, so that there is one grammar and one wording of
 * problems. jansson accepts every text that this reader accepts, and gives the same nodes. */
#include "node_build.h"
#include "node_read.h"
#include "api/codec/number.h"
#include "api/codec/utf8.h"
#include <math.h>
#include <string.h>

typedef struct reader {
    const api_read_options *options;
    const char             *begin, *cursor, *end;
    api_builder             build;
    size_t                  look; /* offset at which the deadline is checked next */
    bool                    late; /* the deadline has passed */
} reader;

static bool text_goes_on(reader *r)
{
    r->late = !api_read_goes_on(r->options, (size_t)(r->cursor - r->begin), &r->look);
    return !r->late;
}

/* Returns the next character; '\0' at the end of the text. */
static char peek(const reader *r)
{
    return r->cursor < r->end ? *r->cursor : '\0';
}

static inline char skip_space(reader *r)
{
    while (r->cursor < r->end && (unsigned char)*r->cursor <= ' ' &&
           (*r->cursor == ' ' || *r->cursor == '\n' || *r->cursor == '\r' || *r->cursor == '\t'))
        r->cursor++;
    return peek(r);
}

static bool begins_number(char c)
{
    return c == '-' || (c >= '0' && c <= '9');
}

/* Reads a string whose opening quote is next; false unless it is plain ASCII without escapes. */
static bool read_plain_string(reader *r, const char **text, size_t *length)
{
    const char *from = r->cursor + 1, *p = from;
    while (p < r->end && *p >= ' ' && *p < 0x7F && *p != '"' && *p != '\\')
        p++;
    if (p == r->end || *p != '"') return false;
    *text     = from;
    *length   = (size_t)(p - from);
    r->cursor = p + 1;
    return true;
}

static bool read_key(reader *r)
{
    const char *key;
    size_t      length;
    if (skip_space(r) != '"' || !read_plain_string(r, &key, &length)) return false;
    if (skip_space(r) != ':') return false;
    r->cursor++;
    return api_build_key(&r->build, key, length, 0);
}

/* Reads as many numbers as follow and fit the reserved block, also those of following rows of the same width; only one
 * number if it is not in an array of numbers. */
static bool read_number_run(reader *r)
{
    enum { MOST_NUMBERS = 1 << 14 /* about 0.2 ms */ };
    size_t  room, count, left = (size_t)(r->end - r->cursor);
    double *numbers = api_build_reserve_numbers(&r->build, &room), number;
    if (numbers) {
        if (room > MOST_NUMBERS) room = MOST_NUMBERS;
        api_rows rows = {.begin = r->begin, .text = r->cursor, .end = r->end, .width = api_build_row_width(&r->build)};
        r->cursor += api_rows_read(&rows, numbers, room, &count);
        api_build_commit_rows(&r->build, count, rows.width);
        return count > 0;
    }
    size_t length = api_number_read(r->cursor, left, &number);
    r->cursor += length;
    return length > 0 && isfinite(number) && api_build_number(&r->build, number);
}

/* Reads a number; in an array, all numbers up to its end or to the first item of another kind. */
static bool read_numbers(reader *r)
{
    bool array = r->build.depth > 0 && !r->build.open[r->build.depth - 1].object;
    for (;;) {
        if (!read_number_run(r) || !text_goes_on(r)) return false;
        if (!array || skip_space(r) != ',') return true;
        const char *comma = r->cursor++;
        if (begins_number(skip_space(r))) continue;
        r->cursor = comma; /* the reader of the next item expects the comma */
        return true;
    }
}

static bool read_word(reader *r, const char *word, api_kind kind)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->cursor) < length || memcmp(r->cursor, word, length) != 0) return false;
    r->cursor += length;
    return api_build_constant(&r->build, kind);
}

static bool read_string(reader *r)
{
    const char *text;
    size_t      length;
    return read_plain_string(r, &text, &length) && api_build_string(&r->build, text, length);
}

/* Opens an array or object. If it is empty, closes it again and sets `*open` to false, else to true. */
static bool read_open(reader *r, bool object, bool *open)
{
    if (api_build_at_nesting_limit(&r->build) || !api_build_open(&r->build, object)) return false;
    r->cursor++;
    *open = skip_space(r) != (object ? '}' : ']');
    if (*open) return !object || read_key(r);
    r->cursor++;
    return api_build_close(&r->build);
}

/* Reads a value. Of an array or object that is not empty it reads only the beginning and sets `*open` to true. */
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

/* Closes arrays and objects after a value, up to the next comma or the end of the root. */
static bool read_ends(reader *r)
{
    while (r->build.depth > 0) {
        bool object = r->build.open[r->build.depth - 1].object;
        char c      = skip_space(r);
        if (c != ',' && c != (object ? '}' : ']')) return false;
        r->cursor++;
        if (c == ',') return !object || read_key(r);
        if (!api_build_close(&r->build)) return false;
    }
    return true;
}

api_plain_json_outcome api_read_plain_json(const api_read_options *options, const char *text, size_t length,
                                           api_node *root)
{
    enum { BYTES_A_NUMBER = 16 }; /* bytes of text per number; a low guess for numbers of full length */
    reader r    = {.options = options,
                   .begin   = text,
                   .look    = API_READ_LOOK,
                   .cursor  = text + api_utf8_mark(text, length),
                   .end     = text + length};
    bool   open = false;
    bool   good = length <= UINT32_MAX && api_build_start(&r.build, options, length / BYTES_A_NUMBER);
    do
        good = good && read_value(&r, &open) && (open || read_ends(&r)) && text_goes_on(&r);
    while (good && r.build.depth > 0);
    if (good) skip_space(&r);
    if (good && r.cursor == r.end) {
        *root = r.build.root;
        return API_PLAIN_JSON_READ;
    }
    if (r.late || r.build.late || options->pool->problem->code == API_MEMORY_FULL) return API_PLAIN_JSON_FAILED;
    /* A duplicate key: api_read_json finds it again and reports its position. */
    api_problem_clear(options->pool->problem);
    return API_PLAIN_JSON_DECLINED;
}
