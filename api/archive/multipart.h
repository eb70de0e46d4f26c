/* multipart.h - read the files of a multipart/form-data body (RFC 7578) in memory. Nothing is copied but names. The
 * boundary is that of the body's first line. */
#pragma once
#include "api/problem.h"

enum { API_MULTIPART_NAME = 2048, API_MULTIPART_BOUNDARY = 80 };

/* A body that is read. */
typedef struct api_multipart {
    const char *bytes;
    size_t      length, offset;
    char        delimiter[API_MULTIPART_BOUNDARY]; /* CR LF, two hyphens and the boundary */
    size_t      delimiter_length;
} api_multipart;

/* A part: a file of a form. */
typedef struct api_multipart_part {
    char name[API_MULTIPART_NAME]; /* the `filename`, or the `name` if that has a slash and the `filename` has none */
    const char *bytes;             /* [length] in the body */
    size_t      length;
} api_multipart_part;

/* True if the bytes begin as a multipart/form-data body. */
bool api_multipart_begins(const char *bytes, size_t length);

/* Reads the boundary. False with `bad-archive`. */
bool api_multipart_open(api_multipart *m, const char *bytes, size_t length, api_problem *problem);

/* Reads the next part. *more is false after the last one. False with `bad-archive`. */
bool api_multipart_next(api_multipart *m, api_multipart_part *part, bool *more, api_problem *problem);
