/* negotiate.h - choose the media type and the content coding of an answer from the request's headers. */
#pragma once
#include <stdbool.h>

/* Formats of bodies under /v1, X(NAME, name, suffix, media types): API_MEDIA_NAME, the constant api_name_format
 * (nodes/format.h), the suffix of entity tags, and media types of which the first is the registered one. Among formats
 * that a client accepts equally, an earlier one is chosen. */
#define API_FORMATS(X)                                                                                                 \
    X(JSON, json, "", "application/json")                                                                              \
    X(CBOR, cbor, "-cbor-plain", "application/cbor")                                                                   \
    X(MSGPACK, msgpack, "-msgpack", "application/vnd.msgpack", "application/msgpack", "application/x-msgpack")

/* Media types of bodies. A request has a format; an answer in CBOR has one of three forms of arrays of numbers, which
 * the parameter "arrays" names: API_MEDIA_CBOR is "plain", nested arrays of floats, as every library reads them. */
typedef enum api_media {
#define API_MEDIA_CONSTANT(NAME, name, suffix, ...) API_MEDIA_##NAME,
    API_FORMATS(API_MEDIA_CONSTANT)
#undef API_MEDIA_CONSTANT
        API_FORMAT_COUNT,
    API_MEDIA_CBOR_TYPED = API_FORMAT_COUNT, /* arrays=typed: the innermost arrays are typed (RFC 8746, tag 86) */
    API_MEDIA_CBOR_MULTIDIMENSIONAL, /* arrays=multidimensional: tag 40 around tag 86; tag 86 for one dimension */
    API_MEDIA_COUNT,
    API_MEDIA_NONE = API_MEDIA_COUNT
} api_media;

/* Returns the format of a media type: CBOR for every form of arrays. */
static inline api_media api_media_format(api_media media)
{
    return media < API_FORMAT_COUNT ? media : API_MEDIA_CBOR;
}

/* True if null stands for a row that failed; false: NaN, in typed arrays. */
static inline bool api_media_has_null(api_media media)
{
    return api_media_format(media) == media;
}

/* Returns the text that ends entity tags of this media type. */
const char *api_media_suffix(api_media media);

/* Writes the registered media types of all formats, such as "a, b or c"; the last two are separated by `last`. */
enum { API_FORMATS_TEXT = 160 };
const char *api_formats_text(const char *last, char text[API_FORMATS_TEXT]);

/* Content codings of JSON answers. */
typedef enum api_coding {
    API_CODING_NONE,
    API_CODING_ZSTD,
    API_CODING_GZIP,
    API_CODING_COUNT,
} api_coding;

const char *api_coding_name(api_coding coding);

/* Returns the format that a Content-Type header names; JSON if the header is NULL or empty. API_MEDIA_NONE for any
 * other type, or a charset other than UTF-8 and ASCII. Sets `name`, unless NULL, to the index of the media type among
 * those of the format. */
api_media api_media_of_content(const char *content_type, int *name);

/* True if a Content-Type header names this media type, "type/subtype", with the charset UTF-8 (also "utf8", "us-ascii"
 * or "ascii") or none. */
bool api_content_type_is(const char *content_type, const char *media_type);

/* The media types of the greatest quality in an Accept header: one format, or one or several forms of CBOR. */
typedef struct api_accepted {
    unsigned media; /* bit 1 << m: media type m; 0: Accept allows none */
    bool     named; /* true: the header names the form of arrays */
    int      name;  /* index of the media type that the header names among those of the format; -1: it names none */
} api_accepted;

/* Reads an Accept header. The format `preferred` is taken if the header is NULL or empty, or if no other has a
 * greater quality. */
api_accepted api_accept(const char *accept, api_media preferred);

/* Returns the text for Content-Type: the media type by its accepted name, with the parameter "arrays" if Accept names
 * it.
 */
const char *api_media_type(api_media media, const api_accepted *accepted);

/* Chooses among accepted media types: `form`, a form of CBOR, if it is accepted, else the first accepted one;
 * API_MEDIA_NONE if none is. */
api_media api_accepted_media(api_accepted accepted, api_media form);

/* Returns the coding that a Content-Encoding header names, "x-gzip" for gzip too; API_CODING_NONE if the header is
 * NULL, empty or "identity", and API_CODING_COUNT for any other. */
api_coding api_coding_of_content(const char *content_encoding);

/* True if the Accept header names this media type itself, not by a range, with a quality above 0. */
bool api_accept_names(const char *accept, const char *media_type);

/* True if the Accept header gives `type` a greater quality than `other`; both are "type/subtype". NULL and empty
 * prefer neither. */
bool api_accept_prefers(const char *accept, const char *type, const char *other);

/* True if the Accept-Encoding header allows gzip, with at least the quality of "identity". */
bool api_accepts_gzip(const char *accept_encoding);

/* Chooses the content coding of the answer from the Accept-Encoding header; none if the header is NULL or empty. Among
 * codings of the greatest quality, the fastest is chosen. If the header allows no supported coding, "identity" is used
 * even if the header refuses it. */
api_coding api_coding_by_accept(const char *accept_encoding);
