/* estimate_solve.c - weights the rows of an estimate by their noise, and solves them: see estimate.h. */
#include "estimate_rows.h"
#include "robust_loss.h"
#include "dynamics/math/double_pair.h"
#include <math.h>
#include <string.h>

enum {
    ROUNDS = 60 /* most times that the weights are updated */,
    STATES = 16 /* least number of rows of a coordinate from which its noise is estimated */
};

/* Lower bound of the standard deviation of a coordinate's rows, relative to the largest of all coordinates: with
 * smaller ones the rows of least weight lose digits. */
#define RANGE 1e-9

/* Lower bound of the standard deviation of a coordinate's rows, relative to the mean torque; BESIDE_PRIOR if a prior is
 * given. Rows with much smaller weights than others would lose digits. */
#define ROUNDING     1e-14
#define BESIDE_PRIOR 1e-10

/* Lower bound of the standard deviation of the torques, relative to their mean, when physically consistent parameters
 * are fitted. */
#define BELIEVED 1e-8

#define EFFICIENCY 0.37 /* efficiency of the median of |residual|, as an estimate of the variance of normal noise */

bool dyn_estimate_go_on(const dyn_estimate *t)
{
    return dyn_may_continue(t->deadline);
}

double dyn_estimate_mean_torque(const dyn_estimate *t)
{
    return sqrt(t->square / (double)t->used);
}

double dyn_estimate_least_deviation(const dyn_estimate *t)
{
    return (t->prior ? BESIDE_PRIOR : ROUNDING) * dyn_estimate_mean_torque(t);
}

/* --- joining ------------------------------------------------------------------------------------------------------ */

/* Adds a coordinate's factor, divided by its standard deviation, to t->R. Its columns are spread over the columns of
 * all base parameters, where it is still triangular from its first column on. */
static bool join_coordinate(const dyn_estimate *t, const dyn_coordinate_rows *c)
{
    size_t n = t->n + 1, m = c->n + 1;
    memset(t->sheet, 0, m * n * sizeof *t->sheet);
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i <= k; i++)
            t->sheet[(k < c->n ? c->parameter[k] : t->n) * m + i] = c->R[k * m + i] / c->deviation;
    return dyn_qr_add_triangle(t->R, n, c->n > 0 ? c->parameter[0] : t->n, t->sheet, m);
}

/* Appends the rows of the prior to t->R, multiplied by t->prior_unit, the standard deviation of the weighted rows. */
static bool join_prior(const dyn_estimate *t)
{
    size_t entries = t->n_prior * (t->n + 1);
    for (size_t i = 0; i < entries; i++)
        t->sheet[i] = t->prior_unit * t->prior[i];
    return dyn_qr_add_rows(t->R, t->n + 1, t->sheet, t->n_prior, t->n_prior);
}

bool dyn_estimate_join(const dyn_estimate *t, bool prior)
{
    memset(t->R, 0, (t->n + 1) * (t->n + 1) * sizeof *t->R);
    for (size_t v = 0; v < t->robot.nv; v++)
        if (!dyn_estimate_go_on(t) || !join_coordinate(t, &t->at[v])) return false;
    return !prior || !t->prior || join_prior(t);
}

/* --- noise -------------------------------------------------------------------------------------------------------- */

/* Returns the sum of squared residuals of a coordinate's rows at values x of the base parameters, with the caller's
 * weights. */
static double squared_residuals(const dyn_coordinate_rows *c, const double *x)
{
    size_t m   = c->n + 1;
    double sum = 0;
    for (size_t i = 0; i < m; i++) {
        double residual = c->R[c->n * m + i];
        for (size_t k = i; k < c->n; k++)
            residual -= c->R[k * m + i] * x[c->parameter[k]];
        sum += residual * residual;
    }
    return sum;
}

/* Returns the leverage of a coordinate's rows: the trace of their part of A (AT A)^-1 AT, where A has the weighted rows
 * of all coordinates. Over all coordinates, without a prior, the leverage sums to n. */
