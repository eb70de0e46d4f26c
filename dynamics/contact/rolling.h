/* rolling.h - finds the contact point of a rolling frame (dyn_rolling), and converts the motion and the wrench of the
 * frame between this point and the frame's origin. Kernels do the same in algorithms/held_rows.h.
 *
 * All numbers are of one lane or of W lanes, with entries W apart, in world axes unless other ones are named. */
#pragma once
#include "dynamics/step.h"

/* Sets the contact point s (3) of one lane from the frame's origin, m, and its rate (3), m/s, at the frame's unit
 * quaternion (4) and angular velocity w (3). w NULL: the rate is not computed. */
void dyn_rolling_find_lever(const dyn_rolling *rolling, size_t W, const double *quaternion, const double *w, double *s,
                            double *rate);

/* Replaces the linear part v of each column [v; w] (6 x columns in W lanes) by v + w x s, in the axes of the plane. */
void dyn_rolling_move(const dyn_rolling *rolling, size_t W, const double *s, size_t columns, double *x);

/* Adds w x rate to the linear part of one motion (6 in W lanes), before dyn_rolling_move. */
void dyn_rolling_add_rate(size_t W, const double *w, const double *rate, double *acceleration);

/* Writes the wrench about the frame's origin (6 of one lane) of forces `along` the frame's directions, [n], that act at
 * s. */
void dyn_rolling_put_wrench(const dyn_held_frame *frame, size_t W, const double *s, const double *along,
                            double *wrench);

/* Returns the component of the force of a wrench along direction `axis` of the plane, in one lane. */
double dyn_rolling_force(const dyn_rolling *rolling, size_t W, int axis, const double *wrench);

/* Rotates a vector of 3 entries, `stride` apart, from the axes of the plane to those of the world. */
void dyn_rolling_to_world(const dyn_rolling *rolling, size_t stride, double *x);
