/* integrate_adaptive.c - integrates with error control by ARKODE (integrate_adaptive.h). */
#include "integrate_adaptive.h"
#include <math.h>
#include <nvector/nvector_serial.h>
#include <string.h>

enum {
    CHECK   = 512 /* coordinates times steps between two checks of the deadline */,
    VECTORS = 48 /* most vectors of y's size that ARKODE allocates */
};

enum {
    MAX_CHANGES = 1000000 /* most changes of joints between sliding and sticking, per simulation */,
    ATTEMPTS    = 60,   /* most failures of one step, if the length of steps is limited */
    WINDOW      = 50000 /* number of steps over which the mean step length is measured */
};

size_t dyn_adaptive_bytes(const dyn_ode *ode)
{
    return (VECTORS * (ode->entries + 32) + 4096) * sizeof(double);
}

/* --- callbacks of ARKODE ------------------------------------------------------------------------------------------ */

void dyn_adaptive_fill_lanes(const dyn_ode *ode, const double *y, double *lanes)
{
    size_t W = ode->W;
    for (size_t i = 0; i < ode->entries; i++)
        for (size_t l = 0; l < W; l++)
            lanes[i * W + l] = y[i];
}

static int rate(realtype t, N_Vector y, N_Vector to, void *arg)
{
    dyn_ode *ode = arg;
    double  *out = N_VGetArrayPointer(to);
    if (!dyn_may_continue(ode->deadline_of_all)) return -1;
    dyn_adaptive_fill_lanes(ode, N_VGetArrayPointer(y), ode->stage_y);
    memset(ode->fault, 0, sizeof ode->fault);
    ode->functions->rate(ode->system, t, ode->stage_y, ode->stage_rate[0]);
    for (size_t i = 0; i < ode->entries; i++) {
        out[i] = ode->stage_rate[0][i * ode->W];
        if (!isfinite(out[i])) return 1; /* recoverable: ARKODE retries with a shorter step */
    }
    return ode->fault[0].kind == DYN_FAULT_NONE ? 0 : 1;
}

/* Sets the error weights. The works, the last entries of y, do not influence the length of steps, unless
 * ode->weighs_works. */
static int set_weights(N_Vector y, N_Vector to, void *arg)
{
    const dyn_ode *ode = arg;
    const double  *v   = N_VGetArrayPointer(y);
    double        *w   = N_VGetArrayPointer(to);
    size_t         n   = ode->entries - (ode->weighs_works ? 0 : ode->works);
    for (size_t i = 0; i < n; i++)
        w[i] = sqrt((double)ode->entries / (double)n) / (ode->tolerance * (1 + fabs(v[i])));
    for (size_t i = n; i < ode->entries; i++)
        w[i] = 1e-200;
    return 0;
}

static int margins(realtype t, N_Vector y, realtype *to, void *arg)
{
    dyn_ode *ode = arg;
    dyn_adaptive_fill_lanes(ode, N_VGetArrayPointer(y), ode->stage_y);
    ode->functions->margins(ode->system, t, ode->stage_y, to);
    return 0;
}

static int project(realtype t, N_Vector y, void *arg)
{
    dyn_ode *ode = arg;
    ode->functions->normalize(ode->system, N_VGetArrayPointer(y), 1, 1);
    ode->functions->finish_step(ode->system, t, N_VGetArrayPointer(y), 1, 1);
    dyn_adaptive_fill_lanes(ode, N_VGetArrayPointer(y), ode->stage_y);
    dyn_ode_observe(ode, t, ode->stage_y);
    return 0;
}

/* Suppresses ARKODE's messages; errors are reported from its return codes. */
static void silent(int code, const char *module, const char *function, char *message, void *arg)
{
    (void)code, (void)module, (void)function, (void)message, (void)arg;
}

/* --- opening ---------------------------------------------------------------------------------------------------- */

