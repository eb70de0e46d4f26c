/* integrate_step.h - integrates one block of states over a step, of a tree by the kernel of dynamics/step.h, of a
 * mechanism with loops by dynamics/loops/loop_step.h, with frames that are held and coordinates that stop. */
#pragma once
#include "dynamics/loops/loop_step.h"
#include "dynamics/step.h"
#include "held_ranges.h"

/* The kernels, the model with its surroundings, and the memory that evaluate a step. */
typedef struct api_step_means {
    const dyn_kernels  *kernels; /* kernels of the tree; of a model with loops those of dynamics/loops/loop_kernels.h */
    const dyn_scene    *scene;   /* scene of the tree */
    void               *workspace;
    double             *room;         /* entries in lanes: those of api_step_integrate last */
    const dyn_model    *joints;       /* model of the actuated joints of a model with loops (loop_step.h); else NULL */
    const dyn_held_set *contact;      /* the held frames of the step; NULL: none */
    dyn_loop_step_failures *failures; /* loops that cannot be closed within the step, of a model with loops */
} api_step_means;

/* dyn_step.clock of the operations: the deadline of the request. */
typedef struct api_step_clock {
    const api_deadline *deadline;
    api_problem        *problem; /* written when the deadline has passed */
} api_step_clock;

/* Returns the entries per state of `room` for steps with one of these ranges and at most n_stopping coordinates that
 * stop. `joints` as of api_step_means. */
size_t api_step_integrate_entries(const api_query *q, const dyn_model *joints, const api_held_ranges *ranges,
                                  size_t n_stopping);

/* Integrates one block of states over a step. */
void api_step_integrate(const api_step_means *by, const dyn_step *io);
