/* external_wrench_fields.c - reads the options of external-wrench: frame, axes, noise, gain and step. */
#include "api/codec/number.h"
#include "api/requests/fields/frame_fields.h"
#include "external_wrench.h"
#include <math.h>

/* Reads a positive number for each coordinate, in the order of the request, or one for all. NULL with a problem. */
static double *read_positive_vector(api_query *q, const api_node *value, const api_place *where)
{
    const size_t nv   = q->model->nv;
    const bool   one  = api_node_is(value, API_NUMBER);
    double      *list = api_take(q->pool, nv * sizeof *list), *node = NULL, number = 0;
    if (!list) return NULL;
    if (one ? !api_read_number(q, value, where, &number) : !(node = api_take_numbers(q, value, where, nv))) return NULL;
    for (size_t i = 0; i < nv; i++) {
        const double x     = one ? number : node[i];
        api_place    entry = one ? *where : api_place_index(where, i);
        if (!(x > 0 && isfinite(1 / x))) {
            api_fail_at(q->problem, &entry, API_BAD_VALUE, "%s given, a number greater than 0 expected",
                        API_NUMBER_TEXT(x));
            return NULL;
        }
        list[i] = x;
    }
    return list;
}

/* Returns a list in the order of the model; NULL stays NULL. If memory is short, sets *room to false and the
 * problem. */
static const double *turn_to_model(const api_query *q, const double *list, bool *room)
{
    const size_t nv = q->model->nv;
    double      *to = list ? api_take(q->pool, nv * sizeof *to) : NULL;
    *room           = *room && (to || !list);
    for (size_t i = 0; to && i < nv; i++)
        to[q->order[i]] = list[i];
    return to;
}

bool api_external_wrench_order(const api_query *q, api_external_options *o)
{
    bool room = true;
    if (!q->order) return true;
    o->gain      = turn_to_model(q, o->gain, &room);
    o->fit.sigma = turn_to_model(q, o->fit.sigma, &room);
    return room;
}

/* Checks that the observer has its samples: rows with velocities. */
static bool check_samples(const api_query *q)
{
    api_place qd_at = api_place_key(NULL, "qd"), qdd_at = api_place_key(NULL, "qdd");
    if (!q->field[API_QD]) return api_fail_at(q->problem, &qd_at, API_MISSING_FIELD, "the momentum observer needs qd");
    return !q->field[API_QDD] ||
           api_fail_at(q->problem, &qdd_at, API_BAD_VALUE, "the momentum observer takes no qdd: leave it out, or gain");
}

/* Reads "gain" and "step" of the momentum observer. */
static bool read_observer(api_query *q, const api_node *node, const api_place *up, api_external_options *o)
{
    const api_node *gain = api_node_get(node, "gain"), *step = api_node_get(node, "step");
    api_place       gain_at = api_place_key(up, "gain"), step_at = api_place_key(up, "step");
    if (!gain && !step) return true;
    if (!gain || !step)
        return api_fail_at(q->problem, gain ? &step_at : &gain_at, API_MISSING_FIELD,
                           "the momentum observer needs gain, in 1/s, and step, the seconds between rows");
    if (!check_samples(q)) return false;
    o->gain = read_positive_vector(q, gain, &gain_at);
    if (!o->gain || !api_read_number(q, step, &step_at, &o->step)) return false;
    if (!(o->step > 0))
        return api_fail_at(q->problem, &step_at, API_BAD_VALUE, "%s given, a time in s greater than 0 expected",
                           API_NUMBER_TEXT(o->step));
    for (size_t i = 0; i < q->model->nv; i++)
        if (!(o->gain[i] * o->step < 2))
            return api_fail_at(
                q->problem, &gain_at, API_BAD_VALUE,
                "gain times step is %s, less than 2 expected: the residual would oscillate from sample to "
                "sample",
                API_NUMBER_TEXT(o->gain[i] * o->step));
    return true;
}

static bool read_wrench_frame(api_query *q, api_selection *selected, const api_node *node, const api_place *up,
                              api_external_options *o)
{
    const api_node *frame = api_node_get(node, "frame"), *axes = api_node_get(node, "axes"),
                   *reference = api_node_get(node, "reference");
    api_place frame_at = api_place_key(up, "frame"), axes_at = api_place_key(up, "axes");
    api_place reference_at = api_place_key(up, "reference");
    if (!frame && (axes || reference || (selected->outputs & API_EXTERNAL_OF_FRAME)))
        return api_fail_at(q->problem, &frame_at, API_MISSING_FIELD, "a wrench is estimated at a frame: give frame");
    if (!frame) return true;
    const int i = api_read_frame(q, frame, &frame_at);
    if (i < 0 || !api_read_axes(q, axes, &axes_at, o->fit.axis, &o->fit.n) ||
        !api_read_reference(q, reference, &reference_at, &o->frame_axes))
        return false;
    o->frame = &q->model->frames[i].frame;
    api_set_extent(selected, API_SELECTED_AXES, o->fit.n);
    if (o->frame->body == DYN_WORLD)
        return api_fail_at(q->problem, &frame_at, API_BAD_VALUE,
                           "no joint moves this frame: its wrench causes no torque");
    return o->fit.n <= q->model->nv ||
           api_fail_at(q->problem, &axes_at, API_BAD_VALUE,
                       "%zu torques do not determine a wrench along %zu axes: list fewer axes", q->model->nv, o->fit.n);
}

/* Selects the outputs that the fields determine, and checks that a covariance has its noise. */
static bool select_wrench_outputs(const api_query *q, api_selection *selected, const api_node *node,
                                  const api_place *up, const api_external_options *o)
{
    if (!api_node_get(node, "outputs") && o->frame) {
        selected->outputs |= API_BIT(API_EXTERNAL_WRENCH);
        if (o->fit.sigma) selected->outputs |= API_BIT(API_EXTERNAL_COVARIANCE);
    }
    if ((selected->outputs & API_BIT(API_EXTERNAL_COVARIANCE)) && !o->fit.sigma)
        return api_fail_output(q, selected, API_EXTERNAL_COVARIANCE, node, up, "covariance needs noise");
    return true;
}

api_external_options *api_external_wrench_read(api_query *q, api_selection *selected, const api_node *node,
                                               const api_place *up)
{
    const api_node       *noise    = api_node_get(node, "noise");
    api_place             noise_at = api_place_key(up, "noise");
    api_external_options *o        = api_take(q->pool, sizeof *o);
    if (!o) return NULL;
    *o = (api_external_options){.fit = {.nv = q->model->nv}};
    if (!read_wrench_frame(q, selected, node, up, o) || !read_observer(q, node, up, o)) return NULL;
    if (noise && !(o->fit.sigma = read_positive_vector(q, noise, &noise_at))) return NULL;
    return select_wrench_outputs(q, selected, node, up, o) ? o : NULL;
}
