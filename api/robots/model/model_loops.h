/* model_loops.h - gives a model with loops its reference and the memory for its kernels, and reports loops that cannot
 * be closed as problems. */
#pragma once
#include "api/base/memory/pool.h"
#include "api/base/work/deadline.h"
#include "dynamics/loops/loop_kernels.h"
#include "model.h"

/* Reports a failure as a problem at `pointer`, for the state `row` of a batch (-1: no batch). Returns true, without a
 * problem, if the loops are closed. */
bool api_loop_fail(dyn_loop_failure failure, const char *pointer, long long row, api_problem *problem);

/* Returns the set of live lanes (bit i: lane i) whose search the deadline has ended on the way to the state. Lanes that
 * had arrived are not in it, although their last iterations may be missing. */
unsigned api_loop_late_lanes(const dyn_loop_workspace *closed, size_t live);

/* Allocates the workspace of the loops' kernels (dynamics/loops/loop_kernels.h) from `pool`. Returns NULL with the
 * pool's problem. */
dyn_loop_workspace *api_loop_workspace_open(api_pool *pool, const api_model *model, const dyn_kernels *tree,
                                            dyn_deadline deadline, size_t n_wrenches, size_t extra);

/* Sets model->loops->reference (dynamics/loop_reference/reference.h) of a model that no other thread uses yet. A model
 * without loops is returned unchanged. Temporary memory is claimed from `share` (NULL: not counted), and `deadline`
 * (may be NULL) is checked between steps. If there is no reference, no memory, or the deadline has passed, the function
 * sets a problem, releases the model and returns NULL. `model` may be NULL; then the result is NULL. */
api_model *api_find_reference(api_model *model, api_share *share, const api_deadline *deadline, api_problem *problem);
