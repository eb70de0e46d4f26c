/* registry.h - keep the models of the server by name. Every function may be called from any thread. A lookup returns
 * a reference, so a model that is replaced or deleted lives until the last request on it has ended.
 *
 * A change is first stored, then takes effect, then is acknowledged: every acknowledged change is stored, and a
 * change that the store refuses does not take effect. Changes by clients of this server are serialised; lookups never
 * wait for the store. With a shared store, changes of other servers arrive by api_registry_load at any time: each name
 * has the number of its last change, and an older change is skipped. */
#pragma once
#include "api/api.h"
#include "api/robots/model/model.h"
#include "preconditions.h"

enum { API_NAME_MAX = 64 }; /* bytes of a model's name */

typedef struct api_registry api_registry;

typedef enum api_commit {
    API_CREATED,
    API_REPLACED,
    API_DELETED,
    API_MODEL_NOT_FOUND,      /* there is no model of that name */
    API_MODEL_UNSERVED,       /* the name has a fault, so that the preconditions of the change cannot be checked */
    API_PRECONDITION_NOT_MET, /* If-Match or If-None-Match does not hold */
    API_REGISTRY_FULL,        /* the limit of models is reached */
    API_NOT_STORED            /* the problem says why: the limit of memory, or the store */
} api_commit;

/* True for a name of the form [A-Za-z0-9][A-Za-z0-9._-]{0,63}. */
bool api_model_name_is_valid(const char *name);

/* `limit`: most models; `bytes`: most memory of all models, 0: any. NULL: no memory. */
api_registry *api_registry_new(size_t limit, size_t bytes);

/* Changes the limits; models that are beyond them stay. */
void api_registry_set_limits(api_registry *registry, size_t limit, size_t bytes);
void api_registry_free(api_registry *registry);

/* Saves later changes in this store, which must outlive the registry. Without a store, changes are in memory only. */
void api_registry_set_store(api_registry *registry, const api_store *store);

api_model *api_registry_find(api_registry *registry, const char *name); /* caller releases it; NULL: none */

/* A fault of a name: its record in the store, or its bundled file, exists and is not served. */
typedef struct api_model_fault {
    char     name[API_NAME_MAX + 1];
    api_code code; /* API_MODEL_DAMAGED: it cannot be read; API_INSUFFICIENT_STORAGE: no memory for the model */
    char     detail[sizeof((api_problem *)0)->detail];
} api_model_fault;

/* True if the name has no fault. False with the fault as the problem. */
bool api_registry_check_fault(api_registry *registry, const char *name, api_problem *problem);

/* References to all models and copies of all faults at one time, in the order of names. */
typedef struct api_registry_entries {
    api_model      **models; /* [n_models] */
    api_model_fault *faults; /* [n_faults] */
    size_t           n_models, n_faults;
} api_registry_entries;

/* The caller passes the entries to api_registry_entries_free. False: no memory; then there is nothing to free. */
bool api_registry_list(api_registry *registry, api_registry_entries *entries);
void api_registry_entries_free(api_registry_entries *entries);

/* Calls `visit` for each name, in order, with no change in between; `model` is NULL for a deleted model that has left
 * a tombstone. Names with a fault are left out. Lookups wait meanwhile. Stops and returns false when `visit` returns
 * false. */
bool api_registry_visit(api_registry *registry, bool (*visit)(void *arg, const char *name, const api_model *model),
                        void         *arg);

/* The effect of a change of a model. */
typedef struct api_changed {
    char     before[API_REVISION_SIZE]; /* revision of the model that was replaced or deleted; "": there was none */
    uint64_t number;                    /* number of the change in a shared store; 0: the store numbers nothing */
} api_changed;

/* Creates or replaces a model, atomically with the check of the preconditions. The registry takes a reference of its
 * own. `changed`, unless NULL, stays as it is if the change fails. api_registry_delete checks and deletes in the same
 * way. */
api_commit api_registry_put(api_registry *registry, api_model *model, const api_preconditions *conditions,
                            api_changed *changed, api_problem *problem);
api_commit api_registry_delete(api_registry *registry, const char *name, const api_preconditions *conditions,
                               api_changed *changed, api_problem *problem);

/* Deletes the model, if there is one, and leaves a tombstone, even for a name that is not bundled with this server. */
api_commit api_registry_put_tombstone(api_registry *registry, const char *name, api_problem *problem);

/* Source of a model that is loaded. */
typedef struct api_origin {
    bool     bundled; /* the name is that of a bundled model, so deleting it later needs a tombstone */
    uint64_t number;  /* number of the change of a shared store; 0: none */
} api_origin;

/* Enters a model from a file or a store, or with NULL a tombstone, without storing it and regardless of the number of
 * models. A numbered change is skipped if the name has a newer one. False with a problem, and nothing is changed, if
 * the limit of memory does not allow the model (API_INSUFFICIENT_STORAGE), or memory is short (API_MEMORY_FULL). */
bool api_registry_load(api_registry *registry, const char *name, api_model *model, api_origin origin,
                       api_problem *problem);

/* Enters a fault in place of a model that cannot be served, in the same way. `found` has the reason: with
 * API_INSUFFICIENT_STORAGE or API_MEMORY_FULL memory is short, else the model is damaged. The fault ends when the name
 * is put, deleted or loaded. Without memory the fault has no text, or nothing is changed. */
void api_registry_load_fault(api_registry *registry, const char *name, const api_problem *found, api_origin origin);

/* Removes every entry of a numbered change whose name is not in a list: [n], in the order of strcmp. */
void api_registry_keep(api_registry *registry, const char *const *names, size_t n);

/* True if change `number` or a newer one of the name has been entered. */
bool api_registry_has_change(api_registry *registry, const char *name, uint64_t number);
