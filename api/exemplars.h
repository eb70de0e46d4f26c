/* exemplars.h - keep, for each bucket of torqued_request_duration_seconds, the trace or the Request-Id of the last
 * request that fell into it: an exemplar (OpenMetrics 1.0.0). The memory is fixed. Any thread may call any function. */
#pragma once
#include "metrics.h"
#include <stdbool.h>

enum { API_EXEMPLAR_ID = 96 /* bytes of an identifier with its NUL; OpenMetrics allows 128 with the label's name */ };

typedef struct api_exemplar {
    bool   is_trace;            /* true: `id` is the trace of a traceparent; false: a Request-Id */
    char   id[API_EXEMPLAR_ID]; /* "": the bucket has no exemplar */
    double seconds;             /* duration of the request */
    double time;                /* s since 1970, when the request ended */
} api_exemplar;

/* Notes a request of an operation (API_LABEL_OPERATION) that took `ns`. `trace` NULL: it has none, and `request_id`
 * stands for it. An identifier that is too long is not noted. */
void api_exemplar_note(unsigned operation, uint64_t ns, const char *trace, const char *request_id);

/* Returns the exemplar of bucket `i`, 0 .. API_BOUNDS, of an operation. */
api_exemplar api_exemplar_of(unsigned operation, size_t i);
