/* forward_dynamics.c - computes qdd from tau; with held frames, also the contact wrenches on them
 * (api/requests/held/held_fields.h). The joint wrenches follow by inverse dynamics with this qdd. */
#include "operation_list.h"
#include "api/requests/cost/peek.h"
#include "api/requests/evaluate/free_motion.h"
#include "api/requests/evaluate/friction.h"
#include "api/requests/evaluate/loop_evaluation.h"
#include "api/service/http/call.h"
#include "api/requests/lanes/evaluation.h"
#include "api/requests/held/held_fields.h"
#include "dynamics/joint_stiction/stiction_solver.h"
#include "api/requests/contact/static_friction.h"
#include <math.h>
#include <string.h>

enum { QDD, JOINT_WRENCHES, CONTACT_WRENCHES, FULL, FRICTION, CONTACT_RESIDUAL, DELASSUS };

/* --- options ---------------------------------------------------------------------------------------------------- */

/* The operation's options. */
typedef struct forward_options {
    const dyn_held_set        *contact;  /* "held"; NULL: no held frames */
    double                     damping;  /* contact damping; 0: none */
    const api_static_friction *sticking; /* joints that may stick; NULL: none */
    const dyn_wrench_site     *sites;    /* sites of the request's wrenches, then of the contacts; NULL: not needed */
} forward_options;

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    forward_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o = (forward_options){.contact = NULL};
    if (!api_contact_read(q, given, up, &o->contact) ||
        !api_contact_read_damping(q, given, up, o->contact, &o->damping) ||
        !api_contact_select_residual(q, selected, CONTACT_RESIDUAL, o->damping, given, up))
        return false;
    api_set_extent(selected, API_HELD_FRAMES, o->contact ? o->contact->n : 0);
    api_set_extent(selected, API_SELECTED_AXES, o->contact ? o->contact->k : 0);
    if (!api_static_friction_read(q, given, up, &o->sticking)) return false;
    selected->one_by_one  = o->contact || o->sticking;
    selected->shares_time = o->sticking;
    if (o->sticking && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(FRICTION);
    if (o->contact && !api_node_get(given, "outputs")) selected->outputs |= API_BIT(CONTACT_WRENCHES);
    if (!o->contact && selected->outputs & API_BIT(DELASSUS))
        return api_fail_output(q, selected, DELASSUS, given, up,
                               "delassus is computed only with held frames: name them in held");
    return o->contact || !(selected->outputs & API_BIT(CONTACT_WRENCHES)) ||
           api_fail_output(q, selected, CONTACT_WRENCHES, given, up,
                           "contact_wrenches are computed only with held frames: name them in held");
}

/* Lists the sites of all wrenches: those of the request, then those of the contacts. */
static bool prepare(api_plan *plan, api_selection *selected)
{
    forward_options    *o       = selected->options;
    const dyn_held_set *contact = o->contact;
    if (!api_static_friction_check(plan->query, o->sticking)) return false;
    if (!contact || !(selected->outputs & (API_BIT(JOINT_WRENCHES) | API_BIT(FULL)))) return true;
    o->sites = api_contact_list_sites(plan->query, contact);
    return o->sites != NULL;
}

/* --- lanes ------------------------------------------------------------------------------------------------------ */

/* Counts the scratch lanes: the singular mask; qdd and friction, if they are needed but not requested; work arrays
 * of contacts and of sticking joints. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    const forward_options *o       = selected->options;
    size_t                 entries = 1 + (selected->result[QDD] ? 0 : model->nv);
    const dyn_held_set    *contact = o->contact;
    if (o->sticking)
        entries += api_static_friction_entries(model, o->sticking) + (selected->result[FRICTION] ? 0 : model->nv);
    if (!contact) return entries;
    return entries + API_FRAME_AXES * contact->n +
           API_SITE_VALUES * (api_selected_extent(selected, API_REQUEST_WRENCHES) + contact->n) +
           dyn_contact_entries(model->nv, contact);
}

/* Finds the wrenches in joints and loops. */
static void find_joint_wrenches(const api_evaluation *e, const api_selection *selected, const dyn_scene *scene,
                                const double *qdd, const double *wrenches, size_t block, size_t blocks)
{
    double              *to = api_result_block(e, selected, JOINT_WRENCHES, block), *full = selected->result[FULL];
    dyn_inverse_dynamics io = {
        .q              = api_state_block(e, API_Q, block),
        .qd             = api_state_block(e, API_QD, block),
        .qdd            = qdd,
        .wrenches       = wrenches,
        .joint_wrenches = to,
    };
    if (to) e->kernels->inverse_dynamics(scene, e->workspace, &io, blocks);
    if (full) api_loop_state_put(e, scene, &io, full, block);
}

