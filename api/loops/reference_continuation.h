/* reference_continuation.h - states of a model with loops where a request gives none: from the model's reference
 * towards coordinates that may not be possible, in the reference's assembly. */
#pragma once
#include "loop_kernels.h"

typedef struct api_reference_continuation {
    api_loop_workspace *closed; /* with room for its regressors */
    const api_model    *model;
    size_t              W;
} api_reference_continuation;

/* Takes its memory; `deadline` as for api_loop_workspace_open. False with the pool's problem. */
bool api_reference_continuation_open(api_pool *pool, const api_model *model, const dyn_kernels *tree,
                                     const api_deadline *deadline, api_reference_continuation *walk);

/* Walks along q (lanes of steps of the model's coordinates from the reference, but quaternions: where to), each lane by
 * itself, as far as it stays clear of singular positions. q becomes where it stands, and a kernel may be asked next.
 * False: the request has ended. */
bool api_reference_continuation_follow(api_reference_continuation *walk, const dyn_scene *scene, double *q);

/* Seconds that one such walk takes, estimated. */
double api_reference_continuation_seconds(const api_model *model);
