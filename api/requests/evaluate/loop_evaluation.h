/* loop_evaluation.h - evaluate requests for models with loops: close the loops before operations call the kernels of
 * loop_kernels.h, which look like those of a tree. */
#pragma once
#include "api/requests/lanes/evaluation.h"

/* A motion between its samples, as functions of the code that samples it. */
typedef struct api_loop_curve {
    /* Writes the actuated coordinates q of a row's motion at the fraction s between sample n - 1 (s = 0) and n (s = 1).
     */
    void (*go)(const void *arg, size_t row, size_t n, double s, double *q);
    /* Returns an upper bound of the travel of any coordinate between samples n - 1 and n, in units of dyn_loops.travel.
     */
    double (*length)(const void *arg, size_t row, size_t n);
    /* Returns the time, in s, at the fraction s between samples n - 1 and n. */
    double (*time)(const void *arg, size_t row, size_t n, double s);
    const void *arg;
} api_loop_curve;

/* Finds plan->passive, the passive coordinates of all samples of motions: of the first sample like those of a single
 * state, of the others by following the motion. False with a problem. */
bool api_loop_follow(api_plan *plan, const api_loop_curve *curve);

/* Allocates the workspace of the kernels for one slot. NULL with a problem. */
void *api_loop_open_workspace(api_evaluation *e);

/* Closes the loops of a block of states. False with a problem of the first state whose loops cannot be closed; where
 * rows fail alone the problems are recorded and the result is true. */
bool api_loop_close_block(const api_evaluation *e, size_t block);

/* Writes the loop state (loop_state.h) of a block whose loops are closed into `lanes`, the lanes of all states.
 * `motion` gives its velocities, accelerations and wrenches; the results of `motion` are not written. */
void api_loop_state_put(const api_evaluation *e, const dyn_scene *scene, const dyn_inverse_dynamics *motion,
                        double *lanes, size_t block);
