/* negotiate.c - see negotiate.h. Media types and quality values: RFC 9110, sections 8.3.1 and 12.4-12.5. */
#include "negotiate.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MOST_NAMES = 4 };

/* Media types of the formats, the registered one first; unused places are NULL. */
static const char *const names[API_FORMAT_COUNT][MOST_NAMES] = {
#define NAMES(NAME, name, suffix, ...) [API_MEDIA_##NAME] = {__VA_ARGS__},
    API_FORMATS(NAMES)
#undef NAMES
};

static const char *const suffixes[API_MEDIA_COUNT] = {
#define SUFFIX(NAME, name, suffix, ...) [API_MEDIA_##NAME] = (suffix),
    API_FORMATS(SUFFIX)
#undef SUFFIX
        [API_MEDIA_CBOR_TYPED]        = "-cbor-typed",
    [API_MEDIA_CBOR_MULTIDIMENSIONAL] = "-cbor",
};

/* Media types with the form of their arrays, as answers to an Accept header that names it. */
static const char *const forms[API_MEDIA_COUNT] = {
    [API_MEDIA_CBOR]                  = "application/cbor; arrays=plain",
    [API_MEDIA_CBOR_TYPED]            = "application/cbor; arrays=typed",
    [API_MEDIA_CBOR_MULTIDIMENSIONAL] = "application/cbor; arrays=multidimensional",
};

static const char *const codings[API_CODING_COUNT] = {
    [API_CODING_NONE] = "identity",
    [API_CODING_ZSTD] = "zstd",
    [API_CODING_GZIP] = "gzip",
};

/* The read position in a header value such as "type/subtype;name=value". */
typedef struct cursor {
    const char *p;
} cursor;

typedef struct span {
    const char *start;
    size_t      length;
} span;

static bool span_is(span s, const char *text)
{
    return strlen(text) == s.length && strncasecmp(s.start, text, s.length) == 0;
}

static void skip_blank(cursor *c)
{
    c->p += strspn(c->p, " \t");
}

static bool take(cursor *c, char byte)
{
    skip_blank(c);
    if (*c->p != byte) return false;
    c->p++;
    return true;
}

static span take_token(cursor *c)
{
    skip_blank(c);
    span s = {c->p, strcspn(c->p, " \t,;=/\"()<>@:\\[]?{}")};
    c->p += s.length;
    return s;
}

/* Reads a token or the inside of a quoted string. An unterminated string extends to the end of the text. */
static span take_value(cursor *c)
{
    if (!take(c, '"')) return take_token(c);
    span s = {c->p, 0};
    while (c->p[0] && c->p[0] != '"')
        c->p += c->p[0] == '\\' && c->p[1] ? 2 : 1;
    s.length = (size_t)(c->p - s.start);
    if (*c->p) c->p++;
    return s;
}

/* Reads the next ";name=value" of a header; false if no parameter follows. */
static bool take_parameter(cursor *c, span *name, span *value)
{
    while (take(c, ';')) {
        *name = take_token(c);
        if (name->length == 0) continue; /* RFC 9110 allows empty parameters */
        *value = take(c, '=') ? take_value(c) : (span){c->p, 0};
        return true;
    }
    return false;
}

const char *api_media_suffix(api_media media)
{
    return suffixes[media];
}

const char *api_formats_text(const char *last, char text[API_FORMATS_TEXT])
{
    size_t n = 0;
    for (int f = 0; f < API_FORMAT_COUNT && n < API_FORMATS_TEXT; f++)
        n += (size_t)snprintf(text + n, API_FORMATS_TEXT - n, "%s%s",
                              f == 0                      ? ""
                              : f == API_FORMAT_COUNT - 1 ? last
                                                          : ", ",
                              names[f][0]);
    return text;
}

const char *api_media_type(api_media media, const api_accepted *accepted)
{
    if (accepted->named && forms[media]) return forms[media];
    return names[api_media_format(media)][accepted->name > 0 ? accepted->name : 0];
}

