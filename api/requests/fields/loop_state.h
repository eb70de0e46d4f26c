/* loop_state.h - lists the arrays of the output `full`, which describes a state of a model with loops completely: the
 * motion of the spanning tree and the wrenches in the loops. The lanes of one array follow those of another. */
#pragma once
#include "api/robots/model/model.h"

enum { API_LOOP_STATE_PARTS = 6 };

/* One array of the output `full`: q, qd or qdd of the tree, G (dqd_tree/dqd), loop_wrenches, or residual. */
typedef struct api_loop_state_part {
    const char *name;
    size_t      entries, rank, extent[2]; /* numbers of the array; its shape, row-major */
    bool        turned; /* true: the last axis is that of the model's coordinates, so that "joints" reorders it */
} api_loop_state_part;

/* api_loop_state_parts lists the arrays in the order of their lanes. api_loop_state_entries returns the number of
 * entries of all arrays of a state, 0 for a model without loops. */
void   api_loop_state_parts(const api_model *model, api_loop_state_part parts[API_LOOP_STATE_PARTS]);
size_t api_loop_state_entries(const api_model *model);
