/* descent_levels.h - finds, for each level of priority of a descent (task_descent.h), the errors of its tasks, the rows
 * of the Jacobian and Newton's model. Only the files of the descent include this header. */
#pragma once
#include "task_descent.h"

/* Finds the errors and the Jacobian of the trial position, at which the loops are closed. */
void dyn_descent_evaluate_trial(dyn_task_descent *d);

/* Writes the weighted norm of the evaluated errors of each level. Returns true if the errors of priority 0 are within
 * the tolerance, and the passive joints within their limits. */
bool dyn_descent_judge(const dyn_task_descent *d, double norm[DYN_DESCENT_LEVELS]);

/* Sets the rows of level k for the next step to the Jacobian and the negative errors of its tasks at a position. */
void dyn_descent_set_rows(dyn_task_descent *d, size_t k, const dyn_task_point *point);

/* Sets the rows of level k for the next step to Newton's model at a position. Returns false if there is no model. */
bool dyn_descent_find_model(dyn_task_descent *d, size_t k, const dyn_task_point *point);

/* Sets the rows of all levels at a position, and the norms of those that have Newton's model. Returns false if a model
 * cannot be found. */
bool dyn_descent_set_levels(dyn_task_descent *d, const dyn_task_point *point, double norm[DYN_DESCENT_LEVELS]);

/* True if level k has the tasks of priority 0, which must be met. */
bool dyn_descent_must_be_met(const dyn_task_descent *d, size_t k);

/* Euclidean norm of n numbers. */
double dyn_descent_length(const double *x, size_t n);
