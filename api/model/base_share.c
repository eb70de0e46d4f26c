/* base_share.c - see base_share.h. */
#include "base_share.h"

/* Whoever comes second at the same time finds the same, and drops it. */
const api_base *api_base_share(api_evaluation *e, unsigned with)
{
    api_model *m    = e->call->model;
    api_base  *base = atomic_load(&m->base[with]), *first = NULL;
    if (base) return base;
    if (m->n_bodies > API_BASE_MAX_BODIES) {
        api_fail(e->problem, API_NOT_SUPPORTED, NULL,
                 "base parameters are found for models of up to %d moving bodies; %s has %zu", API_BASE_MAX_BODIES,
                 m->name, m->n_bodies);
        return NULL;
    }
    if (!api_account(e, api_base_bytes(m, with))) return NULL;
    base = api_base_find(m, e->call->api->kernels, with);
    if (!base)
        api_fail(e->problem, API_MEMORY_FULL, NULL, "no memory for the base parameters");
    else if (!atomic_compare_exchange_strong(&m->base[with], &first, base)) {
        api_base_free(base);
        base = first;
    }
    return base;
}

double api_base_wait(const api_model *m, unsigned with)
{
    return atomic_load(&m->base[with]) || m->n_bodies > API_BASE_MAX_BODIES ? 0 : api_base_seconds(m, with);
}

bool api_base_check_gravity(const api_evaluation *e)
{
    const double *g = e->scene.gravity, *own = e->model->dyn->gravity;
    return (g[0] == own[0] && g[1] == own[1] && g[2] == own[2]) ||
           api_fail(e->problem, API_BAD_VALUE, "/gravity",
                    "base parameters are for the model's own gravity, [%.10g,%.10g,%.10g]", own[0], own[1], own[2]);
}
