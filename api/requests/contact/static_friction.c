/* static_friction.c - applies static friction to forward dynamics (static_friction.h). */
#include "static_friction.h"
#include "api/requests/evaluate/friction.h"
#include "dynamics/loops/loop_kernels.h"
#include "api/requests/fields/fields.h"
#include "dynamics/contact/friction_rows.h"
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

/* Arrays of one block. */
typedef struct arrays {
    double *stuck, *matrix, *singular, *tau; /* in lanes: nv, nv x nv, 1, nv */
    double *rows;                            /* one state: of dyn_friction_rows */
    size_t *at;                              /* [n] index in api_static_friction.joint */
} arrays;

size_t api_static_friction_entries(const api_model *m, const api_static_friction *s)
{
    return m->nv * m->nv + 1 + 2 * m->nv + s->n + dyn_friction_rows_entries(s->n, m->nv);
}

static arrays lay_out(size_t nv, size_t n, size_t W, double *room)
{
    arrays a       = {.stuck = room};
    a.matrix       = a.stuck + nv * W;
    a.singular     = a.matrix + nv * nv * W;
    a.tau          = a.singular + W;
    void *integers = a.tau + nv * W; /* the memory of n doubles holds the integers */
    a.at           = integers;
    void *rows     = a.at + n;
    a.rows         = rows;
    return a;
}

/* Sets up the rows of the joints and motors at rest in one lane, with their limits. */
static dyn_friction_rows gather(const api_static_friction *s, const arrays *a, const dyn_friction_state *state)
{
    const size_t      nv = state->nv;
    dyn_friction_rows r  = dyn_friction_rows_lay_out(s->n, nv, a->rows);
    for (size_t k = 0; k < s->n; k++) {
        const dyn_stiction_joint *j = &s->joint[k];
        if (!dyn_friction_row_rests(state, j)) continue;
        const double             u  = j->v != DYN_NO_COORDINATE ? a->tau[j->v * state->W + state->lane] : 0;
        const dyn_stiction_joint at = dyn_stiction_limit_at(j, u);
        a->at[r.n]                  = k;
        r.positive[r.n]             = at.positive;
        r.negative[r.n]             = at.negative;
        dyn_friction_row_fill(state, j, r.W + r.n * nv);
        r.n++;
    }
    return r;
}

/* Writes the friction of one lane, and marks the coordinates that stick. */
static void put(const api_static_friction *s, const arrays *a, const dyn_friction_state *state,
                const dyn_friction_rows *r, double *friction)
{
    const size_t nv = state->nv, W = state->W, lane = state->lane;
    for (size_t i = 0; i < r->n; i++) {
        const size_t v = s->joint[a->at[i]].v;
        for (size_t c = 0; c < nv; c++)
            if (r->W[i * nv + c] != 0) friction[c * W + lane] += r->W[i * nv + c] * r->f[i];
        if (v != DYN_NO_COORDINATE) a->stuck[v * W + lane] = r->side[i] == 0;
    }
}

/* The state of one lane, and its share of the time. */
typedef struct decision {
    const dyn_friction_state *state;
    dyn_contact_block        *held; /* NULL: no frames are held */
    const double             *qdd;
    size_t                    number; /* number of the state */
    api_row_share             share;
} decision;

/* Solves the friction problem of one lane. Lanes in which the held frames cannot be solved for are left out. Returns
 * false with a problem. */
static bool decide(const api_evaluation *e, const api_static_friction *s, const arrays *a, const decision *d,
                   double *friction)
{
    const dyn_friction_state *state  = d->state;
    dyn_contact_block        *held   = d->held;
    const double             *qdd    = d->qdd;
    const size_t              number = d->number;
    dyn_friction_rows         r      = gather(s, a, state);
    if (!api_row_share_check(&d->share)) return api_row_share_fail(e, API_Q, number);
    if (r.n == 0 || (held && !dyn_contact_solve(held, state->lane))) return true;
    const bool                good = held ? dyn_friction_rows_set_held(&r, state, held, qdd)
                                          : dyn_friction_rows_set(&r, state, a->matrix, NULL, qdd);
    const dyn_friction_status status =
        good ? dyn_friction_rows_solve(&r, api_row_share_for_dynamics(&d->share)) : DYN_FRICTION_UNDECIDED;
    if (status == DYN_FRICTION_STOPPED) return api_row_share_fail(e, API_Q, number);
    if (status == DYN_FRICTION_UNDECIDED)
        return api_fail_state(e, API_SINGULAR_MASS_MATRIX, API_Q, number,
                              "which joints stick cannot be decided: the mass matrix is singular up to rounding");
    put(s, a, state, &r, friction);
    return true;
}

/* Finds the mass matrix, unless frames are held, and the efforts without friction of joints at rest. */
static void prepare(const api_evaluation *e, const arrays *a, size_t block, bool held)
{
    const size_t     n      = e->model->nv * e->lanes;
    const double    *tau    = api_state_block(e, API_TAU, block);
    dyn_mass_matrix  io     = {.q = api_state_block(e, API_Q, block), .mass_matrix = a->matrix};
    dyn_friction_map unheld = {.qd = api_state_block(e, API_QD, block), .tau = tau, .result = a->tau};
    if (!held) e->kernels->mass_matrix(&e->query->scene, e->workspace, &io, 1);
    if (e->model->loops)
        memcpy(a->tau, tau, n * sizeof *a->tau); /* without load, whose limits depend on efforts */
    else
        api_friction_map(e, &unheld);
    memset(a->stuck, 0, n * sizeof *a->stuck);
}

bool api_static_friction_apply(const api_evaluation *e, const api_static_friction *s, size_t block,
                               dyn_contact_block *held, double *room, double *qdd, double *friction)
{
    const size_t       nv = e->model->nv, W = e->lanes, states = api_states(e->query);
    const double      *tau   = api_state_block(e, API_TAU, block);
    arrays             a     = lay_out(nv, s->n, W, room);
    dyn_friction_state state = {.nv    = nv,
                                .G     = e->model->loops ? dyn_loop_G(e->workspace) : NULL,
                                .qd    = api_state_block(e, API_QD, block),
                                .W     = W,
                                .fused = e->kernels->fused};
    prepare(e, &a, block, held);
    memset(friction, 0, nv * W * sizeof *friction);
    const size_t        first = block * W, live = states - first < W ? states - first : W;
    const api_row_share share = api_row_share_take(e->plan, live);
    for (; state.lane < live; state.lane++) {
        const decision d = {&state, held, qdd, first + state.lane, api_row_share_divide(&share, live - state.lane)};
        if (!decide(e, s, &a, &d, friction)) return false;
    }
    for (size_t i = 0; i < nv * W; i++)
        a.tau[i] = tau[i] - friction[i];
    dyn_forward_dynamics moving = {.q        = api_state_block(e, API_Q, block),
                                   .qd       = state.qd,
                                   .tau      = a.tau,
                                   .wrenches = api_wrench_block(e, block),
                                   .qdd      = qdd,
                                   .singular = a.singular};
    e->kernels->forward_dynamics(&e->query->scene, e->workspace, &moving, 1);
    return true;
}

void api_static_friction_stop(const api_evaluation *e, const double *room, double *qdd)
{
    for (size_t i = 0; i < e->model->nv * e->lanes; i++)
        if (room[i] != 0) qdd[i] = 0; /* `room` begins with the marks of the coordinates that stick */
}
