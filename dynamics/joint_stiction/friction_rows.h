/* friction_rows.h - sets up the friction problem (stiction_solver.h) of one state: the rows W that give the rates of
 * joints and motors from the velocities of the model, and A = W K W^T, with held frames eliminated.
 *
 * With M = L L^T and the singular value decomposition L^-1 J^T = U S V^T of the held rows J
 * (dynamics/contact/task_inertia.h), K = L^-T (1 - U U^T) L^-1. Hence A = Y^T Y with Y = (1 - U U^T) L^-1 W^T: rounding
 * keeps A positive semidefinite. */
#pragma once
#include "dynamics/contact/contact.h"
#include "dynamics/loops/mechanism.h"
#include "stiction_solver.h"
#include "stiction.h"

/* The rows of one state. The caller provides all arrays. */
typedef struct dyn_friction_rows {
    size_t  n, nv;
    double *W;                      /* n x nv */
    double *A, *b;                  /* n x n; n */
    double *positive, *negative;    /* n each: greatest friction against positive, negative motion */
    double *free_diagonal, *size;   /* n each: see dyn_friction_problem; set with held frames only */
    double *L, *qdd, *held_qdd, *Y; /* nv x nv: L of M; nv, nv: accelerations without and with held frames; nv x n: Y */
    double *f;                      /* n: result, friction of each joint or motor */
    bool   *follows;                /* n: result, true: the row follows others (dyn_friction_problem) */
    int    *side;                   /* n: result, 0: sticks; 1, -1: starts to move in positive, negative direction */
    double *room;                   /* scratch of dyn_friction_problem */
    bool    with_held;              /* true: free_diagonal and size are set */
} dyn_friction_rows;

/* Lays out arrays for at most n rows in dyn_friction_rows_entries(n, nv) doubles. */
size_t            dyn_friction_rows_entries(size_t n, size_t nv);
dyn_friction_rows dyn_friction_rows_lay_out(size_t n, size_t nv, double *room);

/* Lists the joints and motors of a mechanism that can stick in `joints`, an array of nv + n_drives entries of its tree.
 * Returns their number. */
size_t dyn_friction_rows_list(const dyn_mechanism *mechanism, dyn_stiction_joint *joints);

/* The state of a mechanism from which rows are computed: the velocities qd and, with loops, the matrix G of qd_tree = G
 * qd, both in lanes. Rows belong to the state in lane `lane`. */
typedef struct dyn_friction_state {
    size_t        nv;
    const double *G;  /* tree nv x nv; NULL: no loops */
    const double *qd; /* nv; NULL: zero */
    size_t        W, lane;
    bool          fused;    /* arithmetic of the kernels (dynamics.h) */
    dyn_deadline  deadline; /* checked while the problem is set up */
} dyn_friction_state;

/* Writes the row of a joint or motor to `row`: the nv coefficients of its rate, rate = row qd. */
void dyn_friction_row_fill(const dyn_friction_state *s, const dyn_stiction_joint *joint, double *row);

/* Returns the rate of a motor of a model without loops, with the order of additions and the rounding of the kernels. */
double dyn_friction_motor_rate(const dyn_friction_state *s, const dyn_drive *drive);

/* True if the rate of a joint or motor is exactly zero, as the kernels compute it. A passive joint of a loop is at rest
 * if all velocities of the model are zero. */
bool dyn_friction_row_rests(const dyn_friction_state *s, const dyn_stiction_joint *joint);

/* Set A and b = W qdd of rows whose W is set. qdd (nv in lanes) are the accelerations without held frames.
 * dyn_friction_rows_set is for robots without held frames, with the mass matrix M (nv x nv in lanes).
 * dyn_friction_rows_set_held is for robots with held frames, after dyn_contact_solve for lane s->lane. `driven` ([nv],
 * NULL: none) marks coordinates whose accelerations are given; with held frames `contacts` has this mark. Both
 * functions return false if M is not positive definite, or s->deadline has passed. */
bool dyn_friction_rows_set(dyn_friction_rows *r, const dyn_friction_state *s, const double *M, const bool *driven,
                           const double *qdd);
bool dyn_friction_rows_set_held(dyn_friction_rows *r, const dyn_friction_state *s, const dyn_contact_block *contacts,
                                const double *qdd);

/* Solves the problem: sets r->f and r->side. */
dyn_friction_status dyn_friction_rows_solve(const dyn_friction_rows *r, dyn_deadline deadline);
