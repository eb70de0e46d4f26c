/* call.h - private to api/: what stands behind the types of api.h. */
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

enum { API_HEADER_TEXT = 384 /* bytes: an id, a location, an entity tag and what is short */ };

struct api {
    char                version[32];
    api_limits          limits;
    const api_resource *resources;       /* all of them; ends with a NULL pattern */
    const dyn_kernels  *kernels, *alone; /* for many states, and for one */
    api_budget          budget;
    api_registry       *models;
    api_calibration     calibration;
    api_cost_feedback   cost_feedback;
    atomic_int          phase;     /* api_phase */
    atomic_ullong       next_id;   /* of generated Request-Ids */
    size_t              n_reasons; /* given; constant once ready */
    char                reasons[API_REASONS_SHOWN][API_REASON_MAX];
};

struct api_worker {
    const api_helpers *helpers; /* NULL: none */
    api_scratch        scratch;
};

/* What api_run was given. */
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
    const struct api_operation *operation;                /* of an operation's path; NULL: evaluate */
    api_model                  *model;                    /* a reference; NULL: none of that name, or none named */
    char                       *if_match, *if_none_match; /* the call's own copies */
    api_media                   content, media;           /* of the request's body and of the answer */
    double                      timeout;                  /* s */
    api_share                   share;                    /* of the budget for memory, until the call ends */
    double                      estimated;                /* s, uncorrected; 0: api_estimate_cost was not called */
    int64_t                     helped;                   /* ns of work by helpers, beyond the elapsed time */
    bool                        wants_body;
    bool                        wants_coding; /* the reply of a GET stands, to be compressed */
    api_coding                  coding;       /* that the client takes */
    bool                        unchanged;    /* what GET would send is what the client has: 304 */
    const api_model_format     *format; /* of the model in the body of a PUT; NULL: no PUT, or none that is taken */
    char                       *query;  /* for `format`, the call's own copy; NULL: none */
    api_reply                   reply;
    size_t                      n_text;                /* bytes used of: */
    char                        text[API_HEADER_TEXT]; /* the headers' values; not cleared */
};

static inline api_preconditions api_call_conditions(const api_call *call)
{
    return (api_preconditions){call->if_match, call->if_none_match};
}

/* Decides what the head alone decides, in the order of status codes; false with a problem or, for 204,
 * with API_NO_PROBLEM and the reply standing. In request_head.c. */
bool api_head_check(api_call *call, const api_request *request, api_problem *problem);

/* Adds a header; one of the same name is replaced. What there is no room for is left out. */
void api_reply_header(api_call *call, const char *name, const char *text);

/* Takes the buffer's bytes as the reply's body; a problem when the buffer failed. */
bool api_reply_body(api_call *call, unsigned status, const char *content_type, api_buffer *body, api_problem *problem);
void api_reply_empty(api_call *call, unsigned status);

/* The same with what was emitted into a buffer, in its encoding. */
bool api_reply_emitted(api_call *call, unsigned status, const api_emit *e, api_problem *problem);

/* The coding to put the reply in: the client's, of JSON that is long enough and has no entity tag, which would have to
 * be another for every coding. And doing it; a problem when the deadline says so. It stays as it is where the budget
 * has no room. */
api_coding api_reply_coding(const api_call *call);
bool       api_reply_compress(api_call *call, const api_deadline *deadline, api_problem *problem);

/* The body of RFC 9457, with Retry-After where it belongs. */
void api_reply_problem(api_call *call, const api_problem *problem) __attribute__((cold));

/* The handlers that the table of resources names, by file. */
api_handler api_get_service;                                                 /* service.c */
api_handler api_get_livez, api_get_readyz, api_get_openapi, api_get_problem; /* service.c */
api_handler api_list_models, api_get_model, api_get_document;                /* models.c */
api_handler api_put_model, api_delete_model;                                 /* models.c */
api_handler api_post_operation, api_operation_exists;                        /* operations.c */
