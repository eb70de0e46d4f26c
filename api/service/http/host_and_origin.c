/* host_and_origin.c - two middlewares (middleware.h): refuse foreign names in Host, and let listed web origins read
 * answers.
 *
 * Both protect people whose browser reaches this server from pages of other sites. DNS rebinding: a site lets its own
 * name resolve to an address of this server, so that the browser takes both for one site; the Host header still
 * carries that name. Cross-origin reading: browsers hand an answer to a page of another origin only if the answer
 * names that origin (CORS, in the Fetch standard of WHATWG). Nothing here allocates, since every request passes. */
#include "middleware.h"
#include <string.h>
#include <strings.h>

#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* A part of a text. */
typedef struct piece {
    const char *start;
    size_t      length;
} piece;

static bool piece_is(piece p, const char *text)
{
    return strlen(text) == p.length && strncasecmp(p.start, text, p.length) == 0;
}

/* Moves to the next element of a list separated by commas. False after the last one. Start with `*element` zero. */
static bool next_element(const char *list, piece *element)
{
    const char *start = element->start ? element->start + element->length : list;
    if (element->start) {
        if (*start == '\0') return false;
        start++;
    }
    *element = (piece){start, strcspn(start, ",")};
    return true;
}

static bool is_listed(const char *list, piece wanted)
{
    piece element = {0};
    while (next_element(list, &element))
        if (element.length == wanted.length && strncasecmp(element.start, wanted.start, wanted.length) == 0)
            return true;
    return false;
}

/* --- hosts ------------------------------------------------------------------------------------------------------ */

/* Reads host [ ":" port ]. The brackets of an IPv6 address belong to the host. Length 0: malformed. */
static piece read_host(piece authority)
{
    const char *text = authority.start, *end = text + authority.length;
    const char *stop = memchr(text, authority.length > 0 && *text == '[' ? ']' : ':', authority.length);
    if (stop && *stop == ']') stop++;
    if (authority.length > 0 && *text == '[' && !stop) return (piece){text, 0};
    piece host = {text, (size_t)((stop ? stop : end) - text)};
    if (stop == NULL || stop == end) return host;
    bool port = *stop == ':' && strspn(stop + 1, DIGITS) >= (size_t)(end - stop - 1);
    return port ? host : (piece){text, 0};
}

/* True for [...] of an IPv6 address. No name has brackets, so its digits need no check. */
static bool is_ipv6(piece host)
{
    return host.length > 3 && *host.start == '[' && strspn(host.start + 1, DIGITS "abcdefABCDEF:.") == host.length - 2;
}

/* True for four numbers from 0 to 255 with dots between. */
static bool is_ipv4(piece host)
{
    size_t at = 0, numbers = 0;
    for (; numbers < 4; numbers++) {
        if (numbers > 0 && (at == host.length || host.start[at++] != '.')) return false;
        size_t digits = strspn(host.start + at, DIGITS);
        int    value  = 0;
        if (digits == 0 || digits > 3 || at + digits > host.length) return false;
        for (size_t i = 0; i < digits; i++)
            value = 10 * value + host.start[at + i] - '0';
        if (value > 255) return false;
        at += digits;
    }
    return at == host.length;
}

/* True if all characters may stand in a host name. */
static bool is_name(piece text)
{
    return text.length > 0 && strspn(text.start, LETTERS DIGITS "-._") >= text.length;
}

/* True for names that always mean this machine (RFC 6761, section 6.3), and for those of Debian's /etc/hosts. */
static bool is_loopback_name(piece host)
{
    static const char under[] = ".localhost";
    size_t            length  = sizeof under - 1;
    if (host.length > length && strncasecmp(host.start + host.length - length, under, length) == 0) return true;
    return piece_is(host, "localhost") || piece_is(host, "ip6-localhost") || piece_is(host, "ip6-loopback");
}

static bool is_allowed(piece authority, const char *hosts)
{
    piece host = read_host(authority);
    if (is_ipv4(host) || is_ipv6(host)) return true;
    if (host.length > 1 && host.start[host.length - 1] == '.') host.length--; /* the root of DNS */
    return is_name(host) && (is_loopback_name(host) || (hosts && is_listed(hosts, host)));
}

