/* damped_spring.h - integrates the deflection of a spring with a damper under a load that is known at instants.
 *
 * The deflection e(t) obeys
 *
 *     damping e' + stiffness e = f(t),
 *
 * whose homogeneous solution decays with the time constant a = damping / stiffness. Load and deflection are given with
 * their time derivatives up to an order r. Between two instants the derivative of order r - 2 of the load is the
 * polynomial of degree 5 with the values and the first two derivatives at both; for r = 2 that is the load itself. The
 * integral of this polynomial is exact for every ratio of the interval to a. */
#pragma once
#include "dynamics/memory/memory.h"
#include "dynamics/torque_series.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct dyn_damped_spring {
    double stiffness, damping; /* > 0: N m/rad and N m s/rad, or N/m and N s/m */
    size_t order;              /* r, from 2 to DYN_MAX_DERIVATIVE */
    double span;               /* s, from the first instant to the last, >= 0 */
} dyn_damped_spring;

/* Load and deflection at an instant, with their derivatives up to order r. */
typedef struct dyn_spring_instant {
    double t;                            /* s */
    double load[DYN_MAX_DERIVATIVE + 1]; /* N m or N, and per s, s^2, ... */
    double e[DYN_MAX_DERIVATIVE + 1];    /* rad or m, and per s, s^2, ... */
} dyn_spring_instant;

/* Sets the deflection to that of a spring whose load has long been a polynomial of degree r in time:
 * e^(r) = f^(r) / stiffness, and each lower derivative from the next. After rest, e = f / stiffness. */
void dyn_damped_spring_settle(const dyn_damped_spring *s, dyn_spring_instant *i);

/* Sets the deflection at `end` from that at `begin` and the loads at both; end->t > begin->t. */
void dyn_damped_spring_advance(const dyn_damped_spring *s, const dyn_spring_instant *begin, dyn_spring_instant *end);

/* The instants of one motion. */
typedef struct dyn_damped_motion {
    size_t        n;      /* instants, at least 1 */
    const double *times;  /* [n] s, increasing */
    double       *series; /* [n][r + 1] in: the load and its derivatives; out: the deflection and its derivatives */
    const double *start;  /* the deflection at the first instant; NULL: that of dyn_damped_spring_settle */
    double       *errors; /* [n] estimated errors of the deflection's second derivative, rad/s^2 or m/s^2 */
} dyn_damped_motion;

/* Integrates the deflection along a motion, and a second time along every other instant. The error of an even instant,
 * and of the one before it, is the difference between the two: about 7 times the error of the first if the intervals
 * are long compared with the time constant, up to 63 times if they are short; 0 for fewer than three instants. s->span
 * is that of the motion. False past the deadline. */
bool dyn_damped_spring_integrate(const dyn_damped_spring *s, const dyn_damped_motion *m, dyn_deadline deadline);
