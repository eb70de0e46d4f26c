/* fixed_events.c - divides fixed steps at the instants when joints stop (fixed_events.h). */
#include "fixed_events.h"
#include <math.h>
#include <string.h>

#define LOCATED 1e-7 /* fraction of the change of velocity within a step that counts as zero */
#define AT_ONCE 1e-3 /* a joint whose velocity reverses within this fraction of a step does not start to move again */

enum {
    TRIALS = 40 /* most trial steps to find the time at which a joint comes to rest */,
    STOPS  = 32 /* after so many of these times within a step, a joint stays at rest until the end of the step */
};

/* --- states ------------------------------------------------------------------------------------------------------- */

/* Copies of the simulation's state: before a step, after it, and at the start of the present part of a divided step.
 * Each has the entries of y, then those of the arrays that every step takes over (dyn_ode.carried), in lanes. */
typedef struct dyn_fixed_events {
    double   *start, *end, *part;
    dyn_fault faults[DYN_MAX_LANES]; /* faults at the end of the step */
} dyn_fixed_events;

bool dyn_fixed_events_open(dyn_ode *ode, const dyn_integrator *integrator, dyn_memory memory)
{
    size_t n    = ode->entries;
    bool   room = true;
    if (ode->n_events == 0 || integrator->locates_events) return true;
    for (size_t i = 0; i < ode->n_carried; i++)
        n += ode->carried[i].entries;
    dyn_fixed_events *f = ode->fixed_events = dyn_take(memory, sizeof *f);
    if (!f) return false;
    f->start = dyn_take_zeroed(memory, n * ode->W, &room);
    f->end   = dyn_take_zeroed(memory, n * ode->W, &room);
    f->part  = dyn_take_zeroed(memory, n * ode->W, &room);
    return room;
}

/* Lists the arrays that make up the state. Returns their number. */
static size_t list_pieces(const dyn_ode *ode, dyn_ode_array pieces[1 + DYN_MAX_CARRIED])
{
    pieces[0] = (dyn_ode_array){ode->y, ode->entries};
    memcpy(pieces + 1, ode->carried, sizeof ode->carried);
    return 1 + ode->n_carried;
}

/* Copies the present state to `stored` or, if `back`, `stored` to the present state. */
static void store(const dyn_ode *ode, double *stored, bool back)
{
    dyn_ode_array pieces[1 + DYN_MAX_CARRIED];
    const size_t  n = list_pieces(ode, pieces);
    for (size_t i = 0; i < n; stored += pieces[i++].entries * ode->W) {
        const size_t bytes = pieces[i].entries * ode->W * sizeof *stored;
        if (back)
            memcpy(pieces[i].lanes, stored, bytes);
        else
            memcpy(stored, pieces[i].lanes, bytes);
    }
}

/* Copies one lane of the present state to `stored`. If this lane is the last simulation, copies it to the lanes after
 * it too. */
static void store_lane(const dyn_ode *ode, double *stored, size_t lane)
{
    dyn_ode_array pieces[1 + DYN_MAX_CARRIED];
    const size_t  n = list_pieces(ode, pieces), W = ode->W, end = lane + 1 == ode->rows ? W : lane + 1;
    for (size_t i = 0; i < n; stored += pieces[i++].entries * W)
        for (size_t k = 0; k < pieces[i].entries; k++)
            for (size_t l = lane; l < end; l++)
                stored[k * W + l] = pieces[i].lanes[k * W + lane];
}

/* --- a lane ------------------------------------------------------------------------------------------------------- */

/* One simulation (lane) whose step is divided. */
typedef struct division {
    dyn_ode        *ode;
    size_t          lane;
    dyn_fixed_step *step;
    double          time; /* s, of the state ode->fixed_events->part */
} division;

/* Returns the velocities at the start of the present part. */
static const double *part_rates(const division *d)
{
    return dyn_ode_velocities(d->ode, d->ode->fixed_events->part);
}

/* Returns the least velocity of all sliding joints in the lane, each in its direction of sliding
 * (dyn_ode_functions.advance). Negative: the velocity of a joint has reversed since the velocities `from`. */
static double least_advance(const division *d, const double *from)
{
    return d->ode->functions->advance(d->ode->system, d->lane, from);
}

