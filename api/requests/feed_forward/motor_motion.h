/* motor_motion.h - compute motions of the motors of elastic joints that move the links along a given motion.
 *
 * All motors first follow their joints, theta = q. The residual of the joints' rows (motor_orders.h) and its time
 * derivatives, those of torque_series.h, then correct the motors by delta = theta - q in one pass for each level:
 * after pass n the motors of joints up to level n move as they must. A correction obeys
 *
 *     d delta' + k delta = residual.
 *
 * Without a damper, each pass adds residual / k. With a damper, the pass of the joint's level sets delta: from a
 * given position of the motor, whose delta is 0, or from deflections that are integrated along all states. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "motor_orders.h"

enum { API_GIVEN_ORDERS = 4 /* q and its derivatives up to this order are fields of their own */ };

typedef struct api_motor_motion {
    api_motor_orders orders;
    bool             positions_given; /* theta of joints with dampers is that of q of the request */
    /* [n_couplings] for joints with dampers: [states][order.motion + 1] numbers, where api_motor_motion_load writes
     * residuals, and api_motor_motion_find reads deltas. NULL: nothing is integrated. */
    double **series;
    bool     all_integrated; /* true: every elastic joint has a series */
} api_motor_motion;

/* Lanes of a block. */
typedef struct api_motor_lanes {
    double *motion;   /* q, qd, qdd, ... up to the order that the torques depend on */
    double *residual; /* nv each: tau and its derivatives; residuals in the rows of elastic joints */
    double *work;     /* scratch of the kernel */
} api_motor_lanes;

/* Returns the entries per state of q and its derivatives up to an order. */
static inline size_t api_motion_entries(const api_model *model, size_t order)
{
    return model->nq + order * model->nv;
}

/* Returns the entries per state of api_motor_lanes. */
size_t api_motor_lanes_entries(const api_model *model, const api_motor_orders *orders);

/* Divides the lanes at `next`; returns the first lane after them in *next. */
api_motor_lanes api_motor_lanes_place(const api_evaluation *e, const api_motor_orders *orders, double **next);

/* Returns the derivative of q of this order, of all coordinates. */
static inline double *api_motor_derivative(const api_evaluation *e, const api_motor_lanes *b, size_t order)
{
    return b->motion + (order > 0 ? api_motion_entries(e->model, order - 1) : 0) * e->lanes;
}

/* Writes the motion of the block's states, with all motors, into b->motion. */
void api_motor_motion_find(const api_evaluation *e, const api_motor_motion *m, const api_motor_lanes *b, size_t block);

/* Writes the residuals of the block's states into the series of the joints with dampers of this level. The series of
 * lower levels must contain deltas. */
void api_motor_motion_load(const api_evaluation *e, const api_motor_motion *m, const api_motor_lanes *b, size_t level,
                           size_t block);
