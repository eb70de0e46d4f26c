/* integrator.c - lists the integrators, and chooses the one for a request (integrator.h). */
#include "integrator.h"
#include "api/requests/fields/fields.h"

#define ROW(name) &api_integrator_##name,

const api_integrator *const api_integrators[] = {API_INTEGRATORS(ROW) NULL};

enum { INTEGRATORS = sizeof api_integrators / sizeof *api_integrators - 1 };

static const char *name_at(const void *list, size_t i)
{
    const api_integrator *const *integrators = list;
    return integrators[i]->name;
}

/* Returns those fields of integrators that the request has. A flag that is false counts as absent. */
static api_set find_given(const api_node *fields)
{
    api_set values = 0, flags = 0, given = 0;
    for (size_t i = 0; i < INTEGRATORS; i++) {
        values |= api_integrators[i]->needs;
        flags |= api_integrators[i]->takes;
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
static bool refuse_field(const api_query *q, const api_integrator *integrator, size_t field)
{
    const char *names[API_FIELD_COUNT];
    size_t      n  = 0;
    api_place   at = api_place_key(NULL, api_field_names[field]);
    for (size_t f = 0; f < API_FIELD_COUNT; f++)
        if ((integrator->needs | integrator->takes) & API_BIT(f)) names[n++] = api_field_names[f];
    api_names known = api_names_from_array(names, n);
    return api_fail_unknown(q, &at, API_UNKNOWN_FIELD, api_field_names[field], integrator->name, &known);
}

static bool check_fields(const api_query *q, const api_integrator *integrator, api_set given)
{
    for (size_t f = 0; f < API_FIELD_COUNT; f++)
        if (given & ~(integrator->needs | integrator->takes) & API_BIT(f)) return refuse_field(q, integrator, f);
    for (size_t f = 0; f < API_FIELD_COUNT; f++) {
        api_place at = api_place_key(NULL, api_field_names[f]);
        if (integrator->needs & ~given & API_BIT(f))
            return api_fail_at(q->problem, &at, API_MISSING_FIELD, "the integrator %s needs %s", integrator->name,
                               api_field_names[f]);
    }
    return true;
}

static const api_integrator *read_name(const api_query *q, const api_node *value, api_set given)
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

static const api_integrator *choose(const api_query *q, const api_node *stiff, api_set given)
{
    for (size_t i = 0; i < INTEGRATORS; i++) {
        const api_integrator *integrator = api_integrators[i];
        if (!(integrator->needs & ~given) && !(given & ~(integrator->needs | integrator->takes))) return integrator;
    }
    refuse_fields(q, stiff, given);
    return NULL;
}

/* --- public functions --------------------------------------------------------------------------------------------- */

const api_integrator *api_integrator_read(const api_query *q, const api_node *fields)
{
    const api_node       *name     = api_node_get(fields, api_field_names[API_INTEGRATOR_FIELD]);
    const api_node       *stiff    = api_node_get(fields, api_field_names[API_STIFF]);
    api_set               given    = find_given(fields);
    api_place             stiff_at = api_place_key(NULL, api_field_names[API_STIFF]);
    bool                  is_stiff;
    const api_integrator *integrator = name ? read_name(q, name, given) : choose(q, stiff, given);
    return integrator && api_read_flag(q, stiff, &stiff_at, &is_stiff) ? integrator : NULL;
}
