/* point_fields.c - see point_fields.h. */
#include "point_fields.h"
#include "fields.h"

static bool read_one(api_query *q, const api_node *given, const api_place *at, dyn_frame *to)
{
    static const char *const keys[]   = {"link", "frame", "point", NULL};
    double                   point[3] = {0};
    if (!api_check_keys(q, given, at, keys, "a point")) return false;
    const api_node *link = api_node_get(given, "link"), *frame = api_node_get(given, "frame"),
                   *where = api_node_get(given, "point");
    api_place name_at = api_place_key(at, link ? "link" : "frame"), point_at = api_place_key(at, "point");
    if (link && frame)
        return api_fail_at(q->problem, &name_at, API_BAD_VALUE, "link and frame are both given: leave out one");
    if (!link && !frame) return api_fail_at(q->problem, &name_at, API_MISSING_FIELD, "a point needs its link or frame");
    int i = api_read_frame(q, link ? link : frame, &name_at);
    if (i < 0 || (where && !api_read_numbers(q, where, &point_at, 3, point))) return false;
    *to = q->model->frames[i].frame;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            to->X_bf.p[r] += to->X_bf.R[r][c] * point[c];
    return true;
}

const dyn_frame *api_read_fixed_points(api_query *q, const api_node *list, const api_place *at, size_t *n)
{
    if (!api_check_list(q, list, at, "of points")) return NULL;
    *n = api_node_size(list);
    if (*n > API_MOST_POINTS) {
        api_fail_at(q->problem, at, API_WRONG_SHAPE, "%zu points given, at most %d allowed", *n, API_MOST_POINTS);
        return NULL;
    }
    dyn_frame *points = api_take(q->pool, *n * sizeof *points);
    for (size_t i = 0; points && i < *n; i++) {
        api_node  given;
        api_place entry = api_place_index(at, i);
        if (!api_node_item(list, i, &given) || !read_one(q, &given, &entry, &points[i])) return NULL;
    }
    return points;
}
