/* robots.h - declares robots, random states of robots, and a clock for the benchmark programs. */
#pragma once
#include "api/robots/model/model.h"

enum {
    STATES   = 32, /* states of one robot: few enough to stay in cache */
    MAX_RUNS = 1000
};

typedef struct robot {
    char       label[64];
    dyn_model *model;
    api_model *named; /* bundled model that owns `model`; NULL: the robot itself owns it */
    dyn_frame  tip;
} robot;

robot robot_from_file(const char *path); /* a model document; on failure prints a message and exits */
robot robot_humanoid(void);     /* 31 revolute joints in a tree of limbs with axes at right angles or parallel */
robot robot_general_tree(void); /* the same tree with axes in all directions */
robot robot_general_arm(void);  /* 7 revolute joints; no angle or length is special */
robot robot_chain(int joints);  /* an arm of that kind with this number of joints */
void  robot_release(robot *r);

/* Returns kernels with one lane: those of the target fma where the processor has it, else of scalar. */
const dyn_kernels *one_lane(void);

/* Holds random states in blocks of the kernels' width, the same states for every width, and memory for results. */
typedef struct states {
    double *q, *qd, *qdd, *qddd, *tau; /* within [-1, 1]; quaternions have length 1 */
    double *out[4];
    void   *workspace;
} states;

/* Allocates zeroed memory aligned for lanes; free() frees it. Ends the program if there is none. */
void *aligned(size_t bytes);

/* `entries`: numbers per state in each array of `out`. */
void states_prepare(states *s, const dyn_model *m, const dyn_kernels *kernels, size_t n_states, size_t entries);
void states_release(states *s);

/* Returns ns per state of `pass`, which evaluates `n_states` states: processor time of passes that take half a
 * millisecond. */
double ns_per_state(void (*pass)(void *what), void *what, size_t n_states);

/* Reads the number of runs, at most MAX_RUNS, the only argument of the programs; if it is wrong prints the usage and
 * exits. */
size_t runs_asked(int argc, char **argv, long otherwise);
void   sort_runs(double *runs, size_t n); /* sorts in ascending order: least first, median in the middle */
