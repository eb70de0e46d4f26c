/* rigid_events.c - handles the events of rigid contacts (rigid_events.h). */
#include "rigid_events.h"
#include <math.h>
#include <string.h>

#define TOUCHING 1e-9  /* m: points this far above their planes take part in an impact */
#define DEEP     1e-11 /* m: depth at which a point counts as touching; more than rounding errors */
#define LEAVES   1.0   /* s: converts a speed to a distance; a point below its plane that moves out does not touch */
#define STILL    1e-8  /* m/s: a point that slides more slowly sticks, unless friction cannot hold it */
#define APPROACH 1e-12 /* m/s: rounding error of a speed of approach */

/* relative to the largest |b|: acceleration beyond which a contact opens or slides (slack_of) */
#define SLACK 1e-7

/* Bounds of rounding errors: of the growth of energy in an impact, as a part of the kinetic energy, and of an impulse,
 * as a part of the largest impulse. */
#define CREATED 1e-12
#define IMPULSE 1e-12

enum {
    IMPACTS    = 100, /* most impacts in one event */
    BISECTIONS = 50
};

/* --- the state ---------------------------------------------------------------------------------------------------- */

/* Copies the state ode->state.y to r->q and r->qd. */
static void load_state(const dyn_robot_ode *ode)
{
    dyn_ode_rigid *r = ode->rigid;
    memcpy(r->q, ode->state.y, ode->state.nq * ode->W * sizeof *r->q);
    memcpy(r->qd, ode->state.y + ode->state.nq * ode->W, ode->state.nv * ode->W * sizeof *r->qd);
}

static void store_state(dyn_robot_ode *ode)
{
    const dyn_ode_rigid *r = ode->rigid;
    memcpy(ode->state.y, r->q, ode->state.nq * ode->W * sizeof *r->q);
    memcpy(ode->state.y + ode->state.nq * ode->W, r->qd, ode->state.nv * ode->W * sizeof *r->qd);
}

/* Evaluates the contacts at r->q. */
static void evaluate_contacts(dyn_robot_ode *ode, double t)
{
    dyn_robot_ode_close_loops(ode, t, ode->rigid->q);
    dyn_ode_rigid_evaluate(ode, ode->rigid->q, NULL);
}

static double find_kinetic_energy(const dyn_ode_rigid *r)
{
    const size_t nv = r->block.nv, W = r->block.W;
    double       sum = 0;
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < nv; j++)
            sum += 0.5 * r->block.M[(i * nv + j) * W] * r->qd[i * W] * r->qd[j * W];
    return sum;
}

static void add_work(dyn_robot_ode *ode, double work)
{
    double *to = ode->state.y + (ode->state.entries - DYN_WORKS + DYN_WORK_WRENCHES) * ode->W;
    for (size_t l = 0; l < ode->W && ode->s->works & 1U << DYN_WORK_WRENCHES; l++)
        to[l] += work;
}

/* Records a fault of all lanes: no forces were found. No fault is recorded if the deadline has ended the search. */
static void record_no_forces(dyn_robot_ode *ode, double t, size_t contact)
{
    for (size_t l = 0; l < ode->W && dyn_may_continue(ode->state.deadline); l++)
        dyn_fault_record(&ode->state.fault[l], DYN_FAULT_RIGID, t, contact);
}

/* --- the list of events ------------------------------------------------------------------------------------------- */

static void record_event(dyn_robot_ode *ode, double t, size_t contact, dyn_rigid_event_kind kind, const double *impulse)
{
    dyn_rigid_events *events = &ode->rigid->events;
    if (!events->event) return;
    if (events->n == events->most) {
        for (size_t l = 0; l < ode->W; l++)
            dyn_fault_record(&ode->state.fault[l], DYN_FAULT_EVENTS, t, contact);
        return;
    }
    dyn_rigid_event *event = &events->event[events->n++];
    *event                 = (dyn_rigid_event){.kind = kind, .contact = contact, .time = t};
    if (impulse) memcpy(event->impulse, impulse, sizeof event->impulse);
}

