/* tangent.h - computes the difference of two positions of a joint on its tangent space, and the derivative of the
 * difference.
 *
 * The difference dx from a reference has one entry for each velocity: q - reference for a joint of one coordinate; of
 * rotations it is the rotation vector log(R_ref^T R), of at most pi; the translation of a floating joint is
 * R_ref^T (p - p_ref). A position changes along p += R e_v, R <- R exp(e_w), as in dyn_sensitivity. */
#pragma once
#include "dynamics/model/model.h"

enum { DYN_TANGENT_MOST = 6 /* velocities of a joint */ };

/* Writes dx, entries 1 apart. `q` has entries `stride` apart; both positions begin with the joint's first coordinate,
 * and their quaternions have the length 1. */
void dyn_tangent_difference(const dyn_body *body, const double *reference, const double *q, size_t stride, double *dx);

/* Writes the derivative J of dx with respect to the change e of q. Only the rows and columns of the joint's velocities
 * are used. dx is the result of dyn_tangent_difference. */
void dyn_tangent_derivative(const dyn_body *body, const double *dx, double J[DYN_TANGENT_MOST][DYN_TANGENT_MOST]);

/* Writes the rate of J along a change e of the position, with an entry for each velocity. */
void dyn_tangent_derivative_rate(const dyn_body *body, const double *dx, const double *e,
                                 double rate[DYN_TANGENT_MOST][DYN_TANGENT_MOST]);
