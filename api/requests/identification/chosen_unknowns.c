/* chosen_unknowns.c - list the parameters that "unknown" names, and group them: see chosen_unknowns.h. */
#include "chosen_unknowns.h"
#include "shared_base_parameters.h"
#include "api/requests/fields/fields.h"
#include "api/codec/names.h"
#include <string.h>

enum { PAYLOAD, MASS, COM, INERTIA, FRICTION, ROTORS, LOAD, STRIBECK, CHOICES };
static const char *const choices[CHOICES] = {"payload",  "payload.mass", "payload.com", "payload.inertia",
                                             "friction", "rotors",       "load",        "stribeck"};

/* Sets c->origin, the origin of the payload's frame in the frame of the body's link: p_l = R_bl^T (p_bf - p_bl), with
 * the pose X_bl of the link's frame in the body. */
static void locate(api_chosen_unknowns *c, const dyn_body *body, const dyn_pose *X_bf)
{
    const dyn_pose *X_bl = &body->pose.X_bl;
    for (int i = 0; i < 3; i++) {
        c->origin[i] = 0;
        for (int k = 0; k < 3; k++)
            c->origin[i] += X_bl->R[k][i] * (X_bf->p[k] - X_bl->p[k]);
    }
}

/* Finds the body of the payload. */
static bool read_frame(api_query *q, api_chosen_unknowns *c)
{
    api_place       at    = api_place_key(NULL, "frame");
    const api_node *given = q->field[API_FRAME];
    if (!c->payload)
        return !given || api_fail_at(q->problem, &at, API_BAD_VALUE, "frame is given without an unknown payload");
    if (!given)
        return api_fail_at(q->problem, &at, API_MISSING_FIELD, "an unknown payload needs the frame it is fixed to");
    int frame = api_read_frame(q, given, &at);
    if (frame < 0) return false;
    int body = q->model->frames[frame].frame.body;
    if (body == DYN_WORLD)
        return api_fail_at(q->problem, &at, API_BAD_VALUE,
                           "no joint moves this frame, so a payload there has no effect");
    c->row = q->model->dyn->body[body].tree.row;
    locate(c, &q->model->dyn->body[body], &q->model->frames[frame].frame.X_bf);
    return true;
}

/* Checks that the chosen parts of the payload are mass and centre of mass, or all. */
static bool check_parts(const api_query *q, const bool chosen[CHOICES])
{
    api_place at   = api_place_key(NULL, "unknown");
    bool      part = chosen[MASS] || chosen[COM] || chosen[INERTIA];
    if (part && chosen[PAYLOAD])
        return api_fail_at(q->problem, &at, API_DUPLICATE_NAME,
                           "payload contains payload.mass, payload.com and payload.inertia: list it alone");
    return !part || (chosen[MASS] && chosen[COM]) ||
           api_fail_at(q->problem, &at, API_BAD_VALUE,
                       "torques depend on the product of a payload's mass and its centre: list payload.mass together "
                       "with payload.com");
}

/* Checks that load coefficients and Stribeck's curves can be estimated: all torques except friction must be known, and
 * each coordinate must have one joint. */
static bool check_curves(const api_query *q, const api_chosen_unknowns *c)
{
    api_place at = api_place_key(NULL, "unknown");
    if (!c->load && !c->stribeck) return true;
    if (q->model->loops)
        return api_fail_at(q->problem, &at, API_NOT_FOR_LOOPS,
                           "load and stribeck are for models without loops, which %s has", q->model->name);
    if (c->payload || (c->with & DYN_BASE_ROTORS) || !(c->with & DYN_BASE_FRICTION))
        return api_fail_at(
            q->problem, &at, API_BAD_VALUE,
            "load and stribeck are estimated with friction, and without payload and rotors, whose torques "
            "must be known");
    if (q->model->dyn->n_drives > 0)
        return api_fail_at(q->problem, &at, API_NOT_SUPPORTED,
                           "load and stribeck are for models without transmissions, and %s has transmissions",
                           q->model->name);
    for (size_t j = 0; j < q->model->n_joints; j++)
        if (c->stribeck && q->model->dyn->body[q->model->joints[j].body].joint.mimic)
            return api_fail_at(q->problem, &at, API_NOT_SUPPORTED,
                               "stribeck is not for models with mimics: joint %.64s shares a coordinate",
                               q->model->joints[j].name);
    return true;
}

