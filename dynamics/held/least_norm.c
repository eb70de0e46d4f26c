/* least_norm.c - finds the vector of least norm within limits, by the dual active-set method of Goldfarb & Idnani
 * (1983) (least_norm.h). */
#include "least_norm.h"
#include "cone_newton.h"
#include <math.h>
#include <string.h>

#define SATISFIED 1e-12 /* largest violation of a limit that counts as zero, relative to |x| */
#define DEPENDENT 1e-10 /* part of a unit gradient outside the span of the active gradients that counts as zero */
#define NEARBY    1e-3  /* violation below which Newton's method (cone_newton.h) is tried, relative to |x| */

enum { PIVOTS = 40 /* most pivots for each limit */, LEAST_PIVOTS = 200 };

/* --- memory ----------------------------------------------------------------------------------------------------- */

size_t dyn_least_norm_bytes(size_t k, size_t n_equations)
{
    const size_t n = k + 2;
    return (n_equations * (k + 1) + 2 * k + 2 * n * k + n * n + k + 2 * n + 4 * k * k + 2 * k) * sizeof(double) +
           2 * n * sizeof(dyn_active_limit) + 2 * k * sizeof(int);
}

void dyn_least_norm_lay_out(dyn_least_norm *s, void *room)
{
    const size_t k = s->k, n = k + 2;
    s->equation    = room;
    s->right       = s->equation + s->n_equations * k;
    s->x           = s->right + s->n_equations;
    s->saved_x     = s->x + k;
    s->normal      = s->saved_x + k;
    s->Q           = s->normal + n * k;
    s->R           = s->Q + n * k;
    s->direction   = s->R + n * n;
    s->coefficient = s->direction + k;
    s->rates       = s->coefficient + n;
    s->kkt         = s->rates + n;
    s->kkt_right   = s->kkt + 4 * k * k;
    s->active      = (dyn_active_limit *)(s->kkt_right + 2 * k);
    s->saved       = s->active + n;
    s->pivot       = (int *)(s->saved + n);
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

static double sum_of_products(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double norm_of(const double *a, size_t n)
{
    return sqrt(sum_of_products(a, a, n));
}

/* Returns how far x violates the half space of a cone that x violates most, and sets *half_space to this half space. */
static double cone_violation(const dyn_least_norm *s, size_t index, dyn_active_limit *half_space)
{
    const dyn_limit_cone *cone = &s->cone[index];
    const double         *x    = s->x + cone->first;
    const double a = sum_of_products(cone->tangent[0], x, cone->n), b = sum_of_products(cone->tangent[1], x, cone->n);
    const double size = sqrt(a * a + b * b);
    double       sum  = 0;
    *half_space =
        (dyn_active_limit){.limit = s->n_rows + index, .u = {size > 0 ? a / size : 1, size > 0 ? b / size : 0}};
    for (size_t i = 0; i < cone->n; i++) {
        const double g =
            cone->normal[i] - half_space->u[0] * cone->tangent[0][i] - half_space->u[1] * cone->tangent[1][i];
        sum += g * g;
    }
    half_space->length = sqrt(sum);
    return (size - sum_of_products(cone->normal, x, cone->n)) / half_space->length;
}

static double row_violation(const dyn_least_norm *s, size_t index, dyn_active_limit *half_space)
{
    const dyn_limit_row *row = &s->row[index];
    *half_space              = (dyn_active_limit){.limit = index, .length = norm_of(row->c, row->n)};
    return (row->least - sum_of_products(row->c, s->x + row->first, row->n)) / half_space->length;
}

double dyn_least_norm_violation(const dyn_least_norm *s, dyn_active_limit *worst)
{
    double most = -INFINITY;
    for (size_t i = 0; i < s->n_rows + s->n_cones; i++) {
        dyn_active_limit half_space;
        const double     size =
            i < s->n_rows ? row_violation(s, i, &half_space) : cone_violation(s, i - s->n_rows, &half_space);
        if (!(size > most)) continue;
        most = size;
        if (worst) *worst = half_space;
    }
    return most;
}

double dyn_least_norm_tolerance(const dyn_least_norm *s)
{
    double most = norm_of(s->x, s->k);
    for (size_t i = 0; i < s->n_rows; i++)
        most = fmax(most, fabs(s->row[i].least) / norm_of(s->row[i].c, s->row[i].n));
    return SATISFIED * most;
}

void dyn_least_norm_gradient(const dyn_least_norm *s, const dyn_active_limit *half_space, double *to)
{
    const bool            is_row = half_space->limit < s->n_rows;
    const dyn_limit_row  *row    = is_row ? &s->row[half_space->limit] : NULL;
    const dyn_limit_cone *cone   = is_row ? NULL : &s->cone[half_space->limit - s->n_rows];
    const size_t          first = row ? row->first : cone->first, n = row ? row->n : cone->n;
    memset(to, 0, s->k * sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[first + i] =
            (row ? row->c[i]
                 : cone->normal[i] - half_space->u[0] * cone->tangent[0][i] - half_space->u[1] * cone->tangent[1][i]) /
            half_space->length;
}

/* --- the active set ----------------------------------------------------------------------------------------------- */

/* Subtracts from d (k) its parts along the equations and the basis of n active limits, twice for the rounding errors.
 * `coefficient` (n) becomes the parts along the basis. */
static void remove_projections(const dyn_least_norm *s, size_t n, double *d, double *coefficient)
{
    memset(coefficient, 0, n * sizeof *coefficient);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < s->n_equations + n; i++) {
            const bool    is_equation = i < s->n_equations;
            const size_t  j           = i - s->n_equations;
            const double *q           = is_equation ? s->equation + i * s->k : s->Q + j * s->k;
            const double  part        = sum_of_products(q, d, s->k);
            if (!is_equation) coefficient[j] += part;
            for (size_t e = 0; e < s->k; e++)
                d[e] -= part * q[e];
        }
}

/* Factors the gradients of active limits from number `first` on: normal_j = sum_i Q_i R_ij, i <= j. */
static void factor_from(dyn_least_norm *s, size_t first)
{
    const size_t n = s->k + 2;
    for (size_t j = first; j < s->n_active; j++) {
        double *q = s->Q + j * s->k;
        memcpy(q, s->normal + j * s->k, s->k * sizeof *q);
        remove_projections(s, j, q, s->R + j * n);
        const double size = norm_of(q, s->k);
        s->R[j * n + j]   = size;
        for (size_t e = 0; e < s->k; e++)
            q[e] /= size;
    }
}

static void deactivate_limit(dyn_least_norm *s, size_t j)
{
    s->n_active--;
    memmove(s->active + j, s->active + j + 1, (s->n_active - j) * sizeof *s->active);
    memmove(s->normal + j * s->k, s->normal + (j + 1) * s->k, (s->n_active - j) * s->k * sizeof *s->normal);
    factor_from(s, j);
}

/* Sets the direction of x and the rates of the multipliers per unit of the multiplier of limit `next`, whose unit
 * gradient (k) is `gradient`. Returns the squared length of the direction, 0 if it is of rounding size. */
static double find_step_direction(dyn_least_norm *s, const double *gradient)
{
    const size_t n = s->k + 2;
    memcpy(s->direction, gradient, s->k * sizeof *gradient);
    remove_projections(s, s->n_active, s->direction, s->coefficient);
    for (size_t j = s->n_active; j-- > 0;) {
        double sum = s->coefficient[j];
        for (size_t i = j + 1; i < s->n_active; i++)
            sum -= s->R[i * n + j] * s->rates[i];
        s->rates[j] = sum / s->R[j * n + j];
    }
    const double size = sum_of_products(s->direction, s->direction, s->k);
    return size > DEPENDENT * DEPENDENT ? size : 0;
}

/* Returns the active limit whose multiplier reaches zero first, or n_active if none does. Sets *step to the increase of
 * the multiplier of the new limit until then. */
static size_t find_blocking(const dyn_least_norm *s, double *step)
{
    size_t found = s->n_active;
    *step        = INFINITY;
    for (size_t j = 0; j < s->n_active; j++) {
        if (!(s->rates[j] > DEPENDENT)) continue;
        const double reaches = s->active[j].multiplier / s->rates[j];
        if (reaches < *step) *step = reaches, found = j;
    }
    return found;
}

/* Records the limits that contradict each other: `next`, and the active ones whose combination opposes it. */
static dyn_least_norm_status keep_conflict(dyn_least_norm *s, const dyn_active_limit *next)
{
    dyn_active_limit before = *next;
    s->n_conflicting        = 1;
    for (size_t j = 0; j < s->n_active; j++) {
        const dyn_active_limit now = s->active[j];
        if (s->rates[j] < -DEPENDENT) {
            s->active[s->n_conflicting - 1] = before;
            before                          = now;
            s->n_conflicting++;
        }
    }
    s->active[s->n_conflicting - 1] = before;
    return DYN_LEAST_NORM_INFEASIBLE;
}

/* Adds the half space `next`, which x violates, to the active set. Drops the active limits whose multipliers would
 * become negative. Decrements *pivots in each iteration; at zero the result is undecided. */
static dyn_least_norm_status activate_half_space(dyn_least_norm *s, dyn_active_limit next, double violation,
                                                 size_t *pivots)
{
    double *gradient = s->normal + s->n_active * s->k;
    dyn_least_norm_gradient(s, &next, gradient);
    while ((*pivots)-- > 0) {
        double       blocks;
        const double size = find_step_direction(s, gradient), meets = size > 0 ? violation / size : INFINITY;
        const size_t blocking = find_blocking(s, &blocks);
        const double step     = blocks < meets ? blocks : meets;
        if (!dyn_may_continue(s->deadline)) return DYN_LEAST_NORM_LATE;
        if (isinf(step)) return keep_conflict(s, &next);
        for (size_t e = 0; size > 0 && e < s->k; e++)
            s->x[e] += step * s->direction[e];
        for (size_t j = 0; j < s->n_active; j++)
            s->active[j].multiplier -= step * s->rates[j];
        next.multiplier += step;
        violation -= size * step;
        if (meets <= blocks) {
            s->active[s->n_active++] = next;
            factor_from(s, s->n_active - 1);
            return DYN_LEAST_NORM_DONE;
        }
        deactivate_limit(s, blocking); /* this also moves the gradient of `next` in `normal` */
        dyn_least_norm_gradient(s, &next, gradient = s->normal + s->n_active * s->k);
    }
    return DYN_LEAST_NORM_UNDECIDED;
}

dyn_least_norm_status dyn_least_norm_solve(dyn_least_norm *s)
{
    size_t pivots = LEAST_PIVOTS + PIVOTS * (s->n_rows + s->n_cones);
    double tried  = INFINITY;
    s->n_active = s->n_conflicting = 0;
    while (isfinite(sum_of_products(s->x, s->x, s->k))) {
        dyn_active_limit next;
        const double     violation = dyn_least_norm_violation(s, &next), none = dyn_least_norm_tolerance(s);
        if (violation <= none) {
            dyn_cone_newton_finish(s); /* half spaces alone leave an error of x of up to sqrt(none) */
            return DYN_LEAST_NORM_DONE;
        }
        if (violation < NEARBY / SATISFIED * none && violation < 0.1 * tried) {
            tried = violation;
            if (dyn_cone_newton_finish(s)) return DYN_LEAST_NORM_DONE;
        }
        const dyn_least_norm_status status = activate_half_space(s, next, violation, &pivots);
        if (status != DYN_LEAST_NORM_DONE) return status;
    }
    return DYN_LEAST_NORM_UNDECIDED;
}
