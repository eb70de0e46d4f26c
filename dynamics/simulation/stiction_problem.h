/* stiction_problem.h - sets up and solves the friction problem (dynamics/joint_stiction/stiction_solver.h) of the
 * joints at rest in a simulation, at the state that was evaluated last. */
#pragma once
#include "ode_stiction.h"

/* Sets ode->stiction->qdd to the accelerations under efforts T (nv in lanes) without held frames. */
void dyn_stiction_problem_accelerate(dyn_robot_ode *ode, const double *qd, const double *T);

/* Computes, for joints at rest without friction, the accelerations without held frames and, if no frames are held, the
 * mass matrix. */
void dyn_stiction_problem_prepare(dyn_robot_ode *ode, const double *qd);

/* Returns the velocities of one lane in the form that rows of the problem need. */
dyn_friction_state dyn_stiction_problem_state(const dyn_robot_ode *ode, size_t lane);

/* Lists the joints of a lane that are at rest (`at_rest`) or that slide, as rows with their friction limits. */
dyn_friction_rows dyn_stiction_problem_gather(const dyn_robot_ode *ode, const dyn_friction_state *state, bool at_rest);

/* Solves the friction problem of a lane, after dyn_stiction_problem_prepare; *r becomes its rows. Returns false if no
 * solution was found. */
bool dyn_stiction_problem_solve(dyn_robot_ode *ode, size_t lane, dyn_friction_rows *r);
