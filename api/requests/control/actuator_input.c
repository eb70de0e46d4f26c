/* actuator_input.c - reads the input of a simulation (actuator_input.h). */
#include "actuator_input.h"
#include "controller_fields.h"
#include "controller_model.h"
#include "api/codec/number.h"
#include "dynamics/simulation/ode_input.h"
#include <math.h>
#include <string.h>

static const char *const torque_fields[] = {"tau", "controller", NULL};

static bool need(const api_query *q, const api_node *fields, const char *key, const api_place *up)
{
    api_place where = api_place_key(up, key);
    return api_node_get(fields, key) ||
           api_fail_at(q->problem, &where, API_MISSING_FIELD, "a controller needs its %s", key);
}

/* Reads gains of a kind, if the request has them: one per velocity, or one number for all. Refuses 0 for a gain that
 * the controller divides by. */
static bool read_gains(api_query *q, const api_node *fields, dyn_gain which, const api_place *up, api_actuator_input *d)
{
    static const char *const keys[]  = {"kp", "kd", "ki"};
    const bool               divides = which == DYN_KD && d->controller->divides_by_kd;
    const api_node          *value   = api_node_get(fields, keys[which]);
    const bool               alone   = api_node_is(value, API_NUMBER);
    const size_t             nv      = q->model->nv;
    api_place                where   = api_place_key(up, keys[which]);
    if (!value) return true;
    double *gains            = api_take(q->pool, (nv > 0 ? nv : 1) * sizeof *gains);
    d->gain_is_scalar[which] = alone;
    d->gains[which]          = gains;
    if (!gains || !(alone ? api_read_number(q, value, &where, gains) : api_read_numbers(q, value, &where, nv, gains)))
        return false;
    for (size_t i = 0; i < (alone ? 1 : nv); i++) {
        api_place entry_at = alone ? where : api_place_index(&where, i);
        if (!(gains[i] >= 0) || (divides && gains[i] == 0))
            return api_fail_at(q->problem, &entry_at, API_BAD_VALUE, "%s given, a gain %s 0 expected",
                               API_NUMBER_TEXT(gains[i]), divides ? "greater than" : "of at least");
    }
    return true;
}

/* --- coordinates ------------------------------------------------------------------------------------------------ */

dyn_speed_line api_speed_line(const api_drive_limits *limits)
{
    return (dyn_speed_line){limits->has_effort_speed ? limits->stall_effort : INFINITY, limits->speed_slope};
}

/* Finds the effort limits of each coordinate. An elastic joint's limit applies to its motor's coordinate. */
static bool describe(api_query *q, api_actuator_input *d)
{
    const api_model *m = q->model;
    d->coordinate      = api_take(q->pool, m->nv * sizeof *d->coordinate);
    d->motor           = api_take(q->pool, m->nv * sizeof *d->motor);
    d->effort_limit    = api_take(q->pool, m->nv * sizeof *d->effort_limit);
    d->line            = api_take(q->pool, m->nv * sizeof *d->line);
    if (!d->coordinate || !d->motor || !d->effort_limit || !d->line) return false;
    api_coordinates_describe(m, d->coordinate);
    for (size_t v = 0; v < m->nv; v++) {
        const api_coordinate *c = &d->coordinate[v];
        d->motor[v]             = c->motor;
        static const api_drive_limits none;
        const api_drive_limits       *limits = c->joint >= 0 && c->motor < 0 ? &m->joints[c->joint].limits : &none;
        d->effort_limit[v]                   = limits->has_effort ? limits->effort : INFINITY;
        d->line[v]                           = api_speed_line(limits);
    }
    return true;
}

bool api_actuator_input_drives(const api_model *m, const api_actuator_input *d, const api_coupled_motor *motor)
{
    for (size_t j = 0; j < motor->drive->n; j++) {
        const int v = api_model_coordinate(m, motor->drive->joint[j]);
        if (v < 0 || !d->coordinate[v].actuated || (d->prescribed && d->prescribed[v])) return false;
    }
    return true;
}

/* Finds the coordinates that a controller drives, and sets *n to their number. `actuated`, `driven` and `supported`
 * stay NULL if the controller drives all coordinates. */
static bool find_actuated(api_query *q, api_actuator_input *d, size_t *n)
{
    size_t nv       = q->model->nv;
    bool  *actuated = api_take(q->pool, nv * sizeof *actuated), *supported = api_take(q->pool, nv * sizeof *supported);
    bool  *driven = api_take(q->pool, nv * sizeof *driven);
    if (!actuated || !supported || !driven) return false;
    *n = 0;
    for (size_t v = 0; v < nv; v++) {
        bool prescribed = d->prescribed && d->prescribed[v];
        actuated[v]     = d->coordinate[v].actuated && !prescribed;
        driven[v]       = actuated[v] || prescribed;
        supported[v]    = driven[v] || d->coordinate[v].motor >= 0;
        *n += actuated[v];
    }
    if (*n == nv) return true;
    d->actuated  = actuated;
    d->driven    = driven;
    d->supported = supported;
    return true;
}

