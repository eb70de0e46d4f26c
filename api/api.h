/* api.h - the door: HTTP meaning without sockets. Bytes in, bytes out.
 *
 * A server (or a command line) hands a request's head to api_begin, its body to api_run, sends
 * api_reply_of and calls api_end. Nothing here touches a socket or makes a thread, and the one clock is
 * CLOCK_MONOTONIC; everything here may be called from any thread, one call object by one thread at a time.
 *
 * Ownership: `api` owns the models and limits and lives until api_close. An `api_call` belongs to the caller
 * until api_end; it holds a reference on the model it names, so replacing or deleting that model does not
 * disturb it. An `api_worker` (scratch memory) belongs to one thread. */
#pragma once
#include "problem.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits in force; GET /v1 publishes them. */
typedef struct api_limits {
    size_t   body;    /* bytes of a request's body */
    size_t   answer;  /* bytes of an answer's body */
    size_t   memory;  /* bytes of bodies, decoded requests and answers in flight, all together */
    size_t   rows;    /* states in one request */
    unsigned nesting; /* depth of arrays and objects */
    size_t   models;  /* models held */
    size_t   links;   /* links of one model */
    double   timeout; /* s, cap and default of Request-Timeout */
} api_limits;

typedef struct api_config {
    const char *version;
    const char *target; /* dyn_kernels_find name; NULL: widest */
    api_limits  limits;
} api_config;

typedef struct api        api;
typedef struct api_call   api_call;
typedef struct api_worker api_worker;

/* NULL and a message in `error` when the target is unknown or memory is short. Starts in state "loading". */
api *api_open(const api_config *config, char *error, size_t error_size);
void api_close(api *api);

/* Loads DIR's *.json as bundled models under their file names. `report` is called once per file with what
 * happened (ok, or the problem's text), so that the caller can log it. False if the folder cannot be read: errno says
 * why. */
bool api_load_models(api *api, const char *dir, void (*report)(void *arg, const char *file, const char *problem),
                     void *arg);

/* Where models outlive the process: what a server does with its disk. A record is a text that only the api reads.
 * Called for one change at a time, on the thread of its api_run, before the change takes effect; false with a problem
 * (507 or 503) refuses it, and then nothing of it may be left. */
typedef struct api_store {
    bool (*save)(void *arg, const char *name, const char *record, size_t length, api_problem *problem);
    bool (*erase)(void *arg, const char *name, api_problem *problem); /* of a name that was saved, or never was */
    void *arg;
} api_store;

/* After api_load_models: a record as it was saved, of a model that shadows or of a bundled one that is deleted. One
 * that cannot be read hides the bundled model of its name too, which would be another robot; so does api_hide_bundled.
 */
bool api_restore(api *api, const char *name, const char *record, size_t length, api_problem *problem);
void api_hide_bundled(api *api, const char *name);

/* After restoring: changes go to this store from here on. It must outlive the api. */
void api_set_store(api *api, const api_store *store);

/* Holds the robot of a file, a document or URDF, under that name, without a word to the store. `query` is what a
 * request has behind the "?", for URDF; NULL: nothing. `report` (may be NULL) is called for each entry of the report.
 */
typedef void api_report_callback(void *arg, const char *severity, const char *code, const char *where,
                                 const char *text);
bool         api_load_file(api *api, const char *name, const char *text, size_t length, const char *query,
                           api_report_callback *report, void *arg, api_problem *problem);

