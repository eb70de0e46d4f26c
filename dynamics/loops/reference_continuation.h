/* reference_continuation.h - finds closed states of a model with loops for computations that choose states on their
 * own, such as the search for base parameters: starts at the reference and moves towards coordinates that need not be
 * reachable, in the reference's assembly mode. */
#pragma once
#include "loop_kernels.h"

typedef struct api_reference_continuation {
    api_loop_workspace *closed; /* has memory for the tree's regressors */
    const api_model    *model;
    size_t              W;
} api_reference_continuation;

/* Takes the memory from `pool`. `deadline` (may be NULL) is checked between steps. Returns false with the pool's
 * problem. */
bool api_reference_continuation_open(api_pool *pool, const api_model *model, const dyn_kernels *tree,
                                     const api_deadline *deadline, api_reference_continuation *walk);

/* Moves each lane from the reference along q as far as it stays clear of singular positions. On entry q holds
 * displacements of the model's coordinates from the reference, in lanes; quaternions are absolute. On return q is the
 * position reached, and kernels may be called. Returns false if the deadline has passed. */
bool api_reference_continuation_follow(api_reference_continuation *walk, const dyn_scene *scene, double *q);

/* Estimates the seconds that api_reference_continuation_follow takes. */
double api_reference_continuation_seconds(const api_model *model);
