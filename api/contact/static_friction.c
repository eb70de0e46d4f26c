/* static_friction.c - applies static friction to forward dynamics (static_friction.h). */
#include "static_friction.h"
#include "api/model/loops.h"
#include "api/request/fields.h"
#include "dynamics/friction_map.h"
#include <string.h>

struct api_static_friction {
    size_t              n;
    api_stiction_joint *joint; /* [n] joints of the model that can stick */
};

/* --- option ------------------------------------------------------------------------------------------------------- */

/* Finds the coordinate of a model with loops that is coordinate `tree_v` of its tree. Passive joints, which have none,
 * are refused: where several joints move together, it is undetermined which of them holds how much. */
static bool find_actuated(api_query *q, const api_place *at, size_t tree_v, size_t *v)
{
    const api_loops *l = q->model->loops;
    size_t           b = 0;
    for (*v = 0; *v < q->model->nv; ++*v)
        if ((size_t)l->active_v[*v] == tree_v) return true;
    while (b + 1 < q->model->dyn->n_bodies &&
           (q->model->dyn->body[b].joint.mimic || q->model->dyn->body[b].joint.v != (int)tree_v))
        b++;
    return api_fail_at(q->problem, at, API_NOT_SUPPORTED,
                       "friction_at_rest \"stick\" is not for passive joints with sharp friction: %.64s is one",
                       api_joint_of(q->model, (int)b));
}

static bool list(api_query *q, const api_place *at, const api_static_friction **sticking)
{
    api_static_friction *s = api_take(q->pool, sizeof *s);
    if (!s || !(s->joint = api_take(q->pool, (size_t)q->model->dyn->nv * sizeof *s->joint))) return false;
    s->n = api_stiction_list_joints(q->model->dyn, s->joint);
    for (size_t i = 0; q->model->loops && i < s->n; i++)
        if (!find_actuated(q, at, s->joint[i].tree_v, &s->joint[i].v)) return false;
    *sticking = s;
    return true;
}

