/* pose_solver.c - solves inverse kinematics of trees by damped Newton steps (pose_solver.h). */
#include "pose_solver.h"
#include "search_start.h"
#include "swing.h"
#include "dynamics/math/gather.h"
#include "dynamics/math/geometry.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/loops/loops.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { N = DYN_GOAL_ROWS };
#define LEAST_DAMPING 1e-14 /* relative to the trace of J J^T */
#define LEAST_FACTOR  1e-3  /* least mu */
#define MOST_FACTOR   1e6   /* a search whose mu is larger than this has reached a minimum */
#define LONGEST_STEP  1.0   /* rad, or parts of `length` */
#define SHORTEST_STEP 1e-13 /* rad, or parts of `length`; a search with a shorter step has reached a minimum */

/* The search of one lane. The arrays have one state. */
typedef struct search {
    double *q, *J; /* [nq] accepted position; [rows][nv] scaled Jacobian there */
    double *trial; /* [nq] position that is tried */
    double *step;  /* [nv] step from the accepted position to the trial */
    double *best;  /* [nq] position with the least error of all starts */
    double  error[N], cost, mu, least_cost;
    size_t  starts, iterations;
    int     here; /* iterations since the present start */
    bool    fresh, running, solved;
} search;

typedef struct arrays {
    double *q, *position, *rotation, *J, *J_dot; /* in lanes: nq; 3; 9; 6 x nv; 6 x nv */
    search  lane[DYN_MAX_LANES];
} arrays;

size_t dyn_pose_entries(size_t nq, size_t nv, size_t W)
{
    return W * (4 * nq + 12 + (13 + N) * nv);
}

/* Lays out the arrays in lanes, and the searches of the first `live` lanes. */
static arrays lay_out(const dyn_mechanism *m, size_t W, size_t live, double *room)
{
    arrays a     = {.q = room};
    a.position   = a.q + m->nq * W;
    a.rotation   = a.position + 3 * W;
    a.J          = a.rotation + 9 * W;
    a.J_dot      = a.J + 6 * m->nv * W;
    double *next = a.J_dot + 6 * m->nv * W;
    for (size_t lane = 0; lane < live; lane++) {
        search *s = &a.lane[lane];
        *s        = (search){.q = next, .best = next + m->nq, .trial = next + 2 * m->nq, .step = next + 3 * m->nq};
        s->J      = s->step + m->nv;
        next += 3 * m->nq + (N + 1) * m->nv;
    }
    return a;
}

static size_t rows_of(const dyn_pose_problem *p)
{
    return p->kind == DYN_GOAL_POSITION ? 3 : N;
}

/* --- error and Jacobian ------------------------------------------------------------------------------------------ */

/* Writes the pointing axis of the frame, p->axis, in world axes. */
static void pointing_axis(const dyn_pose_problem *p, const double R[9], double a[3])
{
    for (int i = 0; i < 3; i++)
        a[i] = dyn_dot(R + 3 * i, p->axis);
}

/* Writes the error e of a lane: the position in units of p->length, then the rotation vector. */
static void find_error(const dyn_pose_problem *p, const dyn_pose_goals *goals, const arrays *a, size_t W, size_t lane,
                       double error[N])
{
    double position[3], R[9], goal[3], other[4], G[9], axis[3];
    memset(error, 0, N * sizeof *error);
    dyn_gather(a->position, 3, W, lane, position);
    dyn_gather(a->rotation, 9, W, lane, R);
    dyn_gather(goals->position, 3, W, lane, goal);
    if (p->kind == DYN_GOAL_POSE) {
        dyn_gather(goals->orientation, 4, W, lane, other);
        dyn_rotation_of_quaternion(other, G);
        dyn_rotation_between(G, R, error + 3);
    } else if (p->kind == DYN_GOAL_DIRECTION) {
        dyn_gather(goals->direction, 3, W, lane, other);
        pointing_axis(p, R, axis);
        dyn_swing_between(other, axis, error + 3);
    }
    for (int i = 0; i < 3; i++)
        error[i] = (position[i] - goal[i]) / p->length;
}

