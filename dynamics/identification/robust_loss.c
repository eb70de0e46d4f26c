/* robust_loss.c - repeats weighted least squares with the weights of Huber's loss: see robust_loss.h. */
#include "robust_loss.h"
#include "estimate_rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200 /* most times that the weights are updated */ };
#define MEDIAN_OF_NORMAL 0.6744897501960817 /* median of |u| of a normal distribution of deviation 1 */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sets c->rest to the residuals of a coordinate's kept rows at the solution t->unknowns.x. */
static void find_rests(const dyn_estimate *t, const dyn_coordinate_rows *c)
{
    for (size_t i = 0; i < c->used; i++) {
        const double *row = c->kept + i * (c->n + 1);
        c->rest[i]        = row[c->n];
        for (size_t k = 0; k < c->n; k++)
            c->rest[i] -= row[k] * t->unknowns.x[c->parameter[k]];
    }
}

/* Returns sigma of a coordinate. The division by the degrees of freedom, rows - leverage, corrects that residuals of a
 * fit are smaller than the noise. */
static double find_sigma(const dyn_coordinate_rows *c)
{
    double *sizes = c->rest + c->used, used = (double)c->used;
    if (c->used == 0) return 0;
    for (size_t i = 0; i < c->used; i++)
        sizes[i] = fabs(c->rest[i]);
    qsort(sizes, c->used, sizeof *sizes, ascending);
    double median = (sizes[(c->used - 1) / 2] + sizes[c->used / 2]) / 2;
    return median / MEDIAN_OF_NORMAL * sqrt(used / fmax(c->free, used / 4));
}

/* Sets t->noise to the sigma of each coordinate: with `by_noise` its own, else the same root mean square for all.
 * Returns false if the deadline has passed. */
static bool find_sigmas(const dyn_estimate *t, bool by_noise)
{
    double square = 0, least = dyn_estimate_least_deviation(t);
    for (size_t v = 0; v < t->robot.nv; v++) {
        if (!dyn_estimate_go_on(t)) return false;
        find_rests(t, &t->at[v]);
        t->noise[v] = fmax(find_sigma(&t->at[v]), least);
        square += (double)t->at[v].used * t->noise[v] * t->noise[v];
    }
    for (size_t v = 0; v < t->robot.nv && !by_noise; v++)
        t->noise[v] = sqrt(square / (double)t->used);
    return true;
}

/* Factors the kept rows of a coordinate anew: with the weights of the loss, or all with equal weight. */
static bool factor(const dyn_estimate *t, dyn_coordinate_rows *c, double sigma, bool weighted)
{
    memset(c->R, 0, (c->n + 1) * (c->n + 1) * sizeof *c->R);
    for (size_t i = 0; i < c->used; i++) {
        double size = fabs(c->rest[i]), most = t->huber * sigma, by = weighted && size > most ? sqrt(most / size) : 1;
        for (size_t k = 0; k <= c->n; k++)
            c->row[k * DYN_ROWS + c->rows] = by * c->kept[i * (c->n + 1) + k];
        if (++c->rows == DYN_ROWS && !(dyn_estimate_go_on(t) && dyn_coordinate_factor(c))) return false;
    }
    return dyn_coordinate_factor(c);
}

/* Factors the kept rows of all coordinates anew and solves. Returns false as dyn_robust_solve does. */
static bool solve(dyn_estimate *t, bool by_noise, bool weighted)
{
    for (size_t v = 0; v < t->robot.nv; v++) {
        if (!dyn_estimate_go_on(t) || !factor(t, &t->at[v], t->noise[v], weighted)) return false;
        t->at[v].deviation = by_noise ? t->noise[v] : 1;
    }
    t->prior_unit = by_noise ? 1 : t->noise[0];
    return dyn_estimate_join(t, true) && dyn_qr_substitute(t->R, &t->unknowns);
}

/* True if the change of the unknowns changes the torques of each coordinate by rounding errors only. */
static bool is_zero(const dyn_estimate *t, const double *change)
{
    bool zero = true;
    for (size_t v = 0; v < t->robot.nv; v++) {
        const dyn_coordinate_rows *c    = &t->at[v];
        double                     most = DYN_ZERO * dyn_estimate_mean_torque(t) / c->deviation;
        zero = zero && dyn_coordinate_square_along(t, c, change) <= most * most * (double)c->used;
    }
    return zero;
}

/* True if no unknown has changed by more than DYN_SETTLED of its standard deviation. */
static bool has_settled(dyn_estimate *t, bool by_noise)
{
    double *change  = t->scratch;
    bool    settled = true;
    t->s            = by_noise ? 1 : t->noise[0];
    dyn_estimate_deviations(t);
    for (size_t k = 0; k < t->n; k++) {
        change[k]    = t->unknowns.x[k] - t->before[k];
        settled      = settled && fabs(change[k]) <= DYN_SETTLED * t->deviation[k];
        t->before[k] = t->unknowns.x[k];
    }
    return settled || is_zero(t, change);
}

/* Returns the standard deviation of weighted rows that gives the covariance s^2 (AT A)^-1 of the estimate:
 * s^2 = K^2 sum psi(u)^2 / (N - p) / m^2,  K = 1 + p/N (1 - m)/m, with u = r / sigma, psi(u) = u clipped at +-k, the
 * share m of rows within the threshold, N rows and p parameters. */
static double deviation_of_rows(const dyn_estimate *t)
{
    double inside = 0, squares = 0, N = (double)t->used, free = 0;
    for (size_t v = 0; v < t->robot.nv; v++) {
        free += t->at[v].free;
        for (size_t i = 0; i < t->at[v].used; i++) {
            double u = fabs(t->at[v].rest[i]) / t->noise[v];
            inside += u <= t->huber;
            squares += fmin(u, t->huber) * fmin(u, t->huber);
        }
    }
    double m = fmax(inside, 1) / N, K = 1 + (N - free) / N * (1 - m) / m;
    return K * sqrt(squares / fmax(free, 1)) / m;
}

bool dyn_robust_solve(dyn_estimate *t, bool by_noise)
{
    memcpy(t->before, t->unknowns.x, t->n * sizeof *t->before);
    for (int round = 0; round < ROUNDS; round++) {
        if (!find_sigmas(t, by_noise) || !solve(t, by_noise, true)) return false;
        if (has_settled(t, by_noise)) break;
    }
    if (!find_sigmas(t, by_noise) || !solve(t, by_noise, false)) return false;
    memcpy(t->unknowns.x, t->before, t->n * sizeof *t->before);
    double squares = 0;
    for (size_t v = 0; v < t->robot.nv; v++)
        for (size_t i = 0; i < t->at[v].used; i++)
            squares += t->at[v].rest[i] * t->at[v].rest[i];
    t->residual = sqrt(squares / (double)t->used);
    t->s        = deviation_of_rows(t) * (by_noise ? 1 : t->noise[0]);
    for (size_t v = 0; v < t->robot.nv; v++)
        if (t->at[v].used == 0) t->noise[v] = 0;
    return true;
}
