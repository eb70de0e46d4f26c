/* peer.h - another library for robot dynamics, doing what our kernels do on the same robot.
 *
 * An adapter makes the library's robot from our canonical model, body by body, so that both sides compute the same
 * numbers; peers.c compares them before anything is timed. Joints are plain: no friction, springs, gears or mimics. */
#pragma once
#include "dynamics/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum operation {
    INVERSE_DYNAMICS,
    MASS_MATRIX,
    MASS_MATRIX_AT_POSES, /* the same from the poses that MASS_MATRIX, called before, has left in the robot */
    FORWARD_DYNAMICS,
    N_OPERATIONS
} operation;

/* One state: nv entries each, q too. */
typedef struct state {
    const double *q, *qd, *qdd, *tau;
} state;

typedef struct peer {
    const char *name;
    const char *(*version)(void);
    const char *calls[N_OPERATIONS]; /* what an operation is made of; NULL: the library has none */
    /* The library's robot, or NULL when it cannot have this one. The caller gives it to `release`. */
    void *(*build)(const dyn_model *model);
    /* tau, M (nv x nv) or qdd; with NULL it stays in the library's own arrays. */
    void (*evaluate)(void *robot, operation op, const state *s, double *result);
    void (*release)(void *robot);
} peer;

extern const peer peer_mujoco, peer_kdl;

#ifdef __cplusplus
}
#endif
