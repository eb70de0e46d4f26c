/* stiction_events.c - handles events of joints that stick or slide (stiction_events.h). */
#include "stiction_events.h"
#include "ode_held_frames.h"
#include "ode_friction.h"
#include "stiction_problem.h"
#include <math.h>
#include <string.h>

/* A joint is immobile if, with held frames, its acceleration per unit of force is below this part of that without held
 * frames. */
#define IMMOBILE 1e-12

/* Margin at a friction limit, relative to the limits: more than the rounding error of the decision which joints
 * stick. */
#define SLACK 4e-12

/* rad/s or m/s: a joint that follows starts to slide at this speed; below it, its rate is a rounding error. If a
 * correction gives it a rate, it starts to slide at FASTER times that rate. */
#define STARTS 1e-9
#define FASTER 4

/* Joints that stop may change other rates by up to this many times the rates that they lose. A larger change means that
 * a joint passes through zero while the others move on, such as at the dead point of a crank. */
#define GAIN 1e3

enum { TURNS = 8 /* most corrections of velocities at one event */ };

/* Updates stiction->needed, the friction that sticking joints need. */
static void update_needed(dyn_robot_ode *ode, double t, const double *y)
{
    dyn_robot_ode_rate(ode, t, y, ode->state.stage_rate[0]);
}

/* Evaluates the rate at ode->state.y and discards its faults: until it is decided which joints stick, they may
 * contradict held frames, which is no fault. */
static void evaluate(dyn_robot_ode *ode, double t)
{
    dyn_fault before[DYN_MAX_LANES];
    memcpy(before, ode->state.fault, sizeof before);
    update_needed(ode, t, ode->state.y);
    memcpy(ode->state.fault, before, sizeof before);
}

/* --- decisions ---------------------------------------------------------------------------------------------------- */

/* Returns the number of lanes with different simulations. */
static size_t simulations(const dyn_robot_ode *ode)
{
    return ode->s->integrator->lanes == DYN_LANES_ROWS ? ode->state.rows : 1;
}

/* Sets the side of a joint in a lane, and in the lanes after it that repeat its simulation. */
static void set_side(dyn_robot_ode *ode, dyn_friction_joint *j, size_t lane, int side)
{
    const size_t last = simulations(ode) - 1;
    dyn_ode_stiction_set_side(ode, j, lane, side);
    for (size_t l = last + 1; l < ode->W && lane == last; l++)
        dyn_ode_stiction_set_side(ode, j, l, side);
}

/* Stops a joint in a lane, and in the lanes that repeat its simulation: sets its side and rate to 0. */
static void stop(dyn_robot_ode *ode, dyn_friction_joint *j, size_t lane)
{
    double      *rate = ode->state.y + (ode->state.nq + j->v) * ode->W;
    const size_t last = simulations(ode) - 1;
    if (rate[lane] != 0) ode->stiction->uncorrected[lane] = true;
    set_side(ode, j, lane, 0);
    rate[lane] = 0;
    for (size_t l = last + 1; l < ode->W && lane == last; l++)
        rate[l] = 0;
}

/* Lets a joint follow in a lane, and in the lanes that repeat its simulation, with the friction `friction`. */
static void follow(dyn_robot_ode *ode, dyn_friction_joint *j, size_t lane, double friction)
{
    const size_t last = simulations(ode) - 1;
    j->starts[lane]   = STARTS;
    dyn_ode_stiction_follow(ode, j, lane, friction);
    for (size_t l = last + 1; l < ode->W && lane == last; l++)
        dyn_ode_stiction_follow(ode, j, l, friction);
}

/* Gives a joint in a lane the state of row i of the solution r: sliding, following or sticking. */
static void put(dyn_robot_ode *ode, dyn_friction_joint *j, size_t lane, const dyn_friction_rows *r, size_t i)
{
    if (r->side[i] != 0)
        set_side(ode, j, lane, r->side[i]);
    else if (r->follows[i])
        follow(ode, j, lane, r->f[i]);
    else
        stop(ode, j, lane);
}

/* A range of simulations: lanes `first` to end - 1. */
typedef struct range {
    size_t first, end;
} range;

static range all_of(const dyn_robot_ode *ode)
{
    return (range){0, simulations(ode)};
}

