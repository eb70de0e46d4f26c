/* loop_impact.h - finds the velocities of a mechanism with loops after a plastic impact that stops held frames, with
 * their derivatives.
 *
 * With the impulses p along the held directions (loop_constraints.h), M (v - qd) = J^T p and J v = 0: the equations of
 * held frames at rest, without gravity, springs and friction, in which v - qd takes the place of the accelerations of
 * the robot, and v that of the accelerations in the rows J (dynamics/algorithms/held_impact.h):
 *
 *     v = qd - Jbar J qd,  dv/dqd = 1 - Jbar J,  dv/dparameters = -K R, with the regressor R of M (v - qd). */
#pragma once
#include "loop_constraints.h"

/* An impact of one block. Arrays are in lanes. */
typedef struct api_loop_impact {
    api_loop_constraints *at;
    size_t                columns;        /* number of inertial parameters; 0: no derivatives with respect to them */
    double               *v, *change;     /* nv: velocities after the impact; v - qd */
    double               *v_q, *v_qd, *K; /* nv x nv each: dv/dq, dv/dqd, and K of loop_constraints.h */
    double               *regressor;      /* nv x columns: regressor of M (v - qd) */
    double               *row;            /* nv: scratch */
} api_loop_impact;

/* Lays the arrays out in `lanes`, where `at` and `columns` are set. Returns their entries per state. `lanes` NULL:
 * counts only. */
size_t api_loop_impact_lay_out(api_loop_impact *impact, double *lanes);

/* Finds the velocities at (q, qd), where the loops are closed, and if `differentiates` their derivatives. qd NULL means
 * zeros. */
void api_loop_impact_find(api_loop_impact *impact, const double *q, const double *qd, bool differentiates);

/* Turns the matrices of a step from the velocities after the impact into those of the step from the velocities before
 * it. */
void api_loop_impact_chain(const api_loop_impact *impact, const dyn_step *io);
