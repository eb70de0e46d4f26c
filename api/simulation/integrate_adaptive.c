/* integrate_adaptive.c - steps that keep a tolerance, with ARKODE: see integrate.h. */
#include "integrate.h"
#include "ode_bounds.h"
#include "ode_limits.h"
#include "ode_stiction.h"
#include "stiction_events.h"
#include <arkode/arkode_arkstep.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

enum {
    LOOK    = 512 /* coordinates to step between two looks at the deadline */,
    VECTORS = 48 /* that ARKODE has at most, of y's size */
};

enum { MOST_CHANGES = 1000000 /* from sliding to sticking and back */, WINDOW = 50000 /* steps that set a pace */ };

#define SLOW 1e-3 /* rad/s or m/s */

struct api_adaptive {
    api_ode        *plant;
    SUNContext      context;
    N_Vector        y;
    SUNMatrix       jacobian;
    SUNLinearSolver solver;
    void           *arkode;
    size_t          changes;     /* of joints that stick or slide */
    size_t          began_steps; /* where the window of steps began, and when */
    double          began;
};

size_t api_adaptive_bytes(const api_ode *p)
{
    size_t n = p->entries, matrices = p->s->stiff ? 2 * n * n : 0;
    return (VECTORS * (n + 32) + matrices + 4096) * sizeof(double);
}

/* --- what ARKODE asks ------------------------------------------------------------------------------------------- */

static void spread(const api_ode *p, const double *y, double *lanes)
{
    size_t W = p->W;
    for (size_t i = 0; i < p->entries; i++)
        for (size_t l = 0; l < W; l++)
            lanes[i * W + l] = y[i];
}

static int rate(realtype t, N_Vector y, N_Vector to, void *arg)
{
    api_ode *p   = arg;
    double  *out = N_VGetArrayPointer(to);
    spread(p, N_VGetArrayPointer(y), p->at);
    memset(p->fault, 0, sizeof p->fault);
    api_ode_rate(p, t, p->at, p->slope[0]);
    for (size_t i = 0; i < p->entries; i++) {
        out[i] = p->slope[0][i * p->W];
        if (!isfinite(out[i])) return 1; /* a shorter step may do */
    }
    return p->fault[0].kind == API_FAULT_NONE ? 0 : 1;
}

/* Work has no part in the choice of steps, whether it is asked for or not, but where motion is prescribed: there the
 * state may be easy to integrate while the efforts are not. */
static int weigh(N_Vector y, N_Vector to, void *arg)
{
    const api_ode *p = arg;
    const double  *v = N_VGetArrayPointer(y);
    double        *w = N_VGetArrayPointer(to);
    size_t         n = p->entries - (p->prescribed ? 0 : API_WORKS);
    for (size_t i = 0; i < n; i++)
        w[i] = sqrt((double)p->entries / (double)n) / (p->s->tolerance * (1 + fabs(v[i])));
    for (size_t i = n; i < p->entries; i++)
        w[i] = 1e-200;
    return 0;
}

static int margins(realtype t, N_Vector y, realtype *to, void *arg)
{
    api_ode *p = arg;
    spread(p, N_VGetArrayPointer(y), p->at);
    api_stiction_events_margins(p, t, p->at, to);
    return 0;
}

static int project(realtype t, N_Vector y, void *arg)
{
    api_ode *p = arg;
    api_ode_normalize(p, N_VGetArrayPointer(y), 1, 1);
    api_ode_finish_step(p, t, N_VGetArrayPointer(y), 1, 1);
    spread(p, N_VGetArrayPointer(y), p->at);
    api_ode_limits_evaluate(p, t, p->at);
    return 0;
}

/* Columns of the Jacobian by differences, as many at once as there are lanes. Nothing depends on the work done. */
static int differentiate(realtype t, N_Vector y, N_Vector now, SUNMatrix to, void *arg, N_Vector a, N_Vector b,
                         N_Vector c)
{
    (void)a, (void)b, (void)c;
    api_ode      *p = arg;
    const double *v = N_VGetArrayPointer(y), *f = N_VGetArrayPointer(now);
    size_t        W = p->W, n = p->entries - API_WORKS;
    double        increment[DYN_MAX_LANES];
    for (size_t first = 0; first < n; first += W) {
        spread(p, v, p->at);
        for (size_t l = 0; l < W && first + l < n; l++) {
            double *entry = &p->at[(first + l) * W + l];
            double  moved = *entry + 1.5e-8 * (1 + fabs(*entry));
            increment[l]  = moved - *entry;
            *entry        = moved;
        }
        api_ode_rate(p, t, p->at, p->slope[0]);
        for (size_t l = 0; l < W && first + l < n; l++)
            for (size_t i = 0; i < p->entries; i++)
                SM_ELEMENT_D(to, i, first + l) = (p->slope[0][i * W + l] - f[i]) / increment[l];
    }
    return 0;
}

