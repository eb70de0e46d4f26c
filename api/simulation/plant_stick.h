/* plant_stick.h - joints that stick: sharp Coulomb friction in simulations that keep a tolerance.
 *
 * A coordinate with such friction slides to one side, or sticks. Sliding, its friction is that of the side whatever the
 * sign of q' within a step, so that nothing jumps; when q' comes to zero it may stick. Sticking, it is driven with
 * q'' = 0 and friction gives what that needs (Filippov's solution),
 *
 *     needed = tau - inverse dynamics(q, q', q'')   in   [-against, with],
 *
 * until it would have to give more; then it slides to the side that it is pushed to. ARKODE finds both instants. What
 * sticks is decided one by one: of those that friction cannot hold, the one it is furthest from holding is let go. */
#pragma once
#include "plant.h"

/* Whether a joint's friction is sharp, so that it can stick. */
static inline bool api_stick_can(const dyn_body *b)
{
    return b->rough && !(b->friction.coulomb_velocity > 0) && (b->friction.positive > 0 || b->friction.negative > 0);
}

/* Memory of the request's, into p->stick, which stays NULL when no joint can stick. False with a problem. */
bool api_stick_open(api_evaluation *e, api_plant *p);

/* Which of them stick where the plant stands, at p->y, when it begins; and when what acts may have jumped. */
void api_stick_begin(api_plant *p);
void api_stick_review(api_plant *p, double t);

/* The kernels' friction, in lanes, becomes that of the sides; p->tau, changed so that with the kernels' the same comes
 * out. */
void          api_stick_take_sides(const api_plant *p, const double *qd, double *friction);
const double *api_stick_efforts(const api_plant *p, const double *qd);

/* Of every joint that can stick, the part of its friction that it takes, at q'' and p->q: integrated with the motion,
 * so that steps are short enough to see it come to the limit, though nothing moves. */
void api_stick_rate(api_plant *p, const double *qd, const double *qdd, double *load);

/* How many can stick; what they are from changing, at y in lanes: each changes where its number becomes zero. */
size_t api_stick_count(const api_plant *p);
void   api_stick_margins(api_plant *p, double t, const double *y, double *margins);

/* Where some have, at p->y, which has their q' zero afterwards. */
int *api_stick_roots(const api_plant *p);
void api_stick_change(api_plant *p, double t);