/* Returns the host that the request asks, with its port: that of an absolute target, with which Host is ignored (RFC
 * 9112, section 3.2.2), else that of Host. start is NULL: HTTP/1.0 without Host. */
static piece find_host(const api_request *request)
{
    const char *target = *request->target == '/' ? NULL : strstr(request->target, "://");
    if (target) return (piece){target + 3, strcspn(target + 3, "/?#")};
    return request->host ? (piece){request->host, strlen(request->host)} : (piece){NULL, 0};
}

/* The host must be an IP address, a loopback name, or listed in --host. Without that list any name is allowed, unless
 * the connection was accepted on a loopback address. */
bool api_check_host(api_call *call, const api_request *request, api_problem *problem)
{
    const char *hosts = call->api->hosts;
    const piece host  = find_host(request);
    if ((!hosts && !request->on_loopback) || !host.start || is_allowed(host, hosts)) return true;
    bool named = host.start == request->host;
    return api_fail(problem, API_MISDIRECTED_REQUEST, NULL,
                    "this server does not answer to %s%.*s%s; start it with --host to add a name",
                    named ? "Host: " : "the host ", (int)(host.length < 100 ? host.length : 100), host.start,
                    named ? "" : " of the request's absolute target");
}

bool api_hosts_are_valid(const char *list)
{
    piece name = {0};
    while (next_element(list, &name)) {
        if (!is_name(name) || name.length > 253 || *name.start == '.' || name.start[name.length - 1] == '.')
            return false;
    }
    return true;
}

/* --- origins ---------------------------------------------------------------------------------------------------- */

/* True if the list names this origin, or is `*`, which names all. */
static bool origin_is_listed(const char *origins, const char *origin)
{
    return strcmp(origins, "*") == 0 || is_listed(origins, (piece){origin, strlen(origin)});
}

/* Lets pages of a listed origin read the answer, headers included. */
static bool admit_origin(api_call *call, const char *origin)
{
    const char *list = call->api->origins;
    if (!list) return false;
    api_reply_vary(call, API_VARY_ORIGIN);
    if (!origin || !origin_is_listed(list, origin)) return false;
    api_reply_header(call, "Access-Control-Allow-Origin", strcmp(list, "*") == 0 ? list : origin);
    api_reply_static_header(
        call, "Access-Control-Expose-Headers",
        "Arithmetic, ETag, Model-Change, Model-Revision, Request-Id, Retry-After, Server-Timing, traceparent");
    return true;
}

/* A preflight succeeds for every path, so that the page can read the answer to the request itself. */
bool api_admit_origin(api_call *call, const api_request *request, api_problem *problem)
{
    (void)problem;
    bool preflight = call->kind == API_KIND_OPTIONS && request->preflight_method;
    if (!admit_origin(call, request->origin) || !preflight) return true;
    api_reply_static_header(call, "Access-Control-Allow-Methods", "GET, HEAD, PUT, POST, DELETE");
    api_reply_static_header(call, "Access-Control-Allow-Headers",
                            "Accept, Authorization, Content-Encoding, Content-Type, If-Match, If-None-Match, "
                            "Model-Change, Model-Revision, Request-Id, Request-Timeout, traceparent");
    api_reply_static_header(call, "Access-Control-Max-Age", "600");
    api_reply_empty(call, 204);
    return false;
}

/* True for scheme "://" host [ ":" port ], as browsers send it. */
static bool is_origin(piece text)
{
    size_t scheme = strspn(text.start, LETTERS DIGITS "+-."), most = sizeof "://" - 1;
    if (scheme == 0 || scheme + most >= text.length || strncmp(text.start + scheme, "://", most) != 0) return false;
    piece host = read_host((piece){text.start + scheme + most, text.length - scheme - most});
    if (text.start[text.length - 1] == ':') return false;
    return is_ipv6(host) || is_name(host);
}

bool api_origins_are_valid(const char *list)
{
    piece origin = {0};
    if (strcmp(list, "*") == 0) return true;
    while (next_element(list, &origin))
        if (!is_origin(origin) || origin.length > 300) return false;
    return true;
}
