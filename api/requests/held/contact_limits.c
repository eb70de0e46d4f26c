/* contact_limits.c - reads the limits of the wrenches on held frames as half spaces and cones (contact_limits.h). */
#include "contact_limits.h"
#include "api/codec/number.h"
#include "sole.h"
#include <math.h>
#include <string.h>

#define MOST_NUMBER 1e9 /* largest force and coefficient; terms added to its square are not lost to rounding */
#define MOST_WEIGHT 1e4 /* largest weight, reciprocal of the least: no weight excludes a foot from the balance */

enum { LEAST_FACETS = 3, MOST_FACETS = 32 };

const char *const api_contact_limit_members[] = {"frame",
                                                 "axes",
                                                 "reference",
                                                 "rolling",
                                                 "weight",
                                                 "normal",
                                                 "least_normal_force",
                                                 "friction_coefficient",
                                                 "facets",
                                                 "torsional_friction_coefficient",
                                                 "sole",
                                                 NULL};

const char *api_contact_limit_name(api_limit_kind kind)
{
    switch (kind) {
    case API_NORMAL_LIMIT: return "least_normal_force";
    case API_FRICTION_LIMIT: return "friction_coefficient";
    case API_TORSION_LIMIT: return "torsional_friction_coefficient";
    case API_SOLE_LIMIT: return "sole";
    }
    return "";
}

/* --- one entry ---------------------------------------------------------------------------------------------------- */

/* The limits of one entry of "held", while they are read. */
typedef struct entry_limits {
    const api_query *q;
    const api_node  *entry;
    const api_place *place;
    size_t           frame, first; /* index of the entry and of its first direction */
    bool             limited;
    double           normal[3], least, friction, torsion; /* friction or torsion 0: no such limit */
    size_t           facets; /* edges of the pyramid in place of a friction cone; 0: the cone */
    api_sole         sole;
} entry_limits;

/* The lists to which the limits are appended: rows and cones, with the place in the request of each. */
typedef struct limit_list {
    dyn_held_choice   *choice;
    dyn_limit_row     *row;
    double            *coefficient; /* [rows][6] of the half spaces */
    dyn_limit_cone    *cone;
    api_contact_limit *row_place, *cone_place;
} limit_list;

/* Reads a number that is at least 0, or greater than 0 if `positive`. */
static bool read_least(entry_limits *l, const char *name, bool positive, double *number)
{
    const api_node *value = api_node_get(l->entry, name);
    const api_place place = api_place_key(l->place, name);
    if (!value) return true;
    l->limited = true;
    if (!api_read_number(l->q, value, &place, number)) return false;
    const bool enough = *number > 0 || (!positive && *number == 0);
    return (enough && *number <= MOST_NUMBER) ||
           api_fail_at(l->q->problem, &place, API_BAD_VALUE, "%s given, a number %s and at most 1e9 expected",
                       API_NUMBER_TEXT(*number), positive ? "greater than 0" : "of at least 0");
}

static bool read_facets(entry_limits *l)
{
    const api_node *value = api_node_get(l->entry, "facets");
    const api_place place = api_place_key(l->place, "facets");
    double          number;
    if (!value) return true;
    if (!api_read_number(l->q, value, &place, &number)) return false;
    if (!(l->friction > 0))
        return api_fail_at(l->q->problem, &place, API_BAD_VALUE,
                           "given without friction_coefficient, whose cone the facets replace");
    if (!(number >= LEAST_FACETS && number <= MOST_FACETS && number == floor(number)))
        return api_fail_at(l->q->problem, &place, API_BAD_VALUE, "%s given, a whole number from %d to %d expected",
                           API_NUMBER_TEXT(number), LEAST_FACETS, MOST_FACETS);
    l->facets = (size_t)number;
    return true;
}

/* Reads the normal, and checks that the frame is held along a part of it. */
static bool read_normal(entry_limits *l, const dyn_held_frame *frame)
{
    const api_node *value = api_node_get(l->entry, "normal");
    const api_place place = api_place_key(l->place, "normal");
    double          size, along = 0;
    memcpy(l->normal, (double[3]){0, 0, 1}, sizeof l->normal);
    l->limited = l->limited || value || api_node_get(l->entry, "sole");
    if (!l->limited) return true;
    if (value && !api_read_numbers(l->q, value, &place, 3, l->normal)) return false;
    size = hypot(hypot(l->normal[0], l->normal[1]), l->normal[2]);
    if (!(size > 0 && isfinite(size)))
        return api_fail_at(l->q->problem, &place, API_BAD_VALUE, "a direction expected, not zero and not too large");
    for (int i = 0; i < 3; i++)
        l->normal[i] /= size;
    for (size_t i = 0; i < frame->n; i++)
        if (frame->axis[i] < 3) along = fmax(along, fabs(l->normal[frame->axis[i]]));
    return along > 0 || api_fail_at(l->q->problem, &place, API_BAD_VALUE,
                                    "the frame is not held along the normal of its contact: add the axis to axes, or "
                                    "give another normal");
}

