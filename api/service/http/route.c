/* route.c - see route.h. */
#define _GNU_SOURCE /* strchrnul */
#include "route.h"
#include "api/codec/escape.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_SEGMENTS = 5 };

typedef struct path {
    size_t n;
    char   segment[MAX_SEGMENTS][API_SEGMENT_MAX];
} path;

/* Decodes the escape "%xx" at `from`; returns 0 if it is malformed, %00 or %2f, which a segment must not contain. */
static char decode_escape(const char *from)
{
    int byte = api_percent_decode(from);
    return (char)(byte < 0 || byte == '/' ? 0 : byte);
}

static const bool is_special[256] = {['\0'] = true, ['/'] = true, ['?'] = true, ['%'] = true};

/* Decodes the segment at `from` and returns its end; NULL if an escape is malformed. A segment that is too long is cut:
 * what remains is longer than any literal segment and any name, so that its refusal names the model, not the path. */
static const char *decode_segment(const char *from, char to[API_SEGMENT_MAX])
{
    for (size_t n = 0;;) {
        char byte = *from;
        if (!is_special[(unsigned char)byte]) {
            from++;
        } else if (byte != '%') {
            to[n] = '\0';
            return from;
        } else {
            byte = decode_escape(from);
            if (byte == '\0') return NULL;
            from += 3;
        }
        if (n + 1 < API_SEGMENT_MAX) to[n++] = byte;
    }
}

const char *api_target_path(const char *target)
{
    if (*target == '/' || (strncasecmp(target, "http://", 7) != 0 && strncasecmp(target, "https://", 8) != 0))
        return target;
    const char *cursor = strchr(strstr(target, "//") + 2, '/');
    return cursor ? cursor : "/";
}

/* Splits a path into decoded segments. Returns the end of the path (`?` or NUL); NULL if malformed. */
static const char *split(const char *cursor, path *p)
{
    if (*cursor != '/') return NULL;
    for (p->n = 0; cursor && *cursor == '/'; p->n++)
        cursor = p->n < MAX_SEGMENTS ? decode_segment(cursor + 1, p->segment[p->n]) : NULL;
    return cursor;
}

/* Compares a segment of the path with the segment of the pattern after the slash at `*cursor`, and moves `*cursor` to
 * the pattern's next slash or end. False if the segments differ. */
static bool match_segment(const char **cursor, const char *segment)
{
    const char *p = *cursor + 1;
    if (*p == '{') {
        *cursor = strchrnul(p, '/');
        return true;
    }
    while (*p && *p != '/' && *p == *segment)
        p++, segment++;
    *cursor = p;
    return (*p == '\0' || *p == '/') && *segment == '\0';
}

static bool matches(const char *pattern, const path *p)
{
    size_t i = 0;
    if (pattern[1] == '\0') return p->n == 1 && p->segment[0][0] == '\0';
    for (const char *cursor = pattern; *cursor == '/'; i++)
        if (i == p->n || p->segment[i][0] == '\0' || !match_segment(&cursor, p->segment[i])) return false;
    return i == p->n;
}

static void capture(const char *pattern, const path *p, api_route *route)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++, pattern = strchrnul(pattern + 1, '/'))
        if (pattern[1] == '{') strcpy(route->capture[n++], p->segment[i]);
}

bool api_route_find(const api_resource *resources, const char *target, api_route *route)
{
    path        p;
    const char *end      = split(api_target_path(target), &p);
    route->resource      = NULL;
    route->query         = end && *end ? end + 1 : NULL;
    route->capture[0][0] = route->capture[1][0] = '\0';
    if (!end) return false;
    for (const api_resource *r = resources; r->pattern; r++) {
        if (!matches(r->pattern, &p)) continue;
        route->resource = r;
        capture(r->pattern, &p, route);
        return true;
    }
    return false;
}

bool api_route_without_slash(const api_resource *resources, const char *target, char *to, size_t size)
{
    api_route   route;
    const char *from   = api_target_path(target);
    size_t      length = strcspn(from, "?");
    if (length < 3 || from[length - 1] != '/' || strlen(from) > size) return false;
    snprintf(to, size, "%.*s%s", (int)length - 1, from, from + length);
    return api_route_find(resources, to, &route) && route.resource->handler[API_GET];
}

static const char *const method_names[API_METHOD_COUNT] = {
    [API_GET] = "GET", [API_PUT] = "PUT", [API_POST] = "POST", [API_DELETE] = "DELETE"};

api_method_kind api_method_of(const char *name, api_method *method)
{
    for (int m = 0; m < API_METHOD_COUNT; m++) {
        if (strcmp(name, method_names[m]) != 0) continue;
        *method = (api_method)m;
        return API_KIND_PLAIN;
    }
    *method = API_GET;
    if (strcmp(name, "PATCH") == 0) return API_KIND_KNOWN;
    if (strcmp(name, "HEAD") == 0) return API_KIND_HEAD;
    return strcmp(name, "OPTIONS") == 0 ? API_KIND_OPTIONS : API_KIND_UNKNOWN;
}

void api_route_allow(const api_resource *resource, char *text, size_t size)
{
    size_t n = 0;
    for (int m = 0; m < API_METHOD_COUNT; m++) {
        if (!resource->handler[m]) continue;
        n += (size_t)snprintf(text + n, size - n, "%s, %s", method_names[m], m == API_GET ? "HEAD, " : "");
    }
    snprintf(text + n, size - n, "OPTIONS");
}