/* --- held frames -------------------------------------------------------------------------------------------------- */

/* Corrects qdd of one state so that the held frames do not accelerate, and writes the contact wrenches. Returns as
 * api_fail_state does. */
static bool apply_to_state(const api_evaluation *e, const dyn_contact_block *b, size_t state, double *contacts,
                           double *qdd)
{
    const size_t lane = state % e->lanes;
    api_problem  found;
    const bool   fails = !dyn_contact_is_factored(b, lane) || b->contradictory[lane] > 0;
    if (fails && !api_deadline_check(e->query->input->deadline, e->problem))
        return false; /* the deadline may have ended the solution early */
    if (!dyn_contact_is_factored(b, lane))
        return api_fail_state(e, API_RESULT_NOT_FINITE, -1, state, "%s", api_contact_not_finite(b->contact));
    if (b->contradictory[lane] > 0) {
        api_problem_clear(&found);
        api_contact_describe(b->contact, (size_t)b->contradictory[lane], b->damping, &found);
        return api_fail_found(e, API_QD, state, &found);
    }
    dyn_contact_put_wrenches(b, lane, contacts);
    dyn_contact_add_change(b, lane, qdd);
    return true;
}

/* The work arrays of a block with held frames. */
typedef struct held_work {
    double            *contacts, *wrenches; /* lanes: 6 numbers for each held frame; 9 for each wrench */
    dyn_contact_states states;
    dyn_contact_block  block;
} held_work;

/* Finds the constraint matrices (contact.h) of a block. Moves *next past the work arrays. */
static held_work prepare_contacts(const api_evaluation *e, const api_selection *selected, size_t block, double **next)
{
    const forward_options *o       = selected->options;
    const dyn_held_set    *contact = o->contact;
    const size_t           nv      = e->model->nv;
    held_work              w       = {.contacts = api_result_block(e, selected, CONTACT_WRENCHES, block)};
    if (!w.contacts) {
        w.contacts = *next;
        *next      = api_behind(e, *next, API_FRAME_AXES * contact->n, 1);
    }
    w.wrenches      = *next;
    *next           = api_behind(e, *next, API_SITE_VALUES * (e->query->scene.n_wrenches + contact->n), 1);
    w.block         = dyn_contact_lay_out(contact, nv, e->lanes, *next);
    *next           = api_behind(e, *next, dyn_contact_entries(nv, contact), 1);
    w.block.damping = o->damping;
    w.states        = (dyn_contact_states){.kernels   = e->kernels,
                                           .scene     = &e->query->scene,
                                           .workspace = e->workspace,
                                           .q         = api_state_block(e, API_Q, block),
                                           .qd        = api_state_block(e, API_QD, block)};
    dyn_contact_evaluate(&w.block, &w.states);
    return w;
}

/* Corrects qdd of one block so that the held frames do not accelerate; on entry qdd is that of the robot without
 * held frames. */
static bool apply_contacts(const api_evaluation *e, const api_selection *selected, held_work *w, size_t block,
                           double *qdd)
{
    const forward_options *o        = selected->options;
    const size_t           W        = e->lanes;
    double                *residual = api_result_block(e, selected, CONTACT_RESIDUAL, block);
    w->block.factor.delassus        = api_result_block(e, selected, DELASSUS, block);
    memset(w->contacts, 0, API_FRAME_AXES * w->block.contact->n * W * sizeof *w->contacts);
    if (!dyn_contact_factor(&w->block, &w->states)) return api_deadline_check(e->query->input->deadline, e->problem);
    if (w->block.factor.delassus) dyn_contact_turn_delassus(&w->block, w->block.factor.delassus);
    dyn_contact_find(&w->block, &w->states, w->block.jdot_qd, qdd, 1, true);
    for (size_t lane = 0; lane < W && block * W + lane < e->query->rows; lane++)
        if (!apply_to_state(e, &w->block, block * W + lane, w->contacts, qdd)) return false;
    for (size_t lane = 0; residual && lane < W; lane++)
        dyn_contact_put_residual(&w->block, o->damping, w->contacts, lane, residual);
    return true;
}

/* Finds the wrenches in joints and loops with those on the held frames. */
static void find_held_wrenches(const api_evaluation *e, const api_selection *selected, const held_work *w,
                               const double *qdd, size_t block)
{
    const forward_options *o = selected->options;
    if (!o->sites) return;
    dyn_scene scene = e->query->scene;
    scene.n_wrenches += o->contact->n;
    scene.wrench = o->sites;
    api_contact_gather_wrenches(e, o->contact, w->contacts, block, w->wrenches);
    find_joint_wrenches(e, selected, &scene, qdd, w->wrenches, block, 1);
}

