/* held_fields.c - reads the fields "held" and "contact_damping", and says why no accelerations hold the frames
 * (held_fields.h). */
#include "held_fields.h"
#include "contact_limits.h"
#include "api/requests/lanes/evaluation.h"
#include "api/requests/fields/frame_fields.h"
#include "api/codec/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_RADIUS 1e6 /* m, greatest radius of a rolling frame */

/* --- request ------------------------------------------------------------------------------------------------------ */

/* Sets the axes of a plane with the normal in axes[2]: the x axis of the world projected on the plane, or the y axis if
 * x is near the normal, and the cross product of the normal and this axis. */
static void complete_plane_axes(double axes[3][3])
{
    const double *n    = axes[2];
    const int     axis = fabs(n[0]) > 0.9;
    const double  size = sqrt(1 - n[axis] * n[axis]);
    for (int i = 0; i < 3; i++)
        axes[0][i] = ((i == axis) - n[axis] * n[i]) / size;
    for (int i = 0; i < 3; i++)
        axes[1][i] = n[(i + 1) % 3] * axes[0][(i + 2) % 3] - n[(i + 2) % 3] * axes[0][(i + 1) % 3];
}

/* Reads a direction of any length into a unit vector. */
static bool read_rolling_direction(const api_query *q, const api_node *value, const api_place *place, double to[3])
{
    if (!value) return true;
    if (!api_read_numbers(q, value, place, 3, to)) return false;
    const double size = hypot(hypot(to[0], to[1]), to[2]);
    for (int i = 0; i < 3; i++)
        to[i] /= size;
    return (size > 0 && isfinite(size)) ||
           api_fail_at(q->problem, place, API_BAD_VALUE, "a direction expected, not zero and not too large");
}

static bool read_rolling(api_query *q, const api_node *entry, const api_place *up, dyn_held_frame *frame)
{
    static const char *const fields[]     = {"radius", "axle", "normal", NULL};
    const api_node          *radius       = api_node_get(entry, "radius");
    api_place                radius_place = api_place_key(up, "radius"), axle_place = api_place_key(up, "axle");
    api_place                normal_place = api_place_key(up, "normal");
    dyn_rolling             *rolling      = api_take(q->pool, sizeof *rolling);
    if (!rolling || !api_check_keys(q, entry, up, fields, "rolling")) return false;
    *rolling = (dyn_rolling){.is_disc = api_node_get(entry, "axle"), .axes = {[2] = {0, 0, 1}}};
    if (!radius) return api_fail_at(q->problem, &radius_place, API_MISSING_FIELD, "rolling needs the radius, in m");
    if (!api_read_number(q, radius, &radius_place, &rolling->radius)) return false;
    if (!(rolling->radius > 0 && rolling->radius <= MOST_RADIUS))
        return api_fail_at(q->problem, &radius_place, API_BAD_VALUE,
                           "%s given, a length in m greater than 0 and at most 1e6 expected",
                           API_NUMBER_TEXT(rolling->radius));
    if (!read_rolling_direction(q, api_node_get(entry, "axle"), &axle_place, rolling->axle) ||
        !read_rolling_direction(q, api_node_get(entry, "normal"), &normal_place, rolling->axes[2]))
        return false;
    complete_plane_axes(rolling->axes);
    frame->rolling = rolling;
    frame->n       = 3;
    for (int i = 0; i < 3; i++)
        frame->axis[i] = i;
    return true;
}

/* Reads "rolling". An entry with "rolling" may not have axes. */
static bool read_rolling_member(api_query *q, const api_node *entry, const api_place *up, dyn_held_frame *frame)
{
    const api_node *rolling = api_node_get(entry, "rolling");
    api_place       place   = api_place_key(up, "rolling");
    if (!rolling) return true;
    if (api_node_get(entry, "axes") || api_node_get(entry, "reference"))
        return api_fail_at(q->problem, &place, API_BAD_VALUE,
                           "rolling holds the contact point along all axes of its plane: leave out axes and reference");
    return read_rolling(q, rolling, &place, frame);
}

/* Refuses members that choose the wrenches of a contact in an operation whose `fields` of an entry have none. */
static bool refuse_choice(const api_query *q, const api_node *entry, const api_place *up, const char *const *fields)
{
    static const char text[] = "\"%s\" is known to inverse-dynamics, torque-derivative, sensitivity and path-timing, "
                               "which choose wrenches within limits; here held frames have none: leave it out, or "
                               "simulate with contacts, which slip and lift off";
    for (size_t i = 0; fields != api_contact_limit_members && api_contact_limit_members[i]; i++) {
        const char     *limit = api_contact_limit_members[i];
        const api_place place = api_place_key(up, limit);
        size_t          known = 0;
        while (fields[known] && strcmp(fields[known], limit) != 0)
            known++;
        if (!fields[known] && api_node_get(entry, limit))
            return api_fail_at(q->problem, &place, API_UNKNOWN_FIELD, text, limit);
    }
    return true;
}

