/* registry.h - the models held, by name. Any thread. A lookup hands out a reference of its own, so a model that is
 * replaced or deleted meanwhile lives on until the last request on it has ended.
 *
 * A change goes to the store first, then into effect, then is acknowledged: what was acknowledged is stored, and what
 * the store refused has not happened. Changes wait for each other, lookups wait for none of them. */
#pragma once
#include "api/api.h"
#include "model.h"
#include "api/http/preconditions.h"

enum { API_NAME_MAX = 64 }; /* bytes of a model's name */

typedef struct api_registry api_registry;

typedef enum api_commit {
    API_CREATED,
    API_REPLACED,
    API_DELETED,
    API_MODEL_NOT_FOUND,      /* nothing of that name to delete */
    API_PRECONDITION_NOT_MET, /* a precondition does not hold */
    API_REGISTRY_FULL,        /* as many models as allowed */
    API_NOT_STORED            /* the store refused; the only outcome that fills the problem */
} api_commit;

/* [A-Za-z0-9][A-Za-z0-9._-]{0,63} */
bool api_model_name_is_valid(const char *name);

api_registry *api_registry_new(size_t limit); /* NULL: no memory. `limit`: most models held */
void          api_registry_free(api_registry *registry);

/* Changes from here on go to this store, which must outlive the registry. Without: to memory alone. */
void api_registry_set_store(api_registry *registry, const api_store *store);

api_model *api_registry_find(api_registry *registry, const char *name); /* a reference, or NULL */

/* A reference to each model, by name; the caller releases them and frees the array. NULL: no memory. */
api_model **api_registry_list(api_registry *registry, size_t *n);

/* Calls `visit` for each name, in order, with no change in between; `model` is NULL where a bundled one is deleted.
 * Stops, and returns false, when `visit` does. */
bool api_registry_visit(api_registry *registry, bool (*visit)(void *arg, const char *name, const api_model *model),
                        void         *arg);

/* Creates or replaces, atomically with the check of the preconditions. Takes a reference of its own. */
api_commit api_registry_put(api_registry *registry, api_model *model, const api_preconditions *conditions,
                            api_problem *problem);
api_commit api_registry_delete(api_registry *registry, const char *name, const api_preconditions *conditions,
                               api_problem *problem);

/* Deletes whatever is there, and leaves a tombstone even for a name that is not bundled here. */
api_commit api_registry_put_tombstone(api_registry *registry, const char *name, api_problem *problem);

/* At start: what a file says of a name, without asking or telling the store and beyond the limit. model NULL: deleted.
 * `bundled`: the name is that of a bundled model, so that deleting it takes a tombstone. False: no memory. */
bool api_registry_load(api_registry *registry, const char *name, api_model *model, bool bundled);
