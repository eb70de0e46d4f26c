/* shared_base_parameters.c - find a model's base parameters once and share them: see shared_base_parameters.h. */
#include "shared_base_parameters.h"
#include "dynamics/loop_reference/closed_states.h"
#include "api/codec/number.h"
#include "api/base/work/deadline.h"

static bool fail_size(const api_query *q)
{
    return api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                    "base parameters are found for models of up to %d moving bodies; %s has %zu", DYN_BASE_MAX_BODIES,
                    q->model->name, q->model->n_bodies);
}

static bool close_loops(void *arg, const dyn_scene *scene, double *q)
{
    return dyn_closed_states_approach(arg, scene, q);
}

static const double *tree_rates(void *arg)
{
    const dyn_closed_states *walk = arg;
    return dyn_loop_tree_qd(walk->closed);
}

/* Finds the base parameters: those among the candidates or, where these are NULL, with the joint parameters `with`.
 * Returns NULL if there is no memory, a search did not end in time, or with *too_large if numbers overflow. */
static dyn_base *find_by(const api_query *q, const dyn_kernels *kernels, const dyn_base_loop_solver *closing,
                         unsigned with, const dyn_base_candidates *among)
{
    const dyn_mechanism robot     = api_model_mechanism(q->model);
    const dyn_deadline  deadline  = api_deadline_for_dynamics(q->input->deadline);
    bool                too_large = false;
    dyn_base           *base      = among ? dyn_base_find_among(&robot, kernels, closing, among, deadline, &too_large)
                                          : dyn_base_find(&robot, kernels, closing, with, deadline, &too_large);
    if (too_large)
        api_fail(q->problem, API_RESULT_NOT_FINITE, NULL,
                 "lengths of the model are too large to find base parameters with");
    if (api_deadline_check(q->input->deadline, q->problem)) return base;
    dyn_base_free(base); /* result of a search that the deadline cut short */
    return NULL;
}

static dyn_base *find_closed(const api_query *q, unsigned with, const dyn_base_candidates *among)
{
    const dyn_kernels  *tree  = q->call->api->kernels;
    const dyn_kernels   over  = dyn_loop_kernels(tree);
    const dyn_mechanism robot = api_model_mechanism(q->model);
    dyn_closed_states   walk;
    if (!dyn_closed_states_open(api_pool_memory(q->pool), &robot, tree, api_deadline_for_dynamics(q->input->deadline),
                                &walk))
        return NULL;
    const dyn_base_loop_solver closing = {walk.closed, close_loops, tree_rates, &walk};
    return find_by(q, &over, &closing, with, among);
}

static dyn_base *find(const api_query *q, unsigned with, const dyn_base_candidates *among)
{
    dyn_base *base =
        q->model->loops ? find_closed(q, with, among) : find_by(q, q->call->api->kernels, NULL, with, among);
    if (!base) /* a problem that was set before is kept */
        api_fail(q->problem, API_MEMORY_FULL, NULL, "no memory for the base parameters");
    return base;
}

dyn_base *api_base_find_in_request(const api_query *q, const dyn_base_candidates *among)
{
    const api_model *m    = q->model;
    const size_t     rows = among->states * m->nv, kernel = DYN_PER_BODY * m->n_bodies + 3 * m->n_movers;
    if (!api_pool_claim(q->pool, sizeof(double) * (among->n * (rows + 2 * among->n) + kernel * m->nv * DYN_MAX_LANES)))
        return NULL;
    return find(q, 0, among);
}

/* Two requests may find the same base parameters at the same time: the model keeps the first, the second is freed. */
const dyn_base *api_base_share(api_query *q, unsigned with)
{
    api_model *m    = q->reduced ? q->reduced : q->call->model;
    dyn_base  *base = atomic_load(&m->base[with]), *first = NULL;
    if (base) return base;
    if (m->n_bodies > DYN_BASE_MAX_BODIES && !fail_size(q)) return NULL;
    const dyn_mechanism robot = api_model_mechanism(m);
    if (!api_pool_claim(q->pool, dyn_base_estimate_bytes(&robot, with))) return NULL;
    base = find(q, with, NULL);
    if (base && !atomic_compare_exchange_strong(&m->base[with], &first, base)) {
        dyn_base_free(base);
        base = first;
    }
    return base;
}

double api_base_wait(const api_model *m, unsigned with)
{
    if (atomic_load(&m->base[with]) || m->n_bodies > DYN_BASE_MAX_BODIES) return 0;
    const dyn_mechanism mechanism = api_model_mechanism(m);
    const double        sample    = m->loops ? dyn_closed_states_seconds(&mechanism) : 0;
    return dyn_base_estimate_seconds(&mechanism, with) + (double)dyn_base_sample_count(&mechanism) * sample;
}

bool api_base_check_gravity(const api_query *q, api_problem *problem)
{
    const double *g = q->scene.gravity, *own = q->model->dyn->gravity;
    return (g[0] == own[0] && g[1] == own[1] && g[2] == own[2]) ||
           api_fail(problem, API_BAD_VALUE, "/gravity", "base parameters are for the model's own gravity, [%s,%s,%s]",
                    API_NUMBER_TEXT(own[0]), API_NUMBER_TEXT(own[1]), API_NUMBER_TEXT(own[2]));
}
