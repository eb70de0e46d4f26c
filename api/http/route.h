/* route.h - from a request's target to a resource. A target is split on `/` before percent-decoding (RFC 3986,
 * section 2.4), so no escape can add or remove a segment. */
#pragma once
#include "api/problem.h"
#include <stdbool.h>
#include <stddef.h>

#define API_SEGMENT_MAX 128 /* bytes of a decoded path segment with its NUL; longer ones lead nowhere */

struct api_call;
struct api_input;

typedef enum api_method { API_GET, API_PUT, API_POST, API_DELETE, API_METHOD_COUNT } api_method;

/* Answers a call: sets its reply, or fails the problem and returns false. GET handlers run in api_begin with input
 * NULL, the others in api_run. */
typedef bool api_handler(struct api_call *call, const struct api_input *input, api_problem *problem);

typedef struct api_resource {
    const char  *pattern;                   /* "/v1/models/{model}"; a {segment} matches anything */
    api_handler *handler[API_METHOD_COUNT]; /* NULL: method not allowed */
    api_handler *exists;                    /* whether the {segments} name something; NULL: always */
} api_resource;

/* All resources; ends with a NULL pattern. In api.c. */
extern const api_resource api_resources[];

typedef struct api_route {
    const api_resource *resource;
    const char         *query;                       /* behind the `?`, into the target; NULL: none */
    char                capture[2][API_SEGMENT_MAX]; /* what the {segments} matched, decoded */
} api_route;

/* False: nothing lives there (or an escape is bad, or decodes to NUL or a slash). */
bool api_route_find(const api_resource *resources, const char *target, api_route *route);

typedef enum api_method_kind {
    API_KIND_PLAIN, /* *method is set */
    API_KIND_HEAD,  /* *method is API_GET, without the body */
    API_KIND_OPTIONS,
    API_KIND_KNOWN,  /* of HTTP, but taken nowhere here: 405 */
    API_KIND_UNKNOWN /* 501 */
} api_method_kind;
api_method_kind api_method_of(const char *name, api_method *method);

/* "GET, HEAD, ..., OPTIONS" */
void api_route_allow(const api_resource *resource, char *text, size_t size);
