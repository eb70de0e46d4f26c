/* rigid_events.h - handles the events of rigid contacts (ode_rigid.h): a point touches a plane, a sliding point stops,
 * a closed contact opens or begins to slide.
 *
 * A touch is an impact of all contacts without gap. With the velocities v- before and v+ = A p + v- after it, along
 * tangents and normals, the impulses p satisfy the conditions of dynamics/rigid_contact/rigid_contact_solver.h for a =
 * v+, with
 *
 *     a_n = v+_n + e v-_n  for points that approach their plane        (Newton's law of restitution),
 *
 * and a_n = v+_n for other points. Newton's and Coulomb's laws together may create energy (Kane & Levinson 1985). Then
 * all e are multiplied by the largest factor, found by bisection, with which the energy does not grow; with e = 0 it
 * never does. A contact that separates more slowly than its `resting` speed closes and loses that speed, which ends the
 * infinitely many impacts of a bouncing body.
 *
 * A closed contact opens when its force vanishes and its point would accelerate away. A sticking contact slides when
 * friction cannot prevent an acceleration along the plane. A sliding contact stops when its velocity leaves the half
 * plane of its direction and is below DYN_RIGID_SLOW; at a higher speed only its direction changes. Modes after an
 * event follow from the forces of rigid_contact_solver.h with all slow contacts sticking. */
#pragma once
#include "ode_rigid.h"

/* m: at the start a point may be this far below its plane, and points up to this far above it count as touching. */
#define DYN_RIGID_START 1e-6

/* Returns an open contact whose point, at the last evaluation, is below its plane by more than DYN_RIGID_START, and its
 * *depth, m; the number of contacts if there is none. The touch of such a point was missed. */
size_t dyn_rigid_events_find_missed(const dyn_ode_rigid *r, double *depth);

/* Begins a simulation at ode->state.y, after dyn_ode_rigid_reset. Records a fault if a point is below its plane. */
void dyn_rigid_events_start(dyn_robot_ode *ode);

/* Sets the modes again at ode->state.y and time t, where the input of the simulation has a break. */
void dyn_rigid_events_restart(dyn_robot_ode *ode, double t);

/* Writes the event function of each contact at y (one simulation, in lanes). An event occurs when it becomes
 * negative. */
void dyn_rigid_events_margins(dyn_robot_ode *ode, double t, const double *y, double *margins);

/* Handles the events at ode->state.y and time t: impacts, corrections and changes of mode. */
void dyn_rigid_events_switch(dyn_robot_ode *ode, double t);
