/* wrench_fields.c - read where and in which axes "wrenches" act, and count their rows: see wrench_fields.h. */
#include "wrench_fields.h"
#include "fields.h"
#include "operation.h"
#include "rows.h"
#include <string.h>

static const char *const fields[]            = {"link", "force", "torque", "point", "frame", NULL};
static const char *const fields_with_rates[] = {"link",       "force",       "torque", "point",
                                                "force_rate", "torque_rate", "frame",  NULL};

const char *const api_wrench_vectors[API_WRENCH_VALUES + API_WRENCH_RATES] = {"force", "torque", "point", "force_rate",
                                                                              "torque_rate"};

bool api_takes_wrench_rates(const api_query *q)
{
    for (size_t i = 0; i < q->n_selected; i++)
        if (q->selected[i].operation->wrench_rates) return true;
    return false;
}

bool api_is_wrench_signal(const api_query *q, const api_node *value, const char *name)
{
    return q->selected[0].operation->wrench_signals && api_node_is(value, API_OBJECT) &&
           name != api_wrench_vectors[API_WRENCH_POINT];
}

/* Sets the axes of the wrench to those of a frame, which must be fixed to the body of the wrench or to the world. */
static bool turn_axes(const api_query *q, const char *name, const api_place *at, const dyn_frame *frame,
                      dyn_wrench_site *site)
{
    static const double world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double(*R)[3]             = site->X_bl.R;
    site->world_axes                = frame->body == DYN_WORLD && site->body != DYN_WORLD;
    if (site->world_axes) R = world;
    if (!site->world_axes && frame->body != site->body)
        return api_fail_at(
            q->problem, at, API_BAD_VALUE,
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

static bool fail_axes(const api_query *q, const api_place *at, const char *name)
{
    char      list[API_NAMES_TEXT];
    api_names known = api_model_frames(q->model);
    api_names_write(&known, name, list);
    return api_fail_at(q->problem, at, API_UNKNOWN_NAME,
                       "\"%.64s\" given, \"world\", \"link\" or a link or frame expected%s", name, list);
}

static bool read_axes(const api_query *q, const api_node *wrench, const api_place *up, dyn_wrench_site *site)
{
    const api_node *value = api_node_get(wrench, "frame");
    api_place       at    = api_place_key(up, "frame");
    site->world_axes      = true;
    if (!value) return true;
    const char *name = api_read_string(q, value, &at);
    if (!name) return false;
    site->world_axes = strcmp(name, "world") == 0;
    if (site->world_axes || strcmp(name, "link") == 0) return true;
    int frame = api_model_frame(q->model, name, strlen(name));
    if (frame < 0) return fail_axes(q, &at, name);
    return turn_axes(q, name, &at, &q->model->frames[frame].frame, site);
}

/* Reads on which body, at which point and in which axes the wrench acts, and counts the rows of its vectors. */
static bool read_site(api_query *q, const api_node *wrench, const api_place *up, dyn_wrench_site *site)
{
    bool rates = api_takes_wrench_rates(q);
    if (!api_check_keys(q, wrench, up, rates ? fields_with_rates : fields, "a wrench")) return false;
    api_place at = api_place_key(up, "link");
    if (!api_node_get(wrench, "link"))
        return api_fail_at(q->problem, &at, API_MISSING_FIELD, "a wrench needs its link");
    int frame = api_read_frame(q, api_node_get(wrench, "link"), &at);
    if (frame < 0) return false;
    *site = (dyn_wrench_site){.body = q->model->frames[frame].frame.body, .X_bl = q->model->frames[frame].frame.X_bf};
    if (!read_axes(q, wrench, up, site)) return false;
    for (int i = 0; i < API_WRENCH_VALUES + (rates ? API_WRENCH_RATES : 0); i++) {
        const api_node *value = api_node_get(wrench, api_wrench_vectors[i]);
        at                    = api_place_key(up, api_wrench_vectors[i]);
        if (value && !api_is_wrench_signal(q, value, api_wrench_vectors[i]) && !api_batch_measure(q, value, &at))
            return false;
    }
    return true;
}

bool api_measure_wrenches(api_query *q)
{
    const api_node *list = q->field[API_WRENCHES];
    api_place       at   = api_place_key(NULL, "wrenches");
    size_t          n    = api_node_size(list);
    if (list && !api_node_is(list, API_ARRAY))
        return api_fail_at(q->problem, &at, API_WRONG_TYPE, "%s given, an array of wrenches expected",
                           api_node_kind_text(list));
    if (n == 0) return true;
    dyn_wrench_site *sites = api_take(q->pool, n * sizeof *sites);
    if (!sites) return false;
    for (size_t i = 0; i < n; i++) {
        api_place entry = api_place_index(&at, i);
        api_node  wrench;
        if (!api_node_item(list, i, &wrench) || !read_site(q, &wrench, &entry, &sites[i])) return false;
    }
    q->scene.n_wrenches = n;
    q->scene.wrench     = sites;
    for (size_t i = 0; i < q->n_selected; i++)
        api_set_extent(&q->selected[i], API_REQUEST_WRENCHES, n);
    return true;
}