/* Decides which of the joints with side 0 stick; the others start to slide. */
static void decide(dyn_robot_ode *ode, double t, range of)
{
    if (!dyn_ode_stiction_any_rests(ode)) return;
    evaluate(ode, t);
    dyn_stiction_problem_prepare(ode, ode->state.y + ode->state.nq * ode->W);
    for (size_t l = of.first; l < of.end; l++) {
        dyn_friction_rows r;
        if (ode->state.fault[l].kind != DYN_FAULT_NONE) continue;
        if (!dyn_stiction_problem_solve(ode, l, &r)) {
            dyn_fault_record(&ode->state.fault[l], DYN_FAULT_UNDECIDED, t, 0);
            continue;
        }
        for (size_t i = 0; i < r.n; i++)
            put(ode, &ode->stiction->joint[ode->stiction->index[i]], l, &r, i);
    }
}

static double rate_of(const dyn_robot_ode *ode, const double *y, const dyn_friction_joint *j, size_t lane)
{
    return y[(ode->state.nq + j->v) * ode->W + lane];
}

/* Returns the velocity of a joint of one lane in the direction of its side: negative if it has reversed since it had
 * the velocity `from`. Infinite for joints at rest. */
static double joint_advance(const dyn_friction_joint *j, size_t lane, double rate, double from)
{
    const int side = j->side[lane];
    return side == 0 ? HUGE_VAL : side * rate - fmax(fmin(side * from, 0), -DYN_TURNED_RATE);
}

/* Stops the joints that move against their side faster than `still`, and have reversed since they had the velocities
 * `from` (nv in lanes). Returns true if there are any. */
static bool stop_turning(dyn_robot_ode *ode, const double *from, double still, range of)
{
    bool any = false;
    for (size_t k = 0; k < ode->stiction->n; k++)
        for (size_t l = of.first; l < of.end; l++) {
            dyn_friction_joint *j = &ode->stiction->joint[k];
            if (joint_advance(j, l, rate_of(ode, ode->state.y, j, l), from[j->v * ode->W + l]) >= -still) continue;
            stop(ode, j, l);
            any = true;
        }
    return any;
}

/* Stops the joints of a lane that cannot move because of held frames and sticking joints: their q' is a rounding error.
 * Sets *any if there are any. Returns false, and stops none, if one moves faster than `allowed`. */
static bool stop_immobile(dyn_robot_ode *ode, size_t lane, double allowed, bool *any)
{
    const dyn_friction_state state = dyn_stiction_problem_state(ode, lane);
    dyn_contact_block       *held  = dyn_ode_held_block(ode);
    dyn_friction_rows        r     = dyn_stiction_problem_gather(ode, &state, false);
    if (!dyn_contact_solve(held, dyn_ode_driven(ode, lane), lane) ||
        !dyn_friction_rows_set_held(&r, &state, held, ode->stiction->qdd))
        return true;
    for (size_t i = 0; i < r.n; i++) {
        const dyn_friction_joint *j = &ode->stiction->joint[ode->stiction->index[i]];
        r.follows[i]                = r.A[i * r.n + i] <= IMMOBILE * r.free_diagonal[i];
        if (r.follows[i] && fabs(rate_of(ode, ode->state.y, j, lane)) > allowed) return false;
    }
    for (size_t i = 0; i < r.n; i++) {
        if (!r.follows[i]) continue;
        stop(ode, &ode->stiction->joint[ode->stiction->index[i]], lane);
        *any = true;
    }
    return true;
}

/* Stores the velocities in stiction->before, before joints stop. */
static void remember(const dyn_robot_ode *ode)
{
    memcpy(ode->stiction->before, ode->state.y + ode->state.nq * ode->W, ode->state.nv * ode->W * sizeof(double));
}

/* Returns the largest change of a velocity in a lane that the rates can cause that joints have lost since
 * `remember`. */
static double allowed_change(const dyn_robot_ode *ode, size_t lane)
{
    const dyn_ode_stiction *s    = ode->stiction;
    double                  lost = 0;
    for (size_t k = 0; k < s->n; k++)
        if (s->joint[k].side[lane] == 0) lost = fmax(lost, fabs(s->before[s->joint[k].v * ode->W + lane]));
    return GAIN * lost + STARTS;
}

/* Returns the largest change of a velocity in a lane since `remember`. */
static double largest_change(const dyn_robot_ode *ode, size_t lane)
{
    const double *qd   = ode->state.y + ode->state.nq * ode->W;
    double        most = 0;
    for (size_t v = lane; v < ode->state.nv * ode->W; v += ode->W)
        most = fmax(most, fabs(qd[v] - ode->stiction->before[v]));
    return most;
}

/* Corrects the velocities of a simulation after joints have stopped, and stops joints that then reverse or cannot move.
 * Returns false if a velocity changes by more than allowed_change. Sets *again if more joints have stopped. */
