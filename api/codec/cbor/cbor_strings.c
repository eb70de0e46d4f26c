/* cbor_strings.c - read strings of CBOR: join their parts, and resolve references to strings (stringref, tags 25 and
 * 256; http://cbor.schmorp.de/stringref). */
#include "cbor_reader.h"
#include <string.h>

enum { FIRST_STRINGS = 64 };

bool api_cbor_join_parts(api_cbor_reader *r, api_cbor_item *string)
{
    api_cbor_item part;
    if (!string->indefinite) return true;
    size_t start = r->cursor.position, bytes = 0;
    char  *whole = NULL;
    for (int pass = 0; pass < 2; pass++) { /* the first pass measures the parts, the second copies them */
        r->cursor.position = start;
        bytes              = 0;
        r->look            = start;
        while (api_cbor_goes_on(r) && api_cbor_next(&r->cursor, &part) && part.kind == string->kind &&
               !part.indefinite) {
            if (whole && part.length > 0) memcpy(whole + bytes, part.bytes, part.length);
            bytes += part.length;
        }
        if (r->cursor.problem->code != API_NO_PROBLEM) return false;
        if (part.kind != API_CBOR_BREAK)
            return api_cbor_fail(&r->cursor, part.offset, "%s among the parts of %s", api_cbor_kind_text(part.kind),
                                 api_cbor_kind_text(string->kind));
        if (!whole && !(whole = api_take(r->build.pool, bytes + 1))) return false;
    }
    string->bytes  = (const unsigned char *)whole;
    string->length = bytes;
    return true;
}

/* Returns the length from which on a string is listed: a shorter one is not longer than the reference number `n`. */
static size_t shortest_listed(size_t n)
{
    return n < 24 ? 3 : n <= UINT8_MAX ? 4 : n <= UINT16_MAX ? 5 : n <= UINT32_MAX ? 7 : 11;
}

static bool list_string(api_cbor_reader *r, const api_cbor_item *string)
{
    if (string->length < shortest_listed(r->n_strings)) return true;
    if (r->n_strings == r->strings_capacity) {
        size_t           capacity = r->strings_capacity > 0 ? 2 * r->strings_capacity : FIRST_STRINGS;
        api_cbor_string *strings  = api_take(r->build.pool, capacity * sizeof *strings);
        if (!strings) return false;
        if (r->n_strings > 0) memcpy(strings, r->strings, r->n_strings * sizeof *strings);
        r->strings          = strings;
        r->strings_capacity = capacity;
    }
    r->strings[r->n_strings++] = (api_cbor_string){string->kind, string->bytes, string->length};
    return true;
}

/* Replaces the tag 25 by the string that its number references. */
static bool resolve(api_cbor_reader *r, api_cbor_item *item)
{
    api_cbor_item number;
    if (!api_cbor_next(&r->cursor, &number)) return false;
    if (number.kind != API_CBOR_NUMBER || !number.is_unsigned)
        return api_cbor_refuse_kind(r, &number, "the number of a string (tag 25)");
    if (number.value >= r->n_strings)
        return api_cbor_refuse(r, API_BAD_VALUE, "a reference to string %llu given (tag 25), %zu strings precede",
                               (unsigned long long)number.value, r->n_strings);
    const api_cbor_string *s = &r->strings[number.value];
    *item = (api_cbor_item){.kind = s->kind, .bytes = s->bytes, .length = s->length, .offset = item->offset};
    return true;
}

bool api_cbor_goes_on(api_cbor_reader *r)
{
    r->late = !api_read_goes_on(r->options, r->cursor.position, &r->look);
    return !r->late;
}

bool api_cbor_next_item(api_cbor_reader *r, api_cbor_item *item)
{
    if (!api_cbor_goes_on(r)) return false;
    if (!api_cbor_next(&r->cursor, item)) return false;
    if (!r->references) return true;
    if (item->kind == API_CBOR_TAG && item->value == CBOR_TAG_STRING) return resolve(r, item);
    bool is_string = item->kind == API_CBOR_TEXT || item->kind == API_CBOR_BYTES;
    return !is_string || item->indefinite || list_string(r, item);
}
