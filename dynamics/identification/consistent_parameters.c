/* consistent_parameters.c - minimises the regularised least squares of consistent_parameters.h by Newton's method. */
#include "consistent_parameters.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum {
    SIDE     = 4,
    STEPS    = 200 /* Newton steps for one weight, at most; a few suffice, or some 40 far from the minimum */,
    HALVINGS = 60 /* most halvings of a Newton step */
};

/* The weight c of the distance from the model is multiplied by FALL from one minimisation to the next. A minimisation
 * ends after a step whose squared Newton decrement is at most ROUGH c; in the last minimisation, EXACT c. */
#define FALL  0.05
#define ROUGH 1e-2
#define EXACT 1e-10

#define LONG 0.5 /* length of a Newton step above which a part of it is taken */

typedef struct search {
    const dyn_consistent *c;
    size_t                n_base, n_bodies, n_cones,
        n;                    /* n: unknowns, 10 for each body, then rotor inertias (up to n_cones), then friction */
    size_t  first;            /* row (index among the model's bodies) of the first body with unknowns */
    size_t *parameter;        /* [n] index of each unknown among the parameters */
    double *J0_inverse;       /* [n_bodies] 4 x 4: inverse of the reference's pseudo-inertia J0 */
    double *at0;              /* [n] the reference's values r0 and f0 of rotors and friction */
    double *A, *b;            /* (R/s) P, n_base x n, column-major; (R/s) beta', n_base */
    double *x, *step, *trial; /* [n] each: the unknowns, their Newton step, and the unknowns after a trial step */
    double *H, *r;            /* matrix (n_base + n) x n, column-major, and right side of a Newton step */
    double  weight;           /* c, the factor of the distance from the reference */
} search;

/* Counts the unknowns, supposing that the parameters of all bodies are unknown. Parameters of friction curves are
 * unknown if `base` contains them. */
static size_t count_unknowns(const dyn_model *m, const dyn_base *base, unsigned with, size_t *rotors)
{
    size_t movers = 0, curves = 0;
    for (size_t j = 0; j < m->n_movers; j++)
        movers += dyn_mover_is_estimated(m, j);
    for (size_t k = 0; k < base->n; k++)
        curves += base->parameter[k] >= dyn_parameter_count(m);
    *rotors         = with & DYN_BASE_ROTORS ? movers : 0;
    size_t friction = with & DYN_BASE_FRICTION ? 3 * movers : 0;
    return DYN_PER_BODY * m->n_rows + *rotors + friction + curves;
}

size_t dyn_consistent_scratch(const dyn_model *m, const dyn_base *base, unsigned with)
{
    size_t rotors, n = count_unknowns(m, base, with, &rotors);
    return 16 * m->n_rows + base->n * (n + 1) + (base->n + n) * (n + 1) + 6 * n;
}

/* --- the reference as the start of the search ------------------------------------------------------------------------
 */

/* Replaces the lower half of the symmetric matrix J (4 x 4) by its Cholesky factor L, J = L LT. Returns false if J is
 * not positive definite. */
static bool cholesky(double J[16])
{
    return LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', SIDE, J, SIDE) == 0;
}

/* Finds typical scales of this robot: the mean mass of its bodies, and the mean of the squared distances of mass points
 * from the origins of their links, in m^2. */
static void find_typical_scales(const search *s, double *mass, double *square)
{
    double m = 0, E = 0, J[16];
    for (size_t i = 0; i < s->n_bodies; i++) {
        dyn_pseudo_inertia(s->c->parameters + DYN_PER_BODY * (s->first + i), J);
        m += J[15];
        E += fabs(J[0] + J[5] + J[10]);
    }
    *mass   = m > 0 ? m / (double)s->n_bodies : 1;
    *square = m > 0 && E > 0 ? E / m : 0.01;
}

/* Makes the pseudo-inertia J of a body positive definite where it is not: published parameters are not always
 * physically possible (some bodies have no mass). J is scaled by typical mass and length, and its small eigenvalues are
 * raised to a thousandth of the largest one, or of 1 if that is more. Returns false if LAPACK failed. */
