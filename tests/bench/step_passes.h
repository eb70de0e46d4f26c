/* step_passes.h - declares the passes of kernel_passes that need `work` of a workload. */
#pragma once
#include "dynamics/dynamics.h"

/* Each pass takes a workload. Steps compute A and B, and are of semi-implicit Euler unless the name says otherwise. */
void pass_step(void *what);
void pass_held_step(void *what);    /* the tip does not move along x, y and z */
void pass_impact_step(void *what);  /* the tip is held, and an impact stops it before the step */
void pass_step_columns(void *what); /* with the derivatives by the inertial parameters */
void pass_runge_kutta_step(void *what);
void pass_implicit_step(void *what);
void pass_held_sensitivity(void *what); /* forward sensitivity with the tip held along x, y and z */

/* Returns the scratch memory that is sufficient for each of these passes over one block; the caller frees it. */
double *allocate_step_work(const dyn_scene *scene, const dyn_kernels *kernels);
