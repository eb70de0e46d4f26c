/* swing.h - finds the rotation that turns one direction into another. */
#pragma once

/* The rotation vector of least angle that turns the direction d into the direction a; both have length 1. Opposite
 * directions are turned about an axis that depends on d alone. */
void dyn_swing_between(const double d[3], const double a[3], double vector[3]);