static bool centre_body(double J[16], double mass, double square)
{
    double unit[SIDE], lambda[SIDE], V[16];
    for (int i = 0; i < SIDE; i++)
        unit[i] = sqrt(mass * (i < 3 ? square : 1));
    for (int i = 0; i < 16; i++)
        V[i] = J[i] / (unit[i / 4] * unit[i % 4]);
    if (LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', SIDE, V, SIDE, lambda) != 0) return false;
    double floor = 1e-3 * fmax(lambda[SIDE - 1], 1);
    if (!(lambda[0] > 1e-6 * lambda[SIDE - 1]))
        for (int i = 0; i < 16; i++) {
            J[i] = 0;
            for (int k = 0; k < SIDE; k++)
                J[i] += fmax(lambda[k], floor) * V[4 * k + i / 4] * V[4 * k + i % 4] * unit[i / 4] * unit[i % 4];
        }
    return true;
}

/* Starts the search at the reference: sets x, J0_inverse and at0. Returns false if a matrix could not be
 * factored. */
static bool centre(search *s)
{
    double mass, square;
    find_typical_scales(s, &mass, &square);
    for (size_t i = 0; i < s->n_bodies; i++) {
        double *J = s->J0_inverse + 16 * i;
        dyn_pseudo_inertia(s->c->parameters + DYN_PER_BODY * (s->first + i), J);
        if (!centre_body(J, mass, square)) return false;
        dyn_pseudo_inertia_parameters(J, s->x + DYN_PER_BODY * i);
        if (!cholesky(J) || LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', SIDE, J, SIDE) != 0) return false;
    }
    for (size_t k = DYN_PER_BODY * s->n_bodies; k < s->n; k++) {
        bool   rotor = k < s->n_cones;
        double own   = s->c->parameters[s->parameter[k]];
        s->x[k] = s->at0[k] = rotor && !(own > 0) ? 1e-2 * mass * square : own;
    }
    return true;
}

/* --- the function and its Newton step ---------------------------------------------------------------------------- */

static double square_of_rest(const search *s, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < s->n_base; i++) {
        double rest = s->b[i];
        for (size_t k = 0; k < s->n; k++)
            rest -= s->A[k * s->n_base + i] * x[k];
        sum += rest * rest;
    }
    return sum;
}

/* Returns the divergence d(J, J0) of a body's pseudo-inertia J from the model's J0, up to a constant; infinite if J is
 * not positive definite. */
static double divergence(const search *s, size_t body, const double *x)
{
    double        J[16], d = 0;
    const double *J0 = s->J0_inverse + 16 * body;
    dyn_pseudo_inertia(x + DYN_PER_BODY * body, J);
    for (int j = 0; j < SIDE; j++)
        for (int i = j; i < SIDE; i++)
            d += (i == j ? 1 : 2) * J0[4 * j + i] * J[4 * j + i];
    if (!cholesky(J)) return INFINITY;
    for (int i = 0; i < SIDE; i++)
        d -= 2 * log(J[5 * i]);
    return d;
}

static double value(const search *s, const double *x)
{
    double d = 0;
    for (size_t i = 0; i < s->n_bodies; i++)
        d += divergence(s, i, x);
    for (size_t k = DYN_PER_BODY * s->n_bodies; k < s->n_cones; k++)
        d += x[k] > 0 ? x[k] / s->at0[k] - log(x[k] / s->at0[k]) : INFINITY;
    for (size_t k = s->n_cones; k < s->n; k++)
        d += (x[k] - s->at0[k]) * (x[k] - s->at0[k]) / 2;
    return square_of_rest(s, x) / 2 + s->weight * d;
}

/* Writes the lower half of a symmetric 4 x 4 matrix, times `by`, as a vector whose norm is the matrix's Frobenius norm
 * times `by`. */
static void flatten(const double X[16], double by, double to[DYN_PER_BODY])
{
    for (int j = 0; j < SIDE; j++)
        for (int i = j; i < SIDE; i++)
            *to++ = (i == j ? by : by * M_SQRT2) * X[4 * j + i];
}

/* Writes the rows of one body in the least squares problem of a Newton step. With J = L LT changed to L (1 + X) LT, d
 * is, to second order and up to a constant, |X - (1 - LT J0^-1 L)|^2 / 2. Each row is multiplied by the root of the
 * weight:
 *
 *     X = L^-1 (sum_c E_c step_c) L^-T = 1 - LT J0^-1 L,     E_c: the pseudo-inertia of parameter c = 1. */
static bool body_rows(const search *s, size_t body)
{
    size_t n_rows = s->n_base + s->n, first = s->n_base + DYN_PER_BODY * body;
    double by = sqrt(s->weight), L[16], X[16];
    dyn_pseudo_inertia(s->x + DYN_PER_BODY * body, L);
    if (!cholesky(L)) return false;
    for (size_t c = 0; c < DYN_PER_BODY; c++) {
        double unit[DYN_PER_BODY] = {0};
        unit[c]                   = 1;
        dyn_pseudo_inertia(unit, X);
        if (LAPACKE_dsygst(LAPACK_COL_MAJOR, 1, 'L', SIDE, X, SIDE, L, SIDE) != 0) return false;
        flatten(X, by, s->H + (DYN_PER_BODY * body + c) * n_rows + first);
    }
    memcpy(X, s->J0_inverse + 16 * body, sizeof X);
    if (LAPACKE_dsygst(LAPACK_COL_MAJOR, 2, 'L', SIDE, X, SIDE, L, SIDE) != 0) return false;
    for (int j = 0; j < SIDE; j++)
        for (int i = j; i < SIDE; i++)
            X[4 * j + i] = (i == j) - X[4 * j + i];
    flatten(X, by, s->r + first);
    return true;
}

static bool rows(const search *s)
{
    size_t n_rows = s->n_base + s->n;
    memset(s->H, 0, n_rows * s->n * sizeof *s->H);
    for (size_t k = 0; k < s->n; k++)
        memcpy(s->H + k * n_rows, s->A + k * s->n_base, s->n_base * sizeof *s->A);
    for (size_t i = 0; i < s->n_base; i++) {
        s->r[i] = s->b[i];
        for (size_t k = 0; k < s->n; k++)
            s->r[i] -= s->A[k * s->n_base + i] * s->x[k];
    }
    for (size_t i = 0; i < s->n_bodies; i++)
        if (!body_rows(s, i)) return false;
    for (size_t k = DYN_PER_BODY * s->n_bodies; k < s->n; k++) {
        bool   rotor                     = k < s->n_cones;
        double by                        = sqrt(s->weight);
        s->H[k * n_rows + s->n_base + k] = rotor ? by / s->x[k] : by;
        s->r[s->n_base + k]              = by * (rotor ? 1 - s->x[k] / s->at0[k] : s->at0[k] - s->x[k]);
    }
    return true;
}

/* Computes the Newton step and the squared Newton decrement |H step|^2, twice the predicted decrease of the value. */
static bool newton(const search *s, double *decrement)
{
    size_t n_rows = s->n_base + s->n;
    if (!rows(s) || LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', (lapack_int)n_rows, (lapack_int)s->n, 1, s->H,
                                  (lapack_int)n_rows, s->r, (lapack_int)n_rows) != 0)
        return false;
    memcpy(s->step, s->r, s->n * sizeof *s->step);
    *decrement = 0;
    for (size_t i = 0; i < s->n; i++) { /* |H step| = |R step| with the factor R of H = Q R */
        double sum = 0;
        for (size_t k = i; k < s->n; k++)
            sum += s->H[k * n_rows + i] * s->step[k];
        *decrement += sum * sum;
    }
    return isfinite(*decrement);
}

