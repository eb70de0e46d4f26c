/* task_inertia.h - computes the inertia of a robot as seen along k directions, those of a task or of contacts: one
 * state, no lanes, by LAPACK.
 *
 * With J the Jacobian of these directions, M = L L^T, and the singular value decomposition L^-1 J^T = U S V^T:
 *
 *     Lambda = (J M^-1 J^T + damping^2)^-1 = V (S^2 + damping^2)^-1 V^T,
 *     Jbar   = M^-1 J^T Lambda             = L^-T U S (S^2 + damping^2)^-1 V^T.
 *
 * If the rank of J is less than k and damping is zero, the inverse does not exist: a singular value below 1e-8 of the
 * largest counts as zero. A `redundant` task, that of contacts, finds the dependent directions by the rule of
 * dynamics/held_directions.h, and uses the pseudoinverse of the rank that remains. The solutions then have the least
 * norm.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Matrices are column-major as in LAPACK. The caller provides the arrays: dyn_task_entries doubles together. */
typedef struct dyn_task {
    size_t  nv, k;
    double  damping;
    bool    redundant; /* dependent or immobile directions are allowed */
    double *M;         /* nv x nv, lower triangle of the mass matrix; replaced by its factor L */
    double *X;         /* nv x k: J^T; replaced by Jbar of the first comment */
    double *U, *work;  /* scratch: singular vectors; memory of LAPACK */
    double *S;         /* k: singular values of L^-1 J^T, decreasing */
    double *Vt;        /* k x k: V^T, the right singular vectors */
    double *Lambda;    /* k x k: task-space inertia */
    /* With a redundant task: from G = J M^-1 J^T + damping^2 = L D L^T without dependent directions: L^T above the
     * diagonal, D on it; rows of dependent directions are zero. */
    double *LD;    /* k x k */
    double *basis; /* (nv + k) x k: scratch */
    /* k: eigenvalues of Lambda, increasing; the columns of V are its eigenvectors. Beyond the rank of a redundant task:
     * 0. */
    double *mass;
} dyn_task;

typedef enum dyn_task_status {
    DYN_TASK_DONE,
    DYN_TASK_SINGULAR,     /* rank of J < k, without damping or redundancy */
    DYN_TASK_NOT_COMPUTED, /* a number is not finite, or M is not positive definite */
} dyn_task_status;

size_t dyn_task_entries(size_t nv, size_t k);
void   dyn_task_lay_out(dyn_task *task, double *room); /* the caller sets task->nv and k */

/* Returns the largest absolute entry of a frame's Jacobian (6 x nv, entries W apart), in the unit of row `axis`;
 * `reach` converts rows of the other unit (dyn_point_reach). Entries far below this value are rounding errors, in a
 * direction in which no coordinate moves the frame: for a planar robot the one normal to its plane, for a frame on the
 * axis of the only joint every translation. */
double dyn_task_row_scale(const double *J, size_t nv, size_t W, size_t axis, double reach);

/* Copies one lane of a mass matrix (nv x nv) and of a Jacobian (k x nv), both in lanes of width W, to M and X. */
void dyn_task_take_lane(dyn_task *task, const double *mass_matrix, const double *J, size_t W, size_t lane);

dyn_task_status dyn_task_solve(dyn_task *task);

size_t dyn_task_rank(const dyn_task *task);

/* Returns the first direction of a redundant task that contradicts those before it, or k (held_directions.h). c (k) are
 * the accelerations along the directions, `sizes` (k) their S. */
size_t dyn_task_contradiction(const dyn_task *task, const double *c, const double *sizes);
