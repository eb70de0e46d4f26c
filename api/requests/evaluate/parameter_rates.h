/* parameter_rates.h - differentiates tau_dot with respect to the inertial parameters of all bodies, also with free
 * coordinates.
 *
 * tau = Y p gives dtau_dot/dp = Y', the regressor's time derivative, at constant motion. With F the free coordinates,
 * whose tau is constant, dqdd_F/dp and dqddd_F/dp follow from
 *
 *     M_FF dqdd_F/dp = -Y_F,   M_FF dqddd_F/dp = -(Y' + X dqdd/dp)_F,   X = dtau_dot/dqdd = M' + dtau/dqd,
 *
 * and M' = C + C^T with the matrix C of dyn_coriolis. Friction that depends on the load is not allowed with free
 * coordinates. */
#pragma once
#include "api/requests/lanes/evaluation.h"

/* Returns how many scratch numbers a state needs. */
size_t api_parameter_rates_room(const api_model *model, bool is_free);

/* Sets `to` (nv x 10 bodies in lanes) for the blocks of `motion`, of which qdd and qddd are those of all coordinates.
 * `driven` is as in free_motion.h; NULL: no free coordinates. `room` is scratch memory for each block. With free
 * coordinates, `blocks` is 1. False with a problem: the deadline has passed. */
bool api_parameter_rates(const api_evaluation *e, const bool *driven, const dyn_torque_derivative *motion,
                         size_t blocks, double *room, double *to);
