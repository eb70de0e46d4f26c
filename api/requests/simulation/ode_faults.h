/* ode_faults.h - reports faults of simulations as problems. */
#pragma once
#include "simulated_rows.h"

/* Returns true if no simulation has a fault. Otherwise reports the fault of the first faulty simulation as a problem
 * and returns false. */
bool api_ode_faults_check_all(const api_simulated_rows *r, api_problem *problem);

/* Returns true if the simulation has no fault. Otherwise reports its fault as a problem and returns false. */
bool api_ode_faults_check_lane(const api_simulated_rows *r, size_t lane, api_problem *problem);

/* Reports that memory is short for the integrator. Returns false. */
bool api_ode_faults_fail_short(api_problem *problem);

/* Returns true if an integration is done. Otherwise reports why it ended as a problem and returns false. */
bool api_ode_faults_check_integration(api_simulated_rows *r, dyn_integration integration, api_problem *problem);
