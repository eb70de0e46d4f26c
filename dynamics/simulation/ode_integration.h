/* ode_integration.h - connects the equations of a simulation to an integrator. */
#pragma once
#include "robot_ode.h"

/* Fills ode->state with the functions and sizes of the equations, and allocates the arrays of the integration. Stiction
 * and loops of `ode` must be open. Returns false if memory is refused. */
bool dyn_ode_integration_open(dyn_memory memory, dyn_robot_ode *ode);
