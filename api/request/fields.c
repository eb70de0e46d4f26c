/* fields.c - the fields of a request: their names, small values, and what surrounds the robot. */
#include "fields.h"
#include <stdarg.h>
#include <string.h>

const char *const api_field_names[API_FIELD_COUNT] = {
    [API_Q]                = "q",
    [API_QD]               = "qd",
    [API_QDD]              = "qdd",
    [API_QDDD]             = "qddd",
    [API_TAU]              = "tau",
    [API_WEIGHTS]          = "weights",
    [API_GRAVITY]          = "gravity",
    [API_PAYLOAD]          = "payload",
    [API_WRENCHES]         = "wrenches",
    [API_FRICTION]         = "friction",
    [API_JOINTS]           = "joints",
    [API_GUESS]            = "guess",
    [API_PLATFORM]         = "platform",
    [API_ON_ERROR]         = "on_error",
    [API_OUTPUTS]          = "outputs",
    [API_FRAMES]           = "frames",
    [API_FRAME]            = "frame",
    [API_REFERENCE]        = "reference",
    [API_AXES]             = "axes",
    [API_DAMPING]          = "damping",
    [API_CONSISTENT]       = "consistent",
    [API_ROTOR]            = "rotor",
    [API_DEGREE]           = "degree",
    [API_DURATION]         = "duration",
    [API_CONTROL_POINTS]   = "control_points",
    [API_KNOTS]            = "knots",
    [API_SAMPLES]          = "samples",
    [API_TIMES]            = "times",
    [API_DENSE]            = "dense",
    [API_STEP]             = "step",
    [API_TOLERANCE]        = "tolerance",
    [API_STIFF]            = "stiff",
    [API_INPUT]            = "input",
    [API_FEET_FIELD]       = "feet",
    [API_PLANE]            = "plane",
    [API_FREE]             = "free",
    [API_HELD_FIELD]       = "held",
    [API_RESTITUTION]      = "restitution",
    [API_FRICTION_AT_REST] = "friction_at_rest",
    [API_PRESCRIBED]       = "prescribed",
};

/* --- small values ----------------------------------------------------------------------------------------------- */

bool api_fail_at(const api_evaluation *e, const api_place *at, api_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    api_pointer pointer = api_place_pointer(at);
    api_failv(e->problem, code, api_pointer_text(&pointer), format, args);
    va_end(args);
    return false;
}

bool api_read_number(const api_evaluation *e, const api_node *value, const api_place *at, double *number)
{
    if (!api_node_is(value, API_NUMBER))
        return api_fail_at(e, at, API_WRONG_TYPE, "%s given, a number expected", api_node_kind_text(value));
    *number = api_node_number(value);
    return true;
}

bool api_read_flag(const api_evaluation *e, const api_node *value, const api_place *at, bool *flag)
{
    if (!value) return true;
    *flag = api_node_is(value, API_TRUE);
    return *flag || api_node_is(value, API_FALSE) ||
           api_fail_at(e, at, API_WRONG_TYPE, "%s given, true or false expected", api_node_kind_text(value));
}

bool api_check_list(const api_evaluation *e, const api_node *value, const api_place *at, const char *of)
{
    bool list = api_node_is(value, API_ARRAY);
    return (list && api_node_size(value) > 0) ||
           api_fail_at(e, at, list ? API_WRONG_SHAPE : API_WRONG_TYPE, "%s given, an array of at least one %s expected",
                       list ? "an empty array" : api_node_kind_text(value), of);
}

bool api_read_numbers(const api_evaluation *e, const api_node *value, const api_place *at, size_t n, double *numbers)
{
    if (!api_node_is(value, API_ARRAY))
        return api_fail_at(e, at, API_WRONG_TYPE, "%s given, an array of %zu numbers expected",
                           api_node_kind_text(value), n);
    size_t given = api_node_size(value);
    for (size_t i = 0; i < given; i++) {
        api_node  entry;
        api_place entry_at = api_place_index(at, i);
        if (api_node_item(value, i, &entry) && !api_node_is(&entry, API_NUMBER))
            return api_fail_at(e, &entry_at, API_WRONG_TYPE, "%s given, a number expected", api_node_kind_text(&entry));
        if (i < n) numbers[i] = api_node_number(&entry);
    }
    return given == n || api_fail_at(e, at, API_WRONG_SHAPE, "%zu entries given, %zu expected", given, n);
}

