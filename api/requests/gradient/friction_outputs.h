/* friction_outputs.h - the output gradient_friction of the operations gradient and forward-gradient: derivatives by the
 * parameters of friction of each mover. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "dynamics/friction_gradient.h"

/* The row of the output. */
#define API_FRICTION_OUTPUT_ROW(output) [output] = {"gradient_friction", false, {API_MOVERS, DYN_FRICTION_PARAMETERS}}

/* The lanes of one block. */
typedef struct api_friction_state {
    const double *q, *qd, *qdd, *wrenches;
    const double *multipliers; /* of the torques of inverse dynamics */
    double        sign;        /* the gradient is that of sign times multipliers . tau */
} api_friction_state;

/* Counts the scratch numbers of a state. */
size_t api_friction_spare(const api_model *model, const api_selection *selected, size_t output);

/* Writes the output of a block, if it is selected; `spare` has api_friction_spare numbers for each state. */
void api_friction_put(const api_evaluation *e, const api_selection *selected, size_t output, size_t block,
                      const api_friction_state *state, double *spare);
