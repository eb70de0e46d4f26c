/* route.h - find the resource of a request's target. The target is split at `/` before percent-decoding (RFC 3986,
 * section 2.4), so that no escape can add or remove a segment. */
#pragma once
#include "api/problem.h"
#include <stdbool.h>
#include <stddef.h>

/* Bytes of a decoded path segment with its NUL, more than any literal segment and any name; a longer segment is cut. */
#define API_SEGMENT_MAX 128

struct api_call;
struct api_input;

typedef enum api_method { API_GET, API_PUT, API_POST, API_DELETE, API_METHOD_COUNT } api_method;

/* Handles a call: sets its reply, or returns false with a problem. GET handlers run in api_begin with input NULL,
 * handlers of other methods in api_run. */
typedef bool api_handler(struct api_call *call, const struct api_input *input, api_problem *problem);

typedef struct api_resource {
    const char  *pattern;                   /* such as "/v1/models/{model}"; a {segment} matches any text */
    api_handler *handler[API_METHOD_COUNT]; /* one handler per method; NULL: method not allowed */
    api_handler *exists;                    /* true if the {segments} name an existing thing; NULL: they always do */
    bool         has_page;                  /* true: GET answers HTML or JSON, by Accept */
    bool         is_long;                   /* true: GET runs in api_run, on a worker, as methods with a body do */
} api_resource;

/* The table of all resources, in api.c; ends with a NULL pattern. */
extern const api_resource api_resources[];

typedef struct api_route {
    const api_resource *resource;
    const char         *query;                       /* the text after `?`, within the target; NULL: none */
    char                capture[2][API_SEGMENT_MAX]; /* texts of the {segments}, decoded */
} api_route;

/* Returns the path of a target. Skips scheme and host of the absolute form ("http://host/path"), which servers must
 * accept (RFC 9112, section 3.2.2). */
const char *api_target_path(const char *target);

/* Finds the resource of a target, and the texts of its {segments}. False if no resource has this path, or an escape is
 * malformed or decodes to NUL or a slash. */
bool api_route_find(const api_resource *resources, const char *target, api_route *route);

/* Writes the target without the slash at the end of its path, if a resource with GET has that path. False otherwise,
 * or if `size` is too small. */
bool api_route_without_slash(const api_resource *resources, const char *target, char *to, size_t size);

typedef enum api_method_kind {
    API_KIND_PLAIN, /* a method with handlers; `*method` is set */
    API_KIND_HEAD,  /* HEAD: `*method` is API_GET, and the reply has no body */
    API_KIND_OPTIONS,
    API_KIND_KNOWN,  /* a standard method that no resource here accepts: 405 */
    API_KIND_UNKNOWN /* an unknown method: 501 */
} api_method_kind;
api_method_kind api_method_of(const char *name, api_method *method);

/* Writes the value of a resource's Allow header: "GET, HEAD, ..., OPTIONS". */
void api_route_allow(const api_resource *resource, char *text, size_t size);