static double leverage(const dyn_estimate *t, const dyn_coordinate_rows *c)
{
    size_t  m     = c->n + 1;
    double *entry = t->scratch, sum = 0;
    for (size_t j = 0; j < t->n; j++) {
        const double *inverse = t->unknowns.inverse + j * t->n;
        memset(entry, 0, c->n * sizeof *entry);
        for (size_t k = 0; k < c->n && c->parameter[k] <= j; k++)
            pair_add_scaled(entry, inverse[c->parameter[k]], c->R + k * m, k + 1);
        for (size_t i = 0; i < c->n; i++)
            sum += entry[i] * entry[i];
    }
    return sum / (c->deviation * c->deviation);
}

/* Sets the noise of each coordinate: the root of (sum of squared residuals / degrees of freedom), with rows - leverage
 * degrees of freedom, or zero if there are none. Sets t->s to the same root for all weighted rows together. Returns
 * false if the deadline has passed. */
static bool measure_noise(dyn_estimate *t)
{
    double all = 0, weighted = 0, settled = 0;
    for (size_t v = 0; v < t->robot.nv; v++) {
        if (!dyn_estimate_go_on(t)) return false;
        const dyn_coordinate_rows *c      = &t->at[v];
        double                     square = squared_residuals(c, t->unknowns.x), held = leverage(t, c);
        double                     free = (double)c->used - held;
        t->at[v].free                   = free;
        t->noise[v]                     = free > 0.5 ? sqrt(square / free) : 0;
        settled += held;
        all += square;
        weighted += square / (c->deviation * c->deviation);
    }
    if (!t->prior) settled = (double)t->n; /* the exact sum of the leverages, without rounding errors */
    t->residual = sqrt(all / (double)t->used);
    t->s        = sqrt(weighted / fmax((double)t->used - settled, 1));
    return true;
}

/* True if the rows are weighted by the noise: the caller gives no weights, some torque is not zero, and each coordinate
 * has at least twice as many rows as there are base parameters, and at least STATES. */
static bool can_estimate_noise(const dyn_estimate *t)
{
    for (size_t v = 0; v < t->robot.nv; v++)
        if (t->at[v].used < 2 * t->n || t->at[v].used < STATES) return false;
    return !t->weighted && t->square > 0;
}

static bool has_settled(const dyn_estimate *t, double before, double now)
{
    return fabs(now - before) <= DYN_SETTLED * before + DYN_ZERO * dyn_estimate_mean_torque(t);
}

/* Divides the rows of each coordinate by its noise. Returns false if no standard deviation has changed, so that the
 * weights have settled. */
static bool update_deviations(const dyn_estimate *t)
{
    double worst = 0, least = dyn_estimate_least_deviation(t);
    bool   changed = false;
    for (size_t v = 0; v < t->robot.nv; v++)
        worst = fmax(worst, t->noise[v]);
    for (size_t v = 0; v < t->robot.nv; v++) {
        double deviation = fmax(t->noise[v], fmax(least, RANGE * worst));
        changed          = changed || !has_settled(t, t->at[v].deviation, deviation);
    }
    for (size_t v = 0; v < t->robot.nv && changed; v++)
        t->at[v].deviation = fmax(t->noise[v], fmax(least, RANGE * worst));
    return changed;
}

/* Scales the prior to the weighted rows: by 1 if each coordinate is divided by its noise, else by the standard
 * deviation of all rows. Returns false if the scale has not changed. */
static bool update_prior(dyn_estimate *t, bool by_noise)
{
    double before = t->prior_unit, now = by_noise ? 1 : fmax(t->s, dyn_estimate_least_deviation(t));
    if (!t->prior || has_settled(t, before, now)) return false;
    t->prior_unit = now;
    return true;
}

/* --- solving ------------------------------------------------------------------------------------------------------ */

void dyn_estimate_deviations(dyn_estimate *t)
{
    for (size_t k = 0; k < t->n; k++) {
        double square = 0;
        for (size_t j = k; j < t->n; j++)
            square += t->unknowns.inverse[j * t->n + k] * t->unknowns.inverse[j * t->n + k];
        t->deviation[k] = t->s * sqrt(square);
    }
}

double dyn_coordinate_square_along(const dyn_estimate *t, const dyn_coordinate_rows *c, const double *u)
{
    const size_t m     = c->n + 1;
    double      *entry = t->scratch + t->n, sum = 0;
    memset(entry, 0, c->n * sizeof *entry);
    for (size_t k = 0; k < c->n; k++)
        pair_add_scaled(entry, u[c->parameter[k]], c->R + k * m, k + 1);
    for (size_t i = 0; i < c->n; i++)
        sum += entry[i] * entry[i];
    return sum / (c->deviation * c->deviation);
}

