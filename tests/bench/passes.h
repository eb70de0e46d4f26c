/* passes.h - declares the kernels as the benchmark programs call them: one pass over some states that are in cache. */
#pragma once
#include "robots.h"

/* Holds states of one robot at one width, and the kernels' scratch memory. */
typedef struct workload {
    const dyn_kernels *kernels;
    dyn_scene          scene;
    states             states;
    dyn_frame          tip; /* frame of the Jacobians */
    size_t             blocks;
    double            *work;            /* scratch of steps and of held frames */
    double            *motion, *series; /* motion: q and its derivatives; series: scratch of the derivatives of tau */
} workload;

/* `n_states`: a multiple of all widths; `entries`: numbers per state in the largest result. */
void workload_prepare(workload *w, const robot *r, const dyn_kernels *kernels, size_t n_states, size_t entries);
void workload_release(workload *w);

typedef struct kernel_pass {
    const char *name;
    void (*pass)(void *workload);
    bool per_joint;  /* the cost is, or should be, proportional to the number of joints */
    bool fixed_base; /* not measured for a robot with a floating base */
} kernel_pass;

enum { N_KERNELS = 37 };
extern const kernel_pass kernel_passes[N_KERNELS];
