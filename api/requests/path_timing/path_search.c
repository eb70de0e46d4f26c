/* path_search.c - finds the timings of the paths of a request and writes their results (path_timing.h). */
#include "api/requests/lanes/failed_rows.h"
#include "path_friction.h"
#include "path_between.h"
#include "path_search.h"
#include <math.h>

enum { LOOK = 128 /* places between two checks of the deadline */ };

static bool open_smooth(api_path_search_of *p)
{
    const api_query *q = p->e->query;
    dyn_smooth      *t = &p->smooth;
    *t                 = (dyn_smooth){.intervals = p->o->intervals,
                                      .parts     = (q->samples - 1) / p->o->intervals,
                                      .second    = p->o->limits.second,
                                      .third     = p->o->limits.third,
                                      .norms     = p->o->limits.frames.n_accelerations,
                                      .between   = api_path_between_of(p->o, 0),
                                      .deadline  = p->timing.deadline,
                                      .node      = api_take(q->pool, 2 * (p->o->intervals + 1) * sizeof(double))};
    t->work            = api_take(q->pool, dyn_smooth_work(t) * sizeof(double));
    t->before          = api_take(q->pool, 2 * dyn_smooth_limits(t) * sizeof(double));
    return t->node && t->work && t->before;
}

static bool open_slopes(api_path_search_of *p)
{
    const api_query *q      = p->e->query;
    const size_t     second = p->timing.rows + p->timing.norms, third = dyn_smooth_limits(&p->smooth);
    if (!p->o->slopes) return true;
    p->by_bound = api_take(q->pool, (second > third ? second : third) * sizeof(double));
    p->scratch  = api_take(q->pool, 3 * (p->timing.intervals + 1) * sizeof(double));
    return p->by_bound && p->scratch;
}

static bool open_path_search(api_path_search_of *p)
{
    const api_query *q      = p->e->query;
    const bool       smooth = p->o->limits.smooth;
    const size_t     places = q->samples, intervals = smooth ? places - 1 : p->o->intervals;
    dyn_timing      *t = &p->timing;
    p->time            = api_take(q->pool, places * sizeof *p->time);
    p->s               = api_take(q->pool, places * sizeof *p->s);
    *t                 = (dyn_timing){.intervals = intervals,
                                      .parts     = (places - 1) / intervals,
                                      .rows      = p->o->limits.rows,
                                      .norms     = p->o->limits.frames.n_accelerations,
                                      .s         = p->s,
                                      .deadline  = api_deadline_for_dynamics(q->input->deadline),
                                      .x         = api_take(q->pool, places * sizeof(double)),
                                      .u         = api_take(q->pool, intervals * sizeof(double)),
                                      .least     = api_take(q->pool, places * sizeof(double)),
                                      .most      = api_take(q->pool, places * sizeof(double))};
    t->line            = api_take(q->pool, dyn_timing_lines(t) * sizeof(double));
    for (size_t n = 0; p->s && n < places; n++)
        p->s[n] = smooth ? dyn_grading_at(n, places - 1, p->o->resting).s : (double)n / (double)(places - 1);
    return p->s && p->time && t->x && t->u && t->least && t->most && t->line && (!smooth || open_smooth(p)) &&
           open_slopes(p);
}

/* --- failures ----------------------------------------------------------------------------------------------------- */

static const char *kind_of_row(const api_path_search_of *p, size_t place, size_t row)
{
    const api_path_limits *limits = &p->o->limits;
    return api_path_limit_kind(limits, api_path_limits_owner_at(limits, p->first + place, row));
}

static const char *owner_of_row(const api_path_search_of *p, size_t place, size_t row)
{
    const api_path_limits *limits = &p->o->limits;
    return api_path_limit_owner(limits, api_path_limits_owner_at(limits, p->first + place, row));
}

/* Returns the first row that is exceeded at rest at a place; the number of rows: there is none. */
static size_t exceeded_at_rest(const dyn_timing *t, size_t place)
{
    size_t row = 0;
    while (row < t->rows && t->row[place * t->rows + row].r >= 0)
        row++;
    return row;
}

/* Reports the cause of most contradictions: at an end of the path, where the robot must stand still, a limit does not
 * let it. */
static bool fail_at_rest(const api_path_search_of *p, size_t place, size_t row)
{
    return api_fail_state(p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first + place,
                          "at s = %.6g, an end of the path, the robot cannot stand still within the limit of %s of "
                          "%.64s",
                          p->s[place], kind_of_row(p, place, row), owner_of_row(p, place, row));
}

