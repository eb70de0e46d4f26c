/* loop_step.h - integrates a model with loops over one step, by the kernel of dynamics/step.h in the actuated
 * coordinates. Each stage of the integrator closes the loops along a straight line from the start of the step, so that
 * the mechanism keeps its assembly mode. */
#pragma once
#include "dynamics/step.h"
#include "loop_kernels.h"

/* Returns a model of the actuated joints alone, in `memory`, for the sizes of dynamics/step.h and for dyn_loop_step:
 * its joints, coordinates and rows are set, nothing else. No kernel takes it. NULL if memory is refused. */
const dyn_model *dyn_loop_step_joints(dyn_memory memory, const dyn_mechanism *mechanism);

/* Returns the entries per state of `scratch` of dyn_loop_step. */
size_t dyn_loop_step_entries(const dyn_mechanism *mechanism);

/* Loops that cannot be closed within a step. */
typedef struct dyn_loop_step_failures {
    dyn_loop_failure lane[DYN_MAX_LANES]; /* status DYN_LOOPS_CLOSED: none */
} dyn_loop_step_failures;

/* The block of a step, and what the step needs besides the arrays of dyn_step. */
typedef struct dyn_loop_stepper {
    dyn_loop_workspace     *closed;   /* the loops are closed at the start of the step */
    const dyn_scene        *scene;    /* scene of the tree */
    const dyn_model        *joints;   /* as of dyn_loop_step_joints */
    double                 *scratch;  /* dyn_loop_step_entries per state, in lanes; must not be NULL */
    dyn_loop_step_failures *failures; /* results; the step of a lane with a failure is undefined */
    /* Computes accelerations where the loops are closed, as dyn_step_mechanism.accelerate does; NULL: those of the
     * mechanism alone. `constraints` is its argument. */
    void (*accelerate)(void *constraints, const dyn_forward_sensitivity *);
    void *constraints;
} dyn_loop_stepper;

/* Takes a step of one block of states. Before it the loops are closed at io->q (dyn_loop_close). The arrays of io have
 * nq and nv entries of the mechanism, and io->work is sized with by->joints in place of the model:
 * dyn_step_work(joints, method, dyn_step_inputs(&scene_of_joints, ...)). n_wrenches of by->scene counts for inputs.
 * Afterwards the loops are closed at the start of the step as before, with the same bits. To go on from io->q_after,
 * close them there along a line from the start: dyn_approach with q = io->q and the passive coordinates, entries
 * loops->passive_q of dyn_loop_tree_q. io->mechanism is not used. Held frames and stopping coordinates of io are
 * constraints that by->accelerate satisfies; io has no impact.
 */
void dyn_loop_step(const dyn_loop_stepper *by, const dyn_step *io);
