/* task_inertia.h - the inertia that k directions of a task feel through a robot of nv coordinates: one state, plain
 * numbers, by LAPACK.
 *
 * With J the task's Jacobian, M = L L^T and the singular values L^-1 J^T = U S V^T,
 *
 *     Lambda = (J M^-1 J^T + damping^2)^-1 = V (S^2 + damping^2)^-1 V^T,
 *     Jbar   = M^-1 J^T Lambda             = L^-T U S (S^2 + damping^2)^-1 V^T. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { API_TASK_AXES = 6 };

/* Matrices are in columns, as LAPACK has them. The arrays are the caller's, api_task_room numbers together. */
typedef struct api_task {
    size_t  nv, k; /* k <= API_TASK_AXES */
    double  damping;
    double *M;                                     /* nv x nv, the lower half counts; becomes L */
    double *X;                                     /* nv x k: J^T; becomes Jbar */
    double *U, *work;                              /* inner */
    double  S[API_TASK_AXES];                      /* singular values, the largest first */
    double  Vt[API_TASK_AXES * API_TASK_AXES];     /* k x k */
    double  Lambda[API_TASK_AXES * API_TASK_AXES]; /* k x k */
    double  mass[API_TASK_AXES]; /* eigenvalues of Lambda, the least first; their vectors are V's columns */
} api_task;

typedef enum api_task_status {
    API_TASK_DONE,
    API_TASK_SINGULAR,     /* J has a lower rank than k, and there is no damping; S tells */
    API_TASK_NOT_COMPUTED, /* a figure is not finite, or M not positive */
} api_task_status;

size_t api_task_room(size_t nv, size_t k);
void   api_task_place(api_task *task, double *room); /* nv and k are set */

api_task_status api_task_solve(api_task *task);

size_t api_task_rank(const api_task *task);
