/* request_head.h - read the header fields of a request that the api needs, and the length of its body. */
#pragma once
#include "api/api.h"
#include <microhttpd.h>

typedef struct srv_head {
    api_request request;                                     /* strings belong to libmicrohttpd or to `joined` */
    const char *authorization, *forwarded, *x_forwarded_for; /* read by the server only; NULL: absent */
    /* Values that were allocated because they are joined. */
    char    *joined[sizeof(api_request) / sizeof(char *) + 3];
    size_t   n_joined;
    uint64_t length; /* Content-Length; 0 if absent */
    bool     chunked;
    bool     expects_continue;
} srv_head;

/* Reads the head. False: no memory. Call srv_head_free in either case. */
bool srv_head_read(srv_head *head, struct MHD_Connection *mhd, const char *method, const char *target);
void srv_head_free(srv_head *head);