/* True if a media range with the parameter "arrays" of this value means this media type. Only CBOR has this
 * parameter. */
static bool is_form(span arrays, api_media media)
{
    return !forms[media] || span_is(arrays, strchr(forms[media], '=') + 1);
}

const char *api_coding_name(api_coding coding)
{
    return codings[coding];
}

static bool is_media_type(span type, span subtype, const char *media_type)
{
    size_t slash = strcspn(media_type, "/");
    return type.length == slash && strncasecmp(type.start, media_type, slash) == 0 &&
           span_is(subtype, media_type + slash + 1);
}

/* Returns the index of a media type among those of a format; -1 if it is none. */
static int name_among(span type, span subtype, api_media format)
{
    for (int i = 0; i < MOST_NAMES && names[format][i]; i++)
        if (is_media_type(type, subtype, names[format][i])) return i;
    return -1;
}

/* True for UTF-8, for its common misspelling, and for ASCII, which is a part of it. */
static bool is_utf8(span charset)
{
    return span_is(charset, "utf-8") || span_is(charset, "utf8") || span_is(charset, "us-ascii") ||
           span_is(charset, "ascii");
}

/* Reads "type/subtype" and its parameters. False if the charset is not UTF-8, or if other text follows. */
static bool read_content_type(const char *content_type, span *type, span *subtype)
{
    cursor c = {content_type};
    span   name, value;
    *type    = take_token(&c);
    *subtype = take(&c, '/') ? take_token(&c) : (span){c.p, 0};
    while (take_parameter(&c, &name, &value))
        if (span_is(name, "charset") && !is_utf8(value)) return false;
    skip_blank(&c);
    return *c.p == '\0';
}

api_media api_media_of_content(const char *content_type, int *name)
{
    span type, subtype;
    if (name) *name = 0;
    if (!content_type || content_type[strspn(content_type, " \t")] == '\0') return API_MEDIA_JSON;
    for (int f = 0; f < API_FORMAT_COUNT; f++) /* fast path: most clients send exactly our spelling */
        if (strcmp(content_type, names[f][0]) == 0) return (api_media)f;
    if (!read_content_type(content_type, &type, &subtype)) return API_MEDIA_NONE;
    for (int f = 0; f < API_FORMAT_COUNT; f++) {
        int i = name_among(type, subtype, (api_media)f);
        if (i >= 0 && name) *name = i;
        if (i >= 0) return (api_media)f;
    }
    return API_MEDIA_NONE;
}

bool api_content_type_is(const char *content_type, const char *media_type)
{
    span type, subtype;
    return read_content_type(content_type, &type, &subtype) && is_media_type(type, subtype, media_type);
}

/* Reads a quality value, in thousandths; -1 if malformed:
 *
 *      qvalue = "0" [ "." 0*3DIGIT ] / "1" [ "." 0*3"0" ]    (RFC 9110, section 12.4.2)
 *
 * Also accepts what existing clients send: more than three digits, of which the first three count, and no digit
 * before the point (".2", from Java's HttpURLConnection). */
static int read_quality(span s)
{
    size_t i       = s.length > 0 && (s.start[0] == '0' || s.start[0] == '1');
    int    quality = i && s.start[0] == '1' ? 1000 : 0;
    if (i == s.length) return i ? quality : -1;
    if (s.start[i] != '.' || s.length < 2) return -1;
    for (int unit = 100; ++i < s.length; unit /= 10) {
        if (s.start[i] < '0' || s.start[i] > '9') return -1;
        quality += (s.start[i] - '0') * unit;
        if (quality > 1000) return -1;
    }
    return quality;
}

/* Reads the parameters of a list element up to its end. Returns its quality in thousandths, 1000 if it has none; -1
 * if malformed. Sets `arrays`, unless NULL, to the value of the parameter "arrays" if there is one. */
static int take_quality(cursor *c, span *arrays)
{
    span name, value;
    int  quality = 1000;
    while (take_parameter(c, &name, &value)) {
        if (span_is(name, "q")) quality = read_quality(value);
        if (arrays && span_is(name, "arrays")) *arrays = value;
    }
    skip_blank(c);
    bool ends = *c->p == ',' || *c->p == '\0';
    c->p += strcspn(c->p, ",");
    return ends ? quality : -1;
}

