/* loop_step.c - gives the step kernel the accelerations of a model with loops (loop_step.h). */
#include "loop_step.h"
#include "loop_workspace.h"
#include "dynamics/model/coordinates.h"
#include <string.h>

/* --- actuated joints --------------------------------------------------------------------------------------------- */

/* Copies the joints of actuated coordinates to the bodies `to` of the model that dyn_loop_step_joints returns. Returns
 * their number. */
static size_t copy_joints(const dyn_mechanism *of, dyn_body *to)
{
    const dyn_model *tree = of->tree;
    size_t           n    = 0;
    for (size_t i = 0; i < tree->n_bodies; i++) {
        const dyn_body *body = &tree->body[i];
        if (body->joint.mimic || dyn_first_position(of, body) < 0) continue;
        to[n]           = *body;
        to[n].joint.q   = dyn_first_position(of, body);
        to[n++].joint.v = dyn_first_velocity(of, body);
    }
    return n;
}

const dyn_model *dyn_loop_step_joints(dyn_memory memory, const dyn_mechanism *mechanism)
{
    dyn_model *joints = dyn_take(memory, sizeof *joints);
    dyn_body  *body   = dyn_take(memory, mechanism->tree->n_bodies * sizeof *body);
    if (!joints || !body) return NULL;
    *joints          = (dyn_model){.n_rows        = mechanism->tree->n_rows,
                                   .n_quaternions = mechanism->tree->n_quaternions,
                                   .nq            = (int)mechanism->nq,
                                   .nv            = (int)mechanism->nv,
                                   .body          = body};
    joints->n_bodies = copy_joints(mechanism, body);
    return joints;
}

/* --- accelerations ----------------------------------------------------------------------------------------------- */

typedef struct stage {
    const dyn_loop_stepper *by;
    const double           *start_q; /* actuated coordinates at which the step starts */
    const double           *passive; /* passive coordinates at start_q */
    bool                    moved;   /* true: the loops were closed at a position other than the start of the step */
} stage;

/* Records in by->failures, for lanes without an earlier failure, why the loops cannot be closed at the present
 * position. */
static void record_failures(const dyn_loop_stepper *by)
{
    for (size_t lane = 0; lane < by->closed->closure.live; lane++)
        if (by->failures->lane[lane].status == DYN_LOOPS_CLOSED)
            by->failures->lane[lane] = dyn_loop_failure_of(by->closed, lane);
}

/* Closes the loops at the actuated coordinates q, along the straight line from the start of the step. */
static void close_at(stage *m, const double *q)
{
    dyn_loop_workspace *c    = m->by->closed;
    const dyn_approach  from = {.q = m->start_q, .passive = m->passive};
    m->moved                 = true;
    if (!dyn_loop_close(c, m->by->scene, q, &from, c->closure.live)) record_failures(m->by);
}

static void accelerate(void *arg, const dyn_forward_sensitivity *io)
{
    stage               *m     = arg;
    dyn_loop_workspace  *c     = m->by->closed;
    dyn_forward_dynamics alone = {
        .q = io->q, .qd = io->qd, .tau = io->tau, .wrenches = io->wrenches, .qdd = io->qdd, .singular = io->singular};
    if (io->q != m->start_q) close_at(m, io->q);
    if (m->by->accelerate)
        m->by->accelerate(m->by->constraints, io);
    else if (io->dqdd_dq)
        dyn_loop_forward_sensitivity(m->by->scene, c, io, 1);
    else
        dyn_loop_forward_dynamics(m->by->scene, c, &alone, 1);
    /* Unused lanes, which repeat the last state, get its derivatives too, so that an implicit step ends its iterations
     * in them. */
    double *const matrices[] = {io->dqdd_dq, io->dqdd_dqd, io->dqdd_dtau};
    for (size_t i = 0; io->dqdd_dq && i < 3; i++)
        dyn_closure_pad(&c->closure, c->nv * c->nv, matrices[i]);
}

static void differentiate_by_wrenches(void *arg, const dyn_sensitivity *io)
{
    const stage *m = arg;
    dyn_loop_sensitivity(m->by->scene, m->by->closed, io, 1);
}

static void differentiate_by_parameters(void *arg, const dyn_regressor *io)
{
    const stage *m = arg;
    dyn_loop_regressor(m->by->scene, m->by->closed, io, 1);
}

/* --- a step ------------------------------------------------------------------------------------------------------ */

size_t dyn_loop_step_entries(const dyn_mechanism *mechanism)
{
    return mechanism->loops ? mechanism->loops->nq + mechanism->loops->n_passive_q : 0;
}

void dyn_loop_step(const dyn_loop_stepper *by, const dyn_step *io)
{
    dyn_loop_workspace      *c      = by->closed;
    const size_t             W      = c->W;
    dyn_scene                scene  = *by->scene;
    dyn_step                 step   = *io;
    double                  *tree_q = by->scratch, *passive = tree_q + c->loops->nq * W;
    stage                    m   = {.by = by, .start_q = io->q, .passive = passive};
    const dyn_step_mechanism own = {accelerate, differentiate_by_wrenches, differentiate_by_parameters, &m};
    scene.model                  = by->joints;
    step.mechanism               = &own;
    memcpy(tree_q, c->q, c->loops->nq * W * sizeof *tree_q);
    for (size_t i = 0; i < c->loops->n_passive_q; i++)
        memcpy(passive + i * W, tree_q + (size_t)c->loops->passive_q[i] * W, W * sizeof *passive);
    for (size_t lane = 0; lane < W; lane++)
        by->failures->lane[lane].status = DYN_LOOPS_CLOSED;
    c->tree->step(&scene, c->workspace, &step, 1);
    if (m.moved) dyn_loop_restore(c, by->scene, tree_q, c->closure.live);
}