/* What goes wrong is said by what ARKODE returns. */
static void silent(int code, const char *module, const char *function, char *message, void *arg)
{
    (void)code, (void)module, (void)function, (void)message, (void)arg;
}

/* --- opening ---------------------------------------------------------------------------------------------------- */

/* Newton's method goes with a matrix of the step's own length: ARKODE would keep one of up to a fifth longer or
 * shorter, and takes the first iteration for good where earlier ones were, which at ends of steps cut short it is not.
 */
static bool choose_method(api_adaptive *a)
{
    sunindextype n = (sunindextype)a->plant->entries;
    if (!a->plant->s->stiff)
        return ARKStepSetTableNum(a->arkode, ARKODE_DIRK_NONE, ARKODE_DORMAND_PRINCE_7_4_5) == ARK_SUCCESS;
    a->jacobian = SUNDenseMatrix(n, n, a->context);
    a->solver   = a->jacobian ? SUNLinSol_Dense(a->y, a->jacobian, a->context) : NULL;
    return a->solver && ARKStepSetTableNum(a->arkode, ARKODE_ESDIRK547L2SA2_7_4_5, ARKODE_ERK_NONE) == ARK_SUCCESS &&
           ARKStepSetLinearSolver(a->arkode, a->solver, a->jacobian) == ARK_SUCCESS &&
           ARKStepSetJacFn(a->arkode, differentiate) == ARK_SUCCESS &&
           ARKStepSetDeltaGammaMax(a->arkode, 1e-14) == ARK_SUCCESS;
}

static bool set_up(api_adaptive *a)
{
    bool stiff = a->plant->s->stiff;
    if (SUNContext_Create(NULL, &a->context) != 0) return false;
    a->y = N_VNew_Serial((sunindextype)a->plant->entries, a->context);
    if (!a->y) return false;
    for (size_t i = 0; i < a->plant->entries; i++)
        N_VGetArrayPointer(a->y)[i] = a->plant->y[i * a->plant->W];
    a->arkode = ARKStepCreate(stiff ? NULL : rate, stiff ? rate : NULL, 0, a->y, a->context);
    return a->arkode && ARKStepSetErrHandlerFn(a->arkode, silent, NULL) == ARK_SUCCESS &&
           ARKStepSetUserData(a->arkode, a->plant) == ARK_SUCCESS &&
           ARKStepWFtolerances(a->arkode, weigh) == ARK_SUCCESS &&
           ARKStepSetMaxNumSteps(a->arkode, 1 + LOOK / (long)a->plant->e->model->nv) == ARK_SUCCESS &&
           ARKStepSetMinStep(a->arkode, 1e-9 * a->plant->s->duration) == ARK_SUCCESS &&
           ARKStepSetPostprocessStepFn(a->arkode, project) == ARK_SUCCESS &&
           ARKStepRootInit(a->arkode, (int)api_ode_stiction_count(a->plant), margins) == ARK_SUCCESS &&
           choose_method(a);
}

api_adaptive *api_adaptive_open(api_ode *p, api_problem *problem)
{
    api_adaptive *a = calloc(1, sizeof *a);
    if (a) a->plant = p;
    if (a && set_up(a)) return a;
    api_adaptive_close(a);
    api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the integrator of a simulation");
    return NULL;
}

void api_adaptive_close(api_adaptive *a)
{
    if (!a) return;
    if (a->arkode) ARKStepFree(&a->arkode);
    if (a->solver) SUNLinSolFree(a->solver);
    if (a->jacobian) SUNMatDestroy(a->jacobian);
    if (a->y) N_VDestroy(a->y);
    if (a->context) SUNContext_Free(&a->context);
    free(a);
}

/* --- going ------------------------------------------------------------------------------------------------------ */

/* Where ARKODE is now is where the plant is. */
static bool look(api_adaptive *a, double t, api_problem *problem)
{
    api_ode *p     = a->plant;
    long     steps = 0;
    ARKStepGetNumSteps(a->arkode, &steps);
    p->steps = (size_t)steps;
    spread(p, N_VGetArrayPointer(a->y), p->y);
    api_ode_normalize(p, p->y, p->W, p->W);
    api_ode_check_range(p, t);
    return api_ode_check_all(p, problem);
}

