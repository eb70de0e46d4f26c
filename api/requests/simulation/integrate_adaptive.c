/* integrate_adaptive.c - integrates with error control by ARKODE (integrate_adaptive.h). */
#include "integrate_adaptive.h"
#include "api/base/memory/shortage.h"
#include "integrate_fixed.h"
#include "ode_faults.h"
#include "ode_limits.h"
#include "ode_stiction.h"
#include "stiction_events.h"
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECK   = 512 /* coordinates times steps between two checks of the deadline */,
    VECTORS = 48 /* most vectors of y's size that ARKODE allocates */
};

enum {
    MAX_CHANGES = 1000000 /* most changes of joints between sliding and sticking, per simulation */,
    WINDOW      = 50000 /* number of steps over which the mean step length is measured */
};

#define SLOW 1e-3 /* rad/s or m/s: only slower joints are named as the cause of a failure */

size_t api_adaptive_bytes(const api_ode *ode)
{
    return (VECTORS * (ode->entries + 32) + 4096) * sizeof(double);
}

bool api_adaptive_may_continue(const api_ode *ode)
{
    return dyn_may_continue(ode->e->query->scene.deadline);
}

/* --- callbacks of ARKODE ------------------------------------------------------------------------------------------ */

void api_adaptive_fill_lanes(const api_ode *ode, const double *y, double *lanes)
{
    size_t W = ode->W;
    for (size_t i = 0; i < ode->entries; i++)
        for (size_t l = 0; l < W; l++)
            lanes[i * W + l] = y[i];
}

static int rate(realtype t, N_Vector y, N_Vector to, void *arg)
{
    api_ode *ode = arg;
    double  *out = N_VGetArrayPointer(to);
    if (!api_adaptive_may_continue(ode)) return -1;
    api_adaptive_fill_lanes(ode, N_VGetArrayPointer(y), ode->stage_y);
    memset(ode->fault, 0, sizeof ode->fault);
    api_ode_rate(ode, t, ode->stage_y, ode->stage_rate[0]);
    for (size_t i = 0; i < ode->entries; i++) {
        out[i] = ode->stage_rate[0][i * ode->W];
        if (!isfinite(out[i])) return 1; /* recoverable: ARKODE retries with a shorter step */
    }
    return ode->fault[0].kind == API_FAULT_NONE ? 0 : 1;
}

/* Sets the error weights. Work entries do not influence the steps, whether they are outputs or not. Exception: with
 * prescribed motions the state may be easy to integrate while the efforts are not. */
static int set_weights(N_Vector y, N_Vector to, void *arg)
{
    const api_ode *ode = arg;
    const double  *v   = N_VGetArrayPointer(y);
    double        *w   = N_VGetArrayPointer(to);
    size_t         n   = ode->entries - (ode->prescribed ? 0 : API_WORKS);
    for (size_t i = 0; i < n; i++)
        w[i] = sqrt((double)ode->entries / (double)n) / (ode->s->tolerance * (1 + fabs(v[i])));
    for (size_t i = n; i < ode->entries; i++)
        w[i] = 1e-200;
    return 0;
}

static int margins(realtype t, N_Vector y, realtype *to, void *arg)
{
    api_ode *ode = arg;
    api_adaptive_fill_lanes(ode, N_VGetArrayPointer(y), ode->stage_y);
    api_stiction_events_margins(ode, t, ode->stage_y, to);
    return 0;
}

static int project(realtype t, N_Vector y, void *arg)
{
    api_ode *ode = arg;
    api_ode_normalize(ode, N_VGetArrayPointer(y), 1, 1);
    api_ode_finish_step(ode, t, N_VGetArrayPointer(y), 1, 1);
    api_adaptive_fill_lanes(ode, N_VGetArrayPointer(y), ode->stage_y);
    api_ode_limits_evaluate(ode, t, ode->stage_y);
    return 0;
}

/* Suppresses ARKODE's messages; errors are reported from its return codes. */
static void silent(int code, const char *module, const char *function, char *message, void *arg)
{
    (void)code, (void)module, (void)function, (void)message, (void)arg;
}

/* --- opening ---------------------------------------------------------------------------------------------------- */

/* Lets ARKODE locate the instants at which joints stop or break loose: where their margins fall to zero. */
static bool set_up_events(api_adaptive *a)
{
    const size_t n = api_ode_stiction_count(a->ode);
    for (size_t k = 0; k < n; k++)
        a->ode->stiction->roots[k] = -1;
    return ARKStepRootInit(a->arkode, (int)n, margins) == ARK_SUCCESS &&
           (n == 0 || ARKStepSetRootDirection(a->arkode, a->ode->stiction->roots) == ARK_SUCCESS);
}

