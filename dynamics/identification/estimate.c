/* estimate.c - fill the rows of weighted least squares: see estimate.h. */
#include "estimate_rows.h"
#include <math.h>
#include <string.h>

static bool take_coordinate(const api_query *q, const api_estimate *t, api_coordinate *c, size_t v)
{
    *c           = (api_coordinate){.deviation = 1};
    c->parameter = api_take(q->pool, (t->n + 1) * sizeof *c->parameter);
    if (!c->parameter) return false;
    for (size_t k = 0; k < t->n; k++)
        if (api_parameter_acts(t->model, t->base->parameter[k], v)) c->parameter[c->n++] = k;
    c->row = api_take(q->pool, API_ROWS * (c->n + 1) * sizeof *c->row);
    c->R   = api_take(q->pool, (c->n + 1) * (c->n + 1) * sizeof *c->R);
    if (t->huber > 0) {
        c->kept = api_take(q->pool, (q->rows * (c->n + 1) + 1) * sizeof *c->kept);
        c->rest = api_take(q->pool, (2 * q->rows + 1) * sizeof *c->rest);
        if (!c->kept || !c->rest) return false;
    }
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
    size_t n = t->n = t->base->n, scratch = dyn_qr_solve_scratch(n) + dyn_qr_scratch(n + 1);
    if (scratch < t->model->nv) scratch = t->model->nv;
    t->unknowns.n = n;
    t->at         = api_take(q->pool, (t->model->nv + 1) * sizeof *t->at);
    if (!t->at) return false;
    for (size_t v = 0; v < t->model->nv; v++)
        if (!take_coordinate(q, t, &t->at[v], v)) return false;
    t->R                = take_zeros(q, (n + 1) * (n + 1));
    t->sheet            = take_zeros(q, (n + 1) * (n + 1 + t->n_prior));
    t->scratch          = take_zeros(q, scratch);
    t->unknowns.x       = take_zeros(q, n);
    t->unknowns.inverse = take_zeros(q, n * n);
    t->unknowns.unseen  = api_take(q->pool, n + 1);
    t->before           = take_zeros(q, n);
    t->prior_unit       = 1;
    t->deviation        = take_zeros(q, n);
    t->noise            = take_zeros(q, t->model->nv);
    return t->R && t->sheet && t->scratch && t->unknowns.x && t->unknowns.inverse && t->unknowns.unseen &&
           t->deviation && t->noise && t->before &&
           api_pool_claim(q->pool, scratch * sizeof(double)); /* LAPACK allocates as much memory again */
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

bool api_coordinate_factor(const api_estimate *t, api_coordinate *c)
{
    size_t rows = c->rows;
    c->rows     = 0;
    return dyn_qr_add_rows(c->R, c->n + 1, c->row, rows, API_ROWS, t->scratch);
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
        c->row[k * API_ROWS + c->rows] = entry_of(t, c, at, v, k);
    c->row[c->n * API_ROWS + c->rows] = rest_of(at, v);
    for (size_t k = 0; k <= c->n && c->kept; k++)
        c->kept[c->used * (c->n + 1) + k] = c->row[k * API_ROWS + c->rows];
    t->square += square_of(at, v);
    c->used++, t->used++;
    return ++c->rows < API_ROWS || api_coordinate_factor(t, c);
}

bool api_estimate_add(api_estimate *t, const api_measured *state)
{
    for (size_t v = 0; v < t->model->nv; v++)
        if (!add_row(t, &t->at[v], state, v)) return false;
    return true;
}

/* --- fewer base parameters ---------------------------------------------------------------------------------------- */

/* Removes the columns of the kept rows but those at the n places `from`, in place. */
static void reduce_rows(const api_coordinate *c, size_t n, const size_t *from)
{
    for (size_t i = 0; i < c->used && c->kept; i++)
        for (size_t k = 0; k <= n; k++)
            c->kept[i * (n + 1) + k] = c->kept[i * (c->n + 1) + (k < n ? from[k] : c->n)];
}

/* Leaves the base parameters with a number, which replaces their index. Their columns of R, as rows, are factored
 * anew. */
static bool reduce_coordinate(const api_estimate *t, api_coordinate *c, const size_t *number, size_t *from)
{
    size_t n = 0, m = c->n + 1;
    memset(t->sheet, 0, m * m * sizeof *t->sheet);
    for (size_t k = 0; k < c->n; k++) {
        if (number[c->parameter[k]] == SIZE_MAX) continue;
        memcpy(t->sheet + n * m, c->R + k * m, (k + 1) * sizeof *t->sheet);
        from[n]           = k;
        c->parameter[n++] = number[c->parameter[k]];
    }
    memcpy(t->sheet + n * m, c->R + c->n * m, m * sizeof *t->sheet);
    reduce_rows(c, n, from);
    c->n = n;
    memset(c->R, 0, (n + 1) * (n + 1) * sizeof *c->R);
    return dyn_qr_add_rows(c->R, n + 1, t->sheet, m, m, t->scratch);
}

/* Removes the columns of the prior that are not kept. A prior leaves no parameter of its own undetermined, so the rest
 * of its rows is as before. */
static void reduce_prior(api_estimate *t, const size_t *number, size_t n)
{
    for (size_t k = 0; k < t->n; k++)
        if (number[k] != SIZE_MAX)
            memmove(t->prior + number[k] * t->n_prior, t->prior + k * t->n_prior, t->n_prior * sizeof *t->prior);
    memmove(t->prior + n * t->n_prior, t->prior + t->n * t->n_prior, t->n_prior * sizeof *t->prior);
}

bool api_estimate_reduce(const api_query *q, api_estimate *t, const api_base *base, const bool *kept)
{
    size_t *number = api_take(q->pool, (t->n + 1) * sizeof *number),
           *from = api_take(q->pool, (t->n + 1) * sizeof *from), n = 0;
    if (!number || !from) return false;
    for (size_t k = 0; k < t->n; k++)
        number[k] = kept[k] ? n++ : SIZE_MAX;
    for (size_t v = 0; v < t->model->nv; v++)
        if (!reduce_coordinate(t, &t->at[v], number, from)) return false;
    if (t->prior) reduce_prior(t, number, n);
    t->n = t->unknowns.n = n;
    t->base              = base;
    return true;
}
