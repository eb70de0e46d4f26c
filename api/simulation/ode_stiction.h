/* ode_stiction.h - joints that stick: sharp Coulomb friction in simulations that keep a tolerance.
 *
 * A coordinate with such friction slides to one side, or sticks. Sliding, its friction is that of the side whatever the
 * sign of q' within a step, so that nothing jumps; when q' comes to zero it may stick. Sticking, it is driven with
 * q'' = 0 and friction gives what that needs (Filippov's solution),
 *
 *     needed = tau - inverse dynamics(q, q', q'')   in   [-against, with],
 *
 * until it would have to give more; then it slides to the side that it is pushed to. ARKODE finds both instants. Which
 * joints at rest stick is one complementarity problem for all of them (stiction.h, stiction_events.h). This file has
 * what friction does once that is decided. */
#pragma once
#include "api/contact/stiction.h"
#include "ode.h"

/* One coordinate. */
typedef struct api_friction_joint {
    size_t v;
    double with, against; /* N m or N: friction against motion to the positive side, and to the negative */
    int    side;          /* 1, -1: slides; 0: sticks */
} api_friction_joint;

struct api_ode_stiction {
    size_t               n;
    api_friction_joint  *joint;   /* [n] */
    int                 *roots;   /* [n] the integrator's: whose margin has become zero */
    bool                *driven;  /* [nv]: which stick */
    double              *efforts; /* lanes: nv */
    double              *balance; /* lanes: nv: what friction has to give to those that stick */
    api_stiction_problem problem; /* of those at rest (stiction_events.c), */
    double              *matrix;  /* whose arrays are these: n x n, */
    double              *vectors; /* 3 n: b, with, against */
    double              *qdd;     /* lanes: nv */
    size_t              *place;   /* [n] in `joint` */
};

/* Memory of the request's, into p->stick, which stays NULL when no joint can stick. False with a problem. */
bool api_ode_stiction_open(api_evaluation *e, api_ode *p);

/* The kernels' friction, in lanes, becomes that of the sides; p->tau, changed so that with the kernels' the same comes
 * out. */
void          api_ode_stiction_apply_sides(const api_ode *p, const double *qd, double *friction);
const double *api_ode_stiction_efforts(const api_ode *p, const double *qd);

/* Of every joint that can stick, the part of its friction that it takes, at q'' and p->q: integrated with the motion,
 * so that steps are short enough to see it come to the limit, though nothing moves. */
void api_ode_stiction_load(api_ode *p, const double *qd, const double *qdd, double *load);

size_t api_ode_stiction_count(const api_ode *p);                   /* that can stick */
bool   api_ode_stiction_any_sticks(const api_ode_stiction *stick); /* sticks now */
