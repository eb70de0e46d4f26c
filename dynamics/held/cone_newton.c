/* cone_newton.c - finds the vector of least norm within cones: Newton's method on the conditions of optimality
 * (cone_newton.h). */
#include "cone_newton.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

#define AT_APEX   1e-7  /* largest |T x| of a cone whose apex x has reached, relative to |x| */
#define CONVERGED 1e-14 /* last change of x, relative to |x| */
#define STALLED   1e-9  /* largest change of x that may be caused by rounding errors alone, relative to |x| */
#define NEGATIVE  1e-9  /* most negative multiplier that counts as zero, relative to |x| */

enum { ITERATIONS = 12 };

/* --- active cones ------------------------------------------------------------------------------------------------- */

static double sum_of_products(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Sets the half space of an active cone to the one that touches the cone at x, and rescales its multiplier. Returns |T
 * x|. Returns 0, and changes nothing, for a row of linear limits and at the apex of a cone. */
static double turn_half_space(const dyn_least_norm *s, dyn_active_limit *active)
{
    if (active->limit < s->n_rows) return 0;
    const dyn_limit_cone *cone = &s->cone[active->limit - s->n_rows];
    const double         *x    = s->x + cone->first;
    const double a = sum_of_products(cone->tangent[0], x, cone->n), b = sum_of_products(cone->tangent[1], x, cone->n);
    const double size = sqrt(a * a + b * b), strength = active->multiplier / active->length;
    double       sum = 0;
    if (!(size > AT_APEX * sqrt(sum_of_products(s->x, s->x, s->k)))) return 0;
    active->u[0] = a / size, active->u[1] = b / size;
    for (size_t i = 0; i < cone->n; i++) {
        const double g = cone->normal[i] - active->u[0] * cone->tangent[0][i] - active->u[1] * cone->tangent[1][i];
        sum += g * g;
    }
    active->length     = sqrt(sum);
    active->multiplier = strength * active->length;
    return size;
}

/* For each cone whose apex x has not reached, replaces its half spaces in the active set by a single one. Returns true
 * if there is such a cone. */
static bool merge_half_spaces(dyn_least_norm *s)
{
    size_t n     = 0;
    bool   found = false;
    for (size_t i = 0; i < s->n_active; i++) {
        dyn_active_limit now    = s->active[i];
        const bool       smooth = turn_half_space(s, &now) > 0;
        size_t           same   = 0;
        while (smooth && same < n && s->active[same].limit != now.limit)
            same++;
        found = found || smooth;
        if (smooth && same < n)
            s->active[same].multiplier += now.multiplier;
        else
            s->active[n++] = now;
    }
    s->n_active = n;
    return found;
}

/* --- conditions of optimality ------------------------------------------------------------------------------------- */

/* Adds the curvature v p p^T / |T x| of an active cone to s->kkt, a matrix with `order` rows; v is the cone's
 * multiplier, p = u_0 T_1 - u_1 T_0. */
static void add_curvature(const dyn_least_norm *s, const dyn_active_limit *active, double size, size_t order)
{
    const dyn_limit_cone *cone = &s->cone[active->limit - s->n_rows];
    double                p[DYN_LIMIT_ENTRIES];
    for (size_t i = 0; i < cone->n; i++)
        p[i] = active->u[0] * cone->tangent[1][i] - active->u[1] * cone->tangent[0][i];
    for (size_t i = 0; i < cone->n; i++)
        for (size_t j = 0; j < cone->n; j++)
            s->kkt[(cone->first + i) * order + cone->first + j] +=
                active->multiplier / active->length * p[i] * p[j] / size;
}

/* Appends a unit gradient as row and column `index` of s->kkt, a matrix with `order` rows; the right side makes the
 * product of the gradient with the new x equal to `right`. */
static void append_condition(const dyn_least_norm *s, size_t index, size_t order, const double *gradient, double right)
{
    for (size_t e = 0; e < s->k; e++)
        s->kkt[index * order + e] = s->kkt[e * order + index] = gradient[e];
    s->kkt_right[index] = right - sum_of_products(gradient, s->x, s->k);
}

static bool is_zero_row(const double *row, size_t k)
{
    return sum_of_products(row, row, k) == 0;
}

/* Counts the equations E x = e that have an effect: those whose row is not zero. */
static size_t count_equations(const dyn_least_norm *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_equations; i++)
        n += !is_zero_row(s->equation + i * s->k, s->k);
    return n;
}

/* Sets the first k rows of s->kkt_right: -(x - E^T mu - sum y_i g_i), with the mu for which this vector is smallest.
 * The rows from k on belong to E (rows with an effect), then to the g_i. */
static void set_stress(const dyn_least_norm *s, size_t order)
{
    const size_t k = s->k, equations = order - k - s->n_active;
    double      *to = s->kkt_right;
    for (size_t e = 0; e < k; e++)
        to[e] = -s->x[e];
    for (size_t i = 0; i < s->n_active; i++)
        for (size_t e = 0; e < k; e++)
            to[e] += s->active[i].multiplier * s->kkt[(k + equations + i) * order + e];
    for (size_t i = k; i < k + equations; i++) {
        const double part = sum_of_products(s->kkt + i * order, to, k);
        for (size_t e = 0; e < k; e++)
            to[e] -= part * s->kkt[i * order + e];
    }
}

