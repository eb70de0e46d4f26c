/* response.h - send the api's reply as a libmicrohttpd response, count the request and log it. */
#pragma once
#include "client_account.h"
#include "api/api.h"
#include "server/log.h"
#include "server/audit/slow_log.h"
#include <microhttpd.h>

/* Returns the value of a header of a reply; NULL: it has none of this name. */
const char *srv_response_header(const api_reply *reply, const char *name);

/* Queues the call's reply. The body is handed over without a copy. `close`: the connection closes afterwards.
 * `retry_after` > 0 replaces the reply's Retry-After, seconds. `queued`: when a worker was asked to run the request,
 * ns; 0: none was. */
enum MHD_Result srv_response_send(struct MHD_Connection *mhd, api_call *call, bool close, unsigned retry_after,
                                  uint64_t queued);

/* Writes the call's reply to the socket, or through its TLS session, bypassing libmicrohttpd, which cannot send while
 * it reads a request. The connection must be closed afterwards. The write does not block; what does not fit the
 * socket's buffer is lost. */
void srv_response_send_directly(const srv_connection *connection, const api_call *call);

/* Writes a fixed answer, 503 `memory-full`, to the socket or through the TLS session, in the same way. The answer needs
 * no memory of its own. `head`: without the body, for HEAD. */
void srv_response_send_shortage(struct MHD_Connection *mhd, api *service, bool head);

typedef struct srv_access {
    const api_call *call; /* NULL: libmicrohttpd closed or refused the request before its headers were complete, or
                             there was no memory for it */
    const char *method, *target; /* "": unknown, because the request was malformed */
    const char *client;          /* name of the client; "" or NULL: not recognised */
    const char *refused;         /* reason why the client's credential is not accepted; NULL: it is */
    const char *via;             /* the address of the trusted proxy that has forwarded the request; NULL: none */
    const char *from;            /* address of the client, or user on a Unix-domain socket */
    const char *account;         /* name under which the use of this client is counted (account.h) */
    uint64_t    received, began;
    uint64_t    arrived;     /* ns, when the request was complete; 0: it never was */
    uint64_t    queued;      /* ns, when a worker was asked to run the request; 0: none was */
    double      took;        /* s of processor time of workers; 0: no worker has run it */
    uint64_t    slow;        /* ns, time from which the request is slow; 0: it is never slow */
    bool        audited;     /* srv_response_audit has written the change */
    bool        answered;    /* the reply, or without a call a fixed one, was queued or written */
    bool        slow_reader; /* the connection was ended because the client read its answer too slowly */
    bool        delivered;   /* the client received the whole reply */
} srv_access;

/* The logs for the lines of requests, and for the slowest of them. */
typedef struct srv_records {
    srv_log      *log;
    srv_slow_log *slow;
} srv_records;

/* Writes the audit line of a change of a model that was made, or may have been made, to its reserved place. False: the
 * request was refused, and no line is due. */
bool srv_response_audit(srv_log *log, const srv_access *access, srv_audit_line *reserved);

/* Counts the request in the metrics, and writes its line to the log. Changes of models that were refused, and requests
 * that were refused because of the client's credential or role, also get a line of the level "audit", which every log
 * has. Refused and failed requests share the lines of their client and status, see srv_log_admits. A slow request also
 * gets a warning with the times of its phases. Returns the figures of the request for its client. */
srv_use srv_response_record(const srv_records *records, struct MHD_Connection *mhd, const srv_access *access);
