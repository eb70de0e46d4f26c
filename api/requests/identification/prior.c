/* prior.c - read standard deviations of the robot's parameters, and factor their covariance: see prior.h. */
#include "prior.h"
#include "api/requests/fields/fields.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { BODIES, ROTORS, FRICTION, KINDS };
static const char *const kinds[KINDS + 1] = {"bodies", "rotors", "friction", NULL};

/* --- the field ---------------------------------------------------------------------------------------------------- */

bool api_prior_read(const api_query *q, unsigned with, bool bodies, api_prior *prior)
{
    const api_node *given         = q->field[API_PRIOR];
    api_place       at            = api_place_key(NULL, "prior");
    const bool      sought[KINDS] = {bodies, with & DYN_BASE_ROTORS, with & DYN_BASE_FRICTION};
    double         *member[KINDS] = {&prior->bodies, &prior->rotors, &prior->friction};
    size_t          found         = 0;
    *prior                        = (api_prior){0};
    if (!given) return true;
    if (!api_node_is(given, API_OBJECT))
        return api_fail_at(q->problem, &at, API_WRONG_TYPE,
                           "%s given, an object with bodies, rotors, friction expected", api_node_kind_text(given));
    if (!api_check_keys(q, given, &at, kinds, "a prior")) return false;
    for (size_t k = 0; k < KINDS; k++) {
        const api_node *value = api_node_get(given, kinds[k]);
        api_place       entry = api_place_key(&at, kinds[k]);
        if (!value) continue;
        if (!api_read_number(q, value, &entry, member[k])) return false;
        if (!(*member[k] > 0))
            return api_fail_at(q->problem, &entry, API_BAD_VALUE, "a standard deviation must be greater than 0");
        if (!sought[k])
            return api_fail_at(q->problem, &entry, API_BAD_VALUE, "a prior is for what is estimated: %s",
                               k == BODIES ? "all bodies, without unknown"
                                           : "ask for it with friction, rotor or unknown");
        found++;
    }
    return found > 0 ||
           api_fail_at(q->problem, &at, API_MISSING_FIELD, "a prior needs at least one of bodies, rotors, friction");
}

/* --- variances ------------------------------------------------------------------------------------------------------
 */

/* Returns the sum of the squared distances of a body's mass from the origin of its link, kg m^2. */
static double spread_of(const double p[DYN_PER_BODY])
{
    return fabs(p[4] + p[6] + p[9]) / 2;
}

/* Sets the standard deviations of the bodies' parameters. */
static void spread_bodies(const api_model *m, const double *model, double share, double *deviation)
{
    double mass = 0, spread = 0, bodies = (double)m->n_bodies;
    for (size_t i = 0; i < m->n_bodies; i++) {
        mass += fmax(model[DYN_PER_BODY * i], 0);
        spread += spread_of(model + DYN_PER_BODY * i);
    }
    if (!(mass > 0)) mass = bodies;
    if (!(spread > 0)) spread = 0.01 * mass;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const double *own = model + DYN_PER_BODY * i;
        bool          has = own[0] > 0 && spread_of(own) > 0;
        double        kg = has ? own[0] : mass / bodies, square = has ? spread_of(own) / own[0] : spread / mass;
        for (size_t c = 0; c < DYN_PER_BODY; c++)
            deviation[DYN_PER_BODY * i + c] = share * kg * (c == 0 ? 1 : c < 4 ? sqrt(square) : square);
    }
}

/* Sets the standard deviation of every parameter; 0: the parameter has no prior. */
static void spread(const api_model *m, const api_prior *prior, const double *model, double *deviation)
{
    memset(deviation, 0, dyn_parameter_count(m->dyn) * sizeof *deviation);
    if (prior->bodies > 0) spread_bodies(m, model, prior->bodies, deviation);
    for (size_t j = 0; j < m->n_movers; j++)
        for (size_t c = 0; c < DYN_PER_JOINT; c++)
            deviation[dyn_joint_parameter(m->dyn, j, c)] = c == DYN_ROTOR_INERTIA ? prior->rotors : prior->friction;
}

/* --- rows -----------------------------------------------------------------------------------------------------------
 */