/* Before api_set_ready: something is not as it should be, though requests will be served. /readyz repeats it. */
void api_add_reason(api *api, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* All models, bundled ones too, and the names of deleted bundled ones, as one JSON text (model_archive.c has its form).
 * The caller frees; NULL: no memory. */
char *api_export(api *api, size_t *length);

/* Puts the models of such a text into effect, and deletes what it says is deleted; others stay. Everything is checked
 * before the first change. If the store refuses one, those before it are done, and counted. */
typedef struct api_import_counts {
    size_t created, replaced, deleted, unchanged;
} api_import_counts;
bool api_import(api *api, const char *archive, size_t length, api_import_counts *done, api_problem *problem);

void api_set_ready(api *api);    /* after loading: /readyz turns 200 */
void api_set_draining(api *api); /* /readyz turns 503 "draining" */

/* The head of a request; NULL where a header is absent. Strings live until api_begin returns. */
typedef struct api_request {
    const char *method;
    const char *target; /* path and query as sent, still percent-encoded */
    const char *content_type, *content_encoding, *accept, *accept_encoding, *if_match, *if_none_match;
    const char *request_timeout, *request_id;
    bool        has_body; /* Content-Length > 0, or chunked */
} api_request;

typedef struct api_header {
    const char *name, *value; /* until api_end */
} api_header;

typedef struct api_reply {
    unsigned    status;
    const char *content_type; /* NULL when there is no body (204, 304) */
    api_header  header[8];    /* Request-Id, Allow, Location, ETag, Model-Revision, Retry-After ... */
    size_t      n_headers;
    char       *body;    /* owned by the call; api_take_body hands it over */
    size_t      length;  /* for HEAD and 304: of the body that GET would send */
    bool        head;    /* send no body */
    const char *problem; /* the code of what is wrong; NULL: nothing */
} api_reply;

/* Decides everything that the head decides: path, method, negotiation, timeout, preconditions. Never NULL
 * except out of memory. */
api_call *api_begin(api *api, const api_request *request);

/* True: give the body to api_run. False: a body, if any, is to be drained; and the reply stands already, unless it
 * wants to be run with no body. */
bool   api_wants_body(const api_call *call);
bool   api_wants_run(const api_call *call);
double api_timeout(const api_call *call); /* s from the end of the headers, within the limit */

/* Claims memory of the common budget for this call; false: nothing claimed, and the reply stands (503, 413).
 * Given back by api_release, what is left by api_end. */
bool api_reserve(api_call *call, size_t bytes);
void api_release(api_call *call, size_t bytes);

/* Whether api_run will wait for the store: then it is no work for a thread that others wait for. */
bool api_waits_for_store(const api_call *call);

/* Seconds api_run may take with that body: an estimate, from rates measured at api_open and a glance at the body, and
 * corrected by what requests of its kind have taken. */
double api_estimate_cost(api_call *call, const char *body, size_t length);

/* Replaces whatever reply there is by a problem of the server's own finding (408, 413, 500, 503, 504 ...). */
void api_refuse(api_call *call, api_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* What a long evaluation looks at between chunks. */
typedef struct api_deadline {
    atomic_bool cancelled; /* the client is gone: stop, any reply will do */
    uint64_t    time;      /* ns on CLOCK_MONOTONIC; later the reply is 504 */
} api_deadline;

/* Other threads that may help with a large request. `run` calls task(arg, slot) again and again, until it returns
 * false, on slot 0 from the calling thread and on slots 1..slots-1 from whoever is free, each slot one thread at a
 * time; it returns when no call is running and slot 0 has had its false. */
typedef bool api_next_task(void *arg, size_t slot);
typedef struct api_helpers {
    void (*run)(void *arg, size_t slots, api_next_task *task, void *task_arg);
    void  *arg;
    size_t most_slots; /* the largest `slots` that run takes */
} api_helpers;

/* Executes the call. The body must stay until it returns. Afterwards the reply stands, whatever happened.
 * `deadline` may be NULL. */
void api_run(api_call *call, api_worker *worker, const char *body, size_t length, const api_deadline *deadline);

const api_reply *api_reply_of(const api_call *call);
char            *api_take_body(api_call *call);        /* the caller frees it with free() */
const char      *api_call_route(const api_call *call); /* for logs: "/v1/models/{model}/{operation}" and alike */
void             api_end(api_call *call);

api_worker *api_worker_open(void);                                           /* NULL: no memory */
void api_worker_set_helpers(api_worker *worker, const api_helpers *helpers); /* whom it may ask to help; outlives it */
void api_worker_close(api_worker *worker);
