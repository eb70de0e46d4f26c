/* wrenches.c - "wrenches": forces and torques on links, by the environment. */
#include "batch.h"
#include <string.h>

static const char *const fields[]  = {"link", "force", "torque", "point", "frame", NULL};
static const char *const vectors[] = {"force", "torque", "point"}; /* as the kernels want them, three numbers each */

static const json_t *list_of(const json_t *request, api_place *at)
{
    *at = api_place_key(NULL, "wrenches");
    return json_object_get(request, "wrenches");
}

static bool read_axes(const api_evaluation *e, const json_t *wrench, const api_place *up, bool *world_axes)
{
    const json_t *value = json_object_get(wrench, "frame");
    api_place     at    = api_place_key(up, "frame");
    *world_axes         = true;
    if (!value) return true;
    const char *name = api_read_string(e, value, &at);
    if (!name) return false;
    *world_axes = strcmp(name, "world") == 0;
    return *world_axes || strcmp(name, "link") == 0 ||
           api_fail_at(e, &at, API_BAD_VALUE, "\"%.64s\" given, \"world\" or \"link\" expected", name);
}

/* Where the wrench acts, and how many rows its components have. */
static bool read_site(api_evaluation *e, const json_t *wrench, const api_place *up, dyn_wrench_site *site)
{
    if (!api_check_keys(e, wrench, up, fields, "a wrench")) return false;
    api_place at = api_place_key(up, "link");
    if (!json_object_get(wrench, "link")) return api_fail_at(e, &at, API_MISSING_FIELD, "a wrench needs its link");
    int link = api_read_frame(e, json_object_get(wrench, "link"), &at, true);
    if (link < 0 || !read_axes(e, wrench, up, &site->world_axes)) return false;
    site->body = e->model->frames[link].frame.body;
    site->X_bl = e->model->frames[link].frame.X_bf;
    for (int i = 0; i < 3; i++) {
        const json_t *value = json_object_get(wrench, vectors[i]);
        at                  = api_place_key(up, vectors[i]);
        if (value && !api_batch_measure(e, value, &at)) return false;
    }
    return true;
}

bool api_measure_wrenches(api_evaluation *e, const json_t *request)
{
    api_place     at;
    const json_t *list = list_of(request, &at);
    size_t        n    = json_array_size(list);
    if (list && !json_is_array(list))
        return api_fail_at(e, &at, API_WRONG_TYPE, "%s given, an array of wrenches expected", api_json_kind(list));
    if (n == 0) return true;
    dyn_wrench_site *sites = api_take(e, n * sizeof *sites);
    if (!sites) return false;
    for (size_t i = 0; i < n; i++) {
        api_place entry = api_place_index(&at, i);
        if (!read_site(e, json_array_get(list, i), &entry, &sites[i])) return false;
    }
    e->scene.n_wrenches = n;
    e->scene.wrench     = sites;
    return true;
}

static bool read_components(const api_evaluation *e, const json_t *wrench, const api_place *up, size_t first)
{
    double scratch[3];
    for (size_t i = 0; i < 3; i++) {
        api_vector v = {.value = json_object_get(wrench, vectors[i]), .n = 3};
        if (!v.value) continue;
        v.at     = api_place_key(up, vectors[i]);
        v.lanes  = e->wrenches;
        v.stride = 9 * e->scene.n_wrenches;
        v.first  = first + 3 * i;
        if (!api_batch_read(e, &v, scratch)) return false;
    }
    return true;
}

bool api_decode_wrenches(api_evaluation *e, const json_t *request)
{
    api_place     at;
    const json_t *list = list_of(request, &at);
    size_t        n    = e->scene.n_wrenches;
    if (n == 0) return true;
    e->wrenches = api_take_lanes(e, 9 * n);
    if (!e->wrenches) return false;
    memset(e->wrenches, 0, 9 * n * e->blocks * e->lanes * sizeof *e->wrenches); /* what is absent is zero */
    for (size_t i = 0; i < n; i++) {
        api_place entry = api_place_index(&at, i);
        if (!read_components(e, json_array_get(list, i), &entry, 9 * i)) return false;
    }
    return true;
}
