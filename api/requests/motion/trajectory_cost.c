/* trajectory_cost.c - estimate the time of a trajectory's outputs beyond that of its torques and their sensitivities.
 *
 * The weights were measured in units of inverse dynamics per body, with models of 7 and 39 coordinates. */
#include "api/requests/cost/peek.h"
#include "api/requests/operations/operation_list.h"
#include "trajectory_outputs.h"
#include <math.h>

/* The trajectory whose outputs are estimated. */
typedef struct state_work {
    const api_model *model;
    api_set          outputs;
    double           degree; /* degree of the spline */
    double           n_free; /* number of free coordinates */
} state_work;

/* Returns `units` if one of the outputs is requested, otherwise 0. */
static double if_requested(const state_work *w, api_set outputs, double units)
{
    return w->outputs & outputs ? units : 0;
}

/* Returns the work of derivatives with respect to knots: 2 degree + 2 knots change the spline at a sample. Each needs
 * the derivatives of the basis, and a product with the partial derivatives of all rows. */
static double knot_units(const state_work *w, size_t output, double rows)
{
    const double knot_weight = 35, entry_weight = 0.6;
    return if_requested(w, API_BIT(output),
                        (2 * w->degree + 2) * (knot_weight + entry_weight * rows * (double)w->model->nv));
}

/* Returns the work of free coordinates: the accelerations, then the solution of a linear system for each column of
 * derivatives. */
static double free_coordinate_units(const state_work *w, double nv, double parameters)
{
    const double  motion_weight = 3, entry_weight = 0.8;
    const api_set gradients = OF_TAU | OF_WRENCHES | OF_QDD | OF_POINT_ACCELERATIONS | OF_MARGIN_GRADIENTS | OF_TAU_DOT;
    const double  columns   = if_requested(w, gradients | API_BIT(DTAU_DPARAMETERS), 3 * nv) +
                           if_requested(w, OF_TAU_DOT, 6 * nv) +
                           if_requested(w, API_BIT(DTAU_DPARAMETERS), parameters) +
                           if_requested(w, API_BIT(DTAU_DOT_DPARAMETERS), 2 * parameters);
    if (w->n_free == 0) return 0;
    return motion_weight * (double)w->model->n_bodies + entry_weight * w->n_free * (w->n_free + nv) * columns;
}

static double units(const state_work *w)
{
    const double  rate_weight = 4, rate_square = 2, wrench_weight = 0.5, entry_weight = 0.1;
    const double  nv = (double)w->model->nv, bodies = (double)w->model->n_bodies, parameters = 10 * bodies;
    const api_set rates = OF_TAU_DOT | OF_MARGIN_GRADIENTS;
    return if_requested(w, rates, rate_weight * bodies + rate_square * nv * nv) +
           if_requested(w, OF_WRENCHES, wrench_weight * 6 * bodies * nv) +
           if_requested(w, API_BIT(DTAU_DPARAMETERS), entry_weight * nv * parameters) +
           if_requested(w, API_BIT(DTAU_DOT_DPARAMETERS), 2 * entry_weight * nv * parameters) +
           knot_units(w, DTAU_DKNOTS, nv) + knot_units(w, DTAU_DOT_DKNOTS, nv) + knot_units(w, DQDD_DKNOTS, nv) +
           knot_units(w, D_JOINT_WRENCHES_DKNOTS, 6 * bodies) + knot_units(w, DMARGINS_DKNOTS, 3 * nv) +
           knot_units(w, DMOTION_DKNOTS, 1) + free_coordinate_units(w, nv, parameters);
}

double api_trajectory_state_seconds(const api_call *call, const api_input *input)
{
    state_work w = {.model = call->model, .degree = api_peek_number(call, input, API_DEGREE)};
    for (size_t i = 0; api_has_output(&api_trajectory, i); i++)
        if (api_body_mentions(input, api_trajectory.outputs[i].name)) w.outputs |= API_BIT(i);
    w.degree = fmin(w.degree, DYN_SPLINE_DEGREE);
    if (api_body_mentions(input, api_field_names[API_FREE])) w.n_free = 0.5 * (double)call->model->nv;
    return units(&w) * call->api->calibration.body;
}

double api_trajectory_decoded_seconds(const api_query *q, const api_selection *selected)
{
    const api_trajectory_options *o     = selected->options;
    const api_set                 least = API_BIT(LEAST_GRADIENTS);
    state_work state = {q->model, selected->outputs & ~least, (double)o->motion->path.spline.degree, 0}, again;
    for (size_t v = 0; o->efforts.driven && v < q->model->nv; v++)
        state.n_free += !o->efforts.driven[v];
    again         = state;
    again.outputs = selected->outputs & least;
    /* A block of samples is differentiated again for each limit whose least margin is in another block. */
    const double blocks = fmin((double)o->limits.n, (double)o->motion->path.samples);
    return q->call->api->calibration.body *
           ((double)api_states(q) * units(&state) + (double)q->rows * blocks * units(&again));
}