bool api_static_friction_read(api_query *q, const api_contact *contact, const api_node *given, const api_place *up,
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
    if (contact)
        return api_fail_at(q->problem, &at, API_NOT_SUPPORTED,
                           "friction_at_rest \"stick\" cannot be combined with held: leave out one of them");
    const size_t drive = api_stiction_find_sharp_drive(q->model->dyn);
    if (drive < q->model->dyn->n_drives)
        return api_fail_at(q->problem, &at, API_NOT_SUPPORTED,
                           "friction_at_rest \"stick\" is not for motors of coupled transmissions with sharp friction: "
                           "%.64s is one",
                           q->model->mover_names[dyn_drive_mover(q->model->dyn, drive)]);
    return list(q, &at, sticking);
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

const api_stiction_joint *api_static_friction_joints(const api_static_friction *s, size_t *n)
{
    *n = s->n;
    return s->joint;
}

/* --- lanes ------------------------------------------------------------------------------------------------------- */

/* Arrays of one block. */
typedef struct arrays {
    double *matrix, *inverse, *singular, *tau, *stuck;         /* in lanes: nv x nv, nv x nv, 1, nv, nv */
    double *A, *work, *b, *positive, *negative, *f, *solution; /* one state: n x n, n x n, n each */
    int    *side, *at; /* n each; `at` is the index in api_static_friction.joint */
} arrays;

size_t api_static_friction_entries(const api_model *m)
{
    return 2 * m->nv * m->nv + 1 + 2 * m->nv + 2 * m->nv * m->nv + 7 * m->nv;
}

static arrays lay_out(size_t nv, size_t W, double *room)
{
    arrays a       = {.matrix = room};
    a.inverse      = a.matrix + nv * nv * W;
    a.singular     = a.inverse + nv * nv * W;
    a.tau          = a.singular + W;
    a.stuck        = a.tau + nv * W;
    a.A            = a.stuck + nv * W;
    a.work         = a.A + nv * nv;
    a.b            = a.work + nv * nv;
    a.positive     = a.b + nv;
    a.negative     = a.positive + nv;
    a.f            = a.negative + nv;
    a.solution     = a.f + nv;
    void *integers = a.solution + nv; /* the memory of nv doubles holds two arrays of nv integers */
    a.side         = integers;
    a.at           = a.side + nv;
    return a;
}

/* Sets up the friction problem (stiction.h) of the joints at rest in one lane. */
static api_stiction_problem gather(const api_evaluation *e, const api_static_friction *s, const arrays *a,
                                   const double *qd, const double *qdd, size_t lane)
{
    size_t               nv = e->model->nv, W = e->lanes;
    const double        *unheld = a->tau + lane;
    api_stiction_problem p      = {
             .A = a->A, .b = a->b, .positive = a->positive, .negative = a->negative, .f = a->f, .side = a->side};
    p.factor   = a->work;
    p.solution = a->solution;
    for (size_t k = 0; k < s->n; k++) {
        const api_stiction_joint *j = &s->joint[k];
        if (qd && qd[j->v * W + lane] != 0) continue;
        const api_stiction_joint at = api_stiction_limit_at(j, unheld[j->v * W]);
        a->at[p.n]                  = (int)k;
        a->b[p.n]                   = qdd[j->v * W + lane];
        a->positive[p.n]            = at.positive;
        a->negative[p.n]            = at.negative;
        p.n++;
    }
    for (size_t i = 0; i < p.n; i++)
        for (size_t j = 0; j < p.n; j++)
            a->A[i * p.n + j] = a->inverse[(s->joint[a->at[i]].v * nv + s->joint[a->at[j]].v) * W + lane];
    return p;
}

static bool fail(const api_evaluation *e, size_t state)
{
    return api_fail_state(e, API_SINGULAR_MASS_MATRIX, API_Q, state,
                          "which joints stick cannot be decided: the mass matrix is singular up to rounding");
}

/* Solves the friction problem of one lane: writes the friction and marks the joints that stick. */
static bool decide(const api_evaluation *e, const api_static_friction *s, const arrays *a, api_stiction_problem *p,
                   size_t state, double *friction)
{
    size_t W = e->lanes, lane = state % W;
    if (!api_stiction_solve(p)) return fail(e, state);
    for (size_t i = 0; i < p->n; i++) {
        size_t v               = s->joint[a->at[i]].v;
        friction[v * W + lane] = p->f[i];
        a->stuck[v * W + lane] = p->side[i] == 0;
    }
    return true;
}

bool api_static_friction_apply(const api_evaluation *e, const api_static_friction *s, size_t block, double *room,
                               double *qdd, double *friction)
{
    size_t          nv = e->model->nv, W = e->lanes, states = api_states(e->query);
    arrays          a  = lay_out(nv, W, room);
    const double   *qd = api_state_block(e, API_QD, block), *tau = api_state_block(e, API_TAU, block);
    dyn_mass_matrix io = {
        .q = api_state_block(e, API_Q, block), .mass_matrix = a.matrix, .inverse = a.inverse, .singular = a.singular};
    e->kernels->mass_matrix(&e->query->scene, e->workspace, &io, 1);
    dyn_friction_map unheld = {.qd = qd, .tau = tau, .result = a.tau};
    if (e->model->loops)
        memcpy(a.tau, tau, nv * W * sizeof *a.tau); /* without load, whose limits depend on efforts */
    else
        dyn_friction_map_of(e->kernels)(&e->query->scene, e->workspace, &unheld, 1);
    memset(friction, 0, nv * W * sizeof *friction);
    memset(a.stuck, 0, nv * W * sizeof *a.stuck);
    for (size_t lane = 0; lane < W && block * W + lane < states; lane++) {
        api_stiction_problem p = gather(e, s, &a, qd, qdd, lane);
        if (!decide(e, s, &a, &p, block * W + lane, friction)) return false;
    }
    for (size_t i = 0; i < nv * W; i++)
        a.tau[i] = tau[i] - friction[i];
    dyn_forward_dynamics moving = {
        .q = io.q, .qd = qd, .tau = a.tau, .wrenches = api_wrench_block(e, block), .qdd = qdd, .singular = a.singular};
    e->kernels->forward_dynamics(&e->query->scene, e->workspace, &moving, 1);
    for (size_t i = 0; i < nv * W; i++)
        if (a.stuck[i] != 0) qdd[i] = 0;
    return true;
}
