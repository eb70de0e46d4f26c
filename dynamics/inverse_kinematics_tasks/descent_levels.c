/* descent_levels.c - finds the errors, Jacobians and Newton models of the levels of priority of a descent
 * (descent_levels.h), and lays out its memory. */
#include "descent_levels.h"
#include "dynamics/math/geometry.h"
#include <math.h>
#include <string.h>

#define WITHIN 1e-9 /* excess over the limits of passive joints that counts as zero */

/* --- memory ------------------------------------------------------------------------------------------------------- */

static bool has_later_priorities(const dyn_task_problem *p)
{
    return p->task[p->n - 1].priority > 0;
}

/* True if levels may have Newton's model. */
static bool may_curve(const dyn_task_problem *p)
{
    return has_later_priorities(p) && p->robot.tree->nv <= DYN_CURVATURE_MOST_VELOCITIES;
}

/* Returns an upper bound of the number of rows of all levels of a step. All Newton models together have at most n
 * rows. */
static size_t most_rows(const dyn_task_problem *p)
{
    return dyn_task_loop_rows(&p->robot, p->lower, p->upper) + DYN_TASK_ROWS * p->n +
           (may_curve(p) ? (size_t)p->robot.tree->nv : 0);
}

size_t dyn_task_descent_entries(const dyn_task_problem *p, size_t W)
{
    const size_t nq = (size_t)p->robot.tree->nq, n = (size_t)p->robot.tree->nv, rows = DYN_TASK_ROWS * p->n;
    const size_t limits = dyn_task_loop_rows(&p->robot, p->lower, p->upper), most = most_rows(p);
    return W * (dyn_task_block_entries(nq, n, p->n) + dyn_task_loops_entries(&p->robot)) + 2 * nq + 3 * n +
           2 * rows * (n + 2) + limits * 2 * n + 2 + dyn_prioritised_step_bytes(n, most) / sizeof(double) + 1 +
           (may_curve(p) ? DYN_DESCENT_LEVELS * n * (n + 1) + dyn_task_curvature_entries(nq, n, rows, most) : 0);
}

/* Lays out the models of levels. Returns the memory after them. */
static double *lay_out_models(dyn_task_descent *d, double *next)
{
    const size_t n = d->n;
    d->may_curve   = may_curve(d->p);
    if (!d->may_curve) return next;
    d->R         = next;
    d->c         = d->R + DYN_DESCENT_LEVELS * n * n;
    d->curvature = (dyn_task_curvature){.block       = &d->block,
                                        .loops       = &d->loops,
                                        .goal        = d->goal,
                                        .n           = n,
                                        .rows        = d->rows,
                                        .most_before = most_rows(d->p),
                                        .deadline    = d->p->deadline};
    dyn_task_curvature_lay_out(&d->curvature, (size_t)d->p->robot.tree->nq, d->c + DYN_DESCENT_LEVELS * n);
    return d->c + DYN_DESCENT_LEVELS * n +
           dyn_task_curvature_entries((size_t)d->p->robot.tree->nq, n, DYN_TASK_ROWS * d->p->n, most_rows(d->p));
}

/* Counts the rows of each level: of the limits of passive joints, which are the first level if there are any, and of
 * the levels of tasks. */
static void list_levels(dyn_task_descent *d)
{
    dyn_step_level tasks[DYN_MOST_TASKS];
    const size_t   n = dyn_task_levels(&d->block, d->here.A, d->here.right, tasks, &d->rows);
    d->first         = d->n_limits > 0;
    d->n_levels      = d->first + n;
    d->count[0]      = d->n_limits;
    for (size_t k = 0; k < n; k++) {
        d->start[d->first + k] = (size_t)(tasks[k].b - d->here.right);
        d->count[d->first + k] = tasks[k].rows;
    }
}

/* Lays out a position. Returns the memory after it. */
static double *lay_out_point(const dyn_task_descent *d, double *next, dyn_task_point *point)
{
    const size_t rows = DYN_TASK_ROWS * d->p->n;
    point->q          = next;
    point->A          = point->q + d->p->robot.tree->nq;
    point->error      = point->A + rows * d->n;
    point->right      = point->error + rows;
    point->limits     = point->right + rows;
    return point->limits + d->n_limits * d->n;
}

