/* identify_options.c - read the options of identify, and prepare its memory. */
#include "dynamics/identification/consistent_parameters.h"
#include "identification.h"
#include "identified_document.h"
#include "shared_base_parameters.h"
#include "api/base/work/deadline.h"
#include "api/requests/fields/fields.h"
#include <string.h>

static bool read_flag(const api_query *q, api_field field, bool *set)
{
    api_place at = api_place_key(NULL, api_field_names[field]);
    *set         = false;
    return api_read_flag(q, q->field[field], &at, set);
}

/* Reads the parameters that "unknown" names. Refuses "rotor" and "consistent" with it, and a "friction" that
 * contradicts it. */
static bool choose(api_query *q, api_selection *selected, api_identification *id)
{
    static const api_field replaced[] = {API_ROTOR, API_CONSISTENT};
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
        api_place at = api_place_key(NULL, api_field_names[replaced[i]]);
        if (q->field[replaced[i]])
            return api_fail_at(q->problem, &at, API_BAD_VALUE,
                               "%s cannot be combined with unknown, which lists rotors by name and always finds a "
                               "payload that can be built",
                               api_field_names[replaced[i]]);
    }
    id->chosen = api_decode_surroundings(q) && api_decode_gravity(q) ? api_chosen_unknowns_read(q) : NULL;
    if (!id->chosen) return false;
    if (id->with & ~id->chosen->with) {
        api_place at = api_place_key(NULL, "friction");
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "friction is true, and unknown does not list it");
    }
    if (q->field[API_FRICTION] && id->chosen->with & ~id->with & DYN_BASE_FRICTION) {
        api_place at = api_place_key(NULL, "friction");
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "friction is false, but unknown lists it");
    }
    id->base = &id->chosen->base;
    id->with = id->chosen->with;
    if (id->chosen->payload && !q->field[API_OUTPUTS])
        selected->outputs |= API_BIT(API_IDENTIFY_PAYLOAD) | API_BIT(API_IDENTIFY_FIT) | API_BIT(API_IDENTIFY_SHOWN);
    return true;
}

/* Reads the prior and the robust loss. */
static bool read_statistics(const api_query *q, api_selection *selected, api_identification *id)
{
    api_place       at    = api_place_key(NULL, "huber");
    const api_node *huber = q->field[API_HUBER];
    if (!api_prior_read(q, id->with, !id->chosen, &id->prior)) return false;
    if (q->field[API_PRIOR] && !q->field[API_OUTPUTS]) selected->outputs |= API_BIT(API_IDENTIFY_SHOWN);
    if (!huber) return true;
    if (!api_read_number(q, huber, &at, &id->estimate.huber)) return false;
    if (!(id->estimate.huber > 0))
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "the threshold must be greater than 0");
    return !(id->chosen && (id->chosen->load || id->chosen->stribeck)) ||
           api_fail_at(q->problem, &at, API_BAD_VALUE,
                       "load and stribeck are estimated by least squares alone: leave huber out");
}

/* Checks the outputs that need an unknown payload, all parameters of the bodies, or a document that holds them. */
static bool check_outputs(const api_query *q, const api_selection *selected, const api_node *given, const api_place *up)
{
    const api_identification *id = selected->options;
    if (selected->outputs & API_BIT(API_IDENTIFY_PAYLOAD) && !(id->chosen && id->chosen->payload))
        return api_fail_output(q, selected, API_IDENTIFY_PAYLOAD, given, up,
                               "payload is estimated only where unknown lists it");
    if (selected->outputs & API_BIT(API_IDENTIFY_PARAMETERS) && id->chosen)
        return api_fail_output(q, selected, API_IDENTIFY_PARAMETERS, given, up,
                               "parameters are found only if all bodies are unknown: leave unknown out");
    const char *refusal =
        selected->outputs & API_BIT(API_IDENTIFY_MODEL) ? api_identified_document_refusal(q->model, id->with) : NULL;
    return !refusal || api_fail_output(q, selected, API_IDENTIFY_MODEL, given, up, refusal);
}

bool api_identify_options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    bool friction, rotor, consistent;
    if (!read_flag(q, API_FRICTION, &friction) || !read_flag(q, API_ROTOR, &rotor) ||
        !read_flag(q, API_CONSISTENT, &consistent))
        return false;
    api_identification *id = api_take(q->pool, sizeof *id);
    if (!id) return false;
    *id               = (api_identification){.with = (friction ? (unsigned)DYN_BASE_FRICTION : 0) |
                                                     (rotor ? (unsigned)DYN_BASE_ROTORS : 0)};
    selected->options = id;
    if (q->field[API_UNKNOWN])
        return choose(q, selected, id) && read_statistics(q, selected, id) && check_outputs(q, selected, given, up);
    if (q->field[API_FRAME]) {
        api_place at = api_place_key(NULL, "frame");
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "frame is given without an unknown payload");
    }
    id->base = api_base_share(q, id->with);
    if (consistent) selected->outputs |= API_BIT(API_IDENTIFY_PARAMETERS);
    if (consistent && !q->field[API_OUTPUTS]) selected->outputs |= API_BIT(API_IDENTIFY_FIT);
    return id->base != NULL && read_statistics(q, selected, id) && check_outputs(q, selected, given, up);
}