/* Copies the Jacobian of a lane, scaled like the error. For the kind DIRECTION, rotation about the pointing axis is
 * removed. */
static void copy_jacobian(const dyn_pose_problem *p, const arrays *a, size_t W, size_t lane, double *J)
{
    size_t nv = p->robot.nv, rows = rows_of(p);
    double R[9], axis[3];
    for (size_t r = 0; r < rows; r++)
        for (size_t v = 0; v < nv; v++)
            J[r * nv + v] = a->J[(r * nv + v) * W + lane] / (r < 3 ? p->length : 1);
    if (p->kind != DYN_GOAL_DIRECTION) return;
    dyn_gather(a->rotation, 9, W, lane, R);
    pointing_axis(p, R, axis);
    for (size_t v = 0; v < nv; v++) {
        double w[3] = {J[3 * nv + v], J[4 * nv + v], J[5 * nv + v]}, along = dyn_dot(w, axis);
        for (size_t i = 0; i < 3; i++)
            J[(3 + i) * nv + v] = w[i] - along * axis[i];
    }
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

static void clamp(const dyn_pose_problem *p, double *q)
{
    for (size_t i = 0; i < p->robot.nq; i++)
        q[i] = fmin(fmax(q[i], p->lower[i]), p->upper[i]);
}

/* Returns 1 or -1 if the coordinate of a body is at its upper or lower bound, beyond which the steepest descent of |e|
 * at q would move it; else 0. */
static int bound_in_the_way(const dyn_pose_problem *p, const search *s, const dyn_body *b, const double *q)
{
    const size_t nv = p->robot.nv, v = (size_t)b->joint.v;
    double       slope = 0;
    for (size_t r = 0; r < rows_of(p); r++)
        slope += s->J[r * nv + v] * s->error[r];
    if (q[b->joint.q] >= p->upper[b->joint.q] && slope < 0) return 1;
    return q[b->joint.q] <= p->lower[b->joint.q] && slope > 0 ? -1 : 0;
}

/* Sets the columns of J to zero whose coordinates are at a bound beyond which the steepest descent of |e| would move
 * them. */
static void fix_coordinates_at_bounds(const dyn_pose_problem *p, search *s)
{
    const dyn_model *m  = p->robot.tree;
    size_t           nv = p->robot.nv, rows = rows_of(p);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (!dyn_has_bounds(b) || bound_in_the_way(p, s, b, s->q) == 0) continue;
        for (size_t r = 0; r < rows; r++)
            s->J[r * nv + (size_t)b->joint.v] = 0;
    }
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* Sets starting position number s->starts, and begins the search there. */
static void set_start(const dyn_pose_problem *p, const dyn_pose_goals *goals, size_t W, size_t lane, search *s)
{
    const dyn_search_space space = {p->robot.tree, p->lower, p->upper, p->length};
    dyn_gather(goals->start, p->robot.nq, W, lane, s->q);
    dyn_search_start(&space, s->starts, s->q);
    clamp(p, s->q);
    s->starts++;
    s->here  = 0;
    s->mu    = 1;
    s->cost  = INFINITY;
    s->fresh = true;
}

/* Finds the step from the accepted position: dq = -J^T (J J^T + lambda 1)^-1 e. Returns its largest entry. */
static double find_step(const dyn_pose_problem *p, search *s)
{
    size_t nv = p->robot.nv, rows = rows_of(p);
    double A[N * N], y[N], trace = 0, largest = 0;
    for (size_t r = 0; r < rows; r++) {
        y[r] = s->error[r];
        for (size_t c = 0; c <= r; c++) {
            double sum = 0;
            for (size_t v = 0; v < nv; v++)
                sum += s->J[r * nv + v] * s->J[c * nv + v];
            A[c * rows + r] = sum;
        }
        trace += A[r * rows + r];
    }
    for (size_t r = 0; r < rows; r++)
        A[r * rows + r] += s->mu * s->cost + LEAST_DAMPING * (trace + LEAST_DAMPING);
    if (LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', (lapack_int)rows, 1, A, (lapack_int)rows, y, (lapack_int)rows) != 0)
        return 0;
    for (size_t v = 0; v < nv; v++) {
        s->step[v] = 0;
        for (size_t r = 0; r < rows; r++)
            s->step[v] -= s->J[r * nv + v] * y[r];
        largest = fmax(largest, fabs(s->step[v]));
    }
    for (size_t v = 0; v < nv && largest > LONGEST_STEP; v++)
        s->step[v] *= LONGEST_STEP / largest;
    return isfinite(largest) ? largest : 0;
}

/* Sets the trial position: the accepted one plus the step, within the bounds. */
static void set_trial(const dyn_pose_problem *p, search *s)
{
    const dyn_model *m = p->robot.tree;
    memcpy(s->trial, s->q, p->robot.nq * sizeof *s->q);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (!b->joint.mimic) dyn_coordinates_move(b, s->trial + b->joint.q, 1, s->step + b->joint.v, 1);
    }
    clamp(p, s->trial);
}

/* --- the search --------------------------------------------------------------------------------------------------- */

static double norm3(const double v[3])
{
    return dyn_norm(v);
}

static bool is_solved(const dyn_pose_problem *p, const double error[N])
{
    return norm3(error) * p->length <= p->tolerance && norm3(error + 3) <= p->tolerance;
}

/* Keeps the accepted position if it is the best of all starts so far. */
static void keep_best(const dyn_pose_problem *p, search *s)
{
    if (!(s->cost < s->least_cost)) return;
    s->least_cost = s->cost;
    memcpy(s->best, s->q, p->robot.nq * sizeof *s->q);
}

/* Ends the search, or begins it again at the next starting position. */
static void start_again(const dyn_pose_problem *p, const dyn_pose_goals *goals, size_t W, size_t lane, search *s)
{
    keep_best(p, s);
    s->running = s->starts < p->most_starts;
    if (!s->running) return;
    set_start(p, goals, W, lane, s);
    memcpy(s->trial, s->q, p->robot.nq * sizeof *s->q);
}

/* Accepts the trial position, with its error and Jacobian. */
static void accept(const dyn_pose_problem *p, const arrays *a, size_t W, size_t lane, const double error[N], search *s)
{
    s->mu = s->fresh ? 1 : fmax(0.3 * s->mu, LEAST_FACTOR);
    memcpy(s->q, s->trial, p->robot.nq * sizeof *s->q);
    memcpy(s->error, error, sizeof s->error);
    copy_jacobian(p, a, W, lane, s->J);
    fix_coordinates_at_bounds(p, s);
    s->fresh = false;
}

/* Accepts or rejects the trial position of a lane, whose kinematics are in `a`, and sets the next trial position. */
static void advance(const dyn_pose_problem *p, const dyn_pose_goals *goals, const arrays *a, size_t W, size_t lane,
                    search *s)
{
    double error[N], cost = 0;
    find_error(p, goals, a, W, lane, error);
    for (int i = 0; i < N; i++)
        cost += 0.5 * error[i] * error[i];
    s->iterations++;
    if (cost < s->cost) {
        s->cost = cost;
        accept(p, a, W, lane, error, s);
    } else {
        s->mu *= 5;
    }
    if (is_solved(p, s->error) && isfinite(s->cost)) {
        s->solved  = true;
        s->running = false;
        memcpy(s->best, s->q, p->robot.nq * sizeof *s->q);
        return;
    }
    if (++s->here > DYN_POSE_MOST_ITERATIONS || s->mu > MOST_FACTOR || !(find_step(p, s) > SHORTEST_STEP))
        start_again(p, goals, W, lane, s);
    else
        set_trial(p, s);
}

/* Writes the trial positions of all lanes into the lanes of `a`; lanes from `live` on repeat the last live one. */
static void put_trials(const dyn_pose_problem *p, arrays *a, size_t W, size_t live)
{
    for (size_t lane = 0; lane < W; lane++)
        dyn_scatter(a->lane[lane < live ? lane : live - 1].trial, p->robot.nq, W, lane, a->q);
}

static void evaluate(const dyn_pose_problem *p, const dyn_kernels *kernels, void *workspace, const arrays *a)
{
    const dyn_frame_pair pair  = {{.body = DYN_WORLD, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}, *p->frame};
    const dyn_scene      scene = {.model = p->robot.tree};
    dyn_closure          io    = {
                    .q = a->q, .n_pairs = 1, .pairs = &pair, .positions = a->position, .rotations = a->rotation, .jacobian = a->J};
    kernels->closure(&scene, workspace, &io, 1);
}

/* Marks the bounds that stop a search, from the error and the Jacobian at its best position. */
static void mark_bounds(const dyn_pose_problem *p, const search *s, size_t W, size_t lane, double *marks)
{
    const dyn_model *m = p->robot.tree;
    for (size_t i = 0; i < p->robot.nq; i++)
        marks[i * W + lane] = 0;
    for (size_t i = 0; !s->solved && i < m->n_bodies; i++)
        if (dyn_has_bounds(&m->body[i]))
            marks[(size_t)m->body[i].joint.q * W + lane] = bound_in_the_way(p, s, &m->body[i], s->best);
}

static void write_found(const dyn_pose_problem *p, const arrays *a, size_t W, size_t live, const dyn_pose_found *found)
{
    for (size_t lane = 0; lane < W; lane++) {
        const search *s = &a->lane[lane < live ? lane : live - 1];
        dyn_scatter(s->best, p->robot.nq, W, lane, found->q);
        if (found->distance) found->distance[lane] = norm3(s->error) * p->length;
        if (found->angle) found->angle[lane] = norm3(s->error + 3);
        if (found->iterations) found->iterations[lane] = (double)s->iterations;
        if (found->starts) found->starts[lane] = (double)s->starts;
        if (found->in_the_way) mark_bounds(p, s, W, lane, found->in_the_way);
    }
    dyn_unwind_springs(p->robot.tree, W, found->q);
    dyn_coordinates_make_quaternions_positive(p->robot.tree, found->q, W);
}

/* Writes the errors and Jacobians at the best positions to the searches. */
static void find_best_errors(const dyn_pose_problem *p, const dyn_kernels *kernels, void *workspace, arrays *a,
                             const dyn_pose_goals *goals, size_t live)
{
    const size_t W = (size_t)kernels->lanes;
    for (size_t lane = 0; lane < live; lane++)
        memcpy(a->lane[lane].trial, a->lane[lane].best, p->robot.nq * sizeof *a->q);
    put_trials(p, a, W, live);
    evaluate(p, kernels, workspace, a);
    for (size_t lane = 0; lane < live; lane++) {
        find_error(p, goals, a, W, lane, a->lane[lane].error);
        copy_jacobian(p, a, W, lane, a->lane[lane].J);
    }
}

unsigned dyn_pose_solve(const dyn_pose_problem *p, const dyn_kernels *kernels, void *workspace, double *room,
                        const dyn_pose_goals *goals, size_t live, const dyn_pose_found *found)
{
    const size_t W       = (size_t)kernels->lanes;
    arrays       a       = lay_out(&p->robot, W, live, room);
    unsigned     solved  = 0;
    bool         running = true;
    *found->stopped      = 0;
    if (live == 0) return 0;
    for (size_t lane = 0; lane < live; lane++) {
        a.lane[lane].cost = a.lane[lane].least_cost = INFINITY;
        start_again(p, goals, W, lane, &a.lane[lane]);
        memcpy(a.lane[lane].best, a.lane[lane].q, p->robot.nq * sizeof *a.q);
    }
    while (running && dyn_may_continue(p->deadline)) {
        put_trials(p, &a, W, live);
        evaluate(p, kernels, workspace, &a);
        running = false;
        for (size_t lane = 0; lane < live; lane++) {
            search *s = &a.lane[lane];
            if (s->running) advance(p, goals, &a, W, lane, s);
            running = running || s->running;
        }
    }
    for (size_t lane = 0; lane < live; lane++)
        *found->stopped |= (unsigned)a.lane[lane].running << lane;
    find_best_errors(p, kernels, workspace, &a, goals, live);
    for (size_t lane = 0; lane < live; lane++)
        solved |= (unsigned)a.lane[lane].solved << lane;
    write_found(p, &a, W, live, found);
    return solved;
}
