/* loop_platform.c - solves the inverse kinematics of parallel robots (Khalil 2010, 5): finds the actuated coordinates
 * from the pose and motion of a platform frame. The loop constraints and the frame's pose are rows of one system with
 * the Jacobian J, whose unknowns are all coordinates of the tree. With the velocity V and acceleration A of the frame
 * in world axes:
 *
 *     J qd = [0; V],    J qdd + J' qd = [0; A]
 *
 * The system may have more rows than coordinates if the rows are consistent: the frame of a planar mechanism stays in
 * its plane. */
#include "loop_workspace.h"
#include "dynamics/model/coordinates.h"
#include <math.h>
#include <string.h>

#define CONSISTENT 1e-6 /* rows are consistent up to this residual, relative to the largest entry of the right side */

bool dyn_loop_platform_open(dyn_memory memory, dyn_loop_workspace *c, const dyn_frame *frame, size_t rows)
{
    const dyn_loops *l    = c->loops;
    dyn_frame_pair  *pair = dyn_take(memory, (l->n + 1) * sizeof *pair);
    int             *all  = dyn_take(memory, l->nv * sizeof *all);
    if (!pair || !all) return false;
    memcpy(pair, l->pair, l->n * sizeof *pair);
    pair[l->n] = (dyn_frame_pair){{.body = DYN_WORLD, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}, *frame};
    for (size_t v = 0; v < l->nv; v++)
        all[v] = (int)v;
    c->platform           = c->closure;
    c->platform.equations = (dyn_closure_equations){.mechanism  = c->mechanism,
                                                    .pair       = pair,
                                                    .n_pairs    = l->n + 1,
                                                    .rows       = l->rows + rows,
                                                    .unknowns   = l->nv,
                                                    .unknown    = all,
                                                    .frame_rows = rows};
    bool room             = dyn_closure_open(memory, &c->platform);
    c->platform_line      = dyn_take_zeroed(memory, 27 * c->W, &room);
    c->platform_rows[0]   = dyn_take_zeroed(memory, c->platform.equations.rows * c->W, &room);
    c->platform_rows[2]   = dyn_take_zeroed(memory, c->platform.equations.rows * c->W, &room);
    c->platform_rows[1]   = dyn_take_zeroed(memory, c->platform.layout.entries * c->W, &room);
    c->platform_goal      = dyn_take_zeroed(memory, c->platform.equations.rows * c->W, &room);
    return room;
}

/* --- the path ----------------------------------------------------------------------------------------------------- */

static void get(const dyn_loop_workspace *c, const double *lanes, size_t n, size_t lane, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = lanes[i * c->W + lane];
}
static void put(const dyn_loop_workspace *c, const double *from, size_t n, size_t lane, double *lanes)
{
    for (size_t i = 0; i < n; i++)
        lanes[i * c->W + lane] = from[i];
}

/* Sets closure->goal to the frame's pose at the fraction s of its path: the origin is on a straight line, and the
 * rotation is R(s vector) R_start, with the rotation vector from start to end. At s = 1 the goal equals the end of the
 * path exactly. */
static void set_line_point(const void *arg, dyn_closure_solver *closure, size_t lane, double s)
{
    const dyn_loop_workspace *c = arg;
    double                    line[27], goal[12], turn[9], vector[3];
    get(c, c->platform_line, 27, lane, line);
    memcpy(goal, line + 12, sizeof goal);
    for (int i = 0; i < 3; i++)
        vector[i] = s * line[24 + i];
    dyn_rotation_of_vector(vector, turn);
    for (int i = 0; i < 3 && s < 1; i++) {
        goal[i] = line[i] + s * (line[12 + i] - line[i]);
        for (int k = 0; k < 3; k++)
            goal[3 + 3 * i + k] =
                turn[3 * i] * line[3 + k] + turn[3 * i + 1] * line[6 + k] + turn[3 * i + 2] * line[9 + k];
    }
    put(c, goal, 12, lane, closure->goal);
}

