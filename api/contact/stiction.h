/* stiction.h - static friction: which joints at rest sharp Coulomb friction holds, and with how much of it.
 *
 * Of the joints c at rest that can stick, accelerations are affine in the friction f on them:  a = b - A f, with A the
 * block of the inverse mass matrix that belongs to c, and b the accelerations without it. Friction holds a joint with
 * whatever that needs, up to its limits, and opposes the motion that begins otherwise:
 *
 *     -against <= f <= with,    f = with where a > 0,    f = -against where a < 0.
 *
 * A is positive definite, so that exactly one f fulfils this (a linear complementarity problem with bounds; Cottle,
 * Pang & Stone 1992, 3.1). Found by principal pivoting: of all joints that violate
 * their condition, each changes its side, as long as these become fewer; then the last one alone, which ends (Murty
 * 1974; Judice & Pires 1994). */
#pragma once
#include "dynamics/model/model.h"

/* One coordinate that can stick: friction against motion to the positive side, and to the negative, N m or N. */
typedef struct api_stiction_joint {
    size_t v;
    double with, against;
} api_stiction_joint;

/* Whether a body's friction is sharp, so that its joint can stick. */
static inline bool api_stiction_is_possible(const dyn_body *b)
{
    return b->rough && !(b->friction.coulomb_velocity > 0) && (b->friction.positive > 0 || b->friction.negative > 0);
}

/* Lists the coordinates that can stick, those of joints that mimic them included; at most nv. Returns how many. */
size_t api_stiction_list_joints(const dyn_model *model, api_stiction_joint *joints);

/* n joints at rest; arrays of the caller. */
typedef struct api_stiction_problem {
    size_t        n;
    const double *A, *b;          /* n x n, symmetric; n */
    const double *with, *against; /* n */
    double       *f;              /* n: the friction */
    int          *side;           /* n: 0 holds, 1 and -1 let go to the positive and the negative side */
    double       *matrix, *free;  /* n x n and n, to work with */
} api_stiction_problem;

/* False when A is not positive definite to rounding. */
bool api_stiction_solve(const api_stiction_problem *s);
