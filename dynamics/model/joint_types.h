/* joint_types.h - the table of joint types. A new type is a row of DYN_JOINT_TYPES here, with its properties in
 * joint_types.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* X(KIND, nq, nv): kind of joint and numbers of its positions and velocities. S is the motion subspace [linear;
 * angular] in the axes of the moved frame, z the joint axis. Types with a quaternion come last; the quaternion is the
 * last four entries of q. */
/* clang-format off */
#define DYN_JOINT_TYPES(X)                                                                                             \
    X(FIXED,     0, 0) /* no motion: the link is merged into its parent */                                            \
    X(REVOLUTE,  1, 1) /* S = [0; z]: rotates about the axis, with or without limits */                                \
    X(PRISMATIC, 1, 1) /* S = [z; 0]: slides along the axis */                                                         \
    X(PLANAR,    3, 3) /* along e_x, along e_y, then about the axis; only in a description: expanded into bodies */    \
    X(HELICAL,   1, 1) /* S = [pitch z; z]: rotates and slides; only in a description: expanded into bodies */         \
    X(SPHERICAL, 4, 3) /* S = [0; 1]: rotates about all axes; q = (qx qy qz qw), qd = w */                             \
    X(FLOATING,  7, 6) /* S = 1: moves freely; q = (x y z qx qy qz qw), qd = (v w) */
/* clang-format on */

typedef enum dyn_joint_kind {
#define X(KIND, nq, nv) DYN_##KIND,
    DYN_JOINT_TYPES(X)
#undef X
        DYN_JOINT_KINDS
} dyn_joint_kind;
/* For DYN_SPHERICAL and DYN_FLOATING, q is the pose of the moved joint frame in the joint frame, with a unit
 * quaternion. qd is the velocity of the moved frame relative to the parent, [linear of the origin; angular], in the
 * axes of the moved frame. tau is the force and the moment about the origin of the moved frame, in the same axes. These
 * joints have no axis, ratio, offset, mimics or friction; their rotor, damper and spring: joint/free_joint_forces.h. */

static inline int dyn_joint_nv(dyn_joint_kind kind)
{
    switch (kind) {
#define X(KIND, nq, nv)                                                                                                \
    case DYN_##KIND: return nv;
        DYN_JOINT_TYPES(X)
#undef X
    case DYN_JOINT_KINDS: break;
    }
    return 0;
}
static inline int dyn_joint_nq(dyn_joint_kind kind)
{
    switch (kind) {
#define X(KIND, nq, nv)                                                                                                \
    case DYN_##KIND: return nq;
        DYN_JOINT_TYPES(X)
#undef X
    case DYN_JOINT_KINDS: break;
    }
    return 0;
}
/* True if the last four coordinates of the joint are a quaternion. */
static inline bool dyn_joint_has_quaternion(dyn_joint_kind kind)
{
    return kind >= DYN_SPHERICAL;
}

enum { DYN_MAX_PARTS = 3 /* most bodies into which one joint is expanded: three for a planar joint */ };

struct dyn_link;

/* Properties of a joint type besides its kind and numbers of coordinates. */
typedef struct dyn_joint_type {
    const char *name;               /* name of the type in a model document */
    const char *unlimited;          /* name of the same type without limits of position, or NULL */
    bool        has_axis;           /* the document must give "axis" */
    bool        has_pitch;          /* the document must give "pitch" */
    bool        turns;              /* true: an inertia tensor, even without mass, has an effect on the joint */
    int         angle;              /* index of the angle among the joint's coordinates, or -1 */
    const char *position_suffix[8]; /* NULL-terminated; the joint's entries of q are named by the joint's name +
                                       these suffixes */
    const char *velocity_suffix[7]; /* NULL-terminated; the joint's entries of qd are named by the joint's name +
                                       these suffixes */
    /* Splits a link into links whose joint types the kernels support; returns their number. NULL: the kernels support
     * the type itself. */
    size_t (*expand)(const struct dyn_link *link, struct dyn_link *part /* [DYN_MAX_PARTS] */);
} dyn_joint_type;

extern const dyn_joint_type dyn_joint_types[DYN_JOINT_KINDS];
