/* table.c - all that can be asked about a model. */
#include "api/evaluate/operation.h"
#include <string.h>

const api_operation *const api_operations[] = {
    &api_inverse_dynamics,    &api_forward_dynamics,
    &api_mass_matrix,         &api_bias,
    &api_kinematics,          &api_energy,
    &api_torque_derivative,   &api_sensitivity,
    &api_forward_sensitivity, &api_coriolis,
    &api_regressor,           &api_impact,
    &api_task_space,          &api_identify,
    &api_trajectory,          &api_simulate,
    &api_ground_reaction,     NULL,
};

const api_operation *api_operation_named(const char *name)
{
    for (size_t i = 0; api_operations[i]; i++)
        if (strcmp(api_operations[i]->name, name) == 0) return api_operations[i];
    return NULL;
}
