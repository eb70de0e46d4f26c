/* path_results.c - writes the timing of a path with its motion, torques and active limits (path_search.h). */
#include "path_friction.h"
#include "path_search.h"
#include <math.h>

enum { LOOK = 16 /* places between two checks of the deadline */ };

#define ACTIVE_WITHIN 1e-6 /* fraction of a limit within which the limit counts as reached */
#define ACTIVE_SMOOTH 1e-3 /* the same with limits of the third order, whose search stays within all limits */

static size_t places_of(const api_path_search_of *p)
{
    return p->e->query->samples;
}

static double *result_lane(const api_path_search_of *p, size_t output, size_t entries, size_t state)
{
    double *lanes = p->selected->result[output];
    return lanes ? api_state_lane(p->e, lanes, entries, state) : NULL;
}

static void write_scalar(const api_path_search_of *p, size_t output, size_t place, double value)
{
    double *to = result_lane(p, output, 1, p->first + place);
    if (to) *to = value;
}

/* Returns the interval that begins at a place or contains it; at the end of the path the last interval. */
static size_t interval_of(const api_path_search_of *p, size_t place)
{
    const size_t n = p->o->intervals, i = place / ((places_of(p) - 1) / n);
    return i < n ? i : n - 1;
}

/* --- derivatives of s --------------------------------------------------------------------------------------------- */

/* Returns the state of the smooth timing at a place, as part of interval i. */
static dyn_smooth_state smooth_state(const api_path_search_of *p, size_t place, size_t i)
{
    const size_t parts = p->smooth.parts;
    return dyn_smooth_at(&p->smooth, i, (double)(place - i * parts) / (double)parts);
}

static api_path_rates rates_at(const api_path_search_of *p, size_t place)
{
    const size_t i = interval_of(p, place);
    if (!p->o->limits.smooth) return (api_path_rates){.sd = sqrt(p->timing.x[place]), .sdd = p->timing.u[i]};
    const dyn_grading      g   = dyn_grading_at(place, places_of(p) - 1, p->o->resting);
    const dyn_smooth_state y   = smooth_state(p, place, i);
    const double           rho = sqrt(y.x);
    return (api_path_rates){
        .sd = g.d1 * rho, .sdd = g.d1 * y.u + g.d2 * y.x, .sddd = rho * (g.d1 * y.du + 3 * g.d2 * y.u + g.d3 * y.x)};
}

/* --- active limits ------------------------------------------------------------------------------------------------ */

/* Finds the limit that is exceeded most at a place, with the sdd of an interval. If that is more than *excess, sets
 * *excess and *found, the number of the limit. An excess below 0 is the remaining margin. Both are fractions of the
 * limit. */
static void find_active(const api_path_search_of *p, size_t place, size_t interval, double *excess, double *found)
{
    const dyn_timing *t = &p->timing;
    for (size_t k = 0; k < t->rows + t->norms; k++) {
        const double here = dyn_timing_excess(t, place, k, interval);
        if (!(here > *excess)) continue;
        *excess = here;
        *found  = (double)api_path_limits_owner_at(&p->o->limits, p->first + place, k);
    }
}

/* Like find_active, for a smooth timing. */
static void find_smooth_active(const api_path_search_of *p, size_t place, size_t interval, double *excess,
                               double *found)
{
    const dyn_smooth      *t = &p->smooth;
    const dyn_smooth_state y = smooth_state(p, place, interval);
    for (size_t k = 0; k < dyn_smooth_limits(t); k++) {
        const double here = dyn_smooth_excess(t, place, k, &y);
        if (!(here > *excess)) continue;
        *excess = here;
        *found  = (double)p->o->limits.smooth_owner[k];
    }
}

