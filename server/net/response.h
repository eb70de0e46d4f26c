/* response.h - from the api's reply to libmicrohttpd's response, and to the line in the log. */
#pragma once
#include "api/api.h"
#include "server/log.h"
#include <microhttpd.h>

/* Queues the call's reply; its body is handed over without a copy. `close`: the connection ends with it.
 * `retry_after` > 0 replaces the reply's Retry-After. */
enum MHD_Result srv_response_send(struct MHD_Connection *mhd, api_call *call, bool close, unsigned retry_after);

/* Writes the call's reply on the socket itself, while libmicrohttpd still reads the request and has nothing to send.
 * The connection is to be closed then. A client that does not take it at once loses it. */
void srv_response_send_directly(int fd, const api_call *call);

typedef struct srv_access {
    const api_call *call; /* NULL: libmicrohttpd closed or refused it before the headers were complete */
    const char     *method, *target;
    uint64_t        received, began;
    bool            answered;  /* the call's reply was given to the client */
    bool            delivered; /* and taken whole */
} srv_access;

void srv_response_log(srv_log *log, struct MHD_Connection *mhd, const srv_access *access);
