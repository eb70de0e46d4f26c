/* rigid_contact_solver.h - solves for the forces of planes on rigid points of a robot, of one state without lanes.
 *
 * Contact i has the rows 3i and 3i + 1 along two tangents of its plane and 3i + 2 along its normal, out of the ground;
 * J are these rows of the points' Jacobian. With M = L L^T, X = L^-1 J^T and A = X^T X, forces f give
 *
 *     a = A f + b,
 *
 * accelerations (b = J qdd_0 + J' qd, with qdd_0 without these forces, f in N) or, in an impact, velocities (b from
 * those before it, f in N s). The forces satisfy
 *
 *     normal:   f_n >= 0, a_n >= 0, f_n a_n = 0                                        (Signorini's condition)
 *     sticking: |f_t| <= mu f_n, and a_t = 0 inside the cone or a_t = -c f_t, c >= 0, on it   (Coulomb's friction)
 *     sliding:  f_t = -mu f_n d, with the direction d of the sliding motion.
 *
 * A linear system, from which contacts that would pull are removed one by one, gives the forces of least norm as long
 * as they lie in all friction cones. If they do not, projected Gauss-Seidel continues from there (Jean & Moreau 1992).
 * Then Newton's method for the same projections (Alart & Curnier 1991) ends when their residual is below
 * DYN_RIGID_RESIDUAL of the largest force, or at most DYN_RIGID_ACCEPTED and no longer decreasing. If it fails, up to
 * four longer rounds of both follow, then Newton's method from the forces of slightly less friction, and from random
 * forces. */
#pragma once
#include "dynamics/memory/memory.h"
#include "dynamics/step.h"

#define DYN_RIGID_RESIDUAL 1e-12
#define DYN_RIGID_ACCEPTED 1e-9

enum { DYN_RIGID_ROWS = 3, DYN_MAX_RIGID = DYN_MAX_HELD };

/* A point of the robot that must not enter the ground beyond a plane. */
typedef struct dyn_rigid_contact {
    dyn_frame frame;       /* the point is its origin */
    double    point[3];    /* a point of the plane, m, world axes */
    double    normal[3];   /* unit vector, world axes, out of the ground */
    double    restitution; /* e of Newton's law of restitution, 0 to 1 */
    double    friction;    /* coefficient mu */
    double    resting;     /* m/s: a contact that separates more slowly than this after an impact closes */
} dyn_rigid_contact;

typedef enum dyn_rigid_mode { DYN_RIGID_OPEN, DYN_RIGID_STICKS, DYN_RIGID_SLIDES } dyn_rigid_mode;

typedef struct dyn_rigid_problem {
    size_t         nv, n;                       /* coordinates; contacts of the problem, at most DYN_MAX_RIGID */
    dyn_rigid_mode mode[DYN_MAX_RIGID];         /* sticks or slides */
    double         direction[DYN_MAX_RIGID][2]; /* d of sliding contacts, along two tangents */
    double         friction[DYN_MAX_RIGID];     /* coefficients mu */
    /* Matrices are column-major. */
    double *L;      /* nv x nv, the lower triangle of M, then L */
    double *X;      /* nv x 3n: J^T, then X */
    double *A;      /* 3n x 3n: X^T X */
    double *b;      /* 3n: a without forces */
    double *force;  /* 3n: f, N or N s */
    double *left;   /* 3n: a = A f + b */
    double *change; /* nv: scratch */
    double *system; /* 3n x 3n: scratch of the linear system */
    double *right;  /* 3n: scratch, its right side and solution */
    double *work;   /* scratch of LAPACK */
} dyn_rigid_problem;

/* Returns the number of doubles in the arrays of a problem with nv coordinates and up to n contacts. */
size_t dyn_rigid_problem_entries(size_t nv, size_t n);

/* Places the arrays of a problem with up to n contacts, whose nv is set, in the memory `room`. */
void dyn_rigid_problem_lay_out(dyn_rigid_problem *p, size_t n, double *room);

/* Replaces M by L and J^T by X, and computes A. Returns false if M is not positive definite or a number is not
 * finite. */
bool dyn_rigid_problem_factor(dyn_rigid_problem *p);

/* Finds forces f, and a, that satisfy the conditions above. Returns false if none are found: with friction none may
 * exist (Painlevé 1895), or the deadline has passed. */
bool dyn_rigid_problem_solve(dyn_rigid_problem *p, dyn_deadline deadline);

/* Sets f to the forces of least norm, pulling or not and without friction, that give a = 0 along the normals of all
 * contacts and the tangents of sticking contacts. Returns false if a number is not finite. */
bool dyn_rigid_problem_hold(dyn_rigid_problem *p);

/* Adds M^-1 J^T f to x (nv entries, `stride` apart). */
void dyn_rigid_problem_add_change(const dyn_rigid_problem *p, double *x, size_t stride);
