/* step_friction.h - stops joints within a step of integration where sharp Coulomb friction can do so: the option
 * "friction_at_rest": "stick" of step and rollout.
 *
 * With v the velocities after the step without the sharp friction of joints, and B = dv/dtau, friction f gives v - B f.
 * It stops a joint, or opposes its motion after the step: the complementarity problem of stiction_solver.h with
 * velocities in place of accelerations (Stewart & Trinkle 1996). Stribeck's curve gives the limits of f at the rates
 * before the step: the breakaway friction of joints at rest. Then v and its derivatives are those of the step with f,
 * in which the joints that stop have no velocity. */
#pragma once
#include "api/requests/contact/static_friction.h"
#include "integrate_step.h"

/* Value of dyn_step.unsolved where it cannot be decided which joints stop. */
enum { API_STEP_UNDECIDED = DYN_STEP_NOT_CONVERGED + 1 };

/* Reads "friction_at_rest". Refuses integrators other than explicit and semi-implicit Euler, steps that begin with an
 * impact, and of models with loops motors of coupled transmissions and passive joints. *friction stays
 * NULL unless joints may stick. False with a problem. */
bool api_step_friction_read(api_query *q, const api_held_ranges *held, dyn_step_method method, const api_node *given,
                            const api_place *up, const api_static_friction **friction);

/* Return the number of joints that may stick; and what they add to the entries per state of `room`, before those of
 * api_step_integrate, and of dyn_step.work. Zero if friction is NULL. */
size_t api_step_friction_joints(const api_static_friction *friction);
size_t api_step_friction_entries(const api_model *model, const api_static_friction *friction);
size_t api_step_friction_work(const api_query *q, const api_held_ranges *held, const api_static_friction *friction);

/* Evaluates the step of one block. Writes 1 to the entries of `sticking` (nv in lanes) whose joints do not move after
 * the step, 0 to the others; NULL: they are not wanted. */
void api_step_friction_apply(const api_static_friction *friction, const api_step_means *by, const dyn_step *io,
                             double *sticking);
