/* ground_request.c - reads the feet and the plane of a ground reaction and finds the base (ground_request.h). */
#include "ground_request.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/rows.h"
#include "dynamics/math/geometry.h"
#include <string.h>

static const char *const foot_fields[]  = {"link", "frame", "point", NULL};
static const char *const plane_fields[] = {"point", "normal", NULL};

/* --- base --------------------------------------------------------------------------------------------------------- */

/* Finds the robot's base. The ground can bear its efforts only if no loop connects the robot to the world. */
static bool find_base(const api_query *q, dyn_ground *ground)
{
    const dyn_mechanism mechanism = api_model_mechanism(q->model);
    if (!dyn_ground_find_base(mechanism.tree, &ground->base))
        return api_fail(
            q->problem, API_NO_FREE_BASE, NULL,
            "%.64s has neither a floating base nor three prismatic and three revolute joints, one after the "
            "other, before all others",
            q->model->name);
    const dyn_loop *loop = dyn_ground_loop_to_world(&mechanism, ground->base.body);
    return !loop || api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                             "the loop \"%.64s\" connects the robot to the world, which then bears a part of the load",
                             loop->name);
}

/* --- feet and plane --------------------------------------------------------------------------------------------- */

/* Reads the three numbers of the field `name`. If the field is absent, the vector keeps its value. */
static bool read_vector(const api_query *q, const api_node *object, const api_place *up, const char *name,
                        double vector[3])
{
    const api_node *value = api_node_get(object, name);
    api_place       at    = api_place_key(up, name);
    return !value || api_read_numbers(q, value, &at, 3, vector);
}

static bool read_foot(const api_query *q, const api_node *value, const api_place *at, const dyn_frame *base,
                      dyn_frame *foot)
{
    if (!api_check_keys(q, value, at, foot_fields, "a foot")) return false;
    const api_node *link = api_node_get(value, "link"), *frame = api_node_get(value, "frame");
    api_place       name_at  = api_place_key(at, link ? "link" : "frame");
    double          point[3] = {0};
    if (!link == !frame)
        return api_fail_at(q->problem, at, link ? API_BAD_VALUE : API_MISSING_FIELD,
                           "a foot needs either its link or its frame");
    int i = api_read_frame(q, link ? link : frame, &name_at);
    if (i < 0 || !read_vector(q, value, at, "point", point)) return false;
    *foot = q->model->frames[i].frame;
    if (!dyn_ground_moves_with_base(q->model->dyn, foot->body, base->body))
        return api_fail_at(q->problem, &name_at, API_BAD_VALUE, "%.64s is not a descendant of the base",
                           q->model->frames[i].name);
    dyn_pose shift = dyn_pose_translation(point[0], point[1], point[2]);
    foot->X_bf     = dyn_pose_compose(&foot->X_bf, &shift);
    return true;
}

static bool same_place(const dyn_frame *a, const dyn_frame *b)
{
    return a->body == b->body && memcmp(a->X_bf.p, b->X_bf.p, sizeof a->X_bf.p) == 0;
}

static bool read_feet(const api_query *q, const api_node *list, const api_place *at, dyn_ground *ground)
{
    size_t n = api_node_size(list);
    if (!api_node_is(list, API_ARRAY))
        return api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, an array of one or two feet expected",
                           api_node_kind_text(list));
    if (n < 1 || n > DYN_FEET)
        return api_fail_at(q->problem, at, API_WRONG_SHAPE, "%zu feet given, one or two expected", n);
    for (size_t k = 0; k < n; k++) {
        api_node  foot;
        api_place foot_at = api_place_index(at, k);
        if (!api_node_item(list, k, &foot) || !read_foot(q, &foot, &foot_at, &ground->base, &ground->contact[k]))
            return false;
    }
    ground->n_contacts = n;
    if (n < 2 || !same_place(&ground->contact[0], &ground->contact[1])) return true;
    api_place second = api_place_index(at, 1);
    return api_fail_at(q->problem, &second, API_BAD_VALUE, "both feet are the same point of one link");
}

static bool read_support(const api_query *q, const api_node *value, const api_place *at, dyn_support *support)
{
    static const char *const names[] = {
        [DYN_BOTH_FEET] = "both", [DYN_FIRST_FOOT] = "first", [DYN_SECOND_FOOT] = "second"};
    const char *given = api_read_string(q, value, at);
    for (size_t i = 0; given && i < sizeof names / sizeof *names; i++)
        if (strcmp(given, names[i]) == 0) {
            *support = (dyn_support)i;
            return true;
        }
    return given &&
           api_fail_at(q->problem, at, API_BAD_VALUE, "\"%.64s\" given: both, first or second expected", given);
}

