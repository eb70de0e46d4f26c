/* task_search.c - finds coordinates that meet prioritised tasks (task_search.h). */
#include "task_search.h"
#include "dynamics/kinematics/search_start.h"
#include "dynamics/math/geometry.h"
#include "dynamics/model/coordinates.h"
#include <math.h>
#include <string.h>

#define LEVEL_SHARE  1e-4 /* of a level's squared errors beside those of the level before */
#define FIRST_MU     1e-3 /* damping at a start, in units of the sum of squared errors */
#define LEAST_MU     1e-9
#define MOST_MU      1e7   /* a search with a larger damping has reached a minimum */
#define LONGEST_STEP 1.0   /* rad or m */
#define SETTLED      1e-10 /* rad or m: a step below this is at a minimum */
#define NEARLY       1e-6 /* rad or m: a step below this that is not accepted is at a minimum, within rounding errors */

typedef struct search {
    const dyn_task_problem *p;
    dyn_task_block          block;
    dyn_prioritised_step    step;
    dyn_step_level          level[DYN_MOST_TASKS];
    const double           *goal;
    double                 *q, *trial, *best; /* [nq] */
    double                 *lower, *upper;    /* [nv] of a step */
    double                 *A, *right;        /* rows x nv; rows */
    double                  cost, least, mu;
    size_t                  iterations;
    bool                    met; /* the tasks of priority 0, at q */
    bool                    best_met;
    double                  best_error[DYN_MOST_TASKS][DYN_TASK_ROWS];
} search;

/* --- memory ------------------------------------------------------------------------------------------------------- */

size_t dyn_task_search_entries(size_t nq, size_t nv, size_t n, size_t W)
{
    const size_t rows = DYN_TASK_ROWS * n;
    return W * dyn_task_block_entries(nq, nv, n) + 3 * nq + 2 * nv + rows * (nv + 1) + 2 +
           dyn_prioritised_step_bytes(nv, rows) / sizeof(double) + 1;
}

static void lay_out(search *s, double *room)
{
    const dyn_task_problem *p  = s->p;
    const size_t            nq = p->robot.nq, nv = p->robot.nv, W = (size_t)s->block.kernels->lanes;
    size_t                  rows = 0;
    dyn_task_block_lay_out(&s->block, room);
    s->q         = room + W * dyn_task_block_entries(nq, nv, p->n);
    s->trial     = s->q + nq;
    s->best      = s->trial + nq;
    s->lower     = s->best + nq;
    s->upper     = s->lower + nv;
    s->A         = s->upper + nv;
    s->right     = s->A + DYN_TASK_ROWS * p->n * nv;
    double *next = s->right + DYN_TASK_ROWS * p->n;
    next += ((size_t)(next - room)) % 2; /* 16 bytes, as the room is */
    s->step = (dyn_prioritised_step){
        .n = nv, .level = s->level, .lower = s->lower, .upper = s->upper, .deadline = p->deadline};
    s->step.n_levels = dyn_task_levels(&s->block, s->A, s->right, s->level, &rows);
    s->step.rows     = rows;
    dyn_prioritised_step_lay_out(&s->step, next);
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

/* Returns the sum of squared errors, each level with its share; *met becomes true if those of priority 0 are within the
 * tolerance. */
static double judge(const search *s, bool *met)
{
    const dyn_frame_task *task  = s->p->task;
    double                share = 0.5, sum = 0;
    *met = true;
    for (size_t i = 0; i < s->p->n; i++) {
        const double *e = s->block.error[i];
        if (i > 0 && task[i].priority != task[i - 1].priority) share *= LEVEL_SHARE;
        sum += share * task[i].weight * (dyn_dot(e, e) + dyn_dot(e + 3, e + 3));
        if (task[i].priority == 0) *met = *met && dyn_norm(e) <= s->p->tolerance && dyn_norm(e + 3) <= s->p->tolerance;
    }
    return sum;
}

static bool has_later_priorities(const search *s)
{
    return s->p->task[s->p->n - 1].priority > 0;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* Bounds the step of each coordinate. */
static void bound_step(search *s)
{
    const dyn_model *m = s->p->robot.tree;
    for (size_t v = 0; v < s->p->robot.nv; v++)
        s->lower[v] = -LONGEST_STEP, s->upper[v] = LONGEST_STEP;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (!dyn_has_bounds(b)) continue;
        const size_t q = (size_t)b->joint.q, v = (size_t)b->joint.v;
        s->lower[v] = fmin(0, fmax(-LONGEST_STEP, s->p->lower[q] - s->q[q]));
        s->upper[v] = fmax(0, fmin(LONGEST_STEP, s->p->upper[q] - s->q[q]));
    }
}

/* Sets the trial position. Returns the largest entry of the step; NAN: there is none. */
static double try_step(search *s)
{
    const dyn_model *m       = s->p->robot.tree;
    double           largest = 0;
    bound_step(s);
    s->step.damping = s->mu * s->cost;
    if (!dyn_prioritised_step_solve(&s->step)) return NAN;
    for (size_t v = 0; v < s->p->robot.nv; v++)
        largest = fmax(largest, fabs(s->step.x[v]));
    memcpy(s->trial, s->q, s->p->robot.nq * sizeof *s->q);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (!b->joint.mimic) dyn_coordinates_move(b, s->trial + b->joint.q, 1, s->step.x + b->joint.v, 1);
        if (!dyn_has_bounds(b)) continue;
        const size_t q = (size_t)b->joint.q;
        s->trial[q]    = fmin(fmax(s->trial[q], s->p->lower[q]), s->p->upper[q]);
    }
    return largest;
}