/* The joint that is slowest, of those whose friction jumps where it stops; -1: there is none, or it is not slow. */
static int sticking(const api_ode *p)
{
    const dyn_model *m        = p->e->scene.model;
    const double    *qd       = p->closed ? api_loop_tree_qd(p->closed) : p->y + p->e->model->nq * p->W;
    double           slowest  = SLOW;
    int              sticking = -1;
    for (size_t i = 0; i < m->n_bodies && p->e->scene.terms & DYN_FRICTION; i++) {
        const dyn_body *b = &m->body[i];
        if (!api_stiction_is_possible(b)) continue;
        double speed = fabs(b->ratio * qd[(size_t)b->v * p->W]);
        if (speed >= slowest) continue;
        slowest  = speed;
        sticking = (int)i;
    }
    return sticking;
}

/* ", while <joint> accelerates by ...": where the motion is roughest. */
static void write_worst(const api_adaptive *a, double t, char *text, size_t size)
{
    double acceleration;
    int    worst = api_ode_bounds_find_worst(a->plant, t, &acceleration);
    text[0]      = '\0';
    if (worst >= 0)
        snprintf(text, size, ", while %.64s accelerates by %.3g rad/s^2 or m/s^2",
                 a->plant->e->model->velocity_names[worst], acceleration);
}

static bool fail(const api_adaptive *a, double t, const char *why, api_problem *problem)
{
    const api_ode *p     = a->plant;
    int            joint = p->stick ? -1 : sticking(p);
    char           advice[300], worst[160];
    write_worst(a, t, worst, sizeof worst);
    if (joint >= 0)
        snprintf(advice, sizeof advice,
                 "the joint %.64s stops, where its Coulomb friction jumps: give it a coulomb_velocity, well below the "
                 "speeds that matter, or take fixed steps",
                 api_joint_of(p->e->model, joint));
    else
        snprintf(advice, sizeof advice, "give a larger one, or take fixed steps%s",
                 p->s->stiff ? "" : ", or \"stiff\": true");
    api_fail(problem, API_INTEGRATION_FAILED, NULL, "at %.9g s the tolerance of %g cannot be kept%s%s: %s", t,
             p->s->tolerance, why, worst, advice);
    if (p->e->batched) problem->row = (long long)p->row[0];
    return false;
}

/* ARKODE goes on from where the plant is now, and to that time. */
static bool go_on(api_adaptive *a, double t, double to)
{
    for (size_t i = 0; i < a->plant->entries; i++)
        N_VGetArrayPointer(a->y)[i] = a->plant->y[i * a->plant->W];
    return ARKStepReset(a->arkode, t, a->y) == ARK_SUCCESS && ARKStepSetStopTime(a->arkode, to) == ARK_SUCCESS;
}

/* Some joints begin or end to stick. */
static bool change(api_adaptive *a, double t, double to)
{
    api_ode *p = a->plant;
    if (++a->changes > MOST_CHANGES || ARKStepGetRootInfo(a->arkode, p->stick->roots) != ARK_SUCCESS) return false;
    api_stiction_events_switch(p, t);
    return go_on(a, t, to);
}

/* Whether the rest of the simulation would take too many steps at the pace of the last WINDOW of them. */
static bool has_collapsed(api_adaptive *a, double t)
{
    const api_simulation *s     = a->plant->s;
    size_t                steps = a->plant->steps, taken = steps - a->began_steps;
    double                step = (t - a->began) / (double)taken, left = s->cuts[s->n_cuts - 1] - t;
    if (taken < WINDOW) return false;
    a->began_steps = steps;
    a->began       = t;
    return (double)steps + left / step > API_MAX_STEPS;
}

bool api_integrate_adaptive(api_adaptive *a, double from, double to, bool anew, api_problem *problem)
{
    double t = from;
    if (anew || from == 0) api_ode_limits_evaluate(a->plant, from, a->plant->y);
    if (anew && a->plant->stick) api_stiction_events_restart(a->plant, from);
    if (anew && !go_on(a, from, to)) return fail(a, t, "", problem);
    if (ARKStepSetStopTime(a->arkode, to) != ARK_SUCCESS) return fail(a, t, "", problem);
    for (;;) {
        if (!api_deadline_check(a->plant->e->input->deadline, problem)) return false;
        int result = ARKStepEvolve(a->arkode, to, a->y, &t, ARK_NORMAL);
        if (result >= 0 || result == ARK_TOO_MUCH_WORK) memset(a->plant->fault, 0, sizeof a->plant->fault);
        if (!look(a, t, problem)) return false;
        if (result == ARK_ROOT_RETURN && !change(a, t, to)) return fail(a, t, " where joints begin to stick", problem);
        if (result == ARK_ROOT_RETURN && t < to) continue;
        if (result >= 0) return true;
        if (result != ARK_TOO_MUCH_WORK) return fail(a, t, "", problem);
        if (has_collapsed(a, t)) return fail(a, t, " within 10 million steps", problem);
    }
}
