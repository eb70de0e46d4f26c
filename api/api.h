/* api.h - the interface of the api layer: HTTP semantics without sockets, bytes in and bytes out.
 *
 * A server or a command passes the head of a request to api_begin and its body to api_run, sends the reply of
 * api_reply_of, and calls api_end. No function here touches a socket or creates a thread. The only clock is
 * CLOCK_MONOTONIC. All functions may be called from any thread; one api_call is used by one thread at a time.
 *
 * Ownership: `api` owns the models and the limits and lives until api_close. An `api_call` belongs to the caller
 * until api_end. It has a reference to its model, so replacing or deleting that model does not affect it. An
 * `api_worker` (scratch memory) belongs to one thread. */
#pragma once
#include "client_metrics.h"
#include "problem.h"
#include "api/robots/files.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits, which GET /v1 publishes. */
typedef struct api_limits {
    size_t   body;         /* largest body of a request, bytes */
    size_t   answer;       /* largest body of an answer, bytes */
    size_t   memory;       /* bodies, decoded requests and answers of all requests in flight together, bytes */
    size_t   rows;         /* largest number of states in one request */
    unsigned nesting;      /* deepest nesting of arrays and objects */
    size_t   models;       /* largest number of models */
    size_t   model_memory; /* all models together, bytes; 0: any */
    size_t   links;        /* largest number of links in one model */
    double   timeout;      /* s, maximum and default of Request-Timeout */
} api_limits;

/* A file that the server has embedded, such as a page of the console. The bytes live as long as the process. */
typedef struct api_file {
    const char *path; /* path of the URL: "/assets/main-4KPQ7XZA.js" */
    const char *content_type;
    const char *hash;          /* hash of the content, hexadecimal, for entity tags */
    const char *gzip;          /* the content, compressed by gzip */
    size_t      gzip_length;   /* bytes of `gzip` */
    size_t      length;        /* bytes of the content */
    const char *content;       /* uncompressed; NULL: it is decompressed for each client that does not take gzip */
    bool        never_changes; /* the path contains a hash of the content, so caches may keep the file for good */
} api_file;

typedef struct api_config {
    const char *version;
    const char *build; /* identifier of the program, for GET /v1; NULL: "" */
    /* Vector instructions of the kernels, see dyn_kernels_find; NULL: the fastest of this machine. */
    const char     *target;
    api_limits      limits;
    const api_file *files; /* served at their paths; ends with a NULL path. NULL: no files */
    /* Names that Host may have in addition to loopback names, separated by commas; NULL: see host_and_origin.c. */
    const char         *hosts;
    const char         *origins;        /* web origins that may read answers, separated by commas, or "*"; NULL: none */
    api_memory_holders *memory_holders; /* for /metrics; NULL: /metrics does not tell */
    void               *memory_source;
} api_config;

/* True if a list is well-formed: names without port; origins such as "http://localhost:5173", or "*" alone. */
bool api_hosts_are_valid(const char *list);
bool api_origins_are_valid(const char *list);

typedef struct api        api;
typedef struct api_call   api_call;
typedef struct api_worker api_worker;

/* Creates an api in the state "loading". NULL with a message in `error` if the target is unknown or memory is short. */
api *api_open(const api_config *config, char *error, size_t error_size);
void api_close(api *api);

/* Change limits, but `memory`, and the lists of api_config while requests are served, from any thread. Texts of lists
 * must live until api_close. A request that has begun keeps what it has read of them. */
void api_set_limits(api *api, const api_limits *limits);
void api_set_lists(api *api, const char *hosts, const char *origins);

const char *api_target(const api *api);     /* the name of the target that evaluates batches */
const char *api_arithmetic(const api *api); /* arithmetic class of the target, "fused" or "unfused" */

/* Returns the name of operation number `index` in the order of the contract, "evaluate" last; NULL after the last. */
const char *api_operation_name_at(size_t index);

/* Loads every DIR/NAME.json as the bundled model NAME. Calls `report` once per file with `problem` NULL or the text
 * of the problem, for the log. False with errno if the folder cannot be read. */
bool api_load_models(api *api, const char *dir, void (*report)(void *arg, const char *file, const char *problem),
                     void *arg);

/* The numbers of changes in a store that several servers share; numbers grow with every change of any model. A store of
 * one server has no such numbers and does not change this structure. */
typedef struct api_numbering {
    const char *revision; /* in: of the new model; "": the model is deleted */
    uint64_t    base;     /* in: the change of this name that this server has applied; 0: none */
    uint64_t    number;   /* out: number of the new change; 0: the store numbers nothing */
    bool        outdated; /* out, with false and no problem: another server has changed the name since `base` */
} api_numbering;

