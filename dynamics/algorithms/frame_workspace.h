/* frame_workspace.h - lays out the memory of the kernel that differentiates the motion of frames. */
#pragma once
#include "dynamics/recursion/world_kinematics.h"

typedef struct column { /* of the Jacobian of a frame, in world axes */
    vec3   l, w;
    vec3   ld, wd; /* their time derivatives; set if the velocities of the bodies are known */
    int    body;   /* the body that the joint moves */
    size_t v;      /* the coordinate */
} column;

typedef struct frame_workspace {
    world_workspace motions;
    column         *columns; /* [n_dofs] those of one frame, the nearest joint first */
} frame_workspace;

static inline frame_workspace place_frame(arena *a, const dyn_model *m)
{
    return (frame_workspace){.motions = place_world(a, m), .columns = arena_take(a, m->n_dofs, sizeof(column))};
}
