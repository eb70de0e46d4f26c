/* format.h - describe a format of bodies: how a request is read, an answer written, and a request's cost estimated
 * before it is read. A format is a folder of api/codec with one such constant, and a row of API_FORMATS. */
#pragma once
#include "node_read.h"

/* Kinds of heads: the major types of CBOR (RFC 8949, section 3.1), which name the heads of other formats too. */
enum { CBOR_UNSIGNED, CBOR_NEGATIVE, CBOR_BYTES, CBOR_TEXT, CBOR_ARRAY, CBOR_MAP, CBOR_TAG };

enum { API_HEAD_MAX = 9 };

/* Writing of a binary format, whose numbers are the byte `number` and a 64-bit float in network byte order. */
typedef struct api_binary {
    /* Writes the shortest head of a kind, for a negative integer -1 - argument; returns its length. Answers have bytes
     * and tags only in CBOR. */
    size_t (*head)(unsigned char head[API_HEAD_MAX], unsigned kind, uint64_t argument);
    unsigned char no, yes, null, number;
} api_binary;

typedef struct api_format {
    bool (*read)(const api_read_options *r, const char *body, size_t length, api_node *root); /* see api_read_request */
    const api_binary *binary;       /* writing of answers by emit.h; NULL: as JSON text */
    unsigned char     text;         /* first byte of an empty text; the length is added to it. 0: texts are in quotes */
    double            number_bytes; /* least bytes of a number among the coordinates of states */
    /* Return the number at p, and the largest magnitude of the finite numbers among the first `count` in the arrays at
     * p; 0 if there is none. */
    double (*number)(const unsigned char *p, const unsigned char *end);
    double (*largest)(const unsigned char *p, const unsigned char *end, size_t count);
} api_format;

/* Returns the format of a media type. */
const api_format *api_format_of(api_media media);
