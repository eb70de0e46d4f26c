/* api.c - opens and closes the service, sets its limits and its phase, and keeps the memory of workers. */
#include "metrics.h"
#include "api/service/http/call.h"
#include "api/requests/operations/operation_list.h"
#include "api/codec/number.h"
#include "api/base/memory/shortage.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void list_targets(char *text, size_t size)
{
    size_t n = 0;
    text[0]  = '\0';
    for (size_t i = 0; dyn_kernels_at(i) && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", i > 0 ? ", " : "", dyn_kernels_at(i)->target);
}

static void name_operations(void)
{
    for (size_t i = 0; api_operations[i]; i++)
        api_metric_name_operation(api_operation_number(api_operations, api_operations[i]), api_operations[i]->name);
    api_metric_name_operation(api_operation_number(api_operations, NULL), "evaluate");
}

static const dyn_kernels *find_kernels(const char *target, char *error, size_t error_size)
{
    char               targets[128];
    const dyn_kernels *kernels = dyn_kernels_find(target);
    if (kernels) return kernels;
    list_targets(targets, sizeof targets);
    snprintf(error, error_size, "this machine has no target \"%s\"; it has %s", target, targets);
    return NULL;
}

api *api_open(const api_config *config, char *error, size_t error_size)
{
    const dyn_kernels *kernels = find_kernels(config->target, error, error_size);
    if (!kernels) return NULL;
    struct timespec now;
    api            *a = calloc(1, sizeof *a);
    if (a) pthread_mutex_init(&a->reasons_lock, NULL);
    if (a) api_locked_cache_open(&a->locked);
    if (a) a->models = api_registry_new(config->limits.models, config->limits.model_memory);
    if (!a || !a->models) {
        snprintf(error, error_size, "no memory");
        free(a);
        return NULL;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    api_shortage_watch_libraries();
    json_object_seed(0); /* not thread-safe: seed jansson's hashes before threads start */
    snprintf(a->version, sizeof a->version, "%s", config->version);
    snprintf(a->build, sizeof a->build, "%s", config->build ? config->build : "");
    name_operations();
    api_numbers_choose(kernels->target);
    api_set_limits(a, &config->limits);
    api_set_lists(a, config->hosts, config->origins);
    a->memory_holders = config->memory_holders;
    a->memory_source  = config->memory_source;
    a->resources      = api_resources;
    a->files          = config->files;
    a->contract       = api_contract_file();
    a->kernels        = kernels;
    a->alone          = dyn_kernels_for_one_state(kernels);
    a->budget.limit   = config->limits.memory;
    atomic_init(&a->limits.memory, config->limits.memory);
    a->calibration = api_calibrate(kernels);
    api_cost_feedback_init(&a->cost_feedback);
    a->started = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    atomic_init(&a->next_id, (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec);
    return a;
}

void api_set_limits(api *a, const api_limits *limits)
{
    atomic_store(&a->limits.body, limits->body);
    atomic_store(&a->limits.answer, limits->answer);
    atomic_store(&a->limits.rows, limits->rows);
    atomic_store(&a->limits.nesting, limits->nesting);
    atomic_store(&a->limits.models, limits->models);
    atomic_store(&a->limits.model_memory, limits->model_memory);
    atomic_store(&a->limits.links, limits->links);
    atomic_store(&a->limits.timeout, limits->timeout);
    api_registry_set_limits(a->models, limits->models, limits->model_memory);
}

void api_set_lists(api *a, const char *hosts, const char *origins)
{
    atomic_store(&a->hosts, hosts);
    atomic_store(&a->origins, origins);
}

const char *api_target(const api *a)
{
    return a->kernels->target;
}

const char *api_arithmetic(const api *a)
{
    return dyn_kernels_arithmetic(a->kernels);
}

void api_close(api *a)
{
    if (!a) return;
    api_locked_cache_close(&a->locked);
    api_registry_free(a->models);
    api_reasons_free(a);
    free(a);
}

void api_set_ready(api *a)
{
    int loading = API_LOADING; /* only a loading server becomes ready; a draining one stays draining */
    atomic_compare_exchange_strong(&a->phase, &loading, API_READY);
}

void api_set_draining(api *a)
{
    atomic_store(&a->phase, API_DRAINING_PHASE);
}

void api_set_change(api *a, uint64_t number)
{
    atomic_store(&a->change, number);
    atomic_store(&a->shared, true);
}

size_t api_memory_used(const api *a)
{
    return atomic_load(&a->budget.used);
}

bool api_memory_is_exhausted(const api *a)
{
    return api_budget_is_exhausted(&a->budget);
}

api_worker *api_worker_open(void)
{
    return calloc(1, sizeof(api_worker));
}

void api_worker_set_helpers(api_worker *worker, const api_helpers *helpers)
{
    worker->helpers = helpers;
}

void api_worker_reset(api_worker *worker)
{
    api_scratch_reset(&worker->scratch);
}

void api_worker_close(api_worker *worker)
{
    if (!worker) return;
    api_scratch_free(&worker->scratch);
    free(worker);
}
