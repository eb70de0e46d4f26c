/* identify.c - find a robot's parameters from measured motion and torques.
 *
 * The results are the base parameters with standard deviations, the parameters without effect on the torques, and on
 * request a full set of physically consistent parameters. */
#include "shared_base_parameters.h"
#include "chosen_unknowns.h"
#include "api/lanes/evaluation.h"
#include "api/request/fields.h"
#include "consistent_parameters.h"
#include "estimate.h"
#include "friction_curves.h"
#include "identified_document.h"
#include "api/lanes/failed_rows.h"
#include "api/request/operation.h"
#include "api/loops/loop_kernels.h"
#include <math.h>
#include <string.h>

enum { BASE_PARAMETERS, PARAMETERS, RESIDUAL, NOISE, CONDITION, UNOBSERVABLE, PAYLOAD, MODEL };

/* The options and the state of the operation. */
typedef struct identification {
    unsigned        with; /* set of API_BASE_...: joint parameters to identify */
    const api_base *base; /* the model's base parameters, with the joint parameters `with`; or the chosen ones */
    const api_chosen_unknowns *chosen; /* NULL: all parameters of the bodies are unknown */
    api_estimate               estimate;
    api_friction_curves       *curves; /* NULL: neither load coefficients nor Stribeck's curves are unknown */
    double                    *own;    /* [all_parameters] parameters of the model, with zero friction */
    double *parameters;            /* [all_parameters] consistent ones, or the model's with the chosen ones; NULL: not
                                      requested */
    double *scratch;               /* memory for api_consistent_find; NULL if not all bodies are unknown */
    bool    found;                 /* true: `parameters` are final */
    double  payload[API_PER_BODY]; /* estimated parameters of the payload */
} identification;

/* The number of parameters, with those of friction curves. */
static size_t all_parameters(const api_model *m)
{
    return api_curve_parameter(m, m->n_movers, 0);
}

/* --- the request ------------------------------------------------------------------------------------------------ */

static bool read_flag(const api_query *q, api_field field, bool *set)
{
    api_place at = api_place_key(NULL, api_field_names[field]);
    *set         = false;
    return api_read_flag(q, q->field[field], &at, set);
}

/* Takes the parameters that "unknown" names. The options friction, rotor and consistent are then superfluous. */
static bool choose(api_query *q, api_selection *selected, identification *id)
{
    static const api_field replaced[] = {API_ROTOR, API_CONSISTENT};
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
        api_place at = api_place_key(NULL, api_field_names[replaced[i]]);
        if (q->field[replaced[i]])
            return api_fail_at(q->problem, &at, API_BAD_VALUE, "%s cannot be combined with unknown",
                               api_field_names[replaced[i]]);
    }
    id->chosen = api_chosen_unknowns_read(q);
    if (!id->chosen) return false;
    if (id->with & ~id->chosen->with) {
        api_place at = api_place_key(NULL, "friction");
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "friction is true, and unknown does not list it");
    }
    if (q->field[API_FRICTION] && id->chosen->with & ~id->with & API_BASE_FRICTION) {
        api_place at = api_place_key(NULL, "friction");
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "friction is false, but unknown lists it");
    }
    id->base = &id->chosen->base;
    id->with = id->chosen->with;
    if (id->chosen->payload && !q->field[API_OUTPUTS]) selected->outputs |= API_BIT(PAYLOAD);
    return true;
}