static bool read_choices(api_query *q, api_chosen_unknowns *c)
{
    const api_node *list            = q->field[API_UNKNOWN];
    api_place       at              = api_place_key(NULL, "unknown");
    api_names       known           = api_names_from_array(choices, CHOICES);
    bool            chosen[CHOICES] = {false};
    if (!api_check_names(q, list, &at,
                         "of payload, payload.mass, payload.com, payload.inertia, friction, rotors, load, stribeck"))
        return false;
    for (size_t i = 0; i < api_count_names(list); i++) {
        api_node  name;
        api_place entry = api_take_name(list, &at, i, &name);
        int       k     = api_read_choice(q, &name, &entry, "an unknown", &known);
        if (k < 0) return false;
        if (chosen[k]) return api_fail_at(q->problem, &entry, API_DUPLICATE_NAME, "%s is listed twice", choices[k]);
        chosen[k] = true;
    }
    if (!check_parts(q, chosen)) return false;
    c->payload  = chosen[PAYLOAD] || chosen[MASS];
    c->inertia  = chosen[PAYLOAD] || chosen[INERTIA];
    c->load     = chosen[LOAD];
    c->stribeck = chosen[STRIBECK];
    c->with = (chosen[FRICTION] ? (unsigned)DYN_BASE_FRICTION : 0) | (chosen[ROTORS] ? (unsigned)DYN_BASE_ROTORS : 0);
    return check_curves(q, c);
}

/* True if the parameter has an effect on a torque. */
static bool acts(const api_model *m, size_t parameter)
{
    const dyn_mechanism robot = api_model_mechanism(m);
    for (size_t v = 0; v < m->nv; v++)
        if (dyn_parameter_acts(&robot, parameter, v)) return true;
    return false;
}

bool api_takes_load(const api_model *m, size_t j)
{
    return j >= m->n_joints || !(m->joints[j].elastic || m->dyn->body[m->joints[j].body].joint.mimic);
}

/* Lists the parameters of a joint's load coefficient and Stribeck's curve. */
static void list_curve(const api_model *m, api_chosen_unknowns *c, size_t j)
{
    if (!acts(m, dyn_joint_parameter(m->dyn, j, DYN_VISCOUS))) return;
    if (c->load && api_takes_load(m, j)) c->parameter[c->n++] = dyn_curve_parameter(m->dyn, j, DYN_LOAD);
    for (size_t k = DYN_BREAKAWAY_POSITIVE; c->stribeck && k < DYN_PER_CURVE; k++)
        c->parameter[c->n++] = dyn_curve_parameter(m->dyn, j, k);
}

/* Lists the chosen parameters: those of the body, then those of each joint. */
static bool list_parameters(api_query *q, api_chosen_unknowns *c)
{
    const api_model *m    = q->model;
    size_t           most = DYN_PER_BODY + (DYN_PER_JOINT + DYN_PER_CURVE) * m->n_movers;
    dyn_base        *b    = &c->base;
    c->parameter          = api_take(q->pool, most * sizeof *c->parameter);
    b->first              = api_take(q->pool, (most + 1) * sizeof *b->first);
    if (!c->parameter || !b->first) return false;
    for (size_t k = 0; k < DYN_PER_BODY && c->payload; k++)
        c->parameter[c->n++] = DYN_PER_BODY * (size_t)c->row + k;
    for (size_t j = 0; j < m->n_movers; j++) {
        for (size_t k = 0; k < DYN_PER_JOINT; k++) {
            size_t parameter = dyn_joint_parameter(m->dyn, j, k);
            bool   chosen    = c->with & (k == DYN_ROTOR_INERTIA ? DYN_BASE_ROTORS : DYN_BASE_FRICTION);
            if (chosen && dyn_mover_is_estimated(m->dyn, j) && acts(m, parameter)) c->parameter[c->n++] = parameter;
        }
        list_curve(m, c, j);
    }
    b->n         = c->n;
    b->parameter = c->parameter;
    memset(b->first, 0, (c->n + 1) * sizeof *b->first);
    return true;
}

