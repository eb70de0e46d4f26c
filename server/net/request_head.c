/* request_head.c - see request_head.h.
 *
 * If a proxy and the server disagree about a request's length, an attacker can smuggle a second request past the
 * proxy. Therefore the rules are strict. One Content-Length or one Transfer-Encoding, not both. The only transfer
 * coding is chunked, and not in HTTP/1.0. Header names are tokens (RFC 9110, section 5.1). No folded lines
 * (libmicrohttpd would append the continuation to the name). One Host, which only HTTP/1.0 may omit (RFC 9112,
 * section 3.2). No blanks in the target (section 3). */
#include "request_head.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WANTED(name, member)                                                                                           \
    {                                                                                                                  \
        name, sizeof name - 1, offsetof(srv_head, member)                                                              \
    }
static const struct {
    const char *name;
    size_t      length, offset;
} wanted[] = {
    WANTED("Accept", request.accept),
    WANTED("Accept-Encoding", request.accept_encoding),
    WANTED("Authorization", authorization),
    WANTED("Access-Control-Request-Method", request.preflight_method),
    WANTED("Content-Type", request.content_type),
    WANTED("Content-Encoding", request.content_encoding),
    WANTED("Forwarded", forwarded),
    WANTED("Host", request.host),
    WANTED("If-Match", request.if_match),
    WANTED("If-None-Match", request.if_none_match),
    WANTED("Origin", request.origin),
    WANTED("Request-Id", request.request_id),
    WANTED("Request-Timeout", request.request_timeout),
    WANTED("traceparent", request.traceparent),
    WANTED("X-Forwarded-For", x_forwarded_for),
};
enum { N_WANTED = sizeof wanted / sizeof wanted[0] };

typedef struct reading {
    srv_head *head;
    unsigned  lengths, codings, hosts;
    bool      no_memory;
} reading;

static void note_problem(srv_head *head, const char *message, const char *name)
{
    if (!*head->problem) snprintf(head->problem, sizeof head->problem, "%s \"%.60s\".", message, name);
}

/* characters of a token (RFC 9110, section 5.6.2) */
static const bool is_tchar[256] = {
    ['!'] = true, ['#'] = true, ['$'] = true, ['%'] = true,         ['&'] = true,         ['\''] = true,
    ['*'] = true, ['+'] = true, ['-'] = true, ['.'] = true,         ['^'] = true,         ['_'] = true,
    ['`'] = true, ['|'] = true, ['~'] = true, ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true};

static bool is_token(const char *name, size_t length)
{
    bool good = length > 0;
    for (size_t i = 0; i < length; i++)
        good &= is_tchar[(unsigned char)name[i]];
    return good;
}

/* True if a header was continued on a second line. libmicrohttpd keeps a value in its buffer directly after the name
 * and the colon, but moves the name of a folded header. */
static bool is_folded(const char *name, size_t length, const char *value)
{
    const char *colon = name + length;
    if (value <= colon) return true;
    /* Fast path: one space follows the colon, as in most requests. */
    if (value == colon + 2 && colon[1] == ' ') return false;
    return strspn(colon + 1, " \t") < (size_t)(value - colon - 1);
}

/* Stores a header value, without trailing blanks, which libmicrohttpd leaves (RFC 9110, section 5.5). A repeated
 * header becomes the comma-separated list of its values (section 5.3). False: no memory. */
static bool add_value(srv_head *head, const char **field, const char *value, size_t length)
{
    bool blanks = false;
    for (; length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'); length--)
        blanks = true;
    if (!*field && !blanks) {
        *field = value;
        return true;
    }
    const char *before = *field ? *field : "", *comma = *field ? ", " : "";
    size_t      size = strlen(before) + length + 3;
    char       *both = malloc(size);
    if (!both) return false;
    snprintf(both, size, "%s%s%.*s", before, comma, (int)length, value);
    for (size_t i = 0; i < head->n_joined; i++)
        if (head->joined[i] == *field) {
            free(head->joined[i]);
            head->joined[i] = both;
            *field          = both;
            return true;
        }
    head->joined[head->n_joined++] = both;
    *field                         = both;
    return true;
}

/* Compares the lengths first: most names differ there. */
#define IS_NAMED(name, length, text) ((length) == sizeof text - 1 && strncasecmp(name, text, length) == 0)

static void read_framing(reading *r, const char *name, size_t length, const char *value)
{
    srv_head *head = r->head;
    if (IS_NAMED(name, length, "Content-Length")) {
        if (r->lengths++) note_problem(head, "More than one", name);
        head->length = strtoull(value, NULL, 10); /* libmicrohttpd has rejected malformed numbers */
    } else if (IS_NAMED(name, length, "Transfer-Encoding")) {
        if (r->codings++) note_problem(head, "More than one", name);
        if (strcasecmp(value, "chunked") != 0) note_problem(head, "The only transfer coding is chunked, not", value);
        head->chunked = true;
    } else if (IS_NAMED(name, length, "Host")) {
        if (r->hosts++) note_problem(head, "More than one", name);
    } else if (IS_NAMED(name, length, "Expect") && strcasecmp(value, "100-continue") == 0) {
        head->expects_continue = true;
    }
}

static enum MHD_Result read_field(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                  const char *value, size_t value_size)
{
    (void)kind;
    reading  *r    = cls;
    srv_head *head = r->head;
    /* Also for an empty value, which may hide a second line. */
    bool   folded = value && is_folded(name, name_size, value);
    size_t length = value ? value_size : 0;
    if (!value) value = "";
    if (!is_token(name, name_size))
        note_problem(head, "Invalid header name", name);
    else if (folded)
        note_problem(head, "Folded header (continued on a second line)", name);
    read_framing(r, name, name_size, value);
    for (size_t i = 0; i < N_WANTED; i++)
        if (name_size == wanted[i].length && strncasecmp(name, wanted[i].name, name_size) == 0) {
            const char **field = (const char **)((char *)head + wanted[i].offset);
            r->no_memory |= !add_value(head, field, value, length);
        }
    return MHD_YES;
}

bool srv_head_read(srv_head *head, struct MHD_Connection *mhd, const char *method, const char *version,
                   const char *target)
{
    *head     = (srv_head){.request = {.method = method, .target = target}};
    reading r = {.head = head};
    MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, read_field, &r);
    if (r.hosts == 0 && strcmp(version, "HTTP/1.0") != 0) note_problem(head, "Missing header", "Host");
    if (strpbrk(target, " \t")) note_problem(head, "Blanks in the target", target);
    if (r.codings && r.lengths) note_problem(head, "Transfer-Encoding together with", "Content-Length");
    if (r.codings && strcmp(version, "HTTP/1.0") == 0) note_problem(head, "Transfer-Encoding in", version);
    head->request.has_body = head->chunked || head->length > 0;
    return !r.no_memory;
}

void srv_head_free(srv_head *head)
{
    for (size_t i = 0; i < head->n_joined; i++)
        free(head->joined[i]);
    head->n_joined = 0;
}