/* Lists the parameters that the computed torques of the model contain. Friction parameters are zero, because the
 * torques are computed without friction when friction is identified. */
static bool list_own(const api_query *q, api_identification *id)
{
    const api_model *m = q->model;
    id->own            = api_take(q->pool, (api_identify_parameter_count(m->dyn) + 1) * sizeof *id->own);
    if (!id->own) return false;
    memset(id->own, 0, (api_identify_parameter_count(m->dyn) + 1) * sizeof *id->own);
    dyn_parameters_compute(m->dyn, id->own);
    for (size_t j = 0; j < m->n_movers; j++)
        for (size_t c = DYN_VISCOUS; c < DYN_PER_JOINT; c++)
            id->own[dyn_joint_parameter(m->dyn, j, c)] = 0;
    return true;
}

/* Allocates memory for the outputs that need all parameters of the robot. */
static bool prepare_parameters(api_plan *plan, api_selection *selected)
{
    const api_set needing = API_BIT(API_IDENTIFY_PARAMETERS) | API_BIT(API_IDENTIFY_MODEL) | API_BIT(API_IDENTIFY_FIT) |
                            API_BIT(API_IDENTIFY_PAYLOAD);
    const api_model    *m     = plan->query->model;
    api_pool           *pool  = plan->query->pool;
    api_identification *id    = selected->options;
    const size_t        count = api_identify_parameter_count(m->dyn) + 1;
    id->by_rows               = api_take(pool, 2 * count);
    if (!id->by_rows) return false;
    id->by_motion = id->by_rows + count;
    memset(id->by_rows, DYN_NOT_SOUGHT, 2 * count);
    if (!(selected->outputs & needing)) return true;
    if (selected->outputs & API_BIT(API_IDENTIFY_MODEL) && !api_pool_claim(pool, api_identified_document_memory(m)))
        return false;
    size_t scratch      = dyn_consistent_scratch(m->dyn, id->base, id->with) * sizeof(double);
    id->parameters      = api_take(pool, count * sizeof *id->parameters);
    id->fit_coordinates = api_take(pool, (m->nv + 1) * sizeof *id->fit_coordinates);
    id->scratch         = api_take(pool, scratch);
    return id->parameters && id->fit_coordinates && id->scratch &&
           api_pool_claim(pool, scratch); /* LAPACK allocates the same amount once more */
}

/* Writes the rows of the prior. */
static bool prepare_prior(const api_query *q, api_identification *id)
{
    if (!q->field[API_PRIOR]) return true;
    id->estimate.prior = api_prior_rows(q, &id->prior, id->base, id->own, &id->estimate.n_prior);
    return id->estimate.prior != NULL;
}

/* Prepares the estimate of load coefficients and Stribeck's curves. A model whose friction depends on the load is
 * refused unless these coefficients are unknown. */
static bool prepare_curves(const api_query *q, api_identification *id)
{
    const api_chosen_unknowns *chosen = id->chosen;
    if (api_has_load(q) && !(chosen && chosen->load))
        return api_fail_load(q, "identify (without \"load\" among the unknown)");
    if (!chosen || !(chosen->load || chosen->stribeck)) return true;
    id->curves = api_friction_curves_open(q, chosen);
    return id->curves != NULL;
}

bool api_identify_prepare(api_plan *plan, api_selection *selected)
{
    const api_model    *m  = plan->query->model;
    api_identification *id = selected->options;
    size_t              n  = id->base->n;
    if (!prepare_curves(plan->query, id)) return false;
    if (!id->chosen && !api_base_check_gravity(plan->query, plan->query->problem)) return false;
    if (plan->query->rows * m->nv <= n && !(id->chosen && id->chosen->payload))
        return api_fail_at(plan->query->problem, NULL, API_RANK_DEFICIENT,
                           "%zu base parameters are looked for, and %zu states with %zu torques each are not more than "
                           "that: give at least %zu states, several times as many where torques are noisy",
                           n, plan->query->rows, m->nv, n / (m->nv > 0 ? m->nv : 1) + 1);
    id->estimate = (dyn_estimate){.robot    = api_model_mechanism(m),
                                  .base     = id->base,
                                  .deadline = api_deadline_for_dynamics(plan->query->input->deadline),
                                  .weighted = plan->state[API_WEIGHTS] != NULL,
                                  .huber    = id->estimate.huber};
    if (!list_own(plan->query, id) || !prepare_prior(plan->query, id) ||
        !dyn_estimate_open(api_pool_memory(plan->query->pool), plan->query->rows, &id->estimate) ||
        !api_pool_claim(plan->query->pool,
                        dyn_estimate_scratch(&id->estimate) * sizeof(double))) /* memory that LAPACK allocates */
        return false;
    return prepare_parameters(plan, selected);
}
