/* negotiate.h - choose the media type and the content coding of an answer from the request's headers. */
#pragma once
#include <stdbool.h>

/* Media types of bodies under /v1. A request is JSON, API_MEDIA_CBOR, whatever its arrays are, or MessagePack; an
 * answer in CBOR has one of three forms of arrays of numbers, which the parameter "arrays" names. */
typedef enum api_media {
    API_MEDIA_JSON,
    API_MEDIA_CBOR,                  /* arrays=plain: nested CBOR arrays of floats, as every library reads them */
    API_MEDIA_CBOR_TYPED,            /* arrays=typed: the innermost arrays are typed (RFC 8746, tag 86) */
    API_MEDIA_CBOR_MULTIDIMENSIONAL, /* arrays=multidimensional: tag 40 around tag 86; tag 86 for one dimension */
    API_MEDIA_MSGPACK,               /* nested arrays of 64-bit floats; also named msgpack and x-msgpack */
    API_MEDIA_COUNT,
    API_MEDIA_NONE = API_MEDIA_COUNT
} api_media;

/* Returns the text for Content-Type; with the parameter "arrays" if `named`. */
const char *api_media_type(api_media media, bool named);

/* Returns the encoding of a media type: JSON, MessagePack, or CBOR for every form of arrays. */
static inline api_media api_media_encoding(api_media media)
{
    return media == API_MEDIA_CBOR_TYPED || media == API_MEDIA_CBOR_MULTIDIMENSIONAL ? API_MEDIA_CBOR : media;
}

/* True if null stands for a row that failed; false: NaN, in typed arrays. */
static inline bool api_media_has_null(api_media media)
{
    return api_media_encoding(media) == media;
}

/* Content codings of JSON answers. */
typedef enum api_coding {
    API_CODING_NONE,
    API_CODING_ZSTD,
    API_CODING_GZIP,
    API_CODING_COUNT,
} api_coding;

const char *api_coding_name(api_coding coding);

/* Returns the media type that a Content-Type header names; JSON if the header is NULL or empty. API_MEDIA_NONE for any
 * other type, or a charset other than UTF-8 and ASCII. */
api_media api_media_of_content(const char *content_type);

/* True if a Content-Type header names this media type, "type/subtype", with the charset UTF-8 (also "utf8", "us-ascii"
 * or "ascii") or none. */
bool api_content_type_is(const char *content_type, const char *media_type);

/* The media types of the greatest quality in an Accept header: JSON or MessagePack alone, or one or several forms of
 * CBOR. */
typedef struct api_accepted {
    unsigned media; /* bit 1 << m: media type m; 0: Accept allows none */
    bool     named; /* true: the header names the form of arrays */
} api_accepted;

/* Reads an Accept header. `preferred`, an encoding, is taken if the header is NULL or empty, or if no other has a
 * greater quality; among others of the same quality JSON comes first, then CBOR. */
api_accepted api_accept(const char *accept, api_media preferred);

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
