/* loop_step.h - integrates a model with loops over one step, by the kernel of dynamics/step.h in the actuated
 * coordinates. Each stage of the integrator closes the loops along a straight line from the start of the step, so that
 * the mechanism keeps its assembly mode. */
#pragma once
#include "dynamics/step.h"
#include "loop_kernels.h"

/* Returns a model of the actuated joints alone, for the sizes of dynamics/step.h and for api_loop_step: its joints,
 * coordinates and rows are set, nothing else. NULL with the pool's problem. */
const dyn_model *api_loop_step_joints(api_pool *pool, const api_model *model);

/* Returns the entries per state of `scratch` of api_loop_step. */
size_t api_loop_step_entries(const api_model *model);

/* Loops that cannot be closed within a step. */
typedef struct api_loop_step_faults {
    api_problem lane[DYN_MAX_LANES]; /* code API_NO_PROBLEM: none */
} api_loop_step_faults;

/* The block of a step, and what has no part in its result. */
typedef struct api_loop_stepper {
    api_loop_workspace   *closed;  /* the loops are closed at the start of the step */
    const dyn_scene      *scene;   /* of the tree */
    const dyn_model      *joints;  /* as of api_loop_step_joints */
    double               *scratch; /* api_loop_step_entries, in lanes */
    api_loop_step_faults *faults;  /* results; the step of a lane with a fault is undefined */
    /* Computes accelerations where the loops are closed, as dyn_step_mechanism.accelerate does; NULL: those of the
     * mechanism alone. `constraints` is its argument. */
    void (*accelerate)(void *constraints, const dyn_forward_sensitivity *);
    void *constraints;
} api_loop_stepper;

/* Takes a step. Afterwards the loops are closed at the start of the step as before, with the same bits. io->mechanism
 * is not used. Held frames and stopping coordinates of io are constraints that by->accelerate satisfies; io has no
 * impact.
 */
void api_loop_step(const api_loop_stepper *by, const dyn_step *io);
