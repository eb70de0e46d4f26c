/* directions.c - reads the directions of directional derivatives: see directions.h. */
#include "directions.h"
#include "api/service/http/call.h"

bool api_directions_count(const api_query *q, const api_place *pointer, size_t count, size_t *n)
{
    if (*n > 0 && count != *n)
        return api_fail_at(q->problem, pointer, API_WRONG_SHAPE,
                           "%zu directions given, but there are %zu of another part: give as many, with zeros", count,
                           *n);
    *n = count;
    return count > 0 || api_fail_at(q->problem, pointer, API_WRONG_SHAPE, "0 directions given, at least 1 expected");
}

bool api_direction_part_read(api_query *q, const api_node *object, const api_place *up, const char *name,
                             api_points *points, size_t *n)
{
    const api_points_form form    = {.name = "directions", .least = 1, .why = ""};
    const api_place       pointer = api_place_key(up, name);
    const api_node       *value   = api_node_get(object, name);
    return !value ||
           (api_points_measure(q, value, &pointer, &form, points) && api_directions_count(q, &pointer, points->n, n));
}

bool api_directions_read(api_query *q, api_selection *selected, const api_node *request, const api_place *up,
                         const char *last, api_directions *d)
{
    const api_node *object  = api_node_get(request, "directions");
    const api_place pointer = api_place_key(up, "directions");
    *d                      = (api_directions){.name = {"q", "qd", last, NULL}};
    if (!api_check_keys(q, object, &pointer, d->name, "directions")) return false;
    for (int i = 0; i < API_DIRECTION_PARTS; i++)
        if (!api_direction_part_read(q, object, &pointer, d->name[i], &d->part[i], &d->n)) return false;
    if (d->n == 0)
        return api_fail_at(q->problem, &pointer, API_MISSING_FIELD,
                           "directions need q, qd or %s: one row of each for a "
                           "direction",
                           last);
    const size_t limit = q->call->api->limits.rows;
    if (d->n > limit)
        return api_fail_at(q->problem, &pointer, API_TOO_MANY_ROWS, "%zu directions given, the limit is %zu", d->n,
                           limit);
    api_set_extent(selected, API_GIVEN_DIRECTIONS, d->n);
    return !q->model->loops ||
           api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                    "directional derivatives are for models without loops, and %s has loops", q->model->name);
}

bool api_directions_load(const api_query *q, api_directions *d)
{
    for (int i = 0; i < API_DIRECTION_PARTS; i++)
        if (d->part[i].value && !(d->number[i] = api_points_read(q, &d->part[i]))) return false;
    return true;
}

size_t api_directions_entries(const api_model *model, const api_directions *d)
{
    size_t sum = 0;
    for (int i = 0; i < API_DIRECTION_PARTS; i++)
        if (d->part[i].value) sum += d->n * model->nv;
    return sum;
}

/* Copies one part of the directions (q, qd, or qdd or tau) of a block to lanes. Returns NULL if the request has none of
 * it. */
static const double *gather_part(const api_evaluation *e, const api_directions *d, int part, size_t block,
                                 double **next)
{
    const size_t W = e->lanes, entries = d->n * e->model->nv, last = e->query->rows - 1;
    double      *lanes = *next;
    if (!d->number[part]) return NULL;
    for (size_t lane = 0; lane < W; lane++) {
        const size_t  row  = block * W + lane;
        const double *from = api_points_of(&d->part[part], d->number[part], row < last ? row : last);
        for (size_t i = 0; i < entries; i++)
            lanes[i * W + lane] = from[i];
    }
    *next = api_behind(e, lanes, entries, 1);
    return lanes;
}

api_direction_lanes api_directions_gather(const api_evaluation *e, const api_directions *d, size_t block, double **next)
{
    api_direction_lanes along;
    along.q    = gather_part(e, d, 0, block, next);
    along.qd   = gather_part(e, d, 1, block, next);
    along.last = gather_part(e, d, 2, block, next);
    return along;
}

double api_directions_seconds(const api_query *q, const api_directions *d, double weight)
{
    return (double)q->rows * (double)d->n * weight * (double)q->model->n_bodies * q->call->api->calibration.body;
}