/* Integrates from the start of the part over h seconds, and returns least_advance there. */
static double attempt(const division *d, double h)
{
    dyn_ode *ode = d->ode;
    store(ode, ode->fixed_events->part, true);
    ode->fault[d->lane] = (dyn_fault){.kind = DYN_FAULT_NONE};
    dyn_fixed_advance(ode, d->time, h, d->step);
    return least_advance(d, part_rates(d));
}

/* Integrates from the start of the part to the first instant within `left` seconds at which the velocity of a joint
 * reverses, found by the Illinois method, but over at least `shortest` seconds. `last` is the least_advance after
 * `left` seconds, which is negative. Returns the time that has passed. */
static double attempt_to_stop(const division *d, double left, double last, double shortest)
{
    store(d->ode, d->ode->fixed_events->part, true);
    double low = 0, high = left, at_low = fmax(least_advance(d, part_rates(d)), 0), at_high = last, passed = 0;
    for (int i = 0; i < TRIALS && high - low > LOCATED * left && (low > 0 || high > AT_ONCE * left); i++) {
        if (high <= shortest || !dyn_may_continue(d->ode->deadline)) break;
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
            if (-rate <= fmax(LOCATED * -last, DYN_TURNED_RATE)) return h;
        }
    }
    high = fmin(fmax(high, shortest), left);
    if (passed != high) attempt(d, high);
    return high;
}

/* Integrates from the start of the step over h, part by part. `rate` is least_advance after the undivided step. After
 * STOPS parts each part is at least h / STOPS long: otherwise joints near a dead centre, whose velocities reverse again
 * at once, would divide the step without end. */
static void divide(division *d, double h, double rate)
{
    dyn_ode *ode  = d->ode;
    double   left = h;
    store(ode, ode->fixed_events->start, true);
    store(ode, ode->fixed_events->part, false);
    for (int stops = 0; rate < -DYN_TURNED_RATE && dyn_may_continue(ode->deadline); stops++) {
        const double shortest = stops < STOPS ? 0 : h / STOPS;
        const double passed   = attempt_to_stop(d, left, rate, shortest);
        const bool   stay     = stops >= STOPS || passed <= AT_ONCE * left;
        d->time += passed;
        left -= passed;
        ode->functions->stop(ode->system, d->time, d->lane, part_rates(d), stay);
        if (!(left > LOCATED * h)) return;
        store(ode, ode->fixed_events->part, false);
        rate = attempt(d, left);
    }
}

/* --- a step ------------------------------------------------------------------------------------------------------- */

/* Corrects the velocities at the end of a step in the lanes that end_step has left to correct (dyn_ode.uncorrected),
 * and in no others. */
static void correct_lanes(dyn_ode *ode, double t)
{
    bool any = false;
    for (size_t l = 0; ode->uncorrected && l < ode->rows; l++) {
        if (!ode->uncorrected[l]) continue;
        if (!any) store(ode, ode->fixed_events->end, false);
        any        = true;
        ode->alone = l + 1;
        ode->functions->finish_step(ode->system, t, ode->y, ode->W, ode->W);
        ode->alone = 0;
        store_lane(ode, ode->fixed_events->end, l);
        store(ode, ode->fixed_events->end, true);
    }
}

void dyn_fixed_events_step(dyn_ode *ode, double t, double h, dyn_fixed_step *step)
{
    dyn_fixed_events *f   = ode->fixed_events;
    bool              any = false, had_fault[DYN_MAX_LANES] = {false};
    store(ode, f->start, false);
    for (size_t l = 0; l < ode->rows; l++)
        had_fault[l] = ode->fault[l].kind != DYN_FAULT_NONE;
    dyn_fixed_advance(ode, t, h, step);
    memcpy(f->faults, ode->fault, sizeof ode->fault);
    for (size_t l = 0; l < ode->rows; l++) {
        division     d    = {.ode = ode, .lane = l, .step = step, .time = t};
        const double rate = least_advance(&d, dyn_ode_velocities(ode, f->start));
        if (had_fault[l] || !(rate < -DYN_TURNED_RATE)) continue;
        if (!any) store(ode, f->end, false);
        any        = true;
        ode->alone = l + 1; /* the other lanes do not hold states of their simulations meanwhile */
        divide(&d, h, rate);
        ode->alone = 0;
        store_lane(ode, f->end, l);
        f->faults[l] = ode->fault[l];
        store(ode, f->end, true);
    }
    memcpy(ode->fault, f->faults, sizeof ode->fault);
    ode->functions->end_step(ode->system, t + h);
    correct_lanes(ode, t + h);
}