double *api_take_numbers(api_evaluation *e, const api_node *value, const api_place *at, size_t n)
{
    double *numbers = api_take(e->pool, n * sizeof *numbers);
    return numbers && api_read_numbers(e, value, at, n, numbers) ? numbers : NULL;
}

bool api_fail_unknown(const api_evaluation *e, const api_place *at, api_code code, const char *given, const char *of,
                      const api_names *known)
{
    char list[API_NAMES_TEXT];
    api_names_write(known, given, list);
    return api_fail_at(e, at, code, "\"%.64s\" is not known to %s%s", given, of, list);
}

bool api_fail_no_such(const api_evaluation *e, const api_place *at, const char *what, const char *given,
                      const api_names *known)
{
    char list[API_NAMES_TEXT];
    api_names_write(known, given, list);
    return api_fail_at(e, at, API_UNKNOWN_NAME, "%s has no %s \"%.64s\"%s", e->model->name, what, given, list);
}

bool api_check_keys(const api_evaluation *e, const api_node *object, const api_place *at, const char *const *names,
                    const char *of)
{
    if (!api_node_is(object, API_OBJECT))
        return api_fail_at(e, at, API_WRONG_TYPE, "%s given, an object expected", api_node_kind_text(object));
    for (size_t member = 0; member < api_node_size(object); member++) {
        const char *key = api_node_key(object, member);
        size_t      i   = 0;
        while (names[i] && strcmp(names[i], key) != 0)
            i++;
        if (names[i]) continue;
        api_place key_at = api_place_key(at, key);
        api_names known  = api_names_from_array(names, i);
        return api_fail_unknown(e, &key_at, API_UNKNOWN_FIELD, key, of, &known);
    }
    return true;
}

const char *api_read_string(const api_evaluation *e, const api_node *value, const api_place *at)
{
    if (api_node_is(value, API_STRING)) return api_node_string(value, NULL);
    api_fail_at(e, at, API_WRONG_TYPE, "%s given, a string expected", api_node_kind_text(value));
    return NULL;
}

int api_read_frame(const api_evaluation *e, const api_node *value, const api_place *at)
{
    const char *name = api_read_string(e, value, at);
    if (!name) return -1;
    int       i     = api_model_frame(e->model, name, strlen(name));
    api_names known = api_model_frames(e->model);
    if (i < 0) api_fail_no_such(e, at, "link or frame", name, &known);
    return i;
}

int api_read_coordinate(const api_evaluation *e, const api_node *value, const api_place *at)
{
    const char *name = api_read_string(e, value, at);
    for (size_t i = 0; name && i < e->model->nv; i++)
        if (strcmp(e->model->velocity_names[i], name) == 0) return (int)i;
    api_names known = api_names_from_array(e->model->velocity_names, e->model->nv);
    if (name) api_fail_no_such(e, at, "velocity coordinate", name, &known);
    return -1;
}

/* --- surroundings ----------------------------------------------------------------------------------------------- */

bool api_decode_surroundings(api_evaluation *e)
{
    api_place       at      = api_place_key(NULL, "gravity");
    const api_node *gravity = e->given[API_GRAVITY], *friction = e->given[API_FRICTION];
    memcpy(e->scene.gravity, e->model->dyn->gravity, sizeof e->scene.gravity);
    if (gravity && !api_read_numbers(e, gravity, &at, 3, e->scene.gravity)) return false;

    at        = api_place_key(NULL, "friction");
    bool rubs = true;
    if (!api_read_flag(e, friction, &at, &rubs)) return false;
    e->scene.terms = rubs ? DYN_ALL_TERMS : DYN_ALL_TERMS & ~DYN_FRICTION;
    return true;
}
