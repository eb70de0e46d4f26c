/* pointer.h - build JSON pointers (RFC 6901) into a request for messages: "/q/17/3", with ~ and / in names escaped. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* A JSON pointer that grows step by step. It may be copied: each level extends a copy of its parent's pointer. */
typedef struct api_pointer {
    char   text[256];
    size_t length;
    bool   truncated; /* the text did not fit: messages then contain no pointer */
} api_pointer;

api_pointer api_pointer_root(void);
api_pointer api_pointer_key(const api_pointer *parent, const char *key);
api_pointer api_pointer_index(const api_pointer *parent, size_t index);

/* Returns the text to pass to api_fail; NULL if the text was truncated. */
const char *api_pointer_text(const api_pointer *pointer);

/* Returns the pointer to the JSON value that is at, or ends before, text[offset]; the text before the offset must be
 * well-formed. */
api_pointer api_pointer_at_offset(const char *text, size_t offset);

/* One step of the path of a value in a request: a key or an index, and a link to the parent step; NULL is the root.
 * Each step lives on the stack of the function that reads the value; an api_pointer is only built when a message needs
 * it. */
typedef struct api_place {
    const struct api_place *parent;
    const char             *key; /* NULL: the step is the array index `index` */
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
