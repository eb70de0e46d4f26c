/* peer.h - declares the adapter of another library for robot dynamics. An adapter builds the library's robot from the
 * canonical model, body by body, so that both sides compute the same numbers; peers.c compares them before it measures
 * times. Joints are plain: no friction, springs, gears or mimics. */
#pragma once
#include "dynamics/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum operation {
    INVERSE_DYNAMICS,
    MASS_MATRIX,
    MASS_MATRIX_AT_POSES, /* M from the poses that MASS_MATRIX, called before, has left in the robot */
    FORWARD_DYNAMICS,
    INVERSE_MASS_MATRIX, /* M^-1 as a full matrix */
    BIAS,                /* tau at qdd = 0 */
    JACOBIAN,            /* 6 x nv, of the last body's frame, in world axes */
    SENSITIVITY,         /* dtau/dq and dtau/dqd */
    FORWARD_SENSITIVITY, /* dqdd/dq and dqdd/dqd */
    N_OPERATIONS
} operation;

/* Returns the number of entries of a result. */
static inline size_t result_entries(operation op, size_t nv)
{
    switch (op) {
    case MASS_MATRIX:
    case MASS_MATRIX_AT_POSES:
    case INVERSE_MASS_MATRIX: return nv * nv;
    case JACOBIAN: return 6 * nv;
    case SENSITIVITY:
    case FORWARD_SENSITIVITY: return 2 * nv * nv;
    default: return nv;
    }
}

/* Holds one state: nv entries each, q too. */
typedef struct state {
    const double *q, *qd, *qdd, *tau;
} state;

typedef struct peer {
    const char *name;
    const char *(*version)(void);
    /* Names the library's functions for an operation; NULL: it has none. Derivatives are then differences of its
     * inverse or forward dynamics. */
    const char *calls[N_OPERATIONS];
    /* Builds the library's robot, or returns NULL if the library cannot represent this one. The caller frees it by
     * `release`. */
    void *(*build)(const dyn_model *model);
    /* Computes the result_entries of one state; with `result` NULL they stay in the library's own arrays. */
    void (*evaluate)(void *robot, operation op, const state *s, double *result);
    void (*release)(void *robot);
} peer;

extern const peer peer_mujoco, peer_kdl;

#ifdef __cplusplus
}
#endif
