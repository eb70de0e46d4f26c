/* small_tree.h - declares a tree of seven links, small enough to check by hand, and functions for trees like it. */
#pragma once
#include "dynamics/model/model.h"

extern const dyn_pose small_identity;
dyn_pose              turn_z_then_x(double gamma, double alpha); /* a pose at the origin with R = Rz(gamma) Rx(alpha) */
dyn_link              small_link(int      parent,
                                 dyn_pose before); /* a link with a revolute joint about z and a mass of 1 kg at its end */
dyn_model *small_build(const dyn_description *d); /* builds the model and asserts success; the caller frees it */

/* Sets the seven links:
 *
 *          0 revolute - 1 fixed - 2 prismatic
 *   world -<          `- 3 revolute - 4 fixed
 *          5 fixed - 6 revolute */
void small_tree(dyn_link link[7]);
