/* friction_curves.c - search Stribeck velocities and add the rows of the estimate: see friction_curves.h. */
#include "friction_curves.h"
#include <math.h>
#include <string.h>

enum {
    LINEAR = 6,  /* most parameters of a joint at a given velocity: viscous, Coulomb (2), load, breakaway (2) */
    ROWS   = 64, /* rows that are factored at a time */
    GRID   = 48, /* velocities that are compared before the golden section */
    STEPS  = 32  /* steps of the golden section between the neighbours of the best of these velocities */
};
#define RANGE 1e-3 /* least velocity of the grid, as a fraction of the joint's largest rate */

struct api_friction_curves {
    const api_model           *model;
    const api_chosen_unknowns *chosen;
    size_t                     n;   /* number of kept states */
    double *qd, *tau, *T, *weights; /* [n x nv] each: rates, torques, torques without friction; weights NULL: all 1 */
    double *entries;                /* [n x 2 n_movers] regressor entries of viscous and of Coulomb friction */
    size_t *coordinate;             /* [n_movers] coordinate of each joint or motor; nv: it has no friction */
    double *row;                    /* [nv x 3 n_movers] regressor of one state */
    dyn_friction_curve *curve;      /* [n_movers] load coefficient and Stribeck's curve of each */
    double             *scratch;
};

/* --- rows --------------------------------------------------------------------------------------------------------- */

static size_t coordinate_of(const api_model *m, size_t j)
{
    const dyn_mechanism robot = api_model_mechanism(m);
    size_t              v     = 0;
    while (v < m->nv && !dyn_parameter_acts(&robot, dyn_joint_parameter(m->dyn, j, DYN_VISCOUS), v))
        v++;
    return v;
}

api_friction_curves *api_friction_curves_open(const api_query *q, const api_chosen_unknowns *chosen)
{
    const api_model     *m    = q->model;
    const size_t         size = q->rows * m->nv * sizeof(double), movers = m->n_movers, joint = m->nv * 3 * movers;
    api_friction_curves *c = api_take(q->pool, sizeof *c);
    if (!c) return NULL;
    *c = (api_friction_curves){.model      = m,
                               .chosen     = chosen,
                               .qd         = api_take(q->pool, size),
                               .tau        = api_take(q->pool, size),
                               .T          = api_take(q->pool, size),
                               .entries    = api_take(q->pool, q->rows * 2 * movers * sizeof(double)),
                               .coordinate = api_take(q->pool, (movers + 1) * sizeof(size_t)),
                               .row        = api_take(q->pool, (joint + 1) * sizeof(double)),
                               .curve      = api_take(q->pool, (movers + 1) * sizeof(dyn_friction_curve)),
                               .scratch    = api_take(q->pool, dyn_qr_solve_scratch(LINEAR) * sizeof(double))};
    if (q->field[API_WEIGHTS]) c->weights = api_take(q->pool, size);
    if (!c->qd || !c->tau || !c->T || !c->entries || !c->coordinate || !c->row || !c->curve || !c->scratch ||
        (q->field[API_WEIGHTS] && !c->weights))
        return NULL;
    memset(c->row, 0, (joint + 1) * sizeof *c->row);
    memset(c->curve, 0, (movers + 1) * sizeof *c->curve);
    for (size_t j = 0; j < movers; j++)
        c->coordinate[j] = coordinate_of(m, j);
    return c;
}

void api_friction_curves_keep(api_friction_curves *c, const dyn_measured *state)
{
    const size_t nv = c->model->nv, movers = c->model->n_movers, W = state->regressed.lanes;
    const size_t lane = state->regressed.lane, first = c->n++;
    for (size_t v = 0; v < nv; v++) {
        c->qd[first * nv + v]  = state->regressed.rates[v * W + lane];
        c->tau[first * nv + v] = state->tau[v * W + lane];
        c->T[first * nv + v]   = state->model_tau[v * W + lane];
        if (c->weights) c->weights[first * nv + v] = state->weights[v * W + lane];
    }
    for (size_t j = 0; j < movers; j++)
        for (size_t k = 0; k < 2 && c->coordinate[j] < nv; k++)
            c->entries[(first * movers + j) * 2 + k] =
                state->regressed.joint_regressor[((c->coordinate[j] * movers + j) * 3 + 1 + k) * W + lane];
}

/* Returns kept state i. Writes the regressor of this state to c->row, for the joints from `first` to `end` - 1. */
static dyn_measured state_of(const api_friction_curves *c, size_t i, size_t first, size_t end)
{
    const size_t nv = c->model->nv, movers = c->model->n_movers;
    for (size_t j = first; j < end; j++)
        for (size_t k = 0; k < 2 && c->coordinate[j] < nv; k++)
            c->row[(c->coordinate[j] * movers + j) * 3 + 1 + k] = c->entries[(i * movers + j) * 2 + k];
    return (dyn_measured){.regressed = {.joint_regressor = c->row,
                                        .rates           = c->qd + i * nv,
                                        .lanes           = 1,
                                        .transmitted     = c->T + i * nv,
                                        .curve           = c->curve},
                          .tau       = c->tau + i * nv,
                          .model_tau = c->T + i * nv,
                          .weights   = c->weights ? c->weights + i * nv : NULL};
}

/* --- the search --------------------------------------------------------------------------------------------------- */

/* The search for the Stribeck velocity of one joint, over the rows of its coordinate. */
typedef struct search {
    const api_friction_curves *c;
    const dyn_estimate        *t;
    size_t                     j, v, n;
    size_t parameter[LINEAR]; /* [n] indices of the parameters that are linear at a given velocity */
    double R[(LINEAR + 1) * (LINEAR + 1)];
    bool   failed; /* the deadline has passed, or a number is too large */
} search;

