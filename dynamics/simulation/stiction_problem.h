/* stiction_problem.h - sets up and solves the friction problem (dynamics/joint_stiction/stiction_solver.h) of the
 * joints of a simulation at rest, at its last evaluation. */
#pragma once
#include "ode_stiction.h"

/* Finds accelerations under efforts T (nv in lanes) without held frames, in ode->stiction->qdd. */
void dyn_stiction_problem_accelerate(dyn_robot_ode *ode, const double *qd, const double *T);

/* Finds the accelerations and, without held frames, the mass matrix, with joints at rest free of friction. */
void dyn_stiction_problem_prepare(dyn_robot_ode *ode, const double *qd);

/* Returns one lane as the rows of the problem need it. */
dyn_friction_state dyn_stiction_problem_state(const dyn_robot_ode *ode, size_t lane);

/* Lists the joints of a lane that are at rest, or those that slide, with their limits. */
dyn_friction_rows dyn_stiction_problem_gather(const dyn_robot_ode *ode, const dyn_friction_state *state, bool at_rest);

/* Solves the problem of a lane, after dyn_stiction_problem_prepare, with its rows in *r. Returns false if it is not
 * solved. */
bool dyn_stiction_problem_solve(dyn_robot_ode *ode, size_t lane, dyn_friction_rows *r);
