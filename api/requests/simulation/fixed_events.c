/* fixed_events.c - divides fixed steps where joints stop (fixed_events.h). */
#include "fixed_events.h"
#include "ode_stiction.h"
#include "stiction_events.h"
#include <math.h>
#include <string.h>

#define LOCATED 1e-7 /* part of the change of velocity within a step that counts as zero */
#define AT_ONCE 1e-3 /* a joint that turns within this part of a step does not start to move */

enum {
    TRIALS = 40 /* most trials to locate one stop */,
    STOPS  = 32 /* stops within a step, after which joints that stop stay at rest up to its end */
};

/* --- states --------------------------------------------------------------------------------------------------------
 */

static size_t closed_entries(const api_ode *ode)
{
    return ode->loops ? ode->e->model->nq + ode->e->model->loops->n_passive_q : 0;
}

bool api_fixed_events_open(api_evaluation *e, api_ode *ode)
{
    const size_t n    = (ode->entries + closed_entries(ode)) * ode->W;
    bool         room = true;
    if (!ode->stiction || ode->s->integrator->locates_events) return true;
    api_fixed_events *f = ode->fixed = api_take(e->query->pool, sizeof *f);
    if (!f) return false;
    f->start  = api_take_zeroed(e->query->pool, n, &room);
    f->end    = api_take_zeroed(e->query->pool, n, &room);
    f->part   = api_take_zeroed(e->query->pool, n, &room);
    f->faults = api_take(e->query->pool, sizeof ode->fault);
    return room && f->faults;
}

/* The arrays of a state: y, and the closed position that the next path starts at. */
typedef struct piece {
    double *lanes;
    size_t  entries;
} piece;

static size_t list_pieces(const api_ode *ode, piece pieces[3])
{
    pieces[0] = (piece){ode->y, ode->entries};
    if (!ode->loops) return 1;
    pieces[1] = (piece){ode->closed_q, ode->e->model->nq};
    pieces[2] = (piece){ode->closed_passive, ode->e->model->loops->n_passive_q};
    return 3;
}

/* Copies the present state to `stored`, or back. */
static void store(const api_ode *ode, double *stored, bool back)
{
    piece        pieces[3];
    const size_t n = list_pieces(ode, pieces);
    for (size_t i = 0; i < n; stored += pieces[i++].entries * ode->W) {
        const size_t bytes = pieces[i].entries * ode->W * sizeof *stored;
        if (back)
            memcpy(pieces[i].lanes, stored, bytes);
        else
            memcpy(stored, pieces[i].lanes, bytes);
    }
}

/* Copies one lane of the present state to `stored`, and to the lanes after the last simulation if it is that. */
static void store_lane(const api_ode *ode, double *stored, size_t lane)
{
    piece        pieces[3];
    const size_t n = list_pieces(ode, pieces), W = ode->W, end = lane + 1 == ode->rows ? W : lane + 1;
    for (size_t i = 0; i < n; stored += pieces[i++].entries * W)
        for (size_t k = 0; k < pieces[i].entries; k++)
            for (size_t l = lane; l < end; l++)
                stored[k * W + l] = pieces[i].lanes[k * W + lane];
}

/* --- a lane --------------------------------------------------------------------------------------------------------
 */

/* A simulation whose step is divided. */
typedef struct division {
    api_ode        *ode;
    size_t          lane;
    api_fixed_step *step;
    double          time; /* s, of ode->fixed->part */
} division;

/* The velocities at the start of the part. */
static const double *part_rates(const division *d)
{
    return d->ode->fixed->part + d->ode->e->model->nq * d->ode->W;
}

/* The least api_stiction_events_advance of the joints, since they had the velocities `from`: negative if one has
 * turned. */
static double least_advance(const division *d, const double *from)
{
    const api_ode          *ode   = d->ode;
    const api_ode_stiction *s     = ode->stiction;
    const double           *qd    = ode->y + ode->e->model->nq * ode->W;
    double                  least = HUGE_VAL;
    for (size_t k = 0; k < s->n; k++) {
        const size_t at = s->joint[k].v * ode->W + d->lane;
        least           = fmin(least, api_stiction_events_advance(&s->joint[k], d->lane, qd[at], from[at]));
    }
    return least;
}

