/* loop_platform.c - actuated coordinates from where a frame is and how it moves: the natural input of parallel robots
 * (Khalil 2010, 5). The loops and the frame are rows of one system, whose unknowns are all coordinates of the tree:
 *
 *     J qd = [0; V],    J qdd + J' qd = [0; A],    V, A of the frame in world axes.
 *
 * It may have more rows than coordinates, if they go together: a planar mechanism's frame stays in its plane. */
#include "loop_workspace.h"
#include "api/model/coordinates.h"
#include <math.h>
#include <string.h>

#define TOGETHER 1e-6 /* rows that contradict each other do so by more than this part of the motion */

bool api_loop_platform_open(api_pool *pool, api_loop_workspace *c, const dyn_frame *frame, size_t rows)
{
    const api_loops *l    = c->loops;
    dyn_frame_pair  *pair = api_take(pool, (l->n + 1) * sizeof *pair);
    int             *all  = api_take(pool, l->nv * sizeof *all);
    if (!pair || !all) return false;
    memcpy(pair, l->pair, l->n * sizeof *pair);
    pair[l->n] = (dyn_frame_pair){{.body = DYN_WORLD, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}, *frame};
    for (size_t v = 0; v < l->nv; v++)
        all[v] = (int)v;
    c->reach          = c->closure;
    c->reach.n_pairs  = l->n + 1;
    c->reach.rows     = l->rows + rows;
    c->reach.unknowns = l->nv;
    c->reach.pair     = pair;
    c->reach.unknown  = all;
    c->reach.placed   = rows;
    bool room         = api_closure_open(pool, &c->reach);
    c->places         = api_take_zeroed(pool, 27 * c->W, &room);
    c->reach_rows[0]  = api_take_zeroed(pool, c->reach.rows * c->W, &room);
    c->reach_rows[1]  = api_take_zeroed(pool, c->reach.rows * c->nvt * c->W, &room);
    c->wanted         = api_take_zeroed(pool, c->reach.rows, &room);
    return room;
}

/* --- the path ----------------------------------------------------------------------------------------------------- */

static void get(const api_loop_workspace *c, const double *lanes, size_t n, size_t lane, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = lanes[i * c->W + lane];
}
static void put(const api_loop_workspace *c, const double *from, size_t n, size_t lane, double *lanes)
{
    for (size_t i = 0; i < n; i++)
        lanes[i * c->W + lane] = from[i];
}

/* The frame's pose at the fraction s, R = R(s vector) R_from; at s = 1 exactly that of the end. */
static void go_straight(const void *arg, api_closure *closure, size_t lane, double s)
{
    const api_loop_workspace *c = arg;
    double                    place[27], goal[12], turn[9], vector[3];
    get(c, c->places, 27, lane, place);
    memcpy(goal, place + 12, sizeof goal);
    for (int i = 0; i < 3; i++)
        vector[i] = s * place[24 + i];
    api_rotation_of_vector(vector, turn);
    for (int i = 0; i < 3 && s < 1; i++) {
        goal[i] = place[i] + s * (place[12 + i] - place[i]);
        for (int k = 0; k < 3; k++)
            goal[3 + 3 * i + k] =
                turn[3 * i] * place[3 + k] + turn[3 * i + 1] * place[6 + k] + turn[3 * i + 2] * place[9 + k];
    }
    put(c, goal, 12, lane, closure->goal);
}

/* Finds both ends of a lane's line and returns its length. Without orientation the rotation is free. */
static double find_places(api_loop_workspace *c, const api_platform_motion *to, size_t lane)
{
    const api_closure *r         = &c->reach;
    double             place[27] = {0}, orientation[4], length = 0;
    get(c, r->y + 3 * c->loops->n * c->W, 3, lane, place);
    get(c, r->R + 9 * c->loops->n * c->W, 9, lane, place + 3);
    get(c, to->position, 3, lane, place + 12);
    for (int i = 3; i < 12; i++)
        place[12 + i] = place[i];
    if (to->orientation) {
        get(c, to->orientation, 4, lane, orientation);
        api_rotation_of_quaternion(orientation, place + 15);
        api_rotation_between(place + 3, place + 15, place + 24);
    }
    for (int i = 0; i < 3; i++)
        length = fmax(length, fmax(fabs(place[12 + i] - place[i]) / c->loops->length, fabs(place[24 + i])));
    put(c, place, 27, lane, c->places);
    return length;
}

