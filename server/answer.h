/* answer.h - from the api's reply to libmicrohttpd's response, and to the line in the log. */
#pragma once
#include "../api/api.h"
#include "log.h"
#include <microhttpd.h>

/* Queues the call's reply; its body is handed over without a copy. `close`: the connection ends with it.
 * `retry_after` > 0 replaces the reply's Retry-After. */
enum MHD_Result srv_answer_send(struct MHD_Connection *mhd, api_call *call, bool close, unsigned retry_after);

typedef struct srv_access {
    const api_call *call; /* NULL: libmicrohttpd refused the request itself */
    const char     *method, *target;
    uint64_t        received, began;
    bool            delivered;
} srv_access;

void srv_answer_log(const srv_log *log, struct MHD_Connection *mhd, const srv_access *access);