/* The quality of a media type or coding comes from the most specific range that matches it: "type/subtype" before
 * "type/ *" before "* / *". */
typedef struct preference {
    int specificity, quality;
    int name; /* the range names the media type: its index among those of the format */
} preference;

static void prefer(preference *have, preference range)
{
    if (range.specificity > have->specificity ||
        (range.specificity == have->specificity && range.quality > have->quality))
        *have = range;
}

/* Reads "type/subtype". "*" alone, which Java's HttpURLConnection sends, means the same as "* / *". */
static void take_media_range(cursor *c, span *type, span *subtype)
{
    *type    = take_token(c);
    *subtype = take(c, '/') ? take_token(c) : span_is(*type, "*") ? *type : (span){c->p, 0};
}

enum { NAMES_ANY = 1, NAMES_TYPES, NAMES_TYPE, NAMES_FORM /* specificity of a media range */ };

/* Reads one media range with its parameters. Parameters other than q and "arrays" are ignored: our media types have no
 * others. A range with an unknown form of arrays matches nothing. */
static void read_range(cursor *c, preference have[API_MEDIA_COUNT])
{
    span type, subtype, arrays = {NULL, 0};
    take_media_range(c, &type, &subtype);
    int quality = take_quality(c, &arrays);
    if (quality < 0) return; /* a malformed quality: ignore the media range */
    for (int m = 0; m < API_MEDIA_COUNT; m++) {
        int name = name_among(type, subtype, api_media_format((api_media)m));
        if (name >= 0) {
            if (!arrays.start || is_form(arrays, (api_media)m))
                prefer(&have[m], (preference){arrays.start ? NAMES_FORM : NAMES_TYPE, quality, name});
        } else if (span_is(type, "application") && span_is(subtype, "*")) {
            prefer(&have[m], (preference){NAMES_TYPES, quality, -1});
        } else if (span_is(type, "*") && span_is(subtype, "*")) {
            prefer(&have[m], (preference){NAMES_ANY, quality, -1});
        }
    }
}

/* Returns the forms of a format of the greatest quality; among them those that the header names, if it names any. */
static api_accepted best_forms(const preference have[API_MEDIA_COUNT], api_media format)
{
    api_accepted accepted = {0};
    preference   best     = {.name = -1};
    for (int m = 0; m < API_MEDIA_COUNT; m++)
        if (api_media_format((api_media)m) == format &&
            (have[m].quality > best.quality ||
             (have[m].quality == best.quality && have[m].specificity > best.specificity)))
            best = have[m];
    for (int m = 0; best.quality > 0 && m < API_MEDIA_COUNT; m++)
        if (api_media_format((api_media)m) == format && have[m].quality == best.quality &&
            have[m].specificity == best.specificity)
            accepted.media |= 1U << m;
    accepted.named = best.specificity == NAMES_FORM;
    accepted.name  = best.name;
    return accepted;
}

api_accepted api_accept(const char *accept, api_media preferred)
{
    cursor     c                     = {accept ? accept : ""};
    preference have[API_MEDIA_COUNT] = {{0}};
    skip_blank(&c);
    if (*c.p == '\0') c.p = "*/*";
    do
        read_range(&c, have);
    while (take(&c, ','));

    api_media best                      = preferred;
    int       quality[API_FORMAT_COUNT] = {0}; /* the greatest of the media types of a format */
    for (int m = 0; m < API_MEDIA_COUNT; m++) {
        int *greatest = &quality[api_media_format((api_media)m)];
        if (have[m].quality > *greatest) *greatest = have[m].quality;
    }
    for (int f = 0; f < API_FORMAT_COUNT; f++)
        if (quality[f] > quality[best]) best = (api_media)f;
    return best_forms(have, best);
}

