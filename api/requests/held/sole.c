/* sole.c - reads the sole of a foot, and turns its edges into half spaces of wrenches (sole.h). */
#include "sole.h"
#include "dynamics/math/geometry.h"
#include <math.h>
#include <string.h>

#define FLAT 1e-6 /* distance from the plane and turn at a corner that count as none, relative to the sole */

/* Sets the edge from corner i to the next one. */
static void set_edge(const api_sole *s, size_t i, double edge[3])
{
    const double *from = s->corner[i % s->n], *to = s->corner[(i + 1) % s->n];
    for (int axis = 0; axis < 3; axis++)
        edge[axis] = to[axis] - from[axis];
}

/* Returns the largest distance between two corners. */
static double size_of(const api_sole *s)
{
    double most = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < i; j++) {
            double d[3];
            for (int axis = 0; axis < 3; axis++)
                d[axis] = s->corner[i][axis] - s->corner[j][axis];
            most = fmax(most, sqrt(dyn_dot(d, d)));
        }
    return most;
}

static bool is_flat(const api_sole *s, const double normal[3], double size)
{
    for (size_t i = 1; i < s->n; i++)
        if (!(fabs(dyn_dot(normal, s->corner[i]) - dyn_dot(normal, s->corner[0])) <= FLAT * size)) return false;
    return true;
}

/* Returns the sum of the angles at the corners, 2 pi or -2 pi for a convex polygon; 0: two of them turn to different
 * sides, one turns back, or an edge has no length. */
static double sum_of_turns(const api_sole *s, const double normal[3], double size)
{
    double sum  = 0;
    int    side = 0;
    for (size_t i = 0; i < s->n; i++) {
        double before[3], after[3], across[3];
        set_edge(s, i, before), set_edge(s, i + 1, after);
        if (!(dyn_dot(before, before) > FLAT * FLAT * size * size)) return 0;
        dyn_cross(before, after, across);
        const double turn = atan2(dyn_dot(across, normal), dyn_dot(before, after));
        const int    now  = turn > FLAT ? 1 : turn < -FLAT ? -1 : 0;
        if (now * side < 0 || fabs(turn) > M_PI - FLAT) return 0;
        if (now != 0) side = now;
        sum += turn;
    }
    return sum;
}

/* Reverses the order of the corners. */
static void reverse_corners(api_sole *s)
{
    for (size_t i = 0, j = s->n - 1; i < j; i++, j--) {
        double corner[3];
        memcpy(corner, s->corner[i], sizeof corner);
        memcpy(s->corner[i], s->corner[j], sizeof corner);
        memcpy(s->corner[j], corner, sizeof corner);
    }
}

bool api_sole_read(const api_query *q, const api_node *value, const api_place *place, const double normal[3],
                   api_sole *sole)
{
    const size_t n = api_node_size(value);
    if (!api_check_list(q, value, place, "of the corners of a sole")) return false;
    if (n < 3 || n > API_SOLE_CORNERS)
        return api_fail_at(q->problem, place, API_WRONG_SHAPE, "%zu corners given, 3 to %d expected", n,
                           API_SOLE_CORNERS);
    sole->n = n;
    for (size_t i = 0; i < n; i++) {
        api_node  corner;
        api_place corner_place = api_place_index(place, i);
        if (!api_node_item(value, i, &corner) || !api_read_numbers(q, &corner, &corner_place, 3, sole->corner[i]))
            return false;
    }
    const double size = size_of(sole), turns = sum_of_turns(sole, normal, size);
    if (!is_flat(sole, normal, size))
        return api_fail_at(
            q->problem, place, API_BAD_VALUE,
            "the corners of the sole are not in a plane across the normal: correct them, or give normal");
    if (!(fabs(fabs(turns) - 2 * M_PI) < 0.1))
        return api_fail_at(q->problem, place, API_BAD_VALUE,
                           "the corners of the sole are no convex polygon in their order");
    if (turns < 0) reverse_corners(sole);
    return true;
}

void api_sole_edge(const api_sole *sole, const double normal[3], size_t i, double w[API_FRAME_AXES])
{
    const double *p = sole->corner[i];
    double        m[3];
    set_edge(sole, i, w + 3);
    dyn_cross(normal, w + 3, m);
    for (int axis = 0; axis < 3; axis++)
        w[axis] = dyn_dot(normal, p) * m[axis] - dyn_dot(m, p) * normal[axis];
}
