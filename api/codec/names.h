/* names.h - list the known names, or the nearest ones, in a message about an unknown name. */
#pragma once
#include <stddef.h>

enum { API_NAMES_TEXT = 400 }; /* bytes of a list of names, NUL included */

typedef struct api_names {
    size_t n;
    const char *(*name)(const void *list, size_t i); /* returns the text of name i < n */
    const void *list;
} api_names;

/* Wraps an array of texts, which must outlive the result. */
api_names api_names_from_array(const char *const *texts, size_t n);

/* Writes "; there are: a, b" with all names if they fit, else "; the nearest are: a, b" with up to five names most
 * similar to `unknown`; "" when there are no names. */
void api_names_write(const api_names *names, const char *unknown, char text[API_NAMES_TEXT]);
