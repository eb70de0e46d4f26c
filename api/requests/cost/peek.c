/* peek.c - see peek.h. */
#include "peek.h"
#include "api/codec/msgpack/msgpack_item.h"
#include "api/service/http/call.h"
#include "dynamics/loops/loops.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* END: bytes that are searched at each end of a long body; long arrays of numbers are usually in the middle. */
enum { END = 512, LONGEST = 32 /* most characters of a number */ };

/* Substring search. memchr for the first letter is faster than memmem here: letters are rare among numbers, and
 * memmem first builds a table. */
static const unsigned char *search(const char *in, size_t length, const char *text, size_t n)
{
    const char *last = in + length - n;
    for (const char *p = in; length >= n && p <= last; p++) {
        p = memchr(p, *text, (size_t)(last - p) + 1);
        if (!p) break;
        if (memcmp(p, text, n) == 0) return (const unsigned char *)p;
    }
    return NULL;
}

/* Finds a text in the body; NULL if absent. Of a body longer than 2 END bytes, only the ends
 * are searched. */
static const unsigned char *find_text(const api_input *input, const char *text, size_t n)
{
    size_t length = input->length;
    if (!input->body) return NULL;
    const unsigned char *p = search(input->body, length <= 2 * END ? length : END, text, n);
    return p || length <= 2 * END ? p : search(input->body + length - END, END, text, n);
}

bool api_body_mentions(const api_input *input, const char *name)
{
    return find_text(input, name, strlen(name)) != NULL;
}

/* Reads a decimal number after a colon and blanks; 0 if there is none. */
static double read_decimal(const char *p, const char *end)
{
    char   text[LONGEST];
    size_t n = 0;
    while (p < end && memchr(": \t\r\n", *p, 5))
        p++;
    while (p < end && n < sizeof text - 1 && memchr("+-.0123456789eE", *p, 15))
        text[n++] = *p++;
    text[n] = 0;
    return strtod(text, NULL);
}

/* Reads a CBOR unsigned integer, or a float of 64 or 32 bits (RFC 8949, section 3); 0 for any other item. */
static double read_item(const unsigned char *p, const unsigned char *end)
{
    if (p == end) return 0;
    size_t   bytes = *p % 32 >= 24 && *p % 32 < 28 ? (size_t)1 << (*p % 32 - 24) : 0;
    uint64_t value = *p % 32;
    if (bytes > 0) value = 0;
    if ((size_t)(end - p) <= bytes) return 0;
    for (size_t i = 1; i <= bytes; i++)
        value = value << 8 | p[i];
    uint32_t half = (uint32_t)value;
    double   number;
    float    single;
    memcpy(&number, &value, sizeof number);
    memcpy(&single, &half, sizeof single);
    return *p / 32 == 0 ? (double)value : *p == 0xfb ? number : *p == 0xfa ? (double)single : 0;
}

/* Reads the next object of MessagePack; false if there is none. */
static bool next_object_of_msgpack(api_msgpack_cursor *c, api_msgpack_item *item)
{
    api_problem ignored;
    api_problem_clear(&ignored);
    c->problem = &ignored;
    bool read  = api_msgpack_next(c, item);
    c->problem = NULL;
    return read;
}

/* Reads a number of MessagePack; 0 for any other object. */
static double read_object_of_msgpack(const unsigned char *p, const unsigned char *end)
{
    api_msgpack_cursor cursor = {.body = p, .length = (size_t)(end - p)};
    api_msgpack_item   item;
    return next_object_of_msgpack(&cursor, &item) ? item.number : 0;
}

/* The first byte after the field's name (JSON: after its closing quote); NULL if the field is absent. */
static const unsigned char *find_value(const api_call *call, const api_input *input, api_field field)
{
    char   key[64];
    bool   binary = call->content != API_MEDIA_JSON;
    size_t length = strlen(api_field_names[field]);
    int    before = call->content == API_MEDIA_CBOR ? (int)(0x60 + length) : binary ? (int)(0xA0 + length) : '"';
    snprintf(key, sizeof key, binary ? "%c%s" : "%c%s\"", before, api_field_names[field]);
    const unsigned char *p = find_text(input, key, strlen(key));
    return p ? p + strlen(key) : NULL;
}

double api_peek_number(const api_call *call, const api_input *input, api_field field)
{
    const unsigned char *p = find_value(call, input, field);
    if (!p) return 0;
    const unsigned char *end    = (const unsigned char *)input->body + input->length;
    double               number = call->content == API_MEDIA_CBOR      ? read_item(p, end)
                                  : call->content == API_MEDIA_MSGPACK ? read_object_of_msgpack(p, end)
                                                                       : read_decimal((const char *)p, (const char *)end);
    return isfinite(number) && number > 0 ? number : 0;
}

