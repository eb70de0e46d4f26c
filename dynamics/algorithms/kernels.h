/* kernels.h - private to dynamics/: what the lane texts share besides lane.h, spatial.h and joint.h. */
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
    size_t at = a->used;
    a->used += (count * size + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN;
    return a->base ? a->base + at : NULL;
}

/* The positions of the joints, and behind them the poses of those that turn freely (joints_place). */
static inline joint_at *joints_take(arena *a, const dyn_model *m)
{
    const size_t n = m->n_bodies < TRIG_ANGLES ? TRIG_ANGLES : m->n_bodies; /* joints_turn takes so many at least */
    return arena_take(a, n * sizeof(joint_at) + m->n_quaternions * sizeof(joint_pose), 1);
}

/* Each kernel with the size of its workspace. */
/* clang-format off */
#define DYN_KERNELS(X) \
    X(inverse_dynamics) X(forward_dynamics) X(mass_matrix) X(bias) X(kinematics) X(energy) \
    X(torque_derivative) X(sensitivity) X(sensitivity_rate) X(forward_sensitivity) X(coriolis) X(regressor) \
    X(closure)
/* clang-format on */

#define X(name)                                                                                                        \
    size_t LANE_NAME(name##_size)(const dyn_model *);                                                                  \
    void   LANE_NAME(name)(const dyn_scene *, void *, const struct dyn_##name *, size_t);
DYN_KERNELS(X)
#undef X

/* Between lanes and what stands in requests and answers: see dyn_kernels. */
bool LANE_NAME(from_rows)(const void *, const void *, size_t, const int *, double *, size_t, size_t);
bool LANE_NAME(to_rows)(const double *, size_t, size_t, const int *, void *, size_t);
bool LANE_NAME(bounded)(const double *, size_t, const dyn_bound *, size_t, size_t);

/* Forward dynamics of one block of a model with mimics. */
size_t LANE_NAME(forward_coupled_size)(const dyn_model *);
void   LANE_NAME(forward_coupled)(const dyn_scene *, void *, const struct dyn_forward_dynamics *);

/* Block `block` of a caller's array with `entries` lanes a state; NULL stays NULL. */
static inline const lane *block_in(const double *a, size_t block, size_t entries)
{
    return a ? (const lane *)(const void *)a + block * entries : NULL;
}
static inline lane *block_out(double *a, size_t block, size_t entries)
{
    return a ? (lane *)(void *)a + block * entries : NULL;
}
