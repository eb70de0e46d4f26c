/* contact_wrench.h - estimates the wrench at a frame from the torques that it causes.
 *
 * With the rows J of the frame's Jacobian along the chosen axes and the torques tau_e = J^T w + noise, w minimises the
 * sum of ((tau_e - J^T w) / sigma)^2, with the standard deviations sigma of the noise. With variances v sigma^2 of the
 * torques, the covariance of w is A^+ diag(v) A^+^T, A = diag(1 / sigma) J^T. */
#pragma once
#include "dynamics/memory/memory.h"
#include <stdbool.h>
#include <stddef.h>

enum { DYN_WRENCH_AXES = 6 };

typedef struct dyn_contact_wrench {
    size_t        nv, n, stride;         /* n: axes, at most nv; entries of the arrays of a state are `stride` apart */
    int           axis[DYN_WRENCH_AXES]; /* [n] rows of the Jacobian */
    const double *sigma;                 /* [nv]; NULL: all 1 */
    dyn_deadline  deadline;
} dyn_contact_wrench;

/* One state. */
typedef struct dyn_contact_wrench_state {
    const double *jacobian;   /* 6 x nv */
    const double *tau;        /* nv */
    const double *variance;   /* [nv], entries 1 apart: v; NULL: all 1 */
    double       *wrench;     /* 6: 0 along axes that are not chosen */
    double       *covariance; /* n x n; NULL: not requested */
    double       *remainder;  /* nv: tau_e - J^T w; NULL: not requested */
} dyn_contact_wrench_state;

/* Returns the doubles that dyn_contact_wrench_find needs. */
size_t dyn_contact_wrench_room(size_t nv, size_t n, bool covariance);

/* Estimates the wrench. False: the torques do not determine it, or the deadline has passed; nothing is written. */
bool dyn_contact_wrench_find(const dyn_contact_wrench *w, double *room, const dyn_contact_wrench_state *state);