/* Integrates the part from its start over h, and returns least_advance. */
static double attempt(const division *d, double h)
{
    api_ode *ode = d->ode;
    store(ode, ode->fixed->part, true);
    ode->fault[d->lane] = (api_fault){.kind = API_FAULT_NONE};
    api_fixed_advance(ode, d->time, h, d->step);
    return least_advance(d, part_rates(d));
}

/* Integrates up to the first instant within `left` at which a joint has turned, by the Illinois method. `last` is the
 * least_advance after all of `left`, negative. Returns the time that has passed. */
static double attempt_to_stop(const division *d, double left, double last)
{
    store(d->ode, d->ode->fixed->part, true);
    double low = 0, high = left, at_low = fmax(least_advance(d, part_rates(d)), 0), at_high = last, passed = left;
    for (int i = 0; i < TRIALS && high - low > LOCATED * left && (low > 0 || high > AT_ONCE * left); i++) {
        const bool   halve = !(at_low > 0);
        const double h     = halve ? 0.5 * (low + high) : low + (high - low) * at_low / (at_low - at_high);
        const double rate  = attempt(d, h);
        passed             = h;
        if (rate >= 0) {
            if (low > 0) at_high *= 0.5;
            low    = h;
            at_low = rate;
        } else {
            if (high < left) at_low *= 0.5;
            high    = h;
            at_high = rate;
            if (-rate <= fmax(LOCATED * -last, API_TURNED_RATE)) return h;
        }
    }
    if (passed != high) attempt(d, high);
    return high;
}

/* Integrates from the start of the step over h, part by part. `rate` is least_advance after the undivided step. */
static void divide(division *d, double h, double rate)
{
    api_ode *ode  = d->ode;
    double   left = h;
    store(ode, ode->fixed->start, true);
    store(ode, ode->fixed->part, false);
    for (int stops = 0; rate < -API_TURNED_RATE; stops++) {
        const double passed = attempt_to_stop(d, left, rate);
        const bool   stay   = stops >= STOPS || passed <= AT_ONCE * left;
        d->time += passed;
        left -= passed;
        api_stiction_events_stop(ode, d->time, d->lane, part_rates(d), stay);
        if (!(left > LOCATED * h)) return;
        store(ode, ode->fixed->part, false);
        rate = attempt(d, left);
    }
}

/* --- a step --------------------------------------------------------------------------------------------------------
 */

/* Corrects the velocities of the lanes in which a joint has lost a rate at the end of a step, and no others. */
static void correct_lanes(api_ode *ode, double t)
{
    const bool *uncorrected = ode->stiction->uncorrected;
    bool        any         = false;
    for (size_t l = 0; ode->contact && l < ode->rows; l++) {
        if (!uncorrected[l]) continue;
        if (!any) store(ode, ode->fixed->end, false);
        any        = true;
        ode->alone = l + 1;
        api_ode_finish_step(ode, t, ode->y, ode->W, ode->W);
        ode->alone = 0;
        store_lane(ode, ode->fixed->end, l);
        store(ode, ode->fixed->end, true);
    }
}

void api_fixed_events_step(api_ode *ode, double t, double h, api_fixed_step *step)
{
    api_fixed_events    *f         = ode->fixed;
    api_limit_violation *violation = ode->violation;
    bool                 any = false, had_fault[DYN_MAX_LANES] = {false};
    store(ode, f->start, false);
    for (size_t l = 0; l < ode->rows; l++)
        had_fault[l] = ode->fault[l].kind != API_FAULT_NONE;
    api_fixed_advance(ode, t, h, step);
    memcpy(f->faults, ode->fault, sizeof ode->fault);
    for (size_t l = 0; l < ode->rows; l++) {
        division     d    = {.ode = ode, .lane = l, .step = step, .time = t};
        const double rate = least_advance(&d, f->start + ode->e->model->nq * ode->W);
        if (had_fault[l] || !(rate < -API_TURNED_RATE)) continue;
        if (!any) store(ode, f->end, false);
        any            = true;
        ode->violation = NULL; /* other lanes are not at states of their simulations */
        ode->alone     = l + 1;
        divide(&d, h, rate);
        ode->alone     = 0;
        ode->violation = violation;
        store_lane(ode, f->end, l);
        f->faults[l] = ode->fault[l];
        store(ode, f->end, true);
    }
    memcpy(ode->fault, f->faults, sizeof ode->fault);
    api_stiction_events_end_step(ode, t + h);
    correct_lanes(ode, t + h);
}
