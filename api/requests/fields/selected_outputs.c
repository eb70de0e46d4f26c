/* selected_outputs.c - read which operations, outputs and options a request selects, and check its set of fields. */
#include "fields.h"
#include "operation.h"
#include <string.h>

/* The set of the fields that the operations of an evaluate request share. */
#define SHARED (API_BIT(API_SHARED_FIELDS) - 1)

/* The set of the fields that every request may have. */
#define ALWAYS (API_BIT(API_NORMALISE) | API_BIT(API_ON_ERROR) | API_BIT(API_LOCKED))

/* Returns the fields that an operation takes. Operations with a payload take parameters of bodies too, but for
 * identify, which estimates them, and ground-reaction. */
static api_set taken_fields(const api_operation *operation)
{
    const api_set fields = operation->needs | operation->takes;
    return operation->row_scenes && fields & API_BIT(API_PAYLOAD) ? fields | API_BIT(API_PARAMETERS) : fields;
}

/* Lists the names of the fields in the mask, then the names in `more` unless it is NULL; the list ends with NULL. */
static void list_fields(api_set mask, const char *more, const char *names[API_FIELD_COUNT + 2])
{
    size_t n = 0;
    for (int f = 0; f < API_FIELD_COUNT; f++)
        if (mask & API_BIT(f)) names[n++] = api_field_names[f];
    names[n]     = more;
    names[n + 1] = NULL;
}

/* Returns the field of the mask that has this name; API_FIELD_COUNT if no field has it. */
static int field_named(api_set mask, const char *name)
{
    while (mask) {
        int f = api_first_member(mask);
        if (*api_field_names[f] == *name && strcmp(api_field_names[f], name) == 0) return f;
        mask &= mask - 1;
    }
    return API_FIELD_COUNT;
}

/* Finds the fields of the request, into q->field. Fields outside the mask, except `more`, are a problem. */
static bool find_fields(api_query *q, const api_node *request, api_set mask, const char *more, const char *of)
{
    const char *names[API_FIELD_COUNT + 2];
    bool        known = api_node_is(request, API_OBJECT);
    size_t      n     = known ? api_node_size(request) : 0;
    for (size_t member = 0; member < n; member++) {
        const char *key = api_node_key(request, member);
        int         f   = field_named(mask, key);
        if (f < API_FIELD_COUNT) {
            q->field[f] = api_node_value(request, member);
            q->present |= API_BIT(f);
        } else {
            known = known && more && strcmp(key, more) == 0;
        }
    }
    if (known) return true;
    list_fields(mask, more, names);
    return api_check_keys(q, request, NULL, names, of); /* sets the problem for the unknown key */
}

static const char *output_name(const void *operation, size_t i)
{
    return ((const api_operation *)operation)->outputs[i].name;
}

/* Checks that the model has the output: `full` requires loops, and tree_outputs require a model without loops. */
static bool takes_output(const api_query *q, const api_operation *operation, size_t output, const api_place *at)
{
    const api_output *o = &operation->outputs[output];
    if (!q->model->loops && o->extent[0] == API_LOOP_STATE)
        return api_fail_at(q->problem, at, API_BAD_VALUE,
                           "full is for models with loops: the coordinates of %s are all there is", q->model->name);
    return !q->model->loops || !(operation->tree_outputs & API_BIT(output)) ||
           api_fail_at(q->problem, at, API_NOT_FOR_LOOPS,
                       "the output %s is not for models with loops, and %s has loops", o->name, q->model->name);
}

/* True for the fields with which the answer begins if the request has a platform. */
static bool is_state_of_platform(const char *name)
{
    bool found = false;
    for (int f = API_Q; f <= API_QDD; f++)
        found |= strcmp(api_field_names[f], name) == 0;
    return found;
}

