/* ode_limits.h - compare simulated states with the limits of joints (joint_limits.h). */
#pragma once
#include "ode.h"

/* Memory of the request's, into p->exceeded, which stays NULL when no limit is asked for. False with a problem. */
bool api_ode_limits_open(api_evaluation *e, api_ode *p);

/* Compares the state at time t that api_ode_rate was asked about last, with velocities qd. */
void api_ode_limits_compare(api_ode *p, double t, const double *qd);

/* The same of any state in lanes: asks api_ode_rate first. */
void api_ode_limits_evaluate(api_ode *p, double t, const double *y);

/* Puts what was found into the results of the simulations in the plant. */
void api_ode_limits_store(const api_ode *p);
