/* ode_limits.h - compare simulated states with the limits of joints (joint_limits.h). */
#pragma once
#include "ode.h"

/* Memory of the request's, into p->exceeded, which stays NULL when no limit is asked for. False with a problem. */
bool api_plant_limits_open(api_evaluation *e, api_plant *p);

/* Compares the state at time t that api_plant_rate was asked about last, with velocities qd. */
void api_plant_limits_look(api_plant *p, double t, const double *qd);

/* The same of any state in lanes: asks api_plant_rate first. */
void api_plant_limits_check(api_plant *p, double t, const double *y);

/* Puts what was found into the results of the simulations in the plant. */
void api_plant_limits_put(const api_plant *p);