static bool read_output(api_query *q, api_selection *selected, const api_node *value, const api_place *at)
{
    const api_operation *operation = selected->operation;
    const char          *name      = api_read_string(q, value, at);
    if (!name) return false;
    api_names known = {0, output_name, operation};
    for (size_t i = 0; api_has_output(operation, i); i++) {
        known.n = i + 1;
        if (strcmp(operation->outputs[i].name, name) != 0) continue;
        if (selected->outputs & API_BIT(i))
            return api_fail_at(q->problem, at, API_DUPLICATE_NAME, "the output %s is listed twice", name);
        selected->outputs |= API_BIT(i);
        return takes_output(q, operation, i, at);
    }
    if (q->field[API_PLATFORM] && is_state_of_platform(name))
        return api_fail_at(
            q->problem, at, API_UNKNOWN_NAME,
            "\"%s\" is no output of %s: leave it out, the answer begins with the q, qd and qdd of the platform", name,
            operation->name);
    return api_fail_unknown(q, at, API_UNKNOWN_NAME, name, operation->name, &known);
}

static bool read_outputs(api_query *q, api_selection *selected, const api_node *options, const api_place *up)
{
    const api_node *list = api_node_get(options, "outputs");
    api_place       at   = api_place_key(up, "outputs");
    for (size_t i = 0; !list && api_has_output(selected->operation, i); i++)
        if (selected->operation->outputs[i].by_default) selected->outputs |= API_BIT(i);
    if (!list) return true;
    if (!api_check_names(q, list, &at, "output's name")) return false;
    for (size_t i = 0; i < api_count_names(list); i++) {
        api_node  name;
        api_place entry = api_take_name(list, &at, i, &name);
        if (!read_output(q, selected, &name, &entry)) return false;
    }
    return true;
}

bool api_fail_output(const api_query *q, const api_selection *selected, size_t output, const api_node *given,
                     const api_place *up, const char *text)
{
    const api_node *list = api_node_get(given, "outputs");
    api_place       at   = api_place_key(up, "outputs");
    for (size_t i = 0; i < api_count_names(list); i++) {
        api_node  name;
        api_place entry = api_take_name(list, &at, i, &name);
        if (strcmp(api_node_string(&name, NULL), selected->operation->outputs[output].name) == 0)
            return api_fail_at(q->problem, &entry, API_BAD_VALUE, "%s", text);
    }
    return api_fail_at(q->problem, &at, API_BAD_VALUE, "%s", text);
}

/* True if a result is linear in the parameters of bodies. */
static bool is_of_bodies(const api_selection *selected)
{
    bool any = selected->operation->regresses;
    for (api_set left = selected->outputs; left && !any; left &= left - 1) {
        const int *extent = selected->operation->outputs[api_first_member(left)].extent;
        for (size_t i = 0; i < API_MAX_RANK && extent[i] != 0; i++)
            any = any || extent[i] == API_BODY_PARAMETERS || extent[i] == API_BASE_PARAMETERS;
    }
    return any;
}

static bool check_compensations(const api_query *q, const api_selection *selected)
{
    const dyn_model *m = q->model->dyn;
    for (size_t i = 0; is_of_bodies(selected) && i < m->n_bodies; i++)
        if (!api_check_compensation(q, &m->body[i].compensation, NULL)) return false;
    return true;
}

static bool check_needed_options(const api_query *q, const api_operation *operation, const api_node *options,
                                 const api_place *up)
{
    for (api_set left = operation->needs_options; left; left &= left - 1) {
        const char *name = api_field_names[api_first_member(left)];
        api_place   at   = api_place_key(up, name);
        if (!api_node_get(options, name))
            return api_fail_at(q->problem, &at, API_MISSING_FIELD, "%s needs %s", operation->name, name);
    }
    return true;
}

static bool read_options(api_query *q, api_selection *selected, const api_node *options, const api_place *at)
{
    return check_needed_options(q, selected->operation, options, at) && read_outputs(q, selected, options, at) &&
           check_compensations(q, selected) &&
           (!selected->operation->options || selected->operation->options(q, selected, options, at));
}

