/* registry_entries.c - finds, inserts, replaces and removes the entries of a registry, and counts models and memory. */
#include "registry_entries.h"
#include "api/metrics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts a model that is added (`change` 1) or removed (-1); NULL: none. */
static void count_model(const api_model *model, int change)
{
    if (!model) return;
    api_metric_add(API_METRIC_MODELS, API_NO_LABELS, change);
    api_metric_add(API_METRIC_MODEL_BYTES, API_NO_LABELS, change * (int64_t)api_model_bytes(model));
}

/* Sets the fault of an entry without a model; NULL: none. */
static void set_fault(api_entry *e, const api_problem *found)
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

void api_entry_copy_fault(const api_entry *e, api_model_fault *fault)
{
    memcpy(fault->name, e->name, sizeof fault->name);
    fault->code = e->fault;
    snprintf(fault->detail, sizeof fault->detail, "%s", e->detail ? e->detail : "the log has the reason");
}

static size_t bytes_of(const api_model *model)
{
    return model ? api_model_bytes(model) : 0;
}

size_t api_entries_find(const api_registry *r, const char *name, bool *found)
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

bool api_entries_have_change(const api_registry *r, const char *name, uint64_t number)
{
    bool   found;
    size_t i = api_entries_find(r, name, &found);
    return found && r->entries[i].number >= number;
}

bool api_entries_reserve(api_registry *r)
{
    if (r->n + 2 <= r->capacity) return true;
    size_t     capacity = r->capacity ? 2 * r->capacity : 64;
    api_entry *entries  = reallocarray(r->entries, capacity, sizeof *entries);
    if (!entries) return false;
    r->entries  = entries;
    r->capacity = capacity;
    return true;
}

/* Returns the entry of that name, creating it if necessary. The caller holds `entries_lock` and has called `reserve`.
 */
static api_entry *find_or_insert(api_registry *r, const char *name)
{
    bool   found;
    size_t i = api_entries_find(r, name, &found);
    if (found) return &r->entries[i];
    memmove(&r->entries[i + 1], &r->entries[i], (r->n - i) * sizeof(api_entry));
    r->entries[i] = (api_entry){.model = NULL};
    memcpy(r->entries[i].name, name, strlen(name) + 1);
    r->n++;
    return &r->entries[i];
}

bool api_entries_check_memory(const api_registry *r, const char *name, const api_model *model, size_t *growth,
                              api_problem *problem)
{
    bool   found;
    size_t i       = api_entries_find(r, name, &found);
    size_t current = found ? bytes_of(r->entries[i].model) : 0, bytes = bytes_of(model);
    size_t waiting = r->growing && strcmp(r->growing, name) != 0 ? r->growth : 0;
    size_t others  = r->bytes - current + waiting;
    *growth        = bytes > current ? bytes - current : 0;
    if (!model || (bytes <= r->most_bytes && others <= r->most_bytes - bytes)) return true;
    return api_fail(problem, API_INSUFFICIENT_STORAGE, NULL,
                    "the model needs %zu bytes beside %zu of the other models, of %zu for all", bytes, others,
                    r->most_bytes);
}

api_model *api_entries_replace(api_registry *r, const char *name, api_model *model, api_origin origin,
                               const api_problem *fault)
{
    api_entry *e = find_or_insert(r, name);
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

/* Removes the model and the fault of an entry that leaves the array. */
static void remove_contents(api_registry *r, api_entry *e)
{
    r->n_models -= e->model != NULL;
    r->bytes -= bytes_of(e->model);
    count_model(e->model, -1);
    api_model_release(e->model);
    set_fault(e, NULL);
}

static int compare_names(const void *name, const void *element)
{
    return strcmp(name, *(const char *const *)element);
}

void api_entries_keep(api_registry *r, const char *const *names, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++) {
        api_entry *e = &r->entries[i];
        if (e->number == 0 || (n > 0 && bsearch(e->name, names, n, sizeof *names, compare_names)))
            r->entries[kept++] = *e;
        else
            remove_contents(r, e);
    }
    r->n = kept;
}

void api_entries_free(api_registry *r)
{
    for (size_t i = 0; i < r->n; i++)
        remove_contents(r, &r->entries[i]);
    free(r->entries);
}