/* Checks the outputs that need an unknown payload, all parameters of the bodies, or a document that holds them. */
static bool check_outputs(const api_query *q, const api_selection *selected, const api_node *given, const api_place *up)
{
    const identification *id = selected->options;
    if (selected->outputs & API_BIT(PAYLOAD) && !(id->chosen && id->chosen->payload))
        return api_fail_output(q, selected, PAYLOAD, given, up, "payload is estimated only where unknown lists it");
    if (selected->outputs & API_BIT(PARAMETERS) && id->chosen)
        return api_fail_output(q, selected, PARAMETERS, given, up,
                               "parameters are found only if all bodies are unknown: leave unknown out");
    const char *refusal =
        selected->outputs & API_BIT(MODEL) ? api_identified_document_refusal(q->model, id->with) : NULL;
    return !refusal || api_fail_output(q, selected, MODEL, given, up, refusal);
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    bool friction, rotor, consistent;
    if (!read_flag(q, API_FRICTION, &friction) || !read_flag(q, API_ROTOR, &rotor) ||
        !read_flag(q, API_CONSISTENT, &consistent))
        return false;
    identification *id = api_take(q->pool, sizeof *id);
    if (!id) return false;
    *id               = (identification){.with =
                                             (friction ? (unsigned)API_BASE_FRICTION : 0) | (rotor ? (unsigned)API_BASE_ROTORS : 0)};
    selected->options = id;
    if (q->field[API_UNKNOWN]) return choose(q, selected, id) && check_outputs(q, selected, given, up);
    if (q->field[API_FRAME]) {
        api_place at = api_place_key(NULL, "frame");
        return api_fail_at(q->problem, &at, API_BAD_VALUE, "frame is given without an unknown payload");
    }
    id->base = api_base_share(q, id->with);
    if (consistent) selected->outputs |= API_BIT(PARAMETERS);
    return id->base != NULL && check_outputs(q, selected, given, up);
}

/* Lists the parameters that the computed torques of the model contain. Friction parameters are zero, because the
 * torques are computed without friction when friction is identified. */
static bool list_own(const api_query *q, identification *id)
{
    const api_model *m = q->model;
    id->own            = api_take(q->pool, (all_parameters(m) + 1) * sizeof *id->own);
    if (!id->own) return false;
    memset(id->own, 0, (all_parameters(m) + 1) * sizeof *id->own);
    api_parameters_compute(m, id->own);
    for (size_t j = 0; j < m->n_movers; j++)
        for (size_t c = API_VISCOUS; c < API_PER_JOINT; c++)
            id->own[api_joint_parameter(m, j, c)] = 0;
    return true;
}

/* Allocates memory for the outputs PARAMETERS and MODEL. */
static bool prepare_parameters(api_plan *plan, api_selection *selected)
{
    const api_model *m    = plan->query->model;
    api_pool        *pool = plan->query->pool;
    identification  *id   = selected->options;
    if (!(selected->outputs & (API_BIT(PARAMETERS) | API_BIT(MODEL)))) return true;
    if (selected->outputs & API_BIT(MODEL) && !api_pool_claim(pool, api_identified_document_memory(m))) return false;
    id->parameters = api_take(pool, (all_parameters(m) + 1) * sizeof *id->parameters);
    if (!id->parameters || id->chosen) return id->parameters != NULL;
    size_t scratch = api_consistent_scratch(m, id->base, id->with) * sizeof(double);
    id->scratch    = api_take(pool, scratch);
    return id->scratch && api_pool_claim(pool, scratch); /* LAPACK allocates as much memory again */
}

/* Prepares the estimate of load coefficients and Stribeck's curves. A model whose friction depends on the load is
 * refused unless these coefficients are unknown. */
static bool prepare_curves(const api_query *q, identification *id)
{
    const api_chosen_unknowns *chosen = id->chosen;
    if (api_has_load(q) && !(chosen && chosen->load))
        return api_fail_load(q, "identify (without \"load\" among the unknown)");
    if (!chosen || !(chosen->load || chosen->stribeck)) return true;
    id->curves = api_friction_curves_open(q, chosen);
    return id->curves != NULL;
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    const api_model *m  = plan->query->model;
    identification  *id = selected->options;
    size_t           n  = id->base->n;
    if (!prepare_curves(plan->query, id)) return false;
    if (!id->chosen && !api_base_check_gravity(plan->query, plan->query->problem)) return false;
    if (plan->query->rows * m->nv <= n)
        return api_fail_at(plan->query->problem, NULL, API_RANK_DEFICIENT,
                           "%zu base parameters are looked for, and %zu states with %zu torques each are not more than "
                           "that: give at least %zu states, several times as many where torques are noisy",
                           n, plan->query->rows, m->nv, n / (m->nv > 0 ? m->nv : 1) + 1);
    id->estimate = (api_estimate){.model    = m,
                                  .base     = id->base,
                                  .deadline = plan->query->input->deadline,
                                  .problem  = plan->query->problem,
                                  .weighted = plan->state[API_WEIGHTS] != NULL};
    if (!list_own(plan->query, id) || !api_estimate_open(plan->query, &id->estimate)) return false;
    return prepare_parameters(plan, selected);
}

