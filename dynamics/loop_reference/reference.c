/* reference.c - finds the reference of a mechanism with loops (reference.h). */
#include "reference.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/loops/loop_workspace.h"
#include <string.h>

/* Limit of the number of evaluations of the loops along the path from home. The paths of mechanisms that close take up
 * to some hundred, however many loops they have; a path that circles a singular position would never end. */
enum { MOST_EVALUATIONS = 1000 };

static void put_lanes(const dyn_loop_workspace *c, const double *from, size_t n, const int *which, double *lanes)
{
    for (size_t i = 0; i < n; i++)
        for (size_t lane = 0; lane < c->W; lane++)
            lanes[i * c->W + lane] = from[which ? which[i] : (int)i];
}

/* Stores the position in the first lane of q as the reference, with the sign of each quaternion such that w >= 0. */
static void store_reference(const dyn_loop_workspace *c, const double *q)
{
    for (size_t i = 0; i < c->loops->nq; i++)
        c->loops->reference[i] = q[i * c->W];
    dyn_coordinates_make_quaternions_positive(c->mechanism.tree, c->loops->reference, 1);
}

/* Closes the loops with all actuated joints at home, along the path on which the loop error at home shrinks to zero. */
static bool close_passive(dyn_loop_workspace *c, const dyn_scene *scene, double *q, double *passive)
{
    const dyn_loops *l    = c->loops;
    dyn_approach     from = {.guess = passive, .most_evaluations = MOST_EVALUATIONS};
    put_lanes(c, l->home, c->mechanism.nq, l->active_q, q);
    put_lanes(c, l->home, l->n_passive_q, l->passive_q, passive);
    if (!dyn_loop_close(c, scene, q, &from, 1)) return false;
    store_reference(c, c->q);
    return true;
}

/* Lists the coordinates that may move: all of them if `all`, otherwise the passive ones and the actuated ones without a
 * home. Returns their number. */
static size_t choose_coordinates(const dyn_loops *l, bool all, int *chosen)
{
    size_t n = 0;
    for (size_t v = 0; v < l->nv; v++)
        if (all || l->active_index_v[v] < 0 || !l->has_home[v]) chosen[n++] = (int)v;
    return n;
}

/* Returns the description of a failed Newton search, whose last position leaves loops open. */
static dyn_loop_failure failure_of(const dyn_closure_solver *closure)
{
    return (dyn_loop_failure){.status      = closure->stopped[0] ? DYN_LOOPS_STOPPED : DYN_LOOPS_OPEN,
                              .loops       = closure->loops,
                              .error       = closure->error_norm[0],
                              .worst       = closure->worst_pair[0],
                              .worst_error = closure->worst_error[0]};
}

/* Closes the loops from home by Newton steps of least norm, and checks that the closed loops determine the passive
 * joints. */
static bool close_nearest(dyn_memory memory, dyn_loop_workspace *c, const dyn_scene *scene, bool all, double *q,
                          dyn_loop_failure *failure)
{
    const dyn_loops   *l       = c->loops;
    dyn_closure_solver closure = c->closure;
    int               *moved   = dyn_take(memory, l->nv * sizeof *moved);
    if (!moved) return false;
    closure.equations.unknowns = choose_coordinates(l, all, moved);
    closure.equations.unknown  = moved;
    if (!dyn_closure_open(memory, &closure)) return false;
    closure.live       = 1;
    closure.stopped[0] = false;
    put_lanes(c, l->home, l->nq, NULL, closure.q);
    const bool closed = dyn_closure_iterate(&closure, scene);
    *failure          = failure_of(&closure);
    if (!closed) return false;
    store_reference(c, closure.q);
    put_lanes(c, l->reference, c->mechanism.nq, l->active_q, q);
    if (dyn_loop_close(c, scene, q, NULL, 1)) return true;
    *failure = dyn_loop_failure_of(c, 0);
    return false;
}

static bool all_at_home(const dyn_loops *l)
{
    for (size_t v = 0; v < l->nv; v++)
        if (l->travel[v] > 0 && l->active_index_v[v] >= 0 && !l->has_home[v]) return false;
    return true;
}

bool dyn_loop_find_reference(dyn_memory memory, const dyn_mechanism *mechanism, dyn_deadline deadline,
                             dyn_loop_failure *failure)
{
    const dyn_kernels  *tree      = dyn_kernels_for_models();
    const dyn_loops    *l         = mechanism->loops;
    const size_t        W         = (size_t)tree->lanes;
    bool                succeeded = true;
    dyn_scene           scene     = {.model = mechanism->tree, .gravity = {0}};
    dyn_loop_workspace *c         = dyn_loop_workspace_open(memory, mechanism, tree, deadline, 0, 0);
    double             *q         = dyn_take_zeroed(memory, mechanism->nq * W, &succeeded);
    double             *passive   = dyn_take_zeroed(memory, l->n_passive_q * W, &succeeded);
    *failure                      = (dyn_loop_failure){.status = DYN_LOOPS_CLOSED, .loops = l};
    if (!c || !succeeded) return false;
    bool found =
        all_at_home(l) ? close_passive(c, &scene, q, passive) : close_nearest(memory, c, &scene, false, q, failure);
    return found || close_nearest(memory, c, &scene, true, q, failure);
}
