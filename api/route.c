/* route.c - see route.h. */
#include "route.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_SEGMENTS = 5 };

typedef struct path {
    size_t n;
    char   segment[MAX_SEGMENTS][API_SEGMENT_MAX];
} path;

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Decodes one segment; false for bad escapes, %00, %2f and what does not fit. */
static bool decode_segment(const char *from, size_t length, char to[API_SEGMENT_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++, n++) {
        if (n + 1 == API_SEGMENT_MAX) return false;
        to[n] = from[i];
        if (from[i] != '%') continue;
        int high = length - i > 2 ? hex_digit(from[i + 1]) : -1;
        int low  = length - i > 2 ? hex_digit(from[i + 2]) : -1;
        if (high < 0 || low < 0) return false;
        to[n] = (char)(high * 16 + low);
        if (to[n] == '\0' || to[n] == '/') return false;
        i += 2;
    }
    to[n] = '\0';
    return true;
}

/* The path of an absolute-form target ("http://host/path"), which servers must accept (RFC 9112, section 3.2.2). */
static const char *path_of(const char *target)
{
    if (strncasecmp(target, "http://", 7) != 0 && strncasecmp(target, "https://", 8) != 0) return target;
    const char *at = strchr(strstr(target, "//") + 2, '/');
    return at ? at : "/";
}

static bool split(const char *target, path *p)
{
    size_t length = strcspn(target, "?");
    if (length == 0 || target[0] != '/') return false;
    for (size_t at = 1; at <= length;) {
        size_t end = at + strcspn(target + at, "/?");
        if (p->n == MAX_SEGMENTS || !decode_segment(target + at, end - at, p->segment[p->n])) return false;
        p->n++;
        at = end + 1;
    }
    return true;
}

/* Moves `at` from a pattern's slash to the next one or the end; false when the segment between is another. */
static bool match_segment(const char **at, const char *segment, bool *captured)
{
    const char *p = *at + 1;
    *captured     = *p == '{';
    while (*p && *p != '/' && (*captured || *p == *segment))
        p++, segment++;
    *at = p;
    return *captured || ((*p == '\0' || *p == '/') && *segment == '\0');
}

static bool matches(const char *pattern, const path *p, api_route *route)
{
    size_t i = 0, n = 0;
    bool   captured;
    for (const char *at = pattern; *at == '/'; i++) {
        if (i == p->n || p->segment[i][0] == '\0' || !match_segment(&at, p->segment[i], &captured)) return false;
        if (captured) strcpy(route->capture[n++], p->segment[i]);
    }
    return i == p->n;
}

bool api_route_find(const char *target, api_route *route)
{
    const char *at = path_of(target);
    path        p  = {.n = 0};
    *route         = (api_route){0};
    if (!split(at, &p)) return false;
    at += strcspn(at, "?");
    route->query = *at ? at + 1 : NULL;
    for (const api_resource *r = api_resources; r->pattern; r++) {
        if (!matches(r->pattern, &p, route)) continue;
        route->resource = r;
        return true;
    }
    return false;
}

static const char *const method_names[API_METHOD_COUNT] = {
    [API_GET] = "GET", [API_PUT] = "PUT", [API_POST] = "POST", [API_DELETE] = "DELETE"};

api_method_kind api_method_of(const char *name, api_method *method)
{
    *method = API_GET;
    if (strcmp(name, "PATCH") == 0) return API_KIND_KNOWN;
    if (strcmp(name, "HEAD") == 0) return API_KIND_HEAD;
    if (strcmp(name, "OPTIONS") == 0) return API_KIND_OPTIONS;
    for (int m = 0; m < API_METHOD_COUNT; m++) {
        if (strcmp(name, method_names[m]) != 0) continue;
        *method = (api_method)m;
        return API_KIND_PLAIN;
    }
    return API_KIND_UNKNOWN;
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