/* --- the rows --------------------------------------------------------------------------------------------------- */

static size_t spare(const api_model *m, const api_selection *selected)
{
    (void)selected;
    return m->nv * (API_PER_BODY * m->n_bodies + 3 * m->n_movers + 1);
}

static bool add_states(const api_evaluation *e, const api_selection *selected, size_t block, api_measured *at)
{
    identification *id = selected->options;
    api_estimate   *t  = &id->estimate;
    for (size_t lane = 0; lane < e->lanes && block * e->lanes + lane < e->query->rows; lane++) {
        size_t state       = block * e->lanes + lane;
        at->regressed.lane = lane;
        if (api_failed_rows_has(e->plan->failed_rows, state)) continue;
        if (!api_estimate_takes(t, at)) {
            if (api_fail_state(e, API_RESULT_NOT_FINITE, -1, state, "the figures of this state are too large"))
                continue;
            return false;
        }
        if (id->curves)
            api_friction_curves_keep(id->curves, at);
        else if (!api_estimate_add(t, at))
            return api_fail(e->problem, API_RESULT_NOT_FINITE, NULL,
                            "figures of the data are too large to compute with");
    }
    return true;
}

/* Computes the regressor and the torques of the model, and adds the states to the estimate. The estimate is the
 * difference from the parameters of the model, so payload, wrenches and springs count as known. */
static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1, because the operation is one_by_one */
    const identification *id      = selected->options;
    const api_model      *m       = e->model;
    const dyn_kernels    *kernels = e->kernels;
    double               *Y = e->spare, *joint = Y + m->nv * API_PER_BODY * m->n_bodies * e->lanes,
           *tau     = joint + m->nv * 3 * m->n_movers * e->lanes;
    const double *q = api_state_block(e, API_Q, block), *qd = api_state_block(e, API_QD, block),
                 *qdd            = api_state_block(e, API_QDD, block);
    dyn_scene            scene   = e->query->scene;
    dyn_regressor        columns = {.q = q, .qd = qd, .qdd = qdd, .regressor = Y, .joint_regressor = joint};
    dyn_inverse_dynamics known   = {.q = q, .qd = qd, .qdd = qdd, .wrenches = api_wrench_block(e, block), .tau = tau};
    if (id->with & API_BASE_FRICTION) scene.terms &= ~(unsigned)DYN_FRICTION;
    kernels->regressor(&scene, e->workspace, &columns, 1);
    kernels->inverse_dynamics(&scene, e->workspace, &known, 1);
    const double *rates = m->loops ? api_loop_tree_qd(e->workspace) : qd;
    api_measured  at    = {
            .regressed = {.regressor = Y, .joint_regressor = joint, .rates = rates, .lanes = e->lanes, .transmitted = tau},
            .tau       = api_state_block(e, API_TAU, block),
            .model_tau = tau,
            .weights   = api_state_block(e, API_WEIGHTS, block)};
    return add_states(e, selected, block, &at);
}

/* --- the result ------------------------------------------------------------------------------------------------- */

/* Returns advice how to determine the parameters marked in `unseen`, which depends on their kinds. */
static const char *advice(const identification *id, const bool *unseen)
{
    size_t joints = 0, bodies = 0, first = API_PER_BODY * id->estimate.model->n_bodies;
    for (size_t k = 0; k < id->base->n; k++)
        if (unseen[k]) *(id->base->parameter[k] < first ? &bodies : &joints) += 1;
    if (bodies > 0)
        return joints == 0 ? "give rows in which their joints move further and faster, each by itself and together"
                           : "give rows in which their joints move further and faster, at several speeds both ways";
    if (!id->chosen) return "move these joints at several speeds both ways, or leave \"friction\" or \"rotor\" out";
    return id->curves ? "move these joints both ways, slowly and fast, under several loads, or list less in \"unknown\""
                      : "move these joints at several speeds both ways, or list less in \"unknown\"";
}