/* Raises the deviations for the uncertainty of the estimated weights: the variance of a parameter, of which coordinate
 * v with f_v degrees of freedom contributes the share p_v, grows by 1 + 4 sum p_v (1 - p_v) / f_v (Meier 1953). With a
 * robust loss sigma is as uncertain as if it came from EFFICIENCY times as many rows. Returns false if the deadline has
 * passed. */
static bool account_for_weights(const dyn_estimate *t)
{
    const double part = t->huber > 0 ? EFFICIENCY : 1;
    double      *u    = t->scratch;
    for (size_t k = 0; k < t->n; k++) {
        const double *inverse = t->unknowns.inverse;
        double        growth = 1, all = 0;
        if (!dyn_estimate_go_on(t)) return false;
        memset(u, 0, t->n * sizeof *u);
        for (size_t j = k; j < t->n; j++) {
            all += inverse[j * t->n + k] * inverse[j * t->n + k];
            for (size_t i = 0; i <= j; i++)
                u[i] += inverse[j * t->n + i] * inverse[j * t->n + k];
        }
        for (size_t v = 0; v < t->robot.nv; v++) {
            double share = all > 0 ? dyn_coordinate_square_along(t, &t->at[v], u) / all : 0;
            growth += 4 * share * fmax(1 - share, 0) / (part * fmax(t->at[v].free, 1));
        }
        t->deviation[k] *= sqrt(growth);
    }
    return true;
}

static dyn_solved examine_estimate(dyn_estimate *t, bool prior)
{
    memset(t->unknowns.unseen, 0, t->n);
    if (!isfinite(t->square)) return DYN_UNSOLVED;
    for (size_t v = 0; v < t->robot.nv; v++)
        if (!dyn_estimate_go_on(t) || !dyn_coordinate_factor(&t->at[v])) return DYN_UNSOLVED;
    t->prior_unit = t->square > 0 ? dyn_estimate_mean_torque(t) : 1;
    return dyn_estimate_join(t, prior) ? dyn_qr_examine(t->R, &t->unknowns, t->scratch) : DYN_UNSOLVED;
}

dyn_solved dyn_estimate_examine(dyn_estimate *t)
{
    return examine_estimate(t, true);
}

dyn_solved dyn_estimate_examine_rows(dyn_estimate *t)
{
    return examine_estimate(t, false);
}

static bool solve(dyn_estimate *t)
{
    return dyn_estimate_join(t, true) && dyn_qr_substitute(t->R, &t->unknowns) && measure_noise(t);
}

bool dyn_estimate_solve(dyn_estimate *t)
{
    const bool by_noise = can_estimate_noise(t);
    if (!solve(t)) return false;
    for (int round = 0; round < ROUNDS; round++) {
        bool changed = by_noise && update_deviations(t);
        changed      = update_prior(t, by_noise) || changed;
        if (!changed) break;
        if (!solve(t)) return false;
    }
    if (t->huber > 0 && !dyn_robust_solve(t, by_noise)) return false;
    if (t->prior) t->s = fmax(t->s, t->prior_unit); /* for unknowns that only the prior determines */
    t->unknowns.condition = dyn_qr_condition(t->R, t->n, t->scratch);
    dyn_estimate_deviations(t);
    return isfinite(t->unknowns.condition) && (!by_noise || account_for_weights(t));
}

double dyn_estimate_row_deviation(const dyn_estimate *t)
{
    double least = t->at[0].deviation;
    for (size_t v = 1; v < t->robot.nv; v++)
        least = fmin(least, t->at[v].deviation);
    return fmax(fmax(t->s, BELIEVED * dyn_estimate_mean_torque(t) / least), 1e-300);
}

double dyn_estimate_residual_at(const dyn_estimate *t, const double *x, double *coordinates)
{
    double all = 0;
    for (size_t v = 0; v < t->robot.nv; v++) {
        double square  = squared_residuals(&t->at[v], x);
        coordinates[v] = t->at[v].used > 0 ? sqrt(square / (double)t->at[v].used) : 0;
        all += square;
    }
    return sqrt(all / (double)t->used);
}
