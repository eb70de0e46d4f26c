/* ode_limits.h - compares simulated states with the limits of joints (api/requests/control/joint_limits.h). */
#pragma once
#include "simulated_rows.h"

/* Allocates r->violation from the request's pool; it stays NULL if limits are not requested. Returns false with a
 * problem. */
bool api_ode_limits_open(api_evaluation *e, api_simulated_rows *r);

/* Compares the state that was evaluated last with the joint limits, at time t (s) and with velocities qd, and keeps
 * the largest violations, or the least margins. */
void api_ode_limits_compare(api_simulated_rows *r, double t, const double *qd);

/* Copies the violations to the results of the ODE's simulations. */
void api_ode_limits_store(const api_simulated_rows *r);