static bool read_held_frame(api_query *q, const api_node *given, const api_place *up, const char *const *fields,
                            dyn_held_frame *held, const char **name)
{
    api_place frame_at = api_place_key(up, "frame"), axes_at = api_place_key(up, "axes");
    api_place reference_at = api_place_key(up, "reference");
    *held                  = (dyn_held_frame){.n = 0};
    if (!refuse_choice(q, given, up, fields) || !api_check_keys(q, given, up, fields, "an entry of held")) return false;
    if (!api_node_get(given, "frame"))
        return api_fail_at(q->problem, &frame_at, API_MISSING_FIELD, "an entry of held needs its frame");
    int i = api_read_frame(q, api_node_get(given, "frame"), &frame_at);
    if (i < 0) return false;
    held->frame = q->model->frames[i].frame;
    *name       = q->model->frames[i].name;
    return api_read_axes(q, api_node_get(given, "axes"), &axes_at, held->axis, &held->n) &&
           api_read_reference(q, api_node_get(given, "reference"), &reference_at, &held->frame_axes) &&
           read_rolling_member(q, given, up, held);
}

static bool check_list(const api_query *q, const api_node *list, const api_place *at)
{
    size_t n = api_node_size(list);
    if (!api_node_is(list, API_ARRAY))
        return api_fail_at(q->problem, at, API_WRONG_TYPE, "%s given, an array of held frames expected",
                           api_node_kind_text(list));
    return n <= DYN_MAX_HELD ||
           api_fail_at(q->problem, at, API_WRONG_SHAPE, "%zu frames given, at most %d expected", n, DYN_MAX_HELD);
}

bool api_contact_is_given(const api_node *options)
{
    const api_node *list = api_node_get(options, "held");
    return list && !(api_node_is(list, API_ARRAY) && api_node_size(list) == 0);
}

bool api_contact_read_members(api_query *q, const api_node *options, const api_place *up, const char *const *fields,
                              const dyn_held_set **found)
{
    const api_node *list = api_node_get(options, "held");
    api_place       at   = api_place_key(up, "held");
    if (!api_contact_is_given(options)) return true;
    if (!check_list(q, list, &at)) return false;
    dyn_held_set *contact = api_take(q->pool, sizeof *contact);
    if (!contact) return false;
    *contact           = (dyn_held_set){.n = api_node_size(list), .deadline = q->scene.deadline};
    contact->frame     = api_take(q->pool, contact->n * sizeof *contact->frame);
    const char **names = api_take(q->pool, contact->n * sizeof *names);
    if (!contact->frame || !names) return false;
    contact->names = names;
    for (size_t i = 0; i < contact->n; i++) {
        api_node  given;
        api_place entry = api_place_index(&at, i);
        if (!api_node_item(list, i, &given) ||
            !read_held_frame(q, &given, &entry, fields, &contact->frame[i], &names[i]))
            return false;
        contact->k += contact->frame[i].n;
    }
    *found = contact;
    return true;
}

bool api_contact_read(api_query *q, const api_node *options, const api_place *up, const dyn_held_set **found)
{
    static const char *const fields[] = {"frame", "axes", "reference", "rolling", NULL};
    return api_contact_read_members(q, options, up, fields, found);
}

bool api_contact_refuse_rolling(const api_query *q, const dyn_held_set *contact, const api_place *up, const char *what)
{
    const api_place list = api_place_key(up, "held");
    for (size_t i = 0; contact && i < contact->n; i++) {
        const api_place entry = api_place_index(&list, i), rolling = api_place_key(&entry, "rolling");
        if (contact->frame[i].rolling)
            return api_fail_at(q->problem, &rolling, API_NOT_SUPPORTED,
                               "%s has no rolling frames: forward-dynamics, inverse-dynamics, impact and simulate have",
                               what);
    }
    return true;
}

const char *api_contact_not_finite(const dyn_held_set *contact)
{
    for (size_t i = 0; i < contact->n; i++)
        if (contact->frame[i].rolling && contact->frame[i].rolling->is_disc)
            return "the numbers of this state are too large, or a rolling disc lies flat on its plane";
    return "the numbers of this state are too large";
}