/* Storage that keeps models when the process ends, such as a folder or a database. A record is a text that only the
 * api interprets. The functions are called on the thread of api_run, one call at a time, before the change takes
 * effect. A function that returns false with a problem (507 or 503) refuses the change; the storage must then be
 * unchanged. A shared store makes a change only if `base` is current; when it returns `outdated`, it has passed the
 * newer change to api_follow, and the api checks the preconditions again. */
typedef struct api_store {
    bool (*save)(void *arg, const char *name, const char *record, size_t length, api_numbering *numbering,
                 api_problem *problem);
    /* Succeeds for a name that was never saved, too. */
    bool (*erase)(void *arg, const char *name, api_numbering *numbering, api_problem *problem);
    /* Called before the preconditions of a change are checked, and when the change is in effect or refused. `begin` may
     * wait, and refuse the change; `end` is called only after its success. NULL: nothing is called. */
    bool (*begin)(void *arg, api_problem *problem);
    void (*end)(void *arg);
    void *arg;
} api_store;

/* A saved record that was read and is not in effect yet. */
typedef struct api_saved_model {
    struct api_model *model;   /* owned; NULL: the record marks a bundled model as deleted, or cannot be read */
    api_problem       problem; /* reason why the record cannot be read; API_NO_PROBLEM: it can */
} api_saved_model;

/* Reads one saved record. Several threads may do so at a time. `saved` must then be passed to api_restore. */
void api_read_saved(api *api, const char *name, const char *record, size_t length, api_saved_model *saved);

/* Restores one saved record that was read, and ends `saved`; call after api_load_models. The model takes precedence
 * over a bundled one of the same name. A record that could not be read, or whose model is beyond the limit
 * `model_memory` together with those that are there (API_INSUFFICIENT_STORAGE), fails with saved->problem and also
 * hides the bundled model, which may be a different robot: requests on the name are then answered API_MODEL_DAMAGED or
 * API_INSUFFICIENT_STORAGE, until it is put or deleted. */
bool api_restore(api *api, const char *name, api_saved_model *saved);

/* Removes the model of a name whose record was erased by another server on the same folder, or its tombstone. */
void api_forget_model(api *api, const char *name);

/* Applies a change of a shared store, by its number, in this server; may be called at any time from one thread. The
 * record is read as by api_read_saved; NULL: it is damaged, and no model of that name is served. An older change than
 * the one that the name has is skipped. False with a problem: the name has no model now, because the record cannot be
 * read, or its model is beyond the limit `model_memory`, and requests on it are answered as for api_restore. False with
 * API_MEMORY_FULL: nothing has changed; repeat the call. */
bool api_follow(api *api, const char *name, const char *record, size_t length, uint64_t number, api_problem *problem);

/* Removes the models and tombstones of a shared store whose names it no longer has: they were deleted so long ago that
 * the store keeps no tombstones of them. `names`: [n], all names that the store has, in the order of strcmp. Call from
 * the thread of api_follow. */
void api_forget_deleted(api *api, const char *const *names, size_t n);

/* Calls `visit` for each model, in the order of names. Two models with the same content have the same revision. False:
 * no memory. */
bool api_visit_models(api *api, void (*visit)(void *arg, const char *name, const char *revision), void *arg);

/* Publishes that all changes of a shared store up to this number are applied. */
void api_set_change(api *api, uint64_t number);

/* Sends all later changes to this store; call after restoring. The store must outlive the api. */
void api_set_store(api *api, const api_store *store);

/* The text of a model file, or an archive, and the name of its model. */
typedef struct api_model_file {
    const char                *name, *text;
    size_t                     length;   /* bytes of text */
    const char                *query;    /* options of PUT, such as "base=floating"; NULL: none */
    const api_files           *files;    /* files that the text may include, itself among them; NULL: it comes alone */
    const char                *path;     /* path of the text among the files */
    const struct api_deadline *deadline; /* the search for closed loops ends with it; NULL: none */
} api_model_file;

/* Called for each entry of the report of a model's import. */
typedef void api_report_callback(void *arg, const char *severity, const char *code, const char *where,
                                 const char *text);

/* Where the entries of a report go. */
typedef struct api_report_target {
    api_report_callback *entry;
    void                *arg;
} api_report_target;

/* Loads a model from the text of a file in any format that PUT accepts, without using the store. `report` may be
 * NULL. False with a problem. */
bool api_load_file(api *api, const api_model_file *file, const api_report_target *report, api_problem *problem);

