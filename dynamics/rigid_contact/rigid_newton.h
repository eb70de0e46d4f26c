/* rigid_newton.h - refines the forces of a contact problem (rigid_contact_solver.h) by Newton's method, and declares
 * functions of the problem that both of its solvers call. */
#pragma once
#include "rigid_contact_solver.h"

#define DYN_RIGID_DEPENDENT 1e-10 /* pivots smaller than this part of the largest one belong to dependent rows */

enum { DYN_RIGID_MOST_ROWS = DYN_RIGID_ROWS * DYN_MAX_RIGID };

/* Refines p->force, and computes a. Returns true if the residual falls below DYN_RIGID_RESIDUAL of the largest force
 * or, if rounding errors prevent this, below DYN_RIGID_ACCEPTED of it; false otherwise, or if the deadline passes. */
bool dyn_rigid_refine(dyn_rigid_problem *p, dyn_deadline deadline);

/* Returns the number of rows of the problem, 3n. */
static inline size_t dyn_rigid_rows(const dyn_rigid_problem *p)
{
    return DYN_RIGID_ROWS * p->n;
}

/* Sets p->left to A f + b. */
void dyn_rigid_find_left(const dyn_rigid_problem *p);

/* True if forces can move the point of a contact along row a. */
bool dyn_rigid_is_mobile(const dyn_rigid_problem *p, size_t a);

/* Returns the friction along tangent j (0 or 1) per unit of force in row a: -mu d_j for the normal of a sliding
 * contact, else 0. */
double dyn_rigid_drag(const dyn_rigid_problem *p, size_t a, size_t j);

/* Returns the largest eigenvalue of A along the tangents of contact i. */
double dyn_rigid_friction_stiffness(const dyn_rigid_problem *p, size_t i);
