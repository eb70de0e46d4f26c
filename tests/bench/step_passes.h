/* step_passes.h - declares the passes of kernel_passes that need `work` of a workload. */
#pragma once
#include "dynamics/dynamics.h"

/* Each takes a workload. Steps have A and B, and are of semi-implicit Euler unless the name says otherwise. */
void pass_step(void *what);
void pass_held_step(void *what);    /* the tip does not move along x, y and z */
void pass_impact_step(void *what);  /* and stops before */
void pass_step_columns(void *what); /* with the derivatives by the inertial parameters */
void pass_runge_kutta_step(void *what);
void pass_implicit_step(void *what);
void pass_held_sensitivity(void *what); /* forward sensitivity, the tip held in the same way */

/* Returns the scratch memory that is sufficient for each of these passes over one block; the caller frees it. */
double *allocate_step_work(const dyn_scene *scene, const dyn_kernels *kernels);
