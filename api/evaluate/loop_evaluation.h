/* loop_evaluation.h - requests for models with loops (loops.h): their kernels are those of loop_kernels.h, which
 * operations call as they would those of a tree; and `guess`, from where loops are closed. */
#pragma once
#include "api/lanes/evaluation.h"

/* Motions between their samples, as whoever samples them knows them. */
typedef struct api_loop_curve {
    /* Actuated coordinates of a row's motion between sample n - 1 (s = 0) and n (s = 1). */
    void (*go)(const void *arg, size_t row, size_t n, double s, double *q);
    /* At most so long is the way of any coordinate between these two (api_loops.travel). */
    double (*length)(const void *arg, size_t row, size_t n);
    /* The time at the fraction s of the way between these two, s. */
    double (*time)(const void *arg, size_t row, size_t n, double s);
    const void *arg;
} api_loop_curve;

/* Before the samples of motions are evaluated: finds plan->passive, the passive coordinates of each, the first as of a
 * row, the others along the motion. False with a problem. */
bool api_loop_follow(api_plan *plan, const api_loop_curve *curve);

/* The kernels' workspace of a slot. NULL with a problem. */
void *api_loop_open_workspace(const api_evaluation *e);

/* Closes the loops of a block of states; false with a problem of the first that cannot be, unless rows fail alone. */
bool api_loop_close_block(const api_evaluation *e, size_t block);

/* Puts the state of a block whose loops are closed into lanes of all states (loop_state.h): with the accelerations,
 * wrenches and efforts of `motion`, whose results are not written. */
void api_loop_state_put(const api_evaluation *e, const dyn_scene *scene, const dyn_inverse_dynamics *motion,
                        double *lanes, size_t block);
