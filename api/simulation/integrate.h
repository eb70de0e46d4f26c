/* integrate.h - integrates the equations of a simulation from one interval boundary to the next (simulation.h).
 *
 * Fixed steps use the classical Runge-Kutta method of order 4, for W simulations side by side, with the fewest equal
 * steps that are not longer than requested.
 *
 * With a tolerance, embedded pairs of order 5 of ARKODE are used (SUNDIALS; Reynolds et al. 2023): the explicit pair of
 * Dormand & Prince 1980, or for stiff systems the implicit ESDIRK5(4)7L[2]SA2 (Kennedy & Carpenter 2019) with Newton's
 * method. Every simulation has steps of its own, so that its result does not depend on the batch. The root mean square
 * of the local errors of positions and velocities, each divided by tolerance (1 + |y|), is kept below 1. */
#pragma once
#include "ode.h"

enum { API_MAX_STEPS = 10000000 }; /* largest number of steps of one simulation */

/* Returns the number of steps over `time` seconds. */
double api_fixed_steps(const api_simulation *s, double time);

/* Integrates ode->y from time a to b, in s. Returns false with a problem if the deadline has passed or no simulation
 * can continue. */
bool api_integrate_fixed(api_ode *ode, double a, double b, api_problem *problem);

/* Functions for a simulation with a tolerance; the ODE must have one simulation. api_integrate_adaptive integrates from
 * time `from` to `to`, in s, and returns as api_integrate_fixed does. `anew`: the input is not smooth at `from`. The
 * caller claims api_adaptive_bytes of memory before api_adaptive_open. */
typedef struct api_adaptive api_adaptive;
size_t                      api_adaptive_bytes(const api_ode *ode);
api_adaptive               *api_adaptive_open(api_ode *ode, api_problem *problem); /* returns NULL with a problem */
bool api_integrate_adaptive(api_adaptive *a, double from, double to, bool anew, api_problem *problem);
void api_adaptive_close(api_adaptive *a); /* `a` may be NULL */
