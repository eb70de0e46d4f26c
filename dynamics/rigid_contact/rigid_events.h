/* rigid_events.h - handles the events of rigid contacts (ode_rigid.h): touches, stops of sliding, and the instants at
 * which a closed contact opens or begins to slide.
 *
 * A touch is an impact of all contacts without gap. With the velocities v- and v+ = A p + v- along tangents and normals
 * the impulses p satisfy the conditions of dynamics/rigid_contact/rigid_contact_solver.h for a = v+, with
 *
 *     a_n = v+_n + e v-_n  for points that approach their plane        (Newton's law of restitution),
 *
 * and a_n = v+_n for others. Newton's and Coulomb's laws together may create energy (Kane & Levinson 1985). Then all e
 * are multiplied by the largest factor, found by bisection, without which the energy would grow; with e = 0 it never
 * does. A contact that separates more slowly than its `resting` speed closes, which ends the infinitely many impacts of
 * a bouncing body, and loses that speed.
 *
 * A closed contact opens where its force vanishes and its point would accelerate away, one that sticks slides where its
 * friction leaves an acceleration. A sliding contact stops where its velocity leaves the half plane of its direction
 * and is below DYN_RIGID_SLOW; otherwise it only turns. Modes after an event follow from the forces of
 * rigid_contact_solver.h with all slow contacts sticking. */
#pragma once
#include "ode_rigid.h"

/* m: at the start a point may be this far below its plane, and points up to this far above it count as touching. */
#define DYN_RIGID_START 1e-6

/* Returns an open contact that is below its plane by more than DYN_RIGID_START at the last rate, or the number of
 * contacts: its touch was not noticed. Sets *depth, m. */
size_t dyn_rigid_events_find_missed(const dyn_ode_rigid *r, double *depth);

/* Begins a simulation at ode->state.y, after dyn_ode_rigid_reset. Records a fault if a point is below its plane. */
void dyn_rigid_events_start(dyn_robot_ode *ode);

/* Decides the modes again at ode->state.y and time t, where the input has a break. */
void dyn_rigid_events_restart(dyn_robot_ode *ode, double t);

/* Writes the event functions at y (in lanes, one simulation), one for each contact: an event is a change to negative.
 */
void dyn_rigid_events_margins(dyn_robot_ode *ode, double t, const double *y, double *margins);

/* Applies the events at ode->state.y and time t. */
void dyn_rigid_events_switch(dyn_robot_ode *ode, double t);
