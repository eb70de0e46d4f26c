/* closure_newton.c - solves closure equations by Newton's method (closure.h). */
#include "closure.h"
#include "dynamics/model/coordinates.h"
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 200 };
#define SHORTEST 0x1p-30 /* smallest part of a Newton step */
#define BETTER   0.25    /* a closed state is improved while each step reduces the error norm to less than this part */
#define SETTLED  1e-8    /* after a step this short, in units of step_limit, the next one would be rounding error */
#define ROUNDING 0x1p-50 /* a step this short is rounding error */

typedef struct search {
    double part; /* fraction of the Newton step tried */
    double size; /* the Newton step: its largest entry in units of step_limit */
    bool   started, running, steps;
} search;

static void copy_lane(const dyn_closure_solver *c, const double *from, size_t lane, double *to)
{
    for (size_t i = 0; i < c->loops->nq; i++)
        to[i * c->W + lane] = from[i * c->W + lane];
}

/* q = accepted_q + part step, along the coordinates (quaternions by the exponential map). */
static void move(dyn_closure_solver *c, size_t lane, double part)
{
    const dyn_model *m = c->of.mechanism.tree;
    size_t           W = c->W;
    c->evaluated       = false;
    copy_lane(c, c->accepted_q, lane, c->q);
    for (size_t i = 0; i < m->n_bodies && part != 0; i++)
        if (!m->body[i].joint.mimic)
            dyn_coordinates_move(&m->body[i], c->q + (size_t)m->body[i].joint.q * W + lane, W,
                                 c->step + (size_t)m->body[i].joint.v * W + lane, part);
}

/* Sets the Newton step of a lane, shortened so that no entry exceeds its step_limit. Returns false if it is not finite. */
static bool set_step(dyn_closure_solver *c, size_t lane, search *s)
{
    double longest = 0;
    for (size_t k = 0; k < c->of.unknowns; k++)
        longest = fmax(longest, fabs(c->correction[(size_t)c->of.unknown[k] * c->W + lane]) / c->step_limit[k]);
    for (size_t k = 0; k < c->of.unknowns; k++) {
        const size_t entry = (size_t)c->of.unknown[k] * c->W + lane;
        c->step[entry]     = -c->correction[entry] / fmax(longest, 1);
    }
    s->size = longest;
    return c->finite[lane] && isfinite(longest);
}

/* Accepts the position of a lane, or moves it back by a part of the step. A lane that `steps` needs the next step. */
static void advance(dyn_closure_solver *c, size_t lane, search *s)
{
    double open = dyn_closure_find_error(c, lane), before = c->error_norm[lane];
    s->steps = false;
    if (s->started && !(open < before)) {
        s->part *= 0.5;
        s->running = before > DYN_CLOSURE_CLOSED && s->part >= SHORTEST;
        move(c, lane, s->running ? s->part : 0);
        return;
    }
    const bool rounded  = s->started && s->part == 1 && s->size <= SETTLED;
    const bool ended    = s->started && open <= DYN_CLOSURE_CLOSED && (rounded || open > BETTER * before);
    c->error_norm[lane] = open;
    copy_lane(c, c->q, lane, c->accepted_q);
    s->steps = s->running = !ended && open > 0;
    s->started            = true;
    s->part               = 1;
}

/* Finds the Newton steps of the lanes that need one, and takes them. Known coordinates do not move. */
static void take_steps(dyn_closure_solver *c, search *s)
{
    bool wanted[DYN_MAX_LANES];
    for (size_t lane = 0; lane < c->live; lane++)
        wanted[lane] = s[lane].steps;
    dyn_closure_invert(c, wanted);
    dyn_closure_apply(c, 1, c->error, 0, c->correction);
    for (size_t lane = 0; lane < c->live; lane++) {
        if (!s[lane].steps) continue;
        s[lane].running = set_step(c, lane, &s[lane]) &&
                          !(s[lane].size <= ROUNDING && dyn_closure_is_closed(c, lane));
        if (s[lane].running) move(c, lane, 1);
    }
}

/* Advances every running lane by one step. Returns false if no lane is running any more. */
static bool advance_all(dyn_closure_solver *c, search *s)
{
    bool running = false, steps = false;
    for (size_t lane = 0; lane < c->live; lane++) {
        s[lane].steps = false;
        if (s[lane].running && dyn_may_continue(c->deadline)) advance(c, lane, &s[lane]);
        steps = steps || s[lane].steps;
    }
    if (steps) take_steps(c, s);
    for (size_t lane = 0; lane < c->live; lane++)
        running = running || s[lane].running;
    dyn_closure_pad(c, c->loops->nq, c->q);
    return running;
}

bool dyn_closure_iterate(dyn_closure_solver *c, const dyn_scene *scene)
{
    search s[DYN_MAX_LANES] = {{0}};
    bool   running = true, awaited = true;
    for (size_t lane = 0; lane < c->live; lane++)
        s[lane] = (search){.running = !c->stopped[lane]};
    for (int k = 0; k < MOST_STEPS && running && awaited; k++) {
        if (!c->evaluated) dyn_closure_evaluate(c, scene);
        running = advance_all(c, s);
        awaited = dyn_may_continue(c->deadline);
    }
    for (size_t lane = 0; lane < c->live; lane++) {
        if (s[lane].running) move(c, lane, 0);
        c->stopped[lane] = c->stopped[lane] || (s[lane].running && !awaited);
    }
    dyn_closure_pad(c, c->loops->nq, c->q);
    return dyn_closure_check(c, scene);
}
