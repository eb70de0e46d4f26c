/* loop_evaluation.h - requests for models with loops (loops.h): their kernels are those of loop_kernels.h, which
 * operations call as they would those of a tree; and `guess`, from where loops are closed. */
#pragma once
#include "api/lanes/evaluation.h"
#include "api/model/loops.h"

/* Whether an output of an operation is for such a model, or for one without loops. False with a problem of what stands
 * at `at`. */
bool api_loop_takes_output(const api_evaluation *e, const struct api_operation *operation, size_t output,
                           const api_place *at);

/* After the operations are known. False with a problem. */
bool api_loop_check_request(api_evaluation *e);

/* What operations call: the target's kernels, or those over them. NULL with a problem. */
const dyn_kernels *api_loop_kernels_of(api_evaluation *e);

/* "guess", into lanes: beside the state. */
bool api_loop_measure_guess(api_evaluation *e);
bool api_loop_decode_guess(api_evaluation *e);

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

/* Before the samples of motions are evaluated: finds e->passive, the passive coordinates of each, the first as of a
 * row, the others along the motion. False with a problem. */
bool api_loop_follow(api_evaluation *e, const api_loop_curve *curve);

/* The kernels' workspace, of each seat. NULL with a problem. */
void *api_loop_open_workspace(api_evaluation *e);

/* Closes the loops of a block of states; false with a problem of the first that cannot be, unless rows fail alone. */
bool api_loop_close_block(const api_evaluation *e, size_t block);
