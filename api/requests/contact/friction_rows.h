/* friction_rows.h - sets up the friction problem (friction_problem.h) of one state: the rows W that give the rates of
 * joints and motors from the velocities of the model, and A = W K W^T, with held frames eliminated.
 *
 * With M = L L^T and the singular value decomposition L^-1 J^T = U S V^T of the held rows J (task_inertia.h), K = L^-T
 * (1
 * - U U^T) L^-1. Hence A = Y^T Y with Y = (1 - U U^T) L^-1 W^T: rounding keeps A positive semidefinite. */
#pragma once
#include "contact.h"
#include "dynamics/contact/friction_problem.h"
#include "dynamics/contact/stiction.h"

/* The rows of one state. The caller provides all arrays. */
typedef struct api_friction_rows {
    size_t  n, nv;
    double *W;                      /* n x nv */
    double *A, *b;                  /* n x n; n */
    double *positive, *negative;    /* n: limits */
    double *free_diagonal, *size;   /* n: of dyn_friction_problem; set with held frames only */
    double *L, *qdd, *held_qdd, *Y; /* nv, nv: accelerations without and with held frames; nv x n: scratch */
    double *f;                      /* n: result */
    bool   *follows;                /* n: result */
    int    *side;                   /* n: result */
    double *room;                   /* scratch of the problem */
    bool    with_held;              /* free_diagonal and size are set */
} api_friction_rows;

/* Lays out arrays for at most n rows in api_friction_rows_entries(n, nv) doubles. */
size_t            api_friction_rows_entries(size_t n, size_t nv);
api_friction_rows api_friction_rows_lay_out(size_t n, size_t nv, double *room);

/* Lists the joints and motors of a model that can stick, at most nv + n_drives of its dyn_model. Returns their number.
 */
size_t api_friction_rows_list(const api_model *model, dyn_stiction_joint *joints);

/* Returns the name of a joint or motor, for messages. */
const char *api_friction_row_name(const api_model *model, const dyn_stiction_joint *joint);

/* Velocities of a model in lanes, and for models with loops G, with qd_tree = G qd. */
typedef struct api_friction_state {
    const api_model *model;
    const double    *G;  /* tree nv x nv; NULL: no loops */
    const double    *qd; /* nv; NULL: zero */
    size_t           W, lane;
    bool             fused; /* arithmetic of the kernels (dynamics.h) */
} api_friction_state;

/* Writes the row of a joint or motor to `row` (nv). */
void api_friction_row_fill(const api_friction_state *s, const dyn_stiction_joint *joint, double *row);

/* Returns the rate of a motor of a model without loops, summed as the kernels sum it. */
double api_friction_motor_rate(const api_friction_state *s, const dyn_drive *drive);

/* True if the rate of a joint or motor is exactly zero, as the kernels compute it. A passive joint rests where the
 * model does. */
bool api_friction_row_rests(const api_friction_state *s, const dyn_stiction_joint *joint);

/* Set A and b = W qdd of rows whose W is set, from accelerations qdd (nv in lanes) without held frames: from the mass
 * matrix M (nv x nv in lanes), or with held frames, for which api_contact_solve has solved lane s->lane. Driven
 * coordinates have given accelerations (`driven` [nv], NULL: none; those of `held` with held frames). Return false if M
 * is not positive definite. */
bool api_friction_rows_set(api_friction_rows *r, const api_friction_state *s, const double *M, const bool *driven,
                           const double *qdd);
bool api_friction_rows_set_held(api_friction_rows *r, const api_friction_state *s, const api_contact_block *held,
                                const double *qdd);

/* Solves the problem: sets r->f and r->side. */
dyn_friction_status api_friction_rows_solve(const api_friction_rows *r, dyn_deadline deadline);
