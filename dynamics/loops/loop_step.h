/* loop_step.h - integrates a model with loops over one step, by the kernel of dynamics/step.h in the actuated
 * coordinates. Each stage of the integrator closes the loops along a straight line from the start of the step, so that
 * the mechanism keeps its assembly mode. */
#pragma once
#include "dynamics/step.h"
#include "loop_kernels.h"

/* Returns a model, in `memory`, of the actuated joints alone: only its joints, coordinates and number of rows are set.
 * It serves for the sizes of dynamics/step.h and for dyn_loop_step; no kernel can evaluate it. NULL if memory is
 * refused. */
const dyn_model *dyn_loop_step_joints(dyn_memory memory, const dyn_mechanism *mechanism);

/* Returns the doubles per state of the memory dyn_loop_stepper.scratch. */
size_t dyn_loop_step_entries(const dyn_mechanism *mechanism);

/* The reasons why loops cannot be closed within a step, lane by lane. */
typedef struct dyn_loop_step_failures {
    dyn_loop_failure lane[DYN_MAX_LANES]; /* status DYN_LOOPS_CLOSED: no failure */
} dyn_loop_step_failures;

/* The inputs of a step of one block besides the arrays of dyn_step. */
typedef struct dyn_loop_stepper {
    dyn_loop_workspace     *closed;   /* workspace with the loops closed at the start of the step */
    const dyn_scene        *scene;    /* scene of the tree */
    const dyn_model        *joints;   /* result of dyn_loop_step_joints */
    double                 *scratch;  /* dyn_loop_step_entries per state, in lanes; must not be NULL */
    dyn_loop_step_failures *failures; /* results; the step of a lane with a failure is undefined */
    /* Computes accelerations at a position with closed loops, as dyn_step_mechanism.accelerate does; NULL: forward
     * dynamics of the mechanism, without constraints. `constraints` is passed to it. */
    void (*accelerate)(void *constraints, const dyn_forward_sensitivity *);
    void *constraints;
} dyn_loop_stepper;

/* Integrates one block of states over one step. The caller has closed the loops at io->q (dyn_loop_close). On return
 * the loops are closed at io->q again, with the same bits.
 *
 * The arrays of io have the sizes nq and nv of the mechanism. io->work has the size dyn_step_work(joints, method,
 * dyn_step_inputs(&scene_of_joints, ...)), where scene_of_joints has the model by->joints and the wrenches of
 * by->scene. io->mechanism is not read. by->accelerate satisfies the constraints of held frames and stopping
 * coordinates in io. io->impact is false.
 *
 * To continue from io->q_after, close the loops there along a straight line from the start of the step: dyn_approach
 * with q = io->q and, as `passive`, the entries loops->passive_q of dyn_loop_tree_q. */
void dyn_loop_step(const dyn_loop_stepper *by, const dyn_step *io);
