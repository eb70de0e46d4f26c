/* tangent.h - computes the difference of two positions of a joint in the tangent space at a reference, and the
 * derivative of the difference.
 *
 * The difference dx has one entry for each velocity: q - reference for a joint of one coordinate. For a rotation it is
 * the rotation vector log(R_ref^T R), of at most pi; for the translation of a floating joint R_ref^T (p - p_ref). A
 * position changes along p += R e_v, R <- R exp(e_w), as in dyn_sensitivity. */
#pragma once
#include "dynamics/model/model.h"

enum { DYN_TANGENT_MOST = 6 /* velocities of a joint */ };

/* Writes dx, with consecutive entries. Entries of `q` are `stride` apart. `reference` and `q` begin with the joint's
 * first coordinate, and their quaternions have length 1. */
void dyn_tangent_difference(const dyn_body *body, const double *reference, const double *q, size_t stride, double *dx);

/* Writes the derivative J of dx with respect to the change e of q. Only the rows and columns of the joint's velocities
 * are used. dx is the result of dyn_tangent_difference. */
void dyn_tangent_derivative(const dyn_body *body, const double *dx, double J[DYN_TANGENT_MOST][DYN_TANGENT_MOST]);

/* Writes the derivative of J along a change e of the position, which has one entry for each velocity. */
void dyn_tangent_derivative_rate(const dyn_body *body, const double *dx, const double *e,
                                 double rate[DYN_TANGENT_MOST][DYN_TANGENT_MOST]);