static bool set_up(api_adaptive *a, bool is_implicit, api_choose_pair *choose_pair)
{
    if (SUNContext_Create(NULL, &a->context) != 0) return false;
    a->y = N_VNew_Serial((sunindextype)a->ode->entries, a->context);
    if (!a->y) return false;
    for (size_t i = 0; i < a->ode->entries; i++)
        N_VGetArrayPointer(a->y)[i] = a->ode->y[i * a->ode->W];
    a->arkode = ARKStepCreate(is_implicit ? NULL : rate, is_implicit ? rate : NULL, 0, a->y, a->context);
    return a->arkode && ARKStepSetErrHandlerFn(a->arkode, silent, NULL) == ARK_SUCCESS &&
           ARKStepSetUserData(a->arkode, a->ode) == ARK_SUCCESS &&
           ARKStepWFtolerances(a->arkode, set_weights) == ARK_SUCCESS &&
           ARKStepSetMaxNumSteps(a->arkode, 1 + CHECK / (long)a->ode->e->model->nv) == ARK_SUCCESS &&
           ARKStepSetMinStep(a->arkode, 1e-9 * a->ode->s->duration) == ARK_SUCCESS &&
           ARKStepSetPostprocessStepFn(a->arkode, project) == ARK_SUCCESS && set_up_events(a) && choose_pair(a);
}

typedef struct opening {
    api_adaptive    *adaptive;
    bool             is_implicit;
    api_choose_pair *choose_pair;
} opening;

static bool open_pair(void *arg)
{
    const opening *o = arg;
    return set_up(o->adaptive, o->is_implicit, o->choose_pair);
}

static bool fail_short(api_problem *problem)
{
    api_shortage_note();
    return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the integrator of a simulation");
}

void *api_adaptive_open(api_ode *ode, bool is_implicit, api_choose_pair *choose_pair, api_problem *problem)
{
    api_adaptive *a    = calloc(1, sizeof *a);
    opening       o    = {a, is_implicit, choose_pair};
    bool          good = false;
    if (a) a->ode = ode;
    if (a && dyn_sundials_run(&a->memory, open_pair, &o, &good) && good) return a;
    api_adaptive_close(a);
    fail_short(problem);
    return NULL;
}

void api_adaptive_close(void *data)
{
    api_adaptive *a = data;
    if (!a) return;
    dyn_sundials_free_all(&a->memory);
    free(a);
}

/* --- integration -------------------------------------------------------------------------------------------------- */

/* Copies ARKODE's present state to the ODE and checks its range. */
static bool copy_state(api_adaptive *a, double t, api_problem *problem)
{
    api_ode *ode   = a->ode;
    long     steps = 0;
    ARKStepGetNumSteps(a->arkode, &steps);
    ode->steps = (size_t)steps;
    api_adaptive_fill_lanes(ode, N_VGetArrayPointer(a->y), ode->y);
    api_ode_normalize(ode, ode->y, ode->W, ode->W);
    api_ode_check_range(ode, t);
    return api_ode_check_all(ode, problem);
}

/* Returns the slowest body whose joint has a friction that jumps at rest, if it is slower than SLOW; otherwise -1. */
static int slowest_joint(const api_ode *ode)
{
    const dyn_model *m            = ode->e->query->scene.model;
    const double    *qd           = ode->loops ? dyn_loop_tree_qd(ode->loops) : ode->y + ode->e->model->nq * ode->W;
    double           slowest      = SLOW;
    int              slowest_body = -1;
    for (size_t i = 0; i < m->n_bodies && ode->e->query->scene.terms & DYN_FRICTION; i++) {
        const dyn_body *b = &m->body[i];
        if (!api_stiction_is_possible(b)) continue;
        double speed = fabs(b->joint.ratio * qd[(size_t)b->joint.v * ode->W]);
        if (speed >= slowest) continue;
        slowest      = speed;
        slowest_body = (int)i;
    }
    return slowest_body;
}

/* Writes ", while <joint> accelerates by ..." for the coordinate with the largest acceleration. */
static void describe_worst(const api_adaptive *a, double t, char *text, size_t size)
{
    double acceleration;
    int    worst = api_ode_faults_find_worst(a->ode, t, &acceleration);
    text[0]      = '\0';
    if (worst >= 0)
        snprintf(text, size, ", while %.64s accelerates by %.3g rad/s^2 or m/s^2",
                 a->ode->e->model->velocity_names[worst], acceleration);
}