/* --- grouping ------------------------------------------------------------------------------------------------------
 */

/* Lists the parameters whose columns depend on the motion alone, in the order in which they are examined: all but those
 * of friction curves. */
static size_t list_candidates(const api_model *m, const api_chosen_unknowns *c, size_t *candidate)
{
    size_t n = 0;
    for (size_t k = 0; k < DYN_PER_BODY && c->payload; k++)
        candidate[n++] = DYN_PER_BODY * (size_t)c->row + dyn_base_order[k];
    for (size_t k = c->payload ? DYN_PER_BODY : 0; k < c->n; k++)
        if (c->parameter[k] < dyn_parameter_count(m->dyn)) candidate[n++] = c->parameter[k];
    return n;
}

/* Returns the index of a parameter in found->parameter, or found->n. */
static size_t index_of(const dyn_base *found, size_t parameter)
{
    size_t k = 0;
    while (k < found->n && found->parameter[k] != parameter)
        k++;
    return k;
}

/* Copies the groups that were found to the request's memory, in the order of the chosen parameters. */
static bool take_groups(const api_query *q, api_chosen_unknowns *c, const dyn_base *found)
{
    dyn_base    *b     = &c->base;
    const size_t terms = found->first[found->n];
    b->parameter       = api_take(q->pool, (c->n + 1) * sizeof *b->parameter);
    b->term            = api_take(q->pool, (terms + 1) * sizeof *b->term);
    b->no_effect       = api_take(q->pool, (found->n_no_effect + 1) * sizeof *b->no_effect);
    if (!b->parameter || !b->term || !b->no_effect) return false;
    b->n = 0;
    for (size_t i = 0; i < c->n; i++) {
        size_t at = index_of(found, c->parameter[i]), end = b->first[b->n];
        if (at == found->n && c->parameter[i] < dyn_parameter_count(q->model->dyn)) continue;
        b->parameter[b->n++] = c->parameter[i];
        for (size_t k = at < found->n ? found->first[at] : 0; at < found->n && k < found->first[at + 1]; k++)
            b->term[end++] = found->term[k];
        b->first[b->n] = end;
    }
    b->n_no_effect = found->n_no_effect;
    memcpy(b->no_effect, found->no_effect, found->n_no_effect * sizeof *b->no_effect);
    return true;
}

/* Groups the parameters that no motion at the request's gravity tells apart, and lists those without effect. */
static bool group(const api_query *q, api_chosen_unknowns *c)
{
    size_t             *candidate = api_take(q->pool, (c->n + 1) * sizeof *candidate);
    dyn_base_candidates among     = {.parameter = candidate};
    if (!candidate) return false;
    among.n                   = list_candidates(q->model, c, candidate);
    const dyn_mechanism robot = api_model_mechanism(q->model);
    among.states              = dyn_base_candidate_states(&robot, among.n);
    memcpy(among.gravity, q->scene.gravity, sizeof among.gravity);
    dyn_base *found = api_base_find_in_request(q, &among);
    bool      good  = found && take_groups(q, c, found);
    dyn_base_free(found);
    return good;
}

api_chosen_unknowns *api_chosen_unknowns_read(api_query *q)
{
    api_chosen_unknowns *c = api_take(q->pool, sizeof *c);
    if (!c) return NULL;
    *c = (api_chosen_unknowns){0};
    return read_choices(q, c) && read_frame(q, c) && list_parameters(q, c) && group(q, c) ? c : NULL;
}
