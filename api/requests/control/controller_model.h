/* controller_model.h - reads the field "model" of a controller: the name of the stored model that the controller uses
 * in place of the simulated robot's own, as the control of a real robot does.
 *
 * The coordinates of this model have the names of the robot's, in the same order; masses, lengths, friction, springs
 * and axes may differ. Neither model has loops. */
#pragma once
#include "actuator_input.h"

/* Sets input->model to the model that the controller in `fields` names; leaves NULL if it names none. The request keeps
 * a reference (q->controller_model). `up` is the place of `fields`. Returns false with a problem. */
bool api_controller_model_read(api_query *q, const api_node *fields, const api_place *up, api_actuator_input *input);
