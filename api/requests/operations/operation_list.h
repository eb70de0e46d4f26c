/* operation_list.h - lists all operations.
 *
 * Each name in the list has a constant api_name (api/requests/fields/operation.h), which the operation's file defines.
 */
#pragma once
#include "api/requests/fields/operation.h"

/* The list of operations, in the order of the contract: X(name) declares the constant api_name. */
/* clang-format off */
#define API_OPERATIONS(X) \
    X(inverse_dynamics) X(forward_dynamics) X(mass_matrix) X(bias) \
    X(kinematics) X(energy) X(torque_derivative) X(sensitivity) \
    X(forward_sensitivity) X(gradient) X(forward_gradient) X(directional) X(forward_directional) \
    X(hessian) X(forward_hessian) \
    X(step) X(rollout) X(rollout_gradient) X(coriolis) X(regressor) X(impact) \
    X(task_space) X(identify) X(trajectory) X(trajectory_hessian) X(simulate) \
    X(ground_reaction) X(inverse_kinematics) X(margins) X(feed_forward) X(path) X(configuration) X(sensors) X(external_wrench) X(path_timing) \
    X(differential_inverse_kinematics)
/* clang-format on */

#define X(name) extern const api_operation api_##name;
API_OPERATIONS(X)
#undef X

extern const api_operation *const api_operations[]; /* ends with NULL */
