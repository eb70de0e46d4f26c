/* window.c - see window.h. */
#include "plan.h"
#include "batch.h"
#include "api/request/operation.h"
#include <string.h>

/* Less than the caches next to a processor have. */
enum { WINDOW_BYTES = 16 * 1024, WRENCH_ENTRIES = 9 + 6 /* values and rates */, WRENCH_VECTORS = WRENCH_ENTRIES / 3 };

static bool stand_alone(const api_evaluation *e)
{
    for (size_t i = 0; i < e->n_selected; i++)
        if (e->selected[i].operation->begin || e->selected[i].operation->finish) return false;
    return !e->model->loops && e->samples == 0;
}

static size_t count_entries(const api_evaluation *e)
{
    size_t entries = WRENCH_ENTRIES * e->scene.n_wrenches;
    for (int f = 0; f < API_STATE_FIELDS; f++)
        if (e->given[f]) entries += f == API_Q ? e->model->nq : e->model->nv;
    for (size_t i = 0; i < e->n_selected; i++)
        for (size_t output = 0; api_has_output(e->selected[i].operation, output); output++)
            if (e->selected[i].outputs & API_BIT(output))
                entries += api_output_entries(e->model, &e->selected[i], output);
    return entries;
}

/* Entries a state of the longest vector there is. */
static size_t row_entries(const api_evaluation *e)
{
    size_t n = e->model->nq > e->model->nv ? e->model->nq : e->model->nv;
    return n > 3 ? n : 3;
}

static size_t held_bytes(const api_evaluation *e)
{
    return (e->window * e->entries + row_entries(e)) * e->lanes * sizeof *e->held;
}

bool api_window_open(api_evaluation *e)
{
    size_t most = API_CHUNK / e->lanes;
    e->blocks   = (api_states(e) + e->lanes - 1) / e->lanes;
    e->chunk    = e->blocks < most ? e->blocks : most;
    e->window   = e->blocks;
    if (!stand_alone(e)) return true;
    e->entries   = count_entries(e);
    size_t block = e->entries * e->lanes * sizeof *e->held, fit = WINDOW_BYTES / (block > 0 ? block : 1);
    e->window = fit < 1 ? 1 : fit < e->chunk ? fit : e->chunk;
    e->held   = api_take(e->pool, held_bytes(e));
    if (!(e->held_by_all = e->held)) return false;
    e->batches = api_take(e->pool, (API_STATE_FIELDS + WRENCH_VECTORS * e->scene.n_wrenches) * sizeof *e->batches);
    return e->batches != NULL;
}

double *api_take_lanes(api_evaluation *e, size_t entries)
{
    if (!e->held) return api_take(e->pool, e->blocks * e->lanes * entries * sizeof(double));
    if (entries > e->entries - e->entries_held) {
        api_fail(e->problem, API_INTERNAL_ERROR, NULL, "the lanes outgrew their computed size");
        return NULL;
    }
    double *lanes = api_behind(e, e->held, e->entries_held, e->window);
    e->entries_held += entries;
    return lanes;
}

bool api_window_copy(api_evaluation *e, api_evaluation *seat)
{
    seat->held    = api_take(e->pool, held_bytes(e));
    seat->batches = api_take(e->pool, e->n_batches * sizeof *e->batches);
    if (!seat->held || !seat->batches) return false;
    memcpy(seat->held, e->held, held_bytes(e));
    for (int f = 0; f < API_STATE_FIELDS; f++)
        seat->state[f] = api_window_own(e, seat, e->state[f]);
    seat->wrenches     = api_window_own(e, seat, e->wrenches);
    seat->wrench_rates = api_window_own(e, seat, e->wrench_rates);
    for (size_t i = 0; i < e->n_selected; i++)
        for (size_t output = 0; output < API_MAX_OUTPUTS; output++)
            seat->selected[i].result[output] = api_window_own(e, seat, e->selected[i].result[output]);
    for (size_t i = 0; i < e->n_batches; i++) {
        seat->batches[i]       = e->batches[i];
        seat->batches[i].lanes = api_window_own(e, seat, e->batches[i].lanes);
    }
    return true;
}
