/* registry.c - see registry.h. The entries are a sorted array: for some hundred models a lookup takes about ten
 * nanoseconds.
 *
 * Two locks, always taken in this order. `change_lock` serialises changes, from the check of the preconditions to
 * the answer of the store, which may take long; its holder alone writes the entries, and may read them freely.
 * `entries_lock` is held only briefly: by readers for a lookup, by the writer for a replacement. */
#include "registry.h"
#include "record.h"
#include "api/metrics.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    char       name[API_NAME_MAX + 1];
    api_model *model;   /* NULL: a deleted bundled model */
    bool       bundled; /* when the model is deleted, the entry stays as a tombstone */
} entry;

struct api_registry {
    pthread_mutex_t change_lock, entries_lock;
    api_store       store;   /* save == NULL: no store */
    entry          *entries; /* [n], sorted by name; space for `capacity` */
    size_t          n, capacity;
    size_t          n_models, limit; /* number of entries with a model */
};

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

/* Counts a model that comes (`by` 1) or goes (-1); NULL: none. */
static void count_model(const api_model *model, int by)
{
    if (!model) return;
    api_metric_add(API_METRIC_MODELS, API_NO_LABELS, by);
    api_metric_add(API_METRIC_MODEL_BYTES, API_NO_LABELS, by * (int64_t)api_model_bytes(model));
}

api_registry *api_registry_new(size_t limit)
{
    api_registry *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->limit = limit;
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

void api_registry_free(api_registry *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->n; i++) {
        count_model(r->entries[i].model, -1);
        api_model_release(r->entries[i].model);
    }
    pthread_mutex_destroy(&r->entries_lock);
    pthread_mutex_destroy(&r->change_lock);
    free(r->entries);
    free(r);
}

void api_registry_set_store(api_registry *r, const api_store *store)
{
    pthread_mutex_lock(&r->change_lock);
    r->store = *store;
    pthread_mutex_unlock(&r->change_lock);
}

/* Index of `name`, or where to insert it; the caller holds one of the locks. */
static size_t find_index(const api_registry *r, const char *name, bool *found)
{
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int    order  = strcmp(name, r->entries[middle].name);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    *found = false;
    return low;
}

/* --- readers ------------------------------------------------------------------------------------------------------ */

api_model *api_registry_find(api_registry *r, const char *name)
{
    bool found;
    pthread_mutex_lock(&r->entries_lock);
    size_t     i     = find_index(r, name, &found);
    api_model *model = found && r->entries[i].model ? api_model_share(r->entries[i].model) : NULL;
    pthread_mutex_unlock(&r->entries_lock);
    return model;
}

api_model **api_registry_list(api_registry *r, size_t *n)
{
    *n = 0;
    pthread_mutex_lock(&r->entries_lock);
    api_model **list = calloc(r->n_models + 1, sizeof(api_model *));
    for (size_t i = 0; list && i < r->n; i++)
        if (r->entries[i].model) list[(*n)++] = api_model_share(r->entries[i].model);
    pthread_mutex_unlock(&r->entries_lock);
    return list;
}

bool api_registry_visit(api_registry *r, bool (*visit)(void *arg, const char *name, const api_model *model), void *arg)
{
    bool go_on = true;
    pthread_mutex_lock(&r->change_lock);
    for (size_t i = 0; go_on && i < r->n; i++)
        go_on = visit(arg, r->entries[i].name, r->entries[i].model);
    pthread_mutex_unlock(&r->change_lock);
    return go_on;
}

/* --- changes; the caller holds change_lock ------------------------------------------------------------------------ */

/* Makes space for one more entry before the store is called, so that nothing can fail after the store has saved a
 * change. */
static bool reserve(api_registry *r)
{
    if (r->n < r->capacity) return true;
    size_t capacity = r->capacity ? 2 * r->capacity : 64;
    pthread_mutex_lock(&r->entries_lock);
    entry *entries = reallocarray(r->entries, capacity, sizeof *entries);
    if (entries) {
        r->entries  = entries;
        r->capacity = capacity;
    }
    pthread_mutex_unlock(&r->entries_lock);
    return entries != NULL;
}

static bool reserve_or_fail(api_registry *r, api_problem *problem)
{
    return reserve(r) || api_fail(problem, API_MEMORY_FULL, NULL, "no memory for one more model");
}

/* Returns the entry of that name, creating it if necessary. The caller also holds `entries_lock` and has called
 * `reserve`. */
static entry *find_or_insert(api_registry *r, const char *name)
{
    bool   found;
    size_t i = find_index(r, name, &found);
    if (found) return &r->entries[i];
    memmove(&r->entries[i + 1], &r->entries[i], (r->n - i) * sizeof(entry));
    r->entries[i] = (entry){.model = NULL};
    memcpy(r->entries[i].name, name, strlen(name) + 1);
    r->n++;
    return &r->entries[i];
}

