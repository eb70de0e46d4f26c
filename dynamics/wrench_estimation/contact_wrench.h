/* contact_wrench.h - estimates the wrench at a frame from the torques that it causes.
 *
 * Let J be the rows of the frame's Jacobian along the chosen axes, and tau_e = J^T w + noise the torques. The estimate
 * w minimises the sum of ((tau_e - J^T w) / sigma)^2, with the standard deviations sigma of the noise. If the torques
 * have the variances v sigma^2, the covariance of w is A^+ diag(v) A^+^T with A = diag(1 / sigma) J^T. */
#pragma once
#include "dynamics/memory/memory.h"
#include <stdbool.h>
#include <stddef.h>

enum { DYN_WRENCH_AXES = 6 };

typedef struct dyn_contact_wrench {
    size_t        nv, n, stride;         /* n axes, at most nv; stride: distance of the entries of a state's arrays */
    int           axis[DYN_WRENCH_AXES]; /* [n] chosen rows of the Jacobian */
    const double *sigma;                 /* [nv] standard deviations, N m or N; NULL: all 1 */
    dyn_deadline  deadline;
} dyn_contact_wrench;

/* Inputs and results of one state. */
typedef struct dyn_contact_wrench_state {
    const double *jacobian;   /* 6 x nv */
    const double *tau;        /* nv: tau_e, N m or N */
    const double *variance;   /* [nv], consecutive entries: v; NULL: all 1 */
    double       *wrench;     /* 6: w; 0 along axes that are not chosen */
    double       *covariance; /* n x n; NULL: not requested */
    double       *remainder;  /* nv: tau_e - J^T w; NULL: not requested */
} dyn_contact_wrench_state;

/* Returns the number of doubles of the scratch memory `room` of dyn_contact_wrench_find. */
size_t dyn_contact_wrench_room(size_t nv, size_t n, bool covariance);

/* Estimates the wrench. Returns false, and writes nothing, if the torques do not determine it or the deadline has
 * passed. */
bool dyn_contact_wrench_find(const dyn_contact_wrench *w, double *room, const dyn_contact_wrench_state *state);