static bool fail_deficient(const api_evaluation *e, const api_selection *selected)
{
    enum { SHOWN = 8 };
    const identification *id = selected->options;
    const api_estimate   *t  = &id->estimate;
    char                  name[API_PARAMETER_NAME], list[SHOWN * 70] = "";
    size_t                unseen = 0, length = 0;
    if (t->used <= t->n)
        return api_fail(e->problem, API_RANK_DEFICIENT, t->weighted ? "/weights" : NULL,
                        "%zu base parameters are looked for, and only %zu rows%s are left%s: give more", t->n, t->used,
                        t->weighted ? " with a weight above zero" : "",
                        e->plan->failed_rows ? " of rows that can be evaluated" : "");
    for (size_t k = 0; k < t->n; k++) {
        if (!t->unknowns.unseen[k] || unseen++ >= SHOWN) continue;
        api_parameter_name(t->model, t->base->parameter[k], name);
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.64s", length > 0 ? ", " : "", name);
    }
    return api_fail(e->problem, API_RANK_DEFICIENT, NULL,
                    "the data do not tell %zu of the %zu base parameters apart: %s%s; %s", unseen, t->n, list,
                    unseen > SHOWN ? " ..." : "", advice(id, t->unknowns.unseen));
}

static bool go_on(void *arg)
{
    const api_evaluation *e = arg;
    return api_deadline_check(e->query->input->deadline, e->problem);
}

static bool find_consistent(const api_evaluation *e, const api_selection *selected, const double *beta)
{
    const identification *id = selected->options;
    const api_consistent  c  = {.model      = e->model,
                                .base       = id->base,
                                .with       = id->with,
                                .R          = id->estimate.R,
                                .s          = api_estimate_row_deviation(&id->estimate),
                                .beta       = beta,
                                .parameters = id->parameters,
                                .go_on      = go_on,
                                .arg        = (void *)(uintptr_t)e};
    return api_consistent_find(&c, id->scratch) || api_fail(e->problem, API_RESULT_NOT_FINITE, NULL,
                                                            "figures are too large to find consistent parameters with");
}

/* Finds all parameters of the robot: consistent ones, or those of the model with the chosen ones in their place. */
static bool find_parameters(const api_evaluation *e, const api_selection *selected, const double *beta)
{
    identification *id = selected->options;
    if (!id->parameters) return true;
    id->found = true;
    if (!id->chosen) return find_consistent(e, selected, beta);
    memset(id->parameters, 0, all_parameters(e->model) * sizeof *id->parameters);
    api_parameters_compute(e->model, id->parameters);
    for (size_t k = 0; k < id->base->n; k++)
        id->parameters[id->base->parameter[k]] = beta[k];
    return true;
}

/* Copies the payload's parameters, before those of the model are added. A payload without mass has no centre. */
static bool keep_payload(const api_evaluation *e, identification *id, const double *beta)
{
    if (!id->chosen || !id->chosen->payload) return true;
    memcpy(id->payload, beta, sizeof id->payload);
    return id->payload[0] != 0 ||
           api_fail(e->problem, API_RESULT_NOT_FINITE, NULL, "the estimated mass of the payload is zero");
}

/* Adds the rows of friction curves, and the velocities about which they are linearised to the model's parameters. */
static bool add_curves(const api_evaluation *e, identification *id)
{
    id->estimate.problem = e->problem;
    if (!api_friction_curves_add(id->curves, &id->estimate)) return false;
    for (size_t j = 0; j < e->model->n_movers; j++)
        id->own[api_curve_parameter(e->model, j, API_STRIBECK_VELOCITY)] = api_friction_curves_velocity(id->curves, j);
    return true;
}

/* Solves for the base parameters, adds those of the model, puts the noise in the request's order of joints, and finds
 * the consistent parameters if requested. */
