/* walk.h - states of a model with loops where nobody gives any: from where the loops close nearest to home, step by
 * step towards coordinates that may not be possible. In small steps it stays in the assembly that it began in. */
#pragma once
#include "closed.h"
#include "closure.h"

typedef struct api_walk {
    api_closed      *closed; /* over `tree`, with room for its regressors */
    api_closure      whole;  /* of all coordinates of the tree, to begin with */
    const api_model *model;
    const api_loops *loops;
    size_t           W;
    double          *start;               /* nq: where it begins */
    double          *at, *next, *passive; /* lanes: where it stands, nq; the step tried; the passive coordinates */
    double           done[DYN_MAX_LANES], step[DYN_MAX_LANES]; /* of the way, 0..1 */
    bool             lost;                                     /* there is no beginning */
} api_walk;

/* Takes its memory; `watch` as for api_closed_open. False with the pool's problem. */
bool api_walk_open(api_pool *pool, const api_model *model, const dyn_kernels *tree, const api_watch *watch,
                   api_walk *walk);

/* Walks along q (lanes of the model's coordinates: how far to go, but quaternions: where to), each lane by itself, as
 * far as the loops close and stay clear of singular positions. q becomes where it stands, and a kernel may be asked
 * next. False: the loops do not close near home, or nobody waits any longer. */
bool api_walk_to(api_walk *walk, const dyn_scene *scene, double *q);

/* What is wrong with a walk that is lost; false with the problem. */
bool api_walk_fail(const api_walk *walk, api_problem *problem);

/* What one such walk takes, about, in seconds of a state. */
double api_walk_seconds(const api_model *model);
