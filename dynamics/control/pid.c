/* pid.c - computes the efforts of the controller pid, feedback of the errors without a model of the robot
 * (controller.h). */
#include "controller.h"

static void pid(const dyn_controller_input *c, double *tau)
{
    for (size_t i = 0; i < c->nv * c->W; i++)
        tau[i] = dyn_controller_feedback(c, i);
}

const dyn_controller dyn_controller_pid = {.name = "pid", .torques = pid};
