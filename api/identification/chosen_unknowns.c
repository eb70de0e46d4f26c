/* chosen_unknowns.c - see chosen_unknowns.h. */
#include "chosen_unknowns.h"
#include "api/request/fields.h"
#include "api/wire/names.h"

enum { PAYLOAD, FRICTION, ROTORS, LOAD, STRIBECK, CHOICES };
static const char *const choices[CHOICES] = {"payload", "friction", "rotors", "load", "stribeck"};

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
    return true;
}

/* Checks that load coefficients and Stribeck's curves can be estimated: they need torques that are known but for
 * friction, and one joint on each coordinate. */
static bool check_curves(const api_query *q, const api_chosen_unknowns *c)
{
    api_place at = api_place_key(NULL, "unknown");
    if (!c->load && !c->stribeck) return true;
    if (q->model->loops)
        return api_fail_at(q->problem, &at, API_NOT_FOR_LOOPS,
                           "load and stribeck are for models without loops, which %s has", q->model->name);
    if (c->payload || (c->with & API_BASE_ROTORS) || !(c->with & API_BASE_FRICTION))
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
    if (!api_check_list(q, list, &at, "of payload, friction, rotors, load, stribeck")) return false;
    for (size_t i = 0; i < api_node_size(list); i++) {
        api_node  name;
        api_place entry = api_place_index(&at, i);
        int       k     = api_node_item(list, i, &name) ? api_read_choice(q, &name, &entry, "an unknown", &known) : -1;
        if (k < 0) return false;
        if (chosen[k]) return api_fail_at(q->problem, &entry, API_DUPLICATE_NAME, "%s is listed twice", choices[k]);
        chosen[k] = true;
    }
    c->payload  = chosen[PAYLOAD];
    c->load     = chosen[LOAD];
    c->stribeck = chosen[STRIBECK];
    c->with = (chosen[FRICTION] ? (unsigned)API_BASE_FRICTION : 0) | (chosen[ROTORS] ? (unsigned)API_BASE_ROTORS : 0);
    return check_curves(q, c);
}

/* True if the parameter has an effect on a torque. */
static bool acts(const api_model *m, size_t parameter)
{
    for (size_t v = 0; v < m->nv; v++)
        if (api_parameter_acts(m, parameter, v)) return true;
    return false;
}

bool api_takes_load(const api_model *m, size_t j)
{
    return j >= m->n_joints || !(m->joints[j].elastic || m->dyn->body[m->joints[j].body].joint.mimic);
}

/* Lists the parameters of a joint's load coefficient and Stribeck's curve. */
static void list_curve(const api_model *m, api_chosen_unknowns *c, size_t j)
{
    api_base *b = &c->base;
    if (!acts(m, api_joint_parameter(m, j, API_VISCOUS))) return;
    if (c->load && api_takes_load(m, j)) b->parameter[b->n++] = api_curve_parameter(m, j, API_LOAD);
    for (size_t k = API_BREAKAWAY_POSITIVE; c->stribeck && k < API_PER_CURVE; k++)
        b->parameter[b->n++] = api_curve_parameter(m, j, k);
}

/* Lists the chosen parameters: those of the body, then those of each joint. */
static bool list_parameters(api_query *q, api_chosen_unknowns *c)
{
    const api_model *m    = q->model;
    size_t           most = API_PER_BODY + (API_PER_JOINT + API_PER_CURVE) * m->n_movers;
    api_base        *b    = &c->base;
    b->parameter          = api_take(q->pool, most * sizeof *b->parameter);
    b->first              = api_take(q->pool, (most + 1) * sizeof *b->first);
    if (!b->parameter || !b->first) return false;
    for (size_t k = 0; k < API_PER_BODY && c->payload; k++)
        b->parameter[b->n++] = API_PER_BODY * (size_t)c->row + k;
    for (size_t j = 0; j < m->n_movers; j++) {
        for (size_t k = 0; k < API_PER_JOINT; k++) {
            size_t parameter = api_joint_parameter(m, j, k);
            bool   chosen    = c->with & (k == API_ROTOR_INERTIA ? API_BASE_ROTORS : API_BASE_FRICTION);
            if (chosen && api_mover_is_estimated(m, j) && acts(m, parameter)) b->parameter[b->n++] = parameter;
        }
        list_curve(m, c, j);
    }
    for (size_t k = 0; k <= b->n; k++)
        b->first[k] = 0;
    return true;
}

api_chosen_unknowns *api_chosen_unknowns_read(api_query *q)
{
    api_chosen_unknowns *c = api_take(q->pool, sizeof *c);
    if (!c) return NULL;
    *c = (api_chosen_unknowns){0};
    return read_choices(q, c) && read_frame(q, c) && list_parameters(q, c) ? c : NULL;
}
