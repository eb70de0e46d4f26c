/* least_margins.h - find the least margin of every limit along each motion, with its gradients.
 *
 * The gradient of a least margin is that at the sample which has it, the first of several. */
#pragma once
#include "api/robots/model/limits.h"
#include "api/codec/emit.h"
#include "motion.h"
#include "dynamics/trajectory_gradients/motion_chain.h"

typedef struct api_least_margins {
    const api_motion     *motion;
    const api_limit_list *limits;
    double *margins; /* lanes of all states, limits->n numbers a state (dynamics/trajectory_gradients/margins.h) */
    double *sides;   /* lanes of all states: sides, then speed sides, limits->n numbers each (dyn_limit_margin) */
    /* [rows][limits->n] gradients with respect to control points (n x nv), duration and knots; NULL: not wanted */
    double *gradients;
} api_least_margins;

/* Returns the sample of motion `row` with the least margin of limit i. */
size_t api_least_margin_sample(const api_evaluation *e, const api_least_margins *l, size_t row, size_t i);

/* Fails the motions with margins that are not finite. Returns false with a problem. */
bool api_least_margins_check(const api_evaluation *e, const api_least_margins *l);

/* Allocates memory for the gradients from the pool. Returns false with a problem. */
bool api_least_gradients_take(const api_query *q, api_least_margins *l);

/* Stores the gradient of limit i at a state, from the partial derivatives of the margins of its block. `room` has
 * api_least_gradient_room doubles a state. Returns false with a problem. */
bool   api_least_gradient_store(const api_evaluation *e, const api_least_margins *l, const dyn_partials *margins,
                                size_t state, size_t i, double *room);
size_t api_least_gradient_room(const api_motion *motion, size_t nv);

/* Write the outputs: of each motion a list with an object for each limit; null for a motion that failed. Before the
 * evaluation the functions write as many numbers. */
void api_least_margins_emit(const api_plan *plan, const api_least_margins *l, api_emit *to);
void api_least_gradients_emit(const api_plan *plan, const api_least_margins *l, api_emit *to);
