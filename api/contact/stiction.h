/* stiction.h - finds which joints at rest are held by sharp Coulomb friction, and with which friction force.
 *
 * For the joints c at rest that can stick, accelerations are affine in their friction f: a = b - A f. A is the block of
 * the inverse mass matrix that belongs to c, and b are the accelerations without that friction. Friction holds a joint
 * at rest up to its limits; beyond, it opposes the motion that begins:
 *
 *     -negative <= f <= positive,    f = positive where a > 0,    f = -negative where a < 0.
 *
 * Friction that depends on the load has limits that depend on T, the effort that the joint transmits: T = u - f, with u
 * the effort without friction of the joint. Since f = coulomb + load |T| has one solution for each u, the limits
 * are known beforehand (api_stiction_limit_at).
 *
 * A is positive definite, so that exactly one f satisfies this linear complementarity problem with bounds (Cottle, Pang
 * & Stone 1992, 3.1). Principal pivoting finds it. All joints that violate their condition change sides as long as
 * their number decreases; then only the last one changes, which terminates (Murty 1974; Judice & Pires 1994). */
#pragma once
#include "dynamics/model/model.h"

/* One coordinate that can stick. Friction limits against positive and negative motion: N m or N. */
typedef struct api_stiction_joint {
    size_t v;                  /* of the model */
    size_t tree_v;             /* of its dyn_model, which has other coordinates if the model has loops */
    double positive, negative; /* without load */
    double load;               /* what the limits grow by for each N m or N that the joint transmits */
    bool   stribeck;           /* true: it slides with less friction than these limits, depending on its rate */
} api_stiction_joint;

/* True if a body's friction is sharp, without a transition velocity, so that its joint can stick. */
static inline bool api_stiction_is_possible(const dyn_body *b)
{
    return b->joint.has_friction && !(b->joint.friction.coulomb_velocity > 0) &&
           (b->joint.friction.positive > 0 || b->joint.friction.negative > 0 ||
            b->joint.friction.stribeck_velocity > 0 || b->joint.friction.load > 0);
}

/* The index of the first motor of a coupled transmission that sharp friction can hold, or n_drives. Such a motor holds
 * a combination of joints, which the problem below has no row for. */
size_t api_stiction_find_sharp_drive(const dyn_model *model);

/* Lists the coordinates that can stick, at most nv, with the friction of mimicking joints included. Returns their
 * number. */
size_t api_stiction_list_joints(const dyn_model *model, api_stiction_joint *joints);

/* Returns a copy of a joint with the limits at an effort u: the friction at which it starts to move in each direction.
 */
api_stiction_joint api_stiction_limit_at(const api_stiction_joint *joint, double u);

/* Returns the sharp friction, N m or N, with which coordinate v of `model` slides in the direction `side` (1 or -1) at
 * a rate, rad/s or m/s. Only the size of the rate counts. */
double api_stiction_sliding(const dyn_model *model, size_t v, int side, double rate);

/* Returns the derivative of the size of api_stiction_sliding by the size of the rate. */
double api_stiction_slope(const dyn_model *model, size_t v, int side, double rate);

/* The complementarity problem for the friction of n joints at rest. The caller provides all arrays. */
typedef struct api_stiction_problem {
    size_t        n;
    const double *A, *b;               /* n x n, symmetric; n: accelerations are b - A f */
    const double *positive, *negative; /* n: friction limits */
    double       *f;                   /* n: result, friction of each joint */
    int          *side;                /* n: result, 0 holds, 1 and -1 slides in positive and negative direction */
    double       *factor, *solution;   /* n x n, n: scratch */
} api_stiction_problem;

/* Finds the friction s->f and the sides s->side. Returns false if A is not positive definite, up to rounding. */
bool api_stiction_solve(const api_stiction_problem *s);
