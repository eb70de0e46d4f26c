/* loop_constraints.h - finds the accelerations of a mechanism with loops whose frames are held, or whose coordinates
 * stop within a step, with their derivatives.
 *
 * All quantities are those of the actuated coordinates (dynamics/loops/loop_kernels.h). J (k x nv) has the rows of
 * the held directions, then a unit row for each coordinate that stops. With Jbar = M^-1 J^T (J M^-1 J^T)^+ and the
 * accelerations qdd_0 without these constraints,
 *
 *     qdd = qdd_0 - Jbar b,  b = J qdd_0 + J' qd, or qdd_0 + qd / h where a coordinate stops,
 *     dqdd/dx = -K dtau/dx - Jbar C_x,  dqdd/dtau = K = M^-1 - Jbar J M^-1,
 *
 * where dtau/dx is the derivative of inverse dynamics at constant qdd and constraint efforts, and C_x that of J qdd +
 * J' qd at constant qdd. The same equations hold for trees in dynamics/algorithms/held_derivatives.h. Damped contacts
 * have Jbar = M^-1 J^T (J M^-1 J^T + damping)^-1. */
#pragma once
#include "dynamics/contact/contact.h"
#include "dynamics/loops/lane_matrix.h"
#include "dynamics/loops/loop_step.h"

/* The constraints of one block of a step. Arrays are in lanes. */
typedef struct api_loop_constraints {
    const dyn_kernels  *kernels; /* kernels of models with loops */
    const dyn_scene    *scene;   /* scene of the tree */
    dyn_loop_workspace *closed;
    const dyn_held_set *contact; /* the held frames; NULL: none */
    const dyn_step     *io;      /* the step: the points of the held frames, and the coordinates to stop */
    size_t              nv, k, W;
    dyn_contact_block   held;                /* M, and the rows of J of the held directions */
    dyn_task            task;                /* all rows of J, for one state */
    double             *J, *b, *l;           /* k x nv, k, k: J, b, and the efforts l with the opposite sign */
    double             *Jbar, *JM;           /* nv x k; k x nv: J M^-1 */
    double *C_q, *C_qd, *T_q, *T_qd, *T_qdd; /* k x nv each: C with respect to q and qd; nv x nv each: derivatives of
                                                tau with respect to q, qd and qdd */
    double *frame_J, *v_q, *a_q, *a_qd;      /* 6 x nv, of one frame: scratch */
    double *velocity, *wrenches;             /* 6, of one frame: scratch; 9 of each wrench */
    size_t  contradictory[DYN_MAX_LANES];    /* for each lane: 1 + the first contradictory row, or 0, as in dyn_step */
    bool    reported;                        /* true: io->contact_residual is written */
} api_loop_constraints;

/* Returns the kernels and the deadline for products of matrices (lane_matrix.h). */
static inline dyn_lanes api_loop_constraints_lanes(const api_loop_constraints *s)
{
    return (dyn_lanes){s->kernels, s->scene->deadline};
}

/* A motion at which the constraints are differentiated: the accelerations of the robot, and those in the rows J. */
typedef struct api_constrained_motion {
    const double *q, *qd, *qdd, *qdd_of_rows;
} api_constrained_motion;

/* Lays the arrays out in `lanes`, where the fields from kernels to W are set but k. Returns their entries per state.
 * `lanes` NULL: counts only. */
size_t api_loop_constraints_lay_out(api_loop_constraints *s, double *lanes);

/* Computes qdd at a state whose loops are closed, and the derivatives of qdd unless io->dqdd_dq is NULL. Callback for
 * dyn_loop_stepper.accelerate; `constraints` is an api_loop_constraints. */
void api_loop_constrained_accelerate(void *constraints, const dyn_forward_sensitivity *io);

/* Sets M and its inverse, J, and s->b = J' qd, of the held directions and, with a duration h > 0, of the coordinates
 * that stop. */
void api_loop_constraints_set_rows(api_loop_constraints *s, const double *q, const double *qd);

/* Finds Jbar and the efforts s->l in all lanes for s->b + J x, and subtracts Jbar (s->b + J x) from `to`. x are the
 * accelerations without constraints; at an `impact` they are velocities, which do not contradict each other and are not
 * damped. */
void api_loop_constraints_solve(api_loop_constraints *s, const double *x, double *to, bool impact);

/* Differentiates the accelerations with the efforts s->l. `scene` has no held frames; a_qd NULL: not computed. */
void api_loop_constraints_differentiate(api_loop_constraints *s, const dyn_scene *scene,
                                        const api_constrained_motion *at, double *a_q, double *a_qd, double *K);
