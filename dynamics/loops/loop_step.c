/* loop_step.c - gives the step kernel the accelerations of a model with loops (loop_step.h). */
#include "loop_step.h"
#include "loop_workspace.h"
#include "dynamics/model/coordinates.h"
#include <string.h>

/* --- actuated joints --------------------------------------------------------------------------------------------- */

/* Copies the joints that move actuated coordinates. Returns their number. */
static size_t copy_joints(const api_model *model, dyn_body *to)
{
    const dyn_model *tree = model->dyn;
    size_t           n    = 0;
    for (size_t i = 0; i < tree->n_bodies; i++) {
        const dyn_body *body = &tree->body[i];
        if (body->joint.mimic || api_first_position(model, body) < 0) continue;
        to[n]           = *body;
        to[n].joint.q   = api_first_position(model, body);
        to[n++].joint.v = api_first_velocity(model, body);
    }
    return n;
}

const dyn_model *api_loop_step_joints(api_pool *pool, const api_model *model)
{
    dyn_model *joints = api_take(pool, sizeof *joints);
    dyn_body  *body   = api_take(pool, model->dyn->n_bodies * sizeof *body);
    if (!joints || !body) return NULL;
    *joints          = (dyn_model){.n_rows = model->n_bodies, .nq = (int)model->nq, .nv = (int)model->nv, .body = body};
    joints->n_bodies = copy_joints(model, body);
    return joints;
}

/* --- accelerations ----------------------------------------------------------------------------------------------- */

typedef struct mechanism {
    const api_loop_stepper *by;
    const double           *start_q; /* actuated coordinates at which the step starts */
    const double           *passive; /* passive coordinates there */
    bool                    moved;   /* true: the loops are closed at another position */
} mechanism;

/* Records why loops of the present position cannot be closed. */
static void record_faults(const api_loop_stepper *by)
{
    for (size_t lane = 0; lane < by->closed->closure.live; lane++)
        if (by->faults->lane[lane].code == API_NO_PROBLEM)
            api_loop_fail(by->closed, lane, NULL, -1, &by->faults->lane[lane]);
}

/* Closes the loops at q, along the line from the start of the step. */
static void close_at(mechanism *m, const double *q)
{
    api_loop_workspace *c    = m->by->closed;
    const api_approach  from = {.q = m->start_q, .passive = m->passive};
    m->moved                 = true;
    if (!api_loop_close(c, m->by->scene, q, &from, c->closure.live)) record_faults(m->by);
}

static void accelerate(void *arg, const dyn_forward_sensitivity *io)
{
    mechanism           *m     = arg;
    api_loop_workspace  *c     = m->by->closed;
    dyn_forward_dynamics alone = {
        .q = io->q, .qd = io->qd, .tau = io->tau, .wrenches = io->wrenches, .qdd = io->qdd, .singular = io->singular};
    if (io->q != m->start_q) close_at(m, io->q);
    if (m->by->accelerate)
        m->by->accelerate(m->by->constraints, io);
    else if (io->dqdd_dq)
        api_loop_forward_sensitivity(m->by->scene, c, io, 1);
    else
        api_loop_forward_dynamics(m->by->scene, c, &alone, 1);
    /* Lanes that repeat the last state must not keep the iterations of an implicit step running. */
    double *const matrices[] = {io->dqdd_dq, io->dqdd_dqd, io->dqdd_dtau};
    for (size_t i = 0; io->dqdd_dq && i < 3; i++)
        api_closure_pad(&c->closure, c->nv * c->nv, matrices[i]);
}

static void differentiate_by_wrenches(void *arg, const dyn_sensitivity *io)
{
    const mechanism *m = arg;
    api_loop_sensitivity(m->by->scene, m->by->closed, io, 1);
}

static void differentiate_by_parameters(void *arg, const dyn_regressor *io)
{
    const mechanism *m = arg;
    api_loop_regressor(m->by->scene, m->by->closed, io, 1);
}

/* --- a step ------------------------------------------------------------------------------------------------------ */

size_t api_loop_step_entries(const api_model *model)
{
    return model->loops ? model->loops->nq + model->loops->n_passive_q : 0;
}

void api_loop_step(const api_loop_stepper *by, const dyn_step *io)
{
    api_loop_workspace      *c      = by->closed;
    const size_t             W      = c->W;
    dyn_scene                scene  = *by->scene;
    dyn_step                 step   = *io;
    double                  *tree_q = by->scratch, *passive = tree_q + c->loops->nq * W;
    mechanism                m   = {.by = by, .start_q = io->q, .passive = passive};
    const dyn_step_mechanism own = {accelerate, differentiate_by_wrenches, differentiate_by_parameters, &m};
    scene.model                  = by->joints;
    step.mechanism               = &own;
    memcpy(tree_q, c->q, c->loops->nq * W * sizeof *tree_q);
    for (size_t i = 0; i < c->loops->n_passive_q; i++)
        memcpy(passive + i * W, tree_q + (size_t)c->loops->passive_q[i] * W, W * sizeof *passive);
    for (size_t lane = 0; lane < W; lane++)
        api_problem_clear(&by->faults->lane[lane]);
    dyn_step_kernel_of(c->tree)(&scene, c->workspace, &step, 1);
    if (m.moved) api_loop_restore(c, by->scene, tree_q, c->closure.live);
}
