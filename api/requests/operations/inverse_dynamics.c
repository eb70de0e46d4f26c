/* inverse_dynamics.c - computes tau = M qdd + C qd + g + friction + springs - sum J^T W, and the wrenches in the
 * joints. With held frames, contact wrenches among the W bear the coordinates without actuator (held_efforts.h). With
 * free coordinates, forward dynamics first finds their qdd; the other coordinates are driven. With a
 * reference velocity, tau = M qdd_reference + C(q, qd) qd_reference + g + ... */
#include "api/requests/held/motion_options.h"
#include "api/requests/cost/peek.h"
#include "api/requests/evaluate/free_motion.h"
#include "api/requests/evaluate/loop_evaluation.h"
#include "api/requests/evaluate/motor_efforts.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/free_coordinates.h"
#include "api/requests/fields/reference_fields.h"
#include <string.h>

enum { TAU, JOINT_WRENCHES, QDD, BASE_ACCELERATION, FULL, MOTOR_TAU, CONTACT_WRENCHES, BASE_ENTRIES = 6 };

/* --- options ---------------------------------------------------------------------------------------------------- */

static const bool *driven_of(const api_selection *selected)
{
    return api_motion_options_of(selected)->driven;
}

static const api_held_efforts *held_efforts_of(const api_selection *selected)
{
    return api_motion_options_of(selected)->held;
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    if (!api_motion_options_read(q, selected, given, up, &(api_motion_outputs){QDD, CONTACT_WRENCHES})) return false;
    bool free_base = driven_of(selected) && api_base_is_free(q);
    if (free_base && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(BASE_ACCELERATION);
    if (selected->outputs & API_BIT(BASE_ACCELERATION) && !free_base)
        return api_fail_output(q, selected, BASE_ACCELERATION, given, up,
                               "base_acceleration is computed only if the base is free");
    return api_motor_efforts_check(q, selected, MOTOR_TAU, given, up);
}

/* Checks that no joint wrenches are requested with a reference velocity. */
static bool check_reference(const api_query *q, const api_selection *selected)
{
    if (!api_has_reference(q)) return true;
    if (driven_of(selected))
        return api_fail_reference(
            q, "a reference velocity cannot be combined with \"free\", which asks for accelerations");
    if (held_efforts_of(selected))
        return api_fail_reference(q, "a reference velocity cannot be combined with \"held\": it moves no frame");
    if (selected->outputs & API_BIT(JOINT_WRENCHES))
        return api_fail_reference(q, "joint_wrenches are not computed for a reference velocity: it moves no body");
    return api_check_reference(q);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    return check_reference(plan->query, selected) && api_motion_options_prepare(plan, selected);
}

/* --- scratch lanes ------------------------------------------------------------------------------------------------ */

/* Counts the scratch lanes of free coordinates: the singular mask, and qdd if it is needed but not requested. */
static size_t spare_of_free(const api_model *model, const api_selection *selected)
{
    return driven_of(selected) ? 1 + (selected->result[QDD] ? 0 : model->nv) : 0;
}

/* Counts all scratch lanes: those of free coordinates, then tau if motor_tau or held frames need it and it is not
 * requested, then those of held frames. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    const api_held_efforts *efforts = held_efforts_of(selected);
    const bool              hidden  = (selected->result[MOTOR_TAU] || efforts) && !selected->result[TAU];
    return spare_of_free(model, selected) + (hidden ? model->nv : 0) +
           (efforts ? api_held_efforts_entries(model, efforts, api_selected_extent(selected, API_REQUEST_WRENCHES))
                    : 0);
}

/* --- free coordinates ------------------------------------------------------------------------------------------- */

/* Finds qdd of all coordinates. Returns NULL with a problem. */
static const double *find_qdd(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    double *result = api_result_block(e, selected, QDD, block);
    double *qdd    = result ? result : api_behind(e, e->spare, 1, blocks);
    return api_free_accelerations(e, driven_of(selected), e->spare, qdd, block, blocks) ? qdd : NULL;
}

static void copy_base(const api_evaluation *e, const double *qdd, size_t blocks, double *base)
{
    size_t W = e->lanes;
    for (size_t block = 0; block < blocks; block++)
        memcpy(base + block * BASE_ENTRIES * W, qdd + block * e->model->nv * W, BASE_ENTRIES * W * sizeof *base);
}

/* --- reference velocity ------------------------------------------------------------------------------------------ */

static void evaluate_reference(const api_evaluation *e, double *tau, size_t block, size_t blocks)
{
    dyn_reference_dynamics io = {
        .q             = api_state_block(e, API_Q, block),
        .qd            = api_state_block(e, API_QD, block),
        .qd_reference  = api_state_block(e, API_QD_REFERENCE, block),
        .qdd_reference = api_state_block(e, API_QDD_REFERENCE, block),
        .wrenches      = api_wrench_block(e, block),
        .tau           = tau,
    };
    e->kernels->reference_dynamics(&e->query->scene, e->workspace, &io, blocks);
}

/* --- held frames ------------------------------------------------------------------------------------------------- */

/* Evaluates one block with held frames: the efforts without contacts, the contact wrenches that make the efforts of
 * coordinates without actuator zero, and the motion with these wrenches. */
static bool evaluate_with_contacts(const api_evaluation *e, const api_selection *selected, size_t block,
                                   dyn_inverse_dynamics *io)
{
    api_held_efforts        of_row;
    const api_held_efforts *efforts = api_held_efforts_in_row(e, held_efforts_of(selected), &of_row);
    double                 *motors = api_result_block(e, selected, MOTOR_TAU, block), *joints = io->joint_wrenches;
    double                 *next = e->spare;
    api_held_wrenches       w    = {.contacts = api_result_block(e, selected, CONTACT_WRENCHES, block)};
    if (!io->tau) {
        io->tau = next;
        next    = api_behind(e, next, e->model->nv, 1);
    }
    io->joint_wrenches = NULL;
    e->kernels->inverse_dynamics(&e->query->scene, e->workspace, io, 1);
    if (!api_held_efforts_find(e, efforts, block, io, &next, &w)) return false;
    io->wrenches       = w.wrenches;
    io->joint_wrenches = joints;
    e->kernels->inverse_dynamics(&efforts->scene, e->workspace, io, 1);
    api_held_efforts_clear(e, efforts, io->tau);
    if (selected->result[FULL]) api_loop_state_put(e, &efforts->scene, io, selected->result[FULL], block);
    if (motors) api_motor_efforts(e, io->tau, 1, motors);
    return true;
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    double              *base   = api_result_block(e, selected, BASE_ACCELERATION, block);
    double              *motors = api_result_block(e, selected, MOTOR_TAU, block);
    dyn_inverse_dynamics io     = {
            .q              = api_state_block(e, API_Q, block),
            .qd             = api_state_block(e, API_QD, block),
            .qdd            = api_state_block(e, API_QDD, block),
            .wrenches       = api_wrench_block(e, block),
            .tau            = api_result_block(e, selected, TAU, block),
            .joint_wrenches = api_result_block(e, selected, JOINT_WRENCHES, block),
    };
    if (driven_of(selected) && !(io.qdd = find_qdd(e, selected, block, blocks))) return false;
    if (base && io.qdd) copy_base(e, io.qdd, blocks, base);
    if (held_efforts_of(selected)) return evaluate_with_contacts(e, selected, block, &io);
    if (selected->result[FULL]) api_loop_state_put(e, &e->query->scene, &io, selected->result[FULL], block);
    if (motors && !io.tau) io.tau = api_behind(e, e->spare, spare_of_free(e->model, selected), blocks);
    if (!io.tau && !io.joint_wrenches) return true;
    if (api_has_reference(e->query))
        evaluate_reference(e, io.tau, block, blocks);
    else
        e->kernels->inverse_dynamics(&e->query->scene, e->workspace, &io, blocks);
    if (driven_of(selected) && io.tau) api_free_restore(e, driven_of(selected), block, blocks, io.tau);
    if (motors) api_motor_efforts(e, io.tau, blocks, motors);
    return true;
}

static double state_seconds(const api_call *call, const api_input *input)
{
    return api_body_mentions(input, api_field_names[API_HELD_FIELD]) ? api_held_efforts_seconds(call) : 0;
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    return api_held_efforts_decoded_seconds(q, held_efforts_of(selected));
}

const api_operation api_inverse_dynamics = {
    .name       = "inverse-dynamics",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes      = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_TAU) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) |
             API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) |
             API_BIT(API_PLATFORM) | API_BIT(API_OUTPUTS) | API_BIT(API_FREE) | API_BIT(API_QD_REFERENCE) |
             API_BIT(API_QDD_REFERENCE) | API_BIT(API_HELD_FIELD),
    .outputs         = {[TAU]               = {"tau", true, {API_NV}},
                        [JOINT_WRENCHES]    = {"joint_wrenches", false, {API_BODIES, 6}},
                        [QDD]               = {"qdd", false, {API_NV}},
                        [BASE_ACCELERATION] = {"base_acceleration", false, {BASE_ENTRIES}},
                        [FULL]              = {"full", false, {API_LOOP_STATE}},
                        [MOTOR_TAU]         = {"motor_tau", false, {API_COUPLED_MOTORS}},
                        [CONTACT_WRENCHES]  = {"contact_wrenches", false, {API_HELD_FRAMES, 6}}},
    .weight          = 1,
    .state_seconds   = state_seconds,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .evaluate        = evaluate,
};