void dyn_task_descent_lay_out(dyn_task_descent *d, double *room)
{
    const dyn_task_problem *p  = d->p;
    const size_t            nq = (size_t)p->robot.tree->nq, n = (size_t)p->robot.tree->nv;
    const size_t            W = (size_t)d->block.kernels->lanes;
    d->n                      = n;
    d->n_limits               = dyn_task_loop_rows(&p->robot, p->lower, p->upper);
    d->loops.robot = &p->robot, d->loops.lower = p->lower, d->loops.upper = p->upper, d->loops.W = W;
    dyn_task_block_lay_out(&d->block, room);
    dyn_task_loops_lay_out(&d->loops, room + W * dyn_task_block_entries(nq, n, p->n));
    double *next = room + W * (dyn_task_block_entries(nq, n, p->n) + dyn_task_loops_entries(&p->robot));
    next         = lay_out_point(d, lay_out_point(d, next, &d->here), &d->trial);
    d->lower     = next;
    d->upper     = d->lower + n;
    d->zeros     = d->upper + n;
    list_levels(d);
    next = lay_out_models(d, d->zeros + n);
    next += (size_t)(next - room) % 2; /* keeps the alignment of 16 bytes */
    d->step = (dyn_prioritised_step){.n        = n,
                                     .level    = d->level,
                                     .lower    = d->lower,
                                     .upper    = d->upper,
                                     .deadline = p->deadline,
                                     .undamped = d->first,
                                     .rows     = most_rows(p)};
    dyn_prioritised_step_lay_out(&d->step, next);
    memset(d->zeros, 0, n * sizeof *d->zeros);
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

void dyn_descent_evaluate_trial(dyn_task_descent *d)
{
    dyn_task_evaluate(&d->block, d->trial.q);
    dyn_task_errors(&d->block, d->goal);
    dyn_task_jacobian(&d->block, d->trial.A);
    dyn_task_loops_fold(&d->loops, d->rows, d->trial.A);
    dyn_task_drop_noise(&d->block, d->trial.A);
    dyn_task_loops_write_rows(&d->loops, d->trial.limits);
    dyn_task_gather(&d->block, (const double(*)[DYN_TASK_ROWS])d->block.error, 1, d->trial.error);
    for (size_t i = 0; i < d->rows; i++)
        d->trial.right[i] = -d->trial.error[i];
}

bool dyn_descent_judge(const dyn_task_descent *d, double norm[DYN_DESCENT_LEVELS])
{
    const dyn_frame_task *task = d->p->task;
    size_t                k    = d->first;
    memset(norm, 0, DYN_DESCENT_LEVELS * sizeof *norm);
    if (d->first > 0) norm[0] = dyn_task_loops_excess(&d->loops, d->trial.q, NULL);
    bool met = norm[0] <= WITHIN;
    for (size_t i = 0; i < d->p->n; i++) {
        const double *e = d->block.error[i];
        k += i > 0 && task[i].priority != task[i - 1].priority;
        norm[k] += task[i].weight * (dyn_dot(e, e) + dyn_dot(e + 3, e + 3));
        if (task[i].priority == 0) met = met && dyn_norm(e) <= d->p->tolerance && dyn_norm(e + 3) <= d->p->tolerance;
    }
    for (size_t i = d->first; i <= k; i++)
        norm[i] = sqrt(norm[i]);
    return met;
}

bool dyn_descent_must_be_met(const dyn_task_descent *d, size_t k)
{
    return k == d->first && d->p->task[0].priority == 0;
}

/* --- rows of the levels ------------------------------------------------------------------------------------------- */

double dyn_descent_length(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

void dyn_descent_set_rows(dyn_task_descent *d, size_t k, const dyn_task_point *point)
{
    const bool limits = k < d->first;
    d->level[k]       = (dyn_step_level){.rows = d->count[k],
                                         .A    = limits ? point->limits : point->A + d->start[k] * d->n,
                                         .b    = limits ? d->zeros : point->right + d->start[k]};
    d->is_model[k]    = limits;
}

bool dyn_descent_find_model(dyn_task_descent *d, size_t k, const dyn_task_point *point)
{
    const size_t           n     = d->n;
    const dyn_curved_level level = {.q        = point->q,
                                    .A        = point->A,
                                    .error    = point->error,
                                    .first    = d->start[k],
                                    .end      = d->start[k] + d->count[k],
                                    .before   = d->level,
                                    .n_before = k,
                                    .is_model = d->is_model};
    size_t                 rows  = 0;
    if (!dyn_task_curvature_find(&d->curvature, &level, d->R + k * n * n, d->c + k * n, &rows)) return false;
    d->level[k]    = (dyn_step_level){rows, d->R + k * n * n, d->c + k * n};
    d->is_model[k] = true;
    return true;
}

bool dyn_descent_set_levels(dyn_task_descent *d, const dyn_task_point *point, double norm[DYN_DESCENT_LEVELS])
{
    for (size_t k = 0; k <= d->last; k++) {
        dyn_descent_set_rows(d, k, point);
        if (!d->keeps_error[k] || k == d->last) continue;
        if (!dyn_descent_find_model(d, k, point)) return false;
        norm[k] = dyn_descent_length(d->level[k].b, d->level[k].rows);
    }
    return true;
}
