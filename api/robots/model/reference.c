/* reference.c - finds the reference of a model with loops (reference.h). */
#include "reference.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/loops/loop_workspace.h"
#include <string.h>

static void put_lanes(const api_loop_workspace *c, const double *from, size_t n, const int *which, double *lanes)
{
    for (size_t i = 0; i < n; i++)
        for (size_t lane = 0; lane < c->W; lane++)
            lanes[i * c->W + lane] = from[which ? which[i] : (int)i];
}

/* Stores the position of the first lane as the reference, quaternions with w >= 0. */
static void store_reference(const api_loop_workspace *c, const double *q)
{
    for (size_t i = 0; i < c->loops->nq; i++)
        c->loops->reference[i] = q[i * c->W];
    api_coordinates_make_quaternions_positive(c->model->dyn, c->loops->reference, 1);
}

/* Closes the loops with all actuated joints at home, along the path on which the loop error at home shrinks to zero. */
static bool close_passive(api_loop_workspace *c, const dyn_scene *scene, double *q, double *passive)
{
    const api_loops *l    = c->loops;
    api_approach     from = {.guess = passive};
    put_lanes(c, l->home, c->model->nq, l->active_q, q);
    put_lanes(c, l->home, l->n_passive_q, l->passive_q, passive);
    if (!api_loop_close(c, scene, q, &from, c->W)) return false;
    store_reference(c, c->q);
    return true;
}

/* Lists the coordinates that may move: all of them if `all`, otherwise the passive ones and the actuated ones without a
 * home. Returns their number. */
static size_t choose_coordinates(const api_loops *l, bool all, int *chosen)
{
    size_t n = 0;
    for (size_t v = 0; v < l->nv; v++)
        if (all || l->active_index_v[v] < 0 || !l->has_home[v]) chosen[n++] = (int)v;
    return n;
}

/* Closes the loops from home by Newton steps of least norm, and checks that the closed loops determine the passive
 * joints. */
static bool close_nearest(api_pool *pool, api_loop_workspace *c, const dyn_scene *scene, bool all, double *q)
{
    const api_loops *l       = c->loops;
    api_closure      closure = c->closure;
    int             *moved   = api_take(pool, l->nv * sizeof *moved);
    if (!moved) return false;
    closure.unknowns = choose_coordinates(l, all, moved);
    closure.unknown  = moved;
    if (!api_closure_open(pool, &closure)) return false;
    closure.live = c->W;
    put_lanes(c, l->home, l->nq, NULL, closure.q);
    if (!api_closure_iterate(&closure, scene)) return false;
    store_reference(c, closure.q);
    put_lanes(c, l->reference, c->model->nq, l->active_q, q);
    return api_loop_close(c, scene, q, NULL, c->W);
}

static bool all_at_home(const api_loops *l)
{
    for (size_t v = 0; v < l->nv; v++)
        if (l->travel[v] > 0 && l->active_index_v[v] >= 0 && !l->has_home[v]) return false;
    return true;
}

static bool fail(const api_loop_workspace *c, api_problem *problem)
{
    api_problem found;
    api_problem_clear(&found);
    if (api_loop_fail(c, 0, NULL, -1, &found))
        return api_fail(problem, API_LOOP_OPEN, "/loops",
                        "the loops cannot be closed near the joints' \"home\": give the joints, actuated ones too, a "
                        "\"home\" near a position in which the loops are closed");
    return api_fail(
        problem, found.code == API_LOOP_SINGULAR ? found.code : API_LOOP_OPEN, "/loops",
        "the model has no reference, a position near the joints' \"home\" in which the loops are closed and the "
        "passive joints follow from the actuated ones: %s",
        found.detail);
}

static bool find_reference(api_pool *pool, const api_model *model, const api_deadline *deadline, api_problem *problem)
{
    const dyn_kernels  *tree  = dyn_kernels_for_models();
    size_t              W     = (size_t)tree->lanes;
    bool                room  = true;
    dyn_scene           scene = {.model = model->dyn, .gravity = {0}};
    api_loop_workspace *c     = api_loop_workspace_open(pool, model, tree, deadline, 0, 0);
    double             *q     = api_take_zeroed(pool, model->nq * W, &room), *passive;
    passive                   = api_take_zeroed(pool, model->loops->n_passive_q * W, &room);
    if (!c || !room) return false;
    bool found =
        all_at_home(model->loops) ? close_passive(c, &scene, q, passive) : close_nearest(pool, c, &scene, false, q);
    if (found || close_nearest(pool, c, &scene, true, q)) return true;
    return problem->code == API_NO_PROBLEM && api_deadline_check(deadline, problem) && fail(c, problem);
}

api_model *api_find_reference(api_model *model, api_share *share, const api_deadline *deadline, api_problem *problem)
{
    if (!model || !model->loops) return model;
    api_scratch scratch = {0};
    api_budget  budget  = {.limit = SIZE_MAX};
    api_share   own     = {&budget, 0};
    api_pool    pool    = {share ? share : &own, &scratch, problem, 0, 0};
    bool        found   = find_reference(&pool, model, deadline, problem);
    api_pool_end(&pool);
    api_scratch_free(&scratch);
    if (found) return model;
    api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the model's loops");
    api_model_release(model);
    return NULL;
}