static bool read_sole(entry_limits *l, const dyn_held_frame *frame)
{
    const api_node *value = api_node_get(l->entry, "sole");
    const api_place place = api_place_key(l->place, "sole");
    if (!value) return true;
    if (!frame->frame_axes)
        return api_fail_at(l->q->problem, &place, API_BAD_VALUE,
                           "the corners of a sole are in the axes of the frame: set reference to \"frame\"");
    return api_sole_read(l->q, value, &place, l->normal, &l->sole);
}

/* Reads "weight" into the square roots of the weights of the entry's directions. */
static bool read_weight(const entry_limits *l, const dyn_held_frame *frame, double *root)
{
    const api_node *value = api_node_get(l->entry, "weight");
    const api_place place = api_place_key(l->place, "weight");
    double          weight[API_FRAME_AXES];
    const bool      differ = value && api_node_is(value, API_ARRAY);
    for (size_t i = 0; i < frame->n; i++)
        weight[i] = 1;
    if (differ && !api_read_numbers(l->q, value, &place, frame->n, weight)) return false;
    if (value && !differ && !api_read_number(l->q, value, &place, weight)) return false;
    for (size_t i = 0; i < frame->n; i++) {
        if (value && !differ) weight[i] = weight[0];
        root[i] = 1 / sqrt(weight[i]);
        if (!(weight[i] >= 1 / MOST_WEIGHT && weight[i] <= MOST_WEIGHT))
            return api_fail_at(l->q->problem, &place, API_BAD_VALUE, "%s given, numbers from 1e-4 to 1e4 expected",
                               API_NUMBER_TEXT(weight[i]));
    }
    return true;
}

/* --- half spaces and cones -----------------------------------------------------------------------------------------
 */

/* Sets c to the entries of the wrench coefficients w (force, torque) along the held directions, in the unknowns x. */
static void to_unknowns(const limit_list *to, const entry_limits *l, const double w[API_FRAME_AXES], double *c)
{
    const dyn_held_frame *frame = &to->choice->contact->frame[l->frame];
    for (size_t i = 0; i < frame->n; i++)
        c[i] = w[frame->axis[i]] * to->choice->root[l->first + i];
}

/* Returns the number of the request that sets a limit. */
static double bound_of(const entry_limits *l, api_limit_kind kind)
{
    switch (kind) {
    case API_NORMAL_LIMIT: return l->least;
    case API_FRICTION_LIMIT: return l->friction;
    case API_TORSION_LIMIT: return l->torsion;
    case API_SOLE_LIMIT: break;
    }
    return 0;
}

static void add_half_space(limit_list *to, const entry_limits *l, api_limit_kind kind, const double w[API_FRAME_AXES],
                           double least)
{
    double      *c              = to->coefficient + API_FRAME_AXES * to->choice->n_rows;
    const size_t n              = to->choice->contact->frame[l->frame].n;
    double       most           = 0;
    to->row[to->choice->n_rows] = (dyn_limit_row){.first = l->first, .n = n, .c = c, .least = least};
    to_unknowns(to, l, w, c);
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(c[i]));
    if (most > 0) to->row_place[to->choice->n_rows++] = (api_contact_limit){l->frame, kind, bound_of(l, kind)};
}

/* Sets the tangents of the plane: first the projection on the plane of the x axis, or of the y axis if x is near the
 * normal n; then n x (first tangent). */
static void set_tangents(const double n[3], double tangent[2][API_FRAME_AXES])
{
    const int    axis  = fabs(n[0]) > 0.9;
    const double size  = sqrt(1 - n[axis] * n[axis]);
    double      *first = tangent[0], *second = tangent[1];
    memset(tangent, 0, 2 * sizeof *tangent);
    for (int i = 0; i < 3; i++)
        first[i] = ((i == axis) - n[axis] * n[i]) / size;
    for (int i = 0; i < 3; i++)
        second[i] = n[(i + 1) % 3] * first[(i + 2) % 3] - n[(i + 2) % 3] * first[(i + 1) % 3];
}

/* Adds the pyramid inside the friction cone whose edges are on the cone, the first above the first tangent. */
static void add_facets(limit_list *to, const entry_limits *l, double tangent[2][API_FRAME_AXES])
{
    for (size_t f = 0; f < l->facets; f++) {
        const double angle             = (double)(2 * f + 1) * M_PI / (double)l->facets;
        const double slope             = l->friction * cos(M_PI / (double)l->facets);
        double       w[API_FRAME_AXES] = {0};
        for (int i = 0; i < 3; i++)
            w[i] = slope * l->normal[i] - cos(angle) * tangent[0][i] - sin(angle) * tangent[1][i];
        add_half_space(to, l, API_FRICTION_LIMIT, w, 0);
    }
}

