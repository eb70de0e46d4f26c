/* mechanism.h - a tree of bodies with the loops that close it, in the coordinates of its actuated joints: the part of a
 * robot model that the mechanics of dynamics/ need. It owns nothing. */
#pragma once
#include "loops.h"

typedef struct dyn_mechanism {
    const dyn_model *tree;   /* all joints, loops cut; tree->n_rows bodies have parameters */
    const dyn_loops *loops;  /* NULL: the mechanism is a tree, and its coordinates are those of the tree */
    size_t           nq, nv; /* coordinates and velocities: of the actuated joints, if there are loops */
    size_t n_movers;         /* joints, motor coordinates, motors of transmissions: parameters of rotors and friction */
} dyn_mechanism;

/* Returns the mechanism of a tree with loops (loops_build.h), or without (NULL). It keeps both pointers. */
static inline dyn_mechanism dyn_mechanism_of(const dyn_model *tree, const dyn_loops *loops)
{
    return (dyn_mechanism){.tree     = tree,
                           .loops    = loops,
                           .nq       = (size_t)tree->nq - (loops ? loops->n_passive_q : 0),
                           .nv       = (size_t)tree->nv - (loops ? loops->n_passive : 0),
                           .n_movers = tree->n_movers};
}

/* Returns the index of a velocity coordinate of the tree among those of the mechanism; -1: it is passive. */
static inline int dyn_mechanism_velocity(const dyn_mechanism *mechanism, int v)
{
    return mechanism->loops ? mechanism->loops->active_index_v[v] : v;
}

/* Return the indices of the first position and of the first velocity coordinate of a body's joint; -1: passive. */
static inline int dyn_first_position(const dyn_mechanism *mechanism, const dyn_body *body)
{
    return mechanism->loops ? mechanism->loops->active_index_q[body->joint.q] : body->joint.q;
}

static inline int dyn_first_velocity(const dyn_mechanism *mechanism, const dyn_body *body)
{
    return dyn_mechanism_velocity(mechanism, body->joint.v);
}
