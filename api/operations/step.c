/* step.c - integrates each state over one step, with the Jacobians of the result (dynamics/algorithms/step.c). */
#include "step.h"
#include "api/cost/peek.h"
#include "api/http/call.h"
#include "api/request/fields.h"
#include "api/wire/number.h"
#include <stdio.h>
#include <string.h>

/* --- options ---------------------------------------------------------------------------------------------------- */

static const char *const integrators[] = {[DYN_EXPLICIT_EULER]      = "explicit_euler",
                                          [DYN_SEMI_IMPLICIT_EULER] = "semi_implicit_euler",
                                          [DYN_RK4]                 = "rk4",
                                          [DYN_IMPLICIT_EULER]      = "implicit_euler"};

static bool read_integrator(const api_query *q, const api_node *value, const api_place *up, dyn_step_method *method)
{
    api_place at    = api_place_key(up, "integrator");
    api_names known = api_names_from_array(integrators, sizeof integrators / sizeof *integrators);
    *method         = DYN_SEMI_IMPLICIT_EULER;
    if (!value) return true;
    int i = api_read_choice(q, value, &at, "an integrator", &known);
    if (i >= 0) *method = (dyn_step_method)i;
    return i >= 0;
}

/* Reads "held" and copies the frames for the kernel. */
static bool read_held(api_query *q, const api_node *given, const api_place *up, api_step_options *o)
{
    o->contact = NULL;
    o->held    = NULL;
    if (!api_contact_read(q, given, up, &o->contact)) return false;
    if (!o->contact) return true;
    o->held = api_take(q->pool, o->contact->n * sizeof *o->held);
    for (size_t i = 0; o->held && i < o->contact->n; i++) {
        const api_held_frame *from = &o->contact->frame[i];
        o->held[i] = (dyn_held_frame){.frame = from->frame, .frame_axes = from->frame_axes, .n = from->n};
        memcpy(o->held[i].axis, from->axis, sizeof o->held[i].axis);
    }
    return o->held != NULL;
}

bool api_step_read(api_query *q, const api_node *given, const api_place *up, api_step_options *options)
{
    api_place at = api_place_key(up, "step");
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL, "steps are for models without loops, which %s has",
                        q->model->name);
    if (!api_read_number(q, api_node_get(given, "step"), &at, &options->h)) return false;
    if (!(options->h > 0))
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "%s given, a time in s greater than 0 expected",
                           API_NUMBER_TEXT(options->h));
    return read_integrator(q, api_node_get(given, "integrator"), up, &options->method) &&
           read_held(q, given, up, options);
}

bool api_step_prepare(api_plan *plan, api_selection *selected)
{
    api_step_options  *o       = selected->options;
    const api_query   *q       = plan->query;
    const api_contact *contact = o->contact;
    size_t             given   = q->scene.n_wrenches;
    o->work                    = dyn_step_work(q->model->dyn, o->method);
    if (!contact) return true;
    o->work += dyn_step_held_work(q->model->dyn, given, contact->n, contact->k);
    dyn_wrench_site *sites = api_take(q->pool, (given + contact->n) * sizeof *sites);
    if (!sites) return false;
    if (given > 0) memcpy(sites, q->scene.wrench, given * sizeof *sites);
    for (size_t i = 0; i < contact->n; i++)
        sites[given + i] = (dyn_wrench_site){.body       = contact->frame[i].frame.body,
                                             .X_bl       = contact->frame[i].frame.X_bf,
                                             .world_axes = !contact->frame[i].frame_axes};
    o->sites = sites;
    return true;
}

void api_step_set_options(const api_step_options *o, dyn_step *io)
{
    io->method = o->method;
    io->h      = o->h;
    io->n_held = o->contact ? o->contact->n : 0;
    io->held   = o->held;
    io->sites  = o->sites;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    api_step_options *o = selected->options = api_take(q->pool, sizeof *o);
    return o && api_step_read(q, given, up, o);
}

/* --- states ----------------------------------------------------------------------------------------------------- */

static bool has_matrices(const api_selection *selected)
{
    return selected->result[API_STEP_STATE_MATRIX] || selected->result[API_STEP_INPUT_MATRIX];
}

size_t api_step_spare(const api_model *model, const api_selection *selected)
{
    const api_step_options *o    = selected->options;
    size_t                  last = has_matrices(selected) ? API_STEP_INPUT_MATRIX : API_STEP_QD_AFTER;
    return 3 + o->work + api_missing_entries(model, selected, API_STEP_Q_AFTER, last);
}

