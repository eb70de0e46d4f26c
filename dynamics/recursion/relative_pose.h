/* relative_pose.h - computes the pose of a body in the frame of an ancestor, and transforms motions of the ancestor to
 * the body's frame. */
#pragma once
#include "spatial_algebra.h"

typedef struct relative_pose {
    mat3 R;
    vec3 p;
} relative_pose;

static inline relative_pose relative_pose_identity(void)
{
    lane one = lane_of(1), zero = lane_of(0);
    return (relative_pose){.R = {{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}}, .p = vec3_zero()};
}

/* Returns the motion u of the ancestor at the origin of its descendant, in the descendant's axes. s is the pose of the
 * descendant in the ancestor's frame. */
LANE_INLINE twist twist_in_descendant(const relative_pose *s, twist u)
{
    return (twist){mat3_mul_transposed(&s->R, cross_add(u.v, u.w, s->p)), mat3_mul_transposed(&s->R, u.w)};
}

LANE_INLINE dof dof_in_descendant(const relative_pose *s, dof d)
{
    return (dof){twist_in_descendant(s, d.S), twist_in_descendant(s, d.psi_d), twist_in_descendant(s, d.psi_dd),
                 twist_in_descendant(s, d.psi_d_plus_S_d)};
}

LANE_INLINE void relative_pose_form(link_transform X, relative_pose *s)
{
    for (int k = 0; k < 3; k++) {
        vec3 e       = to_parent(X, mat3_column(&s->R, k));
        s->R.m[0][k] = e.x;
        s->R.m[1][k] = e.y;
        s->R.m[2][k] = e.z;
    }
    s->p = add(origin_in_parent(X), to_parent(X, s->p));
}

/* Replaces s, the pose of a descendant in body b, by its pose in the parent of b. */
static inline void relative_pose_from_parent(const dyn_body *b, const joint_transform *XJ, relative_pose *s)
{
    WITH_LINK_TRANSFORM(b, XJ, relative_pose_form, s)
}
