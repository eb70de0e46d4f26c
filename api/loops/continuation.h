/* continuation.h - follows the unknown coordinates of a closure (closure.h) along a path of what is given, s from 0 to
 * 1: actuated coordinates, the pose of a frame, or a loop error that shrinks. The unknowns x(s) are the branch of
 *
 *     r(x, s) = left(s),   x(0) where the loops are closed so far,
 *
 * that begins at the state's own position, so that the mechanism stays in its assembly.
 *
 * Steps (Deuflhard 2011, 5.1). With K the pseudoinverse of J = dr/dx at the last
 * point, simplified Newton corrections x -= K (r - left) go to the next one. A step is accepted only if
 *
 *     each correction is at most 1/4 of the one before, and   |M^4|^(1/4) <= 1/2,   M = K J(new) - 1   (Frobenius).
 *
 * The second condition bounds the spectral radius of M, and with it the contraction of simplified Newton steps: no
 * other solution is as near, and J keeps its rank on the way, so that neither another branch nor a singular position
 * lies between the two points. The fourth power is taken because M is nearly of rank one close to a singular position,
 * where its own norm depends on the units of the unknowns. Otherwise the step is halved. Steps that would become
 * shorter than 1e-9 rad, or parts of the model's length, and move the unknowns by less than 1e-6, have come to a
 * position where J loses its rank: there the path ends. */
#pragma once
#include "closure.h"

typedef struct api_continuation_path {
    /* Sets what is given at the fraction s of a lane's path: entries of c->q that are not unknown, c->goal, c->left. */
    void (*go)(const void *arg, api_closure *c, size_t lane, double s);
    const void *arg;
    double      shortest; /* step, as length is measured: where no longer one is possible, the path ends; 0: 1e-9 */
    double length[DYN_MAX_LANES]; /* of the path at most: rad, or parts of the model's length, of any one coordinate;
                                     0: the first position closes the loops already */
} api_continuation_path;

/* The path along which c->left shrinks to zero from the loop error at c->q. */
api_continuation_path api_continuation_guess_path(api_closure *c, const dyn_scene *scene);

/* Follows the path from c->q on, in all live lanes, each by itself: c->q is near the end of the path then, or where it
 * broke off. c->reached[lane] becomes the fraction of the path that was followed: 1, or where it meets a singular
 * position. False where a lane did not arrive, or the request has ended. */
bool api_continuation_follow(api_closure *c, const dyn_scene *scene, const api_continuation_path *path);
