/* reference.h - the reference of a model with loops: the position in which its loops are closed and from which every
 * state is reached (loop_kernels.h).
 *
 * Actuated joints to which the document gives a `home` stay there. If all have one, the loop error that the passive
 * joints have at home shrinks to zero; otherwise those without one move with the passive joints, as little as possible,
 * until the loops are closed. Where that fails all joints move so. In the reference the loops must determine the
 * passive joints. */
#pragma once
#include "api/memory/budget.h"
#include "api/model/model.h"
#include "api/work/deadline.h"

/* Sets model->loops->reference of a model that nobody else knows yet; a model without loops is left as it is. The same
 * bits on every processor. The memory that it takes meanwhile is claimed from `share` (NULL: not counted), and
 * `deadline` (may be NULL) is looked at between steps. NULL stays NULL; NULL with a problem when the model has no
 * reference, the request has ended or there is no memory: then the model is released. */
api_model *api_find_reference(api_model *model, api_share *share, const api_deadline *deadline, api_problem *problem);
