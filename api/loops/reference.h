/* reference.h - the reference of a model with loops: the position in which its loops are closed and from which every
 * state is reached (closed.h).
 *
 * Actuated joints to which the document gives a `home` stay there. If all have one, the loop error that the passive
 * joints have at home shrinks to zero; otherwise those without one move with the passive joints, as little as possible,
 * until the loops are closed. Where that fails all joints move so. In the reference the loops must determine the
 * passive joints. */
#pragma once
#include "api/model/model.h"

/* Sets model->loops->reference of a model that nobody else knows yet; a model without loops is left as it is. The same
 * bits on every processor. NULL stays NULL; NULL with a problem when the model has no reference, and is released. */
api_model *api_with_reference(api_model *model, api_problem *problem);