/* Takes a part of a long step that stays well within the cone, for which the value decreases whatever the step is,
 * since it is self-concordant (Boyd & Vandenberghe 2004, sec. 9.6): a longer one ends at the boundary, where the next
 * steps are tiny. Halves it until the value decreases enough (Armijo's rule). Returns false if no halved step decreases
 * the value, which rounding causes near the minimum. */
static bool search_line(const search *s, double decrement)
{
    const double length = sqrt(decrement / s->weight); /* length of the step in the metric of the divergence */
    double       now = value(s, s->x), t = length > LONG ? 1 / (1 + length) : 1;
    for (int i = 0; i < HALVINGS; i++, t /= 2) {
        for (size_t k = 0; k < s->n; k++)
            s->trial[k] = s->x[k] + t * s->step[k];
        if (!(value(s, s->trial) <= now - 0.1 * t * decrement)) continue;
        memcpy(s->x, s->trial, s->n * sizeof *s->x);
        return true;
    }
    return false;
}

static bool descend(const search *s, double until)
{
    for (int i = 0; i < STEPS; i++) {
        double decrement;
        if (!s->c->go_on(s->c->arg) || !newton(s, &decrement)) return false;
        if (!search_line(s, decrement) || decrement <= until * s->weight) return true;
    }
    return true;
}

