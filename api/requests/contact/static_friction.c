/* static_friction.c - applies static friction to forward dynamics (static_friction.h). */
#include "static_friction.h"
#include "dynamics/loops/loop_kernels.h"
#include "api/requests/fields/fields.h"
#include "dynamics/joint_stiction/friction_at_rest.h"
#include <string.h>

struct api_static_friction {
    size_t              n;
    dyn_stiction_joint *joint; /* [n] joints and motors of the model that can stick */
};

/* --- option ------------------------------------------------------------------------------------------------------- */

/* Returns the name of a joint or motor, for messages. */
static const char *name_of(const api_model *model, const dyn_stiction_joint *joint)
{
    const dyn_model *m = model->dyn;
    size_t           b = 0;
    if (joint->drive) return model->mover_names[dyn_drive_mover(m, (size_t)(joint->drive - m->drive))];
    while (b + 1 < m->n_bodies && (m->body[b].joint.mimic || (size_t)m->body[b].joint.v != joint->tree_v))
        b++;
    return api_joint_of(model, (int)b);
}

static bool list(api_query *q, const api_static_friction **sticking)
{
    const dyn_model     *m = q->model->dyn;
    api_static_friction *s = api_take(q->pool, sizeof *s);
    if (!s || !(s->joint = api_take(q->pool, ((size_t)m->nv + m->n_drives) * sizeof *s->joint))) return false;
    const dyn_mechanism mechanism = api_model_mechanism(q->model);
    s->n                          = dyn_friction_rows_list(&mechanism, s->joint);
    *sticking                     = s;
    return true;
}

bool api_static_friction_read(api_query *q, const api_node *given, const api_place *up,
                              const api_static_friction **sticking)
{
    const api_node *value = api_node_get(given, "friction_at_rest");
    api_place       at    = api_place_key(up, "friction_at_rest");
    if (!value) return true;
    const char *name = api_read_string(q, value, &at);
    if (!name) return false;
    if (strcmp(name, "none") == 0) return true;
    if (strcmp(name, "stick") != 0)
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "\"%.64s\" given, \"none\" or \"stick\" expected", name);
    return list(q, sticking);
}

bool api_static_friction_check_coordinates(const api_query *q, const api_place *up, const api_static_friction *s)
{
    api_place at = api_place_key(up, "friction_at_rest");
    for (size_t i = 0; s && i < s->n; i++)
        if (s->joint[i].v == DYN_NO_COORDINATE && (q->model->loops || !s->joint[i].drive))
            return api_fail_at(q->problem, &at, API_NOT_SUPPORTED,
                               "friction_at_rest \"stick\" of a step is not for %s with sharp friction: %.64s is one",
                               s->joint[i].drive ? "motors of coupled transmissions of models with loops"
                                                 : "passive joints",
                               name_of(q->model, &s->joint[i]));
    return true;
}

bool api_static_friction_check(const api_query *q, const api_static_friction *sticking)
{
    api_place at = api_place_key(NULL, "friction");
    if (sticking && q->model->loops && api_has_load(q))
        return api_fail_load(q, "friction_at_rest \"stick\" of models with loops");
    return !sticking || (q->scene.terms & DYN_FRICTION) ||
           api_fail_at(q->problem, &at, API_BAD_VALUE,
                       "joints can stick only with friction: set friction to true, or leave out friction_at_rest");
}

const dyn_stiction_joint *api_static_friction_joints(const api_static_friction *s, size_t *n)
{
    *n = s->n;
    return s->joint;
}

/* --- lanes ------------------------------------------------------------------------------------------------------- */

size_t api_static_friction_entries(const api_model *m, const api_static_friction *s)
{
    return dyn_friction_at_rest_entries(m->nv, s->n);
}

/* Finds the friction of one state of a block. Returns false with a problem. */
static bool find(const api_evaluation *e, const dyn_friction_at_rest *b, size_t state, const api_row_share *share)
{
    switch (dyn_friction_at_rest_find(b, state % e->lanes, api_row_share_for_dynamics(share))) {
    case DYN_FRICTION_FOUND: return true;
    case DYN_FRICTION_STOPPED: return api_row_share_fail(e, API_Q, state);
    case DYN_FRICTION_UNDECIDED: break;
    }
    return api_fail_state(e, API_SINGULAR_MASS_MATRIX, API_Q, state,
                          "which joints stick cannot be decided: the mass matrix is singular up to rounding");
}

bool api_static_friction_apply(const api_evaluation *e, const api_static_friction *s, size_t block,
                               dyn_contact_block *held, double *room, double *qdd, double *friction)
{
    const size_t         W = e->lanes, states = api_states(e->query), first = block * W;
    const size_t         live = states - first < W ? states - first : W;
    dyn_friction_at_rest b    = {.joint     = s->joint,
                                 .n         = s->n,
                                 .nv        = e->model->nv,
                                 .kernels   = e->kernels,
                                 .scene     = &e->query->scene,
                                 .workspace = e->workspace,
                                 .G         = e->model->loops ? dyn_loop_G(e->workspace) : NULL,
                                 .q         = api_state_block(e, API_Q, block),
                                 .qd        = api_state_block(e, API_QD, block),
                                 .tau       = api_state_block(e, API_TAU, block),
                                 .wrenches  = api_wrench_block(e, block),
                                 .held      = held,
                                 .qdd       = qdd,
                                 .friction  = friction};
    dyn_friction_at_rest_begin(&b, room);
    const api_row_share share = api_row_share_take(e->plan, live);
    for (size_t lane = 0; lane < live; lane++) {
        const api_row_share part = api_row_share_divide(&share, live - lane);
        if (!find(e, &b, first + lane, &part)) return false;
    }
    dyn_friction_at_rest_finish(&b);
    return true;
}

void api_static_friction_stop(const api_evaluation *e, const double *room, double *qdd)
{
    dyn_friction_at_rest_stop(room, e->model->nv * e->lanes, qdd);
}
