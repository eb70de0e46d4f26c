/* robots.h - what the benchmark programs share: robots, random states of them, and a clock. */
#pragma once
#include "api/robots/model/model.h"

enum {
    STATES   = 32, /* of one robot: few enough to stay in cache */
    MAX_RUNS = 1000
};

typedef struct robot {
    char       label[64];
    dyn_model *model;
    api_model *named; /* owner of `model`, or NULL: then the robot owns it */
    dyn_frame  tip;
} robot;

robot robot_from_file(const char *path); /* a model document; exits with a message when it cannot */
robot robot_humanoid(void);              /* 31 revolute joints in a tree, in their limbs at right angles or parallel */
robot robot_general_tree(void);          /* the same tree, axes in all directions */
robot robot_general_arm(void);           /* 7 revolute joints: no angle and no length is special */
robot robot_chain(int joints);           /* the same, as long as asked */
void  robot_release(robot *r);

/* The kernels of one lane, the faster where there are two. */
const dyn_kernels *one_lane(void);

/* Random states in blocks of the kernels' width, the same ones for every width, with room for results. */
typedef struct states {
    double *q, *qd, *qdd, *qddd, *tau; /* within [-1, 1]; quaternions have length 1 */
    double *out[4];
    void   *workspace;
} states;

/* Zeroed memory for lanes; free() frees. Ends the program if there is none. */
void *aligned(size_t bytes);

/* `entries`: of each of `out`, per state. */
void states_prepare(states *s, const dyn_model *m, const dyn_kernels *kernels, size_t n_states, size_t entries);
void states_release(states *s);

/* ns per state of `pass`, which goes through `n_states`: processor time of passes that take half a millisecond. */
double ns_per_state(void (*pass)(void *what), void *what, size_t n_states);

/* The only argument of the programs: how many runs, at most MAX_RUNS; else prints the usage and exits. */
size_t runs_asked(int argc, char **argv, long otherwise);
void   sort_runs(double *runs, size_t n); /* ascending: the first is the least, the middle one the median */