/* Checks that the controller can drive this robot, which has n actuated coordinates. */
static bool check_coordinates(const api_query *q, const api_place *where, const api_actuator_input *d, size_t n)
{
    const char *name = d->controller->name;
    for (size_t v = 0; v < q->model->nv; v++) {
        const api_coordinate *c          = &d->coordinate[v];
        bool                  passive    = c->joint < 0 || !q->model->joints[c->joint].actuated;
        bool                  prescribed = d->prescribed && d->prescribed[v];
        const char           *joint      = api_coordinate_joint(q->model, c);
        if (prescribed && d->controller->fully_actuated)
            return api_fail_at(q->problem, where, API_NOT_SUPPORTED, "%.64s is prescribed: %s drives all joints", joint,
                               name);
        if (c->actuated && c->position < 0 && !d->controller->drives_quaternions)
            return api_fail_at(q->problem, where, API_NOT_SUPPORTED,
                               "%.64s is actuated and has a quaternion: %s drives only planar joints and joints with "
                               "one coordinate, state_feedback all",
                               joint, name);
        if (passive && d->controller->fully_actuated)
            return api_fail_at(q->problem, where, API_NOT_SUPPORTED,
                               "%.64s is not actuated: %s needs a robot whose joints are all actuated", joint, name);
    }
    return n > 0 || api_fail_at(q->problem, where, API_NOT_SUPPORTED, "%.64s has no actuated joint that %s could drive",
                                q->model->name, name);
}

/* --- controllers ------------------------------------------------------------------------------------------------ */

static bool read_robot(api_query *q, const api_place *where, api_actuator_input *d)
{
    size_t n = 0;
    if ((d->controller->states || d->controller->rigid) && q->model->loops)
        return api_fail_at(q->problem, where, API_NOT_FOR_LOOPS, "%s is for robots without loops", d->controller->name);
    if (d->controller->rigid && q->model->dyn->n_couplings > 0)
        return api_fail_at(q->problem, where, API_NOT_SUPPORTED,
                           "%.64s has elastic joints: %s is for robots without; computed_torque and hua drive them",
                           q->model->name, d->controller->name);
    return find_actuated(q, d, &n) && check_coordinates(q, where, d, n);
}

/* Reads a time in s that is at least `least`, and at most the duration. */
static bool read_time(const api_query *q, const api_node *fields, const char *key, const api_place *up, double most,
                      double *to)
{
    const api_node *value = api_node_get(fields, key);
    const api_place where = api_place_key(up, key);
    if (!value) return true;
    return api_read_number(q, value, &where, to) &&
           ((*to >= 0 && *to <= most) ||
            api_fail_at(q->problem, &where, API_BAD_VALUE, "%s given, a time in s from 0 to the duration, %s, expected",
                        API_NUMBER_TEXT(*to), API_NUMBER_TEXT(most)));
}

static bool read_sampling(const api_query *q, const api_node *fields, const api_place *up, double duration,
                          dyn_sampling *s)
{
    const api_place period_at = api_place_key(up, "period"), delay_at = api_place_key(up, "delay");
    if (!read_time(q, fields, "period", up, duration, &s->period) ||
        !read_time(q, fields, "delay", up, duration, &s->delay))
        return false;
    if (api_node_get(fields, "period") && s->period == 0)
        return api_fail_at(q->problem, &period_at, API_BAD_VALUE,
                           "0 given, s between two samples expected: leave it out for a continuous controller");
    if (s->delay > 0 && s->period == 0)
        return api_fail_at(q->problem, &period_at, API_MISSING_FIELD, "a controller with a delay needs its period");
    if (s->period > 0 && duration / s->period > DYN_MAX_SAMPLES)
        return api_fail_at(q->problem, &period_at, API_TOO_MANY_STEPS,
                           "%s samples are needed, the limit is %d: choose a longer period or a shorter duration",
                           API_NUMBER_TEXT(duration / s->period), DYN_MAX_SAMPLES);
    return s->delay <= DYN_MAX_PENDING * s->period ||
           api_fail_at(q->problem, &delay_at, API_BAD_VALUE, "%s given, at most %d periods expected",
                       API_NUMBER_TEXT(s->delay), DYN_MAX_PENDING);
}

/* Reads which model the controller uses, and whether it has the payload and the friction of the robot. */
static bool read_knowledge(api_query *q, const api_node *fields, const api_place *up, api_actuator_input *d)
{
    const api_place payload_at = api_place_key(up, "knows_payload"), friction_at = api_place_key(up, "knows_friction");
    d->knows_friction = true;
    return api_read_flag(q, api_node_get(fields, "knows_payload"), &payload_at, &d->knows_payload) &&
           api_read_flag(q, api_node_get(fields, "knows_friction"), &friction_at, &d->knows_friction) &&
           api_controller_model_read(q, fields, up, d);
}

static bool read_options(api_query *q, const api_controller *controller, const api_node *fields, const api_place *up,
                         api_actuator_input *d)
{
    if (controller->read_options) d->options = controller->read_options(q, fields, up);
    return !controller->read_options || d->options;
}

