/* integrate.h - from one cut of time to the next (simulation.h).
 *
 * Fixed steps: the classical method of Runge and Kutta, of order 4, W simulations side by side, as many steps of equal
 * length as make none longer than was asked for. With a tolerance: embedded pairs of order 5 with ARKODE (SUNDIALS;
 * Reynolds et al. 2023), each simulation with steps of its own, so that it is the same alone and among others: the
 * explicit pair of Dormand & Prince 1980, or, for stiff ones, an implicit one (ESDIRK5(4)7L[2]SA2, Kennedy & Carpenter
 * 2019) with Newton's method. Local errors of all positions and velocities are kept within tolerance (1 + |y|) in the
 * root of their mean square. */
#pragma once
#include "ode.h"

enum { API_MAX_STEPS = 10000000 }; /* of one simulation */

/* Steps over such a time. */
double api_fixed_steps(const api_simulation *s, double time);

/* p->y goes from time a to b. False with a problem: the deadline says so, or the simulation goes no further. */
bool api_integrate_fixed(api_ode *p, double a, double b, api_problem *problem);

/* The same for the one simulation of the plant; its memory is accounted for by the caller. `anew`: the input is not
 * smooth where it begins. */
typedef struct api_adaptive api_adaptive;
size_t                      api_adaptive_bytes(const api_ode *p);
api_adaptive               *api_adaptive_open(api_ode *p, api_problem *problem); /* NULL with a problem */
bool api_integrate_adaptive(api_adaptive *a, double from, double to, bool anew, api_problem *problem);
void api_adaptive_close(api_adaptive *a); /* NULL is fine */