/* Records changes from the modes `before` as events. Without friction a change between sticking and sliding is none. */
static void record_changes(dyn_robot_ode *ode, double t, const dyn_rigid_mode before[DYN_MAX_RIGID])
{
    const dyn_ode_rigid *r = ode->rigid;
    for (size_t i = 0; i < r->n; i++) {
        const bool was_open = before[i] == DYN_RIGID_OPEN, is_open = r->mode[i] == DYN_RIGID_OPEN;
        if (was_open != is_open) record_event(ode, t, i, is_open ? DYN_RIGID_BREAK : DYN_RIGID_MAKE, NULL);
        if (before[i] != r->mode[i] && !is_open && r->contact[i].friction > 0)
            record_event(ode, t, i, r->mode[i] == DYN_RIGID_SLIDES ? DYN_RIGID_SLIDE : DYN_RIGID_STICK, NULL);
    }
}

/* --- impacts ------------------------------------------------------------------------------------------------------ */

/* Lists closed contacts and those with a gap of at most `touching`, m. Sets *approaches if any point approaches. */
static size_t list_touching(dyn_ode_rigid *r, double touching, bool *approaches)
{
    size_t n    = 0;
    *approaches = false;
    for (size_t i = 0; i < r->n; i++) {
        double v[DYN_RIGID_ROWS];
        if (r->mode[i] == DYN_RIGID_OPEN && !(dyn_ode_rigid_gap(r, i, 0) <= touching)) continue;
        dyn_ode_rigid_velocity(r, i, 0, r->qd, v);
        r->list[n++] = i;
        *approaches  = *approaches || (r->mode[i] == DYN_RIGID_OPEN && v[2] < -APPROACH);
    }
    return n;
}

/* Solves for the impulses of an impact with all restitutions multiplied by `part`; v are the velocities before the
 * impact. Returns the energy that the impulses add to the robot, J; infinity if no impulses are found. */
static double try_impact(dyn_robot_ode *ode, double (*v)[DYN_RIGID_ROWS], double part)
{
    dyn_ode_rigid     *r      = ode->rigid;
    dyn_rigid_problem *p      = &r->problem;
    double             energy = 0;
    for (size_t k = 0; k < p->n; k++) {
        const double e = part * r->contact[r->list[k]].restitution;
        p->mode[k]     = r->contact[r->list[k]].friction > 0 ? DYN_RIGID_STICKS : DYN_RIGID_SLIDES;
        memcpy(p->b + DYN_RIGID_ROWS * k, v[k], sizeof v[k]);
        if (v[k][2] < 0) p->b[DYN_RIGID_ROWS * k + 2] *= 1 + e;
    }
    if (!dyn_rigid_problem_solve(p, ode->state.deadline)) return HUGE_VAL;
    for (size_t a = 0; a < DYN_RIGID_ROWS * p->n; a++) /* p^T (v- + v+) / 2, impulses p, v+ - v- = a - b */
        energy += p->force[a] * (v[a / DYN_RIGID_ROWS][a % DYN_RIGID_ROWS] + 0.5 * (p->left[a] - p->b[a]));
    return energy;
}

/* Solves for the impulses of an impact. If they would create energy, multiplies all restitutions by *factor, the
 * largest factor with which they do not. Returns the energy that the impulses add, J. */
static double solve_impact(dyn_robot_ode *ode, double (*v)[DYN_RIGID_ROWS], double *factor)
{
    *factor             = 1;
    const double most   = CREATED * find_kinetic_energy(ode->rigid);
    double       energy = try_impact(ode, v, 1), least = 0, largest = 1;
    if (energy <= most) return energy;
    for (int i = 0; i < BISECTIONS && dyn_may_continue(ode->state.deadline); i++) {
        const double part                                       = 0.5 * (least + largest);
        *(try_impact(ode, v, part) <= most ? &least : &largest) = part;
    }
    *factor = least;
    return try_impact(ode, v, least);
}

/* Records the impulse of each contact of the problem as an event, with the factor of the restitutions. */
static void record_impulses(dyn_robot_ode *ode, double t, double factor)
{
    const dyn_ode_rigid    *r       = ode->rigid;
    const dyn_rigid_events *events  = &r->events;
    double                  largest = 0;
    for (size_t a = 0; a < DYN_RIGID_ROWS * r->problem.n; a++)
        largest = fmax(largest, fabs(r->problem.force[a]));
    for (size_t k = 0; k < r->problem.n; k++) {
        const size_t  i = r->list[k];
        const double *f = r->problem.force + DYN_RIGID_ROWS * k;
        double        impulse[3];
        if (!(f[2] > IMPULSE * largest)) continue;
        for (size_t x = 0; x < 3; x++)
            impulse[x] = r->plane[i].axes[0][x] * f[0] + r->plane[i].axes[1][x] * f[1] + r->plane[i].axes[2][x] * f[2];
        record_event(ode, t, i, DYN_RIGID_IMPACT, impulse);
        if (events->n > 0) events->event[events->n - 1].factor = factor;
    }
}

