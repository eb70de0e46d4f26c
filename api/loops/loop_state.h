/* loop_state.h - the output `full` of models with loops: all there is to know of a state. An object of arrays, whose
 * lanes stand one array after the other. */
#pragma once
#include "api/model/model.h"

enum { API_LOOP_STATE_PARTS = 6 };

/* One of the arrays, of a state: q, qd and qdd of the tree, G (dqd_tree/dqd), loop_wrenches, residual. */
typedef struct api_loop_state_part {
    const char *name;
    size_t      entries, rank, extent[2]; /* row-major */
    bool        turned;                   /* its last axis is of the model's coordinates */
} api_loop_state_part;

/* Of a model with loops, in the order of their lanes; and entries of a state in all of them, 0 without loops. */
void   api_loop_state_parts(const api_model *model, api_loop_state_part parts[API_LOOP_STATE_PARTS]);
size_t api_loop_state_entries(const api_model *model);
