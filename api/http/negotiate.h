/* negotiate.h - which encodings a request is in and asks for. */
#pragma once
#include <stdbool.h>

/* What bodies under /v1 can be in. */
typedef enum api_media { API_MEDIA_JSON, API_MEDIA_CBOR, API_MEDIA_COUNT, API_MEDIA_NONE = API_MEDIA_COUNT } api_media;

const char *api_media_type(api_media media);

/* What bytes of JSON can be coded in on their way. */
typedef enum api_coding {
    API_CODING_NONE,
    API_CODING_ZSTD,
    API_CODING_GZIP,
    API_CODING_COUNT,
} api_coding;

const char *api_coding_name(api_coding coding);

/* The encoding a Content-Type names (NULL or empty: JSON). NONE when it is another, or when its charset is not
 * UTF-8. */
api_media api_media_of_content(const char *content_type);

/* True when a Content-Type names this media type, "type/subtype", in UTF-8. */
bool api_content_type_is(const char *content_type, const char *media_type);

/* The encoding to answer in, by Accept (NULL or empty: anything). `own` is preferred among equals. NONE when
 * nothing we have is acceptable. */
api_media api_media_by_accept(const char *accept, api_media own);

/* The coding to answer in, by Accept-Encoding (NULL or empty: none): of those with the greatest quality the cheapest to
 * make, and none when it is not worse. That "identity" is refused and nothing else we have is taken, is not heeded. */
api_coding api_coding_by_accept(const char *accept_encoding);
