/* task_search.c - finds coordinates that meet prioritised tasks (task_search.h). */
#include "task_search.h"
#include "task_descent.h"
#include "dynamics/inverse_kinematics/search_start.h"
#include "dynamics/math/geometry.h"
#include "dynamics/model/coordinates.h"
#include <math.h>
#include <string.h>

typedef struct search {
    dyn_task_descent descent;
    double          *best;  /* [tree nq] the best position of all starts */
    double           least; /* norm of the errors of priority 0 there */
    double           best_error[DYN_MOST_TASKS][DYN_TASK_ROWS];
} search;

size_t dyn_task_search_entries(const dyn_task_problem *p, size_t W)
{
    return dyn_task_descent_entries(p, W) + (size_t)p->robot.tree->nq;
}

/* Sets the starting position number `start`. Returns false if its loops cannot be closed. */
static bool take_search_start(search *s, size_t start, const double *q)
{
    dyn_task_descent       *d     = &s->descent;
    const dyn_task_problem *p     = d->p;
    const dyn_search_space  space = {p->robot.tree, p->lower, p->upper, p->length};
    memcpy(d->trial.q, q, (size_t)p->robot.tree->nq * sizeof *q);
    if (start == 0 && d->loops.closed) return dyn_task_loops_restore(&d->loops, d->trial.q);
    dyn_search_start(&space, start, d->trial.q);
    for (size_t i = 0; i < (size_t)p->robot.tree->nq; i++)
        d->trial.q[i] = fmin(fmax(d->trial.q[i], p->lower[i]), p->upper[i]);
    return dyn_task_loops_close(&d->loops, NULL, d->trial.q);
}

/* Seeks the minima of all levels from the trial position, one after the other. */
static dyn_task_status seek_all_levels(dyn_task_descent *d)
{
    dyn_task_status status = DYN_TASKS_MET;
    if (!dyn_task_descent_begin(d)) return DYN_TASKS_OUT_OF_REACH;
    for (size_t k = d->first; k < d->n_levels && status == DYN_TASKS_MET; k++) {
        status = dyn_task_descent_seek(d, k);
        if (k == d->first && !d->met && status != DYN_TASKS_LATE) return DYN_TASKS_OUT_OF_REACH;
    }
    if (status == DYN_TASKS_LATE) return status;
    dyn_task_descent_restore(d);
    if (!d->met) return DYN_TASKS_OUT_OF_REACH;
    if (status == DYN_TASKS_MET && !dyn_task_descent_confirm(d))
        return dyn_may_continue(d->p->deadline) ? DYN_TASKS_APART : DYN_TASKS_LATE;
    return status;
}

/* Keeps the accepted position as the result if it is the best of all starts, or meets the tasks. */
static void keep_best_position(search *s, dyn_task_status status)
{
    const dyn_task_descent *d = &s->descent;
    if (status == DYN_TASKS_APART || (status == DYN_TASKS_OUT_OF_REACH && !(d->norm[d->first] < s->least))) return;
    s->least = d->norm[d->first];
    memcpy(s->best, d->here.q, (size_t)d->p->robot.tree->nq * sizeof *s->best);
    memcpy(s->best_error, d->task_error, sizeof s->best_error);
}

static void write_found(const search *s, dyn_task_found *found)
{
    const dyn_task_problem *p = s->descent.p;
    memcpy(found->q, s->best, (size_t)p->robot.tree->nq * sizeof *found->q);
    dyn_unwind_springs(p->robot.tree, 1, found->q);
    dyn_coordinates_make_quaternions_positive(p->robot.tree, found->q, 1);
    for (size_t i = 0; i < p->n; i++) {
        found->error[i][0] = dyn_norm(s->best_error[i]);
        found->error[i][1] = dyn_norm(s->best_error[i] + 3);
    }
    found->iterations = s->descent.iterations;
}

/* True if another start may find a better position. */
static bool may_begin_again(dyn_task_status status)
{
    return status == DYN_TASKS_OUT_OF_REACH || status == DYN_TASKS_APART;
}

/* Searches from starting position number `start`. */
static dyn_task_status search_from(search *s, size_t start, const double *q)
{
    if (!take_search_start(s, start, q))
        return dyn_may_continue(s->descent.p->deadline) ? DYN_TASKS_OUT_OF_REACH : DYN_TASKS_LATE;
    const dyn_task_status status = seek_all_levels(&s->descent);
    keep_best_position(s, status);
    return status;
}

dyn_task_status dyn_task_search(const dyn_task_problem *p, const dyn_kernels *kernels, void *workspace, double *room,
                                const double *goal, dyn_task_found *found)
{
    dyn_task_status status = DYN_TASKS_OUT_OF_REACH;
    bool            apart  = false;
    search          s      = {
                      .descent =
                          {.p     = p,
                           .block = {.robot = &p->robot, .kernels = kernels, .workspace = workspace, .n = p->n, .task = p->task},
                           .loops = {.closed = p->closed, .guess = p->guess},
                           .goal  = goal},
                      .least = INFINITY};
    dyn_task_descent_lay_out(&s.descent, room);
    s.best = room + dyn_task_descent_entries(p, (size_t)kernels->lanes);
    memcpy(s.best, found->q, (size_t)p->robot.tree->nq * sizeof *s.best);
    for (found->starts = 0; found->starts < p->most_starts && may_begin_again(status); found->starts++) {
        status = search_from(&s, found->starts, found->q);
        apart |= status == DYN_TASKS_APART;
    }
    write_found(&s, found);
    return apart && status == DYN_TASKS_OUT_OF_REACH ? DYN_TASKS_APART : status;
}