/* Reads nv numbers over time; zeros, if there is no value. */
static bool read_signal(api_query *q, const api_node *value, const api_place *where, double duration, api_signal *to)
{
    const api_signal_form form = {.duration = duration, .reach = duration};
    return value ? api_signal_read(q, value, where, &form, to) : api_signal_make_zero(q, &form, to);
}

static bool read_controlled(api_query *q, const api_node *fields, const api_place *up, double duration,
                            api_actuator_input *d)
{
    api_place             where = api_place_key(up, "controller"), clip_at = api_place_key(up, "clip");
    const api_controller *controller = api_read_controller(q, api_node_get(fields, "controller"), &where);
    if (!controller) return false;
    const api_place signal_at = api_place_key(up, controller->signal);
    d->clip                   = true;
    d->controller             = controller->law;
    d->fields                 = controller;
    if (!read_robot(q, &where, d) || !api_check_keys(q, fields, up, controller->fields, d->controller->name))
        return false;
    for (size_t i = 0; controller->needs[i]; i++)
        if (!need(q, fields, controller->needs[i], up)) return false;
    return read_gains(q, fields, DYN_KP, up, d) && read_gains(q, fields, DYN_KD, up, d) &&
           read_gains(q, fields, DYN_KI, up, d) && read_sampling(q, fields, up, duration, &d->sampling) &&
           read_knowledge(q, fields, up, d) && read_options(q, controller, fields, up, d) &&
           api_read_flag(q, api_node_get(fields, "clip"), &clip_at, &d->clip) &&
           read_signal(q, api_node_get(fields, controller->signal), &signal_at, duration, &d->signal);
}

bool api_actuator_input_read(api_query *q, const api_node *value, double duration, const bool *prescribed,
                             api_actuator_input *d)
{
    api_place where = api_place_key(NULL, "input"), tau_at = api_place_key(&where, "tau");
    *d = (api_actuator_input){.is_given = value != NULL, .prescribed = prescribed};
    if (!describe(q, d)) return false;
    if (!value) return true;
    if (api_node_get(value, "controller")) return read_controlled(q, value, &where, duration, d);
    if (!api_check_keys(q, value, &where, torque_fields, "input without a controller")) return false;
    if (!api_node_get(value, "tau"))
        return api_fail_at(q->problem, &where, API_MISSING_FIELD,
                           "input needs tau, or a controller with kp, kd and reference");
    return read_signal(q, api_node_get(value, "tau"), &tau_at, duration, &d->signal);
}

/* Replaces gains in the request's order by gains in the model's order. */
static bool load_gains(const api_query *q, double **gains, bool alone)
{
    size_t  nv     = q->model->nv;
    double *loaded = api_take(q->pool, nv * sizeof *loaded);
    for (size_t i = 0; loaded && i < nv; i++)
        loaded[q->order ? (size_t)q->order[i] : i] = (*gains)[alone ? 0 : i];
    *gains = loaded;
    return loaded != NULL;
}

/* Returns the reason for which the request cannot set the torque of a coordinate; NULL: it can. */
static const char *refuses_torque(const api_actuator_input *d, size_t v)
{
    if (d->prescribed && d->prescribed[v]) return "is prescribed, so that its effort is computed";
    return d->controller && d->actuated && !d->actuated[v] ? "has no actuator that the controller drives" : NULL;
}

/* Checks all numbers of a signal of torques that add to a torque: they are 0 where the request cannot choose it. */
static bool check_torques(const api_query *q, const api_actuator_input *d, const api_place *where)
{
    static const dyn_sine_part parts[] = {DYN_SINE_AMPLITUDE, DYN_SINE_OFFSET};
    size_t                     nv      = q->model->nv;
    if (d->fields && strcmp(d->fields->signal, "tau") != 0) return true;
    for (size_t k = 0; k < 2; k++) {
        const dyn_points *points = &d->signal.curve.parts[parts[k]];
        size_t            n      = points->numbers ? (points->batch ? q->rows : 1) * points->n * nv : 0;
        for (size_t i = 0; (d->prescribed || d->actuated) && i < n; i++) {
            const char *why = points->numbers[i] != 0 ? refuses_torque(d, i % nv) : NULL;
            if (why)
                return api_fail_at(q->problem, where, API_BAD_VALUE, "%.64s %s: a torque of 0 expected",
                                   q->model->velocity_names[i % nv], why);
        }
    }
    return true;
}

bool api_actuator_input_load(const api_query *q, api_actuator_input *d)
{
    for (int i = 0; d->controller && i < DYN_GAINS; i++)
        if (d->gains[i] && !load_gains(q, &d->gains[i], d->gain_is_scalar[i])) return false;
    api_place where = api_place_key(NULL, "input"), tau_at = api_place_key(&where, "tau");
    if (d->fields && d->fields->load_options && !d->fields->load_options(q, &where, d->actuated, d->options))
        return false;
    return !d->is_given || (api_signal_load(q, &where, &d->signal) && check_torques(q, d, &tau_at));
}
