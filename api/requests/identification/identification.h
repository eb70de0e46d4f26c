/* identification.h - the state of the operation identify, which identify_options.c prepares, identify.c fills with
 * rows, identify_result.c solves and identify_answer.c writes. */
#pragma once
#include "chosen_unknowns.h"
#include "dynamics/identification/estimate.h"
#include "friction_curves.h"
#include "prior.h"
#include "dynamics/identification/shown_parameters.h"
#include "api/requests/fields/operation.h"

/* The outputs. */
enum {
    API_IDENTIFY_BASE,
    API_IDENTIFY_PARAMETERS,
    API_IDENTIFY_RESIDUAL,
    API_IDENTIFY_NOISE,
    API_IDENTIFY_CONDITION,
    API_IDENTIFY_UNOBSERVABLE,
    API_IDENTIFY_PAYLOAD,
    API_IDENTIFY_MODEL,
    API_IDENTIFY_FIT,
    API_IDENTIFY_SHOWN
};

/* The options and the state of the operation. */
typedef struct api_identification {
    unsigned        with; /* flags DYN_BASE_...: joint parameters to identify */
    const dyn_base *base; /* the model's base parameters, with the joint parameters `with`; or the chosen ones */
    const api_chosen_unknowns *chosen; /* NULL: all parameters of the bodies are unknown */
    dyn_estimate               estimate;
    api_friction_curves       *curves; /* NULL: neither load coefficients nor Stribeck's curves are unknown */
    api_prior                  prior;
    double                    *own; /* [api_identify_parameter_count] parameters of the model, with zero friction */
    /* [api_identify_parameter_count] physically consistent parameters: those of all bodies, or the model's with the
     * chosen ones; NULL: no output needs them. */
    double        *parameters;
    double        *scratch;               /* memory for dyn_consistent_find; NULL without `parameters` */
    bool           found;                 /* true: the results are final */
    double         payload[DYN_PER_BODY]; /* consistent parameters of the payload */
    double         mass_deviation;        /* kg, of the payload; < 0: the rows do not show its mass alone */
    double         fit;                   /* root mean square of the residuals with `parameters`, N m or N */
    double        *fit_coordinates;       /* [nv] root mean square of the residuals of each coordinate */
    unsigned char *by_rows, *by_motion;   /* [api_identify_parameter_count] dyn_shown of each parameter: by the rows of
                                             the request; by any motion */
} api_identification;

/* Returns the number of parameters, with those of friction curves. */
static inline size_t api_identify_parameter_count(const dyn_model *m)
{
    return dyn_curve_parameter(m, m->n_movers, 0);
}

/* Reads the options. For the fields `options` and `prepare` of api_operation (identify_options.c). */
bool api_identify_options(api_query *q, api_selection *selected, const api_node *given, const api_place *up);
bool api_identify_prepare(api_plan *plan, api_selection *selected);

/* Solves the rows. For the field `finish` of api_operation (identify_result.c). */
bool api_identify_finish(const api_evaluation *e, const api_selection *selected);

/* Writes the outputs. For the field `emit` of api_operation (identify_answer.c). */
void api_identify_emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to);