static bool fail_infeasible(const api_path_search_of *p)
{
    const dyn_timing *t     = &p->timing;
    const size_t      last  = dyn_timing_places(t) - 1;
    const size_t      first = exceeded_at_rest(t, 0), at_end = exceeded_at_rest(t, last);
    if (first < t->rows) return fail_at_rest(p, 0, first);
    if (at_end < t->rows) return fail_at_rest(p, last, at_end);
    const size_t one = t->conflict[0] == DYN_TIMING_LATER, place = t->conflict_place[one], row = t->conflict[one];
    const size_t other = t->conflict[!one], behind = t->conflict_place[!one];
    if (other == DYN_TIMING_LATER)
        return api_fail_state(
            p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first + place,
            "at s = %.6g the limit of %s of %.64s does not let the robot keep a speed at which it can go "
            "on from s = %.6g",
            p->s[place], kind_of_row(p, place, row), owner_of_row(p, place, row), p->s[behind]);
    return api_fail_state(p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first + place,
                          "at s = %.6g no speed and acceleration is within the limits of %s of %.64s and %s of %.64s",
                          p->s[place], kind_of_row(p, place, row), owner_of_row(p, place, row),
                          kind_of_row(p, behind, other), owner_of_row(p, behind, other));
}

static bool fail_search(const api_path_search_of *p, dyn_timing_status status)
{
    const dyn_timing *t = &p->timing;
    switch (status) {
    case DYN_TIMING_INFEASIBLE: return fail_infeasible(p);
    case DYN_TIMING_UNLIMITED:
        return api_fail_state(
            p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first + t->conflict_place[0],
            "at s = %.6g no limit bounds the speed: the path stands still there, or no joint that moves "
            "has a limit; give joint_limits",
            p->s[t->conflict_place[0]]);
    case DYN_TIMING_UNDECIDED:
        return api_fail_state(
            p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first,
            "the search did not settle within its passes, with damping near the limits: take more samples");
    case DYN_TIMING_LATE: return api_deadline_check(p->e->query->input->deadline, p->e->problem);
    case DYN_TIMING_DONE: break;
    }
    return true;
}

/* Fails a path whose derivatives of s leave the bounds within which the polygons of the contacts are computed. */
static bool fail_bounds(const api_path_search_of *p, size_t place)
{
    return api_fail_state(
        p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first + place,
        "at s = %.6g the contacts and efforts bound neither speed nor acceleration: give joint_limits", p->s[place]);
}

/* Returns the first place whose derivatives of s are beyond the bounds of its polygon; the number of places: none. */
static size_t find_beyond_bounds(const api_path_search_of *p)
{
    const dyn_timing        *t        = &p->timing;
    const api_path_contacts *contacts = p->o->limits.contacts;
    size_t                   place    = 0;
    for (; contacts && place < dyn_timing_places(t); place++) {
        const size_t i     = place / t->parts;
        const double scale = contacts->scale[p->first + place], u = t->u[i < t->intervals ? i : i - 1];
        if (t->x[place] > DYN_POLYTOPE_MOST_X * scale || fabs(u) > DYN_POLYTOPE_MOST_U * scale) return place;
    }
    return dyn_timing_places(t);
}

/* Reports the first place that is never reached, because the robot stands still at both ends of the interval before. */
static bool fail_times(const api_path_search_of *p)
{
    size_t n = 0;
    while (isfinite(p->time[n]))
        n++;
    return api_fail_state(p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first + n,
                          "at s = %.6g the limits let the robot stand still, but not move on%s", p->s[n],
                          p->e->query->samples == 2 ? ": between 2 samples there is no place to move at; take more"
                                                    : "");
}

/* Refuses paths with limits of effort_rate on which a joint with sharp Coulomb friction turns back: its friction jumps
 * there, which no effort rate allows. */
static bool check_jumps(const api_path_search_of *p)
{
    const api_evaluation *e  = p->e;
    const size_t          nv = e->model->nv;
    if (!p->o->jumps) return true;
    for (size_t n = 1; n + 2 < e->query->samples; n++)
        for (size_t v = 0; v < nv; v++)
            if (api_state_lane(e, p->o->path.result[API_PATH_JUMPS], nv, p->first + n)[v * e->lanes] >= 0)
                return api_fail_state(
                    e, API_NO_TIMING, API_CONTROL_POINTS, p->first + n,
                    "at s = %.6g %.64s turns back and its sharp Coulomb friction jumps, which no effort rate "
                    "allows: send \"friction\": false, or list other kinds",
                    p->s[n], e->model->velocity_names[v]);
    return true;
}

static bool check_path_positions(const api_path_search_of *p)
{
    const api_evaluation *e = p->e;
    for (size_t n = 0; n < e->query->samples; n++) {
        if (n % LOOK == 0 && !api_deadline_check(e->query->input->deadline, e->problem)) return false;
        const size_t         state = p->first + n;
        const api_path_lanes lanes = {.q = api_state_lane(e, e->plan->state[API_Q], e->model->nq, state)};
        const dyn_limit     *l     = api_path_position_violated(&p->o->limits, &lanes, e->lanes, 0);
        if (l)
            return api_fail_state(e, API_NO_TIMING, API_CONTROL_POINTS, state,
                                  "at s = %.6g the path leaves the limits of position of %.64s", p->s[n],
                                  p->o->limits.list.owner[l - p->o->limits.list.limit].name);
    }
    return true;
}

/* --- search ------------------------------------------------------------------------------------------------------- */

