/* wrenches.c - "wrenches": forces and torques on links and frames, by the environment. */
#include "api/lanes/batch.h"
#include "operation.h"
#include <string.h>

static const char *const fields[]            = {"link", "force", "torque", "point", "frame", NULL};
static const char *const fields_with_rates[] = {"link",       "force",       "torque", "point",
                                                "force_rate", "torque_rate", "frame",  NULL};

/* Three numbers each, as the kernels want them: of the wrench, and of its rate. */
enum { POINT = 2, VALUES = 3, RATES = 2 };
static const char *const vectors[] = {"force", "torque", "point", "force_rate", "torque_rate"};

/* Whether any of the operations takes rates. */
static bool takes_rates(const api_evaluation *e)
{
    for (size_t i = 0; i < e->n_selected; i++)
        if (e->selected[i].operation->wrench_rates) return true;
    return false;
}

/* Whether a force or torque changes with time: the options of the operation have read it. */
static bool is_signal(const api_evaluation *e, const api_node *value, const char *name)
{
    return e->selected[0].operation->wrench_signals && api_node_is(value, API_OBJECT) && name != vectors[POINT];
}

/* The axes of a frame that keeps its orientation on the wrench's body, or in the world. */
static bool turn_axes(const api_evaluation *e, const char *name, const api_place *at, const dyn_frame *frame,
                      dyn_wrench_site *site)
{
    static const double world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    site->world_axes                = frame->body == DYN_WORLD && site->body != DYN_WORLD;
    const double(*R)[3]             = site->world_axes ? world : site->X_bl.R;
    if (!site->world_axes && frame->body != site->body)
        return api_fail_at(
            e, at, API_BAD_VALUE,
            "\"%.64s\" moves against the body that the wrench acts on: a frame of that body, one that stands "
            "in the world, \"world\" or \"link\" expected",
            name);
    site->has_axes = memcmp(R, frame->X_bf.R, sizeof frame->X_bf.R) != 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            site->axes[i][j] =
                R[0][i] * frame->X_bf.R[0][j] + R[1][i] * frame->X_bf.R[1][j] + R[2][i] * frame->X_bf.R[2][j];
    return true;
}

static bool fail_axes(const api_evaluation *e, const api_place *at, const char *name)
{
    char      list[API_NAMES_TEXT];
    api_names known = api_model_frames(e->model);
    api_names_write(&known, name, list);
    return api_fail_at(e, at, API_UNKNOWN_NAME, "\"%.64s\" given, \"world\", \"link\" or a link or frame expected%s",
                       name, list);
}

static bool read_axes(const api_evaluation *e, const api_node *wrench, const api_place *up, dyn_wrench_site *site)
{
    const api_node *value = api_node_get(wrench, "frame");
    api_place       at    = api_place_key(up, "frame");
    site->world_axes      = true;
    if (!value) return true;
    const char *name = api_read_string(e, value, &at);
    if (!name) return false;
    site->world_axes = strcmp(name, "world") == 0;
    if (site->world_axes || strcmp(name, "link") == 0) return true;
    int frame = api_model_frame(e->model, name, strlen(name));
    if (frame < 0) return fail_axes(e, &at, name);
    return turn_axes(e, name, &at, &e->model->frames[frame].frame, site);
}

/* Where the wrench acts, and how many rows its components have. */
static bool read_site(api_evaluation *e, const api_node *wrench, const api_place *up, dyn_wrench_site *site)
{
    bool rates = takes_rates(e);
    if (!api_check_keys(e, wrench, up, rates ? fields_with_rates : fields, "a wrench")) return false;
    api_place at = api_place_key(up, "link");
    if (!api_node_get(wrench, "link")) return api_fail_at(e, &at, API_MISSING_FIELD, "a wrench needs its link");
    int frame = api_read_frame(e, api_node_get(wrench, "link"), &at);
    if (frame < 0) return false;
    *site = (dyn_wrench_site){.body = e->model->frames[frame].frame.body, .X_bl = e->model->frames[frame].frame.X_bf};
    if (!read_axes(e, wrench, up, site)) return false;
    for (int i = 0; i < VALUES + (rates ? RATES : 0); i++) {
        const api_node *value = api_node_get(wrench, vectors[i]);
        at                    = api_place_key(up, vectors[i]);
        if (value && !is_signal(e, value, vectors[i]) && !api_batch_measure(e, value, &at)) return false;
    }
    return true;
}

bool api_measure_wrenches(api_evaluation *e)
{
    const api_node *list = e->given[API_WRENCHES];
    api_place       at   = api_place_key(NULL, "wrenches");
    size_t          n    = api_node_size(list);
    if (list && !api_node_is(list, API_ARRAY))
        return api_fail_at(e, &at, API_WRONG_TYPE, "%s given, an array of wrenches expected", api_node_kind_text(list));
    if (n == 0) return true;
    dyn_wrench_site *sites = api_take(e->pool, n * sizeof *sites);
    if (!sites) return false;
    for (size_t i = 0; i < n; i++) {
        api_place entry = api_place_index(&at, i);
        api_node  wrench;
        if (!api_node_item(list, i, &wrench) || !read_site(e, &wrench, &entry, &sites[i])) return false;
    }
    e->scene.n_wrenches = n;
    e->scene.wrench     = sites;
    for (size_t i = 0; i < e->n_selected; i++)
        api_set_extent(&e->selected[i], API_REQUEST_WRENCHES, n);
    return true;
}

/* Lanes for n vectors of every wrench, of which the absent ones are zero. */
static double *take_vectors(api_evaluation *e, size_t n)
{
    size_t  entries = 3 * n * e->scene.n_wrenches;
    double *lanes   = api_take_lanes(e, entries);
    if (lanes) memset(lanes, 0, entries * e->window * e->lanes * sizeof *lanes);
    return lanes;
}

/* Reads n vectors of wrench `index` into `lanes`, which hold as many of each wrench. */
static bool read_vectors(api_evaluation *e, const api_node *wrench, const api_place *up, size_t index,
                         const char *const *names, size_t n, double *lanes)
{
    for (size_t i = 0; i < n; i++) {
        api_vector v = {.value = api_node_get(wrench, names[i]), .n = 3};
        if (!v.value || is_signal(e, v.value, names[i])) continue;
        v.at     = api_place_key(up, names[i]);
        v.lanes  = lanes;
        v.stride = 3 * n * e->scene.n_wrenches;
        v.first  = 3 * (n * index + i);
        if (!api_batch_read(e, &v)) return false;
    }
    return true;
}

/* Places are kept as long as what is read there may be wrong. */
bool api_decode_wrenches(api_evaluation *e)
{
    const api_node *list  = e->given[API_WRENCHES];
    size_t          n     = e->scene.n_wrenches;
    bool            rates = takes_rates(e);
    if (n == 0) return true;
    api_place *at    = api_take(e->pool, sizeof *at);
    api_place *entry = api_take(e->pool, n * sizeof *entry);
    e->wrenches      = take_vectors(e, VALUES);
    if (!at || !entry || !e->wrenches) return false;
    if (rates && !(e->wrench_rates = take_vectors(e, RATES))) return false;
    *at = api_place_key(NULL, "wrenches");
    for (size_t i = 0; i < n; i++) {
        api_node wrench;
        entry[i] = api_place_index(at, i);
        if (!api_node_item(list, i, &wrench)) return false;
        if (!read_vectors(e, &wrench, &entry[i], i, vectors, VALUES, e->wrenches)) return false;
        if (rates && !read_vectors(e, &wrench, &entry[i], i, vectors + VALUES, RATES, e->wrench_rates)) return false;
    }
    return true;
}
