/* small_tree.h - a tree of seven links, small enough to know by heart, and what it is made of. */
#pragma once
#include "dynamics/model/model.h"

extern const dyn_pose small_identity;
dyn_pose              turn_z_then_x(double gamma, double alpha); /* Rz(gamma) Rx(alpha), at the origin */
dyn_link              small_link(int parent, dyn_pose before);   /* a revolute joint about z, a kilogram at its end */
dyn_model            *small_build(const dyn_description *d);     /* asserts that it is taken; the caller frees it */

/*           0 revolute - 1 fixed - 2 prismatic
 * world -<          `- 3 revolute - 4 fixed
 *           5 fixed - 6 revolute                     */
void small_tree(dyn_link link[7]);