/* Checks that the fields which the operations need are present; "platform" replaces q, qd and qdd. */
static bool check_needs(const api_query *q)
{
    const api_set state = API_BIT(API_Q) | API_BIT(API_QD) | API_BIT(API_QDD);
    api_set       there = q->present | (q->field[API_PLATFORM] ? state : 0);
    for (size_t i = 0; i < q->n_selected; i++) {
        const api_operation *operation = q->selected[i].operation;
        api_set              missing   = operation->needs & ~there;
        if (!missing) continue;
        const char *name = api_field_names[api_first_member(missing)];
        api_place   at   = api_place_key(NULL, name);
        return api_fail_at(q->problem, &at, API_MISSING_FIELD, "%s needs %s", operation->name, name);
    }
    return true;
}

/* Reads one entry of "operations" of an evaluate request. */
static bool read_operation(api_query *q, const char *name, const api_node *options, const api_place *operations)
{
    const char          *fields[API_FIELD_COUNT + 2];
    api_selection       *selected  = &q->selected[q->n_selected];
    const api_operation *operation = api_operation_named(q->operations, name);
    api_place            at        = api_place_key(operations, name);
    if (!operation) {
        api_names known = api_operation_names(q->operations);
        known.n--; /* removes "evaluate", the last name: it cannot contain itself */
        return api_fail_unknown(q, &at, API_UNKNOWN_NAME, name, "evaluate", &known);
    }
    if (operation->alone)
        return api_fail_at(q->problem, &at, API_BAD_VALUE,
                           "%s has rows of its own and is not combined: POST to its own path", operation->name);
    list_fields(operation->takes & ~SHARED, NULL, fields);
    *selected = (api_selection){.operation = operation};
    q->n_selected++;
    return api_check_keys(q, options, &at, fields, operation->name) && read_options(q, selected, options, &at);
}

static bool read_operations(api_query *q, const api_node *request)
{
    api_place       at         = api_place_key(NULL, "operations");
    const api_node *operations = api_node_get(request, "operations");
    if (!operations)
        return api_fail_at(q->problem, &at, API_MISSING_FIELD, "evaluate needs operations, an object of operations");
    if (!api_node_is(operations, API_OBJECT) || api_node_size(operations) == 0)
        return api_fail_at(q->problem, &at, api_node_is(operations, API_OBJECT) ? API_WRONG_SHAPE : API_WRONG_TYPE,
                           "%s given, an object with at least one operation expected",
                           api_node_is(operations, API_OBJECT) ? "an empty object" : api_node_kind_text(operations));
    q->selected = api_take(q->pool, api_node_size(operations) * sizeof *q->selected);
    if (!q->selected) return false;
    for (size_t i = 0; i < api_node_size(operations); i++)
        if (!read_operation(q, api_node_key(operations, i), api_node_value(operations, i), &at)) return false;
    return true;
}

/* Reads an evaluate request. Its fields are those that any of its operations takes. */
static bool decode_combined(api_query *q, const api_node *request)
{
    api_set mask = ALWAYS;
    if (!api_node_is(request, API_OBJECT))
        return api_fail_at(q->problem, NULL, API_WRONG_TYPE, "%s given, an object expected%s",
                           api_node_kind_text(request), api_node_is(request, API_ARRAY) ? API_ROWS_REMEDY : "");
    if (!read_operations(q, request)) return false;
    for (size_t i = 0; i < q->n_selected; i++)
        mask |= taken_fields(q->selected[i].operation) & SHARED;
    return find_fields(q, request, mask, "operations", "evaluate with these operations") && check_needs(q);
}

bool api_select_operations(api_query *q, const api_node *request)
{
    const api_operation *operation = q->call->operation;
    if (!operation) return decode_combined(q, request);

    q->selected = api_take(q->pool, sizeof *q->selected);
    if (!q->selected) return false;
    *q->selected  = (api_selection){.operation = operation};
    q->n_selected = 1;
    return find_fields(q, request, taken_fields(operation) | ALWAYS, NULL, operation->name) && check_needs(q) &&
           read_options(q, q->selected, request, NULL);
}