bool api_contact_read_damping(api_query *q, const api_node *options, const api_place *up, bool held, double *damping)
{
    const api_node *given = api_node_get(options, "contact_damping");
    api_place       at    = api_place_key(up, "contact_damping");
    *damping              = 0;
    if (!given) return true;
    if (!api_read_number(q, given, &at, damping)) return false;
    if (!(*damping > 0))
        return api_fail_at(q->problem, &at, API_BAD_VALUE,
                           "%s given, a number greater than 0 expected, in 1/kg and 1/(kg m^2)",
                           API_NUMBER_TEXT(*damping));
    return held ||
           api_fail_at(q->problem, &at, API_BAD_VALUE, "given without held, the frames whose contacts it damps");
}

bool api_contact_select_residual(api_query *q, api_selection *selected, size_t output, double damping,
                                 const api_node *options, const api_place *up)
{
    if (damping > 0 && !api_node_get(options, "outputs")) selected->outputs |= API_BIT(output);
    return damping > 0 || !(selected->outputs & API_BIT(output)) ||
           api_fail_output(q, selected, output, options, up,
                           "contact_residual is what contact_damping leaves: give it, or leave out this output");
}

/* --- wrenches --------------------------------------------------------------------------------------------------- */

const dyn_wrench_site *api_contact_list_sites(const api_query *q, const dyn_held_set *contact)
{
    const size_t     n     = q->scene.n_wrenches;
    dyn_wrench_site *sites = api_take(q->pool, (n + contact->n) * sizeof *sites);
    if (!sites) return NULL;
    if (n > 0) memcpy(sites, q->scene.wrench, n * sizeof *sites);
    for (size_t i = 0; i < contact->n; i++)
        sites[n + i] = (dyn_wrench_site){.body       = contact->frame[i].frame.body,
                                         .X_bl       = contact->frame[i].frame.X_bf,
                                         .world_axes = !contact->frame[i].frame_axes};
    return sites;
}

void api_contact_gather_wrenches(const api_evaluation *e, const dyn_held_set *contact, const double *contacts,
                                 size_t block, double *to)
{
    const size_t  W = e->lanes, n = API_SITE_VALUES * e->query->scene.n_wrenches * W;
    const double *wrenches = api_wrench_block(e, block);
    if (wrenches) memcpy(to, wrenches, n * sizeof *to);
    for (size_t i = 0; i < contact->n; i++) {
        double *site = to + n + i * API_SITE_VALUES * W;
        memcpy(site, contacts + i * API_FRAME_AXES * W, API_FRAME_AXES * W * sizeof *site);
        memset(site + API_FRAME_AXES * W, 0, 3 * W * sizeof *site);
    }
}

/* --- problem ------------------------------------------------------------------------------------------------------ */

const char *api_contact_axis_name(const dyn_held_frame *frame, size_t a)
{
    static const char *const of_plane[] = {"the first tangent of its plane", "the second tangent of its plane",
                                           "the normal of its plane"};
    return frame->rolling ? of_plane[frame->axis[a]] : api_axis_name(frame->axis[a]);
}

enum { NAMES = 4 /* frames that a message lists */, NAMES_ROOM = 256 };

/* Lists the names of the frames up to frame `last`. */
static void list_names(const dyn_held_set *contact, size_t last, char text[NAMES_ROOM])
{
    size_t used = 0;
    for (size_t i = 0; i <= last && i < NAMES; i++)
        used += (size_t)snprintf(text + used, NAMES_ROOM - used, "%s%.48s",
                                 i == 0      ? ""
                                 : i == last ? " and "
                                             : ", ",
                                 contact->names[i]);
    if (last >= NAMES) snprintf(text + used, NAMES_ROOM - used, " and %zu more", last + 1 - NAMES);
}

bool api_contact_describe(const dyn_held_set *contact, size_t row, double damping, api_problem *problem)
{
    char   names[NAMES_ROOM];
    size_t i = 0, a = row - 1;
    if (!contact || row > contact->k)
        return api_fail(problem, API_CONTRADICTORY_CONTACTS, NULL,
                        "no accelerations keep the velocities along all held axes and stop all joints that stick");
    for (; i + 1 < contact->n && a >= contact->frame[i].n; i++)
        a -= contact->frame[i].n;
    const dyn_held_frame *frame = &contact->frame[i];
    const char           *axis  = api_contact_axis_name(frame, a);
    list_names(contact, i, names);
    if (damping > 0)
        return api_fail(problem, API_CONTRADICTORY_CONTACTS, NULL,
                        "no accelerations keep the velocities along the held axes of %s: contact_damping %s is "
                        "negligible for %.48s along %s. Give a larger one",
                        names, API_NUMBER_TEXT(damping), contact->names[i], axis);
    return api_fail(problem, API_CONTRADICTORY_CONTACTS, NULL,
                    "no accelerations keep the velocities along the held axes of %s: that of %.48s along %s depends on "
                    "the axes before it, and changes. Hold fewer axes, correct qd, or give contact_damping",
                    names, contact->names[i], axis);
}
