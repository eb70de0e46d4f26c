/* free_coordinates.c - see free_coordinates.h. */
#include "free_coordinates.h"
#include "api/wire/number.h"
#include <string.h>

enum { BASE_COORDINATES = 6 };

static bool read_names(const api_evaluation *e, const api_node *list, const api_place *at, bool *driven)
{
    for (size_t i = 0; i < api_node_size(list); i++) {
        api_node  item;
        api_place entry = api_place_index(at, i);
        int       v     = api_node_item(list, i, &item) ? api_read_coordinate(e, &item, &entry) : -1;
        if (v < 0) return false;
        if (!driven[v])
            return api_fail_at(e, &entry, API_DUPLICATE_NAME, "%.64s is listed twice", e->model->velocity_names[v]);
        driven[v] = false;
    }
    return true;
}

static bool read_base(const api_evaluation *e, const api_node *value, const api_place *at, bool *driven)
{
    if (strcmp(api_node_string(value, NULL), "base") != 0)
        return api_fail_at(e, at, API_UNKNOWN_NAME, "\"%.64s\" given, an array of velocity names or \"base\" expected",
                           api_node_string(value, NULL));
    if (!e->model->dyn->floating)
        return api_fail_at(e, at, API_BAD_VALUE, "the base of %s is fixed and cannot be free", e->model->name);
    memset(driven, false, BASE_COORDINATES);
    return true;
}

bool api_read_free(api_evaluation *e, const api_node *options, const api_place *up)
{
    const api_node *value = api_node_get(options, "free");
    api_place       at    = api_place_key(up, "free");
    if (!value) return true;
    if (!api_node_is(value, API_ARRAY) && !api_node_is(value, API_STRING))
        return api_fail_at(e, &at, API_WRONG_TYPE, "%s given, an array of velocity names or \"base\" expected",
                           api_node_kind_text(value));
    bool *driven = api_take(e->pool, e->model->nv * sizeof *driven);
    if (!driven) return false;
    memset(driven, true, e->model->nv);
    e->driven = driven;
    return api_node_is(value, API_ARRAY) ? read_names(e, value, &at, driven) : read_base(e, value, &at, driven);
}

bool api_base_is_free(const api_evaluation *e)
{
    for (int v = 0; e->driven && e->model->dyn->floating && v < BASE_COORDINATES; v++)
        if (!e->driven[v]) return true;
    return false;
}

/* Entry k of a vector that is 0 where it is found: of qdd that of a free coordinate, of tau that of a driven one. */
static bool check(const api_evaluation *e, const api_vector *v, const double *values, size_t stride, size_t lanes,
                  const api_place *row, bool driven, const char *text)
{
    const bool *of = e->driven;
    for (size_t k = 0; of && k < v->n; k++)
        for (size_t lane = 0; lane < lanes && of[k] == driven; lane++) {
            if (values[k * stride + lane] == 0) continue;
            if (!row) return false;
            api_place at = api_vector_entry(v, row, k);
            return api_fail_at(e, &at, API_BAD_VALUE, "%.64s is %s is found, and %s given instead of 0", v->names[k],
                               text, API_NUMBER_TEXT(values[k * stride + lane]));
        }
    return true;
}

bool api_check_free_qdd(const api_evaluation *e, const api_vector *v, double *qdd, size_t stride, size_t lanes,
                        const api_place *row)
{
    return check(e, v, qdd, stride, lanes, row, false, "free: its acceleration");
}

bool api_check_free_tau(const api_evaluation *e, const api_vector *v, double *tau, size_t stride, size_t lanes,
                        const api_place *row)
{
    return check(e, v, tau, stride, lanes, row, true, "not free: its effort");
}
