/* estimate.c - see estimate.h. */
#include "estimate.h"
#include <math.h>
#include <string.h>

enum { ROWS = 64 /* factored at a time */, ROUNDS = 2 /* of weighting anew */ };

/* No coordinate is taken to be measured better than ROUNDING of the torques, nor than RANGE of the worst: rows of very
 * different weight lose digits of one another. */
#define ROUNDING 1e-14
#define RANGE    1e-6
#define BELIEVED 1e-8 /* of the torques: no more digits are asked of the parameters of bodies */

struct api_coordinate {
    size_t  n;         /* base parameters that act here */
    size_t *parameter; /* [n] which of base->parameter */
    size_t  rows;      /* waiting */
    size_t  used;      /* in all */
    double *row;       /* ROWS x (n + 1) by columns */
    double *R;         /* triangle over n + 1 columns */
    double  deviation; /* that the rows are weighted with */
};

static bool take_coordinate(api_evaluation *e, const api_estimate *t, api_coordinate *c, size_t v)
{
    *c           = (api_coordinate){.deviation = 1};
    c->parameter = api_take(e->pool, (t->n + 1) * sizeof *c->parameter);
    if (!c->parameter) return false;
    for (size_t k = 0; k < t->n; k++)
        if (api_parameter_acts(t->model, t->base->parameter[k], v)) c->parameter[c->n++] = k;
    c->row = api_take(e->pool, ROWS * (c->n + 1) * sizeof *c->row);
    c->R   = api_take(e->pool, (c->n + 1) * (c->n + 1) * sizeof *c->R);
    if (!c->row || !c->R) return false;
    memset(c->R, 0, (c->n + 1) * (c->n + 1) * sizeof *c->R);
    return true;
}

static double *take_zeros(api_evaluation *e, size_t count)
{
    double *zeros = api_take(e->pool, (count + 1) * sizeof *zeros);
    if (zeros) memset(zeros, 0, (count + 1) * sizeof *zeros);
    return zeros;
}

bool api_estimate_open(api_evaluation *e, api_estimate *t)
{
    size_t n = t->n = t->base->n, scratch = api_triangle_solve_scratch(n) + api_triangle_scratch(n + 1);
    t->unknowns.n = n;
    t->at         = api_take(e->pool, (t->model->nv + 1) * sizeof *t->at);
    if (!t->at) return false;
    for (size_t v = 0; v < t->model->nv; v++)
        if (!take_coordinate(e, t, &t->at[v], v)) return false;
    t->R                = take_zeros(e, (n + 1) * (n + 1));
    t->sheet            = take_zeros(e, (n + 1) * (n + 1));
    t->scratch          = take_zeros(e, scratch);
    t->unknowns.x       = take_zeros(e, n);
    t->unknowns.inverse = take_zeros(e, n * n);
    t->unknowns.unseen  = api_take(e->pool, n + 1);
    t->deviation        = take_zeros(e, n);
    t->noise            = take_zeros(e, t->model->nv);
    return t->R && t->sheet && t->scratch && t->unknowns.x && t->unknowns.inverse && t->unknowns.unseen &&
           t->deviation && t->noise && api_pool_claim(e->pool, scratch * sizeof(double)); /* LAPACK's own */
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

static bool factor(const api_estimate *t, api_coordinate *c)
{
    size_t rows = c->rows;
    c->rows     = 0;
    return api_triangle_add(c->R, c->n + 1, c->row, rows, ROWS, t->scratch);
}

static double weight_of(const api_measured *at, size_t v)
{
    return at->weights ? at->weights[v * at->regressed.lanes + at->regressed.lane] : 1;
}

/* Entry k of a coordinate's row, weight * what the parameter takes. */
static double entry_of(const api_estimate *t, const api_coordinate *c, const api_measured *at, size_t v, size_t k)
{
    return weight_of(at, v) * api_parameter_effort(t->model, &at->regressed, t->base->parameter[c->parameter[k]], v);
}

/* The last entry of the row: weight * what is measured beside the model's torque. */
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

/* The triangles of all coordinates, each divided by its deviation, factored into one. Spread over all columns they
 * are still triangles, from the first column that acts there. */
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
        if (!go_on(t) || !api_triangle_join(t->R, n, c->n > 0 ? c->parameter[0] : t->n, t->sheet, m, t->scratch))
            return false;
    }
    return true;
}

/* The square of what x leaves of a coordinate's rows, as weighted by the request. */
static double left(const api_estimate *t, const api_coordinate *c)
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

/* How many of the parameters its rows have settled: the trace of its part of A (AT A)^-1 AT. */
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

/* Where as many rows as were settled are left, and none else, nothing can be said about noise: zero. */
static bool measure_noise(const api_estimate *t)
{
    for (size_t v = 0; v < t->model->nv; v++) {
        if (!go_on(t)) return false;
        const api_coordinate *c    = &t->at[v];
        double                free = (double)c->used - leverage(t, c);
        t->noise[v]                = free > 0.5 ? sqrt(left(t, c) / free) : 0;
    }
    return true;
}

static void sum_up(api_estimate *t)
{
    double all = 0, weighted = 0;
    for (size_t v = 0; v < t->model->nv; v++) {
        double square = left(t, &t->at[v]);
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

/* Each coordinate's noise can be told when it has twice as many rows as there are parameters. */
static bool tells_noise(const api_estimate *t)
{
    for (size_t v = 0; v < t->model->nv; v++)
        if (t->at[v].used < 2 * t->n) return false;
    return !t->weighted && t->square > 0;
}

static void weigh(const api_estimate *t)
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
    return api_triangle_solve(t->R, &t->unknowns, t->scratch);
}

api_solved api_estimate_solve(api_estimate *t)
{
    memset(t->unknowns.unseen, 0, t->n);
    if (t->used <= t->n) return API_DEFICIENT;
    if (!isfinite(t->square)) return API_UNSOLVED;
    for (size_t v = 0; v < t->model->nv; v++)
        if (!go_on(t) || !factor(t, &t->at[v])) return API_UNSOLVED;
    api_solved solved = solve(t);
    for (int round = 0; round < ROUNDS && solved == API_SOLVED && tells_noise(t); round++) {
        if (!measure_noise(t)) return API_UNSOLVED;
        weigh(t);
        solved = solve(t);
    }
    if (solved != API_SOLVED) return solved;
    if (!measure_noise(t)) return API_UNSOLVED;
    sum_up(t);
    return API_SOLVED;
}

double api_estimate_believed(const api_estimate *t)
{
    double least = t->at[0].deviation;
    for (size_t v = 1; v < t->model->nv; v++)
        least = fmin(least, t->at[v].deviation);
    return fmax(fmax(t->s, BELIEVED * mean_torque(t) / least), 1e-300);
}
