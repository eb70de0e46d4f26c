/* free_coordinates.c - read "free": see free_coordinates.h. */
#include "free_coordinates.h"
#include "fields.h"
#include "api/codec/number.h"
#include <string.h>

enum { BASE_COORDINATES = 6 };

static bool read_names(const api_query *q, const api_node *list, const api_place *at, bool *driven)
{
    for (size_t i = 0; i < api_count_names(list); i++) {
        api_node  name;
        api_place entry = api_take_name(list, at, i, &name);
        int       v     = api_read_coordinate(q, &name, &entry);
        if (v < 0) return false;
        if (!driven[v])
            return api_fail_at(q->problem, &entry, API_DUPLICATE_NAME, "%.64s is listed twice",
                               q->model->velocity_names[v]);
        driven[v] = false;
    }
    return true;
}

static bool read_base(const api_query *q, const api_place *at, bool *driven)
{
    if (!q->model->dyn->floating)
        return api_fail_at(q->problem, at, API_BAD_VALUE, "the base of %s is fixed and cannot be free", q->model->name);
    memset(driven, false, BASE_COORDINATES);
    return true;
}

bool api_read_free(api_query *q, const api_node *options, const api_place *up)
{
    const api_node *value = api_node_get(options, "free");
    api_place       at    = api_place_key(up, "free");
    if (!value) return true;
    if (!api_node_is(value, API_ARRAY) && !api_node_is(value, API_STRING))
        return api_fail_at(q->problem, &at, API_WRONG_TYPE, "%s given, an array of velocity names or \"base\" expected",
                           api_node_kind_text(value));
    bool *driven = api_take(q->pool, q->model->nv * sizeof *driven);
    if (!driven) return false;
    memset(driven, true, q->model->nv);
    q->driven       = driven;
    const bool base = api_node_is(value, API_STRING) && strcmp(api_node_string(value, NULL), "base") == 0;
    return base ? read_base(q, &at, driven) : read_names(q, value, &at, driven);
}

bool api_base_is_free(const api_query *q)
{
    for (int v = 0; q->driven && q->model->dyn->floating && v < BASE_COORDINATES; v++)
        if (!q->driven[v]) return true;
    return false;
}
