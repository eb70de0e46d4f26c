/* closure_newton.c - solves closure equations by Newton's method (closure.h). */
#include "closure.h"
#include "dynamics/model/coordinates.h"
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 200 };
#define SHORTEST  0x1p-30 /* smallest part of a Newton step */
#define BETTER    0.25    /* from a closed state, steps go on while each reduces the error norm to this */
#define NEAR      1e-4    /* a pseudoinverse is reused up to this distance, in units of step_limit */
#define PRECISION 1e-16   /* the search ends at a step whose expected error is below this, in units of step_limit */
#define ROUNDED   1e-14   /* error norms up to this may be rounding errors */
#define ROUNDING  0x1p-50 /* steps up to this, in units of step_limit, are rounding errors */

typedef struct search {
    double part;     /* fraction of the Newton step that is tried */
    double size;     /* largest entry of the Newton step, in units of step_limit */
    double distance; /* sum of the steps, in units of step_limit, since the pseudoinverse was computed */
    bool   started, running;
    bool   steps, refactors; /* true: the lane takes a Newton step next; it needs a new pseudoinverse for it */
} search;

static void copy_lane(const dyn_closure_solver *c, const double *from, size_t lane, double *to)
{
    for (size_t i = 0; i < c->loops->nq; i++)
        to[i * c->W + lane] = from[i * c->W + lane];
}

/* Sets c->q of a lane to accepted_q + part * step; quaternions move by the exponential map. */
static void move_lane(dyn_closure_solver *c, size_t lane, double part)
{
    const dyn_model *m = c->equations.mechanism.tree;
    size_t           W = c->W;
    c->evaluated       = false;
    copy_lane(c, c->accepted_q, lane, c->q);
    for (size_t i = 0; i < m->n_bodies && part != 0; i++)
        if (!m->body[i].joint.mimic)
            dyn_coordinates_move(&m->body[i], c->q + (size_t)m->body[i].joint.q * W + lane, W,
                                 c->step + (size_t)m->body[i].joint.v * W + lane, part);
}

/* Sets c->step to the Newton step of a lane, shortened so that no entry exceeds its step_limit. Returns false if the
 * step is not finite. */
static bool set_step(dyn_closure_solver *c, size_t lane, search *s)
{
    double longest = 0;
    for (size_t k = 0; k < c->equations.unknowns; k++) {
        const double part = fabs(c->correction[(size_t)c->equations.unknown[k] * c->W + lane]) / c->step_limit[k];
        longest           = part > longest || isnan(part) ? part : longest;
    }
    for (size_t k = 0; k < c->equations.unknowns; k++) {
        const size_t entry = (size_t)c->equations.unknown[k] * c->W + lane;
        c->step[entry]     = -c->correction[entry] / (longest > 1 ? longest : 1);
    }
    s->size     = longest;
    s->distance = s->refactors ? longest : s->distance + longest;
    s->part     = 1;
    return c->finite[lane] && isfinite(longest);
}

/* Handles a step that did not reduce the error: returns to the accepted position, and tries half the step. If the step
 * came from the pseudoinverse of an earlier position, requests a new pseudoinverse instead. */
static void retry_shorter(dyn_closure_solver *c, size_t lane, search *s)
{
    const double before = c->error_norm[lane];
    if (!s->refactors && before > ROUNDED) {
        s->steps = s->refactors = true;
        move_lane(c, lane, 0);
        return;
    }
    s->part *= 0.5;
    s->running = before > DYN_CLOSURE_CLOSED && s->part >= SHORTEST;
    move_lane(c, lane, s->running ? s->part : 0);
}

/* Accepts the position of a lane if its error has decreased; otherwise tries a shorter step. The error after a step
 * is about the product of the step and of the distance to the position of the pseudoinverse, if the equations are
 * smooth. */
static void judge_step(dyn_closure_solver *c, size_t lane, search *s)
{
    const double open = dyn_closure_find_error(c, lane), before = c->error_norm[lane];
    s->steps = false;
    if (s->started && !(open < before)) {
        retry_shorter(c, lane, s);
        return;
    }
    const bool rounded  = s->part == 1 && s->distance * s->size <= PRECISION && open <= ROUNDED;
    const bool ended    = s->started && open <= DYN_CLOSURE_CLOSED && (rounded || open > BETTER * before);
    c->error_norm[lane] = open;
    copy_lane(c, c->q, lane, c->accepted_q);
    s->steps = s->running = !ended && open > 0;
    s->refactors          = !(s->started && s->part == 1 && s->distance <= NEAR);
    s->started            = true;
}

/* Computes the pseudoinverse at the present position of each lane that needs a new one. */
static void refactor(dyn_closure_solver *c, const dyn_scene *scene, const search *s)
{
    bool wanted[DYN_MAX_LANES], any = false;
    for (size_t lane = 0; lane < c->live; lane++) {
        wanted[lane] = s[lane].steps && s[lane].refactors;
        any          = any || wanted[lane];
    }
    if (!any) return;
    if (!c->evaluated) {
        dyn_closure_pad(c, c->loops->nq, c->q);
        dyn_closure_evaluate(c, scene);
        for (size_t lane = 0; lane < c->live; lane++)
            if (wanted[lane]) dyn_closure_find_error(c, lane);
    }
    dyn_closure_invert(c, wanted);
}

/* Computes and takes the Newton steps of the lanes that are due for one. Known coordinates do not move. */
static void take_steps(dyn_closure_solver *c, const dyn_scene *scene, search *s)
{
    refactor(c, scene, s);
    dyn_closure_apply(c, 1, c->error, 0, c->correction);
    for (size_t lane = 0; lane < c->live; lane++) {
        if (!s[lane].steps) continue;
        s[lane].running = set_step(c, lane, &s[lane]) && !(s[lane].size <= ROUNDING && dyn_closure_is_closed(c, lane));
        if (s[lane].running) move_lane(c, lane, 1);
    }
}

/* Judges the last step of every running lane and takes the next one. Returns false if no lane is running any more. */
static bool advance_all(dyn_closure_solver *c, const dyn_scene *scene, search *s)
{
    bool running = false, steps = false;
    for (size_t lane = 0; lane < c->live; lane++) {
        s[lane].steps = false;
        if (s[lane].running && dyn_may_continue(c->deadline)) judge_step(c, lane, &s[lane]);
        steps = steps || s[lane].steps;
    }
    if (steps) take_steps(c, scene, s);
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
        if (k > 0)
            dyn_closure_find_poses(c, scene);
        else if (!c->evaluated)
            dyn_closure_evaluate(c, scene);
        running = advance_all(c, scene, s);
        awaited = dyn_may_continue(c->deadline);
    }
    for (size_t lane = 0; lane < c->live; lane++) {
        if (s[lane].running) move_lane(c, lane, 0);
        c->stopped[lane] = c->stopped[lane] || (s[lane].running && !awaited);
    }
    dyn_closure_pad(c, c->loops->nq, c->q);
    return dyn_closure_check(c, scene);
}