/* Closes the contacts of the problem that separate more slowly than their `resting` speed, and opens the others. */
static void close_slow(dyn_ode_rigid *r)
{
    for (size_t k = 0; k < r->problem.n; k++) {
        const size_t i = r->list[k];
        double       v[DYN_RIGID_ROWS];
        dyn_ode_rigid_velocity(r, i, 0, r->qd, v);
        const bool opens = v[2] > r->contact[i].resting;
        r->mode[i]       = opens ? DYN_RIGID_OPEN : hypot(v[0], v[1]) <= STILL ? DYN_RIGID_STICKS : DYN_RIGID_SLIDES;
        if (r->mode[i] != DYN_RIGID_SLIDES) continue;
        r->direction[i][0] = v[0] / hypot(v[0], v[1]);
        r->direction[i][1] = v[1] / hypot(v[0], v[1]);
    }
}

/* Applies the impact of the n contacts in r->list to r->qd. Returns false if no impulses are found. */
static bool hit(dyn_robot_ode *ode, double t, size_t n)
{
    dyn_ode_rigid *r = ode->rigid;
    double         v[DYN_MAX_RIGID][DYN_RIGID_ROWS], factor;
    if (!dyn_ode_rigid_gather(ode, n, 0)) return false;
    for (size_t k = 0; k < n; k++)
        dyn_ode_rigid_velocity(r, r->list[k], 0, r->qd, v[k]);
    if (solve_impact(ode, v, &factor) == HUGE_VAL) return false;
    dyn_rigid_problem_add_change(&r->problem, r->qd, ode->W);
    dyn_contact_pad(&r->block, 1, ode->state.nv, r->qd);
    record_impulses(ode, t, factor);
    close_slow(r);
    return true;
}

/* --- modes -------------------------------------------------------------------------------------------------------- */

/* Sets the place of contacts that stick now and did not stick with the modes `before`. */
static void set_places(dyn_robot_ode *ode, const dyn_rigid_mode before[DYN_MAX_RIGID])
{
    dyn_ode_rigid *r = ode->rigid;
    for (size_t i = 0; i < r->n; i++)
        for (size_t x = 0; x < 3 && r->mode[i] == DYN_RIGID_STICKS && before[i] != DYN_RIGID_STICKS; x++)
            r->place[i][x] = r->positions[(3 * i + x) * ode->W];
}

/* Returns the acceleration, m/s^2, beyond which a closed contact opens, or a sticking one slides. */
static double slack_of(const dyn_rigid_problem *p)
{
    double size = DYN_STANDARD_GRAVITY;
    for (size_t a = 0; a < DYN_RIGID_ROWS * p->n; a++)
        size = fmax(size, fabs(p->b[a]));
    return SLACK * size;
}

/* Opens contacts whose points accelerate away under the forces found last (dyn_robot_ode_rate), and makes sticking
 * contacts slide if their points accelerate along the plane. Returns true if a mode changes. */
static bool apply_forces(dyn_ode_rigid *r)
{
    bool                     changes = false;
    const dyn_rigid_problem *p       = &r->problem;
    const double             slack   = slack_of(p);
    for (size_t k = 0; k < p->n; k++) {
        const size_t  i = r->list[k];
        const double *a = p->left + DYN_RIGID_ROWS * k, *f = p->force + DYN_RIGID_ROWS * k, drag = hypot(f[0], f[1]);
        if (a[2] > slack) {
            r->mode[i] = DYN_RIGID_OPEN;
            changes    = true;
        }
        if (r->mode[i] != DYN_RIGID_STICKS || !(hypot(a[0], a[1]) > slack)) continue;
        r->mode[i] = DYN_RIGID_SLIDES;
        changes    = true;
        for (int j = 0; j < 2; j++)
            r->direction[i][j] = drag > 0 ? -f[j] / drag : a[j] / hypot(a[0], a[1]);
    }
    return changes;
}

