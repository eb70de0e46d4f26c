/* task_descent.c - descends to a minimum of one level of prioritised tasks (task_descent.h). */
#include "descent_levels.h"
#include "dynamics/inverse_kinematics/search_start.h"
#include "dynamics/model/coordinates.h"
#include <math.h>
#include <string.h>

#define HIGHEST_PRICE 1e9
#define FIRST_MU      1e-3 /* damping at a start, relative to half the sum of squared errors */
#define LEAST_MU      1e-9
#define LEAST_DAMPING 2e-10 /* least damping, relative to the sum of squares of the Jacobian's entries */
#define MOST_MU       1e7   /* a search whose damping factor is larger than this has reached a minimum */
#define LONGEST_STEP  1.0   /* rad or m */
#define LOCAL         0.1 /* rad or m: a step below this may be accepted because it is much shorter than the one before */
#define CONTRACTION   0.5  /* ratio of lengths of two steps, below which the second is "much shorter" */
#define SETTLED       1e-9 /* rad or m: a step below this is at a minimum */
#define NEARLY        1e-6 /* rad or m: a step below this that is not accepted is at a minimum, within rounding errors */
#define MET           1e-8 /* norm of the weighted errors up to which a level counts as met */
#define CHANGED       1e-8 /* change of an error that shows another position */
enum { RESTORATIONS = 10 };

/* --- merit -------------------------------------------------------------------------------------------------------- */

/* Returns the merit of the levels from `first` on: the sum of price times norm over the levels before the last one,
 * plus half the squared norm of the last level. */
static double merit(const dyn_task_descent *d, size_t first, const double norm[DYN_DESCENT_LEVELS])
{
    double sum = 0.5 * norm[d->last] * norm[d->last];
    for (size_t k = first; k < d->last; k++)
        sum += d->price[k] * norm[k];
    return sum;
}

/* Returns the squared norm of level k that the rows of the step predict after the step. */
static double predict(const dyn_task_descent *d, size_t k)
{
    const dyn_step_level *l   = &d->level[k];
    double                sum = 0;
    for (size_t i = 0; i < l->rows; i++) {
        double left = l->b[i];
        for (size_t v = 0; v < d->n; v++)
            left -= l->A[i * d->n + v] * d->step.x[v];
        sum += left * left;
    }
    if (k != d->last || !d->curved) return sum;
    const double c = dyn_descent_length(l->b, l->rows); /* Newton's model leaves out a constant */
    return fmax(0, sum + d->norm[k] * d->norm[k] - c * c);
}

/* Raises the prices of levels until a change from the present norms to those `after` lowers the merit, so that an
 * improvement of an earlier level outweighs losses of later ones. Levels with a norm up to `met` count as met, and keep
 * their prices. */
static void cover_losses(dyn_task_descent *d, const double after[DYN_DESCENT_LEVELS], double met)
{
    for (size_t k = d->last; k-- > 0;) {
        const double gain = d->norm[k] - after[k], loss = merit(d, k + 1, after) - merit(d, k + 1, d->norm);
        if (d->norm[k] > met && gain > 0 && loss > 0)
            d->price[k] = fmin(fmax(d->price[k], 2 * loss / gain), HIGHEST_PRICE);
    }
}

