/* request_head.c - see request_head.h. server/framing has checked the head before libmicrohttpd read it. */
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
    WANTED("Model-Change", request.model_change),
    WANTED("Model-Revision", request.model_revision),
    WANTED("Origin", request.origin),
    WANTED("Request-Id", request.request_id),
    WANTED("Request-Timeout", request.request_timeout),
    WANTED("Sec-Fetch-Mode", request.fetch_mode),
    WANTED("traceparent", request.traceparent),
    WANTED("X-Forwarded-For", x_forwarded_for),
};
enum { N_WANTED = sizeof wanted / sizeof wanted[0] };

typedef struct reading {
    srv_head *head;
    bool      no_memory;
} reading;

/* Stores a header value. A repeated header becomes the comma-separated list of its values (RFC 9110, section 5.3).
 * False: no memory. */
static bool add_value(srv_head *head, const char **field, const char *value, size_t length)
{
    if (!*field) {
        *field = value;
        return true;
    }
    const char *before = *field;
    size_t      size   = strlen(before) + length + 3;
    char       *both   = malloc(size);
    if (!both) return false;
    snprintf(both, size, "%s, %.*s", before, (int)length, value);
    for (size_t i = 0; i < head->n_joined; i++)
        if (head->joined[i] == before) {
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

static void read_framing(srv_head *head, const char *name, size_t length, const char *value)
{
    if (IS_NAMED(name, length, "Content-Length"))
        head->length = strtoull(value, NULL, 10);
    else if (IS_NAMED(name, length, "Transfer-Encoding"))
        head->chunked = true;
    else if (IS_NAMED(name, length, "Expect") && strcasecmp(value, "100-continue") == 0)
        head->expects_continue = true;
}

static enum MHD_Result read_field(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                  const char *value, size_t value_size)
{
    (void)kind;
    reading  *r      = cls;
    srv_head *head   = r->head;
    size_t    length = value ? value_size : 0;
    if (!value) value = "";
    read_framing(head, name, name_size, value);
    for (size_t i = 0; i < N_WANTED; i++)
        if (name_size == wanted[i].length && strncasecmp(name, wanted[i].name, name_size) == 0) {
            const char **field = (const char **)((char *)head + wanted[i].offset);
            r->no_memory |= !add_value(head, field, value, length);
        }
    return MHD_YES;
}

bool srv_head_read(srv_head *head, struct MHD_Connection *mhd, const char *method, const char *target)
{
    *head     = (srv_head){.request = {.method = method, .target = target}};
    reading r = {.head = head};
    MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, read_field, &r);
    head->request.has_body = head->chunked || head->length > 0;
    return !r.no_memory;
}

void srv_head_free(srv_head *head)
{
    for (size_t i = 0; i < head->n_joined; i++)
        free(head->joined[i]);
    head->n_joined = 0;
}
