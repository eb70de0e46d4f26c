/* regressor.c - computes inverse dynamics as a matrix: tau = regressor * inertial parameters + joint_regressor *
 * joint parameters. The base parameters, combinations of inertial parameters, are the smallest set that determines
 * tau: tau = base_regressor * base parameters + joint_regressor * joint parameters. Energies and the momentum are
 * linear in the inertial and joint parameters, too. */
#include "api/robots/model/parameter_names.h"
#include "api/requests/identification/shared_base_parameters.h"
#include "api/requests/lanes/evaluation.h"
#include "api/requests/fields/reference_fields.h"
#include "dynamics/energy_regressor.h"
#include <string.h>

enum { REGRESSOR, JOINT_REGRESSOR, BASE_PARAMETERS, BASE_REGRESSOR };
enum { KINETIC = BASE_REGRESSOR + 1, POTENTIAL, MOMENTUM, JOINT_KINETIC, JOINT_MOMENTUM };
#define OF_TORQUES (API_BIT(REGRESSOR) | API_BIT(JOINT_REGRESSOR) | API_BIT(BASE_REGRESSOR))
#define OF_ENERGY  (~(API_BIT(KINETIC) - 1))

/* The operation's options. */
typedef struct regressor_options {
    const dyn_base *base; /* the model's base parameters; NULL: no output needs them */
} regressor_options;

static bool keep(api_query *q, api_selection *selected, const dyn_base *base)
{
    regressor_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (o) o->base = base;
    return o != NULL;
}

static const dyn_base *base_of(const api_selection *selected)
{
    const regressor_options *o = selected->options;
    return o ? o->base : NULL;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *at)
{
    (void)given, (void)at;
    if (!(selected->outputs & (API_BIT(BASE_PARAMETERS) | API_BIT(BASE_REGRESSOR)))) return true;
    const dyn_base *base = api_base_share(q, 0);
    if (!base) return false;
    api_set_extent(selected, API_BASE_PARAMETERS, base->n);
    return keep(q, selected, base);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    (void)selected;
    return api_check_reference(plan->query);
}

/* Counts the scratch lanes: the whole regressor, if only base_regressor, some of its columns, is requested. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    return selected->result[BASE_REGRESSOR] ? api_missing_entries(model, selected, REGRESSOR, REGRESSOR) : 0;
}

static void choose_columns(const api_evaluation *e, const dyn_base *base, const double *Y, double *chosen)
{
    size_t W = e->lanes, columns = api_extent(e->model, NULL, API_BODY_PARAMETERS);
    for (size_t v = 0; v < e->model->nv; v++)
        for (size_t k = 0; k < base->n; k++)
            memcpy(chosen + (v * base->n + k) * W, Y + (v * columns + base->parameter[k]) * W, W * sizeof *Y);
}

static void evaluate_energy(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const dyn_energy_regressor io = {.q              = api_state_block(e, API_Q, block),
                                     .qd             = api_state_block(e, API_QD, block),
                                     .kinetic        = api_result_block(e, selected, KINETIC, block),
                                     .potential      = api_result_block(e, selected, POTENTIAL, block),
                                     .momentum       = api_result_block(e, selected, MOMENTUM, block),
                                     .joint_kinetic  = api_result_block(e, selected, JOINT_KINETIC, block),
                                     .joint_momentum = api_result_block(e, selected, JOINT_MOMENTUM, block)};
    e->kernels->energy_regressor(&e->query->scene, e->workspace, &io, 1);
}

static void evaluate_torques(const api_evaluation *e, const api_selection *selected, size_t block)
{
    const dyn_base *base = base_of(selected);
    double         *next = e->spare, *chosen = api_result_block(e, selected, BASE_REGRESSOR, block);
    dyn_regressor   io = {
          .q               = api_state_block(e, API_Q, block),
          .qd              = api_state_block(e, API_QD, block),
          .qdd             = api_state_block(e, API_QDD, block),
          .qd_reference    = api_state_block(e, API_QD_REFERENCE, block),
          .qdd_reference   = api_state_block(e, API_QDD_REFERENCE, block),
          .zeros_are_set   = e->zeros_written && selected->result[REGRESSOR],
          .regressor       = chosen ? api_result_or_spare(e, selected, REGRESSOR, block, &next)
                                    : api_result_block(e, selected, REGRESSOR, block),
          .joint_regressor = api_result_block(e, selected, JOINT_REGRESSOR, block),
    };
    dyn_scene scene = e->query->scene;
    scene.terms &= ~(unsigned)DYN_FRICTION; /* the columns are those of the efforts without friction, on which friction
                                               depends if it has load coefficients */
    e->kernels->regressor(&scene, e->workspace, &io, 1);
    if (chosen && base) choose_columns(e, base, io.regressor, chosen);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    if (base_of(selected) && !api_base_check_gravity(e->query, e->problem)) return false;
    if (selected->outputs & OF_ENERGY) evaluate_energy(e, selected, block);
    if (selected->outputs & OF_TORQUES) evaluate_torques(e, selected, block);
    return true;
}

static double once(const api_model *model)
{
    return api_base_wait(model, 0);
}

static void emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    (void)output; /* always base_parameters, the only output that this function writes */
    const dyn_base *base = base_of(selected);
    api_emit_array(to);
    for (size_t k = 0; k < base->n; k++)
        api_base_emit(to, plan->query->model, base, k);
    api_emit_end(to);
}

const api_operation api_regressor = {
    .name       = "regressor",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_GRAVITY) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) |
             API_BIT(API_PLATFORM) | API_BIT(API_OUTPUTS) | API_BIT(API_QD_REFERENCE) | API_BIT(API_QDD_REFERENCE),
    .outputs       = {[REGRESSOR]       = {"regressor", true, {API_NV, API_BODY_PARAMETERS}},
                      [JOINT_REGRESSOR] = {"joint_regressor", false, {API_NV, API_JOINT_PARAMETERS}},
                      [BASE_PARAMETERS] = {"base_parameters", false, {API_STRUCTURED}},
                      [BASE_REGRESSOR]  = {"base_regressor", false, {API_NV, API_BASE_PARAMETERS}},
                      [KINETIC]         = {"kinetic_regressor", false, {API_BODY_PARAMETERS}},
                      [POTENTIAL]       = {"potential_regressor", false, {API_BODY_PARAMETERS}},
                      [MOMENTUM]        = {"momentum_regressor", false, {6, API_BODY_PARAMETERS}},
                      [JOINT_KINETIC]   = {"joint_kinetic_regressor", false, {API_JOINT_PARAMETERS}},
                      [JOINT_MOMENTUM]  = {"joint_momentum_regressor", false, {6, API_JOINT_PARAMETERS}}},
    .one_by_one    = true,
    .regresses     = true,
    .weight        = 4,
    .square_weight = 2,
    .once          = once,
    .options       = options,
    .prepare       = prepare,
    .spare         = spare,
    .emit          = emit,
    .evaluate      = evaluate,
};
