/* ode_integration.h - gives the equations of a simulation to an integrator. */
#pragma once
#include "robot_ode.h"

/* Fills ode->state with the functions and sizes of the equations, and takes the arrays of the integration after
 * joints that can stick and loops are open. Returns false if memory is refused. */
bool dyn_ode_integration_open(dyn_memory memory, dyn_robot_ode *ode);
