/* joint_types.c - the properties of each joint type (joint_types.h). */
#include "joint_types.h"
#include "expand_joints.h"

const dyn_joint_type dyn_joint_types[DYN_JOINT_KINDS] = {
    [DYN_FIXED]    = {.name = "fixed", .angle = -1},
    [DYN_REVOLUTE] = {.name            = "revolute",
                      .unlimited       = "continuous",
                      .has_axis        = true,
                      .turns           = true,
                      .position_suffix = {""},
                      .velocity_suffix = {""}},
    [DYN_PRISMATIC] =
        {.name = "prismatic", .has_axis = true, .angle = -1, .position_suffix = {""}, .velocity_suffix = {""}},
    [DYN_PLANAR]    = {.name            = "planar",
                       .has_axis        = true,
                       .angle           = 2,
                       .position_suffix = {".x", ".y", ".angle"},
                       .velocity_suffix = {".x", ".y", ".angle"},
                       .expand          = dyn_expand_planar},
    [DYN_HELICAL]   = {.name            = "helical",
                       .has_axis        = true,
                       .has_pitch       = true,
                       .turns           = true,
                       .position_suffix = {""},
                       .velocity_suffix = {""},
                       .expand          = dyn_expand_helical},
    [DYN_SPHERICAL] = {.name            = "spherical",
                       .turns           = true,
                       .angle           = -1,
                       .position_suffix = {".qx", ".qy", ".qz", ".qw"},
                       .velocity_suffix = {".wx", ".wy", ".wz"}},
    [DYN_FLOATING]  = {.name            = "floating",
                       .angle           = -1,
                       .position_suffix = {".x", ".y", ".z", ".qx", ".qy", ".qz", ".qw"},
                       .velocity_suffix = {".vx", ".vy", ".vz", ".wx", ".wy", ".wz"}},
};
