/* registry.c - see registry.h. The entries are a sorted array: for some hundred models a lookup takes about ten
 * nanoseconds.
 *
 * Two locks, always taken in this order. `change_lock` serialises changes by clients, from the check of the
 * preconditions to the answer of the store, which may take long. `entries_lock` guards the entries and is held only
 * briefly, for a lookup or a replacement: a shared store may replace other entries, or the same one by a newer change,
 * while a client's change waits for the store. */
#include "registry.h"
#include "record.h"
#include "api/metrics.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    char       name[API_NAME_MAX + 1];
    api_model *model;   /* NULL: deleted, or the name has a fault */
    api_code   fault;   /* see api_model_fault; API_NO_PROBLEM: none */
    char      *detail;  /* text of the fault, owned; NULL: there was no memory for it */
    bool       bundled; /* when the model is deleted, the entry stays as a tombstone */
    uint64_t   number;  /* of the last change in a shared store; then the entry stays, too. 0: none */
} entry;

struct api_registry {
    pthread_mutex_t change_lock, entries_lock;
    api_store       store;   /* save == NULL: no store */
    entry          *entries; /* [n], sorted by name; space for `capacity` */
    size_t          n, capacity;
    size_t          n_models;          /* number of entries with a model */
    _Atomic size_t  limit;             /* largest number of them */
    size_t          bytes, most_bytes; /* memory of all models */
    const char     *growing;           /* name of a model whose change waits for the store; NULL: none */
    size_t          growth;            /* bytes that this change will add to `bytes` */
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

/* Sets the fault of an entry without a model; NULL: none. */
static void set_fault(entry *e, const api_problem *found)
{
    char text[sizeof found->detail + sizeof found->pointer + 8];
    int  before = e->fault != API_NO_PROBLEM;
    free(e->detail);
    e->detail = NULL;
    e->fault  = API_NO_PROBLEM;
    if (found) {
        bool is_short = found->code == API_INSUFFICIENT_STORAGE || found->code == API_MEMORY_FULL;
        e->fault      = is_short ? API_INSUFFICIENT_STORAGE : API_MODEL_DAMAGED;
        snprintf(text, sizeof text, "%s%s%s", found->detail, *found->pointer ? " at " : "", found->pointer);
        e->detail = strdup(text);
    }
    int after = e->fault != API_NO_PROBLEM;
    if (after != before) api_metric_add(API_METRIC_UNSERVED_MODELS, API_NO_LABELS, after - before);
}

static void copy_fault(const entry *e, api_model_fault *fault)
{
    memcpy(fault->name, e->name, sizeof fault->name);
    fault->code = e->fault;
    snprintf(fault->detail, sizeof fault->detail, "%s", e->detail ? e->detail : "the log has the reason");
}

static size_t bytes_of(const api_model *model)
{
    return model ? api_model_bytes(model) : 0;
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
    for (size_t i = 0; i < r->n; i++) {
        count_model(r->entries[i].model, -1);
        api_model_release(r->entries[i].model);
        set_fault(&r->entries[i], NULL);
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

/* Index of `name`, or where to insert it; the caller holds `entries_lock`. */
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

bool api_registry_check_fault(api_registry *r, const char *name, api_problem *problem)
{
    bool            found;
    api_model_fault fault;
    pthread_mutex_lock(&r->entries_lock);
    size_t i = find_index(r, name, &found);
    found    = found && r->entries[i].fault != API_NO_PROBLEM;
    if (found) copy_fault(&r->entries[i], &fault);
    pthread_mutex_unlock(&r->entries_lock);
    return !found || api_fail(problem, fault.code, NULL, "the model \"%.64s\" is not served: %s", name, fault.detail);
}

static size_t count_faults(const api_registry *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += r->entries[i].fault != API_NO_PROBLEM;
    return n;
}

bool api_registry_list(api_registry *r, api_registry_entries *list)
{
    *list = (api_registry_entries){0};
    pthread_mutex_lock(&r->entries_lock);
    list->models = calloc(r->n_models + 1, sizeof *list->models);
    list->faults = calloc(count_faults(r) + 1, sizeof *list->faults);
    bool room    = list->models && list->faults;
    for (size_t i = 0; room && i < r->n; i++) {
        const entry *e = &r->entries[i];
        if (e->model) list->models[list->n_models++] = api_model_share(e->model);
        if (e->fault) copy_fault(e, &list->faults[list->n_faults++]);
    }
    pthread_mutex_unlock(&r->entries_lock);
    if (!room) api_registry_entries_free(list);
    return room;
}

void api_registry_entries_free(api_registry_entries *list)
{
    for (size_t i = 0; i < list->n_models; i++)
        api_model_release(list->models[i]);
    free(list->models);
    free(list->faults);
    *list = (api_registry_entries){0};
}

bool api_registry_visit(api_registry *r, bool (*visit)(void *arg, const char *name, const api_model *model), void *arg)
{
    bool go_on = true;
    pthread_mutex_lock(&r->entries_lock);
    for (size_t i = 0; go_on && i < r->n; i++)
        go_on = r->entries[i].fault || visit(arg, r->entries[i].name, r->entries[i].model);
    pthread_mutex_unlock(&r->entries_lock);
    return go_on;
}

static bool has_change(const api_registry *r, const char *name, uint64_t number)
{
    bool   found;
    size_t i = find_index(r, name, &found);
    return found && r->entries[i].number >= number;
}

bool api_registry_has_change(api_registry *r, const char *name, uint64_t number)
{
    pthread_mutex_lock(&r->entries_lock);
    bool has = has_change(r, name, number);
    pthread_mutex_unlock(&r->entries_lock);
    return has;
}

/* The state of a name before a change. */
typedef struct name_state {
    api_model *model;   /* a reference; NULL: no model */
    bool       bundled; /* of the entry */
    bool       known;   /* there is an entry */
    bool       faulty;  /* the entry has a fault */
    uint64_t   number;  /* of the entry */
    size_t     models;  /* number of all models */
} name_state;

static name_state look_up(api_registry *r, const char *name)
{
    name_state state = {.model = NULL};
    pthread_mutex_lock(&r->entries_lock);
    size_t i     = find_index(r, name, &state.known);
    state.models = r->n_models;
    if (state.known) {
        const entry *e = &r->entries[i];
        state.model    = e->model ? api_model_share(e->model) : NULL;
        state.bundled  = e->bundled;
        state.faulty   = e->fault != API_NO_PROBLEM;
        state.number   = e->number;
    }
    pthread_mutex_unlock(&r->entries_lock);
    return state;
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

/* Makes space for two more entries: one for the caller, before the store is called, so that nothing can fail after the
 * store has saved a change; and one that stays free for such a caller when a shared store inserts an entry meanwhile.
 * The caller holds `entries_lock`. */
static bool reserve(api_registry *r)
{
    if (r->n + 2 <= r->capacity) return true;
    size_t capacity = r->capacity ? 2 * r->capacity : 64;
    entry *entries  = reallocarray(r->entries, capacity, sizeof *entries);
    if (!entries) return false;
    r->entries  = entries;
    r->capacity = capacity;
    return true;
}

/* Returns the entry of that name, creating it if necessary. The caller holds `entries_lock` and has called `reserve`.
 */
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

/* Checks that `model`, unless NULL, fits into the memory of all models in place of the current one of that name. A
 * change of another name that waits for the store keeps its share. `growth` receives the additional bytes. The caller
 * holds `entries_lock`. */
static bool check_memory(const api_registry *r, const char *name, const api_model *model, size_t *growth,
                         api_problem *problem)
{
    bool   found;
    size_t i       = find_index(r, name, &found);
    size_t current = found ? bytes_of(r->entries[i].model) : 0, own = bytes_of(model);
    size_t waiting = r->growing && strcmp(r->growing, name) != 0 ? r->growth : 0;
    size_t others  = r->bytes - current + waiting;
    *growth        = own > current ? own - current : 0;
    if (!model || (own <= r->most_bytes && others <= r->most_bytes - own)) return true;
    return api_fail(problem, API_INSUFFICIENT_STORAGE, NULL,
                    "the model needs %zu bytes beside %zu of the other models, of %zu for all", own, others,
                    r->most_bytes);
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
    bool reserved = reserve(r);
    bool fits     = reserved && check_memory(r, wanted->name, wanted->model, &growth, problem);
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

/* Replaces the model of a name; NULL removes it and leaves the fault, which may be NULL. Skips a numbered change
 * if the name has a newer one. The caller holds
 * `entries_lock` and has called `reserve`. Returns the model that was replaced, which the caller releases. */
static api_model *replace_model(api_registry *r, const char *name, api_model *model, api_origin origin,
                                const api_problem *fault)
{
    entry *e = find_or_insert(r, name);
    if (origin.number > 0 && e->number >= origin.number) return NULL;
    api_model *old = e->model;
    e->model       = model ? api_model_share(model) : NULL;
    set_fault(e, fault);
    e->bundled  = e->bundled || origin.bundled;
    e->number   = origin.number;
    r->n_models = r->n_models + (model != NULL) - (old != NULL);
    r->bytes    = r->bytes + bytes_of(model) - bytes_of(old);
    if (r->growing && strcmp(r->growing, name) == 0) r->growth = 0;
    count_model(model, 1);
    count_model(old, -1);
    if (!e->model && !e->fault && !e->bundled && e->number == 0) {
        r->n--;
        memmove(e, e + 1, (size_t)(r->entries + r->n - e) * sizeof *e);
    }
    return old;
}

static void put_into_effect(api_registry *r, const char *name, api_model *model, api_origin origin)
{
    pthread_mutex_lock(&r->entries_lock);
    api_model *old = replace_model(r, name, model, origin, NULL);
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

/* Sets what a change will have done, or why it is not allowed; then returns false. */
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

enum { ATTEMPTS = 20 }; /* at a change of a name that other servers change at the same time */

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

bool api_registry_load(api_registry *r, const char *name, api_model *model, api_origin origin, api_problem *problem)
{
    size_t     growth;
    api_model *old = NULL;
    pthread_mutex_lock(&r->entries_lock);
    bool room    = reserve(r);
    bool skipped = origin.number > 0 && has_change(r, name, origin.number);
    bool fits    = room && (skipped || check_memory(r, name, model, &growth, problem));
    if (fits) old = replace_model(r, name, model, origin, NULL);
    pthread_mutex_unlock(&r->entries_lock);
    api_model_release(old);
    if (!room) api_fail(problem, API_MEMORY_FULL, NULL, "no memory for one more model");
    return fits;
}

void api_registry_load_fault(api_registry *r, const char *name, const api_problem *found, api_origin origin)
{
    api_model *old = NULL;
    pthread_mutex_lock(&r->entries_lock);
    bool skipped = origin.number > 0 && has_change(r, name, origin.number);
    if (!skipped && reserve(r)) old = replace_model(r, name, NULL, origin, found);
    pthread_mutex_unlock(&r->entries_lock);
    api_model_release(old);
}

static int compare_names(const void *name, const void *element)
{
    return strcmp(name, *(const char *const *)element);
}

void api_registry_keep(api_registry *r, const char *const *names, size_t n)
{
    size_t kept = 0;
    pthread_mutex_lock(&r->entries_lock);
    for (size_t i = 0; i < r->n; i++) {
        entry *e = &r->entries[i];
        if (e->number == 0 || (n > 0 && bsearch(e->name, names, n, sizeof *names, compare_names))) {
            r->entries[kept++] = *e;
            continue;
        }
        r->n_models -= e->model != NULL;
        r->bytes -= bytes_of(e->model);
        count_model(e->model, -1);
        api_model_release(e->model);
        set_fault(e, NULL);
    }
    r->n = kept;
    pthread_mutex_unlock(&r->entries_lock);
}
