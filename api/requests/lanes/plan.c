/* plan.c - choose kernels and lay out the lanes of all states, or of a window: see plan.h. */
#include "vector_reader.h"
#include "dynamics/loops/loop_kernels.h"

/* Window size, chosen to fit into the first-level data cache of a core; numbers per wrench. */
enum { WINDOW_BYTES = 16 * 1024, WRENCH_ENTRIES = 9 + 6 /* values and rates */, WRENCH_VECTORS = WRENCH_ENTRIES / 3 };

/* A single state is evaluated by kernels with one lane: the state gets the same bits, and takes less time than a whole
 * block. */
bool api_plan_choose_kernels(api_plan *plan)
{
    const api_query *q = plan->query;
    const api       *a = q->call->api;
    plan->target       = api_states(q) == 1 || q->row_scenes ? a->alone : a->kernels;
    plan->lanes        = (size_t)plan->target->lanes;
    plan->kernels      = plan->target;
    if (!q->model->loops) return true;
    dyn_kernels *table = api_take(q->pool, sizeof *table);
    if (table) *table = dyn_loop_kernels(plan->target);
    plan->kernels = table;
    return table != NULL;
}

static bool states_are_independent(const api_query *q)
{
    for (size_t i = 0; i < q->n_selected; i++) {
        const struct api_operation *operation = q->selected[i].operation;
        if (operation->begin || (operation->finish && !operation->unordered) || q->selected[i].all_in_lanes)
            return false;
    }
    return !q->model->loops && q->samples == 0;
}

/* Returns the entries a state of the vectors that only one operation reads. */
static size_t count_own_entries(const api_query *q)
{
    size_t entries = 0;
    for (size_t i = 0; i < q->n_selected; i++)
        if (q->selected[i].operation->own_entries) entries += q->selected[i].operation->own_entries(&q->selected[i]);
    return entries;
}

/* Returns the entries a state that a window holds: fields, wrenches and all outputs. */
static size_t count_entries(const api_query *q)
{
    size_t entries = WRENCH_ENTRIES * q->scene.n_wrenches + count_own_entries(q);
    for (int f = 0; f < API_STATE_FIELDS; f++)
        if (q->field[f]) entries += api_is_position((api_field)f) ? q->model->nq : q->model->nv;
    entries += q->n_higher * q->model->nv;
    for (size_t i = 0; i < q->n_selected; i++)
        for (size_t output = 0; api_has_output(q->selected[i].operation, output); output++)
            if (q->selected[i].outputs & API_BIT(output))
                entries += api_output_entries(q->model, &q->selected[i], output);
    return entries;
}

/* Returns the length of the longest vector of a state. */
static size_t longest_row(const api_model *m)
{
    size_t n = m->nq > m->nv ? m->nq : m->nv;
    return n > 3 ? n : 3;
}

size_t api_window_bytes(const api_plan *plan)
{
    return (plan->window * plan->entries + longest_row(plan->query->model)) * plan->lanes * sizeof(double);
}

bool api_plan_open_window(api_plan *plan)
{
    const api_query *q    = plan->query;
    size_t           most = API_CHUNK / plan->lanes;
    plan->blocks          = (api_states(q) + plan->lanes - 1) / plan->lanes;
    plan->chunk           = plan->blocks < most ? plan->blocks : most;
    plan->window          = plan->blocks;
    if (!states_are_independent(q)) return true;
    plan->entries = count_entries(q);
    size_t block = plan->entries * plan->lanes * sizeof(double), fit = WINDOW_BYTES / (block > 0 ? block : 1);
    plan->window       = fit < 1 ? 1 : fit < plan->chunk ? fit : plan->chunk;
    plan->window_lanes = api_take(q->pool, api_window_bytes(plan));
    if (!plan->window_lanes) return false;
    const size_t entries = count_own_entries(q);
    const size_t vectors = entries < API_OWN_VECTORS ? entries : API_OWN_VECTORS;
    plan->batches =
        api_take(q->pool, (API_STATE_FIELDS + q->n_higher + vectors + WRENCH_VECTORS * q->scene.n_wrenches) *
                              sizeof *plan->batches);
    return plan->batches != NULL;
}

double *api_take_lanes(api_plan *plan, size_t entries)
{
    const api_query *q = plan->query;
    if (!plan->window_lanes) return api_take(q->pool, plan->blocks * plan->lanes * entries * sizeof(double));
    if (entries > plan->entries - plan->entries_taken) {
        api_fail(
            q->problem, API_INTERNAL_ERROR, NULL,
            "a defect of the server, not of the request: the numbers of a window need more memory than was reserved");
        return NULL;
    }
    double *lanes = plan->window_lanes + plan->window * plan->entries_taken * plan->lanes;
    plan->entries_taken += entries;
    return lanes;
}
