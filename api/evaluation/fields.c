/* fields.c - the fields of a request: which there may be, which there must be, and the small ones. */
#include "fields.h"
#include "closing.h"
#include "operation.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const api_field_names[API_FIELD_COUNT] = {
    [API_Q]              = "q",
    [API_QD]             = "qd",
    [API_QDD]            = "qdd",
    [API_QDDD]           = "qddd",
    [API_TAU]            = "tau",
    [API_WEIGHTS]        = "weights",
    [API_GRAVITY]        = "gravity",
    [API_PAYLOAD]        = "payload",
    [API_WRENCHES]       = "wrenches",
    [API_FRICTION]       = "friction",
    [API_JOINTS]         = "joints",
    [API_GUESS]          = "guess",
    [API_PLATFORM]       = "platform",
    [API_OUTPUTS]        = "outputs",
    [API_FRAMES]         = "frames",
    [API_FRAME]          = "frame",
    [API_REFERENCE]      = "reference",
    [API_AXES]           = "axes",
    [API_DAMPING]        = "damping",
    [API_CONSISTENT]     = "consistent",
    [API_ROTOR]          = "rotor",
    [API_DEGREE]         = "degree",
    [API_DURATION]       = "duration",
    [API_CONTROL_POINTS] = "control_points",
    [API_KNOTS]          = "knots",
    [API_SAMPLES]        = "samples",
    [API_TIMES]          = "times",
    [API_DENSE]          = "dense",
    [API_STEP]           = "step",
    [API_TOLERANCE]      = "tolerance",
    [API_STIFF]          = "stiff",
    [API_INPUT]          = "input",
    [API_FEET_FIELD]     = "feet",
    [API_PLANE]          = "plane",
    [API_FREE]           = "free",
    [API_HELD_FIELD]     = "held",
    [API_RESTITUTION]    = "restitution",
};

#define SHARED (API_BIT(API_SHARED_FIELDS) - 1)

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

