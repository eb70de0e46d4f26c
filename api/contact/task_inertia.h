/* task_inertia.h - the inertia that k directions feel through a robot of nv coordinates, of a task or of contacts: one
 * state, plain numbers, by LAPACK.
 *
 * With J the Jacobian of these directions, M = L L^T and the singular values L^-1 J^T = U S V^T,
 *
 *     Lambda = (J M^-1 J^T + damping^2)^-1 = V (S^2 + damping^2)^-1 V^T,
 *     Jbar   = M^-1 J^T Lambda             = L^-T U S (S^2 + damping^2)^-1 V^T.
 *
 * Where J has a lower rank than k the first inverse does not exist; a `redundant` task has the pseudo-inverse in its
 * place, without the singular values that count as zero: what then is solved is solved with the least norm. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Matrices are in columns, as LAPACK has them. The arrays are the caller's, api_task_entries numbers together. */
typedef struct api_task {
    size_t  nv, k;
    double  damping;
    bool    redundant; /* directions that depend on each other, or do not move, are no fault */
    double *M;         /* nv x nv, the lower half counts; becomes L */
    double *X;         /* nv x k: J^T; becomes Jbar */
    double *U, *work;  /* inner */
    double *S;         /* k: singular values, the largest first */
    double *Vt;        /* k x k */
    double *Lambda;    /* k x k */
    double *mass;      /* k: eigenvalues of Lambda, the least first; their vectors are V's columns. Behind the rank of a
                        * redundant task 0 */
} api_task;

typedef enum api_task_status {
    API_TASK_DONE,
    API_TASK_SINGULAR,     /* J has a lower rank than k, there is no damping and no redundancy; S tells */
    API_TASK_NOT_COMPUTED, /* a figure is not finite, or M not positive */
} api_task_status;

size_t api_task_entries(size_t nv, size_t k);
void   api_task_lay_out(api_task *task, double *room); /* nv and k are set */

/* Of a frame's Jacobian, 6 x nv with entries W apart: the greatest entry of the three rows that share axis's unit. What
 * is below a small part of it along an axis is what rounding left where nothing moves the frame. */
double api_task_row_scale(const double *J, size_t nv, size_t W, size_t axis);

/* One row of it into column a of X: zeros where it is nothing beside its reach. */
void api_task_set_row(api_task *task, size_t a, const double *row, size_t W, double reach);

api_task_status api_task_solve(api_task *task);

size_t api_task_rank(const api_task *task);