static bool fail(const api_adaptive *a, double t, const char *why, api_problem *problem)
{
    const api_ode *ode   = a->ode;
    int            joint = ode->stiction ? -1 : slowest_joint(ode);
    char           advice[300], worst[160];
    describe_worst(a, t, worst, sizeof worst);
    if (joint >= 0)
        snprintf(advice, sizeof advice,
                 "the joint %.64s stops, where its Coulomb friction jumps: give it a coulomb_velocity, well below the "
                 "speeds that matter, or take fixed steps",
                 api_joint_of(ode->e->model, joint));
    else
        snprintf(advice, sizeof advice, "give a larger tolerance, or take fixed steps%s",
                 a->jacobian ? "" : ", or the integrator esdirk5");
    api_fail(problem, API_INTEGRATION_FAILED, NULL, "at %.9g s the tolerance of %g cannot be kept%s%s: %s", t,
             ode->s->tolerance, why, worst, advice);
    if (ode->e->query->batched) problem->row = (long long)ode->row[0];
    return false;
}

/* Restarts ARKODE from the ODE's state at time t, to stop at time `to`. */
static bool restart(api_adaptive *a, double t, double to)
{
    for (size_t i = 0; i < a->ode->entries; i++)
        N_VGetArrayPointer(a->y)[i] = a->ode->y[i * a->ode->W];
    return ARKStepReset(a->arkode, t, a->y) == ARK_SUCCESS && ARKStepSetStopTime(a->arkode, to) == ARK_SUCCESS;
}

/* Handles a root: some joints start or end sticking. Returns false after too many changes. */
static bool handle_events(api_adaptive *a, double t, double to)
{
    api_ode *ode = a->ode;
    if (++a->changes > MAX_CHANGES || ARKStepGetRootInfo(a->arkode, ode->stiction->roots) != ARK_SUCCESS) return false;
    api_stiction_events_switch(ode, t);
    return restart(a, t, to);
}

/* True if the simulation would exceed API_MAX_STEPS steps at the mean step length of the last WINDOW steps. */
static bool has_collapsed(api_adaptive *a, double t)
{
    const api_simulation *s     = a->ode->s;
    size_t                steps = a->ode->steps, taken = steps - a->began_steps;
    double                step = (t - a->began) / (double)taken, left = s->boundaries[s->n_boundaries - 1] - t;
    if (taken < WINDOW) return false;
    a->began_steps = steps;
    a->began       = t;
    return (double)steps + left / step > API_MAX_STEPS;
}

typedef struct integration {
    api_adaptive *adaptive;
    api_interval  interval;
    api_problem  *problem;
} integration;

static bool integrate(void *arg)
{
    const integration *i       = arg;
    api_adaptive      *a       = i->adaptive;
    api_ode           *ode     = a->ode;
    api_problem       *problem = i->problem;
    bool               anew    = i->interval.starts_at_break;
    double             t = i->interval.from, to = i->interval.to;
    if (anew || t == 0) api_ode_limits_evaluate(ode, t, ode->y);
    if (anew && ode->stiction) api_stiction_events_restart(ode, t);
    if (anew && !api_ode_check_all(ode, problem)) return false;
    if (anew && !restart(a, t, to)) return fail(a, t, "", problem);
    if (ARKStepSetStopTime(a->arkode, to) != ARK_SUCCESS) return fail(a, t, "", problem);
    for (;;) {
        if (!api_ode_check_time(ode, problem)) return false;
        int result = ARKStepEvolve(a->arkode, to, a->y, &t, ARK_NORMAL);
        if (result >= 0 || result == ARK_TOO_MUCH_WORK) memset(ode->fault, 0, sizeof ode->fault);
        if (!copy_state(a, t, problem)) return false;
        if (result == ARK_ROOT_RETURN && !handle_events(a, t, to))
            return fail(a, t, " where joints begin to stick", problem);
        if (result == ARK_ROOT_RETURN && !api_ode_check_all(ode, problem)) return false;
        if (result == ARK_ROOT_RETURN && t < to) continue;
        if (result >= 0) return true;
        if (result != ARK_TOO_MUCH_WORK) return fail(a, t, "", problem);
        if (has_collapsed(a, t)) return fail(a, t, " within 10 million steps", problem);
    }
}

bool api_adaptive_integrate(api_ode *ode, void *data, api_interval interval, api_problem *problem)
{
    (void)ode;
    integration i    = {data, interval, problem};
    bool        done = false;
    return dyn_sundials_run(&i.adaptive->memory, integrate, &i, &done) ? done : fail_short(problem);
}