static bool finish(const api_evaluation *e, const api_selection *selected)
{
    identification *id   = selected->options;
    api_estimate   *t    = &id->estimate;
    double         *beta = t->unknowns.x, sum = 0;
    if (api_failed_rows_all(e->plan->failed_rows)) return true; /* no state is left: the outputs are null */
    if (id->curves && !add_curves(e, id)) return false;
    switch (api_estimate_solve(t)) {
    case API_SOLVED: break;
    case API_DEFICIENT: return fail_deficient(e, selected);
    case API_UNSOLVED:
        return api_fail(e->problem, API_RESULT_NOT_FINITE, NULL, "figures of the data are too large to compute with");
    }
    if (!keep_payload(e, id, beta)) return false;
    for (size_t k = 0; k < t->n; k++) {
        beta[k] += api_base_value(id->base, k, id->own);
        sum += fabs(beta[k]) + t->deviation[k];
    }
    for (size_t v = 0; v < e->model->nv; v++)
        sum += t->scratch[v] = t->noise[v];
    for (size_t v = 0; v < e->model->nv && e->query->order; v++)
        t->noise[v] = t->scratch[e->query->order[v]];
    if (!isfinite(sum + t->residual + t->unknowns.condition))
        return api_fail(e->problem, API_RESULT_NOT_FINITE, NULL, "figures of the data are too large to compute with");
    return find_parameters(e, selected, beta) && api_deadline_check(e->query->input->deadline, e->problem);
}

/* --- the answer ------------------------------------------------------------------------------------------------- */

static void emit_member(api_emit *to, const char *key, double value)
{
    api_emit_key(to, key);
    api_emit_number(to, value);
}

static void emit_vector(api_emit *to, const char *key, const double *values, size_t n)
{
    api_emit_key(to, key);
    api_emit_numbers(to, values, 1, &n);
}

static void emit_base(api_emit *to, const api_model *m, const identification *id)
{
    const api_estimate *t = &id->estimate;
    api_emit_array(to);
    for (size_t k = 0; k < id->base->n; k++) {
        api_emit_object(to);
        api_emit_key(to, "grouping");
        api_base_emit(to, m, id->base, k);
        emit_member(to, "value", t->deviation ? t->unknowns.x[k] : 0);
        emit_member(to, "deviation", t->deviation ? t->deviation[k] : 0);
        api_emit_end(to);
    }
    api_emit_end(to);
}

static void emit_inertial(api_emit *to, const double p[API_PER_BODY])
{
    api_inertial in = api_parameters_inertial(p);
    emit_member(to, "mass", in.mass);
    emit_vector(to, "com", in.com, 3);
    api_emit_key(to, "inertia");
    api_emit_object(to);
    for (int i = 0; i < API_TENSOR; i++)
        emit_member(to, api_tensor_names[i], in.inertia[i]);
    api_emit_end(to);
}

static void emit_joint(api_emit *to, const api_model *m, size_t j, unsigned with, const double *parameters)
{
    static const double zero[API_PER_JOINT];
    const double       *p = parameters ? parameters + api_joint_parameter(m, j, 0) : zero;
    api_emit_key(to, "joint");
    api_emit_string(to, m->mover_names[j]);
    if (with & API_BASE_ROTORS) emit_member(to, "rotor_inertia", p[API_ROTOR_INERTIA]);
    if (!(with & API_BASE_FRICTION)) return;
    api_emit_key(to, "friction");
    api_emit_object(to);
    emit_member(to, "viscous", p[API_VISCOUS]);
    api_emit_key(to, "coulomb");
    api_emit_object(to);
    emit_member(to, "positive", p[API_COULOMB_POSITIVE]);
    emit_member(to, "negative", p[API_COULOMB_NEGATIVE]);
    api_emit_end(to);
    api_emit_end(to);
}

static void emit_body(api_emit *to, const api_model *m, size_t i, const double *p)
{
    api_emit_key(to, "link");
    api_emit_string(to, m->body_names[i]);
    emit_inertial(to, p);
    emit_vector(to, "inertial_parameters", p, API_PER_BODY);
}

/* Writes the bodies, each with its joint, then the motors of elastic joints. */
static void emit_parameters(api_emit *to, const api_model *m, const identification *id)
{
    static const double any[API_PER_BODY] = {1};
    size_t              fixed             = m->n_bodies - m->n_joints;
    api_emit_array(to);
    for (size_t i = 0; i < fixed + m->n_movers; i++) {
        api_emit_object(to);
        if (i < m->n_bodies) emit_body(to, m, i, id->parameters ? id->parameters + API_PER_BODY * i : any);
        if (i >= fixed) emit_joint(to, m, i - fixed, id->with, id->parameters);
        api_emit_end(to);
    }
    api_emit_end(to);
}

