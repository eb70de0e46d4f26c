/* closed_states.h - finds closed states of a model with loops for computations that choose states on their own, such as
 * the search for base parameters. From the reference (reference.h) each state moves towards coordinates that need not
 * be reachable, and keeps the assembly mode of the reference. */
#pragma once
#include "dynamics/loops/loop_kernels.h"

typedef struct dyn_closed_states {
    dyn_loop_workspace *closed; /* workspace with the closed loops; `extra` memory for the tree's regressors */
    dyn_mechanism       mechanism;
    size_t              W;
} dyn_closed_states;

/* Allocates the arrays of `states` from `memory`. `deadline` is checked between steps. Returns false if memory is
 * refused. */
bool dyn_closed_states_open(dyn_memory memory, const dyn_mechanism *mechanism, const dyn_kernels *tree,
                            dyn_deadline deadline, dyn_closed_states *states);

/* Moves the state of each lane from the reference on a straight line towards q, until q or a place near a singular
 * position. On entry q holds displacements of the model's coordinates from the reference, in lanes; quaternions are
 * absolute. On return q is the position reached, and the loop kernels can be called there. Returns false if the
 * deadline has passed. */
bool dyn_closed_states_approach(dyn_closed_states *states, const dyn_scene *scene, double *q);

/* Estimates the seconds that dyn_closed_states_approach takes. */
double dyn_closed_states_seconds(const dyn_mechanism *mechanism);
