/* ode_contact.h - frames that are held while a robot is simulated (contact.h): accelerations keep their velocities,
 * which are zero, and after every step positions and velocities are put back where they belong, so that nothing drifts.
 *
 * Positions belong where velocities lead to them: of the frame's origin along axes of the world, or along all three of
 * any, and of its turn where it is held about all three. What is held otherwise is as rolling bodies and skates are,
 * which may get anywhere. What is put back is the least in the metric of M: q by -Jbar r, r being how far frames are
 * from where they began, then q' by -Jbar J q'. */
#pragma once
#include "ode.h"

/* Memory of the request's; NULL with a problem. */
api_ode_contact *api_ode_contact_open(api_evaluation *e, const api_ode *p, const api_contact *contact);

/* Where frames are at the beginning, at p->y; faults of simulations in which one moves though it is held. */
void api_ode_contact_start(api_ode *p);

/* qdd of the robot that nothing holds, at p->q, becomes that of the one that is held. */
void api_ode_contact_rate(api_ode *p, double t, const double *qd, double *qdd);

/* tau, in lanes, less what holds the frames: tau -= J^T l. */
void api_ode_contact_subtract_efforts(const api_ode *p, double *tau);

/* After a step that ends at t: y, with `stride` between entries, of so many lanes. */
void api_ode_contact_finish_step(api_ode *p, double t, double *y, size_t stride, size_t lanes);

/* What holds the frames: 6 of each, in lanes. */
const double *api_ode_contact_wrenches(const api_ode_contact *contact);