static search search_of(const api_friction_curves *c, const dyn_estimate *t, size_t j)
{
    const api_model *m = c->model;
    search           s = {.c = c, .t = t, .j = j, .v = c->coordinate[j]};
    for (size_t k = DYN_VISCOUS; k < DYN_PER_JOINT; k++)
        s.parameter[s.n++] = dyn_joint_parameter(m->dyn, j, k);
    if (c->chosen->load && api_takes_load(m, j)) s.parameter[s.n++] = dyn_curve_parameter(m->dyn, j, DYN_LOAD);
    s.parameter[s.n++] = dyn_curve_parameter(m->dyn, j, DYN_BREAKAWAY_POSITIVE);
    s.parameter[s.n++] = dyn_curve_parameter(m->dyn, j, DYN_BREAKAWAY_NEGATIVE);
    return s;
}

/* Factors the rows of the joint at a velocity. Returns the square root of the sum of squared residuals. */
static double residual_at(search *s, double velocity)
{
    const api_friction_curves *c     = s->c;
    const size_t               width = s->n + 1;
    double                     rows[(LINEAR + 1) * ROWS];
    size_t                     n = 0;
    if (!dyn_may_continue(s->t->deadline)) s->failed = true;
    c->curve[s->j] = (dyn_friction_curve){.velocity = velocity};
    memset(s->R, 0, sizeof s->R);
    for (size_t i = 0; i < c->n && !s->failed; i++) {
        const dyn_measured at     = state_of(c, i, s->j, s->j + 1);
        const double       weight = at.weights ? at.weights[s->v] : 1;
        for (size_t k = 0; k < s->n; k++)
            rows[k * ROWS + n] = weight * dyn_parameter_effort(c->model->dyn, &at.regressed, s->parameter[k], s->v);
        rows[s->n * ROWS + n] = weight * (at.tau[s->v] - at.model_tau[s->v]);
        if (++n < ROWS && i + 1 < c->n) continue;
        if (!dyn_qr_add_rows(s->R, width, rows, n, ROWS)) s->failed = true;
        n = 0;
    }
    return fabs(s->R[width * width - 1]);
}

/* Returns the logarithm of the velocity with the least residual between two logarithms: golden section. */
static double golden_section(search *s, double low, double high)
{
    const double part = (sqrt(5) - 1) / 2;
    double       a = high - part * (high - low), b = low + part * (high - low);
    double       at_a = residual_at(s, exp(a)), at_b = residual_at(s, exp(b));
    for (int step = 0; step < STEPS && !s->failed; step++)
        if (at_a < at_b) {
            high = b, b = a, at_b = at_a;
            a    = high - part * (high - low);
            at_a = residual_at(s, exp(a));
        } else {
            low = a, a = b, at_a = at_b;
            b    = low + part * (high - low);
            at_b = residual_at(s, exp(b));
        }
    return (low + high) / 2;
}

/* Sets the joint's curve at the velocity: breakaway friction minus Coulomb friction, for both directions. Rows that do
 * not determine them leave them zero, and the estimate is then rank-deficient. */
static void set_curve(search *s, double velocity)
{
    double       x[LINEAR], inverse[LINEAR * LINEAR];
    bool         unseen[LINEAR];
    dyn_unknowns u = {.n = s->n, .x = x, .inverse = inverse, .unseen = unseen};
    residual_at(s, velocity);
    if (s->failed || dyn_qr_solve(s->R, &u, s->c->scratch) != DYN_SOLVED) return;
    s->c->curve[s->j].positive = x[s->n - 2] - x[1];
    s->c->curve[s->j].negative = x[s->n - 1] - x[2];
}

static double largest_rate(const api_friction_curves *c, size_t j)
{
    double most = 0;
    for (size_t i = 0; i < c->n; i++) {
        const dyn_measured at = state_of(c, i, j, j + 1);
        most                  = fmax(most, fabs(dyn_friction_rate(c->model->dyn, &at.regressed, j)));
    }
    return most;
}

/* Finds the velocity of joint j. Returns false if the deadline has passed or numbers are too large. */
static bool find_velocity(const api_friction_curves *c, const dyn_estimate *t, size_t j)
{
    search       s    = search_of(c, t, j);
    const double most = largest_rate(c, j), step = -log(RANGE) / GRID, first = log(most * RANGE);
    double       least = INFINITY;
    int          best  = 0;
    if (!(most > 0)) return true;
    for (int k = 0; k <= GRID && !s.failed; k++) {
        const double residual = residual_at(&s, exp(first + k * step));
        if (residual < least) least = residual, best = k;
    }
    set_curve(&s, exp(golden_section(&s, first + (best - 1) * step, first + (best + 1) * step)));
    return !s.failed;
}

bool api_friction_curves_add(api_friction_curves *c, dyn_estimate *t)
{
    bool good = true;
    for (size_t j = 0; c->chosen->stribeck && j < c->model->n_movers && good; j++)
        if (c->coordinate[j] < c->model->nv) good = find_velocity(c, t, j);
    for (size_t i = 0; i < c->n && good; i++) {
        const dyn_measured at = state_of(c, i, 0, c->model->n_movers);
        good                  = dyn_estimate_takes(t, &at) && dyn_estimate_add(t, &at);
    }
    return good;
}

double api_friction_curves_seconds(const api_model *m, const api_chosen_unknowns *chosen, size_t rows)
{
    const double row = 3e-6; /* s, time to compute and factor a row of one joint */
    return chosen->stribeck ? row * (GRID + STEPS) * (double)rows * (double)m->n_movers : 0;
}

double api_friction_curves_velocity(const api_friction_curves *c, size_t j)
{
    return c->curve[j].velocity;
}
