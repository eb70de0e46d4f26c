/* ode_integration.h - gives the equations of a simulation to an integrator. */
#pragma once
#include "robot_ode.h"

/* Fills ode->state with the functions and sizes of the equations, and takes the arrays of the integration from the
 * request's pool, after joints that can stick, loops and limits are open. Returns false with a problem. */
bool api_ode_integration_open(const api_evaluation *e, api_ode *ode);