/* The form in which a model is written. */
typedef struct api_model_form {
    const char *format;  /* "document", "urdf", "mjcf" or "sdf" */
    const char *version; /* version "1.0" or "1.2" of URDF; NULL: its default, or another format */
    bool        bound;   /* inertias that simulators refuse are balanced, and links that move get a mass; no document */
} api_model_form;

/* Writes a loaded model. `report` gets an entry of the code "not-held" for everything that the format cannot hold, and
 * one of the code "bounded" for each inertia that is changed; it may be NULL. The caller frees the text; NULL with a
 * problem. */
char *api_write_model(api *api, const char *name, const api_model_form *form, const api_report_target *report,
                      size_t *length, api_problem *problem);

/* Adds a reason to the answer of /readyz, for a fault that does not prevent service, such as an unreadable file; it
 * replaces the reason with the same subject. api_clear_reason removes the reason, if there is one, when the fault is
 * repaired. Both functions may be called from any thread. */
void api_set_reason(api *api, const char *subject, const char *format, ...) __attribute__((format(printf, 3, 4)));
void api_clear_reason(api *api, const char *subject);

/* Like api_set_reason for a fault that prevents service: until the reason is cleared, /readyz answers 503 with it. */
void api_set_unready(api *api, const char *subject, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns all models, bundled ones included, and the names of deleted bundled models as one JSON text with checksums
 * (archive_manifest.h describes the format). `made`: the time, RFC 3339, for its manifest. The caller frees the text;
 * NULL with a problem: no memory. Models that are not served are left out: api_check_served fails with the first of
 * them. */
bool  api_check_served(api *api, api_problem *problem);
char *api_export(api *api, const char *made, size_t *length, api_problem *problem);

/* Shows how many models of an archive have been read, then how many are in effect. */
typedef struct api_archive_watch {
    void (*show)(void *arg, size_t done, size_t all);
    void *arg;
} api_archive_watch;

typedef struct api_archive_facts {
    size_t models;                /* number of records, those of deleted models included */
    bool   has_manifest;          /* false: there are no checksums, so damaged bytes may remain unnoticed */
    char   version[40], made[40]; /* version of torqued that wrote the archive, and the time; "" without a manifest */
} api_archive_facts;

/* Checks an archive completely and changes nothing: the checksums of its manifest, if it has one, and each model. False
 * with a problem that names the models whose bytes differ. `watch` may be NULL. */
bool api_verify(api *api, const char *archive, size_t length, const api_archive_watch *watch, api_archive_facts *facts,
                api_problem *problem);

/* Numbers of models that api_import has changed, and of those that were equal already. */
typedef struct api_import_counts {
    size_t created, replaced, deleted, unchanged;
} api_import_counts;
typedef struct api_import_options {
    bool                     unverified; /* also takes an archive without a manifest */
    const api_archive_watch *watch;      /* NULL: none */
} api_import_options;

/* Imports an archive: creates or replaces its models and deletes those it marks as deleted; other models stay. The
 * archive is checked completely before the first change. If the store refuses a change, the earlier changes remain
 * and are counted in `done`. */
bool api_import(api *api, const char *archive, size_t length, const api_import_options *options,
                api_import_counts *done, api_problem *problem);

size_t api_memory_used(const api *api); /* bytes that requests in flight have claimed */
/* True if hardly any memory is free for requests that are not light: less than 1/64 of the limit. */
bool   api_memory_is_exhausted(const api *api);
size_t api_resident_memory(void); /* bytes of physical memory that the process has; 0: not known */

void api_set_ready(api *api);    /* call after loading; then /readyz answers 200 */
void api_set_draining(api *api); /* call before shutdown; then /readyz answers 503 "draining" */

/* The roles of clients: X(NAME, "name", bit). A client has one or more of them. */
#define API_ROLES(X)                                                                                                   \
    X(EVALUATE, "evaluate", 1) /* reads models and evaluates them */                                                   \
    X(ADMIN, "admin", 2)       /* all that the other roles may do; creates, replaces and deletes models */             \
    X(OBSERVE, "observe", 4)   /* reads the metrics */

typedef enum api_role {
#define X(NAME, name, bit) API_ROLE_##NAME = bit,
    API_ROLES(X)
#undef X
} api_role;

/* The client of a request, as the server has recognised it. All zero: a client that has shown no credential. */
typedef struct api_identity {
    const char *name;    /* name of the client, for the log; NULL: not recognised */
    unsigned    roles;   /* bits of api_role */
    const char *models;  /* patterns of the names of its models, see api_patterns_match; NULL: all models */
    const char *refused; /* reason why the credential that the client has shown is refused; NULL: it is accepted */
} api_identity;

/* True if a name matches one of the patterns, which are separated by commas. `*` stands for any characters, `?` for
 * one. */
bool api_patterns_match(const char *patterns, const char *name);

/* The memory that requests of one client have claimed, bytes. The numbers begin at zero; the server keeps them for as
 * long as the client has calls. */
typedef struct api_client_memory {
    atomic_size_t used;
    atomic_size_t wanted; /* bytes in all that the client's last claim would have made, if that was refused as
                             temporary; the server sets it to 0 */
} api_client_memory;

/* Most bytes of the budget `limit` that one client may claim, while no other has claimed any. */
size_t api_memory_of_one_client(size_t limit);

/* The resources that an address of the server gives its clients. */
typedef enum api_scope {
    API_ALL_RESOURCES,
    API_PROBES,            /* only /livez and /readyz */
    API_PROBES_AND_METRICS /* only /livez, /readyz and /metrics */
} api_scope;

/* The head of a request; NULL for absent headers. The strings must live until api_begin returns. */
typedef struct api_request {
    const char *method;
    const char *target; /* path and query as sent, still percent-encoded */
    const char *content_type, *content_encoding, *accept, *accept_encoding, *if_match, *if_none_match;
    const char *request_timeout, *request_id, *traceparent, *model_change, *model_revision;
    const char *host, *origin, *preflight_method; /* preflight_method: Access-Control-Request-Method */
    const char *fetch_mode;                       /* Sec-Fetch-Mode, in which browsers name their purpose */
    bool        on_loopback;                      /* true: accepted on a loopback address, and no
                                                     certificate names the host */
    bool                has_body;                 /* true: Content-Length is above 0, or the body is chunked */
    api_scope           scope;                    /* resources at the address of the connection */
    api_client_memory  *memory;                   /* memory of the client; NULL: the request shares with no client */
    const api_identity *identity;                 /* NULL: no access control, every client may do everything */
} api_request;

typedef struct api_header {
    const char *name, *value; /* valid until api_end */
} api_header;

typedef struct api_reply {
    unsigned    status;
    const char *content_type; /* NULL if there is no body (204, 304) */
    api_header  header[16];   /* Request-Id, Arithmetic, Allow, Location, ETag, Model-Revision, Retry-After ... */
    size_t      n_headers;
    char       *body;        /* owned by the call; api_take_body transfers it */
    const char *static_body; /* sent instead of `body`; lives as long as the process. NULL: none */
    size_t      length;      /* bytes of the body; for HEAD and 304, of the body that GET would send */
    bool        head;        /* true: do not send the body (HEAD, 304) */
    const char *problem;     /* the problem's code, for the log; NULL: none */
} api_reply;

/* Processes the head of a request: path, method, negotiation, timeout, preconditions. NULL only if memory is short. */
api_call *api_begin(api *api, const api_request *request);

/* The problem document "memory-full" for a request that memory is too short to begin or to answer. The document needs
 * no memory and lives as long as the process. api_shortage_id writes a Request-Id for it and counts the problem in the
 * metrics.
 */
enum { API_ID_SIZE = 17 }; /* bytes of 16 hexadecimal digits and a NUL */
const char *api_shortage_document(void);
void        api_shortage_id(api *api, char id[API_ID_SIZE]);

/* api_wants_body: if true, pass the body to api_run. If false, discard the body, if any; the reply is complete,
 * unless api_wants_run is true, which asks for api_run without a body. */
bool   api_wants_body(const api_call *call);
bool   api_wants_run(const api_call *call);
double api_timeout(const api_call *call); /* s, counted from the end of the headers */

/* Claims bytes of the common memory budget for this call, such as for its body. False: nothing is claimed, and the
 * reply is 503 or 413. api_release returns bytes early; api_end returns the rest. */
bool api_reserve(api_call *call, size_t bytes);
void api_release(api_call *call, size_t bytes);

/* True if api_run will wait for the store's disk, and should not run on a thread that serves other requests. */
bool api_waits_for_store(const api_call *call);

/* True if the request names a change of a shared store (Model-Change) that this server has not applied yet. The caller
 * asks again later, or refuses the call with API_CHANGE_PENDING when its time is over. When it is false at last,
 * api_resume continues with the head of the request, before api_run; if neither api_wants_body nor api_wants_run is
 * true then, the reply is complete. */
bool api_waits_for_change(const api_call *call);
void api_resume(api_call *call);

/* Estimates the seconds that api_run will take with this body. The estimate uses the speed measured by api_open, a
 * few names and numbers found in the body, and the measured times of similar requests. */
double api_estimate_cost(api_call *call, const char *body, size_t length);

/* Replaces the reply by a problem that the server itself detected (408, 413, 500, 503, 504 ...). */
void api_refuse(api_call *call, api_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Functions by which the server schedules the requests that it runs. Each may be NULL. */
typedef struct api_scheduler {
    /* Called on the thread of api_run when the request is decoded, and its fields show that it will take much longer
     * than api_estimate_cost has said: `seconds` of processor time. False: it cannot run now, see api_run. */
    bool (*admit)(void *arg, double seconds);
    /* Called again and again between steps at the time `now`, ns, on the thread of api_run and on those of its helpers.
     * On the former it may return much later, when other requests have had their turn. */
    void (*yield)(void *arg, uint64_t now);
    /* Called like `yield`. True: the thread is for short requests, and this one has used it for too long. The run then
     * ends unfinished, and api_run returns false. */
    bool (*must_leave)(void *arg, uint64_t now);
    void *arg;
} api_scheduler;

/* Conditions for giving up a request. Long computations check them between steps. */
typedef struct api_deadline {
    atomic_bool          cancelled; /* set by any thread: the client has disconnected, the reply does not matter */
    uint64_t             time;      /* ns on CLOCK_MONOTONIC; after it the reply is 504 */
    const api_scheduler *scheduler; /* NULL: the request runs without interruption */
} api_deadline;

/* Other threads that may help with a large request. `run` calls task(task_arg, slot) repeatedly until it returns
 * false: for slot 0 on the calling thread, for slots 1 .. slots-1 on any idle thread. Calls for one slot do not
 * overlap. `run` returns when slot 0 has returned false and no call is running. */
typedef bool api_next_task(void *arg, size_t slot);
typedef struct api_helpers {
    void (*run)(void *arg, size_t slots, api_next_task *task, void *task_arg);
    void  *arg;
    size_t most_slots; /* the largest number of slots that `run` accepts */
} api_helpers;

/* Executes the call; afterwards its reply is complete. The body must stay valid until api_run returns. `deadline`
 * may be NULL. False: the scheduler has not admitted it, or it had to leave this thread. Then there is no reply, and
 * the caller runs the call again, or refuses it. */
bool api_run(api_call *call, api_worker *worker, const char *body, size_t length, const api_deadline *deadline);

/* Frees the memory in which api_run has worked, but for a block that is kept. After a large request this takes tenths
 * of a second, so the caller sends the answer first. Otherwise the next api_run frees the memory. */
void api_worker_reset(api_worker *worker);

const api_reply *api_reply_of(const api_call *call);
char            *api_take_body(api_call *call); /* returns the reply's body, which the caller frees with free() */
const char      *api_call_route(const api_call *call); /* route for the log, such as "/v1/models/{model}/{operation}" */
unsigned api_call_operation(const api_call *call); /* API_LABEL_OPERATION of the call (metrics.h); 0: no operation */

/* Facts about a call, for the log, the metrics and Server-Timing. */
typedef struct api_figures {
    uint64_t    began;                    /* ns on CLOCK_MONOTONIC, start of api_run; 0: it has not run */
    uint64_t    ended;                    /* ns, end of api_run; 0: it has not ended */
    uint64_t    decode, evaluate, encode; /* ns, duration of each step of an operation; 0: it was not reached */
    double      estimate;                 /* s, expected duration of the operation; 0: none */
    size_t      states;                   /* number of states of the request; 0: not known */
    const char *model, *revision;      /* name and revision of the model in the path; NULL: none. Valid until api_end */
    const char *trace, *span, *parent; /* from traceparent: the trace, the span of this request and that of the client;
                                          NULL: none. Valid until api_end */
} api_figures;

api_figures api_call_figures(const api_call *call);

/* The change that a PUT or DELETE of a model has made, for the audit log. */
typedef struct api_change {
    const char *model;          /* name of the model */
    const char *before, *after; /* revisions; "": there was no such model, there is none now, or nothing was changed */
} api_change;

/* False if the call is no PUT or DELETE of a model. The strings are valid until api_end. */
bool api_call_change(const api_call *call, api_change *change);
void api_end(api_call *call);

api_worker *api_worker_open(void);                                           /* NULL: no memory */
void api_worker_set_helpers(api_worker *worker, const api_helpers *helpers); /* the helpers must outlive the worker */
void api_worker_close(api_worker *worker);
