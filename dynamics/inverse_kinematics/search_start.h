/* search_start.h - chooses the positions at which searches for coordinates of a tree begin. */
#pragma once
#include "dynamics/model/model.h"

/* The range in which a search looks for positions. */
typedef struct dyn_search_space {
    const dyn_model *tree;
    const double    *lower, *upper; /* [nq] bounds; infinite where there are none */
    double           length;        /* m, of the order of the robot's reach */
} dyn_search_space;

/* True if the body's joint has one coordinate, which may have bounds. */
bool dyn_has_bounds(const dyn_body *body);

/* Replaces q, the first starting position, by number `start`, counted from 0: coordinates with one entry lie within
 * their bounds, those without bounds within half a turn or `length` of q. The pseudo-random numbers depend on `start`
 * and the coordinate alone. */
void dyn_search_start(const dyn_search_space *space, size_t start, double *q);

/* Sets the motor coordinates of elastic joints so that their springs have no torque, in W lanes. */
void dyn_unwind_springs(const dyn_model *model, size_t W, double *q);
