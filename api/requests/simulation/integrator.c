/* integrator.c - lists the integrators, and chooses the one for a request (integrator.h). */
#include "integrator.h"
#include "api/requests/fields/fields.h"

#define ROW(name) &dyn_integrator_##name,

const dyn_integrator *const api_integrators[] = {DYN_INTEGRATORS(ROW) NULL};

enum { INTEGRATORS = sizeof api_integrators / sizeof *api_integrators - 1 };

api_set api_integrator_needs(const dyn_integrator *integrator)
{
    return API_BIT(integrator->count_steps ? API_STEP : API_TOLERANCE);
}

api_set api_integrator_takes(const dyn_integrator *integrator)
{
    return integrator->is_implicit ? API_BIT(API_STIFF) : 0;
}

/* Returns the fields that an integrator needs, and the flags that it accepts. */
static api_set fields_of(const dyn_integrator *integrator)
{
    return api_integrator_needs(integrator) | api_integrator_takes(integrator);
}

static const char *name_at(const void *list, size_t i)
{
    const dyn_integrator *const *integrators = list;
    return integrators[i]->name;
}

/* Returns those fields of integrators that the request has. A flag that is false counts as absent. */
static api_set find_given(const api_node *fields)
{
    api_set values = 0, flags = 0, given = 0;
    for (size_t i = 0; i < INTEGRATORS; i++) {
        values |= api_integrator_needs(api_integrators[i]);
        flags |= api_integrator_takes(api_integrators[i]);
    }
    for (size_t f = 0; f < API_FIELD_COUNT; f++) {
        const api_node *value = api_node_get(fields, api_field_names[f]);
        api_set         with  = api_node_is(value, API_FALSE) ? values : values | flags;
        if (value) given |= with & API_BIT(f);
    }
    return given;
}

/* --- an integrator by name ---------------------------------------------------------------------------------------- */

/* Refuses a given field that the integrator does not take. The message lists the fields that it takes. */
static bool refuse_field(const api_query *q, const dyn_integrator *integrator, size_t field)
{
    const char *names[API_FIELD_COUNT];
    size_t      n  = 0;
    api_place   at = api_place_key(NULL, api_field_names[field]);
    for (size_t f = 0; f < API_FIELD_COUNT; f++)
        if (fields_of(integrator) & API_BIT(f)) names[n++] = api_field_names[f];
    api_names known = api_names_from_array(names, n);
    return api_fail_unknown(q, &at, API_UNKNOWN_FIELD, api_field_names[field], integrator->name, &known);
}

static bool check_fields(const api_query *q, const dyn_integrator *integrator, api_set given)
{
    for (size_t f = 0; f < API_FIELD_COUNT; f++)
        if (given & ~fields_of(integrator) & API_BIT(f)) return refuse_field(q, integrator, f);
    for (size_t f = 0; f < API_FIELD_COUNT; f++) {
        api_place at = api_place_key(NULL, api_field_names[f]);
        if (api_integrator_needs(integrator) & ~given & API_BIT(f))
            return api_fail_at(q->problem, &at, API_MISSING_FIELD, "the integrator %s needs %s", integrator->name,
                               api_field_names[f]);
    }
    return true;
}

static const dyn_integrator *read_name(const api_query *q, const api_node *value, api_set given)
{
    api_place at    = api_place_key(NULL, api_field_names[API_INTEGRATOR_FIELD]);
    api_names known = {INTEGRATORS, name_at, api_integrators};
    int       i     = api_read_choice(q, value, &at, "an integrator", &known);
    return i >= 0 && check_fields(q, api_integrators[i], given) ? api_integrators[i] : NULL;
}

/* --- an integrator by the fields of the request ------------------------------------------------------------------- */

/* Says why no integrator fits the fields of a request that names none. */
static bool refuse_fields(const api_query *q, const api_node *stiff, api_set given)
{
    api_place step_at = api_place_key(NULL, "step"), tolerance_at = api_place_key(NULL, "tolerance"),
              stiff_at = api_place_key(NULL, "stiff");
    bool step          = given & API_BIT(API_STEP), is_stiff;
    bool tolerance     = given & API_BIT(API_TOLERANCE);
    if (step && tolerance)
        return api_fail_at(q->problem, &tolerance_at, API_BAD_VALUE, "tolerance given beside step: give one of them");
    if (!step && !tolerance)
        return api_fail_at(q->problem, &step_at, API_MISSING_FIELD,
                           "a simulation needs a step of fixed length, or a tolerance that its steps keep");
    return api_read_flag(q, stiff, &stiff_at, &is_stiff) &&
           api_fail_at(q->problem, &stiff_at, API_BAD_VALUE, "stiff needs a tolerance instead of a step");
}

static const dyn_integrator *choose_integrator(const api_query *q, const api_node *stiff, api_set given)
{
    for (size_t i = 0; i < INTEGRATORS; i++) {
        const dyn_integrator *integrator = api_integrators[i];
        if (!(api_integrator_needs(integrator) & ~given) && !(given & ~fields_of(integrator))) return integrator;
    }
    refuse_fields(q, stiff, given);
    return NULL;
}

/* --- public functions --------------------------------------------------------------------------------------------- */

const dyn_integrator *api_integrator_read(const api_query *q, const api_node *fields)
{
    const api_node       *name     = api_node_get(fields, api_field_names[API_INTEGRATOR_FIELD]);
    const api_node       *stiff    = api_node_get(fields, api_field_names[API_STIFF]);
    api_set               given    = find_given(fields);
    api_place             stiff_at = api_place_key(NULL, api_field_names[API_STIFF]);
    bool                  is_stiff;
    const dyn_integrator *integrator = name ? read_name(q, name, given) : choose_integrator(q, stiff, given);
    return integrator && api_read_flag(q, stiff, &stiff_at, &is_stiff) ? integrator : NULL;
}