static bool fail_refinement(const api_path_search_of *p, dyn_timing_status status)
{
    const dyn_smooth *t = &p->smooth;
    const size_t      i = p->o->limits.smooth_owner[t->bad_limit];
    switch (status) {
    case DYN_TIMING_INFEASIBLE:
        return api_fail_state(
            p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first + t->place,
            "at s = %.6g the robot cannot stand still within the limit of %s of %.64s: the search with limits "
            "of jerk or effort_rate needs that",
            p->s[t->place], api_path_limit_kind(&p->o->limits, i), api_path_limit_owner(&p->o->limits, i));
    case DYN_TIMING_UNLIMITED:
    case DYN_TIMING_UNDECIDED:
        return api_fail_state(
            p->e, API_NO_TIMING, API_CONTROL_POINTS, p->first,
            "the search with limits of jerk or effort_rate did not come to an end: take more samples");
    case DYN_TIMING_LATE: return api_deadline_check(p->e->query->input->deadline, p->e->problem);
    case DYN_TIMING_DONE: break;
    }
    return true;
}

/* Finds the smooth timing. The duration without limits of the third order is kept as its lower bound. */
static bool refine_path(api_path_search_of *p, size_t row, bool *done)
{
    p->o->bounds[row]              = p->time[p->e->query->samples - 1];
    p->smooth.row                  = p->o->smooth_rows + p->first * (p->smooth.second + p->smooth.third);
    p->smooth.norm                 = p->o->smooth_norms + p->first * p->smooth.norms;
    p->smooth.between              = api_path_between_of(p->o, row);
    const dyn_timing_status status = dyn_smooth_solve(&p->smooth);
    *done                          = status == DYN_TIMING_DONE;
    if (!*done) return fail_refinement(p, status);
    dyn_smooth_times(&p->smooth, p->time);
    return true;
}

/* Writes the derivatives of the duration of path number `row` with respect to the limits. */
static bool write_slopes(api_path_search_of *p, size_t row)
{
    const api_path_limits *limits = &p->o->limits;
    const size_t           n      = api_path_limits_count(limits);
    const size_t           bounds = limits->smooth ? dyn_smooth_limits(&p->smooth) : p->timing.rows + p->timing.norms;
    double                *to     = p->o->slopes + row * n;
    if (limits->smooth)
        dyn_smooth_slopes(&p->smooth, p->by_bound);
    else
        dyn_timing_slopes(&p->timing, p->by_bound, p->scratch);
    for (size_t i = 0; i < n; i++)
        to[i] = 0;
    for (size_t k = 0; k < bounds; k++) {
        const size_t i = (limits->smooth ? limits->smooth_owner : limits->owner)[k];
        to[i] += p->by_bound[k] * api_path_limit_scale(limits, i, limits->smooth);
    }
    return api_deadline_check(p->e->query->input->deadline, p->e->problem);
}

/* Finds the timing of path number `row`. The result is that of api_fail_state. */
static bool search_path(api_path_search_of *p, size_t row)
{
    const api_failed_rows *failed = p->e->plan->failed_rows;
    const size_t           places = p->e->query->samples;
    bool                   done   = true;
    p->first                      = row * places;
    p->timing.row                 = p->o->rows + p->first * p->timing.rows;
    p->timing.norm                = p->o->norms + p->first * p->timing.norms;
    if (!check_path_positions(p) || !check_jumps(p)) return false;
    for (size_t n = 0; n < places; n++)
        if (api_failed_rows_has(failed, p->first + n)) return true;
    const dyn_timing_status status = dyn_timing_solve(&p->timing);
    if (status != DYN_TIMING_DONE) return fail_search(p, status);
    const size_t beyond = find_beyond_bounds(p);
    if (beyond < places) return fail_bounds(p, beyond);
    dyn_timing_times(&p->timing, p->time);
    if (!isfinite(p->time[places - 1])) return fail_times(p);
    if (p->o->limits.smooth && !refine_path(p, row, &done)) return false;
    if (!done) return true;
    p->o->durations[row] = p->time[places - 1];
    return (!p->o->slopes || write_slopes(p, row)) && api_path_write_results(p);
}

bool api_path_search(const api_evaluation *e, const api_selection *selected)
{
    api_timing_options *options = selected->options;
    api_evaluation      again   = *e;
    api_path_search_of  p       = {.e = &again, .selected = selected, .o = options};
    again.problem               = e->query->problem;
    if (selected->result[TAU]) options->tau = selected->result[TAU];
    if (!open_path_search(&p)) return false;
    for (size_t row = 0; row < e->query->rows; row++)
        if (!search_path(&p, row)) return false;
    again.spare = e->spares[0];
    if (p.o->limits.contacts &&
        !api_path_contacts_choose(&again, p.o->limits.contacts, p.o->tau, selected->result[CONTACT_WRENCHES]))
        return false;
    if (e->plan->failed_rows) api_failed_rows_settle(e->plan->failed_rows);
    return true;
}
