/* estimate.c - fills the rows of weighted least squares: see estimate.h. */
#include "estimate_rows.h"
#include <math.h>
#include <string.h>

static bool take_coordinate(dyn_memory memory, size_t rows, const dyn_estimate *t, dyn_coordinate_rows *c, size_t v)
{
    *c           = (dyn_coordinate_rows){.deviation = 1};
    c->parameter = dyn_take(memory, (t->n + 1) * sizeof *c->parameter);
    if (!c->parameter) return false;
    for (size_t k = 0; k < t->n; k++)
        if (dyn_parameter_acts(&t->robot, t->base->parameter[k], v)) c->parameter[c->n++] = k;
    c->row = dyn_take(memory, DYN_ROWS * (c->n + 1) * sizeof *c->row);
    c->R   = dyn_take(memory, (c->n + 1) * (c->n + 1) * sizeof *c->R);
    if (t->huber > 0) {
        c->kept = dyn_take(memory, (rows * (c->n + 1) + 1) * sizeof *c->kept);
        c->rest = dyn_take(memory, (2 * rows + 1) * sizeof *c->rest);
        if (!c->kept || !c->rest) return false;
    }
    if (!c->row || !c->R) return false;
    memset(c->R, 0, (c->n + 1) * (c->n + 1) * sizeof *c->R);
    return true;
}

size_t dyn_estimate_scratch(const dyn_estimate *t)
{
    const size_t n = t->base->n, scratch = dyn_qr_solve_scratch(n);
    return scratch < t->robot.nv ? t->robot.nv : scratch;
}