/* Reads "supports": one for all rows, or one for each row. */
static bool read_supports(api_query *q, const api_node *value, const api_place *at, api_ground_request *g)
{
    if (!value) return true;
    g->supports_differ    = api_node_is(value, API_ARRAY);
    size_t       n        = g->supports_differ ? api_node_size(value) : 1;
    dyn_support *supports = api_take(q->pool, (n ? n : 1) * sizeof *supports);
    if (!supports) return false;
    g->supports = supports;
    if (g->ground.n_contacts < DYN_FEET) return api_fail_at(q->problem, at, API_BAD_VALUE, "supports are for two feet");
    if (!g->supports_differ) return read_support(q, value, at, supports);
    if (!api_check_list(q, value, at, "of supports") || !api_batch_rows(q, n, at)) return false;
    for (size_t b = 0; b < n; b++) {
        api_node  one;
        api_place one_at = api_place_index(at, b);
        if (api_node_item(value, b, &one) && read_support(q, &one, &one_at, &supports[b])) continue;
        q->problem->row = (long long)b;
        return false;
    }
    return true;
}

static bool read_plane(const api_query *q, const api_node *plane, const api_place *at, api_ground_request *g)
{
    if (!plane) return true;
    if (!api_check_keys(q, plane, at, plane_fields, "a plane") ||
        !read_vector(q, plane, at, "point", g->ground.point) || !read_vector(q, plane, at, "normal", g->ground.normal))
        return false;
    g->normal_given     = api_node_get(plane, "normal") != NULL;
    api_place normal_at = api_place_key(at, "normal");
    return !g->normal_given || dyn_norm(g->ground.normal) > 0 ||
           api_fail_at(q->problem, &normal_at, API_BAD_VALUE, "the zero vector given, a direction expected");
}

static bool read_ground(api_query *q, const api_node *options, const api_place *up, bool needed, api_ground_request *g)
{
    const api_node *feet    = api_node_get(options, "feet");
    api_place       feet_at = api_place_key(up, "feet"), plane_at = api_place_key(up, "plane");
    api_place       supports_at = api_place_key(up, "supports");
    if (!find_base(q, &g->ground)) return false;
    g->ground.n_contacts = 1;
    g->ground.contact[0] = g->ground.base;
    if (!feet && needed)
        return api_fail_at(q->problem, &feet_at, API_MISSING_FIELD,
                           "without feet there are only resultant, zero_moment_point and their derivatives: request "
                           "these, or give feet");
    if (feet && !read_feet(q, feet, &feet_at, &g->ground)) return false;
    return read_supports(q, api_node_get(options, "supports"), &supports_at, g) &&
           read_plane(q, api_node_get(options, "plane"), &plane_at, g);
}

api_ground_request *api_ground_request_read(api_query *q, const api_node *options, const api_place *up, bool needed)
{
    api_ground_request *g = api_take(q->pool, sizeof *g);
    if (!g) return NULL;
    *g = (api_ground_request){.normal_given = false};
    return read_ground(q, options, up, needed, g) ? g : NULL;
}

/* --- after all fields are read ------------------------------------------------------------------------------------ */

static bool find_normal(const api_query *q, api_ground_request *g)
{
    double *normal = g->ground.normal, length;
    for (int i = 0; !g->normal_given && i < 3; i++)
        normal[i] = -q->scene.gravity[i];
    length = dyn_norm(normal);
    if (length == 0)
        return api_fail(q->problem, API_MISSING_FIELD, "/plane",
                        "without gravity no direction is up: the plane needs its normal");
    for (int i = 0; i < 3; i++)
        normal[i] /= length;
    return true;
}

/* Refuses friction of base joints that depends on the load: the ground replaces the base's efforts, so that it is not
 * defined. */
static bool check_base_load(const api_query *q)
{
    for (size_t i = 0; api_has_load(q) && i < q->model->dyn->n_bodies; i++) {
        const dyn_body *b = &q->model->dyn->body[i];
        if (b->joint.v < DYN_BASE_DOF && b->joint.friction.load > 0)
            return api_fail_load(q, "the base of ground-reaction");
    }
    return true;
}

bool api_ground_request_prepare(const api_query *q, api_ground_request *g)
{
    size_t n = q->scene.n_wrenches;
    if (!check_base_load(q)) return false;
    g->ground.weight = q->scene.model->mass * dyn_norm(q->scene.gravity);
    g->sites         = api_take(q->pool, (n + g->ground.n_contacts) * sizeof *g->sites);
    if (!g->sites) return false;
    if (n > 0) memcpy(g->sites, q->scene.wrench, n * sizeof *g->sites);
    for (size_t k = 0; k < g->ground.n_contacts; k++)
        g->sites[n + k] =
            (dyn_wrench_site){.body = g->ground.contact[k].body, .X_bl = g->ground.contact[k].X_bf, .world_axes = true};
    return find_normal(q, g);
}
