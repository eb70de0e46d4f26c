/* call.h - private to api/: the structures behind the opaque types of api.h, and the functions that build a reply. */
#pragma once
#include "api/api.h"
#include "api/memory/budget.h"
#include "api/memory/buffer.h"
#include "api/memory/scratch.h"
#include "api/model/registry.h"
#include "api/load/formats.h"
#include "api/wire/emit.h"
#include "api/cost/cost_feedback.h"
#include "negotiate.h"
#include "api/cost/calibration.h"
#include "route.h"
#include "api/work/deadline.h"

struct api_operation;

typedef enum api_phase { API_LOADING, API_READY, API_DRAINING_PHASE } api_phase;

enum { API_REASONS_SHOWN = 32, API_REASON_MAX = 400 };

enum { API_HEADER_TEXT = 384 /* bytes of header values: a Request-Id, a Location, an ETag and short ones */ };

struct api {
    char                version[32];
    api_limits          limits;
    const api_resource *resources;       /* table of all resources; ends with a NULL pattern */
    const dyn_kernels  *kernels, *alone; /* for several states, and for a single one */
    api_budget          budget;
    api_registry       *models;
    api_calibration     calibration;
    api_cost_feedback   cost_feedback;
    atomic_int          phase;     /* api_phase */
    atomic_ullong       next_id;   /* of generated Request-Ids */
    size_t              n_reasons; /* reasons recorded; constant once ready */
    char                reasons[API_REASONS_SHOWN][API_REASON_MAX];
};

struct api_worker {
    const api_helpers *helpers; /* NULL: none */
    api_scratch        scratch;
};

/* The arguments of api_run. */
typedef struct api_input {
    api_worker         *worker;
    const char         *body;
    size_t              length;
    const api_deadline *deadline; /* may be NULL */
} api_input;

struct api_call {
    api                        *api;
    api_route                   route;
    api_method                  method;
    const struct api_operation *operation; /* named by the path; NULL: `evaluate` */
    api_model                  *model;     /* a reference; NULL: the path names no model, or an unknown one */
    char                       *if_match, *if_none_match; /* the call's own copies */
    api_media                   content, media;           /* of the request body and of the answer */
    double                      timeout;                  /* s */
    api_share                   share;                    /* of the memory budget; returned when the call ends */
    double                      estimated;                /* s, before cost feedback; 0: not estimated */
    int64_t                     helped;                   /* ns of work by helpers, beyond the elapsed time */
    bool                        wants_body;
    bool                        wants_coding; /* the reply to a GET is complete, but not yet compressed */
    api_coding                  coding;       /* the content coding that the client prefers */
    bool                        unchanged;    /* true: the client's copy is current, answer 304 */
    const api_model_format     *format;       /* of the body of a PUT; NULL: no PUT, or an unsupported type */
    char                       *query;        /* query for `format`, the call's own copy; NULL: none */
    api_reply                   reply;
    size_t                      n_text;                /* bytes used of `text` */
    char                        text[API_HEADER_TEXT]; /* values of the reply's headers; not cleared */
};

static inline api_preconditions api_call_conditions(const api_call *call)
{
    return (api_preconditions){call->if_match, call->if_none_match};
}

/* Checks path, method, timeout, media types, model and preconditions of a request, in the order of their status codes.
 * Returns false with a problem, or with API_NO_PROBLEM when the reply (204) is complete already. In request_head.c. */
bool api_head_check(api_call *call, const api_request *request, api_problem *problem);

/* Adds a header, or replaces the one of the same name. A header is dropped when no room is left for it. */
void api_reply_header(api_call *call, const char *name, const char *text);

/* Moves the bytes of the buffer into the body of the reply. Returns false with a problem if the buffer failed. */
bool api_reply_body(api_call *call, unsigned status, const char *content_type, api_buffer *body, api_problem *problem);
void api_reply_empty(api_call *call, unsigned status);

/* Makes the bytes that were emitted, in JSON or CBOR, the body of the reply. */
bool api_reply_emitted(api_call *call, unsigned status, const api_emit *e, api_problem *problem);

/* Chooses the content coding of the reply. Only JSON above a minimum length and without an entity tag is compressed,
 * since each coding would need an entity tag of its own. */
api_coding api_reply_coding(const api_call *call);

/* Compresses the reply; leaves it as it is if the memory budget has no room. Returns false with a problem if the
 * deadline has passed. */
bool api_reply_compress(api_call *call, const api_deadline *deadline, api_problem *problem);

/* Makes the problem the reply: a body after RFC 9457, and Retry-After for statuses that have it. */
void api_reply_problem(api_call *call, const api_problem *problem) __attribute__((cold));

/* The handlers that the table of resources names, by file. */
api_handler api_get_service;                                                 /* service.c */
api_handler api_get_livez, api_get_readyz, api_get_openapi, api_get_problem; /* service.c */
api_handler api_list_models, api_get_model, api_get_document;                /* models.c */
api_handler api_put_model, api_delete_model;                                 /* models.c */
api_handler api_post_operation, api_operation_exists;                        /* operations.c */
