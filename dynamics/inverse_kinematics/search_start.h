/* search_start.h - choose the positions at which searches for coordinates of a tree begin. */
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
 * their bounds, those without bounds within half a turn or `length` of q. Numbers depend on `start` alone. */
void dyn_search_start(const dyn_search_space *space, size_t start, double *q);

/* Places the motors of elastic joints where the springs are unwound, in lanes of W. */
void dyn_unwind_springs(const dyn_model *model, size_t W, double *q);