static bool correct_velocities(dyn_robot_ode *ode, double t, size_t lane, bool *again)
{
    const range  of      = {lane, lane + 1};
    const double allowed = allowed_change(ode, lane);
    dyn_robot_ode_finish_step(ode, t, ode->state.y, ode->W, ode->W);
    if (largest_change(ode, lane) > allowed) return false;
    *again = stop_turning(ode, ode->stiction->before, DYN_TURNED_RATE, of);
    evaluate(ode, t);
    return stop_immobile(ode, lane, allowed, again);
}

/* After some joints have stopped, stops further ones until none moves against its side. If velocities would jump,
 * restores them and returns false: then the accelerations decide which joints stop. */
static bool settle(dyn_robot_ode *ode, double t, size_t lane)
{
    const size_t bytes = ode->state.entries * ode->W * sizeof *ode->state.y;
    for (bool stopped = true; stopped && ode->contact;) {
        memcpy(ode->state.stage_y, ode->state.y, bytes);
        if (!correct_velocities(ode, t, lane, &stopped)) {
            memcpy(ode->state.y, ode->state.stage_y, bytes);
            for (size_t k = 0; k < ode->stiction->n; k++)
                if (ode->stiction->joint[k].side[lane] == 0) stop(ode, &ode->stiction->joint[k], lane);
            return false;
        }
        remember(ode);
    }
    ode->stiction->uncorrected[lane] = false;
    return true;
}

static void clear_uncorrected(const dyn_robot_ode *ode)
{
    memset(ode->stiction->uncorrected, 0, sizeof ode->stiction->uncorrected);
}

/* Gives sliding joints of a lane the side in which a correction moves them, and adapts the speed at which following
 * joints start to slide. Returns true if a side changes. */
static bool turn_sides(dyn_robot_ode *ode, size_t lane)
{
    bool any = false;
    for (size_t k = 0; k < ode->stiction->n; k++) {
        dyn_friction_joint *j    = &ode->stiction->joint[k];
        const double        rate = rate_of(ode, ode->state.y, j, lane);
        j->starts[lane]          = fmax(STARTS, FASTER * fabs(rate));
        if (j->side[lane] * rate >= -DYN_TURNED_RATE) continue;
        set_side(ode, j, lane, rate > 0 ? 1 : -1);
        any = true;
    }
    return any;
}

/* Decides which joints at rest stick in a simulation. If joints were stopped and the other velocities are not yet
 * corrected, corrects them, and decides again if this changes a side. */
static void decide_and_correct(dyn_robot_ode *ode, double t, size_t lane)
{
    const range of = {lane, lane + 1};
    decide(ode, t, of);
    for (int turn = 0; turn < TURNS && ode->contact && ode->stiction->uncorrected[lane]; turn++) {
        dyn_robot_ode_finish_step(ode, t, ode->state.y, ode->W, ode->W);
        ode->stiction->uncorrected[lane] = false;
        if (turn_sides(ode, lane)) decide(ode, t, of);
    }
}

void dyn_stiction_events_restart(dyn_robot_ode *ode, double t)
{
    dyn_ode_stiction *s = ode->stiction;
    memset(s->breaks, 0, s->n * sizeof *s->breaks);
    for (size_t k = 0; k < s->n; k++)
        for (size_t l = 0; l < ode->W; l++)
            if (rate_of(ode, ode->state.y, &s->joint[k], l) == 0) dyn_ode_stiction_set_side(ode, &s->joint[k], l, 0);
    decide(ode, t, all_of(ode));
}

void dyn_stiction_events_set_sides(dyn_robot_ode *ode)
{
    for (size_t k = 0; k < ode->stiction->n; k++)
        for (size_t l = 0; l < ode->W; l++) {
            const double rate = rate_of(ode, ode->state.y, &ode->stiction->joint[k], l);
            dyn_ode_stiction_set_side(ode, &ode->stiction->joint[k], l, rate > 0 ? 1 : rate < 0 ? -1 : 0);
        }
}

