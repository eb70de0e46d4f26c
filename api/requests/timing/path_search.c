/* path_search.c - finds the timings of the paths of a request and writes their results (path_timing.h). */
#include "api/requests/lanes/failed_rows.h"
#include "api/requests/operations/path.h"
#include "path_timing.h"
#include <math.h>

#define ACTIVE_WITHIN 1e-6 /* share of a limit within which it counts as reached */

/* One path and memory that all paths of a request use one after the other. */
typedef struct path_search {
    const api_evaluation  *e;
    const api_selection   *selected;
    const api_timing_options *o;
    size_t                 first; /* the path's first state */
    dyn_timing             timing;
    double                *time;
} path_search;

static bool open_search(path_search *p)
{
    const api_query *q      = p->e->query;
    const size_t     places = q->samples, ends = p->o->intervals + 1;
    dyn_timing      *t      = &p->timing;
    double          *s      = api_take(q->pool, places * sizeof *s);
    *t                      = (dyn_timing){.intervals = p->o->intervals,
                                           .parts     = (places - 1) / p->o->intervals,
                                           .rows      = p->o->limits.rows,
                                           .s         = s,
                                           .deadline  = api_deadline_for_dynamics(q->input->deadline),
                                           .x         = api_take(q->pool, places * sizeof(double)),
                                           .u         = api_take(q->pool, ends * sizeof(double)),
                                           .least     = api_take(q->pool, ends * sizeof(double)),
                                           .most      = api_take(q->pool, ends * sizeof(double))};
    t->line = api_take(q->pool, dyn_timing_lines(t) * sizeof(double));
    p->time = api_take(q->pool, places * sizeof(double));
    for (size_t n = 0; s && n < places; n++)
        s[n] = (double)n / (double)(places - 1);
    return s && t->x && t->u && t->least && t->most && t->line && p->time;
}

/* --- failures ----------------------------------------------------------------------------------------------------- */

static const dyn_limit *limit_of_row(const path_search *p, size_t row)
{
    return &p->o->limits.list.limit[p->o->limits.owner[row]];
}

static const char *joint_of_row(const path_search *p, size_t row)
{
    return p->o->limits.list.owner[p->o->limits.owner[row]].name;
}

static bool fail_infeasible(const path_search *p)
{
    const dyn_timing *t   = &p->timing;
    const size_t      one = t->conflict[0] == DYN_TIMING_LATER, place = t->conflict_place[one], row = t->conflict[one];
    const size_t      other = t->conflict[!one];
    if (other == DYN_TIMING_LATER)
        return api_fail_state(p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first + place,
                              "at s = %.6g the limit of %s of %.64s does not let the robot keep a speed at which it can go "
                              "on from s = %.6g",
                              t->s[place], api_limit_names[limit_of_row(p, row)->kind], joint_of_row(p, row),
                              t->s[t->conflict_place[!one]]);
    return api_fail_state(p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first + place,
                          "at s = %.6g no speed and acceleration is within the limits of %s of %.64s and %s of %.64s",
                          t->s[place], api_limit_names[limit_of_row(p, row)->kind], joint_of_row(p, row),
                          api_limit_names[limit_of_row(p, other)->kind], joint_of_row(p, other));
}

static bool fail_search(const path_search *p, dyn_timing_status status)
{
    const dyn_timing *t = &p->timing;
    switch (status) {
    case DYN_TIMING_INFEASIBLE: return fail_infeasible(p);
    case DYN_TIMING_UNLIMITED:
        return api_fail_state(p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first + t->conflict_place[0],
                              "at s = %.6g no limit bounds the speed: the path stands still there, or no joint that moves "
                              "has a limit; give joint_limits",
                              t->s[t->conflict_place[0]]);
    case DYN_TIMING_UNDECIDED:
        return api_fail_state(p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first,
                              "the search did not settle within its passes, with damping near the limits: take more samples");
    case DYN_TIMING_LATE: return api_deadline_check(p->e->query->input->deadline, p->e->problem);
    case DYN_TIMING_DONE: break;
    }
    return true;
}

/* An interval in which the robot stands still would never end. */
static bool check_times(const path_search *p)
{
    for (size_t n = 0; n < dyn_timing_places(&p->timing); n++)
        if (!isfinite(p->time[n]))
            return api_fail_state(p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first + n,
                                  "at s = %.6g the limits let the robot stand still, but not move on", p->timing.s[n]);
    return true;
}

static bool check_positions(const path_search *p)
{
    const api_evaluation *e = p->e;
    for (size_t n = 0; n < e->query->samples; n++) {
        const size_t         state = p->first + n;
        const api_path_lanes lanes = {.q = api_state_lane(e, e->plan->state[API_Q], e->model->nq, state)};
        const dyn_limit     *l     = api_path_position_violated(&p->o->limits, &lanes, e->lanes, 0);
        if (l)
            return api_fail_state(e, API_NO_TIMING, API_CONTROL_POINTS, state,
                                  "at s = %.6g the path leaves the limits of position of %.64s", p->timing.s[n],
                                  p->o->limits.list.owner[l - p->o->limits.list.limit].name);
    }
    return true;
}

