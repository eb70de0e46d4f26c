/* path_contacts.c - reads the held frames of a path, and lists the limits of their wrenches (path_contacts.h). */
#include "path_contacts.h"
#include "api/requests/held/held_fields.h"
#include <math.h>

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Returns the first limit of a kind of a frame; NULL: there is none. */
static const api_contact_limit *find_contact_limit(const api_path_contacts *contacts, size_t frame, api_limit_kind kind)
{
    const dyn_held_choice *choice = &contacts->held->choice;
    for (size_t i = 0; i < choice->n_rows + choice->n_cones; i++) {
        const api_contact_limit *limit = &contacts->held->limits[i];
        if (limit->frame == frame && limit->kind == kind) return limit;
    }
    return NULL;
}

/* Lists each pair of a frame and a kind of limit once, in the order of the frames and of the kinds. */
static bool list_contact_limits(const api_query *q, api_path_contacts *contacts)
{
    const size_t n  = contacts->held->choice.contact->n;
    contacts->limit = api_take(q->pool, n * (API_SOLE_LIMIT + 1) * sizeof *contacts->limit);
    for (size_t frame = 0; contacts->limit && frame < n; frame++)
        for (int kind = API_NORMAL_LIMIT; kind <= API_SOLE_LIMIT; kind++) {
            const api_contact_limit *limit = find_contact_limit(contacts, frame, (api_limit_kind)kind);
            if (limit) contacts->limit[contacts->n_limits++] = *limit;
        }
    return contacts->limit != NULL;
}

bool api_path_contacts_read(api_query *q, api_selection *selected, size_t output, const api_node *fields,
                            api_path_contacts **found)
{
    api_held_efforts *efforts = NULL;
    if (!api_held_efforts_read(q, selected, output, fields, NULL, &efforts)) return false;
    selected->shares_time = false;
    if (!efforts) return true;
    if (!api_contact_refuse_rolling(q, efforts->choice.contact, NULL, "path-timing")) return false;
    *found = api_take(q->pool, sizeof **found);
    if (!*found) return false;
    **found = (api_path_contacts){.held = efforts};
    return list_contact_limits(q, *found);
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

/* Numbers the limits of the polytope in the list of all limits. */
static bool number_limits(const api_query *q, api_path_contacts *contacts, const api_limit_list *list, size_t first)
{
    const dyn_held_choice *choice     = &contacts->held->choice;
    const size_t           n_contacts = choice->n_rows + choice->n_cones;
    const dyn_limit      **effort     = api_take(q->pool, (list->n + 1) * sizeof *effort);
    size_t                *number     = api_take(q->pool, (n_contacts + list->n + 1) * sizeof *number);
    if (!effort || !number) return false;
    for (size_t i = 0; i < n_contacts; i++) {
        const api_contact_limit *limit = &contacts->held->limits[i];
        size_t                   known = 0;
        while (contacts->limit[known].frame != limit->frame || contacts->limit[known].kind != limit->kind)
            known++;
        number[i] = first + known;
    }
    for (size_t i = 0; i < list->n; i++) {
        if (list->limit[i].kind != DYN_LIMIT_EFFORT) continue;
        number[n_contacts + contacts->limits.n_efforts] = i;
        effort[contacts->limits.n_efforts++]            = &list->limit[i];
    }
    contacts->limits.effort = effort;
    contacts->number        = number;
    return true;
}

static double robot_weight(const dyn_scene *scene)
{
    const double *g = scene->gravity;
    return scene->model->mass * fmax(sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), DYN_STANDARD_GRAVITY);
}

bool api_path_contacts_prepare(const api_plan *plan, api_path_contacts *contacts, const api_limit_list *list,
                               size_t first)
{
    const api_query *q      = plan->query;
    const size_t     states = api_states(q);
    if (!api_held_efforts_prepare(q, contacts->held)) return false;
    contacts->limits = (dyn_polytope_limits){.choice = &contacts->held->choice,
                                             .nv     = q->model->nv,
                                             .weight = robot_weight(&q->scene),
                                             .lever  = contacts->held->lever};
    contacts->W      = plan->lanes;
    contacts->owner  = api_take(q->pool, states * DYN_POLYGON_EDGES * sizeof *contacts->owner);
    contacts->scale  = api_take(q->pool, states * sizeof *contacts->scale);
    return contacts->owner && contacts->scale && number_limits(q, contacts, list, first);
}

/* --- costs -------------------------------------------------------------------------------------------------------- */

/* Counts two linear programs for each edge of a polygon, with about one pivot for each unknown. */
double api_path_contacts_seconds(const api_query *q, const api_path_contacts *contacts, const api_limit_list *list)
{
    const double           entry  = 0.3e-9; /* s, cost of an entry of the dictionary in a pivot */
    const dyn_held_choice *choice = &contacts->held->choice;
    const double           n      = (double)choice->contact->k + 2;
    const double rows = (double)(choice->n_rows + DYN_POLYTOPE_FACETS * choice->n_cones + 2 * list->n) + 2 * n;
    return (double)api_states(q) * 2 * DYN_POLYGON_EDGES * n * n * rows * entry;
}

/* --- answer ------------------------------------------------------------------------------------------------------- */

void api_path_contacts_emit(const api_path_contacts *contacts, api_emit *to)
{
    for (size_t i = 0; i < contacts->n_limits; i++) {
        const api_contact_limit *l = &contacts->limit[i];
        api_emit_object(to);
        api_emit_string_member(to, "frame", contacts->held->choice.contact->names[l->frame]);
        api_emit_string_member(to, "kind", api_contact_limit_name(l->kind));
        if (l->kind == API_NORMAL_LIMIT)
            api_emit_number_member(to, "lower", l->bound);
        else if (l->kind != API_SOLE_LIMIT)
            api_emit_number_member(to, "upper", l->bound);
        api_emit_end(to);
    }
}
