/* contact_polytope.c - writes limits of contacts and efforts at a place of a path as a polytope (contact_polytope.h).
 */
#include "contact_polytope.h"
#include <math.h>
#include <string.h>

#define INDEPENDENT 1e-8 /* squared length above which the part of a unit vector outside a subspace counts */

/* --- sizes -------------------------------------------------------------------------------------------------------- */

static size_t count_held_axes(const dyn_polytope_limits *limits)
{
    return limits->choice->contact->k;
}

size_t dyn_polytope_rows(const dyn_polytope_limits *limits)
{
    return limits->choice->n_rows + DYN_POLYTOPE_FACETS * limits->choice->n_cones + 2 * limits->n_efforts;
}

size_t dyn_polytope_bytes(const dyn_polytope_limits *limits)
{
    const size_t k = count_held_axes(limits), n = k + 2;
    return (3 * k + k * k) * sizeof(double) + dyn_simplex_bytes(n, dyn_polytope_rows(limits) + 2 * n);
}

double dyn_polytope_scale(const dyn_polytope_limits *limits, const dyn_polytope_place *place)
{
    double most = 0;
    for (size_t v = 0; v < limits->nv; v++)
        most = fmax(most, fmax(fabs(place->a[v * place->W + place->lane]), fabs(place->b[v * place->W + place->lane])));
    return most > 0 ? limits->weight * limits->lever / most : 1;
}

size_t dyn_polytope_limit(const dyn_polytope_limits *limits, size_t row)
{
    const dyn_held_choice *c        = limits->choice;
    const size_t           pyramids = c->n_rows + DYN_POLYTOPE_FACETS * c->n_cones;
    if (row < c->n_rows) return row;
    if (row < pyramids) return c->n_rows + (row - c->n_rows) / DYN_POLYTOPE_FACETS;
    return c->n_rows + c->n_cones + (row - pyramids) / 2;
}

/* --- null space --------------------------------------------------------------------------------------------------- */

/* Subtracts from x (k) its component along a unit vector, whose entries are `stride` apart. */
static void subtract_part(size_t k, const double *vector, size_t stride, double *x)
{
    double part = 0;
    for (size_t i = 0; i < k; i++)
        part += vector[i * stride] * x[i];
    for (size_t i = 0; i < k; i++)
        x[i] -= part * vector[i * stride];
}

/* Subtracts from x its components along the rows of E and the first n rows of N, twice because of rounding errors.
 * Returns the squared length of the remaining vector. */
static double project_on_null_space(const dyn_polytope *p, const dyn_polytope_limits *limits,
                                    const dyn_polytope_place *place, size_t n, double *x)
{
    const size_t k = count_held_axes(limits), W = place->W;
    double       sum = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t u = 0; u < limits->choice->n_passive; u++)
            subtract_part(k, place->E + u * k * W + place->lane, W, x);
        for (size_t i = 0; i < n; i++)
            subtract_part(k, p->N + i * k, 1, x);
    }
    for (size_t i = 0; i < k; i++)
        sum += x[i] * x[i];
    return sum;
}

/* Sets the rows of N to an orthonormal basis of the null space of E, by Gram-Schmidt from the unit vectors. Returns the
 * number of rows. */
static size_t find_null_space(dyn_polytope *p, const dyn_polytope_limits *limits, const dyn_polytope_place *place)
{
    const size_t k = count_held_axes(limits);
    size_t       n = 0, rank = 0;
    for (size_t u = 0; u < limits->choice->n_passive; u++) {
        double size = 0;
        for (size_t i = 0; i < k; i++)
            size = fmax(size, fabs(place->E[(u * k + i) * place->W + place->lane]));
        rank += size > 0;
    }
    for (size_t axis = 0; axis < k && n + rank < k; axis++) {
        double *row = p->N + n * k;
        memset(row, 0, k * sizeof *row);
        row[axis]         = 1;
        const double size = project_on_null_space(p, limits, place, n, row);
        if (!(size > INDEPENDENT)) continue;
        for (size_t i = 0; i < k; i++)
            row[i] /= sqrt(size);
        n++;
    }
    return n;
}

