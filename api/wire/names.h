/* names.h - the names that would have been right, for a message about one that is not known. */
#pragma once
#include <stddef.h>

enum { API_NAMES_TEXT = 300 }; /* bytes of a list, NUL included */

typedef struct api_names {
    size_t n;
    const char *(*name)(const void *list, size_t i); /* i < n */
    const void *list;
} api_names;

/* Texts that stand in an array. */
api_names api_names_from_array(const char *const *texts, size_t n);

/* "; there are: a, b" with all names if they fit, else "; the nearest are: a, b" with the five most like the one
 * unknown, or fewer if five do not fit; "" for no names. */
void api_names_write(const api_names *names, const char *unknown, char text[API_NAMES_TEXT]);