bool api_read_numbers(const api_evaluation *e, const api_node *value, const api_place *at, size_t n, double *numbers)
{
    if (!api_node_is(value, API_ARRAY))
        return api_fail_at(e, at, API_WRONG_TYPE, "%s given, an array of %zu numbers expected",
                           api_node_kind_text(value), n);
    size_t given = api_node_size(value);
    for (size_t i = 0; i < given; i++) {
        api_node  entry;
        api_place entry_at = api_place_index(at, i);
        if (api_node_item(value, i, &entry) && entry.kind != API_NUMBER)
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

static void join(api_buffer *b, const char *text)
{
    if (b->length > 0) api_buffer_text(b, ", ");
    api_buffer_text(b, text);
}

/* Fails with the names that would have been right; a list too long for a message is left out. */
static bool fail_unknown(const api_evaluation *e, const api_place *at, api_code code, const char *given, const char *of,
                         api_buffer *known)
{
    char *list = api_buffer_take(known);
    api_fail_at(e, at, code, "\"%.64s\" is not known to %s%s%s", given, of, list && *list ? "; there are: " : "",
                list ? list : "");
    free(list);
    return false;
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
        api_buffer known;
        api_place  key_at = api_place_key(at, key);
        api_buffer_init(&known, 300);
        for (i = 0; names[i]; i++)
            join(&known, names[i]);
        return fail_unknown(e, &key_at, API_UNKNOWN_FIELD, key, of, &known);
    }
    return true;
}

const char *api_read_string(const api_evaluation *e, const api_node *value, const api_place *at)
{
    if (api_node_is(value, API_STRING)) return api_node_string(value, NULL);
    api_fail_at(e, at, API_WRONG_TYPE, "%s given, a string expected", api_node_kind_text(value));
    return NULL;
}

int api_read_frame(const api_evaluation *e, const api_node *value, const api_place *at, bool link)
{
    const char *name = api_read_string(e, value, at);
    if (!name) return -1;
    int i = api_model_frame(e->model, name, strlen(name));
    if (i >= 0 && (!link || e->model->frames[i].is_link)) return i;
    api_fail_at(e, at, API_UNKNOWN_NAME, "%s has no %s \"%.64s\"%s", e->model->name, link ? "link" : "frame", name,
                i >= 0 ? "; it is a frame" : "");
    return -1;
}

int api_read_coordinate(const api_evaluation *e, const api_node *value, const api_place *at)
{
    const char *name = api_read_string(e, value, at);
    for (size_t i = 0; name && i < e->model->nv; i++)
        if (strcmp(e->model->velocity_names[i], name) == 0) return (int)i;
    if (name)
        api_fail_at(e, at, API_UNKNOWN_NAME, "%s has no velocity coordinate \"%.64s\" (velocity_names has them all)",
                    e->model->name, name);
    return -1;
}

/* --- which operations, with which outputs ----------------------------------------------------------------------- */

/* The mask of fields as names, and one more if not NULL, ending with NULL. */
static void list_fields(api_set mask, const char *more, const char *names[API_FIELD_COUNT + 2])
{
    size_t n = 0;
    for (int f = 0; f < API_FIELD_COUNT; f++)
        if (mask & API_BIT(f)) names[n++] = api_field_names[f];
    names[n]     = more;
    names[n + 1] = NULL;
}

/* The field of that name among those of the mask; API_FIELD_COUNT: none. */
static int field_named(api_set mask, const char *name)
{
    while (mask) {
        int f = __builtin_ctzll(mask);
        if (*api_field_names[f] == *name && strcmp(api_field_names[f], name) == 0) return f;
        mask &= mask - 1;
    }
    return API_FIELD_COUNT;
}

/* The request's fields, which are those of the mask and what `more` names, into e->given. */
static bool find_fields(api_evaluation *e, const api_node *request, api_set mask, const char *more, const char *of)
{
    const char *names[API_FIELD_COUNT + 2];
    bool        known = api_node_is(request, API_OBJECT);
    size_t      n     = known ? api_node_size(request) : 0;
    for (size_t member = 0; member < n; member++) {
        const char *key = api_node_key(request, member);
        int         f   = field_named(mask, key);
        if (f < API_FIELD_COUNT) {
            e->given[f] = api_node_value(request, member);
            e->there |= API_BIT(f);
        } else {
            known = known && more && strcmp(key, more) == 0;
        }
    }
    if (known) return true;
    list_fields(mask, more, names);
    return api_check_keys(e, request, NULL, names, of); /* says what is wrong */
}

static bool read_output(api_evaluation *e, api_asked *asked, const api_node *value, const api_place *at)
{
    const api_operation *operation = asked->operation;
    const char          *name      = api_read_string(e, value, at);
    if (!name) return false;
    api_buffer known;
    api_buffer_init(&known, 300);
    for (size_t i = 0; api_has_output(operation, i); i++) {
        if (strcmp(operation->outputs[i].name, name) != 0) {
            join(&known, operation->outputs[i].name);
            continue;
        }
        api_buffer_free(&known);
        if (asked->outputs & API_BIT(i))
            return api_fail_at(e, at, API_DUPLICATE_NAME, "the output %s is listed twice", name);
        asked->outputs |= API_BIT(i);
        return api_closing_takes_output(e, operation, i, at);
    }
    return fail_unknown(e, at, API_UNKNOWN_NAME, name, operation->name, &known);
}

static bool read_outputs(api_evaluation *e, api_asked *asked, const api_node *options, const api_place *up)
{
    const api_node *list = api_node_get(options, "outputs");
    api_place       at   = api_place_key(up, "outputs");
    for (size_t i = 0; !list && api_has_output(asked->operation, i); i++)
        if (asked->operation->outputs[i].by_default) asked->outputs |= API_BIT(i);
    if (!list) return true;
    if (!api_node_is(list, API_ARRAY) || api_node_size(list) == 0)
        return api_fail_at(e, &at, api_node_is(list, API_ARRAY) ? API_WRONG_SHAPE : API_WRONG_TYPE,
                           "%s given, an array of at least one output's name expected",
                           api_node_is(list, API_ARRAY) ? "an empty array" : api_node_kind_text(list));
    for (size_t i = 0; i < api_node_size(list); i++) {
        api_node  entry;
        api_place entry_at = api_place_index(&at, i);
        if (!api_node_item(list, i, &entry) || !read_output(e, asked, &entry, &entry_at)) return false;
    }
    return true;
}

static bool read_options(api_evaluation *e, api_asked *asked, const api_node *options, const api_place *at)
{
    return api_closing_takes(e, asked->operation, at) && read_outputs(e, asked, options, at) &&
           (!asked->operation->options || asked->operation->options(e, asked, options, at));
}

/* A platform, where it is taken, stands for the state. */
static bool check_needs(const api_evaluation *e)
{
    const api_set state = API_BIT(API_Q) | API_BIT(API_QD) | API_BIT(API_QDD);
    api_set       there = e->there | (e->given[API_PLATFORM] ? state : 0);
    for (size_t i = 0; i < e->n_asked; i++) {
        const api_operation *operation = e->asked[i].operation;
        api_set              missing   = operation->needs & ~there;
        if (!missing) continue;
        const char *name = api_field_names[__builtin_ctzll(missing)];
        api_place   at   = api_place_key(NULL, name);
        return api_fail_at(e, &at, API_MISSING_FIELD, "%s needs %s", operation->name, name);
    }
    return true;
}

/* One entry of "operations" of an evaluate request. */
static bool read_operation(api_evaluation *e, const char *name, const api_node *options, const api_place *operations)
{
    const char          *fields[API_FIELD_COUNT + 2];
    api_asked           *asked     = &e->asked[e->n_asked];
    const api_operation *operation = api_operation_named(name);
    api_place            at        = api_place_key(operations, name);
    if (!operation) {
        api_buffer known;
        api_buffer_init(&known, 300);
        for (size_t i = 0; api_operations[i]; i++)
            join(&known, api_operations[i]->name);
        return fail_unknown(e, &at, API_UNKNOWN_NAME, name, "evaluate", &known);
    }
    if (operation->alone)
        return api_fail_at(e, &at, API_BAD_VALUE, "%s has rows of its own and is not combined: POST to its own path",
                           operation->name);
    list_fields(operation->takes & ~SHARED, NULL, fields);
    *asked = (api_asked){.operation = operation};
    e->n_asked++;
    return api_check_keys(e, options, &at, fields, operation->name) && read_options(e, asked, options, &at);
}

static bool read_operations(api_evaluation *e, const api_node *request)
{
    api_place       at         = api_place_key(NULL, "operations");
    const api_node *operations = api_node_get(request, "operations");
    if (!operations)
        return api_fail_at(e, &at, API_MISSING_FIELD, "evaluate needs operations, an object of operations");
    if (!api_node_is(operations, API_OBJECT) || api_node_size(operations) == 0)
        return api_fail_at(e, &at, api_node_is(operations, API_OBJECT) ? API_WRONG_SHAPE : API_WRONG_TYPE,
                           "%s given, an object with at least one operation expected",
                           api_node_is(operations, API_OBJECT) ? "an empty object" : api_node_kind_text(operations));
    e->asked = api_take(e->pool, api_node_size(operations) * sizeof *e->asked);
    if (!e->asked) return false;
    for (size_t i = 0; i < api_node_size(operations); i++)
        if (!read_operation(e, api_node_key(operations, i), api_node_value(operations, i), &at)) return false;
    return true;
}

/* The fields that an evaluate request may hold: what any of its operations takes. */
static bool decode_combined(api_evaluation *e, const api_node *request)
{
    api_set mask = 0;
    if (!api_node_is(request, API_OBJECT))
        return api_fail_at(e, NULL, API_WRONG_TYPE, "%s given, an object expected", api_node_kind_text(request));
    if (!read_operations(e, request)) return false;
    for (size_t i = 0; i < e->n_asked; i++)
        mask |= (e->asked[i].operation->needs | e->asked[i].operation->takes) & SHARED;
    return find_fields(e, request, mask, "operations", "evaluate with these operations") && check_needs(e);
}

bool api_decode_asked(api_evaluation *e, const api_node *request)
{
    const api_operation *operation = e->call->operation;
    if (!operation) return decode_combined(e, request);

    e->asked = api_take(e->pool, sizeof *e->asked);
    if (!e->asked) return false;
    *e->asked  = (api_asked){.operation = operation};
    e->n_asked = 1;
    return find_fields(e, request, operation->needs | operation->takes, NULL, operation->name) && check_needs(e) &&
           read_options(e, e->asked, request, NULL);
}

/* --- surroundings ----------------------------------------------------------------------------------------------- */

bool api_decode_surroundings(api_evaluation *e)
{
    api_place       at      = api_place_key(NULL, "gravity");
    const api_node *gravity = e->given[API_GRAVITY], *friction = e->given[API_FRICTION];
    memcpy(e->scene.gravity, e->model->dyn->gravity, sizeof e->scene.gravity);
    if (gravity && !api_read_numbers(e, gravity, &at, 3, e->scene.gravity)) return false;

    at = api_place_key(NULL, "friction");
    if (friction && !api_node_is(friction, API_TRUE) && !api_node_is(friction, API_FALSE))
        return api_fail_at(e, &at, API_WRONG_TYPE, "%s given, true or false expected", api_node_kind_text(friction));
    e->scene.terms = api_node_is(friction, API_FALSE) ? DYN_ALL_TERMS & ~DYN_FRICTION : DYN_ALL_TERMS;
    return true;
}
