/* reference.h - finds the reference of a model with loops: the position with closed loops at which the path to every
 * state starts (loop_kernels.h).
 *
 * Actuated joints with a `home` in the document stay there. If all actuated joints have one, the loop error at home
 * shrinks to zero while the passive joints move. Otherwise passive joints and actuated joints without a home move by
 * steps of least norm until the loops are closed. If that fails, all joints may move. In the reference the loops must
 * determine the passive joints. */
#pragma once
#include "api/base/memory/budget.h"
#include "model.h"
#include "api/base/work/deadline.h"

/* Sets model->loops->reference of a model that no other thread uses yet. A model without loops is returned unchanged.
 * The result has the same bits on every processor. Temporary memory is claimed from `share` (NULL: not counted), and
 * `deadline` (may be NULL) is checked between steps. If there is no reference, no memory, or the deadline has passed,
 * the function sets a problem, releases the model and returns NULL. `model` may be NULL; then the result is NULL. */
api_model *api_find_reference(api_model *model, api_share *share, const api_deadline *deadline, api_problem *problem);
