/* contact_points.c - reads the points of a robot that touch planes (contact_points.h). */
#include "contact_points.h"
#include "api/codec/number.h"
#include "dynamics/math/geometry.h"
#include <math.h>
#include <string.h>

enum { MOST_POINTS = 64 };

#define MOST_NUMBER   1e12 /* largest stiffness or other number, in SI units */
#define SLIP_VELOCITY 1e-3 /* m/s: default slip velocity of compliant contacts */
#define RESTING_SPEED 1e-3 /* m/s: default of "resting_speed" of rigid contacts */

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

static bool read_contact_plane(const point_entry *p, double point[3], double normal[3])
{
    static const char *const fields[] = {"point", "normal", NULL};
    const api_node          *plane    = api_node_get(p->entry, "plane");
    const api_place          place = api_place_key(p->place, "plane"), normal_place = api_place_key(&place, "normal");
    const point_entry        within = {p->q, plane, &place};
    if (!plane) return true;
    if (!api_check_keys(p->q, plane, &place, fields, "a plane") || !read_contact_vector(&within, "point", point) ||
        !read_contact_vector(&within, "normal", normal))
        return false;
    const double size = dyn_norm(normal);
    for (int i = 0; i < 3; i++)
        normal[i] /= size;
    return (size > 0 && isfinite(size)) ||
           api_fail_at(p->q->problem, &normal_place, API_BAD_VALUE, "a direction expected, not zero and not too large");
}

static bool read_contact_frame(const point_entry *p, dyn_frame *to)
{
    const api_node *frame       = api_node_get(p->entry, "frame");
    const api_place place       = api_place_key(p->place, "frame");
    double          position[3] = {0};
    if (!frame) return api_fail_at(p->q->problem, &place, API_MISSING_FIELD, "a contact needs its frame");
    const int i = api_read_frame(p->q, frame, &place);
    if (i < 0 || !read_contact_vector(p, "position", position)) return false;
    const dyn_pose shift = dyn_pose_translation(position[0], position[1], position[2]);
    *to                  = p->q->model->frames[i].frame;
    to->X_bf             = dyn_pose_compose(&to->X_bf, &shift);
    return true;
}

static bool read_compliant(const point_entry *p, dyn_compliant_contact *point)
{
    static const char *const fields[] = {"frame",         "position",    "plane",
                                         "stiffness",     "dissipation", "friction_coefficient",
                                         "slip_velocity", "rigid",       NULL};
    const api_place          place    = api_place_key(p->place, "stiffness");
    *point                            = (dyn_compliant_contact){.normal = {0, 0, 1}, .slip = SLIP_VELOCITY};
    if (!api_check_keys(p->q, p->entry, p->place, fields, "a contact")) return false;
    if (!api_node_get(p->entry, "stiffness"))
        return api_fail_at(p->q->problem, &place, API_MISSING_FIELD,
                           "a contact needs its stiffness, in N/m, or \"rigid\": true");
    return read_contact_frame(p, &point->frame) && read_contact_plane(p, point->point, point->normal) &&
           read_contact_figure(p, "stiffness", true, &point->stiffness) &&
           read_contact_figure(p, "dissipation", false, &point->dissipation) &&
           read_contact_figure(p, "friction_coefficient", false, &point->friction) &&
           read_contact_figure(p, "slip_velocity", true, &point->slip);
}

/* Reads the restitution, from 0 to 1. */
static bool read_restitution(const point_entry *p, dyn_rigid_contact *contact)
{
    const api_place place = api_place_key(p->place, "restitution");
    return read_contact_figure(p, "restitution", false, &contact->restitution) &&
           (contact->restitution <= 1 ||
            api_fail_at(p->q->problem, &place, API_BAD_VALUE, "%s given, a number from 0 to 1 expected",
                        API_NUMBER_TEXT(contact->restitution)));
}

static bool read_rigid(const point_entry *p, dyn_rigid_contact *contact)
{
    static const char *const fields[] = {
        "frame", "position", "plane", "rigid", "restitution", "friction_coefficient", "resting_speed", NULL};
    *contact = (dyn_rigid_contact){.normal = {0, 0, 1}, .resting = RESTING_SPEED};
    return api_check_keys(p->q, p->entry, p->place, fields, "a rigid contact") &&
           read_contact_frame(p, &contact->frame) && read_contact_plane(p, contact->point, contact->normal) &&
           read_restitution(p, contact) && read_contact_figure(p, "friction_coefficient", false, &contact->friction) &&
           read_contact_figure(p, "resting_speed", true, &contact->resting);
}

/* Reads contact i into the list of its kind. */
static bool read_contact_point(const point_entry *p, api_contact_points *points, size_t i)
{
    const api_place place = api_place_key(p->place, "rigid");
    bool            rigid = false;
    if (!api_read_flag(p->q, api_node_get(p->entry, "rigid"), &place, &rigid)) return false;
    points->is_rigid[i] = rigid;
    if (!rigid) return read_compliant(p, &points->point[points->n++]);
    points->entry[points->n_rigid] = i;
    return read_rigid(p, &points->rigid[points->n_rigid++]);
}

static bool take_points(const api_query *q, api_contact_points *points)
{
    const size_t n   = points->n_all + 1;
    points->point    = api_take(q->pool, n * sizeof *points->point);
    points->rigid    = api_take(q->pool, n * sizeof *points->rigid);
    points->entry    = api_take(q->pool, n * sizeof *points->entry);
    points->is_rigid = api_take(q->pool, n * sizeof *points->is_rigid);
    return points->point && points->rigid && points->entry && points->is_rigid;
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
    points->n_all = api_node_size(list);
    if (points->n_all > MOST_POINTS)
        return api_fail_at(q->problem, &place, API_WRONG_SHAPE, "%zu contacts given, at most %d expected",
                           points->n_all, MOST_POINTS);
    if (!take_points(q, points)) return false;
    for (size_t i = 0; i < points->n_all; i++) {
        api_node          entry;
        const api_place   entry_place = api_place_index(&place, i);
        const point_entry p           = {q, &entry, &entry_place};
        if (!api_node_item(list, i, &entry) || !read_contact_point(&p, points, i)) return false;
    }
    return points->n_rigid <= DYN_MAX_RIGID ||
           api_fail_at(q->problem, &place, API_WRONG_SHAPE, "%zu rigid contacts given, at most %d expected",
                       points->n_rigid, DYN_MAX_RIGID);
}

bool api_contact_points_list(const api_query *q, api_contact_points *points)
{
    const size_t n = q->scene.n_wrenches;
    points->sites  = api_take(q->pool, (n + points->n + 1) * sizeof *points->sites);
    if (!points->sites) return false;
    if (n > 0) memcpy(points->sites, q->scene.wrench, n * sizeof *points->sites);
    for (size_t i = 0; i < points->n; i++)
        points->sites[n + i] = dyn_compliant_contacts_site(&points->point[i]);
    return true;
}

void api_contact_points_set_scene(const api_query *q, const api_contact_points *points, dyn_scene *scene)
{
    *scene        = q->scene;
    scene->wrench = points->sites;
    scene->n_wrenches += points->n;
}