/* Raises the prices until the norms that the step predicts lower the merit. */
static void raise_prices(dyn_task_descent *d)
{
    double *model = d->model;
    memset(model, 0, sizeof d->model);
    for (size_t k = 0; k <= d->last; k++)
        model[k] = k < d->first ? dyn_task_loops_excess(&d->loops, d->here.q, d->step.x) : sqrt(predict(d, k));
    cover_losses(d, model, 0);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* Bounds the step of each coordinate from a position. Steps of other coordinates may have moved a passive coordinate
 * beyond a limit: its bounds then demand a step back, of at most LONGEST_STEP. */
static void bound_step(dyn_task_descent *d, const double *from)
{
    const dyn_task_problem *p = d->p;
    for (size_t v = 0; v < d->n; v++)
        d->lower[v] = -LONGEST_STEP, d->upper[v] = LONGEST_STEP;
    for (size_t i = 0; i < p->robot.tree->n_bodies; i++) {
        const dyn_body *b = &p->robot.tree->body[i];
        if (!dyn_has_bounds(b)) continue;
        const size_t q = (size_t)b->joint.q, v = (size_t)b->joint.v;
        const double back = dyn_first_velocity(&p->robot, b) < 0 ? LONGEST_STEP : 0;
        d->lower[v]       = fmin(back, fmax(-LONGEST_STEP, p->lower[q] - from[q]));
        d->upper[v]       = fmax(-back, fmin(LONGEST_STEP, p->upper[q] - from[q]));
    }
}

/* Moves the actuated coordinates of q by the step, within their limits. */
static void add_step(const dyn_task_descent *d, double *q)
{
    const dyn_task_problem *p = d->p;
    for (size_t i = 0; i < p->robot.tree->n_bodies; i++) {
        const dyn_body *b = &p->robot.tree->body[i];
        if (dyn_joint_nv(b->joint.kind) == 0 || dyn_first_velocity(&p->robot, b) < 0) continue;
        double *const x = q + b->joint.q;
        if (!b->joint.mimic) dyn_coordinates_move(b, x, 1, d->step.x + b->joint.v, 1);
        if (dyn_has_bounds(b)) *x = fmin(fmax(*x, p->lower[b->joint.q]), p->upper[b->joint.q]);
    }
}

/* Sets the trial position. Returns the largest entry of the step; NAN: there is none. */
static double set_trial_position(dyn_task_descent *d)
{
    double largest = 0;
    bound_step(d, d->here.q);
    if (!dyn_prioritised_step_solve(&d->step)) return NAN;
    for (size_t v = 0; v < d->n; v++)
        largest = fmax(largest, fabs(d->step.x[v]));
    memcpy(d->trial.q, d->here.q, (size_t)d->p->robot.tree->nq * sizeof *d->trial.q);
    add_step(d, d->trial.q);
    return largest;
}

/* Closes the loops at the trial position, and evaluates it. Returns false if they cannot be closed. */
static bool reach_trial(dyn_task_descent *d)
{
    if (!dyn_task_loops_close(&d->loops, d->here.q, d->trial.q)) return false;
    dyn_descent_evaluate_trial(d);
    return true;
}

/* Corrects the trial position to second order (Nocedal & Wright 2006, ch. 18.3): by their curvature, the levels before
 * the last one have changed errors that the step should keep. Returns false if there is no such position. */
static bool correct_trial(dyn_task_descent *d)
{
    double norm[DYN_DESCENT_LEVELS];
    if (!dyn_descent_set_levels(d, &d->trial, norm)) return false;
    d->step.n_levels = d->last;
    d->step.damping  = 0;
    bound_step(d, d->trial.q);
    const bool solved = dyn_prioritised_step_solve(&d->step);
    d->step.n_levels  = d->last + 1;
    if (!solved) return false;
    add_step(d, d->trial.q);
    return reach_trial(d);
}

/* Makes the trial position, which has been evaluated, the accepted one. */
static void accept_trial_position(dyn_task_descent *d, const double norm[DYN_DESCENT_LEVELS], double length)
{
    d->length = length;
    memcpy(d->norm, norm, sizeof d->norm);
    memcpy(d->here.q, d->trial.q, (size_t)d->p->robot.tree->nq * sizeof *d->here.q);
    memcpy(d->here.A, d->trial.A, d->rows * d->n * sizeof *d->here.A);
    memcpy(d->here.error, d->trial.error, d->rows * sizeof *d->here.error);
    memcpy(d->here.right, d->trial.right, d->rows * sizeof *d->here.right);
    memcpy(d->here.limits, d->trial.limits, d->n_limits * d->n * sizeof *d->here.limits);
    for (size_t k = 0; k <= d->last; k++)
        if (!d->is_model[k] || k < d->first) dyn_descent_set_rows(d, k, &d->here);
}

/* Evaluates the trial position and accepts it if its merit is smaller, or if its step is much shorter than the one
 * before: differences of the merit are then rounding errors. If the position is rejected although it meets earlier
 * levels better, the prices of these levels rise: near a singular position the later levels lose more than the linear
 * prediction shows. */
static bool accept_position(dyn_task_descent *d, double length)
{
    double task_error[DYN_MOST_TASKS][DYN_TASK_ROWS], norm[DYN_DESCENT_LEVELS];
    d->iterations++;
    if (!reach_trial(d) || (d->last > d->first && !correct_trial(d))) return false;
    memcpy(task_error, d->block.error, sizeof task_error);
    const bool met      = dyn_descent_judge(d, norm);
    const bool modelled = dyn_descent_set_levels(d, &d->trial, norm);
    const double new    = merit(d, 0, norm);
    const bool contract = d->mu <= FIRST_MU && length < CONTRACTION * d->length && length < LOCAL;
    if (!modelled || (!(new < merit(d, 0, d->norm)) && !(contract && isfinite(new)))) {
        if (modelled && isfinite(new)) cover_losses(d, norm, MET);
        return false;
    }
    d->met = met;
    memcpy(d->task_error, task_error, sizeof d->task_error);
    accept_trial_position(d, norm, length);
    return true;
}

/* Returns the damping of a step, which goes to zero with the errors, down to a limit (LEAST_DAMPING) that costs no
 * accuracy. */
static double damping_of(const dyn_task_descent *d)
{
    double sum = 0, squares = 0;
    size_t rows = 0;
    for (size_t k = d->first; k <= d->last; k++) {
        sum += 0.5 * d->norm[k] * d->norm[k];
        rows += d->count[k];
    }
    for (size_t i = 0; i < rows * d->n; i++)
        squares += d->here.A[i] * d->here.A[i];
    return fmax(d->mu * sum, LEAST_DAMPING * squares);
}

/* --- the descent -------------------------------------------------------------------------------------------------- */

bool dyn_task_descent_begin(dyn_task_descent *d)
{
    double norm[DYN_DESCENT_LEVELS];
    d->last = d->first;
    memset(d->keeps_error, 0, sizeof d->keeps_error);
    dyn_descent_evaluate_trial(d);
    memcpy(d->task_error, d->block.error, sizeof d->task_error);
    d->iterations++;
    d->met = dyn_descent_judge(d, norm);
    dyn_descent_set_levels(d, &d->trial, norm);
    if (!isfinite(merit(d, 0, norm))) return false;
    accept_trial_position(d, norm, INFINITY);
    return true;
}

/* Returns the factor by which the damping changes after a step that achieved the fraction `share` of the gain predicted
 * by its linear model (Nielsen 1999). */
static double damping_factor(double share)
{
    const double x = 2 * share - 1;
    return isfinite(x) ? fmin(fmax(1 - x * x * x, 0.1), 2) : 1;
}

/* Raises the prices of the levels before the last one above the norms of their multipliers, so that the merit has its
 * minimum where they are met. */
static void cover_multipliers(dyn_task_descent *d)
{
    const double *lambda = d->curvature.lambda;
    for (size_t k = 0; k < d->last; k++) {
        d->price[k] = fmin(fmax(d->price[k], 2 * dyn_descent_length(lambda, d->level[k].rows)), HIGHEST_PRICE);
        lambda += d->level[k].rows;
    }
}

/* Chooses the rows of the last level: Newton's model if the last accepted step was short, else Gauss-Newton rows. */
static void choose_model(dyn_task_descent *d)
{
    const bool near = d->length < LOCAL || (d->curved && d->length < LONGEST_STEP);
    d->curved =
        d->may_curve && !dyn_descent_must_be_met(d, d->last) && near && dyn_descent_find_model(d, d->last, &d->here);
    if (d->curved)
        cover_multipliers(d);
    else
        dyn_descent_set_rows(d, d->last, &d->here);
}

/* Takes a step. Returns true if it was the last one. */
static bool advance_descent(dyn_task_descent *d, dyn_task_status *status)
{
    choose_model(d);
    d->step.damping     = damping_of(d);
    const double length = set_trial_position(d);
    *status             = dyn_may_continue(d->p->deadline) ? DYN_TASKS_MET : DYN_TASKS_LATE;
    if (*status == DYN_TASKS_LATE || !(length > SETTLED)) return true;
    raise_prices(d);
    const double before = merit(d, 0, d->norm), promised = before - merit(d, 0, d->model);
    const bool   better = accept_position(d, length);
    if (!better && !dyn_descent_set_levels(d, &d->here, d->norm)) return true;
    if (!better && (length < NEARLY || d->mu > MOST_MU)) return true;
    d->mu = better ? fmax(damping_factor((before - merit(d, 0, d->norm)) / promised) * d->mu, LEAST_MU)
                   : fmax(4 * d->mu, FIRST_MU);
    return false;
}

dyn_task_status dyn_task_descent_seek(dyn_task_descent *d, size_t last)
{
    dyn_task_status status = DYN_TASKS_MET;
    d->mu = FIRST_MU, d->length = INFINITY;
    d->curved = false;
    for (size_t k = 0; k < DYN_DESCENT_LEVELS; k++)
        d->price[k] = 1;
    d->last          = last;
    d->step.n_levels = last + 1;
    if (!dyn_descent_set_levels(d, &d->here, d->norm))
        return dyn_may_continue(d->p->deadline) ? DYN_TASKS_MET : DYN_TASKS_LATE;
    for (int i = 0; i < DYN_TASK_MOST_ITERATIONS; i++) {
        if (dyn_descent_must_be_met(d, last) && d->met) return DYN_TASKS_MET;
        if (advance_descent(d, &status)) {
            d->keeps_error[last] = d->may_curve && d->norm[last] > MET;
            return status;
        }
    }
    return DYN_TASKS_UNSETTLED;
}

void dyn_task_descent_restore(dyn_task_descent *d)
{
    d->last          = d->first;
    d->step.n_levels = d->first + 1;
    d->step.damping  = 0;
    for (int i = 0; i < RESTORATIONS && !d->met && d->norm[d->first] < LOCAL; i++) {
        double norm[DYN_DESCENT_LEVELS];
        if (isnan(set_trial_position(d)) || !dyn_task_loops_close(&d->loops, d->here.q, d->trial.q)) break;
        dyn_descent_evaluate_trial(d);
        d->met = dyn_descent_judge(d, norm);
        if (!(norm[d->first] < d->norm[d->first])) break;
        memcpy(d->task_error, d->block.error, sizeof d->task_error);
        accept_trial_position(d, norm, 0);
    }
}

bool dyn_task_descent_confirm(dyn_task_descent *d)
{
    double norm[DYN_DESCENT_LEVELS];
    if (!d->loops.closed) return true;
    memcpy(d->trial.q, d->here.q, (size_t)d->p->robot.tree->nq * sizeof *d->trial.q);
    if (!dyn_task_loops_close(&d->loops, NULL, d->trial.q) || !dyn_task_loops_are_exact(&d->loops)) return false;
    dyn_descent_evaluate_trial(d);
    if (!dyn_descent_judge(d, norm)) return false;
    for (size_t i = 0; i < d->p->n * DYN_TASK_ROWS; i++)
        if (!(fabs((&d->block.error[0][0])[i] - (&d->task_error[0][0])[i]) <= CHANGED)) return false;
    memcpy(d->task_error, d->block.error, sizeof d->task_error);
    accept_trial_position(d, norm, 0);
    return true;
}