/* From the reference, or from a guess of passive coordinates on. */
static api_continuation_path begin(api_loop_workspace *c, const dyn_scene *scene, const api_platform_motion *to,
                                   const double *guess)
{
    const api_loops      *l    = c->loops;
    api_closure          *r    = &c->reach;
    api_continuation_path path = {.go = go_straight, .arg = c};
    memset(r->left, 0, r->rows * c->W * sizeof *r->left);
    api_loop_set_reference(c, r->q);
    for (size_t i = 0; guess && i < l->n_passive_q; i++)
        memcpy(r->q + (size_t)l->passive_q[i] * c->W, guess + i * c->W, c->W * sizeof *guess);
    api_closure_evaluate(r, scene);
    for (size_t lane = 0; lane < r->live; lane++) {
        path.length[lane] = find_places(c, to, lane);
        if (guess) go_straight(c, r, lane, 1);
    }
    c->reach_guessed = guess != NULL;
    return guess ? api_continuation_guess_path(r, scene) : path;
}

/* --- rates -------------------------------------------------------------------------------------------------------- */

/* Rates x of one lane with J x = [0; motion] - rest; rest (rows; NULL: 0) is in lanes. `size`: of all that the rows add
 * up. False: there are none. */
static bool find_rates(api_loop_workspace *c, size_t lane, const double *motion, const double *rest, double *x)
{
    api_closure *r = &c->reach;
    size_t       W = c->W, first = c->nr;
    double       most = 0, left = 0;
    for (size_t i = 0; i < r->rows; i++) {
        double factor = i < first ? 0 : i < first + 3 ? 1 / c->loops->length : 1;
        r->B[i] =
            (motion && i >= first ? factor * motion[(i - first) * W + lane] : 0) - (rest ? rest[i * W + lane] : 0);
        c->wanted[i] = r->B[i];
        most         = fmax(most, fabs(r->B[i]));
    }
    if (!api_closure_solve(r, lane, 1, API_CLOSURE_SINGULAR)) return false;
    for (size_t v = 0; v < c->nvt; v++)
        x[v * W + lane] = r->B[v];
    for (size_t i = 0; i < r->rows; i++) {
        double sum = -c->wanted[i];
        for (size_t v = 0; v < c->nvt; v++)
            sum += r->J[(i * c->nvt + v) * W + lane] * r->B[v];
        left = fmax(left, fabs(sum));
    }
    return left <= TOGETHER * most;
}

/* Rates of all lanes; notes where there are none. */
static void move(api_loop_workspace *c, const double *motion, const double *rest, double *x)
{
    for (size_t lane = 0; lane < c->reach.live; lane++)
        if (c->status[lane] == API_LOOPS_CLOSED && !find_rates(c, lane, motion, rest, x))
            c->status[lane] = API_LOOPS_ACTUATED_DEPENDENT;
    api_closure_pad(&c->reach, c->nvt, x);
}

static void give(const api_loop_workspace *c, const double *tree, const int *which, size_t n, double *to)
{
    for (size_t i = 0; to && i < n; i++)
        memcpy(to + i * c->W, tree + (size_t)which[i] * c->W, c->W * sizeof *to);
}

static bool judge(const api_loop_workspace *c)
{
    for (size_t lane = 0; lane < c->reach.live; lane++)
        if (c->status[lane] != API_LOOPS_CLOSED) return false;
    return true;
}

bool api_loop_solve_platform(api_loop_workspace *c, const dyn_scene *scene, const api_platform_motion *to,
                             const double *guess, const api_platform_solution *found, size_t live)
{
    api_closure     *r  = &c->reach;
    const api_loops *l  = c->loops;
    double          *qd = c->qd, *qdd = c->qdd, *rest = c->reach_rows[0], *Jd = c->reach_rows[1];
    c->reaching                = true;
    r->live                    = live;
    api_continuation_path path = begin(c, scene, to, guess);
    api_continuation_follow(r, scene, &path);
    api_closure_iterate(r, scene);
    memset(c->wanted, 0, r->rows * sizeof *c->wanted);
    for (size_t lane = 0; lane < live; lane++) {
        memset(r->B, 0, r->rows * sizeof *r->B);
        bool solved     = api_closure_is_closed(r, lane) && api_closure_solve(r, lane, 1, API_CLOSURE_SINGULAR);
        c->status[lane] = r->reached[lane] < 1          ? API_LOOPS_PATH_SINGULAR
                          : !solved                     ? API_LOOPS_OPEN
                          : r->rank[lane] < r->unknowns ? API_LOOPS_PASSIVE_UNDETERMINED
                                                        : API_LOOPS_CLOSED;
    }
    api_coordinates_make_quaternions_positive(c->model->dyn, r->q, c->W);
    move(c, to->velocity, NULL, qd);
    api_closure_rate(r, scene, qd, Jd);
    api_matrix_mul(c->W, r->rows, c->nvt, 1, Jd, qd, 0, rest);
    if (found->qdd) move(c, to->acceleration, rest, qdd);
    give(c, r->q, l->active_q, c->model->nq, found->q);
    give(c, r->q, l->passive_q, l->n_passive_q, found->passive);
    give(c, qd, l->active_v, c->nv, found->qd);
    give(c, qdd, l->active_v, c->nv, found->qdd);
    return judge(c);
}
