/* motor_efforts.h - computes the efforts of the motors of coupled transmissions from those of the joints. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "api/requests/fields/operation.h"

/* Checks that `output`, which has an entry for each motor, can be computed if it is selected: the model has
 * transmissions, and their joints have coordinates. `given` are the options that contain "outputs", and `up` is their
 * place. False with a problem. */
bool api_motor_efforts_check(const api_query *q, const api_selection *selected, size_t output, const api_node *given,
                             const api_place *up);

/* Computes motor_tau, an entry for each motor, from tau, nv entries, of `blocks` blocks. */
void api_motor_efforts(const api_evaluation *e, const double *tau, size_t blocks, double *motor_tau);
