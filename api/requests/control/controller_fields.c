/* controller_fields.c - lists the controllers with their fields, and reads the name and the options of one
 * (controller_fields.h). */
#include "controller_fields.h"
#include "api/codec/number.h"
#include "dynamics/control/hua_torques.h"
#include "state_feedback_fields.h"

#define FILTER 200 /* rad/s, default bandwidth of the filter on theta_d */

static const char *const pid_fields[] = {"controller", "kp", "kd", "ki", "reference", "clip", "period", "delay", NULL};
static const char *const model_fields[] = {"controller",     "kp",     "kd",    "ki",    "reference",
                                           "clip",           "period", "delay", "model", "knows_payload",
                                           "knows_friction", NULL};
static const char *const state_fields[] = {"controller", "gain_matrix", "q",     "qd", "tau",
                                           "clip",       "period",      "delay", NULL};
static const char *const state_needs[]  = {"gain_matrix", "q", NULL};
static const char *const needs[]        = {"kp", "kd", "reference", NULL};
static const char *const hua_fields[]   = {"controller", "kp", "kd", "reference", "filter", "clip", NULL};

/* Reads the bandwidth of the filter on theta_d, in rad/s. */
static void *read_hua(api_query *q, const api_node *object, const api_place *up)
{
    const api_node  *value   = api_node_get(object, "filter");
    api_place        place   = api_place_key(up, "filter");
    dyn_hua_options *options = api_take(q->pool, sizeof *options);
    if (!options) return NULL;
    options->filter = FILTER;
    if (value && !api_read_number(q, value, &place, &options->filter)) return NULL;
    if (options->filter > 0) return options;
    api_fail_at(q->problem, &place, API_BAD_VALUE, "%s given, rad/s greater than 0 expected",
                API_NUMBER_TEXT(options->filter));
    return NULL;
}

#define OF_ERRORS .needs = needs, .signal = "reference"

const api_controller api_controllers[] = {
    {.law = &dyn_controller_pid, .fields = pid_fields, OF_ERRORS},
    {.law = &dyn_controller_pd_gravity, .fields = model_fields, OF_ERRORS},
    {.law = &dyn_controller_computed_torque, .fields = model_fields, OF_ERRORS},
    {.law = &dyn_controller_pd_feed_forward, .fields = model_fields, OF_ERRORS},
    {.law = &dyn_controller_hua, .fields = hua_fields, OF_ERRORS, .read_options = read_hua},
    {.law          = &dyn_controller_state_feedback,
     .fields       = state_fields,
     .needs        = state_needs,
     .signal       = "tau",
     .read_options = api_state_feedback_read,
     .load_options = api_state_feedback_load},
    {.law = NULL},
};

static const char *name_at(const void *list, size_t i)
{
    const api_controller *controllers = list;
    return controllers[i].law->name;
}

const api_controller *api_read_controller(const api_query *q, const api_node *value, const api_place *place)
{
    api_names known = {sizeof api_controllers / sizeof *api_controllers - 1, name_at, api_controllers};
    int       i     = api_read_choice(q, value, place, "a controller", &known);
    return i >= 0 ? &api_controllers[i] : NULL;
}