/* Finds the platform frame's start and end pose in one lane and returns the length of the path between them. The
 * rotation is free if no orientation is prescribed. */
static double find_line(dyn_loop_workspace *c, const dyn_platform_motion *to, size_t lane)
{
    const dyn_closure_solver *r        = &c->platform;
    double                    line[27] = {0}, orientation[4], length = 0;
    get(c, r->pair_position + 3 * c->loops->n * c->W, 3, lane, line);
    get(c, r->pair_rotation + 9 * c->loops->n * c->W, 9, lane, line + 3);
    get(c, to->position, 3, lane, line + 12);
    for (int i = 3; i < 12; i++)
        line[12 + i] = line[i];
    if (to->orientation) {
        get(c, to->orientation, 4, lane, orientation);
        dyn_rotation_of_quaternion(orientation, line + 15);
        dyn_rotation_between(line + 3, line + 15, line + 24);
    }
    for (int i = 0; i < 3; i++)
        length = fmax(length, fmax(fabs(line[12 + i] - line[i]) / c->loops->length, fabs(line[24 + i])));
    put(c, line, 27, lane, c->platform_line);
    return length;
}

/* Returns the path from the reference, or from a guess of the passive coordinates, and sets all coordinates to its
 * start. */
static dyn_continuation_path start_path(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_platform_motion *to,
                                        const double *guess)
{
    const dyn_loops      *l    = c->loops;
    dyn_closure_solver   *r    = &c->platform;
    dyn_continuation_path path = {.set_point = set_line_point, .arg = c};
    memset(r->remaining, 0, r->equations.rows * c->W * sizeof *r->remaining);
    dyn_loop_set_reference(c, r->q);
    for (size_t i = 0; guess && i < l->n_passive_q; i++)
        memcpy(r->q + (size_t)l->passive_q[i] * c->W, guess + i * c->W, c->W * sizeof *guess);
    dyn_closure_evaluate(r, scene);
    for (size_t lane = 0; lane < r->live; lane++) {
        path.length[lane] = find_line(c, to, lane);
        if (guess) set_line_point(c, r, lane, 1);
    }
    c->platform_guessed = guess != NULL;
    path.at_reference   = true;
    return guess ? dyn_continuation_guess_path(r, scene) : path;
}

/* --- rates -------------------------------------------------------------------------------------------------------- */

/* Sets c->platform_goal to the right side [0; motion] - drift of J x = [0; motion] - drift, whose rows are in units of
 * rad and parts of the model's length. `motion` (6, NULL: zero) and `drift` (rows, NULL: zero) are in lanes. */
static void set_goal(dyn_loop_workspace *c, const double *motion, const double *drift)
{
    const size_t W = c->W, first = c->nr * W;
    for (size_t i = 0; i < c->platform.equations.rows * W; i++) {
        const double factor = i < first ? 0 : i < first + 3 * W ? 1 / c->loops->length : 1;
        c->platform_goal[i] = (motion && i >= first ? factor * motion[i - first] : 0) - (drift ? drift[i] : 0);
    }
}

/* True if x solves all rows of J x = platform_goal in a lane, up to CONSISTENT; `left` is J x. */
static bool is_consistent(const dyn_loop_workspace *c, size_t lane, const double *left)
{
    double most = 0, error = 0;
    for (size_t i = lane; i < c->platform.equations.rows * c->W; i += c->W) {
        most  = fmax(most, fabs(c->platform_goal[i]));
        error = fmax(error, fabs(left[i] - c->platform_goal[i]));
    }
    return error <= CONSISTENT * most;
}

/* Finds the rates x of the tree's coordinates in all lanes with closed loops: the least-squares solution of J x = [0;
 * motion] - rest. J is the Jacobian of the loop constraints and the platform frame, whose pseudoinverse is known. A
 * lane without an exact solution gets the status DYN_LOOPS_ACTUATED_DEPENDENT. */