bool dyn_estimate_open(dyn_memory memory, size_t rows, dyn_estimate *t)
{
    bool         succeeded = true;
    const size_t n = t->n = t->base->n;
    t->unknowns.n         = n;
    t->at                 = dyn_take(memory, (t->robot.nv + 1) * sizeof *t->at);
    if (!t->at) return false;
    for (size_t v = 0; v < t->robot.nv; v++)
        if (!take_coordinate(memory, rows, t, &t->at[v], v)) return false;
    t->R                = dyn_take_zeroed(memory, (n + 1) * (n + 1) + 1, &succeeded);
    t->sheet            = dyn_take_zeroed(memory, (n + 1) * (n + 1 + t->n_prior) + 1, &succeeded);
    t->scratch          = dyn_take_zeroed(memory, dyn_estimate_scratch(t) + 1, &succeeded);
    t->unknowns.x       = dyn_take_zeroed(memory, n + 1, &succeeded);
    t->unknowns.inverse = dyn_take_zeroed(memory, n * n + 1, &succeeded);
    t->unknowns.unseen  = dyn_take(memory, n + 1);
    t->before           = dyn_take_zeroed(memory, n + 1, &succeeded);
    t->prior_unit       = 1;
    t->deviation        = dyn_take_zeroed(memory, n + 1, &succeeded);
    t->noise            = dyn_take_zeroed(memory, t->robot.nv + 1, &succeeded);
    return succeeded && t->unknowns.unseen;
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

bool dyn_coordinate_factor(dyn_coordinate_rows *c)
{
    size_t rows = c->rows;
    c->rows     = 0;
    return dyn_qr_add_rows(c->R, c->n + 1, c->row, rows, DYN_ROWS);
}

static double weight_of(const dyn_measured *at, size_t v)
{
    return at->weights ? at->weights[v * at->regressed.lanes + at->regressed.lane] : 1;
}

/* Returns entry k of a row of coordinate v: weight times regressor entry of the k-th base parameter that affects v. */
static double entry_of(const dyn_estimate *t, const dyn_coordinate_rows *c, const dyn_measured *at, size_t v, size_t k)
{
    return weight_of(at, v) *
           dyn_parameter_effort(t->robot.tree, &at->regressed, t->base->parameter[c->parameter[k]], v);
}

/* Returns the last entry of a row, at coordinate v: weight * (measured torque - torque of the model). */
static double rest_of(const dyn_measured *at, size_t v)
{
    size_t i = v * at->regressed.lanes + at->regressed.lane;
    return weight_of(at, v) * (at->tau[i] - at->model_tau[i]);
}

static double square_of(const dyn_measured *at, size_t v)
{
    double torque = weight_of(at, v) * at->tau[v * at->regressed.lanes + at->regressed.lane];
    return torque * torque;
}

static bool takes_row(const dyn_estimate *t, const dyn_coordinate_rows *c, const dyn_measured *at, size_t v)
{
    double rest = rest_of(at, v), sum = square_of(at, v) + rest * rest;
    for (size_t k = 0; k < c->n; k++) {
        double entry = entry_of(t, c, at, v, k);
        sum += entry * entry;
    }
    return weight_of(at, v) == 0 || isfinite(sum);
}

bool dyn_estimate_takes(const dyn_estimate *t, const dyn_measured *state)
{
    for (size_t v = 0; v < t->robot.nv; v++)
        if (!takes_row(t, &t->at[v], state, v)) return false;
    return true;
}

static bool add_measured_row(dyn_estimate *t, dyn_coordinate_rows *c, const dyn_measured *at, size_t v)
{
    if (weight_of(at, v) == 0) return true;
    for (size_t k = 0; k < c->n; k++)
        c->row[k * DYN_ROWS + c->rows] = entry_of(t, c, at, v, k);
    c->row[c->n * DYN_ROWS + c->rows] = rest_of(at, v);
    for (size_t k = 0; k <= c->n && c->kept; k++)
        c->kept[c->used * (c->n + 1) + k] = c->row[k * DYN_ROWS + c->rows];
    t->square += square_of(at, v);
    c->used++, t->used++;
    return ++c->rows < DYN_ROWS || dyn_coordinate_factor(c);
}

bool dyn_estimate_add(dyn_estimate *t, const dyn_measured *state)
{
    for (size_t v = 0; v < t->robot.nv; v++)
        if (!add_measured_row(t, &t->at[v], state, v)) return false;
    return true;
}

/* --- fewer base parameters ---------------------------------------------------------------------------------------- */

/* Keeps only the columns at the n places `from` of the kept rows, in place. */
static void reduce_rows(const dyn_coordinate_rows *c, size_t n, const size_t *from)
{
    for (size_t i = 0; i < c->used && c->kept; i++)
        for (size_t k = 0; k <= n; k++)
            c->kept[i * (n + 1) + k] = c->kept[i * (c->n + 1) + (k < n ? from[k] : c->n)];
}

/* Keeps the base parameters that have a new number, which replaces their index. Factors the remaining columns of R
 * anew. */
static bool reduce_coordinate(const dyn_estimate *t, dyn_coordinate_rows *c, const size_t *number, size_t *from)
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
    return dyn_qr_add_rows(c->R, n + 1, t->sheet, m, m);
}

/* Removes the columns of base parameters that are not kept from the rows of the prior. A prior determines each of its
 * parameters, so the other entries of its rows do not change. */
static void reduce_prior(dyn_estimate *t, const size_t *number, size_t n)
{
    for (size_t k = 0; k < t->n; k++)
        if (number[k] != SIZE_MAX)
            memmove(t->prior + number[k] * t->n_prior, t->prior + k * t->n_prior, t->n_prior * sizeof *t->prior);
    memmove(t->prior + n * t->n_prior, t->prior + t->n * t->n_prior, t->n_prior * sizeof *t->prior);
}

bool dyn_estimate_reduce(dyn_memory memory, dyn_estimate *t, const dyn_base *base, const bool *kept)
{
    size_t *number = dyn_take(memory, (t->n + 1) * sizeof *number), *from = dyn_take(memory, (t->n + 1) * sizeof *from),
           n = 0;
    if (!number || !from) return false;
    for (size_t k = 0; k < t->n; k++)
        number[k] = kept[k] ? n++ : SIZE_MAX;
    for (size_t v = 0; v < t->robot.nv; v++)
        if (!reduce_coordinate(t, &t->at[v], number, from)) return false;
    if (t->prior) reduce_prior(t, number, n);
    t->n = t->unknowns.n = n;
    t->base              = base;
    return true;
}