static void add_friction_limit(limit_list *to, const entry_limits *l)
{
    double tangent[2][API_FRAME_AXES], normal[API_FRAME_AXES] = {0};
    set_tangents(l->normal, tangent);
    if (l->facets > 0) {
        add_facets(to, l, tangent);
        return;
    }
    dyn_limit_cone *cone = &to->cone[to->choice->n_cones];
    *cone                = (dyn_limit_cone){.first = l->first, .n = to->choice->contact->frame[l->frame].n};
    for (int i = 0; i < 3; i++)
        normal[i] = l->friction * l->normal[i];
    to_unknowns(to, l, normal, cone->normal);
    to_unknowns(to, l, tangent[0], cone->tangent[0]);
    to_unknowns(to, l, tangent[1], cone->tangent[1]);
    to->cone_place[to->choice->n_cones++] = (api_contact_limit){l->frame, API_FRICTION_LIMIT, l->friction};
}

static void add_limits(limit_list *to, const entry_limits *l)
{
    double w[API_FRAME_AXES] = {0};
    if (!l->limited) return;
    memcpy(w, l->normal, sizeof l->normal);
    add_half_space(to, l, API_NORMAL_LIMIT, w, l->least);
    if (l->friction > 0) add_friction_limit(to, l);
    for (int sign = -1; l->torsion > 0 && sign <= 1; sign += 2) {
        for (int i = 0; i < 3; i++) {
            w[i]     = l->torsion * l->normal[i];
            w[3 + i] = sign * l->normal[i];
        }
        add_half_space(to, l, API_TORSION_LIMIT, w, 0);
    }
    for (size_t i = 0; i < l->sole.n; i++) {
        api_sole_edge(&l->sole, l->normal, i, w);
        add_half_space(to, l, API_SOLE_LIMIT, w, 0);
    }
}

/* --- the list ----------------------------------------------------------------------------------------------------- */

/* Refuses members that have no meaning for a rolling frame: the limits of a rolling frame apply to the force at its
 * contact point, in the axes of the plane. */
static bool check_rolling(const entry_limits *l, const dyn_held_frame *frame)
{
    static const char *const not_taken[] = {"normal", "sole", "torsional_friction_coefficient"};
    for (size_t i = 0; frame->rolling && i < sizeof not_taken / sizeof *not_taken; i++) {
        const api_place place = api_place_key(l->place, not_taken[i]);
        if (api_node_get(l->entry, not_taken[i]))
            return api_fail_at(l->q->problem, &place, API_BAD_VALUE,
                               "given with rolling, which has one point of contact and a normal of its own");
    }
    return true;
}

static bool read_contact_entry(entry_limits *l, const dyn_held_choice *choice)
{
    const dyn_held_frame *frame = &choice->contact->frame[l->frame];
    return check_rolling(l, frame) && read_least(l, "least_normal_force", false, &l->least) &&
           read_least(l, "friction_coefficient", true, &l->friction) && read_facets(l) &&
           read_least(l, "torsional_friction_coefficient", true, &l->torsion) && read_normal(l, frame) &&
           read_sole(l, frame) && read_weight(l, frame, choice->root + l->first);
}

bool api_contact_limits_read(api_query *q, const api_node *list, const api_place *place, dyn_held_choice *choice,
                             api_contact_limit **limits)
{
    enum { ROWS = 1 + MOST_FACETS + 2 + API_SOLE_CORNERS };
    const size_t n  = choice->contact->n;
    limit_list   to = {.choice      = choice,
                       .row         = api_take(q->pool, n * ROWS * sizeof *to.row),
                       .coefficient = api_take(q->pool, n * ROWS * API_FRAME_AXES * sizeof *to.coefficient),
                       .cone        = api_take(q->pool, n * sizeof *to.cone),
                       .row_place   = api_take(q->pool, n * (ROWS + 1) * sizeof *to.row_place),
                       .cone_place  = api_take(q->pool, n * sizeof *to.cone_place)};
    if (!to.row || !to.coefficient || !to.cone || !to.row_place || !to.cone_place) return false;
    for (size_t i = 0, first = 0; i < n; first += choice->contact->frame[i++].n) {
        api_node     entry;
        api_place    entry_place = api_place_index(place, i);
        entry_limits l           = {.q = q, .entry = &entry, .place = &entry_place, .frame = i, .first = first};
        if (!api_node_item(list, i, &entry) || !read_contact_entry(&l, choice)) return false;
        add_limits(&to, &l);
    }
    if (choice->n_cones > 0)
        memcpy(to.row_place + choice->n_rows, to.cone_place, choice->n_cones * sizeof *to.cone_place);
    choice->row  = to.row;
    choice->cone = to.cone;
    *limits      = choice->n_rows + choice->n_cones > 0 ? to.row_place : NULL;
    return true;
}