/* Replaces the model of a name; NULL removes it. */
static void replace_model(api_registry *r, const char *name, api_model *model, bool bundled)
{
    pthread_mutex_lock(&r->entries_lock);
    entry     *e   = find_or_insert(r, name);
    api_model *old = e->model;
    e->model       = model ? api_model_share(model) : NULL;
    e->bundled     = e->bundled || bundled;
    r->n_models    = r->n_models + (model != NULL) - (old != NULL);
    count_model(model, 1);
    count_model(old, -1);
    if (!e->model && !e->bundled) {
        r->n--;
        memmove(e, e + 1, (size_t)(r->entries + r->n - e) * sizeof *e);
    }
    pthread_mutex_unlock(&r->entries_lock);
    api_model_release(old);
}

/* Stores a model, or with NULL the tombstone of a bundled one. */
static bool save(const api_store *store, const char *name, const api_model *model, api_problem *problem)
{
    if (!store->save) return true;
    api_buffer record;
    api_record_print(&record, model);
    bool done = !record.failed ? store->save(store->arg, name, record.data, record.length, problem)
                               : api_fail(problem, API_MEMORY_FULL, NULL, "no memory for what is to be stored");
    api_buffer_free(&record);
    return done;
}

static bool erase(const api_store *store, const char *name, api_problem *problem)
{
    return !store->erase || store->erase(store->arg, name, problem);
}

static void note_revision(char before[API_REVISION_SIZE], const api_model *old)
{
    if (before && old) memcpy(before, old->revision, API_REVISION_SIZE);
}

static api_commit put(api_registry *r, api_model *model, const api_preconditions *conditions,
                      char before[API_REVISION_SIZE], api_problem *problem)
{
    bool             found;
    size_t           i   = find_index(r, model->name, &found);
    const api_model *old = found ? r->entries[i].model : NULL;
    if (!api_preconditions_hold(conditions, old ? old->revision : NULL)) return API_PRECONDITION_NOT_MET;
    if (!old && r->n_models >= r->limit) return API_REGISTRY_FULL;
    api_commit done = old ? API_REPLACED : API_CREATED;
    if (!reserve_or_fail(r, problem) || !save(&r->store, model->name, model, problem)) return API_NOT_STORED;
    note_revision(before, old);
    replace_model(r, model->name, model, false);
    return done;
}

static api_commit remove_model(api_registry *r, const char *name, const api_preconditions *conditions,
                               char before[API_REVISION_SIZE], api_problem *problem)
{
    bool   found;
    size_t i = find_index(r, name, &found);
    if (!found || !r->entries[i].model) return API_MODEL_NOT_FOUND;
    if (!api_preconditions_hold(conditions, r->entries[i].model->revision)) return API_PRECONDITION_NOT_MET;
    bool done = r->entries[i].bundled ? save(&r->store, name, NULL, problem) : erase(&r->store, name, problem);
    if (!done) return API_NOT_STORED;
    note_revision(before, r->entries[i].model);
    replace_model(r, name, NULL, false);
    return API_DELETED;
}

api_commit api_registry_put(api_registry *r, api_model *model, const api_preconditions *conditions,
                            char before[API_REVISION_SIZE], api_problem *problem)
{
    pthread_mutex_lock(&r->change_lock);
    api_commit done = put(r, model, conditions, before, problem);
    pthread_mutex_unlock(&r->change_lock);
    return done;
}

api_commit api_registry_delete(api_registry *r, const char *name, const api_preconditions *conditions,
                               char before[API_REVISION_SIZE], api_problem *problem)
{
    pthread_mutex_lock(&r->change_lock);
    api_commit done = remove_model(r, name, conditions, before, problem);
    pthread_mutex_unlock(&r->change_lock);
    return done;
}

static api_commit put_tombstone(api_registry *r, const char *name, api_problem *problem)
{
    bool   found;
    size_t i = find_index(r, name, &found);
    if (found && !r->entries[i].model) return API_MODEL_NOT_FOUND;
    if (!reserve_or_fail(r, problem) || !save(&r->store, name, NULL, problem)) return API_NOT_STORED;
    replace_model(r, name, NULL, true);
    return API_DELETED;
}

api_commit api_registry_put_tombstone(api_registry *r, const char *name, api_problem *problem)
{
    pthread_mutex_lock(&r->change_lock);
    api_commit done = put_tombstone(r, name, problem);
    pthread_mutex_unlock(&r->change_lock);
    return done;
}

bool api_registry_load(api_registry *r, const char *name, api_model *model, bool bundled)
{
    pthread_mutex_lock(&r->change_lock);
    bool room = reserve(r);
    if (room) replace_model(r, name, model, bundled);
    pthread_mutex_unlock(&r->change_lock);
    return room;
}
