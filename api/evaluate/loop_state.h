/* loop_state.h - the output `full` of models with loops: all there is to know of a state. An object of arrays, whose
 * lanes stand one array after the other. */
#pragma once
#include "evaluation.h"

enum { API_FULL_PARTS = 6 };

/* One of the arrays, of a state: q, qd and qdd of the tree, G (dqd_tree/dqd), loop_wrenches, residual. */
typedef struct api_full_part {
    const char *name;
    size_t      entries, rank, extent[2]; /* row-major */
    bool        turned;                   /* its last axis is of the model's coordinates */
} api_full_part;

/* Of a model with loops, in the order of their lanes; and entries of a state in all of them, 0 without loops. */
void   api_full_parts(const api_model *model, api_full_part parts[API_FULL_PARTS]);
size_t api_full_entries(const api_model *model);

/* Puts a block whose loops are closed (loop_evaluation.h) into lanes of all states, with the accelerations, wrenches
 * and efforts of `motion`, whose results are left alone. */
void api_full_put(const api_evaluation *e, const dyn_scene *scene, const dyn_inverse_dynamics *motion, double *lanes,
                  size_t block);
