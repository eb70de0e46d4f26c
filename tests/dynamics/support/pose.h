/* pose.h - composes and inverts poses, for robots and frames that tests make. X_ab is the pose of frame b in frame a.
 */
#pragma once
#include "dynamics/model/model.h"

dyn_pose pose_compose(const dyn_pose *X_ab, const dyn_pose *X_bc); /* X_ac */
dyn_pose pose_inverse(const dyn_pose *X_ab);                       /* X_ba */
