/* contact_points.c - reads the points of a robot that push against planes (contact_points.h). */
#include "contact_points.h"
#include "api/codec/number.h"
#include "dynamics/math/geometry.h"
#include <math.h>
#include <string.h>

enum { MOST_POINTS = 64 };

#define MOST_NUMBER   1e12 /* largest stiffness or other figure, in SI units */
#define SLIP_VELOCITY 1e-3 /* m/s: the default */

/* A point and the place of its members. */
typedef struct point_entry {
    const api_query *q;
    const api_node  *entry;
    const api_place *place;
} point_entry;

/* Reads the number `name`, greater than 0 if `positive` and otherwise at least 0. A missing one keeps its value. */
static bool read_contact_figure(const point_entry *p, const char *name, bool positive, double *to)
{
    const api_node *value = api_node_get(p->entry, name);
    const api_place place = api_place_key(p->place, name);
    if (!value) return true;
    if (!api_read_number(p->q, value, &place, to)) return false;
    return ((*to > 0 || (!positive && *to == 0)) && *to <= MOST_NUMBER) ||
           api_fail_at(p->q->problem, &place, API_BAD_VALUE, "%s given, a number %s and at most 1e12 expected",
                       API_NUMBER_TEXT(*to), positive ? "greater than 0" : "of at least 0");
}

static bool read_contact_vector(const point_entry *p, const char *name, double to[3])
{
    const api_node *value = api_node_get(p->entry, name);
    const api_place place = api_place_key(p->place, name);
    return !value || api_read_numbers(p->q, value, &place, 3, to);
}

static bool read_contact_plane(const point_entry *p, dyn_ground_point *point)
{
    static const char *const fields[] = {"point", "normal", NULL};
    const api_node          *plane    = api_node_get(p->entry, "plane");
    const api_place          place = api_place_key(p->place, "plane"), normal_place = api_place_key(&place, "normal");
    const point_entry        within = {p->q, plane, &place};
    if (!plane) return true;
    if (!api_check_keys(p->q, plane, &place, fields, "a plane") ||
        !read_contact_vector(&within, "point", point->point) || !read_contact_vector(&within, "normal", point->normal))
        return false;
    const double size = dyn_norm(point->normal);
    for (int i = 0; i < 3; i++)
        point->normal[i] /= size;
    return (size > 0 && isfinite(size)) ||
           api_fail_at(p->q->problem, &normal_place, API_BAD_VALUE, "a direction expected, not zero and not too large");
}

static bool read_contact_frame(const point_entry *p, dyn_ground_point *point)
{
    const api_node *frame       = api_node_get(p->entry, "frame");
    const api_place place       = api_place_key(p->place, "frame");
    double          position[3] = {0};
    if (!frame) return api_fail_at(p->q->problem, &place, API_MISSING_FIELD, "a contact needs its frame");
    const int i = api_read_frame(p->q, frame, &place);
    if (i < 0 || !read_contact_vector(p, "position", position)) return false;
    const dyn_pose shift = dyn_pose_translation(position[0], position[1], position[2]);
    point->frame         = p->q->model->frames[i].frame;
    point->frame.X_bf    = dyn_pose_compose(&point->frame.X_bf, &shift);
    return true;
}

static bool read_contact_point(const point_entry *p, dyn_ground_point *point)
{
    static const char *const fields[] = {
        "frame", "position", "plane", "stiffness", "dissipation", "friction_coefficient", "slip_velocity", NULL};
    const api_place place = api_place_key(p->place, "stiffness");
    *point                = (dyn_ground_point){.normal = {0, 0, 1}, .slip = SLIP_VELOCITY};
    if (!api_check_keys(p->q, p->entry, p->place, fields, "a contact")) return false;
    if (!api_node_get(p->entry, "stiffness"))
        return api_fail_at(p->q->problem, &place, API_MISSING_FIELD, "a contact needs its stiffness, in N/m");
    return read_contact_frame(p, point) && read_contact_plane(p, point) &&
           read_contact_figure(p, "stiffness", true, &point->stiffness) &&
           read_contact_figure(p, "dissipation", false, &point->dissipation) &&
           read_contact_figure(p, "friction_coefficient", false, &point->friction) &&
           read_contact_figure(p, "slip_velocity", true, &point->slip);
}

bool api_contact_points_read(api_query *q, const api_node *options, api_contact_points *points)
{
    const api_node *list  = api_node_get(options, "contacts");
    const api_place place = api_place_key(NULL, "contacts");
    *points               = (api_contact_points){.n = 0};
    if (!list) return true;
    if (!api_node_is(list, API_ARRAY))
        return api_fail_at(q->problem, &place, API_WRONG_TYPE, "%s given, an array of contacts expected",
                           api_node_kind_text(list));
    points->n = api_node_size(list);
    if (points->n > MOST_POINTS)
        return api_fail_at(q->problem, &place, API_WRONG_SHAPE, "%zu contacts given, at most %d expected", points->n,
                           MOST_POINTS);
    points->point = api_take(q->pool, (points->n + 1) * sizeof *points->point);
    for (size_t i = 0; points->point && i < points->n; i++) {
        api_node          entry;
        const api_place   entry_place = api_place_index(&place, i);
        const point_entry p           = {q, &entry, &entry_place};
        if (!api_node_item(list, i, &entry) || !read_contact_point(&p, &points->point[i])) return false;
    }
    return points->point;
}

bool api_contact_points_list(const api_query *q, api_contact_points *points)
{
    const size_t n = q->scene.n_wrenches;
    points->sites  = api_take(q->pool, (n + points->n + 1) * sizeof *points->sites);
    if (!points->sites) return false;
    if (n > 0) memcpy(points->sites, q->scene.wrench, n * sizeof *points->sites);
    for (size_t i = 0; i < points->n; i++)
        points->sites[n + i] = dyn_ground_points_site(&points->point[i]);
    return true;
}

void api_contact_points_set_scene(const api_query *q, const api_contact_points *points, dyn_scene *scene)
{
    *scene        = q->scene;
    scene->wrench = points->sites;
    scene->n_wrenches += points->n;
}
