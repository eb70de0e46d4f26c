/* cone_newton.h - solves the conditions of optimality of least_norm.h by Newton's method, and differentiates the
 * solution, both with the active limits kept.
 *
 * With the rows g_i of the active limits, the active cones c_j(x) = n_j x - |T_j x|, and their multipliers,
 *
 *     x = E^T mu + sum y_i g_i + sum v_j grad c_j(x),  E x = e,  g_i x = least_i,  c_j(x) = 0.
 *
 * A cone whose apex x has reached is represented by half spaces (least_norm.h) instead of c_j. */
#pragma once
#include "least_norm.h"

/* Replaces x by the solution with the same active limits, and the half spaces of each cone in the active set by a
 * single one. Returns false, and changes nothing, if there is no such solution that satisfies all limits. */
bool dyn_cone_newton_finish(dyn_least_norm *s);

/* Prepares for dyn_cone_newton_differentiate. Returns false if the derivatives do not exist. */
bool dyn_cone_newton_factor(dyn_least_norm *s);

/* Returns the part E^T mu (k) of x, after dyn_cone_newton_factor. */
const double *dyn_cone_newton_equations(dyn_least_norm *s);

/* Returns the derivative (k) of x with respect to a parameter of E and e. `gradient` (k) is the derivative of E^T mu at
 * constant mu, `equation` (n_equations) that of e - E x at constant x. The rows of E are orthonormal. */
const double *dyn_cone_newton_differentiate(dyn_least_norm *s, const double *gradient, const double *equation);
