/* ode_prescribed.h - coordinates that follow a given motion while the others are integrated (prescribed.h). */
#pragma once
#include "ode.h"

/* Memory of the request's, into p->prescribed, which stays NULL when nothing is prescribed. False with a problem. */
bool api_ode_prescribed_open(api_evaluation *e, api_ode *p);

/* Puts positions and velocities of the motion at time t into y, with `stride` between entries, of `lanes` states; and
 * the accelerations into api_ode_prescribed_accelerations. */
void api_ode_prescribed_set(api_ode *p, double t, double *y, size_t stride, size_t lanes);

/* The same into a copy of y in lanes, which is returned; y itself where nothing is prescribed. */
const double *api_ode_prescribed_state(api_ode *p, double t, const double *y);

/* Lanes of nv accelerations, 0 of what is not prescribed; NULL: nothing is. */
const double *api_ode_prescribed_accelerations(const api_ode *p);

/* The efforts of prescribed coordinates that accelerations qdd of the whole robot need, into p->tau and p->demand. */
void api_ode_prescribed_efforts(api_ode *p, const double *qd, const double *qdd);