static void find_all_rates(dyn_loop_workspace *c, const double *motion, const double *rest, double *x)
{
    const dyn_closure_solver *r    = &c->platform;
    double                   *left = c->platform_rows[2];
    set_goal(c, motion, rest);
    memset(x, 0, c->nvt * c->W * sizeof *x);
    dyn_closure_apply(r, 1, c->platform_goal, 0, x);
    dyn_closure_times(r, r->J, 1, x, 0, left);
    for (size_t lane = 0; lane < r->live; lane++)
        if (c->status[lane] == DYN_LOOPS_CLOSED && !is_consistent(c, lane, left))
            c->status[lane] = DYN_LOOPS_ACTUATED_DEPENDENT;
    dyn_closure_pad(r, c->nvt, x);
}

static void copy_out(const dyn_loop_workspace *c, const double *tree, const int *which, size_t n, double *to)
{
    for (size_t i = 0; to && i < n; i++)
        memcpy(to + i * c->W, tree + (size_t)which[i] * c->W, c->W * sizeof *to);
}

static bool all_closed(const dyn_loop_workspace *c)
{
    for (size_t lane = 0; lane < c->platform.live; lane++)
        if (c->status[lane] != DYN_LOOPS_CLOSED) return false;
    return true;
}

/* Returns the status of one lane after the last iteration. If the path could not even start, and J has too low a rank
 * at that position, the pose leaves coordinates undetermined everywhere: the legs have more joints than the pose
 * determines. */
static dyn_loop_status find_status(const dyn_closure_solver *r, size_t lane)
{
    const bool solved       = r->finite[lane];
    const bool undetermined = solved && r->rank[lane] < r->equations.unknowns;
    if (r->stopped[lane]) return DYN_LOOPS_STOPPED;
    if (r->reached[lane] == 0 && undetermined) return DYN_LOOPS_PASSIVE_UNDETERMINED;
    if (r->reached[lane] < 1) return DYN_LOOPS_PATH_SINGULAR;
    if (!solved || !dyn_closure_is_closed(r, lane)) return DYN_LOOPS_OPEN;
    return undetermined ? DYN_LOOPS_PASSIVE_UNDETERMINED : DYN_LOOPS_CLOSED;
}

bool dyn_loop_solve_platform(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_platform_motion *to,
                             const double *guess, const dyn_platform_solution *found, size_t live)
{
    dyn_closure_solver *r  = &c->platform;
    const dyn_loops    *l  = c->loops;
    double             *qd = c->qd, *qdd = c->qdd, *rest = c->platform_rows[0], *Jd = c->platform_rows[1];
    bool                all[DYN_MAX_LANES];
    for (size_t lane = 0; lane < live; lane++)
        all[lane] = true;
    c->solving_platform        = true;
    r->live                    = live;
    dyn_continuation_path path = start_path(c, scene, to, guess);
    dyn_continuation_follow(r, scene, &path);
    dyn_closure_iterate(r, scene);
    dyn_closure_invert(r, all);
    for (size_t lane = 0; lane < live; lane++)
        c->status[lane] = find_status(r, lane);
    dyn_coordinates_make_quaternions_positive(c->mechanism.tree, r->q, c->W);
    find_all_rates(c, to->velocity, NULL, qd);
    dyn_closure_rate(r, scene, qd, Jd);
    dyn_closure_times(r, Jd, 1, qd, 0, rest);
    if (found->qdd) find_all_rates(c, to->acceleration, rest, qdd);
    copy_out(c, r->q, l->active_q, c->mechanism.nq, found->q);
    copy_out(c, r->q, l->passive_q, l->n_passive_q, found->passive);
    copy_out(c, qd, l->active_v, c->nv, found->qd);
    copy_out(c, qdd, l->active_v, c->nv, found->qdd);
    return all_closed(c);
}
