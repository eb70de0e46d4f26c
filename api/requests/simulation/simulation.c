/* simulation.c - reads a request for simulations (simulation.h). */
#include "simulation.h"
#include "dynamics/joint_stiction/stiction.h"
#include "dynamics/simulation/ode_input.h"
#include "api/requests/evaluate/loop_evaluation.h"
#include "api/codec/number.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_tolerance = 1e-13, most_tolerance = 1e-2;

static bool read_duration(const api_query *q, const api_node *fields, api_simulation *s)
{
    api_place at = api_place_key(NULL, "duration");
    if (!api_read_number(q, api_node_get(fields, "duration"), &at, &s->duration)) return false;
    return (s->duration > 0 && isfinite(1 / s->duration)) ||
           api_fail_at(q->problem, &at, API_BAD_VALUE, "%s given, a time in s greater than 0 expected",
                       API_NUMBER_TEXT(s->duration));
}

static bool read_step(const api_query *q, const api_node *value, const api_place *at, api_simulation *s)
{
    if (!api_read_number(q, value, at, &s->step)) return false;
    return (s->step > 0 && s->step <= s->duration) ||
           api_fail_at(q->problem, at, API_BAD_VALUE,
                       "%s given, a time in s expected, greater than 0 and at most the duration, %s",
                       API_NUMBER_TEXT(s->step), API_NUMBER_TEXT(s->duration));
}

static bool read_tolerance(const api_query *q, const api_node *value, const api_place *at, api_simulation *s)
{
    if (!api_read_number(q, value, at, &s->tolerance)) return false;
    return (s->tolerance >= least_tolerance && s->tolerance <= most_tolerance) ||
           api_fail_at(q->problem, at, API_BAD_VALUE, "%s given, a relative error from %g to %g expected",
                       API_NUMBER_TEXT(s->tolerance), least_tolerance, most_tolerance);
}

/* Reads the integrator, and the fields that it needs or accepts. */
static bool read_integrator(const api_query *q, const api_node *fields, api_simulation *s)
{
    const api_node *step = api_node_get(fields, "step"), *tolerance = api_node_get(fields, "tolerance");
    api_place       step_at = api_place_key(NULL, "step"), tolerance_at = api_place_key(NULL, "tolerance");
    s->integrator = api_integrator_read(q, fields);
    return s->integrator && (!step || read_step(q, step, &step_at, s)) &&
           (!tolerance || read_tolerance(q, tolerance, &tolerance_at, s));
}

/* --- intervals ---------------------------------------------------------------------------------------------------- */

/* Checks that sample times do not decrease. */
static bool check_order(const api_query *q, const api_sampling *sampling)
{
    api_place at = api_place_key(NULL, "times");
    for (size_t n = 1; sampling->times && n < sampling->n; n++) {
        api_place entry_at = api_place_index(&at, n);
        if (sampling->times[n] < sampling->times[n - 1])
            return api_fail_at(q->problem, &entry_at, API_BAD_VALUE, "%s s given after %s s: sort the times",
                               API_NUMBER_TEXT(sampling->times[n]), API_NUMBER_TEXT(sampling->times[n - 1]));
    }
    return true;
}

