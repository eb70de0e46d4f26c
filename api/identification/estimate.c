/* estimate.c - estimate base parameters and their deviations by weighted least squares: see estimate.h. */
#include "estimate.h"
#include <math.h>
#include <string.h>

enum {
    ROWS   = 64 /* rows that are factored at a time */,
    ROUNDS = 2 /* number of times that the weights are updated */
};

/* The deviation of a coordinate's rows is at least ROUNDING times the mean torque, and RANGE times the largest
 * deviation of all coordinates: rows with much smaller weights than others would lose digits. */
#define ROUNDING 1e-14
#define RANGE    1e-6
#define BELIEVED 1e-8 /* least relative deviation of the torques when consistent parameters are fitted */

struct api_coordinate {
    size_t  n;         /* base parameters that affect this coordinate's torque */
    size_t *parameter; /* [n] indices in base->parameter, ascending */
    size_t  rows;      /* rows in `row`, not factored yet */
    size_t  used;      /* rows added in total */
    double *row;       /* ROWS x (n + 1), column-major: rows to be factored */
    double *R;         /* triangular factor over n + 1 columns (sequential_qr.h) */
    double  deviation; /* standard deviation by which the rows are divided */
};

static bool take_coordinate(const api_query *q, const api_estimate *t, api_coordinate *c, size_t v)
{
    *c           = (api_coordinate){.deviation = 1};
    c->parameter = api_take(q->pool, (t->n + 1) * sizeof *c->parameter);
    if (!c->parameter) return false;
    for (size_t k = 0; k < t->n; k++)
        if (api_parameter_acts(t->model, t->base->parameter[k], v)) c->parameter[c->n++] = k;
    c->row = api_take(q->pool, ROWS * (c->n + 1) * sizeof *c->row);
    c->R   = api_take(q->pool, (c->n + 1) * (c->n + 1) * sizeof *c->R);
    if (!c->row || !c->R) return false;
    memset(c->R, 0, (c->n + 1) * (c->n + 1) * sizeof *c->R);
    return true;
}

static double *take_zeros(const api_query *q, size_t count)
{
    double *zeros = api_take(q->pool, (count + 1) * sizeof *zeros);
    if (zeros) memset(zeros, 0, (count + 1) * sizeof *zeros);
    return zeros;
}

