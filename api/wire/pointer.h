/* pointer.h - RFC 6901 pointers into a request, for messages: "/q/17/3", with ~ and / in names escaped. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Built up step by step; copying it is fine, so each level extends a copy of its parent's. */
typedef struct api_pointer {
    char   text[256];
    size_t length;
    bool   truncated; /* it did not fit: there is no pointer */
} api_pointer;

api_pointer api_pointer_root(void);
api_pointer api_pointer_key(const api_pointer *parent, const char *key);
api_pointer api_pointer_index(const api_pointer *parent, size_t index);

/* The text for api_fail: NULL when it was truncated. */
const char *api_pointer_text(const api_pointer *pointer);

/* The value that stands at (or ends before) text[offset], where everything before is well-formed JSON. */
api_pointer api_pointer_at_offset(const char *text, size_t offset);

/* A value's place in a request as a chain of steps from the root (NULL), each on the stack of whoever looks at that
 * value: it costs nothing until there is something to say. */
typedef struct api_place {
    const struct api_place *parent;
    const char             *key; /* NULL: `index` counts */
    size_t                  index;
} api_place;

static inline api_place api_place_key(const api_place *parent, const char *key)
{
    return (api_place){parent, key, 0};
}
static inline api_place api_place_index(const api_place *parent, size_t index)
{
    return (api_place){parent, NULL, index};
}
api_pointer api_place_pointer(const api_place *place);

/* In a request for dynamics, two indices at the end are a batch's row and its entry: the row, -1 if there is none. */
long long api_pointer_row(const char *pointer);