static void put_boundary(api_simulation *s, double time, bool is_break)
{
    if (time > s->boundaries[s->n_boundaries - 1]) {
        s->boundaries[s->n_boundaries] = time;
        s->is_break[s->n_boundaries++] = false;
    }
    s->is_break[s->n_boundaries - 1] |= is_break;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Writes the times before `last` at which signals are not smooth to `breaks` (NULL: counts only), sorted within each
 * signal. Returns their number. */
static size_t find_breaks(const api_simulation *s, double last, double *breaks)
{
    size_t n = s->input.is_given ? dyn_signal_breaks(&s->input.signal.curve, last, breaks) : 0;
    for (size_t i = 0; i < s->wrenches.n; i++)
        n += dyn_signal_breaks(&s->wrenches.signal[i].signal.curve, last, breaks ? breaks + n : NULL);
    n += dyn_ode_sampling_times(s->input.sampling, last, breaks ? breaks + n : NULL);
    if (s->prescribed.n > 0) n += dyn_signal_breaks(&s->prescribed.motion.curve, last, breaks ? breaks + n : NULL);
    return n;
}

/* Merges samples and breaks into the boundaries. A break that differs from a sample by rounding moves to the sample. */
static bool find_boundaries(api_query *q, api_simulation *s)
{
    double  last  = api_sample_time(&s->sampling, s->sampling.n - 1, s->duration);
    double  close = 8 * DBL_EPSILON * s->duration;
    size_t  n = find_breaks(s, last, NULL), most = n + s->sampling.n + 1, k = 0;
    double *breaks = api_take(q->pool, most * sizeof *breaks);
    s->boundaries  = api_take(q->pool, most * sizeof *s->boundaries);
    s->is_break    = api_take(q->pool, most * sizeof *s->is_break);
    if (!breaks || !s->boundaries || !s->is_break) return false;
    find_breaks(s, last, breaks);
    qsort(breaks, n, sizeof *breaks, compare_times);
    s->boundaries[0] = 0;
    s->is_break[0]   = false;
    s->n_boundaries  = 1;
    for (size_t i = 0; i < s->sampling.n; i++) {
        double time = api_sample_time(&s->sampling, i, s->duration);
        for (; k < n && breaks[k] < time - close; k++)
            put_boundary(s, breaks[k] > s->boundaries[s->n_boundaries - 1] + close ? breaks[k] : 0, true);
        put_boundary(s, time, k < n && breaks[k] < time + close);
    }
    return true;
}

static bool check_steps(const api_query *q, const api_simulation *s)
{
    double    steps = 0;
    api_place at    = api_place_key(NULL, "step");
    for (size_t i = 1; s->integrator->count_steps && i < s->n_boundaries; i++)
        steps += s->integrator->count_steps(s->step, s->boundaries[i] - s->boundaries[i - 1]);
    return steps <= DYN_MAX_STEPS ||
           api_fail_at(q->problem, &at, API_TOO_MANY_STEPS,
                       "%s steps of %s s are needed, the limit is %d: choose a longer step or "
                       "a shorter duration",
                       API_NUMBER_TEXT(steps), API_NUMBER_TEXT(s->step), DYN_MAX_STEPS);
}

/* Refuses fields that rigid contacts do not work with. */
static bool check_rigid(const api_query *q, const api_simulation *s)
{
    const api_place step = api_place_key(NULL, "step"), frames = api_place_key(NULL, "held"),
                    prescribed = api_place_key(NULL, "prescribed");
    if (s->ground.n_rigid == 0) return true;
    if (!s->integrator->locates_events)
        return api_fail_at(
            q->problem, &step, API_NOT_SUPPORTED,
            "the events of rigid contacts need an integrator that locates them: give a tolerance instead "
            "of a step, or give the contacts a stiffness");
    if (s->contact)
        return api_fail_at(
            q->problem, &frames, API_NOT_SUPPORTED,
            "frames cannot be held beside rigid contacts: give the contacts a stiffness, or leave held out");
    return s->prescribed.n == 0 ||
           api_fail_at(
               q->problem, &prescribed, API_NOT_SUPPORTED,
               "coordinates cannot have a prescribed motion beside rigid contacts: give the contacts a stiffness, "
               "or move the coordinates by a controller");
}

/* --- public functions --------------------------------------------------------------------------------------------- */

api_simulation *api_simulation_read(api_query *q, const api_node *fields)
{
    api_simulation *s = api_take(q->pool, sizeof *s);
    if (!s) return NULL;
    *s = (api_simulation){.duration = 0};
    if (!read_duration(q, fields, s) || !read_integrator(q, fields, s) ||
        !api_sampling_read(q, fields, s->duration, "a simulation", &s->sampling) || !check_order(q, &s->sampling) ||
        !api_prescribed_read(q, fields, s->duration, &s->prescribed) ||
        !api_actuator_input_read(q, api_node_get(fields, "input"), s->duration, s->prescribed.mask, &s->input) ||
        !api_wrench_signals_read(q, s->duration, s->duration, &s->wrenches) ||
        !api_joint_limits_list(q, &s->input, &s->limits) || !api_contact_read(q, fields, NULL, &s->contact) ||
        !api_contact_read_damping(q, fields, NULL, s->contact, &s->damping) ||
        !api_contact_points_read(q, fields, &s->ground) || !find_boundaries(q, s) || !check_steps(q, s))
        return NULL;
    q->samples = s->sampling.n;
    return check_rigid(q, s) ? s : NULL;
}

/* Refuses integrators that stop joints by sharp friction if a motor of a coupled transmission has such friction: that
 * would stop a combination of joints. */
static bool check_sharp_drives(const api_query *q, const api_simulation *s)
{
    const dyn_model *m     = q->scene.model;
    size_t           drive = 0;
    while (drive < m->n_drives && !dyn_stiction_is_possible_of(&m->drive[drive]))
        drive++;
    if (drive == m->n_drives || !s->integrator->locates_events || !(q->scene.terms & DYN_FRICTION)) return true;
    return api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                    "the sharp Coulomb friction of motor %.64s holds several joints together, which this integrator "
                    "cannot stop: give the motor a coulomb_velocity, or take fixed steps",
                    q->model->mover_names[dyn_drive_mover(m, drive)]);
}

