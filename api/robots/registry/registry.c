/* registry.c - makes a registry, and changes its models: for clients by way of the store, and for files and stores. */
#include "registry_entries.h"
#include "record.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter_or_digit(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool api_model_name_is_valid(const char *name)
{
    if (!is_letter_or_digit(name[0])) return false;
    size_t length = 1;
    while (is_letter_or_digit(name[length]) || (name[length] && strchr("._-", name[length])))
        length++;
    return length <= API_NAME_MAX && name[length] == '\0';
}

api_registry *api_registry_new(size_t limit, size_t bytes)
{
    api_registry *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->limit      = limit;
    r->most_bytes = bytes > 0 ? bytes : SIZE_MAX;
    if (pthread_mutex_init(&r->change_lock, NULL) != 0) {
        free(r);
        return NULL;
    }
    if (pthread_mutex_init(&r->entries_lock, NULL) != 0) {
        pthread_mutex_destroy(&r->change_lock);
        free(r);
        return NULL;
    }
    return r;
}

void api_registry_set_limits(api_registry *r, size_t limit, size_t bytes)
{
    atomic_store(&r->limit, limit);
    pthread_mutex_lock(&r->entries_lock);
    r->most_bytes = bytes > 0 ? bytes : SIZE_MAX;
    pthread_mutex_unlock(&r->entries_lock);
}

void api_registry_free(api_registry *r)
{
    if (!r) return;
    api_entries_free(r);
    pthread_mutex_destroy(&r->entries_lock);
    pthread_mutex_destroy(&r->change_lock);
    free(r);
}

void api_registry_set_store(api_registry *r, const api_store *store)
{
    pthread_mutex_lock(&r->change_lock);
    r->store = *store;
    pthread_mutex_unlock(&r->change_lock);
}

/* --- changes by clients ----------------------------------------------------------------------------------------------
 */

/* The state of a name before a change. */
typedef struct name_state {
    api_model *model;   /* a reference; NULL: no model */
    bool       bundled; /* bundled of the api_entry */
    bool       known;   /* there is an api_entry */
    bool       faulty;  /* the entry has a fault */
    uint64_t   number;  /* number of the api_entry */
    size_t     models;  /* number of all models */
} name_state;

static name_state look_up(api_registry *r, const char *name)
{
    name_state state = {.model = NULL};
    pthread_mutex_lock(&r->entries_lock);
    size_t i     = api_entries_find(r, name, &state.known);
    state.models = r->n_models;
    if (state.known) {
        const api_entry *e = &r->entries[i];
        state.model        = e->model ? api_model_share(e->model) : NULL;
        state.bundled      = e->bundled;
        state.faulty       = e->fault != API_NO_PROBLEM;
        state.number       = e->number;
    }
    pthread_mutex_unlock(&r->entries_lock);
    return state;
}

/* A change that a client asks for. */
typedef struct wanted_change {
    const char              *name;
    api_model               *model; /* NULL: delete */
    const api_preconditions *conditions;
    bool                     leaves_tombstone; /* deletes a model even if there is none, and leaves a tombstone */
} wanted_change;

/* Reserves an entry and the memory of the model for a change that will wait for the store. */
static bool reserve_or_fail(api_registry *r, const wanted_change *wanted, api_problem *problem)
{
    size_t growth;
    pthread_mutex_lock(&r->entries_lock);
    bool reserved = api_entries_reserve(r);
    bool fits     = reserved && api_entries_check_memory(r, wanted->name, wanted->model, &growth, problem);
    if (fits) {
        r->growing = wanted->name;
        r->growth  = growth;
    }
    pthread_mutex_unlock(&r->entries_lock);
    if (!reserved) api_fail(problem, API_MEMORY_FULL, NULL, "no memory for one more model");
    return fits;
}

static void end_reservation(api_registry *r)
{
    pthread_mutex_lock(&r->entries_lock);
    r->growing = NULL;
    pthread_mutex_unlock(&r->entries_lock);
}

static void put_into_effect(api_registry *r, const char *name, api_model *model, api_origin origin)
{
    pthread_mutex_lock(&r->entries_lock);
    api_model *old = api_entries_replace(r, name, model, origin, NULL);
    pthread_mutex_unlock(&r->entries_lock);
    api_model_release(old);
}

/* Stores a model, or with NULL the tombstone of a bundled one. */
static bool save(const api_store *store, const char *name, const api_model *model, api_numbering *numbering,
                 api_problem *problem)
{
    if (!store->save) return true;
    api_buffer record;
    api_record_print(&record, model);
    bool done = !record.failed ? store->save(store->arg, name, record.data, record.length, numbering, problem)
                               : api_fail(problem, API_MEMORY_FULL, NULL, "no memory for what is to be stored");
    api_buffer_free(&record);
    return done;
}

static bool erase(const api_store *store, const char *name, api_numbering *numbering, api_problem *problem)
{
    return !store->erase || store->erase(store->arg, name, numbering, problem);
}

static void note_change(api_changed *changed, const api_model *old, uint64_t number)
{
    if (!changed) return;
    *changed = (api_changed){.number = number};
    if (old) memcpy(changed->before, old->revision, API_REVISION_SIZE);
}

