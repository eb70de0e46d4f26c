/* loop_close.c - a block of states of a model with loops: closing them, and how passive coordinates follow
 * (loop_kernels.h).
 */
#include "loop_workspace.h"
#include <math.h>
#include <string.h>

#define SINGULAR 1e-6  /* of what an actuated coordinate does to the loops */
#define ROUNDING 1e-13 /* of an entry of G */

/* The greatest of n entries, `step` lanes apart. */
static double greatest(const double *x, size_t n, size_t step)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i * step]));
    return most;
}

/* Column j of J_a is zero where it is nothing but rounding. */
static void clear_still(api_loop_workspace *c, size_t j)
{
    size_t W = c->W, row = c->nv * W;
    for (size_t lane = 0; lane < W; lane++) {
        double *column = c->across + j * W + lane;
        bool    still  = true;
        for (size_t i = 0; i < c->nr; i++)
            still = still && fabs(column[i * row]) <= API_CLOSURE_NEGLIGIBLE;
        for (size_t i = 0; still && i < c->nr; i++)
            column[i * row] = 0;
    }
}

/* Entries of G = -K J_a that are nothing beside what K and J_a could make are zero: a passive joint that the loops lock
 * would have a velocity of some 1e-17 rad/s, and with it all of its Coulomb friction. */
static void clear_rounding(api_loop_workspace *c)
{
    size_t W = c->W, nv = c->nv;
    for (size_t k = 0; k < c->np; k++)
        for (size_t j = 0; j < nv; j++)
            for (size_t lane = 0; lane < W; lane++) {
                double *entry = c->G + ((size_t)c->loops->passive_v[k] * nv + j) * W + lane;
                double  most =
                    greatest(c->K + k * c->nr * W + lane, c->nr, W) * greatest(c->across + j * W + lane, c->nr, nv * W);
                if (fabs(*entry) <= ROUNDING * most) *entry = 0;
            }
}

static void find_G(api_loop_workspace *c)
{
    size_t W = c->W;
    memset(c->G, 0, c->nvt * c->nv * W * sizeof *c->G);
    for (size_t j = 0; j < c->nv; j++) {
        size_t v = (size_t)c->loops->active_v[j];
        for (size_t lane = 0; lane < W; lane++)
            c->G[(v * c->nv + j) * W + lane] = 1;
        for (size_t i = 0; i < c->nr; i++)
            memcpy(c->across + (i * c->nv + j) * W, c->J + (i * c->nvt + v) * W, W * sizeof *c->J);
        clear_still(c, j);
    }
    api_loop_subtract_passive(c, c->nv, c->across, c->G);
    clear_rounding(c);
}

/* Whether the loops let each actuated coordinate move by itself: J G = 0 beside J_a. */
static bool moves(const api_loop_workspace *c, size_t lane)
{
    for (size_t j = 0; j < c->nv; j++) {
        double left = 0, all = 0;
        for (size_t i = 0; i < c->nr; i++) {
            double sum = 0;
            for (size_t v = 0; v < c->nvt; v++)
                sum += c->J[(i * c->nvt + v) * c->W + lane] * c->G[(v * c->nv + j) * c->W + lane];
            left = fmax(left, fabs(sum));
            all  = fmax(all, fabs(c->across[(i * c->nv + j) * c->W + lane]));
        }
        if (left > fmax(SINGULAR * all, API_CLOSURE_NEGLIGIBLE)) return false;
    }
    return true;
}

static api_loop_status judge(api_loop_workspace *c, size_t lane)
{
    const api_closure *loops = &c->closure;
    if (loops->reached[lane] < 1) return API_LOOPS_PATH_SINGULAR;
    if (!api_closure_is_closed(loops, lane)) return API_LOOPS_OPEN;
    if (!api_closure_invert(&c->closure, lane, API_CLOSURE_SINGULAR, c->W, c->K + lane)) return API_LOOPS_OPEN;
    return loops->rank[lane] < c->np ? API_LOOPS_PASSIVE_UNDETERMINED : API_LOOPS_CLOSED;
}

/* Closes the loops to rounding from the end of the path on, and finds K and G. */
static bool finish(api_loop_workspace *c, const dyn_scene *scene)
{
    size_t live = c->closure.live;
    bool   good = true;
    api_closure_iterate(&c->closure, scene);
    for (size_t lane = 0; lane < live; lane++)
        c->status[lane] = judge(c, lane);
    api_closure_pad(&c->closure, c->np * c->nr, c->K);
    find_G(c);
    for (size_t lane = 0; lane < live; lane++) {
        if (c->status[lane] == API_LOOPS_CLOSED && !moves(c, lane)) c->status[lane] = API_LOOPS_ACTUATED_DEPENDENT;
        good = good && c->status[lane] == API_LOOPS_CLOSED;
    }
    for (size_t lane = live; lane < c->W; lane++)
        c->status[lane] = c->status[live - 1];
    return good;
}

bool api_loop_close(api_loop_workspace *c, const dyn_scene *scene, const double *q, const api_approach *from,
                    size_t live)
{
    c->reaching                = false;
    c->closure.live            = live;
    api_continuation_path path = api_loop_path(c, scene, q, from);
    api_continuation_follow(&c->closure, scene, &path);
    return finish(c, scene);
}

bool api_loop_close_towards(api_loop_workspace *c, const dyn_scene *scene, double *q)
{
    c->reaching                = false;
    c->closure.live            = c->W;
    api_continuation_path path = api_loop_path(c, scene, q, NULL);
    path.shortest              = 0.003;
    api_continuation_follow(&c->closure, scene, &path);
    for (size_t lane = 0; lane < c->W; lane++)
        c->closure.reached[lane] = 1;
    for (size_t i = 0; i < c->model->nq; i++)
        memcpy(q + i * c->W, c->q + (size_t)c->loops->active_q[i] * c->W, c->W * sizeof *q);
    return finish(c, scene);
}
