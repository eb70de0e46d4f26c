/* ode_stiction.h - integrates sharp Coulomb friction in simulations with a tolerance: joints slide or stick.
 *
 * A sliding coordinate keeps the friction of its direction within a step, whatever the sign of q', so that the
 * equations are smooth. When q' reaches zero the coordinate may stick. A sticking coordinate has q'' = 0, and its
 * friction is what that needs (Filippov's solution):
 *
 *     needed = u - T(q, q', q'')   in   [-negative, positive],
 *
 * with u the effort without that friction and T that of inverse dynamics without any (ode_friction.h). The limits are
 * those at u (api_stiction_limit_at).
 *
 * When `needed` reaches a limit the coordinate starts to slide. ARKODE locates both events. Which joints at rest stick
 * is a linear complementarity problem for all of them (api/contact/stiction.h, stiction_events.h). This file applies
 * the friction once that is decided. */
#pragma once
#include "api/contact/friction_problem.h"
#include "api/contact/stiction.h"
#include "ode.h"

/* The state of one coordinate that can stick. */
typedef struct api_friction_joint {
    size_t             v;
    api_stiction_joint at_rest; /* friction limits against positive and negative motion, N m or N */
    int                side;    /* 1, -1: slides in that direction; 0: sticks */
} api_friction_joint;

struct api_ode_stiction {
    size_t               n;
    api_friction_joint  *joint;   /* [n] */
    int                 *roots;   /* [n] from ARKODE: not 0 where an event occurred */
    bool                *driven;  /* [nv] coordinates that stick or are prescribed */
    double              *efforts; /* in lanes: nv, those without the friction of joints that can stick */
    double              *needed;  /* in lanes: nv, the friction that sticking joints need */
    api_friction_problem problem; /* friction of the joints at rest (stiction_events.c) */
    double              *matrix;  /* n x n: A of `problem` */
    double              *vectors; /* 3 n: b, positive, negative of `problem` */
    double              *qdd;     /* in lanes: nv */
    size_t              *index;   /* [n] for each joint of `problem`, its index in `joint` */
};

/* Takes ode->stiction from the request's pool; it stays NULL if no joint can stick. Returns false with a problem. */
bool api_ode_stiction_open(api_evaluation *e, api_ode *ode);

/* Finds the friction of every sticking joint as a part of its limits, at qdd and ode->q; 0 for sliding joints. This
 * load is integrated with the motion, so that steps are short enough to catch the limit even at rest. */
void api_ode_stiction_load(api_ode *ode, const double *qd, const double *qdd, double *load);

/* Returns the friction limits of a joint that sticks, in one lane at the last evaluation. */
api_stiction_joint api_ode_stiction_limits(const api_ode *ode, const api_friction_joint *j, size_t lane);

size_t api_ode_stiction_count(const api_ode *ode);                 /* number of joints that can stick */
bool   api_ode_stiction_any_sticks(const api_ode_stiction *stick); /* true if a joint sticks now */