/* Writes why the step from a state has no result, or returns true. */
static bool check_state(const api_evaluation *e, const dyn_step *io, size_t lane, api_problem *found)
{
    const dyn_bound *beyond   = api_find_angle_beyond_limit(e->model, io->q_after + lane, e->lanes);
    double           singular = io->singular[lane], unsolved = io->unsolved[lane];
    if (singular >= 0)
        return api_fail(found, API_SINGULAR_MASS_MATRIX, NULL,
                        "the mass matrix is singular at %.64s, which moves no effective mass or inertia",
                        api_joint_of(e->model, (int)singular));
    if (unsolved != DYN_STEP_SOLVED)
        return api_fail(found, API_INTEGRATION_FAILED, NULL, "%s: shorten the step, or choose another integrator",
                        unsolved == DYN_STEP_SINGULAR ? "the Jacobian of the implicit equation is singular"
                                                      : "Newton's method does not solve the implicit equation");
    if (io->contradictory[lane] != 0)
        return api_fail(found, API_CONTRADICTORY_CONTACTS, NULL, "%s", API_CONTRADICTORY_TEXT);
    return !beyond || api_fail(found, API_ANGLE_TOO_LARGE, NULL,
                               "after the step %.64s is beyond %g rad: the motion is too fast, or the step too long",
                               e->model->position_names[beyond->entry], DYN_MAX_ANGLE);
}

/* Fails the states whose step has no result; in a rollout the problem names the step. The result is that of
 * api_fail_state. */
static bool check_states(const api_evaluation *e, const dyn_step *io, size_t block)
{
    const size_t samples = e->query->samples;
    for (size_t lane = 0; lane < e->lanes && block * e->lanes + lane < api_states(e->query); lane++) {
        size_t      state      = block * e->lanes + lane;
        char        prefix[48] = "";
        api_problem found, problem;
        api_problem_clear(&found), api_problem_clear(&problem);
        if (check_state(e, io, lane, &found)) continue;
        if (samples > 0) snprintf(prefix, sizeof prefix, "step %zu: ", state % samples);
        api_fail(&problem, found.code, NULL, "%s%s", prefix, found.detail);
        if (!api_fail_found(e, API_Q, state, &problem)) return false;
    }
    return true;
}

bool api_step_evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1 */
    const api_step_options *o        = selected->options;
    double                 *singular = e->spare, *unsolved = singular + e->lanes, *contradictory = unsolved + e->lanes,
           *work      = contradictory + e->lanes;
    double  *next     = api_behind(e, work, o->work, 1);
    bool     matrices = has_matrices(selected);
    dyn_step io       = {
              .q        = api_state_block(e, API_Q, block),
              .qd       = api_state_block(e, API_QD, block),
              .tau      = api_state_block(e, API_TAU, block),
              .wrenches = api_wrench_block(e, block),

              .q_after       = api_result_or_spare(e, selected, API_STEP_Q_AFTER, block, &next),
              .qd_after      = api_result_or_spare(e, selected, API_STEP_QD_AFTER, block, &next),
              .work          = work,
              .singular      = singular,
              .unsolved      = unsolved,
              .contradictory = contradictory,
    };
    api_step_set_options(o, &io);
    if (matrices) io.state_matrix = api_result_or_spare(e, selected, API_STEP_STATE_MATRIX, block, &next);
    if (matrices) io.input_matrix = api_result_or_spare(e, selected, API_STEP_INPUT_MATRIX, block, &next);
    dyn_step_kernel_of(e->kernels)(&e->query->scene, e->workspace, &io, 1);
    return check_states(e, &io, block);
}

/* --- costs ------------------------------------------------------------------------------------------------------ */

double api_step_seconds(const api_call *call, const api_input *input)
{
    enum { NEWTON_STEPS = 5, RK4_CUBE = 1, IMPLICIT_CUBE = 2 }; /* the latter per nv^3: products and elimination */
    const api_model *m  = call->model;
    double           nv = (double)m->nv, evaluations = 0, cube = 0;
    if (api_body_mentions(input, integrators[DYN_RK4])) {
        evaluations = 3;
        cube        = RK4_CUBE;
    } else if (api_body_mentions(input, integrators[DYN_IMPLICIT_EULER]) &&
               !api_body_mentions(input, integrators[DYN_SEMI_IMPLICIT_EULER])) {
        evaluations = NEWTON_STEPS;
        cube        = IMPLICIT_CUBE;
    }
    double each = API_STEP_WEIGHT * (double)m->n_bodies + API_STEP_SQUARE_WEIGHT * nv * nv;
    return (evaluations * each + cube * nv * nv * nv) * call->api->calibration.body;
}

const api_operation api_step = {
    .name  = "step",
    .needs = API_BIT(API_Q) | API_BIT(API_TAU),
    .takes = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_OUTPUTS) | API_BIT(API_STEP) |
             API_BIT(API_INTEGRATOR_FIELD) | API_BIT(API_HELD_FIELD),
    .needs_options = API_BIT(API_STEP),
    .outputs       = {API_STEP_OUTPUTS},
    .one_by_one    = true,
    .weight        = API_STEP_WEIGHT,
    .square_weight = API_STEP_SQUARE_WEIGHT,
    .state_seconds = api_step_seconds,
    .options       = options,
    .prepare       = api_step_prepare,
    .spare         = api_step_spare,
    .evaluate      = api_step_evaluate,
};
