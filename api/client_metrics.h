/* client_metrics.h - count the work, requests and refusals of the clients that cause most of them, in fixed memory.
 *
 * Each measure has API_CLIENTS_COUNTED counters, whatever the number of clients: the space-saving sketch (Metwally,
 * Agrawal & El Abbadi 2005). A client without a counter takes over the smallest one. A client that causes more than
 * 1 / API_CLIENTS_COUNTED of a measure therefore keeps its counter. The published figure of a client counts from the
 * moment when the client got its counter: a figure is never too large, and never falls while the client keeps the
 * counter.
 *
 * Any thread may call any function. A mutex guards the counters, so a caller adds up several requests first. */
#pragma once
#include "metrics.h"

/* X(MEASURE, "name", unit, "help") */
#define API_CLIENT_MEASURES(X)                                                                                         \
    X(WORK, "torqued_client_work_seconds_total", SECONDS,                                                              \
      "Processor time of the operations and changes of a client, for the 20 clients that took most.")                  \
    X(REQUESTS, "torqued_client_requests_total", NUMBER,                                                               \
      "Requests of a client that ended, for the 20 clients that sent most.")                                           \
    X(REFUSALS, "torqued_client_refused_requests_total", NUMBER,                                                       \
      "Requests of a client that were answered 4xx or 503, for the 20 clients that were refused most.")

typedef enum api_client_measure {
#define X(MEASURE, ...) API_CLIENT_##MEASURE,
    API_CLIENT_MEASURES(X)
#undef X
        API_CLIENT_MEASURE_COUNT
} api_client_measure;

enum { API_CLIENTS_COUNTED = 256, API_CLIENTS_SHOWN = 20, API_CLIENT_NAME = 96 };

/* Figures of some requests of one client, by measure: ns of work, numbers of requests and of refusals. */
typedef struct api_client_figures {
    uint64_t amount[API_CLIENT_MEASURE_COUNT];
} api_client_figures;

/* Adds figures to those of a client. A name is "client:NAME" for a client that a credential names, otherwise
 * "address:ADDRESS" or another text, of less than API_CLIENT_NAME bytes; a longer one is cut. */
void api_client_count(const char *client, const api_client_figures *figures);

const char *api_client_measure_name(api_client_measure measure);
const char *api_client_measure_help(api_client_measure measure);

typedef void api_client_reader(void *arg, const char *client, double value);

/* Tells what memory the requests in flight of clients hold: calls `read` with bytes, at most API_CLIENTS_SHOWN times,
 * the greatest first. */
typedef void api_memory_holders(void *source, api_client_reader *read, void *arg);

/* Calls `read`, with values in the unit of the measure, for the clients that caused most of a measure, at most
 * API_CLIENTS_SHOWN, the greatest first. Clients that caused nothing are left out. */
void api_client_read(api_client_measure measure, api_client_reader *read, void *arg);
