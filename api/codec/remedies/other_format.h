/* other_format.h - name the format that a body really has when it is not the one that its headers name. */
#pragma once
#include <stddef.h>

/* The format that the headers name. */
typedef enum api_body_format { API_BODY_JSON, API_BODY_CBOR, API_BODY_MSGPACK } api_body_format;

/* Returns the name of another format or encoding that the first bytes show, with its remedy; NULL if the body may be in
 * the format `expected`, or shows no other. Bodies in CBOR and MessagePack are asked about once they could not be read.
 */
const char *api_other_format(api_body_format expected, const char *body, size_t length);