static bool check_load(const api_query *q, const api_simulation *s)
{
    if (q->model->loops && s->contact && api_has_load(q))
        return api_fail_load(q, "a simulation with loops and held frames");
    return !s->input.controller || !s->input.controller->has_no_load || !api_has_load(q) ||
           api_fail_load(q, s->input.controller->name);
}

/* Refuses friction that rigid contacts do not work with: joints that stick, and friction that depends on the load. */
static bool check_rigid_friction(const api_query *q, const api_simulation *s)
{
    const dyn_model *m     = q->scene.model;
    bool             sharp = false;
    if (s->ground.n_rigid == 0 || !(q->scene.terms & DYN_FRICTION)) return true;
    if (api_has_load(q)) return api_fail_load(q, "a simulation with rigid contacts");
    for (size_t i = 0; i < m->n_bodies; i++)
        sharp = sharp || dyn_stiction_is_possible(&m->body[i]);
    for (size_t i = 0; i < m->n_drives; i++)
        sharp = sharp || dyn_stiction_is_possible_of(&m->drive[i]);
    return !sharp ||
           api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                    "joints that stick by sharp Coulomb friction cannot be simulated beside rigid contacts: give "
                    "their friction a coulomb_velocity, leave it out by \"friction\": false, or give the "
                    "contacts a stiffness");
}

/* Refuses a model for the controller alone together with held frames: controllers find the wrenches of these frames on
 * the simulated robot. */
static bool check_controller_model(const api_query *q, const api_simulation *s)
{
    const api_place input = api_place_key(NULL, "input"), model = api_place_key(&input, "model");
    return !s->input.model || !s->contact ||
           api_fail_at(q->problem, &model, API_NOT_SUPPORTED,
                       "a controller has no model of its own beside held frames: leave out model or held");
}

bool api_simulation_prepare(api_plan *plan, api_simulation *s)
{
    if (!check_rigid_friction(plan->query, s) || !check_sharp_drives(plan->query, s) || !check_load(plan->query, s) ||
        !check_controller_model(plan->query, s))
        return false;
    size_t entries = plan->query->model->nv;
    if (!plan->state[API_QD]) {
        plan->state[API_QD] = api_take_lanes(plan, entries);
        if (!plan->state[API_QD]) return false;
        memset(plan->state[API_QD], 0, plan->blocks * plan->lanes * entries * sizeof(double));
    }
    if (plan->query->model->loops && !(plan->passive = api_take_lanes(plan, plan->query->model->loops->n_passive_q)))
        return false;
    return api_contact_points_list(plan->query, &s->ground) && api_actuator_input_load(plan->query, &s->input) &&
           api_wrench_signals_load(plan->query, &s->wrenches) && api_prescribed_load(plan, &s->prescribed);
}