void dyn_stiction_events_share_load(dyn_robot_ode *ode)
{
    const double     *qd = ode->state.y + ode->state.nq * ode->W;
    dyn_ode_stiction *s  = ode->stiction;
    if (!ode->contact || !dyn_ode_stiction_any_rests(ode)) return;
    memset(s->breaks, 0, s->n * sizeof *s->breaks);
    dyn_stiction_problem_prepare(ode, qd);
    for (size_t l = 0; l < ode->W; l++) {
        dyn_friction_rows r;
        if (!dyn_stiction_problem_solve(ode, l, &r)) continue;
        for (size_t i = 0; i < r.n; i++)
            s->needed[s->joint[s->index[i]].v * ode->W + l] = r.f[i];
    }
    dyn_ode_friction_transmit_resting(ode, qd, s->efforts);
    for (size_t k = 0; k < s->n; k++)
        for (size_t l = 0; l < ode->W; l++)
            if (s->joint[k].side[l] == 0)
                s->efforts[s->joint[k].v * ode->W + l] -= s->needed[s->joint[k].v * ode->W + l];
    dyn_stiction_problem_accelerate(ode, qd, s->efforts);
    dyn_ode_held_set_wrenches(ode, s->qdd);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

/* Returns the distance of the needed friction from the nearer limit, relative to the sum of both limits; negative
 * beyond a limit. */
static double margin(const dyn_robot_ode *ode, const dyn_friction_joint *j)
{
    const dyn_stiction_joint at   = dyn_ode_stiction_limits(ode, j, 0);
    const double             need = ode->stiction->needed[j->v * ode->W], span = at.positive + at.negative;
    return span > 0 ? fmin(at.positive - need, at.negative + need) / span + SLACK : SLACK;
}

void dyn_stiction_events_margins(dyn_robot_ode *ode, double t, const double *y, double *margins)
{
    const dyn_ode_stiction *s = ode->stiction;
    if (dyn_ode_stiction_any_rests(ode)) update_needed(ode, t, y);
    for (size_t k = 0; k < s->n; k++) {
        const dyn_friction_joint *j    = &s->joint[k];
        const double              rate = rate_of(ode, y, j, 0);
        margins[k]                     = j->side[0] != 0 ? j->side[0] * rate + DYN_TURNED_RATE
                                         : j->follows[0] ? 1 - fabs(rate) / j->starts[0]
                                                         : margin(ode, j);
    }
}

/* Lets joints that follow, and have begun to move, slide in the direction of their motion. */
static void start_following(dyn_robot_ode *ode, range of)
{
    for (size_t k = 0; k < ode->stiction->n; k++)
        for (size_t l = of.first; l < of.end; l++) {
            dyn_friction_joint *j    = &ode->stiction->joint[k];
            const double        rate = rate_of(ode, ode->state.y, j, l);
            if (j->side[l] == 0 && j->follows[l] && fabs(rate) >= 0.5 * j->starts[l])
                set_side(ode, j, l, rate > 0 ? 1 : -1);
        }
}

/* Changes joints at which an event occurred: a sliding joint comes to rest; a sticking joint slides if it needs nearly
 * the friction of its limit, since rounding may leave it below; a joint that follows slides. */
void dyn_stiction_events_switch(dyn_robot_ode *ode, double t)
{
    dyn_ode_stiction *s       = ode->stiction;
    bool              stopped = false;
    clear_uncorrected(ode);
    if (ode->contact) dyn_robot_ode_finish_step(ode, t, ode->state.y, ode->W, ode->W);
    remember(ode);
    for (size_t k = 0; k < s->n; k++) {
        s->breaks[k] = ode->state.roots[k] != 0 && dyn_ode_stiction_sticks(&s->joint[k], 0);
        if (ode->state.roots[k] == 0 || s->joint[k].side[0] == 0) continue;
        stop(ode, &s->joint[k], 0);
        stopped = true;
    }
    start_following(ode, all_of(ode));
    if (stopped) settle(ode, t, 0);
    decide_and_correct(ode, t, 0);
}

double dyn_stiction_events_advance(const dyn_robot_ode *ode, size_t lane, const double *from)
{
    double least = HUGE_VAL;
    for (size_t k = 0; k < ode->stiction->n; k++) {
        const dyn_friction_joint *j = &ode->stiction->joint[k];
        least = fmin(least, joint_advance(j, lane, rate_of(ode, ode->state.y, j, lane), from[j->v * ode->W + lane]));
    }
    return least;
}

void dyn_stiction_events_stop(dyn_robot_ode *ode, double t, size_t lane, const double *from, bool stay)
{
    const range of     = {lane, lane + 1};
    bool        smooth = true;
    clear_uncorrected(ode);
    memset(ode->stiction->breaks, 0, ode->stiction->n * sizeof *ode->stiction->breaks);
    remember(ode);
    if (stop_turning(ode, from, 0, of)) smooth = settle(ode, t, lane);
    if (!stay || !smooth) decide_and_correct(ode, t, lane);
}

void dyn_stiction_events_end_step(dyn_robot_ode *ode, double t)
{
    clear_uncorrected(ode);
    memset(ode->stiction->breaks, 0, ode->stiction->n * sizeof *ode->stiction->breaks);
    start_following(ode, all_of(ode));
    decide(ode, t, all_of(ode));
}