/* Evaluates the trial position and accepts it if its errors are smaller. */
static bool accept(search *s)
{
    bool met;
    dyn_task_evaluate(&s->block, s->trial);
    dyn_task_errors(&s->block, s->goal);
    s->iterations++;
    const double cost = judge(s, &met);
    if (!(cost < s->cost)) return false;
    s->cost = cost;
    s->met  = met;
    memcpy(s->q, s->trial, s->p->robot.nq * sizeof *s->q);
    dyn_task_jacobian(&s->block, s->A);
    dyn_task_gather(&s->block, s->block.error, -1, s->right);
    if (met < s->best_met || (met == s->best_met && cost >= s->least)) return true;
    s->least    = cost;
    s->best_met = met;
    memcpy(s->best, s->q, s->p->robot.nq * sizeof *s->q);
    memcpy(s->best_error, s->block.error, sizeof s->best_error);
    return true;
}

/* Searches from s->trial. */
static dyn_task_status descend(search *s)
{
    s->cost = INFINITY;
    s->mu   = FIRST_MU;
    s->met  = false;
    if (!accept(s)) return DYN_TASKS_OUT_OF_REACH;
    for (int i = 0; i < DYN_TASK_MOST_ITERATIONS; i++) {
        if (s->met && !has_later_priorities(s)) return DYN_TASKS_MET;
        const double length = try_step(s);
        if (!dyn_may_continue(s->p->deadline)) return DYN_TASKS_LATE;
        if (!(length > SETTLED)) return s->met ? DYN_TASKS_MET : DYN_TASKS_OUT_OF_REACH;
        const bool better = accept(s);
        if (!better && (length < NEARLY || s->mu > MOST_MU)) return s->met ? DYN_TASKS_MET : DYN_TASKS_OUT_OF_REACH;
        s->mu = better ? fmax(0.1 * s->mu, LEAST_MU) : fmax(8 * s->mu, FIRST_MU);
    }
    return s->met ? DYN_TASKS_UNSETTLED : DYN_TASKS_OUT_OF_REACH;
}

static void write_found(search *s, dyn_task_found *found)
{
    memcpy(found->q, s->best, s->p->robot.nq * sizeof *found->q);
    dyn_unwind_springs(s->p->robot.tree, 1, found->q);
    dyn_coordinates_make_quaternions_positive(s->p->robot.tree, found->q, 1);
    for (size_t i = 0; i < s->p->n; i++) {
        found->error[i][0] = dyn_norm(s->best_error[i]);
        found->error[i][1] = dyn_norm(s->best_error[i] + 3);
    }
    found->iterations = s->iterations;
}

dyn_task_status dyn_task_search(const dyn_task_problem *p, const dyn_kernels *kernels, void *workspace, double *room,
                                const double *goal, dyn_task_found *found)
{
    const dyn_search_space space  = {p->robot.tree, p->lower, p->upper, p->length};
    dyn_task_status        status = DYN_TASKS_OUT_OF_REACH;
    search                 s      = {.p = p,
                                     .block = {.robot = &p->robot, .kernels = kernels, .workspace = workspace, .n = p->n, .task = p->task},
                                     .goal  = goal,
                                     .least = INFINITY};
    lay_out(&s, room);
    memcpy(s.best, found->q, p->robot.nq * sizeof *s.best);
    for (found->starts = 0; found->starts < p->most_starts && status == DYN_TASKS_OUT_OF_REACH; found->starts++) {
        memcpy(s.trial, found->q, p->robot.nq * sizeof *s.trial);
        dyn_search_start(&space, found->starts, s.trial);
        for (size_t i = 0; i < p->robot.nq; i++)
            s.trial[i] = fmin(fmax(s.trial[i], p->lower[i]), p->upper[i]);
        status = descend(&s);
    }
    write_found(&s, found);
    return status;
}