bool api_estimate_open(const api_query *q, api_estimate *t)
{
    size_t n = t->n = t->base->n, scratch = api_qr_solve_scratch(n) + api_qr_scratch(n + 1);
    t->unknowns.n = n;
    t->at         = api_take(q->pool, (t->model->nv + 1) * sizeof *t->at);
    if (!t->at) return false;
    for (size_t v = 0; v < t->model->nv; v++)
        if (!take_coordinate(q, t, &t->at[v], v)) return false;
    t->R                = take_zeros(q, (n + 1) * (n + 1));
    t->sheet            = take_zeros(q, (n + 1) * (n + 1));
    t->scratch          = take_zeros(q, scratch);
    t->unknowns.x       = take_zeros(q, n);
    t->unknowns.inverse = take_zeros(q, n * n);
    t->unknowns.unseen  = api_take(q->pool, n + 1);
    t->deviation        = take_zeros(q, n);
    t->noise            = take_zeros(q, t->model->nv);
    return t->R && t->sheet && t->scratch && t->unknowns.x && t->unknowns.inverse && t->unknowns.unseen &&
           t->deviation && t->noise &&
           api_pool_claim(q->pool, scratch * sizeof(double)); /* LAPACK allocates as much memory again */
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

static bool factor(const api_estimate *t, api_coordinate *c)
{
    size_t rows = c->rows;
    c->rows     = 0;
    return api_qr_add_rows(c->R, c->n + 1, c->row, rows, ROWS, t->scratch);
}

static double weight_of(const api_measured *at, size_t v)
{
    return at->weights ? at->weights[v * at->regressed.lanes + at->regressed.lane] : 1;
}

/* Returns entry k of a coordinate's row: weight * regressor entry of the coordinate's k-th base parameter. */
static double entry_of(const api_estimate *t, const api_coordinate *c, const api_measured *at, size_t v, size_t k)
{
    return weight_of(at, v) * api_parameter_effort(t->model, &at->regressed, t->base->parameter[c->parameter[k]], v);
}

/* Returns the last entry of a coordinate's row: weight * (measured torque - torque of the model). */
static double rest_of(const api_measured *at, size_t v)
{
    size_t i = v * at->regressed.lanes + at->regressed.lane;
    return weight_of(at, v) * (at->tau[i] - at->model_tau[i]);
}

static double square_of(const api_measured *at, size_t v)
{
    double torque = weight_of(at, v) * at->tau[v * at->regressed.lanes + at->regressed.lane];
    return torque * torque;
}

static bool takes_row(const api_estimate *t, const api_coordinate *c, const api_measured *at, size_t v)
{
    double rest = rest_of(at, v), sum = square_of(at, v) + rest * rest;
    for (size_t k = 0; k < c->n; k++) {
        double entry = entry_of(t, c, at, v, k);
        sum += entry * entry;
    }
    return weight_of(at, v) == 0 || isfinite(sum);
}

bool api_estimate_takes(const api_estimate *t, const api_measured *state)
{
    for (size_t v = 0; v < t->model->nv; v++)
        if (!takes_row(t, &t->at[v], state, v)) return false;
    return true;
}

static bool add_row(api_estimate *t, api_coordinate *c, const api_measured *at, size_t v)
{
    if (weight_of(at, v) == 0) return true;
    for (size_t k = 0; k < c->n; k++)
        c->row[k * ROWS + c->rows] = entry_of(t, c, at, v, k);
    c->row[c->n * ROWS + c->rows] = rest_of(at, v);
    t->square += square_of(at, v);
    c->used++, t->used++;
    return ++c->rows < ROWS || factor(t, c);
}

bool api_estimate_add(api_estimate *t, const api_measured *state)
{
    for (size_t v = 0; v < t->model->nv; v++)
        if (!add_row(t, &t->at[v], state, v)) return false;
    return true;
}

static bool go_on(const api_estimate *t)
{
    return api_deadline_check(t->deadline, t->problem);
}

/* --- solving ---------------------------------------------------------------------------------------------------- */

/* Joins the triangular factors of all coordinates, each divided by its deviation, into t->R. Spread over all columns, a
 * coordinate's factor is still triangular from its first column on. Returns false if the deadline has passed, there is
 * no memory, or an entry is not finite. */
static bool join(const api_estimate *t)
{
    size_t n = t->n + 1;
    memset(t->R, 0, n * n * sizeof *t->R);
    for (size_t v = 0; v < t->model->nv; v++) {
        const api_coordinate *c = &t->at[v];
        size_t                m = c->n + 1;
        memset(t->sheet, 0, m * n * sizeof *t->sheet);
        for (size_t k = 0; k < m; k++)
            for (size_t i = 0; i <= k; i++)
                t->sheet[(k < c->n ? c->parameter[k] : t->n) * m + i] = c->R[k * m + i] / c->deviation;
        if (!go_on(t) || !api_qr_add_triangle(t->R, n, c->n > 0 ? c->parameter[0] : t->n, t->sheet, m, t->scratch))
            return false;
    }
    return true;
}

/* Returns the sum of squared residuals of a coordinate's rows at the solution x, with the weights of the request. */
static double squared_residuals(const api_estimate *t, const api_coordinate *c)
{
    size_t m   = c->n + 1;
    double sum = 0;
    for (size_t i = 0; i < m; i++) {
        double rest = c->R[c->n * m + i];
        for (size_t k = i; k < c->n; k++)
            rest -= c->R[k * m + i] * t->unknowns.x[c->parameter[k]];
        sum += rest * rest;
    }
    return sum;
}

/* Returns the leverage of a coordinate's rows: the trace of their part of A (AT A)^-1 AT, where A has the weighted rows
 * of all coordinates. Over all coordinates the leverage sums to n. */
static double leverage(const api_estimate *t, const api_coordinate *c)
{
    size_t m   = c->n + 1;
    double sum = 0;
    for (size_t j = 0; j < t->n; j++) {
        const double *inverse = t->unknowns.inverse + j * t->n;
        for (size_t i = 0; i < c->n; i++) {
            double entry = 0;
            for (size_t k = i; k < c->n && c->parameter[k] <= j; k++)
                entry += c->R[k * m + i] * inverse[c->parameter[k]];
            sum += entry * entry;
        }
    }
    return sum / (c->deviation * c->deviation);
}

/* Sets the noise of each coordinate: the root of squared residuals over degrees of freedom (rows - leverage), zero
 * without a degree of freedom. Returns false if the deadline has passed. */
static bool measure_noise(const api_estimate *t)
{
    for (size_t v = 0; v < t->model->nv; v++) {
        if (!go_on(t)) return false;
        const api_coordinate *c    = &t->at[v];
        double                free = (double)c->used - leverage(t, c);
        t->noise[v]                = free > 0.5 ? sqrt(squared_residuals(t, c) / free) : 0;
    }
    return true;
}

static void compute_deviations(api_estimate *t)
{
    double all = 0, weighted = 0;
    for (size_t v = 0; v < t->model->nv; v++) {
        double square = squared_residuals(t, &t->at[v]);
        all += square;
        weighted += square / (t->at[v].deviation * t->at[v].deviation);
    }
    t->residual = sqrt(all / (double)t->used);
    t->s        = sqrt(weighted / (double)(t->used - t->n));
    for (size_t k = 0; k < t->n; k++) {
        double square = 0;
        for (size_t j = k; j < t->n; j++)
            square += t->unknowns.inverse[j * t->n + k] * t->unknowns.inverse[j * t->n + k];
        t->deviation[k] = t->s * sqrt(square);
    }
}

static double mean_torque(const api_estimate *t)
{
    return sqrt(t->square / (double)t->used);
}

/* True if the rows are weighted by the noise: the request has no weights, some torque is not zero, and each coordinate
 * has at least twice as many rows as there are base parameters. */
static bool can_estimate_noise(const api_estimate *t)
{
    for (size_t v = 0; v < t->model->nv; v++)
        if (t->at[v].used < 2 * t->n) return false;
    return !t->weighted && t->square > 0;
}

static void update_weights(const api_estimate *t)
{
    double worst = 0;
    for (size_t v = 0; v < t->model->nv; v++)
        worst = fmax(worst, t->noise[v]);
    for (size_t v = 0; v < t->model->nv; v++)
        t->at[v].deviation = fmax(t->noise[v], fmax(ROUNDING * mean_torque(t), RANGE * worst));
}

static api_solved solve(api_estimate *t)
{
    if (!join(t)) return API_UNSOLVED;
    return api_qr_solve(t->R, &t->unknowns, t->scratch);
}

api_solved api_estimate_solve(api_estimate *t)
{
    memset(t->unknowns.unseen, 0, t->n);
    if (t->used <= t->n) return API_DEFICIENT;
    if (!isfinite(t->square)) return API_UNSOLVED;
    for (size_t v = 0; v < t->model->nv; v++)
        if (!go_on(t) || !factor(t, &t->at[v])) return API_UNSOLVED;
    api_solved solved = solve(t);
    for (int round = 0; round < ROUNDS && solved == API_SOLVED && can_estimate_noise(t); round++) {
        if (!measure_noise(t)) return API_UNSOLVED;
        update_weights(t);
        solved = solve(t);
    }
    if (solved != API_SOLVED) return solved;
    if (!measure_noise(t)) return API_UNSOLVED;
    compute_deviations(t);
    return API_SOLVED;
}

double api_estimate_row_deviation(const api_estimate *t)
{
    double least = t->at[0].deviation;
    for (size_t v = 1; v < t->model->nv; v++)
        least = fmin(least, t->at[v].deviation);
    return fmax(fmax(t->s, BELIEVED * mean_torque(t) / least), 1e-300);
}