/* --- the parameters --------------------------------------------------------------------------------------------------
 */

static void list_unknowns(search *s)
{
    const dyn_model *m = s->c->tree;
    size_t           n = 0;
    for (; n < DYN_PER_BODY * s->n_bodies; n++)
        s->parameter[n] = DYN_PER_BODY * s->first + n;
    for (size_t j = 0; j < m->n_movers && (s->c->with & DYN_BASE_ROTORS); j++)
        if (dyn_mover_is_estimated(m, j)) s->parameter[n++] = dyn_joint_parameter(m, j, DYN_ROTOR_INERTIA);
    for (size_t j = 0; j < m->n_movers && (s->c->with & DYN_BASE_FRICTION); j++)
        for (size_t c = DYN_VISCOUS; dyn_mover_is_estimated(m, j) && c < DYN_PER_JOINT; c++)
            s->parameter[n++] = dyn_joint_parameter(m, j, c);
    for (size_t k = 0; k < s->n_base; k++)
        if (s->c->base->parameter[k] >= dyn_parameter_count(m)) s->parameter[n++] = s->c->base->parameter[k];
}

/* Sets A = (R/s) P and b = (R/s) beta' of the least squares problem. P maps all parameters to base parameters: row k
 * has 1 at the kept parameter of base parameter k, and the coefficients of the parameters grouped with it. */
static void project(const search *s)
{
    const dyn_consistent *c  = s->c;
    size_t                nb = s->n_base;
    memset(s->A, 0, nb * s->n * sizeof *s->A);
    for (size_t i = 0; i < nb; i++) {
        s->b[i] = 0;
        for (size_t k = i; k < nb; k++)
            s->b[i] += c->R[k * (nb + 1) + i] / c->s * c->beta[k];
    }
    for (size_t x = 0; x < s->n; x++)
        for (size_t k = 0; k < nb; k++) {
            double coefficient = c->base->parameter[k] == s->parameter[x];
            for (size_t i = c->base->first[k]; i < c->base->first[k + 1]; i++)
                if (c->base->term[i].parameter == s->parameter[x]) coefficient = c->base->term[i].coefficient;
            for (size_t i = 0; coefficient != 0 && i <= k; i++)
                s->A[x * nb + i] += c->R[k * (nb + 1) + i] / c->s * coefficient;
        }
}

static search lay_out(const dyn_consistent *c, double *scratch)
{
    const size_t all = c->tree->n_rows, bodies = c->row == DYN_ALL_BODIES ? all : c->row >= 0;
    size_t       rotors, n = count_unknowns(c->tree, c->base, c->with, &rotors) - DYN_PER_BODY * (all - bodies),
                   nb = c->base->n;
    search s          = {.c = c, .n_base = nb, .n_bodies = bodies, .first = c->row >= 0 ? (size_t)c->row : 0, .n = n};
    s.n_cones         = DYN_PER_BODY * s.n_bodies + rotors;
    s.J0_inverse      = scratch;
    s.A               = s.J0_inverse + 16 * s.n_bodies;
    s.b               = s.A + nb * n;
    s.H               = s.b + nb;
    s.r               = s.H + (nb + n) * n;
    s.x               = s.r + nb + n;
    s.step            = s.x + n;
    s.trial           = s.step + n;
    s.at0             = s.trial + n;
    s.parameter       = (size_t *)(void *)(s.at0 + n);
    return s;
}

bool dyn_consistent_find(const dyn_consistent *c, double *scratch)
{
    search s = lay_out(c, scratch);
    list_unknowns(&s);
    if (!centre(&s)) return false;
    project(&s);
    double last = DYN_CONSISTENT_WEIGHT, first = square_of_rest(&s, s.x) / (double)(s.n + 1);
    for (s.weight = fmax(first, last); s.weight > last; s.weight *= FALL)
        if (!descend(&s, ROUGH)) return false;
    s.weight = last;
    if (!descend(&s, EXACT)) return false;
    for (size_t k = 0; k < s.n; k++)
        c->parameters[s.parameter[k]] = s.x[k];
    return true;
}
