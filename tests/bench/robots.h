/* robots.h - what the benchmark programs share: robots, random states of them, and a clock. */
#pragma once
#include "api/model.h"

enum { STATES = 32 }; /* of one robot: few enough to stay in cache */

typedef struct robot {
    char       label[64];
    dyn_model *model;
    api_model *named; /* owner of `model`, or NULL: then the robot owns it */
    dyn_frame  tip;
} robot;

robot robot_from_file(const char *path); /* a model document; exits with a message when it cannot */
robot robot_humanoid(void);              /* 31 revolute joints in a tree, axes in all directions */
void  robot_release(robot *r);

/* STATES random states in blocks of the kernels' width, the same ones for every width, with room for results. */
typedef struct states {
    double *q, *qd, *qdd, *qddd, *tau; /* within [-1, 1] */
    double *out[4]; /* each large enough for a matrix of nv x nv, a Jacobian; the first for a regressor, too */
    void   *workspace;
} states;

void states_prepare(states *s, const dyn_model *m, const dyn_kernels *kernels);
void states_release(states *s);

/* ns per state of `pass`, which goes through STATES states: processor time of passes that take half a millisecond. */
double ns_per_state(void (*pass)(void *what), void *what);
