/* request_head.h - a request's head: the fields the api asks for, and the framing rules libmicrohttpd 0.9.75 leaves to
 * us. */
#pragma once
#include "api/api.h"
#include <microhttpd.h>

typedef struct srv_head {
    api_request request;                                      /* its strings are libmicrohttpd's or `joined` */
    char       *joined[sizeof(api_request) / sizeof(char *)]; /* repeated headers, "a, b"; trimmed ones */
    size_t      n_joined;
    uint64_t    length; /* Content-Length, 0 when absent */
    bool        chunked;
    bool        expects_continue;
    char        problem[160]; /* "" or how the framing is broken: the connection must be closed */
} srv_head;

/* False: no memory. srv_head_free also after failure. */
bool srv_head_read(srv_head *head, struct MHD_Connection *mhd, const char *method, const char *version,
                   const char *target);
void srv_head_free(srv_head *head);
