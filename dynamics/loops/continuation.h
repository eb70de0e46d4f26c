/* continuation.h - follows the unknown coordinates of closure equations (closure.h) along a path s = 0..1 of known
 * quantities: the actuated coordinates, the pose of a platform frame, or a loop error that shrinks to zero. Let r be
 * the loop error. The unknowns x(s) are the branch of
 *
 *     r(x, s) = remaining(s)
 *
 * through the position of the state at s = 0, so that the mechanism keeps its assembly mode.
 *
 * Step control follows Deuflhard 2011, 5.1. Let K be the pseudoinverse of J = dr/dx at the last accepted point.
 * Simplified Newton corrections x -= K (r - remaining) lead to the next point. A step is accepted only if
 *
 *     each correction is at most 1/4 of the one before, and   |M^4|^(1/4) <= 1/2,   M = K J(new) - 1   (Frobenius).
 *
 * The second condition bounds the spectral radius of M, and with it the contraction of simplified Newton steps. Then no
 * other solution is nearer, and J keeps its rank along the step: neither another branch nor a singular position lies
 * between the two points. The fourth power is used because M is nearly of rank one close to a singular position, where
 * the norm of M itself depends on the units of the unknowns.
 *
 * A step that is not accepted is halved. The path ends at a singular position, where J loses its rank, if a step would
 * be shorter than 1e-9 (rad, or parts of the model's length) and move the unknowns by less than 1e-6. */
#pragma once
#include "closure.h"

typedef struct dyn_continuation_path {
    /* Sets the known quantities of a lane at the point s of its path: the known entries of c->q, c->goal, c->remaining.
     */
    void (*set_point)(const void *arg, dyn_closure_solver *c, size_t lane, double s);
    const void *arg;
    bool        at_reference; /* every lane starts at the model's reference, and no loop error remains */
    /* Shortest step, in the units of `length`; the path ends if steps would have to be shorter. 0: 1e-9. */
    double shortest;
    /* Limit of the number of evaluations of the loops; a path that needs more ends as at a singular position. 0: no
     * limit. */
    size_t most_evaluations;
    /* Upper bound of the path's length in each lane: the motion of the coordinate that moves most, in rad or parts of
     * the model's length. 0: the loops are closed at the first position already. */
    double length[DYN_MAX_LANES];
} dyn_continuation_path;

/* Returns the path along which the loop error at c->q, which is stored in c->remaining, shrinks to zero. */
dyn_continuation_path dyn_continuation_guess_path(dyn_closure_solver *c, const dyn_scene *scene);

/* Follows the path from c->q in all live lanes. On return c->q is near the end of the path, or near the place where the
 * path was given up. Sets c->reached[lane] to the fraction that was followed, 1 or that of a singular position, and
 * c->stopped[lane] if the deadline ended the path. Returns false if a lane did not reach the end. */
bool dyn_continuation_follow(dyn_closure_solver *c, const dyn_scene *scene, const dyn_continuation_path *path);
