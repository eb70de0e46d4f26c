/* registry.h - the models held, by name. Any thread. A lookup hands out a reference of its own, so a model that is
 * replaced or deleted meanwhile lives on until the last request on it has ended. */
#pragma once
#include "model.h"
#include "preconditions.h"

typedef struct api_registry api_registry;

typedef enum api_commit {
    API_CREATED,
    API_REPLACED,
    API_DELETED,
    API_NOT_THERE,    /* nothing of that name to delete */
    API_NOT_HELD,     /* a precondition does not hold */
    API_REGISTRY_FULL /* as many models as allowed */
} api_commit;

/* [A-Za-z0-9][A-Za-z0-9._-]{0,63} */
bool api_model_name_good(const char *name);

api_registry *api_registry_new(size_t limit); /* NULL: no memory. `limit`: most models held */
void          api_registry_free(api_registry *registry);

api_model *api_registry_find(api_registry *registry, const char *name); /* a reference, or NULL */

/* A reference to each model, by name; the caller releases them and frees the array. NULL: no memory. */
api_model **api_registry_list(api_registry *registry, size_t *n);

/* Creates or replaces, atomically with the check of the preconditions. Takes a reference of its own. */
api_commit api_registry_put(api_registry *registry, api_model *model, const api_preconditions *conditions);
api_commit api_registry_delete(api_registry *registry, const char *name, const api_preconditions *conditions);
