/* wrenches.c - read the wrenches of a request into lanes. */
#include "vector_reader.h"
#include "api/requests/fields/wrench_fields.h"
#include <string.h>

/* Reserves lanes for n vectors of every wrench, zeroed. NULL with a problem. */
static double *take_vectors(api_plan *plan, size_t n)
{
    size_t  entries = 3 * n * plan->query->scene.n_wrenches;
    double *lanes   = api_take_lanes(plan, entries);
    if (lanes) memset(lanes, 0, entries * plan->window * plan->lanes * sizeof *lanes);
    return lanes;
}

/* Reads the vectors of wrench `index`, or with `rates` those of its rates, into the plan. False with a problem. */
static bool read_vectors(api_plan *plan, const api_node *wrench, const api_place *up, size_t index, bool rates)
{
    const char *const *names = api_wrench_vectors + (rates ? API_WRENCH_VALUES : 0);
    const size_t       n     = rates ? API_WRENCH_RATES : API_WRENCH_VALUES;
    double            *lanes = rates ? plan->wrench_rates : plan->wrenches;
    for (size_t i = 0; i < n; i++) {
        api_vector v = {.value = api_node_get(wrench, names[i]), .n = 3};
        if (!v.value || api_is_wrench_signal(plan->query, v.value, names[i])) continue;
        v.at     = api_place_key(up, names[i]);
        v.lanes  = lanes;
        v.stride = 3 * n * plan->query->scene.n_wrenches;
        v.first  = 3 * (n * index + i);
        if (!api_vector_read(plan, &v)) return false;
    }
    return true;
}

/* Reads all wrenches into lanes. Their places (api_place) are taken from the pool, because batches that are read window
 * by window still point to them. */
bool api_fill_wrenches(api_plan *plan)
{
    const api_node *list  = plan->query->field[API_WRENCHES];
    size_t          n     = plan->query->scene.n_wrenches;
    bool            rates = api_takes_wrench_rates(plan->query);
    if (n == 0) return true;
    api_place *at    = api_take(plan->query->pool, sizeof *at);
    api_place *entry = api_take(plan->query->pool, n * sizeof *entry);
    plan->wrenches   = take_vectors(plan, API_WRENCH_VALUES);
    if (!at || !entry || !plan->wrenches) return false;
    if (rates && !(plan->wrench_rates = take_vectors(plan, API_WRENCH_RATES))) return false;
    *at = api_place_key(NULL, "wrenches");
    for (size_t i = 0; i < n; i++) {
        api_node wrench;
        entry[i] = api_place_index(at, i);
        if (!api_node_item(list, i, &wrench)) return false;
        if (!read_vectors(plan, &wrench, &entry[i], i, false)) return false;
        if (rates && !read_vectors(plan, &wrench, &entry[i], i, true)) return false;
    }
    return true;
}