api_media api_accepted_media(api_accepted accepted, api_media form)
{
    int m = 0;
    if (accepted.media >> form & 1) return form;
    while (m < API_MEDIA_COUNT && !(accepted.media >> m & 1))
        m++;
    return (api_media)m;
}

/* Reads one media range and updates the preference for the media type `wanted`. */
static void read_range_for(cursor *c, const char *wanted, preference *have)
{
    span type, subtype;
    take_media_range(c, &type, &subtype);
    int    quality = take_quality(c, NULL);
    size_t slash   = strcspn(wanted, "/");
    if (quality < 0) return;
    if (is_media_type(type, subtype, wanted))
        prefer(have, (preference){3, quality, 0});
    else if (type.length == slash && strncasecmp(type.start, wanted, slash) == 0 && span_is(subtype, "*"))
        prefer(have, (preference){2, quality, 0});
    else if (span_is(type, "*") && span_is(subtype, "*"))
        prefer(have, (preference){1, quality, 0});
}

static int quality_of(const char *accept, const char *media_type)
{
    cursor     c    = {accept};
    preference have = {0};
    do
        read_range_for(&c, media_type, &have);
    while (take(&c, ','));
    return have.quality;
}

bool api_accept_names(const char *accept, const char *media_type)
{
    cursor c = {accept ? accept : ""};
    span   type, subtype;
    do {
        take_media_range(&c, &type, &subtype);
        if (take_quality(&c, NULL) > 0 && is_media_type(type, subtype, media_type)) return true;
    } while (take(&c, ','));
    return false;
}

bool api_accept_prefers(const char *accept, const char *type, const char *other)
{
    if (!accept || strcmp(accept, "*/*") == 0) return false;
    return quality_of(accept, type) > quality_of(accept, other);
}

static api_coding coding_named(span coding)
{
    int i = API_CODING_NONE;
    while (i < API_CODING_COUNT && !span_is(coding, codings[i]) && !(i == API_CODING_GZIP && span_is(coding, "x-gzip")))
        i++;
    return (api_coding)i;
}

api_coding api_coding_of_content(const char *content_encoding)
{
    cursor c      = {content_encoding ? content_encoding : ""};
    span   coding = take_token(&c);
    skip_blank(&c);
    if (*c.p) return API_CODING_COUNT; /* several codings applied one after another are not supported */
    return coding.length > 0 ? coding_named(coding) : API_CODING_NONE;
}

/* Reads one element "coding;q=..." or "*;q=..." of Accept-Encoding. */
static void read_coding(cursor *c, preference have[API_CODING_COUNT])
{
    span coding  = take_token(c);
    int  quality = take_quality(c, NULL);
    if (quality < 0) return;
    const api_coding named = coding_named(coding);
    for (int i = 0; i < API_CODING_COUNT; i++)
        if (i == (int)named || span_is(coding, "*"))
            prefer(&have[i], (preference){i == (int)named ? 2 : 1, quality, 0});
}

/* Reads the qualities of all codings. "identity" has quality 0 unless the header names it, and is the fallback (RFC
 * 9110, section 12.5.3). */
static void read_codings(const char *accept_encoding, preference have[API_CODING_COUNT])
{
    cursor c = {accept_encoding};
    do
        read_coding(&c, have);
    while (take(&c, ','));
}

bool api_accepts_gzip(const char *accept_encoding)
{
    preference have[API_CODING_COUNT] = {{0}};
    if (!accept_encoding) return false;
    read_codings(accept_encoding, have);
    return have[API_CODING_GZIP].quality > 0 && have[API_CODING_GZIP].quality >= have[API_CODING_NONE].quality;
}

/* Chooses the coding of the greatest quality. */
api_coding api_coding_by_accept(const char *accept_encoding)
{
    preference have[API_CODING_COUNT] = {{0}};
    if (!accept_encoding) return API_CODING_NONE;
    read_codings(accept_encoding, have);
    api_coding best = API_CODING_NONE;
    for (int i = 0; i < API_CODING_COUNT; i++)
        if (have[i].quality > have[best].quality) best = (api_coding)i;
    return best;
}
