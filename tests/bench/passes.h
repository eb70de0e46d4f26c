/* passes.h - the kernels as the benchmark programs call them: one pass over some states that are in cache. */
#pragma once
#include "robots.h"

/* States of one robot at one width, and what the kernels need beside them. */
typedef struct workload {
    const dyn_kernels *kernels;
    dyn_scene          scene;
    states             states;
    dyn_frame          tip; /* of Jacobians */
    size_t             blocks;
    double            *work;            /* of steps and of held frames */
    double            *motion, *series; /* of the series of tau: q and its derivatives, and scratch */
} workload;

/* `n_states`: a multiple of all widths; `entries`: the most that one state's result holds. */
void workload_prepare(workload *w, const robot *r, const dyn_kernels *kernels, size_t n_states, size_t entries);
void workload_release(workload *w);

typedef struct kernel_pass {
    const char *name;
    void (*pass)(void *workload);
    bool per_joint;  /* cost grows as the number of joints, or should */
    bool fixed_base; /* of a robot that moves freely it is not asked */
} kernel_pass;

enum { N_KERNELS = 31 };
extern const kernel_pass kernel_passes[N_KERNELS];