static double largest_decimal(const char *p, const char *end, size_t count)
{
    double largest = 0;
    for (size_t n = 0; n < count; n++) {
        char text[LONGEST], *after;
        while (p < end && memchr(": \t\r\n,[]", *p, 8))
            p++;
        size_t length = (size_t)(end - p) < sizeof text - 1 ? (size_t)(end - p) : sizeof text - 1;
        memcpy(text, p, length);
        text[length] = 0;
        largest      = fmax(largest, fabs(strtod(text, &after)));
        if (after == text) break;
        p += after - text;
    }
    return largest;
}

/* Bytes of a CBOR item's head: the initial byte and its argument (RFC 8949, section 3). */
static size_t head_bytes(unsigned char first)
{
    return first % 32 >= 24 && first % 32 < 28 ? 1 + ((size_t)1 << (first % 32 - 24)) : 1;
}

/* The largest magnitude in a typed array of little-endian doubles (RFC 8746, tag 86), or in nested CBOR arrays of
 * numbers. */
static double largest_item(const unsigned char *p, const unsigned char *end, size_t count)
{
    enum { TAG = 0xd8, LITTLE_ENDIAN_DOUBLES = 86, MOST_HEADS = 8 };
    const unsigned char *typed   = memchr(p, TAG, (size_t)(end - p) < MOST_HEADS ? (size_t)(end - p) : MOST_HEADS);
    bool                 dense   = typed && end - typed > 2 && typed[1] == LITTLE_ENDIAN_DOUBLES;
    double               largest = 0, number;
    if (dense) p = typed + 2 + head_bytes(typed[2]);
    for (size_t n = 0; n < count && p < end; n++) {
        while (!dense && p < end && *p / 32 == 4) /* enter a nested array */
            p += head_bytes(*p);
        if (end - p < 9) break;
        if (dense) memcpy(&number, p, sizeof number);
        if (!dense) number = read_item(p, end);
        p += dense ? 8 : head_bytes(*p);
        if (isfinite(number)) largest = fmax(largest, fabs(number));
    }
    return largest;
}

/* The largest magnitude in nested arrays of MessagePack, or in a typed array of msgpackr. */
static double largest_object_of_msgpack(const unsigned char *p, const unsigned char *end, size_t count)
{
    enum { TYPED = 0x74, DOUBLES = 8 };
    api_msgpack_cursor cursor = {.body = p, .length = (size_t)(end - p)};
    api_msgpack_item   item;
    double             largest = 0, number;
    for (size_t n = 0; n < count && next_object_of_msgpack(&cursor, &item);) {
        bool typed = item.kind == API_MSGPACK_EXT && item.type == TYPED && item.length > 0 && *item.bytes == DOUBLES;
        if (item.kind == API_MSGPACK_ARRAY) continue;
        if (!typed && item.kind != API_MSGPACK_INTEGER && item.kind != API_MSGPACK_FLOAT) break;
        if (!typed && isfinite(item.number)) largest = fmax(largest, fabs(item.number));
        n += typed ? 0 : 1;
        for (size_t i = 1; typed && n < count && item.length - i >= sizeof number; i += sizeof number, n++) {
            memcpy(&number, item.bytes + i, sizeof number);
            if (isfinite(number)) largest = fmax(largest, fabs(number));
        }
    }
    return largest;
}

double api_peek_largest(const api_call *call, const api_input *input, api_field field, size_t count)
{
    const unsigned char *p = find_value(call, input, field);
    if (!p) return 0;
    const unsigned char *end     = (const unsigned char *)input->body + input->length;
    double               largest = call->content == API_MEDIA_CBOR      ? largest_item(p, end, count)
                                   : call->content == API_MEDIA_MSGPACK ? largest_object_of_msgpack(p, end, count)
                                                                        : largest_decimal((const char *)p, (const char *)end, count);
    return isfinite(largest) ? largest : 0;
}

/* A number takes at least 6 bytes in JSON, 8 in CBOR and MessagePack. */
double api_peek_positions(const api_call *call, const api_input *input)
{
    double bytes = call->content == API_MEDIA_JSON ? 6 : 8;
    return (double)input->length / (bytes * (double)(call->model->nq + 1));
}

/* Each iteration factors the Jacobian of the loop equations with respect to the passive coordinates: O(rows passive
 * (rows + passive)), in scalar code. */
double api_closing_step_seconds(const api_model *m)
{
    const double begun = 2e-6, product = 1.5e-9;
    if (!m->loops) return 0;
    double rows = (double)m->loops->rows, passive = (double)m->loops->n_passive;
    return begun + product * rows * passive * (rows + passive);
}