/* Lets ARKODE locate events: the instants at which an event function (`margins`) falls to zero. */
static bool set_up_events(dyn_adaptive *a)
{
    const size_t n = a->ode->n_events;
    for (size_t k = 0; k < n; k++)
        a->ode->roots[k] = -1;
    return ARKStepRootInit(a->arkode, (int)n, margins) == ARK_SUCCESS &&
           (n == 0 || ARKStepSetRootDirection(a->arkode, a->ode->roots) == ARK_SUCCESS);
}

/* Limits the steps of equations that change at unknown instants: while a robot is in the air, steps would grow without
 * bound, and the first step into a stiff plane would overflow. A step may also fail more often than by default
 * (ATTEMPTS). */
static bool limit_steps(const dyn_adaptive *a)
{
    return !(a->ode->longest > 0) || (ARKStepSetMaxStep(a->arkode, a->ode->longest) == ARK_SUCCESS &&
                                      ARKStepSetMaxErrTestFails(a->arkode, ATTEMPTS) == ARK_SUCCESS &&
                                      ARKStepSetMaxConvFails(a->arkode, ATTEMPTS) == ARK_SUCCESS);
}

static bool set_up(dyn_adaptive *a, bool is_implicit, dyn_choose_pair *choose_pair)
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
           ARKStepSetMaxNumSteps(a->arkode, 1 + CHECK / (long)a->ode->nv) == ARK_SUCCESS &&
           ARKStepSetMinStep(a->arkode, 1e-9 * a->ode->duration) == ARK_SUCCESS &&
           ARKStepSetPostprocessStepFn(a->arkode, project) == ARK_SUCCESS && limit_steps(a) && set_up_events(a) &&
           choose_pair(a);
}

typedef struct opening {
    dyn_adaptive    *adaptive;
    bool             is_implicit;
    dyn_choose_pair *choose_pair;
} opening;

static bool open_pair(void *arg)
{
    const opening *o = arg;
    return set_up(o->adaptive, o->is_implicit, o->choose_pair);
}

bool dyn_adaptive_open(dyn_ode *ode, bool is_implicit, dyn_choose_pair *choose_pair)
{
    dyn_adaptive *a    = ode->data;
    opening       o    = {a, is_implicit, choose_pair};
    bool          good = false;
    *a                 = (dyn_adaptive){.ode = ode};
    return dyn_sundials_run(&a->memory, open_pair, &o, &good) && good;
}

void dyn_adaptive_close(dyn_ode *ode)
{
    dyn_adaptive *a = ode->data;
    dyn_sundials_free_all(&a->memory);
}

/* --- integration -------------------------------------------------------------------------------------------------- */

/* Copies ARKODE's present state to the ODE and checks its range. Returns false with a fault. */
static bool copy_state(dyn_adaptive *a, double t)
{
    dyn_ode *ode   = a->ode;
    long     steps = 0;
    ARKStepGetNumSteps(a->arkode, &steps);
    ode->steps = (size_t)steps;
    dyn_adaptive_fill_lanes(ode, N_VGetArrayPointer(a->y), ode->y);
    ode->functions->normalize(ode->system, ode->y, ode->W, ode->W);
    ode->functions->check_range(ode->system, t);
    return dyn_ode_is_sound(ode);
}

/* Restarts ARKODE from the ODE's state at time t, to stop at time `to`. */
static bool restart(dyn_adaptive *a, double t, double to)
{
    for (size_t i = 0; i < a->ode->entries; i++)
        N_VGetArrayPointer(a->y)[i] = a->ode->y[i * a->ode->W];
    return ARKStepReset(a->arkode, t, a->y) == ARK_SUCCESS && ARKStepSetStopTime(a->arkode, to) == ARK_SUCCESS;
}

/* Handles the events at which ARKODE has returned. Returns false after too many changes. */
static bool handle_events(dyn_adaptive *a, double t, double to)
{
    dyn_ode *ode = a->ode;
    if (++a->changes > MAX_CHANGES || ARKStepGetRootInfo(a->arkode, ode->roots) != ARK_SUCCESS) return false;
    ode->functions->switch_at(ode->system, t);
    return restart(a, t, to);
}

