/* table.c - lists all operations. */
#include "api/request/operation.h"

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
