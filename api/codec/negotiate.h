/* negotiate.h - choose the media type and the content coding of an answer from the request's headers. */
#pragma once
#include <stdbool.h>

/* Media types of bodies under /v1. */
typedef enum api_media { API_MEDIA_JSON, API_MEDIA_CBOR, API_MEDIA_COUNT, API_MEDIA_NONE = API_MEDIA_COUNT } api_media;

const char *api_media_type(api_media media);

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

/* Chooses the media type of the answer from the Accept header; `preferred` if the header is NULL or empty, or among
 * types of equal quality. API_MEDIA_NONE if Accept allows neither JSON nor CBOR. */
api_media api_media_by_accept(const char *accept, api_media preferred);

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