/* --- results ------------------------------------------------------------------------------------------------------ */

static double *result_lane(const path_search *p, size_t output, size_t entries, size_t state)
{
    double *lanes = p->selected->result[output];
    return lanes ? api_state_lane(p->e, lanes, entries, state) : NULL;
}

/* Returns the interval whose u belongs to a place: the one that begins there or contains it; at the end the last. */
static size_t interval_of(const dyn_timing *t, size_t place)
{
    const size_t i = place / t->parts;
    return i < t->intervals ? i : t->intervals - 1;
}

/* Finds the row with the least room at a place with u of an interval, if it has less room than *excess. */
static void find_active(const path_search *p, size_t place, size_t interval, double *excess, double *found)
{
    const dyn_timing *t = &p->timing;
    for (size_t k = 0; k < t->rows; k++) {
        const double here = dyn_timing_excess(t, place, k, interval);
        if (!(here > *excess)) continue;
        *excess = here;
        *found  = (double)p->o->limits.owner[k];
    }
}

/* Returns the index of the limit that is reached at a place, on either side of it; -1: none. */
static double active_limit(const path_search *p, size_t place)
{
    const size_t i      = interval_of(&p->timing, place);
    double       excess = -ACTIVE_WITHIN, found = -1;
    find_active(p, place, i, &excess, &found);
    if (i > 0 && place == i * p->timing.parts) find_active(p, place, i - 1, &excess, &found);
    return found;
}

static void write_scalar(const path_search *p, size_t output, size_t place, double value)
{
    double *to = result_lane(p, output, 1, p->first + place);
    if (to) *to = value;
}

/* Writes qd, qdd and tau of a place. */
static void write_vectors(const path_search *p, size_t place)
{
    const api_evaluation *e = p->e;
    const size_t          nv = e->model->nv, state = p->first + place;
    const double         *dq  = api_state_lane(e, e->plan->state[API_QD], nv, state);
    const double         *d2q = api_state_lane(e, e->plan->state[API_QDD], nv, state);
    const double         *by[4];
    const double  x = p->timing.x[place], rate = sqrt(x), u = p->timing.u[interval_of(&p->timing, place)];
    double *const qd = result_lane(p, QD, nv, state), *const qdd = result_lane(p, QDD, nv, state);
    double *const tau = result_lane(p, TAU, nv, state);
    for (size_t k = 0; k < 4; k++)
        by[k] = api_state_lane(e, p->o->path.result[API_PATH_A + k], nv, state);
    for (size_t i = 0; i < nv * e->lanes; i += e->lanes) {
        if (qd) qd[i] = dq[i] * rate;
        if (qdd) qdd[i] = d2q[i] * x + dq[i] * u;
        if (tau) tau[i] = by[0][i] * u + by[1][i] * x + by[2][i] + by[3][i] * rate;
    }
}

static void write_results(const path_search *p)
{
    const dyn_timing *t = &p->timing;
    for (size_t n = 0; n < dyn_timing_places(t); n++) {
        write_scalar(p, TIMES, n, p->time[n]);
        write_scalar(p, S, n, t->s[n]);
        write_scalar(p, SD, n, sqrt(t->x[n]));
        write_scalar(p, SDD, n, t->u[interval_of(t, n)]);
        if (p->selected->result[ACTIVE]) write_scalar(p, ACTIVE, n, active_limit(p, n));
        write_vectors(p, n);
    }
}

/* --- search ------------------------------------------------------------------------------------------------------- */

/* Finds the timing of path number `row`. The result is that of api_fail_state. */
static bool search_path(path_search *p, size_t row)
{
    const api_failed_rows *failed = p->e->plan->failed_rows;
    p->first                      = row * p->e->query->samples;
    p->timing.row                 = p->o->rows + p->first * p->o->limits.rows;
    if (!check_positions(p)) return false;
    for (size_t n = 0; n < p->e->query->samples; n++)
        if (api_failed_rows_has(failed, p->first + n)) return true;
    const dyn_timing_status status = dyn_timing_solve(&p->timing);
    if (status != DYN_TIMING_DONE) return fail_search(p, status);
    dyn_timing_times(&p->timing, p->time);
    if (!check_times(p)) return false;
    p->o->durations[row] = p->time[dyn_timing_places(&p->timing) - 1];
    write_results(p);
    return api_deadline_check(p->e->query->input->deadline, p->e->problem);
}

bool api_path_search(const api_evaluation *e, const api_selection *selected)
{
    api_evaluation again = *e;
    path_search    p     = {.e = &again, .selected = selected, .o = selected->options};
    again.problem        = e->query->problem;
    if (!open_search(&p)) return false;
    for (size_t row = 0; row < e->query->rows; row++)
        if (!search_path(&p, row)) return false;
    if (e->plan->failed_rows) api_failed_rows_settle(e->plan->failed_rows);
    return true;
}
