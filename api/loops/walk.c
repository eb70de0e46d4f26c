/* walk.c - see walk.h. */
#include "walk.h"
#include "closed_state.h"
#include "api/model/coordinates.h"
#include <math.h>
#include <string.h>

enum { TRIES = 16 };

#define FIRST_STEP 0.25 /* of the way; halved where it cannot be made */
#define STEEP      20 /* times the largest entry of G at the start: nearer to singular positions figures lose digits */

/* All coordinates of the tree are unknown, and the step of least norm is the nearest. */
static bool open_whole(api_pool *pool, api_walk *w)
{
    const api_loops *l   = w->loops;
    int             *all = api_take(pool, l->nv * sizeof *all);
    if (!all) return false;
    for (size_t v = 0; v < l->nv; v++)
        all[v] = (int)v;
    w->whole          = w->closed->closure;
    w->whole.unknowns = l->nv;
    w->whole.unknown  = all;
    return api_closure_open(pool, &w->whole);
}

bool api_walk_open(api_pool *pool, const api_model *model, const dyn_kernels *tree, const api_watch *watch, api_walk *w)
{
    const api_loops *l          = model->loops;
    size_t           parameters = 10 * model->n_bodies + 3 * model->n_movers;
    bool             room       = true;
    *w                          = (api_walk){.model = model, .loops = l, .W = (size_t)tree->lanes};
    w->start                    = api_take_zeroed(pool, model->nq, &room);
    w->at                       = api_take_zeroed(pool, model->nq * w->W, &room);
    w->next                     = api_take_zeroed(pool, model->nq * w->W, &room);
    w->passive                  = api_take_zeroed(pool, l->n_passive_q * w->W, &room);
    w->closed                   = api_closed_open(pool, model, tree, watch, 0, l->nv * parameters);
    return room && w->closed && open_whole(pool, w);
}

static double steepest(const api_closed *c, size_t lane)
{
    double largest = 0;
    for (size_t i = 0; i < c->nvt * c->nv; i++)
        largest = fmax(largest, fabs(c->G[i * c->W + lane]));
    return largest;
}

/* The loops are closed in a lane where it stands now. */
static void stand(api_walk *w, size_t lane, const double *q)
{
    for (size_t i = 0; i < w->model->nq; i++)
        w->at[i * w->W + lane] = q[i * w->W + lane];
    for (size_t i = 0; i < w->loops->n_passive_q; i++)
        w->passive[i * w->W + lane] = w->closed->q[(size_t)w->loops->passive_q[i] * w->W + lane];
}

/* next = start + part way; of a quaternion start + part (way - start), of length one */
static void choose_next(api_walk *w, size_t lane, const double *way, double part)
{
    for (size_t i = 0; i < w->model->nq; i++)
        w->next[i * w->W + lane] = w->start[i] + part * way[i * w->W + lane];
    for (size_t b = 0; b < w->model->dyn->n_bodies; b++) {
        const dyn_body *body       = &w->model->dyn->body[b];
        int             quaternion = api_quaternion_of(body), place = api_first_position(w->model, body);
        if (quaternion < 0 || place < 0) continue;
        double norm = 0, *x = w->next + (size_t)(place + quaternion) * w->W + lane;
        for (size_t i = 0; i < 4; i++) {
            x[i * w->W] -= part * w->start[(size_t)(place + quaternion) + i];
            norm += x[i * w->W] * x[i * w->W];
        }
        for (size_t i = 0; i < 4; i++)
            x[i * w->W] /= sqrt(norm);
    }
}

/* Where the loops close nearest to home: the same in all lanes. */
static bool find_start(api_walk *w, const dyn_scene *scene)
{
    const api_loops *l = w->loops;
    for (size_t i = 0; i < l->nq; i++)
        for (size_t lane = 0; lane < w->W; lane++)
            w->whole.q[i * w->W + lane] = l->home[i];
    w->whole.live = w->W;
    if (!api_closure_search(&w->whole, scene)) return false;
    for (size_t i = 0; i < w->model->nq; i++)
        w->start[i] = w->whole.q[(size_t)l->active_q[i] * w->W];
    for (size_t i = 0; i < l->n_passive_q; i++)
        memcpy(w->passive + i * w->W, w->whole.q + (size_t)l->passive_q[i] * w->W, w->W * sizeof *w->passive);
    return true;
}

static bool begin(api_walk *w, const dyn_scene *scene, const double *way, double *steep)
{
    if (!find_start(w, scene)) return false;
    for (size_t lane = 0; lane < w->W; lane++) {
        choose_next(w, lane, way, 0);
        w->done[lane] = 0;
        w->step[lane] = FIRST_STEP;
    }
    if (!api_closed_solve(w->closed, scene, w->next, w->passive, w->W)) return false;
    for (size_t lane = 0; lane < w->W; lane++)
        stand(w, lane, w->next);
    *steep = STEEP * steepest(w->closed, 0);
    return true;
}

bool api_walk_to(api_walk *w, const dyn_scene *scene, double *q)
{
    double steep;
    w->lost = !begin(w, scene, q, &steep);
    if (w->lost) return false;
    for (int i = 0; i < TRIES; i++) {
        for (size_t lane = 0; lane < w->W; lane++)
            choose_next(w, lane, q, fmin(w->done[lane] + w->step[lane], 1));
        api_closed_solve(w->closed, scene, w->next, w->passive, w->W);
        for (size_t lane = 0; lane < w->W; lane++) {
            bool good = api_closed_status_of(w->closed, lane) == API_CLOSED && steepest(w->closed, lane) <= steep;
            if (good) w->done[lane] = fmin(w->done[lane] + w->step[lane], 1);
            if (good)
                stand(w, lane, w->next);
            else
                w->step[lane] /= 2;
        }
    }
    memcpy(q, w->at, w->model->nq * w->W * sizeof *q);
    return api_closed_solve(w->closed, scene, q, w->passive, w->W);
}

bool api_walk_fail(const api_walk *w, api_problem *problem)
{
    static const char *const where = "this is looked for around the joints' home, and there";
    api_problem              found;
    api_problem_clear(&found);
    if (!api_closure_closed(&w->whole, 0))
        return api_fail(problem, API_LOOP_OPEN, NULL, "%s the loops do not close: give the joints another", where);
    api_closed_fail(w->closed, 0, NULL, -1, &found);
    return api_fail(problem, found.code, NULL, "%s %s", where, found.detail);
}

double api_walk_seconds(const api_model *m)
{
    const api_loops *l = m->loops;
    return 1e-7 * (TRIES + 2) * (double)(l->rows * l->n_passive * l->n_passive);
}
