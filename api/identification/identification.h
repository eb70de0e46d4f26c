/* identification.h - the state of the operation identify, which identify_options.c prepares, identify.c computes and
 * identify_answer.c writes. */
#pragma once
#include "chosen_unknowns.h"
#include "estimate.h"
#include "friction_curves.h"
#include "api/request/operation.h"

/* The outputs. */
enum {
    API_IDENTIFY_BASE,
    API_IDENTIFY_PARAMETERS,
    API_IDENTIFY_RESIDUAL,
    API_IDENTIFY_NOISE,
    API_IDENTIFY_CONDITION,
    API_IDENTIFY_UNOBSERVABLE,
    API_IDENTIFY_PAYLOAD,
    API_IDENTIFY_MODEL
};

/* The options and the state of the operation. */
typedef struct api_identification {
    unsigned        with; /* set of API_BASE_...: joint parameters to identify */
    const api_base *base; /* the model's base parameters, with the joint parameters `with`; or the chosen ones */
    const api_chosen_unknowns *chosen; /* NULL: all parameters of the bodies are unknown */
    api_estimate               estimate;
    api_friction_curves       *curves; /* NULL: neither load coefficients nor Stribeck's curves are unknown */
    double                    *own;    /* [api_identify_parameter_count] parameters of the model, with zero friction */
    double *parameters; /* [api_identify_parameter_count] consistent ones, or the model's with the chosen ones; NULL:
                           not requested */
    double *scratch;    /* memory for api_consistent_find; NULL if not all bodies are unknown */
    bool    found;      /* true: `parameters` are final */
    double  payload[API_PER_BODY]; /* estimated parameters of the payload */
} api_identification;

/* The number of parameters, with those of friction curves. */
static inline size_t api_identify_parameter_count(const api_model *m)
{
    return api_curve_parameter(m, m->n_movers, 0);
}

/* identify_options.c: `options` and `prepare` of the operation. */
bool api_identify_options(api_query *q, api_selection *selected, const api_node *given, const api_place *up);
bool api_identify_prepare(api_plan *plan, api_selection *selected);

/* identify_answer.c: `emit` of the operation. */
void api_identify_emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to);
