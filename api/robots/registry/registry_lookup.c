/* registry_lookup.c - finds one model, lists all, and visits all at one time. */
#include "registry_entries.h"
#include <stdlib.h>

api_model *api_registry_find(api_registry *r, const char *name)
{
    bool found;
    pthread_mutex_lock(&r->entries_lock);
    size_t     i     = api_entries_find(r, name, &found);
    api_model *model = found && r->entries[i].model ? api_model_share(r->entries[i].model) : NULL;
    pthread_mutex_unlock(&r->entries_lock);
    return model;
}

bool api_registry_check_fault(api_registry *r, const char *name, api_problem *problem)
{
    bool            found;
    api_model_fault fault;
    pthread_mutex_lock(&r->entries_lock);
    size_t i = api_entries_find(r, name, &found);
    found    = found && r->entries[i].fault != API_NO_PROBLEM;
    if (found) api_entry_copy_fault(&r->entries[i], &fault);
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
        const api_entry *e = &r->entries[i];
        if (e->model) list->models[list->n_models++] = api_model_share(e->model);
        if (e->fault) api_entry_copy_fault(e, &list->faults[list->n_faults++]);
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

bool api_registry_has_change(api_registry *r, const char *name, uint64_t number)
{
    pthread_mutex_lock(&r->entries_lock);
    bool has = api_entries_have_change(r, name, number);
    pthread_mutex_unlock(&r->entries_lock);
    return has;
}