/* Sets the modes of closed contacts at ode->state.y: slow points stick, unless the forces let them open or slide. */
static void decide_modes(dyn_robot_ode *ode, double t)
{
    dyn_ode_rigid *r = ode->rigid;
    for (size_t i = 0; i < r->n; i++) {
        double v[DYN_RIGID_ROWS];
        dyn_ode_rigid_velocity(r, i, 0, r->qd, v);
        if (r->mode[i] == DYN_RIGID_OPEN) continue;
        r->mode[i] = r->contact[i].friction > 0 && hypot(v[0], v[1]) <= STILL ? DYN_RIGID_STICKS : DYN_RIGID_SLIDES;
        if (r->mode[i] == DYN_RIGID_SLIDES && hypot(v[0], v[1]) > STILL)
            for (int j = 0; j < 2; j++)
                r->direction[i][j] = v[j] / hypot(v[0], v[1]);
    }
    for (size_t turn = 0; turn <= 2 * r->n && dyn_ode_rigid_list_closed(r) > 0; turn++) {
        if (!dyn_may_continue(ode->state.deadline)) return;
        dyn_robot_ode_rate(ode, t, ode->state.y, ode->state.stage_rate[0]);
        if (!apply_forces(r)) return;
    }
}

/* Applies impacts until no point approaches its plane, then corrects the state to the closed contacts and decides their
 * modes. The contacts must be evaluated at r->q. `before` are the modes before the event; contacts with a gap of at
 * most `touching`, m, take part. */