/* Scratch arrays of api_prior_rows. */
typedef struct tables {
    double *model, *deviation; /* [parameters] values of the model; standard deviations of the prior */
    double *P;                 /* [n x parameters] row k: base parameter k as a combination of parameters */
    double *L;                 /* [n x n] covariance, then its Cholesky factor, then the inverse of the factor */
    size_t *with_prior;        /* [n] indices of the base parameters with a prior */
} tables;

static bool take_tables(const api_query *q, const dyn_base *base, tables *t)
{
    size_t count = dyn_parameter_count(q->model->dyn) + 1, n = base->n + 1;
    bool   room   = true;
    t->model      = api_take_zeroed(q->pool, count, &room);
    t->deviation  = api_take_zeroed(q->pool, count, &room);
    t->P          = api_take_zeroed(q->pool, n * count, &room);
    t->L          = api_take_zeroed(q->pool, n * n, &room);
    t->with_prior = api_take(q->pool, n * sizeof *t->with_prior);
    return room && t->with_prior;
}

/* True if every parameter of base parameter k has a prior; parameters of friction curves have none. */
static bool has_prior(const api_model *m, const tables *t, const dyn_base *base, size_t k)
{
    if (base->parameter[k] >= dyn_parameter_count(m->dyn) || !(t->deviation[base->parameter[k]] > 0)) return false;
    for (size_t i = base->first[k]; i < base->first[k + 1]; i++)
        if (!(t->deviation[base->term[i].parameter] > 0)) return false;
    return true;
}

/* Lists the base parameters with a prior, and writes their rows of P, each column times its standard deviation. */
static size_t project(const api_model *m, const tables *t, const dyn_base *base)
{
    size_t n = 0, count = dyn_parameter_count(m->dyn);
    for (size_t k = 0; k < base->n; k++) {
        if (!has_prior(m, t, base, k)) continue;
        double *row             = t->P + n * count;
        row[base->parameter[k]] = t->deviation[base->parameter[k]];
        for (size_t i = base->first[k]; i < base->first[k + 1]; i++)
            row[base->term[i].parameter] += base->term[i].coefficient * t->deviation[base->term[i].parameter];
        t->with_prior[n++] = k;
    }
    return n;
}

/* Sets L to the inverse of the Cholesky factor of the covariance, lower triangular. */
static bool factor(const api_query *q, const tables *t, size_t n)
{
    size_t count = dyn_parameter_count(q->model->dyn);
    for (size_t k = 0; k < n; k++) {
        if (!api_deadline_check(q->input->deadline, q->problem)) return false;
        for (size_t l = 0; l <= k; l++) {
            double sum = 0;
            for (size_t i = 0; i < count; i++)
                sum += t->P[k * count + i] * t->P[l * count + i];
            t->L[l * n + k] = sum;
        }
    }
    lapack_int N = (lapack_int)n;
    return (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', N, t->L, N) == 0 &&
            LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'L', 'N', N, t->L, N) == 0) ||
           api_fail(q->problem, API_RESULT_NOT_FINITE, "/prior", "figures of the prior are too large or too small");
}

double *api_prior_rows(const api_query *q, const api_prior *prior, const dyn_base *base, const double *own,
                       size_t *rows)
{
    const api_model *m = q->model;
    tables           t;
    if (!take_tables(q, base, &t)) return NULL;
    dyn_parameters_compute(m->dyn, t.model);
    spread(m, prior, t.model, t.deviation);
    size_t  n = project(m, &t, base);
    double *W = api_take(q->pool, (n * (base->n + 1) + 1) * sizeof *W);
    *rows     = n;
    if (!W || (n > 0 && !factor(q, &t, n))) return NULL;
    memset(W, 0, (n * (base->n + 1) + 1) * sizeof *W);
    for (size_t l = 0; l < n; l++) {
        double centre = dyn_base_value(base, t.with_prior[l], t.model) - dyn_base_value(base, t.with_prior[l], own);
        memcpy(W + t.with_prior[l] * n + l, t.L + l * n + l, (n - l) * sizeof *W);
        for (size_t k = l; k < n; k++)
            W[base->n * n + k] += t.L[l * n + k] * centre;
    }
    return W;
}