static void emit_unobservable(api_emit *to, const api_model *m, const api_base *base)
{
    char name[API_PARAMETER_NAME];
    api_emit_array(to);
    for (size_t i = 0; i < base->n_no_effect; i++) {
        api_parameter_name(m, base->no_effect[i], name);
        api_emit_string(to, name);
    }
    api_emit_end(to);
}

/* Writes the payload as a request takes it, with the standard deviation of its mass. */
static void emit_payload(api_emit *to, const api_model *m, const identification *id)
{
    const api_estimate *t                 = &id->estimate;
    const double        any[API_PER_BODY] = {1};
    api_emit_object(to);
    api_emit_key(to, "link");
    api_emit_string(to, m->body_names[id->chosen->row]);
    emit_inertial(to, t->deviation ? id->payload : any);
    emit_member(to, "mass_deviation", t->deviation ? t->deviation[0] : 0);
    api_emit_end(to);
}

static void emit_model(api_emit *to, const api_model *m, const identification *id)
{
    int row = !id->chosen ? API_ALL_BODIES : id->chosen->payload ? id->chosen->row : API_NO_BODY;
    api_identified_document_emit(&(api_identified){.model      = m,
                                                   .parameters = id->found ? id->parameters : NULL,
                                                   .row        = row,
                                                   .with       = id->with,
                                                   .load       = id->chosen && id->chosen->load,
                                                   .stribeck   = id->chosen && id->chosen->stribeck},
                                 to);
}

static void emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    const identification *id = selected->options;
    const api_estimate   *t  = &id->estimate;
    if (output != UNOBSERVABLE && to->buffer && api_failed_rows_all(plan->failed_rows)) {
        api_emit_null(to);
        return;
    }
    switch (output) {
    case BASE_PARAMETERS: emit_base(to, plan->query->model, id); break;
    case PARAMETERS: emit_parameters(to, plan->query->model, id); break;
    case RESIDUAL: api_emit_number(to, t->residual); break;
    case NOISE: api_emit_numbers(to, t->noise, 1, &plan->query->model->nv); break;
    case CONDITION: api_emit_number(to, t->unknowns.condition); break;
    case UNOBSERVABLE: emit_unobservable(to, plan->query->model, id->base); break;
    case PAYLOAD: emit_payload(to, plan->query->model, id); break;
    case MODEL: emit_model(to, plan->query->model, id); break;
    default: break;
    }
}

/* Returns an upper bound of the seconds to find the base parameters: with all joint parameters the search takes
 * longest. */
static double once(const api_model *m)
{
    return api_base_wait(m, API_BASE_ROTORS | API_BASE_FRICTION);
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    const identification *id = selected->options;
    return id->chosen ? api_friction_curves_seconds(q->model, id->chosen, q->rows) : 0;
}

const api_operation api_identify = {
    .name  = "identify",
    .needs = API_BIT(API_Q) | API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_TAU),
    .takes = API_BIT(API_WEIGHTS) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_OUTPUTS) |
             API_BIT(API_CONSISTENT) | API_BIT(API_ROTOR) | API_BIT(API_UNKNOWN) | API_BIT(API_FRAME),
    .outputs         = {[BASE_PARAMETERS] = {"base_parameters", true, {API_STRUCTURED}},
                        [PARAMETERS]      = {"parameters", false, {API_STRUCTURED}},
                        [RESIDUAL]        = {"residual", true, {API_STRUCTURED}},
                        [NOISE]           = {"noise", true, {API_STRUCTURED}},
                        [CONDITION]       = {"condition", true, {API_STRUCTURED}},
                        [UNOBSERVABLE]    = {"unobservable", true, {API_STRUCTURED}},
                        [PAYLOAD]         = {"payload", false, {API_STRUCTURED}},
                        [MODEL]           = {"model", false, {API_STRUCTURED}}},
    .load            = API_LOAD_TAKEN,
    .alone           = true,
    .one_by_one      = true,
    .regresses       = true,
    .weight          = 5,
    .square_weight   = 40, /* cost of factoring the rows */
    .once            = once,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .evaluate        = evaluate,
    .finish          = finish,
    .emit            = emit,
};
