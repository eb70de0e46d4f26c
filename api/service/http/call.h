/* call.h - private to api/: the structures behind the opaque types of api.h, and the functions that build a reply. */
#pragma once
#include "api/api.h"
#include "api/base/memory/client_memory_budget.h"
#include "api/base/memory/buffer.h"
#include "api/base/memory/scratch.h"
#include "api/robots/locked_joints/locked_cache.h"
#include "api/robots/registry/registry.h"
#include "api/robots/formats.h"
#include "api/codec/coding/expand.h"
#include "api/codec/emit.h"
#include "api/requests/cost/cost_feedback.h"
#include "api/codec/negotiate.h"
#include "api/requests/cost/calibration.h"
#include "route.h"
#include "api/base/work/deadline.h"
#include <pthread.h>

struct api_operation;

typedef enum api_phase { API_LOADING, API_READY, API_DRAINING_PHASE } api_phase;

enum { API_TRACE_SIZE = 33 /* bytes of 32 hexadecimal digits and a NUL */ };

enum { API_REASONS_SHOWN = 32, API_REASON_MAX = 480 };

enum { API_HEADER_TEXT = 960 /* bytes of header values, such as Request-Id, Location, ETag and an origin */ };

/* Request headers on which an answer depends: bits of the Vary header. */
enum { API_VARY_ACCEPT = 1, API_VARY_ENCODING = 2, API_VARY_ORIGIN = 4, API_VARY_SETS = 8 };

/* api_limits that api_set_limits changes while requests are served. */
typedef struct api_current_limits {
    _Atomic size_t body, answer, memory, rows, models, model_memory, links;
    atomic_uint    nesting;
    _Atomic double timeout; /* s */
} api_current_limits;

struct api {
    char                  version[32];
    char                  build[48];
    api_current_limits    limits;
    const api_resource   *resources;      /* table of all resources; ends with a NULL pattern */
    const api_file       *files;          /* embedded files; ends with a NULL path. NULL: none */
    api_file              contract;       /* /openapi.json */
    _Atomic(const char *) hosts, origins; /* lists of api_config; NULL: none */
    api_memory_holders   *memory_holders; /* see api_config; NULL: none */
    void                 *memory_source;
    const dyn_kernels    *kernels, *alone; /* kernels for several states, and kernels for a single state */
    api_budget            budget;
    api_registry         *models;
    api_locked_cache      locked; /* models with locked joints that requests have asked for */
    api_calibration       calibration;
    api_cost_feedback     cost_feedback;
    atomic_int            phase;   /* a value of api_phase */
    atomic_ullong         change;  /* all changes of a shared store up to this number are applied */
    atomic_bool           shared;  /* the store is shared */
    double                started; /* s since 1970, when the api was opened */
    atomic_ullong         next_id; /* counter of generated Request-Ids */
    pthread_mutex_t       reasons_lock;
    struct api_reason    *reasons; /* list, see readiness.c; guarded by the lock */
};

struct api_worker {
    const api_helpers *helpers; /* NULL: no helper threads */
    api_scratch        scratch;
};

/* When the steps of api_run ended, ns on CLOCK_MONOTONIC; 0: the request did not get so far. */
typedef struct api_stamps {
    uint64_t began, decoded, evaluated, ended;
} api_stamps;

/* The arguments of api_run: worker, body and deadline. */
typedef struct api_input {
    api_worker         *worker;
    const char         *body;
    size_t              length;
    const api_deadline *deadline; /* NULL: no deadline */
} api_input;

struct api_call {
    api                        *api;
    api_route                   route;
    api_method                  method;
    api_method_kind             kind;
    const struct api_operation *operation;        /* the operation in the path; NULL: `evaluate` */
    unsigned                    operation_number; /* api_operation_number of it; 0: the path has no operation */
    const api_identity         *identity; /* identity of the client, during api_begin only; NULL: no access control */
    api_model                  *model;    /* a counted reference; NULL: the path names no model, or an unknown one */
    char *models; /* patterns of the models that the client may use (api_patterns_match), the call's own copy; NULL: all
                   */
    char *if_match, *if_none_match, *if_revision; /* the call's own copies of these headers and of Model-Revision */
    uint64_t
        change; /* number of the change of a shared store that must be applied before the model is looked up; 0: none */
    api_media    content, media; /* media types of the request body and of the answer */
    api_accepted accepted;       /* media types that the client accepts; `media` is chosen again when the form of the
                                    request's arrays is known */
    double     timeout;          /* s, from Request-Timeout or the configured maximum */
    api_share  share;            /* bytes claimed from the memory budget; api_end returns them */
    double     estimated;        /* s, estimated duration before cost feedback; 0: not estimated */
    double     expected;         /* s, estimated duration after cost feedback */
    api_stamps stamps;
    size_t     states; /* number of states of the request; 0: not known */
    char    trace[API_TRACE_SIZE], span[API_ID_SIZE], parent_span[API_ID_SIZE]; /* see trace_context.c; "": no trace */
    int64_t helped;              /* ns of work by helper threads, beyond the elapsed time */
    api_coding      body_coding; /* content coding of the request's body */
    api_expanded    expanded;    /* body without this coding, during api_run and until the run has ended */
    bool            wants_body;
    bool            deferred;          /* the scheduler has not admitted the decoded request */
    bool            wants_coding;      /* the reply to a GET is complete, but not yet compressed */
    api_coding      coding;            /* the content coding that the client prefers */
    bool            unchanged;         /* true: the client's copy is current, answer 304 */
    bool            takes_gzip;        /* true: the client accepts gzip, with at least the quality of no coding */
    bool            wants_page;        /* true: a GET whose client prefers HTML to JSON, as browsers do */
    bool            wants_openmetrics; /* true: the client prefers OpenMetrics to the text format of Prometheus */
    const api_file *file;              /* the embedded file that the path names; NULL: none */
    /* Format of a model in the body of a PUT; NULL: no PUT, or an unsupported type. */
    const api_model_format *format;
    char                   *query;               /* query with options for `format`, the call's own copy; NULL: none */
    api_changed             changed;             /* the change that this call has made */
    char      revision_after[API_REVISION_SIZE]; /* revision of the model that this call has put; "": none */
    api_reply reply;
    unsigned  vary;                  /* API_VARY_*, the request headers in Vary */
    size_t    n_text;                /* bytes used of `text` */
    char      text[API_HEADER_TEXT]; /* values of the reply's headers; not cleared */
};