/* --- friction ---------------------------------------------------------------------------------------------------- */

/* Adds the friction of moving joints to `friction`, with `own` as a work array. With `own` NULL, it overwrites
 * `friction`. */
static void find_friction(const api_evaluation *e, double *friction, double *own, size_t block)
{
    api_friction_find(e, block, own ? own : friction);
    for (size_t i = 0; own && i < e->model->nv * e->lanes; i++)
        friction[i] += own[i];
}

/* Evaluates one block with held frames, with joints that may stick, or both. `next` is scratch memory. */
static bool evaluate_constrained(const api_evaluation *e, const api_selection *selected, size_t block, double *next,
                                 double *qdd)
{
    const forward_options *o        = selected->options;
    double                *friction = api_result_block(e, selected, FRICTION, block), *room;
    held_work              w        = {.contacts = NULL};
    if (o->contact) w = prepare_contacts(e, selected, block, &next);
    if (o->sticking && !friction) {
        friction = next;
        next     = api_behind(e, next, e->model->nv, 1);
    }
    room = next;
    if (o->sticking &&
        !api_static_friction_apply(e, o->sticking, block, o->contact ? &w.block : NULL, room, qdd, friction))
        return false;
    if (o->contact && !apply_contacts(e, selected, &w, block, qdd)) return false;
    if (o->sticking) api_static_friction_stop(e, room, qdd);
    if (friction) find_friction(e, friction, o->sticking ? room : NULL, block);
    if (o->contact)
        find_held_wrenches(e, selected, &w, qdd, block);
    else
        find_joint_wrenches(e, selected, &e->query->scene, qdd, api_wrench_block(e, block), block, 1);
    return true;
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    const forward_options *o   = selected->options;
    double                *qdd = api_result_block(e, selected, QDD, block), *singular = e->spare,
           *next = api_behind(e, e->spare, 1, blocks);
    if (!qdd) {
        qdd  = next;
        next = api_behind(e, next, e->model->nv, blocks);
    }
    if (!api_free_accelerations(e, NULL, singular, qdd, block, blocks)) return false;
    if (o->contact || o->sticking) return evaluate_constrained(e, selected, block, next, qdd); /* blocks is 1 */
    for (size_t i = 0; selected->result[FRICTION] && i < blocks; i++)
        find_friction(e, api_result_block(e, selected, FRICTION, block + i), NULL, block + i);
    find_joint_wrenches(e, selected, &e->query->scene, qdd, api_wrench_block(e, block), block, blocks);
    return true;
}

/* Returns the seconds of a state that the weights do not cover. With held frames the contact wrenches cost as much as
 * those of an impact; friction at rest costs some factorizations of a matrix of nv x nv. */
static double state_seconds(const api_call *call, const api_input *input)
{
    const api_model *m      = call->model;
    const double     nv     = (double)m->nv;
    double           bodies = 0;
    if (api_body_mentions(input, api_field_names[API_HELD_FIELD]))
        bodies += api_impact.weight * (double)m->n_bodies + api_impact.square_weight * nv * nv;
    if (api_body_mentions(input, api_field_names[API_FRICTION_AT_REST]))
        bodies += API_FRICTION_CUBE_WEIGHT * nv * nv * nv;
    return bodies * call->api->calibration.body;
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    const double nv = (double)q->model->nv;
    if (!((const forward_options *)selected->options)->sticking) return 0;
    return (double)api_states(q) * API_FRICTION_CUBE_WEIGHT * nv * nv * nv * q->call->api->calibration.body;
}

const api_operation api_forward_dynamics = {
    .name       = "forward-dynamics",
    .row_scenes = true,
    .needs      = API_BIT(API_Q) | API_BIT(API_TAU),
    .takes      = API_BIT(API_QD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) |
             API_BIT(API_OUTPUTS) | API_BIT(API_HELD_FIELD) | API_BIT(API_CONTACT_DAMPING) |
             API_BIT(API_FRICTION_AT_REST),
    .outputs         = {[QDD]              = {"qdd", true, {API_NV}},
                        [JOINT_WRENCHES]   = {"joint_wrenches", false, {API_BODIES, 6}},
                        [CONTACT_WRENCHES] = {"contact_wrenches", false, {API_HELD_FRAMES, 6}},
                        [FULL]             = {"full", false, {API_LOOP_STATE}},
                        [FRICTION]         = {"friction", false, {API_NV}},
                        [CONTACT_RESIDUAL] = {"contact_residual", false, {API_HELD_FRAMES, 6}},
                        [DELASSUS]         = {"delassus", false, {API_SELECTED_AXES, API_SELECTED_AXES}}},
    .weight          = 3,
    .state_seconds   = state_seconds,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .evaluate        = evaluate,
};