static void resolve_event(dyn_robot_ode *ode, double t, const dyn_rigid_mode before[DYN_MAX_RIGID], double touching)
{
    dyn_ode_rigid *r          = ode->rigid;
    bool           approaches = false;
    const double   energy     = find_kinetic_energy(r);
    size_t         n          = list_touching(r, touching, &approaches);
    int            impacts    = 0;
    do {
        if (approaches && (++impacts > IMPACTS || !hit(ode, t, n))) {
            record_no_forces(ode, t, r->list[0]);
            return;
        }
        set_places(ode, before);
        dyn_ode_rigid_correct(ode, t);
        evaluate_contacts(ode, t);
        n = list_touching(r, touching, &approaches);
    } while (approaches);
    add_work(ode, find_kinetic_energy(r) - energy);
    store_state(ode);
    decide_modes(ode, t);
    dyn_ode_rigid_evaluate(ode, r->q, NULL);
    set_places(ode, before);
    record_changes(ode, t, before);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

/* Closes open contacts with a gap of at most `touching` (m) whose points neither approach their planes nor separate.
 * `slowly`: points may also separate at up to the `resting` speed of their contact. */
static void close_touching(dyn_ode_rigid *r, double touching, bool slowly)
{
    for (size_t i = 0; i < r->n; i++) {
        double       v[DYN_RIGID_ROWS];
        const double gap = dyn_ode_rigid_gap(r, i, 0);
        dyn_ode_rigid_velocity(r, i, 0, r->qd, v);
        const bool rests = v[2] >= -APPROACH && v[2] <= (slowly ? r->contact[i].resting : APPROACH);
        if (r->mode[i] != DYN_RIGID_OPEN || !(gap <= touching) || !rests) continue;
        r->mode[i] = hypot(v[0], v[1]) <= STILL ? DYN_RIGID_STICKS : DYN_RIGID_SLIDES;
        for (int j = 0; j < 2 && r->mode[i] == DYN_RIGID_SLIDES; j++)
            r->direction[i][j] = v[j] / hypot(v[0], v[1]);
    }
}

void dyn_rigid_events_start(dyn_robot_ode *ode)
{
    dyn_ode_rigid *r                     = ode->rigid;
    dyn_rigid_mode before[DYN_MAX_RIGID] = {DYN_RIGID_OPEN};
    load_state(ode);
    evaluate_contacts(ode, 0);
    for (size_t i = 0; i < r->n; i++)
        if (!(dyn_ode_rigid_gap(r, i, 0) >= -DYN_RIGID_START)) {
            for (size_t l = 0; l < ode->W; l++)
                dyn_fault_record(&ode->state.fault[l], DYN_FAULT_BELOW, 0, i);
            ode->state.fault[0].value = -dyn_ode_rigid_gap(r, i, 0);
            return;
        }
    close_touching(r, DYN_RIGID_START, true);
    resolve_event(ode, 0, before, DYN_RIGID_START);
}

void dyn_rigid_events_restart(dyn_robot_ode *ode, double t)
{
    dyn_rigid_mode before[DYN_MAX_RIGID];
    memcpy(before, ode->rigid->mode, sizeof before);
    load_state(ode);
    evaluate_contacts(ode, t);
    resolve_event(ode, t, before, TOUCHING);
}

size_t dyn_rigid_events_find_missed(const dyn_ode_rigid *r, double *depth)
{
    size_t i = 0;
    while (i < r->n && (r->mode[i] != DYN_RIGID_OPEN || dyn_ode_rigid_gap(r, i, 0) >= -DYN_RIGID_START))
        i++;
    if (i < r->n) *depth = -dyn_ode_rigid_gap(r, i, 0);
    return i;
}

/* Returns the event function of closed contact k with velocity v: below 0 it opens, begins to slide or stops. */
static double closed_margin(const dyn_ode_rigid *r, size_t k, const double v[DYN_RIGID_ROWS])
{
    const dyn_rigid_problem *p = &r->problem;
    const size_t             i = r->list[k], row = DYN_RIGID_ROWS * k + 2, rows = DYN_RIGID_ROWS * p->n;
    const double            *a = p->left + DYN_RIGID_ROWS * k, slack = slack_of(p),
                 presses = (p->force[row] * p->A[row * (rows + 1)] - a[2] + slack) / slack;
    if (!(r->contact[i].friction > 0)) return presses;
    if (r->mode[i] == DYN_RIGID_STICKS) return fmin(presses, 1 - hypot(a[0], a[1]) / slack);
    return fmin(presses, (v[0] * r->direction[i][0] + v[1] * r->direction[i][1]) / DYN_TURNED_RATE + 1);
}

/* Returns the event function of open contact i, whose point has velocity v: its gap, below 0 if the point touches.
 * After an impact rounding may make the gap negative, so a point that moves away does not touch. */
static double open_margin(const dyn_ode_rigid *r, size_t i, const double v[DYN_RIGID_ROWS])
{
    return fmax(dyn_ode_rigid_gap(r, i, 0), v[2] * LEAVES) + DEEP;
}

void dyn_rigid_events_margins(dyn_robot_ode *ode, double t, const double *y, double *margins)
{
    dyn_ode_rigid *r = ode->rigid;
    dyn_robot_ode_rate(ode, t, y, ode->state.stage_rate[0]);
    const size_t n = dyn_ode_rigid_list_closed(r);
    for (size_t i = 0, k = 0; i < r->n; i++) {
        double v[DYN_RIGID_ROWS];
        dyn_ode_rigid_velocity(r, i, 0, y + ode->state.nq * ode->W, v);
        margins[i] = k < n && r->list[k] == i ? closed_margin(r, k++, v) : open_margin(r, i, v);
    }
}

/* Makes a slow sliding contact stick if the angle between its velocity v and its direction d is 90 deg or more. */
static void stop_turned(dyn_ode_rigid *r, size_t i)
{
    double v[DYN_RIGID_ROWS];
    dyn_ode_rigid_velocity(r, i, 0, r->qd, v);
    const double along = v[0] * r->direction[i][0] + v[1] * r->direction[i][1];
    if (r->mode[i] != DYN_RIGID_SLIDES || !(r->contact[i].friction > 0) || along > 0) return;
    if (hypot(v[0], v[1]) <= DYN_RIGID_SLOW) r->mode[i] = DYN_RIGID_STICKS;
}

void dyn_rigid_events_switch(dyn_robot_ode *ode, double t)
{
    dyn_ode_rigid *r = ode->rigid;
    dyn_rigid_mode before[DYN_MAX_RIGID];
    memcpy(before, r->mode, sizeof before);
    load_state(ode);
    evaluate_contacts(ode, t);
    for (size_t i = 0; i < r->n; i++)
        if (ode->state.roots[i] != 0) stop_turned(r, i);
    close_touching(r, TOUCHING, false);
    resolve_event(ode, t, before, TOUCHING);
}