static inline api_preconditions api_call_conditions(const api_call *call)
{
    return (api_preconditions){call->if_match, call->if_none_match, call->if_revision};
}

/* Passes the middlewares, then checks path, method, timeout, media types, model and preconditions of a request.
 * Returns false with a problem, or with API_NO_PROBLEM if the reply (204) is already complete. In request_head.c. */
bool api_head_check(api_call *call, const api_request *request, api_problem *problem);

/* Continues the checks after a call has waited for a change: finds the model and checks the preconditions. */
bool api_head_resume(api_call *call, api_problem *problem);

/* Emits the reasons of the answer of /readyz as an array; frees them all. In readiness.c. */
void api_reasons_emit(api *api, api_emit *e);
void api_reasons_free(api *api);

size_t api_reasons_count(api *api);

/* Copies the oldest reason, with '?' for bytes that are not printable ASCII. False: there is none. In readiness.c. */
bool api_reasons_first(api *api, char text[API_REASON_MAX]);

/* Copies the oldest reason that prevents service, with '?' for bytes that are not printable ASCII. False: there is
 * none. In readiness.c. */
bool api_reasons_unready(api *api, char text[API_REASON_MAX]);

/* Writes 16 hexadecimal digits that are unique in this process and not zero. In request_id.c. */
void api_make_id(api *api, char id[API_ID_SIZE]);

/* Sets the header Request-Id of the reply to the client's id, or to a new one if the client's is absent (NULL) or no
 * visible ASCII text of at most 128 characters. In request_id.c. */
void api_reply_request_id(api_call *call, const char *id);

/* True if the client of the call may use the model of this name. */
static inline bool api_may_use_model(const api_call *call, const char *name)
{
    return !call->models || api_patterns_match(call->models, name);
}

/* Adds a header to the reply, or replaces the header of the same name. The header is dropped if the reply has no space
 * for it. */
void api_reply_header(api_call *call, const char *name, const char *text);

/* Like api_reply_header for a text that lives as long as the process: it is not copied. */
void api_reply_static_header(api_call *call, const char *name, const char *text);

/* Adds request headers, API_VARY_*, to the Vary header. */
void api_reply_vary(api_call *call, unsigned headers);

/* Moves the bytes of the buffer into the body of the reply. Returns false with a problem if the buffer failed. */
bool api_reply_body(api_call *call, unsigned status, const char *content_type, api_buffer *body, api_problem *problem);
void api_reply_empty(api_call *call, unsigned status);

/* Returns the file of the contract, /openapi.json. */
api_file api_contract_file(void);

/* Makes the call's file the reply: compressed if the client accepts gzip, with entity tag and caching headers, and for
 * a page with its security policy. */
bool api_reply_file(api_call *call, api_problem *problem);

/* Makes a page about one kind of problem the reply. `detail`: about this request; NULL: none. */
bool api_reply_problem_page(api_call *call, const api_problem_kind *kind, const char *detail, api_problem *problem);

/* Makes the JSON or CBOR bytes of the emitter the body of the reply. False with a problem if the emitter failed. */
bool api_reply_emitted(api_call *call, unsigned status, const api_emit *e, api_problem *problem);

/* Chooses the content coding of the reply. Only JSON above a minimum length and without an entity tag is compressed,
 * since each coding would need an entity tag of its own. */
api_coding api_reply_coding(const api_call *call);

/* Compresses the body of the reply; sends it uncompressed if the memory budget has no space. Returns false with a
 * problem if the deadline has passed. */
bool api_reply_compress(api_call *call, const api_deadline *deadline, api_problem *problem);

/* Replaces the reply by a problem document (RFC 9457), or by a page where a browser asked for what does not exist.
 * Adds Retry-After to the statuses that have it. */
void api_reply_problem(api_call *call, const api_problem *problem) __attribute__((cold));

/* Handlers for the table of resources; a comment names the file of each. */
api_handler api_get_service;                                            /* service.c */
api_handler api_get_livez, api_get_readyz, api_get_problem;             /* service.c */
api_handler api_get_metrics;                                            /* metrics_page.c */
api_handler api_list_models, api_get_model, api_get_document;           /* models.c */
api_handler api_put_model, api_delete_model;                            /* models.c */
api_handler api_get_export;                                             /* export.c */
api_handler api_post_operation, api_operation_exists;                   /* operations.c */
api_handler api_get_home, api_find_home, api_get_file, api_file_exists; /* files.c */
api_handler api_find_contract;                                          /* files.c */