/* Sets p->particular, the parts E^T e_a, E^T e_b and E^T e_c of w that do not depend on z. */
static void find_particular(dyn_polytope *p, const dyn_polytope_limits *limits, const dyn_polytope_place *place)
{
    const size_t k = count_held_axes(limits), W = place->W;
    memset(p->particular, 0, 3 * k * sizeof *p->particular);
    for (size_t part = 0; part < 3; part++)
        for (size_t u = 0; u < limits->choice->n_passive; u++)
            for (size_t i = 0; i < k; i++)
                p->particular[part * k + i] +=
                    place->E[(u * k + i) * W + place->lane] * place->e[part][u * W + place->lane];
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* The half space p u + q x + c.w' <= most, where w' are the entries first to first + n - 1 of w
 * (contact_polytope.h). */
typedef struct half_space {
    size_t        first, n;
    const double *c;
    double        p, q, most;
} half_space;

/* Writes a half space as row `row` of the polytope, in the unknowns u / scale, x / scale and z, divided by its largest
 * number. */
static void put_half_space(const dyn_polytope *p, const dyn_polytope_limits *limits, const half_space *h, size_t row)
{
    const size_t k = count_held_axes(limits), n = p->s.n;
    double      *to = dyn_simplex_row(&p->s, row), most = 0;
    for (size_t i = 0; i < n + 1; i++) {
        const double *along = i < 2 ? p->particular + i * k : i < n ? p->N + (i - 2) * k : p->particular + 2 * k;
        double        sum   = i == 0 ? h->p : i == 1 ? h->q : 0;
        for (size_t j = 0; j < h->n; j++)
            sum += h->c[j] * along[h->first + j];
        to[i] = i < 2 ? sum * p->scale : i < n ? sum * limits->weight : 0;
        if (i == n) to[n + 1] = h->most - sum;
    }
    for (size_t i = 0; i < n + 2; i++)
        most = fmax(most, fabs(to[i]));
    for (size_t i = 0; most > 0 && i < n + 2; i++)
        to[i] /= most;
}

static double length_of(const double *c, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += c[i] * c[i];
    return sqrt(sum);
}

/* Writes the half space c.w >= least of a contact. */
static void put_contact(const dyn_polytope *p, const dyn_polytope_limits *limits, const dyn_limit_row *limit,
                        size_t row)
{
    double       opposite[DYN_LIMIT_ENTRIES];
    const double margin = DYN_POLYTOPE_NARROWER * (fabs(limit->least) + limits->weight * length_of(limit->c, limit->n));
    for (size_t i = 0; i < limit->n; i++)
        opposite[i] = -limit->c[i];
    put_half_space(p, limits,
                   &(half_space){.first = limit->first, .n = limit->n, .c = opposite, .most = -limit->least - margin},
                   row);
}

/* Writes the half spaces of the pyramid inside a friction cone to the rows from `row` on. */
static void put_pyramid(const dyn_polytope *p, const dyn_polytope_limits *limits, const dyn_limit_cone *cone,
                        size_t row)
{
    for (size_t f = 0; f < DYN_POLYTOPE_FACETS; f++) {
        const double angle = (double)(2 * f + 1) * M_PI / DYN_POLYTOPE_FACETS;
        const double slope = cos(M_PI / DYN_POLYTOPE_FACETS);
        double       c[DYN_LIMIT_ENTRIES];
        for (size_t i = 0; i < cone->n; i++)
            c[i] = slope * cone->normal[i] - cos(angle) * cone->tangent[0][i] - sin(angle) * cone->tangent[1][i];
        put_contact(p, limits, &(dyn_limit_row){.first = cone->first, .n = cone->n, .c = c}, row + f);
    }
}

/* Sets c (k) to the coefficients of the wrenches w in the effort -J^T l of the limit `effort`. */
static void find_effort(const dyn_polytope_limits *limits, const dyn_polytope_place *place, const dyn_limit *effort,
                        double *c)
{
    const size_t nv = limits->nv, W = place->W;
    for (size_t i = 0; i < count_held_axes(limits); i++) {
        c[i] = 0;
        for (size_t j = 0; j < effort->n; j++)
            c[i] -= effort->weight[j] * place->J[(i * nv + effort->entry[j]) * W + place->lane];
        c[i] *= limits->choice->root[i];
    }
}

/* Writes the upper and the lower limit of an effort to two rows; an infinite limit becomes the row 0 <= 1. */
static void put_effort(const dyn_polytope *p, const dyn_polytope_limits *limits, const dyn_polytope_place *place,
                       const dyn_limit *effort, size_t row)
{
    double       c[DYN_MAX_HELD_AXES];
    const size_t W = place->W, lane = place->lane;
    const double still = dyn_limit_quantity(effort, place->c, W, lane);
    half_space   h     = {.n = count_held_axes(limits),
                          .c = c,
                          .p = dyn_limit_quantity(effort, place->a, W, lane),
                          .q = dyn_limit_quantity(effort, place->b, W, lane)};
    find_effort(limits, place, effort, c);
    for (size_t side = 0; side < 2; side++) {
        const double most = side == 0 ? effort->upper : -effort->lower;
        double      *to   = dyn_simplex_row(&p->s, row + side);
        if (isfinite(most)) {
            h.most = most - DYN_POLYTOPE_NARROWER * fabs(most) - (side == 0 ? still : -still);
            put_half_space(p, limits, &h, row + side);
        } else {
            memset(to, 0, (p->s.n + 2) * sizeof *to);
            to[p->s.n + 1] = 1;
        }
        h.p = -h.p, h.q = -h.q;
        for (size_t i = 0; i < h.n; i++)
            c[i] = -c[i];
    }
}

/* Writes the bounds -most <= y_i <= most of all unknowns y of the polytope, but 0 <= y_1 for y_1 = x / scale. */
static void put_bounds(const dyn_polytope *p)
{
    const size_t n = p->s.n;
    for (size_t i = 0; i < n; i++) {
        const double most = i == 0 ? DYN_POLYTOPE_MOST_U : i == 1 ? DYN_POLYTOPE_MOST_X : DYN_POLYTOPE_MOST_Z;
        for (size_t side = 0; side < 2; side++) {
            double *to = dyn_simplex_row(&p->s, p->rows + 2 * i + side);
            memset(to, 0, (n + 2) * sizeof *to);
            to[i]     = side == 0 ? 1 : -1;
            to[n + 1] = i == 1 && side == 1 ? 0 : most;
        }
    }
}

void dyn_polytope_write(dyn_polytope *p, const dyn_polytope_limits *limits, const dyn_polytope_place *place, void *room)
{
    const dyn_held_choice *choice = limits->choice;
    const size_t           k      = count_held_axes(limits);
    size_t                 row    = 0;
    p->particular                 = room;
    p->N                          = p->particular + 3 * k;
    p->scale                      = dyn_polytope_scale(limits, place);
    p->rows                       = dyn_polytope_rows(limits);
    find_particular(p, limits, place);
    p->s.n      = 2 + find_null_space(p, limits, place);
    p->s.m      = p->rows + 2 * p->s.n;
    p->s.bounds = p->rows;
    dyn_simplex_lay_out(&p->s, p->N + k * k);
    for (size_t i = 0; i < choice->n_rows; i++)
        put_contact(p, limits, &choice->row[i], row++);
    for (size_t i = 0; i < choice->n_cones; i++, row += DYN_POLYTOPE_FACETS)
        put_pyramid(p, limits, &choice->cone[i], row);
    for (size_t i = 0; i < limits->n_efforts; i++, row += 2)
        put_effort(p, limits, place, limits->effort[i], row);
    put_bounds(p);
}

/* --- wrenches ----------------------------------------------------------------------------------------------------- */

size_t dyn_polytope_half_spaces(const dyn_polytope_limits *limits, const dyn_polytope_place *place, const double *tau_0,
                                dyn_limit_row *row, double *coefficient)
{
    const dyn_held_choice *choice = limits->choice;
    const size_t           k      = count_held_axes(limits);
    size_t                 n      = choice->n_rows;
    if (n > 0) memcpy(row, choice->row, n * sizeof *row);
    for (size_t i = 0; i < limits->n_efforts; i++, coefficient += 2 * k) {
        const dyn_limit *effort  = limits->effort[i];
        const double     without = dyn_limit_quantity(effort, tau_0, place->W, place->lane);
        double           size    = 0;
        find_effort(limits, place, effort, coefficient);
        for (size_t j = 0; j < k; j++) {
            coefficient[k + j] = -coefficient[j];
            size               = fmax(size, fabs(coefficient[j]));
        }
        if (!(size > INDEPENDENT)) continue; /* no wrench changes this effort */
        if (isfinite(effort->lower)) {
            row[n] = (dyn_limit_row){.n = k, .c = coefficient, .least = effort->lower - without};
            n++;
        }
        if (isfinite(effort->upper)) {
            row[n] = (dyn_limit_row){.n = k, .c = coefficient + k, .least = without - effort->upper};
            n++;
        }
    }
    return n;
}
