/* workspace.h - lays out the memory of a kernel and finds the blocks of its input and output arrays. */
#pragma once
#include "dynamics/joint/joint.h"

/* Memory of a workspace. Each kernel has one function that takes all its arrays from an arena: with `base` NULL this
 * computes the size, with memory it places the arrays. So size and layout cannot differ. */
typedef struct arena {
    char  *base;
    size_t used;
} arena;

static inline void *arena_take(arena *a, size_t count, size_t size)
{
    size_t begin = a->used;
    a->used += (count * size + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN;
    return a->base ? a->base + begin : NULL;
}

_Static_assert((int)TRIG_ANGLES <= (int)DYN_MOST_ANGLES, "see dyn_joint_transforms");

/* Takes memory for the transforms of all joints, followed by the poses of joints with a quaternion
 * (set_joint_transforms). */
static inline joint_transform *arena_take_joints(arena *a, const dyn_model *m)
{
    return arena_take(a, dyn_joint_transforms(m) * sizeof(joint_transform) + m->n_quaternions * sizeof(joint_pose), 1);
}

/* Returns block `block` of a caller's array with `entries` lanes per state, or NULL if the array is NULL. */
static inline const lane *block_in(const double *a, size_t block, size_t entries)
{
    return a ? (const lane *)(const void *)a + block * entries : NULL;
}
static inline lane *block_out(double *a, size_t block, size_t entries)
{
    return a ? (lane *)(void *)a + block * entries : NULL;
}

/* True if the work on a model of nv coordinates may go on. Kernels call this function between parts of 10 us to 1 ms.
 * For small models a whole kernel takes less, and the deadline is not checked. */
static inline bool goes_on(dyn_deadline deadline, size_t nv)
{
    enum { LARGE = 32 };
    return nv < LARGE || dyn_may_continue(deadline);
}

/* Sets n lanes to zero; does nothing if the array is NULL. */
static inline void clear(lane *M, size_t n)
{
    for (size_t e = 0; M && e < n; e++)
        M[e] = lane_of(0);
}