/* Returns the number of the limit that is reached at a place, by the interval before it or the one after; -1: none. */
static double active_limit(const api_path_search_of *p, size_t place)
{
    const bool   smooth = p->o->limits.smooth;
    const size_t i = interval_of(p, place), parts = (places_of(p) - 1) / p->o->intervals;
    double       excess = smooth ? -ACTIVE_SMOOTH : -ACTIVE_WITHIN, found = -1;
    for (size_t side = 0; side < (i > 0 && place == i * parts ? 2 : 1); side++)
        if (smooth)
            find_smooth_active(p, place, i - side, &excess, &found);
        else
            find_active(p, place, i - side, &excess, &found);
    return found;
}

/* --- motion and torques ------------------------------------------------------------------------------------------- */

/* Lanes of the path's derivatives and of the coefficients of its torques at a state. */
typedef struct path_lanes {
    const double *dq[3], *coefficient[API_PATH_DD_DS + 1];
} path_lanes;

static path_lanes lanes_at(const api_path_search_of *p, size_t state)
{
    const api_evaluation *e  = p->e;
    const size_t          nv = e->model->nv;
    path_lanes            l  = {0};
    for (size_t r = 0; r < 3; r++)
        l.dq[r] = api_state_lane(e, e->plan->state[API_QD + r], nv, state);
    for (size_t k = 0; k <= API_PATH_DD_DS; k++)
        if (p->o->path.result[k]) l.coefficient[k] = api_state_lane(e, p->o->path.result[k], nv, state);
    return l;
}

static double torque_rate(const path_lanes *l, const api_path_rates *r, size_t i)
{
    return l->coefficient[API_PATH_A][i] * r->sddd +
           (l->coefficient[API_PATH_DA_DS][i] + 2 * l->coefficient[API_PATH_B][i]) * r->sd * r->sdd +
           l->coefficient[API_PATH_DB_DS][i] * r->sd * r->sd * r->sd + l->coefficient[API_PATH_D][i] * r->sdd +
           l->coefficient[API_PATH_DD_DS][i] * r->sd * r->sd + l->coefficient[API_PATH_DC_DS][i] * r->sd;
}

static void write_vectors(const api_path_search_of *p, size_t place, const api_path_rates *r)
{
    const size_t     nv = p->e->model->nv, state = p->first + place;
    const path_lanes l = lanes_at(p, state);
    double *const qd = result_lane(p, QD, nv, state), *const qdd = result_lane(p, QDD, nv, state);
    double *const qddd = result_lane(p, QDDD, nv, state), *const tau = p->o->tau
                                                                           ? api_state_lane(p->e, p->o->tau, nv, state)
                                                                           : NULL;
    double *const rate   = result_lane(p, TAU_DOT, nv, state);
    const double  square = r->sd * r->sd;
    for (size_t i = 0; i < nv * p->e->lanes; i += p->e->lanes) {
        if (qd) qd[i] = l.dq[0][i] * r->sd;
        if (qdd) qdd[i] = l.dq[1][i] * square + l.dq[0][i] * r->sdd;
        if (qddd) qddd[i] = l.dq[2][i] * square * r->sd + 3 * l.dq[1][i] * r->sd * r->sdd + l.dq[0][i] * r->sddd;
        if (tau)
            tau[i] = l.coefficient[API_PATH_A][i] * r->sdd + l.coefficient[API_PATH_B][i] * square +
                     l.coefficient[API_PATH_C][i] + l.coefficient[API_PATH_D][i] * r->sd;
        if (rate) rate[i] = torque_rate(&l, r, i);
    }
}

bool api_path_write_results(const api_path_search_of *p)
{
    for (size_t n = 0; n < places_of(p); n++) {
        if (n % LOOK == 0 && !api_deadline_check(p->e->query->input->deadline, p->e->problem)) return false;
        const api_path_rates r = rates_at(p, n);
        write_scalar(p, TIMES, n, p->time[n]);
        write_scalar(p, S, n, p->s[n]);
        write_scalar(p, SD, n, r.sd);
        write_scalar(p, SDD, n, r.sdd);
        write_scalar(p, SDDD, n, r.sddd);
        if (p->selected->result[ACTIVE]) write_scalar(p, ACTIVE, n, active_limit(p, n));
        write_vectors(p, n, &r);
    }
    return true;
}
