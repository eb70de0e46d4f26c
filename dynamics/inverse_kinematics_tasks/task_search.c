/* task_search.c - finds coordinates that meet prioritised tasks (task_search.h). */
#include "task_search.h"
#include "dynamics/inverse_kinematics/search_start.h"
#include "dynamics/math/geometry.h"
#include "dynamics/model/coordinates.h"
#include <math.h>
#include <string.h>

#define HIGHEST_PRICE 1e9
#define FIRST_MU      1e-3 /* damping at a start, in units of the sum of squared errors */
#define LEAST_MU      1e-9
#define LEAST_DAMPING 2e-10 /* relative to the sum of squares of the Jacobian */
#define MOST_MU       1e7   /* a search whose damping factor is larger than this has reached a minimum */
#define LONGEST_STEP  1.0   /* rad or m */
#define LOCAL         0.1 /* rad or m: a step below this may be accepted because it is much shorter than the one before */
#define CONTRACTION   0.5 /* ratio of its length to that of the step before */
enum { RESTORATIONS = 10 };
#define SETTLED 1e-9 /* rad or m: a step below this is at a minimum */
#define NEARLY  1e-6 /* rad or m: a step below this that is not accepted is at a minimum, within rounding errors */

typedef struct search {
    const dyn_task_problem *p;
    dyn_task_block          block;
    dyn_prioritised_step    step;
    dyn_step_level          level[DYN_MOST_TASKS];
    const double           *goal;
    double                 *q, *trial, *best; /* [nq] */
    double                 *lower, *upper;    /* [nv] bounds of a step */
    double                 *A, *right;        /* rows x nv; rows */
    double                  least, mu;
    double                  norm[DYN_MOST_TASKS]; /* norms of the weighted errors of each level at q */
    double                  model[DYN_MOST_TASKS];
    double                  price[DYN_MOST_TASKS]; /* factors of the norms of all levels but the last, in the merit */
    size_t                  iterations;
    bool                    met;    /* true: the tasks of priority 0 are met at q */
    double                  length; /* length of the step that was accepted last */
    double                  error[DYN_MOST_TASKS][DYN_TASK_ROWS],
        best_error[DYN_MOST_TASKS][DYN_TASK_ROWS]; /* at q and at the best position */
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
    next += ((size_t)(next - room)) % 2; /* keeps the alignment of 16 bytes */
    s->step = (dyn_prioritised_step){
        .n = nv, .level = s->level, .lower = s->lower, .upper = s->upper, .deadline = p->deadline};
    s->step.n_levels = dyn_task_levels(&s->block, s->A, s->right, s->level, &rows);
    s->step.rows     = rows;
    dyn_prioritised_step_lay_out(&s->step, next);
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

/* Writes the weighted norm of the evaluated errors of each level. Returns true if those of priority 0 are within the
 * tolerance. */
static bool judge(const search *s, double norm[DYN_MOST_TASKS])
{
    const dyn_frame_task *task = s->p->task;
    bool                  met  = true;
    size_t                k    = 0;
    memset(norm, 0, DYN_MOST_TASKS * sizeof *norm);
    for (size_t i = 0; i < s->p->n; i++) {
        const double *e = s->block.error[i];
        k += i > 0 && task[i].priority != task[i - 1].priority;
        norm[k] += task[i].weight * (dyn_dot(e, e) + dyn_dot(e + 3, e + 3));
        if (task[i].priority == 0) met = met && dyn_norm(e) <= s->p->tolerance && dyn_norm(e + 3) <= s->p->tolerance;
    }
    for (size_t i = 0; i <= k; i++)
        norm[i] = sqrt(norm[i]);
    return met;
}

/* Returns the merit of the levels from `first` on: the sum of price times norm, where the last level counts with half
 * its square. */
static double merit(const search *s, size_t first, const double norm[DYN_MOST_TASKS])
{
    const size_t last = s->step.n_levels - 1;
    double       sum  = 0.5 * norm[last] * norm[last];
    for (size_t k = first; k < last; k++)
        sum += s->price[k] * norm[k];
    return sum;
}

/* Raises the prices of levels until the linear model of the step lowers the merit, so that an improvement of an earlier
 * level outweighs losses of later ones. */
static void raise_prices(search *s)
{
    double *model = s->model;
    memset(model, 0, sizeof s->model);
    for (size_t k = 0; k < s->step.n_levels; k++) {
        const dyn_step_level *l = &s->level[k];
        for (size_t i = 0; i < l->rows; i++) {
            double left = l->b[i];
            for (size_t v = 0; v < s->step.n; v++)
                left -= l->A[i * s->step.n + v] * s->step.x[v];
            model[k] += left * left;
        }
        model[k] = sqrt(model[k]);
    }
    for (size_t k = s->step.n_levels - 1; k-- > 0;) {
        const double gain = s->norm[k] - model[k], loss = merit(s, k + 1, model) - merit(s, k + 1, s->norm);
        if (gain > 0 && loss > 0) s->price[k] = fmin(fmax(s->price[k], 2 * loss / gain), HIGHEST_PRICE);
    }
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

/* Makes the trial position, which has been evaluated, the accepted one. */
static void move(search *s, const double norm[DYN_MOST_TASKS], double length)
{
    s->length = length;
    memcpy(s->norm, norm, sizeof s->norm);
    memcpy(s->q, s->trial, s->p->robot.nq * sizeof *s->q);
    memcpy(s->error, s->block.error, sizeof s->error);
    dyn_task_jacobian(&s->block, s->A);
    dyn_task_gather(&s->block, s->block.error, -1, s->right);
}

/* Evaluates the trial position and accepts it if its merit is smaller, or if its step is much shorter than the one
 * before: within rounding errors the merit decides nothing. */
static bool accept_position(search *s, double length)
{
    double norm[DYN_MOST_TASKS];
    dyn_task_evaluate(&s->block, s->trial);
    dyn_task_errors(&s->block, s->goal);
    s->iterations++;
    const bool met      = judge(s, norm);
    const double new    = merit(s, 0, norm);
    const bool contract = s->mu <= FIRST_MU && length < CONTRACTION * s->length && length < LOCAL;
    if (!(new < merit(s, 0, s->norm)) && !(contract && isfinite(new))) return false;
    s->met = met;
    move(s, norm, length);
    return true;
}

/* Returns the damping of a step. It goes to zero with the errors, down to a remainder that costs no digits. */
static double damping_of(const search *s)
{
    double sum = 0, squares = 0;
    for (size_t k = 0; k < s->step.n_levels; k++)
        sum += 0.5 * s->norm[k] * s->norm[k];
    for (size_t i = 0; i < s->step.rows * s->step.n; i++)
        squares += s->A[i] * s->A[i];
    return fmax(s->mu * sum, LEAST_DAMPING * squares);
}

/* Takes Newton steps of the tasks of priority 0 alone, which are met approximately. */
static void restore(search *s)
{
    const size_t levels = s->step.n_levels;
    s->step.n_levels    = 1;
    s->step.damping     = 0;
    for (int i = 0; i < RESTORATIONS && !s->met && s->norm[0] < LOCAL; i++) {
        double norm[DYN_MOST_TASKS];
        if (isnan(try_step(s))) break;
        dyn_task_evaluate(&s->block, s->trial);
        dyn_task_errors(&s->block, s->goal);
        s->met = judge(s, norm);
        if (!(norm[0] < s->norm[0])) break;
        move(s, norm, 0);
    }
    s->step.n_levels = levels;
}

/* Keeps the accepted position as the result if it is the best of all starts, or meets the tasks. */
static dyn_task_status keep(search *s, dyn_task_status status)
{
    if (status == DYN_TASKS_OUT_OF_REACH && !(s->norm[0] < s->least)) return status;
    s->least = s->norm[0];
    memcpy(s->best, s->q, s->p->robot.nq * sizeof *s->best);
    memcpy(s->best_error, s->error, sizeof s->best_error);
    return status;
}

/* Returns the factor by which the damping changes after a step that achieved the fraction `share` of the gain predicted
 * by its linear model (Nielsen 1999). */
static double factor_of(double share)
{
    const double x = 2 * share - 1;
    return isfinite(x) ? fmin(fmax(1 - x * x * x, 0.1), 2) : 1;
}

/* Searches from the position s->trial. */
static dyn_task_status search_from_trial(search *s)
{
    for (int i = 0; i < DYN_TASK_MOST_ITERATIONS; i++) {
        if (s->met && !has_later_priorities(s)) return DYN_TASKS_MET;
        s->step.damping     = damping_of(s);
        const double length = try_step(s);
        if (!dyn_may_continue(s->p->deadline)) return DYN_TASKS_LATE;
        if (!(length > SETTLED)) return DYN_TASKS_MET;
        raise_prices(s);
        const double before = merit(s, 0, s->norm), promised = before - merit(s, 0, s->model);
        const bool   better = accept_position(s, length);
        if (!better && (length < NEARLY || s->mu > MOST_MU)) return DYN_TASKS_MET;
        s->mu = better ? fmax(factor_of((before - merit(s, 0, s->norm)) / promised) * s->mu, LEAST_MU)
                       : fmax(4 * s->mu, FIRST_MU);
    }
    return DYN_TASKS_UNSETTLED;
}

/* Searches from the position s->trial; at the end refines it until the tasks of priority 0 are met. */
static dyn_task_status descend_from_trial(search *s)
{
    s->length = INFINITY;
    s->mu     = FIRST_MU;
    s->met    = false;
    for (size_t k = 0; k < DYN_MOST_TASKS; k++)
        s->norm[k] = INFINITY, s->price[k] = 1;
    if (!accept_position(s, INFINITY)) return DYN_TASKS_OUT_OF_REACH;
    const dyn_task_status status = search_from_trial(s);
    if (status == DYN_TASKS_LATE) return status;
    if (has_later_priorities(s)) restore(s);
    return s->met ? status : DYN_TASKS_OUT_OF_REACH;
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
        status = keep(&s, descend_from_trial(&s));
    }
    write_found(&s, found);
    return status;
}
