/* friction_curves.h - estimate load coefficients and Stribeck's curves of joints, in addition to viscous and Coulomb
 * friction.
 *
 * The inertial parameters of the bodies are known, so the torque T without friction is known too, and torques are
 * linear in the load coefficients (Hamon, Gautier & Garrec 2010) and, at a given Stribeck velocity, in the breakaway
 * friction. The Stribeck velocity of each joint is found by a search over the residual of its rows at the best other
 * parameters (variable projection). The last solution is linearised about this velocity, so that the velocity has a
 * standard deviation as well. */
#pragma once
#include "chosen_unknowns.h"
#include "dynamics/identification/estimate.h"

typedef struct api_friction_curves api_friction_curves;

/* Allocates the tables for all rows of the request, from the pool of the request. NULL with a problem. */
api_friction_curves *api_friction_curves_open(const api_query *q, const api_chosen_unknowns *chosen);

/* Stores a state for api_friction_curves_add. */
void api_friction_curves_keep(api_friction_curves *c, const dyn_measured *state);

/* Finds the Stribeck velocities and adds all kept states to the estimate. Returns false with t->problem if the deadline
 * has passed or numbers are too large. */
bool api_friction_curves_add(api_friction_curves *c, dyn_estimate *t);

/* Returns the Stribeck velocity of joint or motor j about which the last solution is linearised, rad/s or m/s. */
double api_friction_curves_velocity(const api_friction_curves *c, size_t j);

/* Estimates the seconds of the search. */
double api_friction_curves_seconds(const api_model *model, const api_chosen_unknowns *chosen, size_t rows);