/* Sets the matrix and the right side of Newton's equations for the changes of x and of the multipliers, and sets the
 * half spaces to those that touch the cones at x. Solving for changes keeps the rounding errors of large multipliers
 * out of the limits. Returns the order of the matrix; 0: there are more active limits than entries of x. */
static size_t set_conditions(dyn_least_norm *s)
{
    const size_t k = s->k, equations = count_equations(s), order = k + equations + s->n_active;
    size_t       next = k;
    if (equations + s->n_active > k) return 0;
    memset(s->kkt, 0, order * order * sizeof *s->kkt);
    for (size_t e = 0; e < k; e++)
        s->kkt[e * order + e] = 1;
    for (size_t i = 0; i < s->n_equations; i++)
        if (!is_zero_row(s->equation + i * k, k)) append_condition(s, next++, order, s->equation + i * k, s->right[i]);
    for (size_t i = 0; i < s->n_active; i++) {
        dyn_active_limit *active = &s->active[i];
        const double      size   = turn_half_space(s, active);
        dyn_least_norm_gradient(s, active, s->direction);
        append_condition(s, next++, order, s->direction,
                         active->limit < s->n_rows ? s->row[active->limit].least / active->length : 0);
        if (size > 0) add_curvature(s, active, size, order);
    }
    set_stress(s, order);
    return order;
}

/* Takes one step of Newton's method. Returns the length of the change of x; infinity: the equations have no
 * solution. */
static double newton_step(dyn_least_norm *s)
{
    const size_t     k = s->k, order = set_conditions(s);
    const lapack_int n = (lapack_int)order;
    if (order == 0 || LAPACKE_dgesv_work(LAPACK_COL_MAJOR, n, 1, s->kkt, n, s->pivot, s->kkt_right, n) != 0)
        return INFINITY;
    for (size_t e = 0; e < k; e++)
        s->x[e] += s->kkt_right[e];
    for (size_t i = 0; i < s->n_active; i++) /* s->kkt contains the gradients with the opposite sign */
        s->active[i].multiplier -= s->kkt_right[order - s->n_active + i];
    return sqrt(sum_of_products(s->kkt_right, s->kkt_right, k));
}

static bool is_optimal(const dyn_least_norm *s)
{
    const double least = -NEGATIVE * sqrt(sum_of_products(s->x, s->x, s->k));
    for (size_t i = 0; i < s->n_active; i++)
        if (!(s->active[i].multiplier >= least)) return false;
    return dyn_least_norm_violation(s, NULL) <= dyn_least_norm_tolerance(s);
}

/* Repeats Newton steps until x changes by rounding errors only. Returns false if it does not settle. */
static bool converge(dyn_least_norm *s)
{
    double before = INFINITY;
    for (int i = 0; i < ITERATIONS && dyn_may_continue(s->deadline); i++) {
        const double change = newton_step(s), size = sqrt(sum_of_products(s->x, s->x, s->k));
        if (!isfinite(change)) return false;
        if (change <= CONVERGED * size || (change <= STALLED * size && change > before / 2)) return true;
        before = change;
    }
    return false;
}

bool dyn_cone_newton_finish(dyn_least_norm *s)
{
    const size_t n = s->n_active, k = s->k;
    memcpy(s->saved_x, s->x, k * sizeof *s->x);
    memcpy(s->saved, s->active, n * sizeof *s->saved);
    if (merge_half_spaces(s) && converge(s) && is_optimal(s)) return true;
    memcpy(s->x, s->saved_x, k * sizeof *s->x);
    memcpy(s->active, s->saved, n * sizeof *s->saved);
    s->n_active = n;
    return false;
}

/* --- derivatives -------------------------------------------------------------------------------------------------- */

bool dyn_cone_newton_factor(dyn_least_norm *s)
{
    merge_half_spaces(s);
    const size_t     order = set_conditions(s);
    const lapack_int n     = (lapack_int)order;
    return order > 0 && LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, s->kkt, n, s->pivot) == 0;
}

const double *dyn_cone_newton_equations(dyn_least_norm *s)
{
    memcpy(s->kkt_right, s->x, s->k * sizeof *s->x);
    for (size_t i = 0; i < s->n_active; i++) {
        dyn_least_norm_gradient(s, &s->active[i], s->direction);
        for (size_t e = 0; e < s->k; e++)
            s->kkt_right[e] -= s->active[i].multiplier * s->direction[e];
    }
    return s->kkt_right;
}

const double *dyn_cone_newton_differentiate(dyn_least_norm *s, const double *gradient, const double *equation)
{
    const size_t     k = s->k, order = k + count_equations(s) + s->n_active;
    const lapack_int n    = (lapack_int)order;
    size_t           next = k;
    memset(s->kkt_right, 0, order * sizeof *s->kkt_right);
    memcpy(s->kkt_right, gradient, k * sizeof *gradient);
    for (size_t i = 0; i < s->n_equations; i++)
        if (!is_zero_row(s->equation + i * k, k)) s->kkt_right[next++] = equation[i];
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, 1, s->kkt, n, s->pivot, s->kkt_right, n);
    return s->kkt_right;
}
