/* workspace.h - lays out the memory of a kernel and finds one block of its arrays: what all lane texts share besides
 * lane.h, spatial.h and joint.h. */
#pragma once
#include "dynamics/joint/joint.h"

/* A workspace is laid out by walking through its parts: each text has one function that places its arrays, called with
 * base NULL for the size and with memory for the placement, so that the two cannot differ. */
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

/* The positions of the joints, and behind them the poses of those that turn freely (set_joint_transforms). */
static inline joint_transform *arena_take_joints(arena *a, const dyn_model *m)
{
    const size_t n =
        m->n_bodies < TRIG_ANGLES ? TRIG_ANGLES : m->n_bodies; /* set_revolute_transforms takes so many at least */
    return arena_take(a, n * sizeof(joint_transform) + m->n_quaternions * sizeof(joint_pose), 1);
}

/* Block `block` of a caller's array with `entries` lanes a state; NULL stays NULL. */
static inline const lane *block_in(const double *a, size_t block, size_t entries)
{
    return a ? (const lane *)(const void *)a + block * entries : NULL;
}
static inline lane *block_out(double *a, size_t block, size_t entries)
{
    return a ? (lane *)(void *)a + block * entries : NULL;
}