/* Sets *done to the result of the change. Returns false, with the reason in *done, if the change is not allowed. */
static bool is_allowed(const api_registry *r, const wanted_change *wanted, const name_state *old, api_commit *done)
{
    bool creates = wanted->model && !old->model;
    if (wanted->leaves_tombstone)
        *done = old->known && !old->model && !old->faulty ? API_MODEL_NOT_FOUND : API_DELETED;
    else if (!wanted->model && !old->model && !old->faulty)
        *done = API_MODEL_NOT_FOUND;
    else if (old->faulty && api_preconditions_exist(wanted->conditions))
        *done = API_MODEL_UNSERVED;
    else if (!api_preconditions_hold(wanted->conditions, old->model ? old->model->revision : NULL))
        *done = API_PRECONDITION_NOT_MET;
    else if (creates && old->models >= r->limit)
        *done = API_REGISTRY_FULL;
    else
        *done = creates ? API_CREATED : wanted->model ? API_REPLACED : API_DELETED;
    return *done == API_CREATED || *done == API_REPLACED || *done == API_DELETED;
}

static bool store_change(const api_registry *r, const wanted_change *wanted, const name_state *old,
                         api_numbering *numbering, api_problem *problem)
{
    bool saves = wanted->model || wanted->leaves_tombstone || old->bundled;
    return saves ? save(&r->store, wanted->name, wanted->model, numbering, problem)
                 : erase(&r->store, wanted->name, numbering, problem);
}

static api_commit change_once(api_registry *r, const wanted_change *wanted, api_changed *changed, bool *outdated,
                              api_problem *problem)
{
    name_state    old       = look_up(r, wanted->name);
    api_numbering numbering = {.revision = wanted->model ? wanted->model->revision : "", .base = old.number};
    api_commit    done;
    *outdated = false;
    if (is_allowed(r, wanted, &old, &done)) {
        if (reserve_or_fail(r, wanted, problem) && store_change(r, wanted, &old, &numbering, problem)) {
            put_into_effect(r, wanted->name, wanted->model, (api_origin){wanted->leaves_tombstone, numbering.number});
            note_change(changed, old.model, numbering.number);
        } else {
            done      = API_NOT_STORED;
            *outdated = numbering.outdated;
        }
        end_reservation(r);
    }
    api_model_release(old.model);
    return done;
}

enum { ATTEMPTS = 20 }; /* attempts of a change while other servers change the same name */

static api_commit change(api_registry *r, const wanted_change *wanted, api_changed *changed, api_problem *problem)
{
    bool       outdated = true;
    api_commit done     = API_NOT_STORED;
    pthread_mutex_lock(&r->change_lock);
    const api_store *store = &r->store;
    bool             begun = !store->begin || store->begin(store->arg, problem);
    if (!begun) outdated = false;
    for (int attempt = 0; outdated && attempt < ATTEMPTS; attempt++)
        done = change_once(r, wanted, changed, &outdated, problem);
    if (begun && store->end) store->end(store->arg);
    pthread_mutex_unlock(&r->change_lock);
    if (outdated)
        api_fail(problem, API_STORE_FAILED, NULL, "other servers changed the model at each of %d attempts", ATTEMPTS);
    return done;
}

api_commit api_registry_put(api_registry *r, api_model *model, const api_preconditions *conditions,
                            api_changed *changed, api_problem *problem)
{
    return change(r, &(wanted_change){model->name, model, conditions, false}, changed, problem);
}

api_commit api_registry_delete(api_registry *r, const char *name, const api_preconditions *conditions,
                               api_changed *changed, api_problem *problem)
{
    return change(r, &(wanted_change){name, NULL, conditions, false}, changed, problem);
}

api_commit api_registry_put_tombstone(api_registry *r, const char *name, api_problem *problem)
{
    return change(r, &(wanted_change){name, NULL, NULL, true}, NULL, problem);
}

/* --- changes from files and stores -----------------------------------------------------------------------------------
 */

bool api_registry_load(api_registry *r, const char *name, api_model *model, api_origin origin, api_problem *problem)
{
    size_t     growth;
    api_model *old = NULL;
    pthread_mutex_lock(&r->entries_lock);
    bool room    = api_entries_reserve(r);
    bool skipped = origin.number > 0 && api_entries_have_change(r, name, origin.number);
    bool fits    = room && (skipped || api_entries_check_memory(r, name, model, &growth, problem));
    if (fits) old = api_entries_replace(r, name, model, origin, NULL);
    pthread_mutex_unlock(&r->entries_lock);
    api_model_release(old);
    if (!room) api_fail(problem, API_MEMORY_FULL, NULL, "no memory for one more model");
    return fits;
}

void api_registry_load_fault(api_registry *r, const char *name, const api_problem *found, api_origin origin)
{
    api_model *old = NULL;
    pthread_mutex_lock(&r->entries_lock);
    bool skipped = origin.number > 0 && api_entries_have_change(r, name, origin.number);
    if (!skipped && api_entries_reserve(r)) old = api_entries_replace(r, name, NULL, origin, found);
    pthread_mutex_unlock(&r->entries_lock);
    api_model_release(old);
}

void api_registry_keep(api_registry *r, const char *const *names, size_t n)
{
    pthread_mutex_lock(&r->entries_lock);
    api_entries_keep(r, names, n);
    pthread_mutex_unlock(&r->entries_lock);
}
