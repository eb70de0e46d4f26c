/* rigid_newton.h - refines the forces of a contact problem (rigid_contact_solver.h) by Newton's method, and has the
 * parts of the problem that both of its solvers need. */
#pragma once
#include "rigid_contact_solver.h"

#define DYN_RIGID_DEPENDENT 1e-10 /* smaller pivots, as a part of the largest, are those of dependent directions */

enum { DYN_RIGID_MOST_ROWS = DYN_RIGID_ROWS * DYN_MAX_RIGID };

/* Refines p->force, and finds a. Returns true if the residual falls below DYN_RIGID_RESIDUAL of the largest force or,
 * where rounding errors keep it above, below DYN_RIGID_ACCEPTED; false past the deadline. */
bool dyn_rigid_refine(dyn_rigid_problem *p, dyn_deadline deadline);

/* Returns the number of rows, 3n. */
static inline size_t dyn_rigid_rows(const dyn_rigid_problem *p)
{
    return DYN_RIGID_ROWS * p->n;
}

/* Sets p->left to A f + b. */
void dyn_rigid_find_left(const dyn_rigid_problem *p);

/* True if forces move the point along row a. */
bool dyn_rigid_is_mobile(const dyn_rigid_problem *p, size_t a);

/* Returns the friction along tangent j (0 or 1) for a unit force in row a: that of a sliding contact's normal. */
double dyn_rigid_drag(const dyn_rigid_problem *p, size_t a, size_t j);

/* Returns the largest eigenvalue of A along the tangents of contact i. */
double dyn_rigid_friction_stiffness(const dyn_rigid_problem *p, size_t i);