/* True if the simulation would exceed DYN_MAX_STEPS steps at the mean step length of the last WINDOW steps. */
static bool has_collapsed(dyn_adaptive *a, double t)
{
    size_t steps = a->ode->steps, taken = steps - a->began_steps;
    double step = (t - a->began) / (double)taken, left = a->ode->end - t;
    if (taken < WINDOW) return false;
    a->began_steps = steps;
    a->began       = t;
    return (double)steps + left / step > DYN_MAX_STEPS;
}

typedef struct integration {
    dyn_adaptive          *adaptive;
    dyn_interval           interval;
    double                 time; /* s, of the present state */
    dyn_integration_status status;
} integration;

/* Observes the state at the start of the interval, and starts ARKODE anew there after a break of the input. */
static dyn_integration_status begin_interval(const integration *i)
{
    dyn_adaptive *a    = i->adaptive;
    dyn_ode      *ode  = a->ode;
    const bool    anew = i->interval.starts_at_break;
    const double  t    = i->interval.from;
    if (anew || t == 0) dyn_ode_observe(ode, t, ode->y);
    if (anew && ode->n_events > 0) ode->functions->restart(ode->system, t);
    if (anew && !dyn_ode_is_sound(ode)) return DYN_INTEGRATION_FAULTY;
    if (anew && !restart(a, t, i->interval.to)) return DYN_INTEGRATION_STEP_LENGTH;
    return ARKStepSetStopTime(a->arkode, i->interval.to) == ARK_SUCCESS ? DYN_INTEGRATION_DONE
                                                                        : DYN_INTEGRATION_STEP_LENGTH;
}

/* Integrates up to the end of the interval, or until ARKODE returns before that. *more becomes true if the integration
 * can go on from there. */
static dyn_integration_status evolve(integration *i, bool *more)
{
    dyn_adaptive *a   = i->adaptive;
    dyn_ode      *ode = a->ode;
    const double  to  = i->interval.to;
    if (!dyn_may_continue(ode->deadline)) return DYN_INTEGRATION_LATE;
    int result = ARKStepEvolve(a->arkode, to, a->y, &i->time, ARK_NORMAL);
    if (result >= 0 || result == ARK_TOO_MUCH_WORK) memset(ode->fault, 0, sizeof ode->fault);
    if (!copy_state(a, i->time)) return DYN_INTEGRATION_FAULTY;
    if (result == ARK_ROOT_RETURN && !handle_events(a, i->time, to)) return DYN_INTEGRATION_EVENTS;
    if (result == ARK_ROOT_RETURN && !dyn_ode_is_sound(ode)) return DYN_INTEGRATION_FAULTY;
    *more = result == ARK_TOO_MUCH_WORK || (result == ARK_ROOT_RETURN && i->time < to);
    if (result < 0 && result != ARK_TOO_MUCH_WORK) return DYN_INTEGRATION_STEP_LENGTH;
    if (result == ARK_TOO_MUCH_WORK && has_collapsed(a, i->time)) return DYN_INTEGRATION_STEPS;
    return DYN_INTEGRATION_DONE;
}

static bool integrate(void *arg)
{
    integration *i    = arg;
    bool         more = true;
    i->status         = begin_interval(i);
    while (i->status == DYN_INTEGRATION_DONE && more)
        i->status = evolve(i, &more);
    return true;
}

dyn_integration dyn_adaptive_integrate(dyn_ode *ode, dyn_interval interval)
{
    integration i    = {.adaptive = ode->data, .interval = interval, .time = interval.from};
    bool        done = false;
    if (!dyn_sundials_run(&i.adaptive->memory, integrate, &i, &done)) i.status = DYN_INTEGRATION_SHORT;
    return (dyn_integration){i.status, i.time};
}
