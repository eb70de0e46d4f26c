/* sensors.c - computes what sensors on the robot measure: wrenches through joints, specific forces, angular
 * velocities. */
#include "api/requests/fields/fields.h"
#include "api/requests/lanes/evaluation.h"
#include "cut_fields.h"

enum { WRENCHES, SPECIFIC_FORCES, ANGULAR_VELOCITIES };

#define INERTIAL_OUTPUTS (API_BIT(SPECIFIC_FORCES) | API_BIT(ANGULAR_VELOCITIES))

/* --- options ------------------------------------------------------------------------------------------------------ */

typedef struct sensors_options {
    size_t     n_cuts, n_frames;
    api_cut   *cuts;     /* [n_cuts] joints whose wrenches are requested */
    dyn_cut   *prepared; /* [n_cuts] what lies beyond each of them */
    dyn_frame *frames;   /* [n_frames] inertial sensors */
    size_t     room;     /* scratch entries of the cut or sensor that needs most */
    bool       has_children;
} sensors_options;

static bool read_inertial_sensors(api_query *q, const api_node *list, const api_place *where, sensors_options *o)
{
    if (!api_check_names(q, list, where, "a frame's name")) return false;
    o->n_frames = api_count_names(list);
    if (!api_check_sensors(q, o->n_frames, where)) return false;
    o->frames = api_take(q->pool, o->n_frames * sizeof *o->frames);
    for (size_t i = 0; o->frames && i < o->n_frames; i++) {
        api_node  name;
        api_place entry = api_take_name(list, where, i, &name);
        int       frame = api_read_frame(q, &name, &entry);
        if (frame < 0) return false;
        o->frames[i] = q->model->frames[frame].frame;
    }
    return o->frames != NULL;
}

/* Checks that each output has its sensors; without "outputs" all that have sensors are computed. */
static bool check_sensor_outputs(const api_query *q, api_selection *selected, const api_node *node, const api_place *up)
{
    const bool    cuts = api_node_get(node, "force_torque"), frames = api_node_get(node, "inertial");
    api_place     where   = api_place_key(up, cuts ? "inertial" : "force_torque");
    const api_set present = (cuts ? API_BIT(WRENCHES) : 0) | (frames ? INERTIAL_OUTPUTS : 0);
    if (!present)
        return api_fail_at(q->problem, &where, API_MISSING_FIELD,
                           "sensors needs force_torque, a list of joints, or inertial, a list of frames");
    if (!api_node_get(node, "outputs")) selected->outputs &= present;
    return !(selected->outputs & ~present) ||
           api_fail_at(q->problem, &where, API_MISSING_FIELD, "the output %s needs %s",
                       selected->operation->outputs[api_first_member(selected->outputs & ~present)].name,
                       cuts ? "inertial" : "force_torque");
}

static bool options(api_query *q, api_selection *selected, const api_node *node, const api_place *up)
{
    const api_node  *cuts = api_node_get(node, "force_torque"), *frames = api_node_get(node, "inertial");
    api_place        cuts_at = api_place_key(up, "force_torque"), frames_at = api_place_key(up, "inertial");
    sensors_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o = (sensors_options){.n_cuts = 0};
    if (cuts && !(o->cuts = api_cut_read(q, cuts, &cuts_at, &o->n_cuts))) return false;
    if (frames && !read_inertial_sensors(q, frames, &frames_at, o)) return false;
    api_set_extent(selected, API_CUT_JOINTS, o->n_cuts);
    api_set_extent(selected, API_SENSED_FRAMES, o->n_frames);
    return check_sensor_outputs(q, selected, node, up);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    sensors_options *o = selected->options;
    if (!(selected->outputs & API_BIT(WRENCHES))) return true;
    o->prepared = api_take(plan->query->pool, o->n_cuts * sizeof *o->prepared);
    if (!o->prepared || !api_cut_prepare(plan->query, o->n_cuts, o->cuts, o->prepared)) return false;
    for (size_t i = 0; i < o->n_cuts; i++) {
        const size_t entries = dyn_cut_entries(&o->prepared[i]);
        if (entries > o->room) o->room = entries;
        o->has_children |= o->prepared[i].n_children > 0;
    }
    return true;
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static size_t spare(const api_model *model, const api_selection *selected)
{
    const sensors_options *o    = selected->options;
    const size_t           room = o->room > dyn_inertial_entries() ? o->room : dyn_inertial_entries();
    return room + (o->has_children ? 6 * model->n_bodies : 0);
}

/* Computes the joint wrenches that the cuts need, in the scratch lanes. */
static const double *find_cut_wrenches(const api_evaluation *e, const dyn_cut_states *s, double *to)
{
    const dyn_inverse_dynamics io = {
        .q = s->q, .qd = s->qd, .qdd = s->qdd, .wrenches = s->wrenches, .joint_wrenches = to};
    e->kernels->inverse_dynamics(&e->query->scene, e->workspace, &io, 1);
    return to;
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    const sensors_options *o        = selected->options;
    const size_t           W        = e->lanes;
    double                *wrenches = api_result_block(e, selected, WRENCHES, block);
    double                *forces   = api_result_block(e, selected, SPECIFIC_FORCES, block);
    double                *rates    = api_result_block(e, selected, ANGULAR_VELOCITIES, block);
    dyn_cut_states         s        = {.kernels   = e->kernels,
                                       .scene     = &e->query->scene,
                                       .workspace = e->workspace,
                                       .q         = api_state_block(e, API_Q, block),
                                       .qd        = api_state_block(e, API_QD, block),
                                       .qdd       = api_state_block(e, API_QDD, block),
                                       .wrenches  = api_wrench_block(e, block)};
    const size_t           room     = o->room > dyn_inertial_entries() ? o->room : dyn_inertial_entries();
    if (wrenches && o->has_children) s.joint_wrenches = find_cut_wrenches(e, &s, e->spare + room * W);
    for (size_t i = 0; wrenches && i < o->n_cuts; i++) {
        dyn_cut_evaluate(&o->prepared[i], &s, e->spare, wrenches + 6 * i * W);
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
    }
    for (size_t i = 0; (forces || rates) && i < o->n_frames; i++) {
        dyn_inertial_evaluate(
            &o->frames[i], &s, e->spare,
            &(dyn_inertial_reading){forces ? forces + 3 * i * W : NULL, rates ? rates + 3 * i * W : NULL});
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
    }
    return true;
}

const api_operation api_sensors = {
    .name  = "sensors",
    .needs = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) |
             API_BIT(API_FORCE_TORQUE) | API_BIT(API_INERTIAL) | API_BIT(API_OUTPUTS),
    .outputs    = {[WRENCHES]           = {"wrenches", true, {API_CUT_JOINTS, 6}},
                   [SPECIFIC_FORCES]    = {"specific_forces", true, {API_SENSED_FRAMES, 3}},
                   [ANGULAR_VELOCITIES] = {"angular_velocities", true, {API_SENSED_FRAMES, 3}}},
    .one_by_one = true,
    .weight     = 6,
    .options    = options,
    .prepare    = prepare,
    .spare      = spare,
    .evaluate   = evaluate,
};
