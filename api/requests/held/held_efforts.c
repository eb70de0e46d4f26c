/* held_efforts.c - finds the wrenches on held frames under a given motion (held_efforts.h). */
#include "held_efforts.h"
#include "held_fields.h"
#include "api/requests/fields/frame_fields.h"
#include "api/service/http/call.h"
#include "api/robots/model/actuation.h"
#include "dynamics/held_directions.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- request ------------------------------------------------------------------------------------------------------ */

bool api_held_efforts_read(api_query *q, api_selection *selected, size_t output, const api_node *options,
                           const api_place *up, api_held_efforts **found)
{
    const dyn_held_set *contact = NULL;
    const api_place     place   = api_place_key(up, "held");
    if (!api_contact_read_members(q, options, up, api_contact_limit_members, &contact)) return false;
    api_set_extent(selected, API_HELD_FRAMES, contact ? contact->n : 0);
    if (!contact)
        return !(selected->outputs & API_BIT(output)) ||
               api_fail_output(q, selected, output, options, up,
                               "contact_wrenches are computed only with held frames: name them in held");
    api_held_efforts *efforts = *found = api_take(q->pool, sizeof *efforts);
    if (!efforts) return false;
    *efforts             = (api_held_efforts){.choice = {.contact = contact}};
    efforts->choice.root = api_take(q->pool, contact->k * sizeof *efforts->choice.root);
    if (!efforts->choice.root ||
        !api_contact_limits_read(q, api_node_get(options, "held"), &place, &efforts->choice, &efforts->limits))
        return false;
    selected->one_by_one  = true;
    selected->shares_time = efforts->limits;
    if (!api_node_get(options, "outputs")) selected->outputs |= API_BIT(output);
    return true;
}

/* --- coordinates without actuator --------------------------------------------------------------------------------- */

/* Returns the length, m, that scales moments: the largest reach of a held frame. Moments are compared with the weight
 * times this length. */
static double lever_of(const api_query *q, const dyn_held_set *contact)
{
    double most = 0;
    for (size_t i = 0; i < contact->n; i++)
        most = fmax(most, dyn_held_reach(q->scene.model, &contact->frame[i]));
    return most;
}

/* Lists the coordinates of one body that no actuator moves. False with a problem: friction that depends on the load
 * acts on one, whose effort is then not linear in the wrenches. */
static bool list_body(const api_query *q, const dyn_body *body, const api_coordinate *coordinate,
                      api_held_efforts *efforts)
{
    dyn_held_choice *choice = &efforts->choice;
    const int        v      = api_first_velocity(q->model, body);
    if (v < 0 || body->joint.mimic) return true;
    for (int i = 0; i < dyn_joint_nv(body->joint.kind); i++) {
        const bool linear = body->joint.kind == DYN_PRISMATIC || (body->joint.kind == DYN_FLOATING && i < 3);
        if (coordinate[v + i].actuated) continue;
        if (api_has_load(q) && body->joint.friction.load > 0)
            return api_fail_load(q, "a given motion with held frames, at a joint without actuator,");
        efforts->linear[choice->n_passive]   = linear;
        choice->passive[choice->n_passive++] = (size_t)(v + i);
    }
    return true;
}

/* Sets `scale`, N or N m, for each coordinate without actuator: the robot's weight in a scene, or the weight times
 * efforts->lever. */
static void set_scales(const api_held_efforts *efforts, const dyn_scene *scene, double *scale)
{
    const double *g       = scene->gravity;
    const double  gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    const double  weight  = scene->model->mass * fmax(gravity, DYN_STANDARD_GRAVITY);
    for (size_t u = 0; u < efforts->choice.n_passive; u++)
        scale[u] = efforts->linear[u] ? weight : weight * efforts->lever;
}

const api_held_efforts *api_held_efforts_in_row(const api_evaluation *e, const api_held_efforts *efforts,
                                                api_held_efforts *copy)
{
    const dyn_scene *scene = &e->query->scene;
    if (!e->own_query) return efforts;
    *copy             = *efforts;
    copy->scene.model = scene->model;
    memcpy(copy->scene.gravity, scene->gravity, sizeof scene->gravity);
    set_scales(efforts, scene, e->row_numbers);
    copy->choice.scale = e->row_numbers;
    return copy;
}

static bool list_passive(const api_query *q, api_held_efforts *efforts)
{
    const dyn_model *m         = q->model->dyn;
    dyn_held_choice *choice    = &efforts->choice;
    efforts->lever             = lever_of(q, choice->contact);
    efforts->linear            = api_take(q->pool, q->model->nv + 1);
    api_coordinate *coordinate = api_take(q->pool, (q->model->nv + 1) * sizeof *coordinate);
    choice->passive            = api_take(q->pool, (q->model->nv + 1) * sizeof *choice->passive);
    choice->scale              = api_take(q->pool, (q->model->nv + 1) * sizeof *choice->scale);
    if (!coordinate || !choice->passive || !choice->scale || !efforts->linear) return false;
    api_coordinates_describe(q->model, coordinate);
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!list_body(q, &m->body[i], coordinate, efforts)) return false;
    set_scales(efforts, &q->scene, choice->scale);
    return true;
}

bool api_held_efforts_prepare(const api_query *q, api_held_efforts *efforts)
{
    const dyn_held_set *contact = efforts->choice.contact;
    if (q->model->loops && api_has_load(q)) return api_fail_load(q, "a given motion with loops and held frames");
    efforts->sites = api_contact_list_sites(q, contact);
    if (!efforts->sites) return false;
    efforts->scene = q->scene;
    efforts->scene.n_wrenches += contact->n;
    efforts->scene.wrench = efforts->sites;
    return list_passive(q, efforts);
}

/* --- problems ----------------------------------------------------------------------------------------------------- */

enum { TEXT = 400 };

/* Returns the held frame of direction `row`, and sets *direction to the number of the direction among those of the
 * frame. */
static size_t frame_of_row(const dyn_held_set *contact, size_t row, size_t *direction)
{
    size_t i = 0;
    for (; row >= contact->frame[i].n; i++)
        row -= contact->frame[i].n;
    *direction = row;
    return i;
}

bool api_held_efforts_fail_moving(const api_evaluation *e, const api_held_efforts *h, const api_held_residual *residual,
                                  size_t state)
{
    size_t                direction;
    const size_t          i     = frame_of_row(h->choice.contact, residual->row, &direction);
    const dyn_held_frame *frame = &h->choice.contact->frame[i];
    const char           *unit = frame->axis[direction] < 3 ? "m" : "rad", *name = h->choice.contact->names[i];
    const int             order = residual->jerks ? 3 : 2;
    return api_fail_state(e, API_HELD_FRAME_ACCELERATES, residual->jerks ? API_QDDD : API_QDD, state,
                          "held frame %.64s %s by %.4g %s/s^%d along %s; at most %.4g counts as none. Give %s", name,
                          residual->jerks ? "changes its acceleration" : "accelerates", residual->left, unit, order,
                          api_contact_axis_name(frame, direction), residual->most,
                          residual->jerks ? "qddd with the time derivative of J qdd + J' qd = 0"
                                          : "qdd with J qdd + J' qd = 0, such as that of forward-dynamics with held");
}

/* Fails a state whose held direction `row` accelerates. */
static bool fail_accelerating(const api_evaluation *e, const api_held_efforts *h, const dyn_held_block *b, size_t row,
                              size_t state)
{
    const size_t            entry    = row * b->W + state % b->W;
    const api_held_residual residual = {
        .row = row, .left = b->moves[entry], .most = DYN_HELD_MOTION * b->moves_scale[entry]};
    return api_held_efforts_fail_moving(e, h, &residual, state);
}

static bool fail_unbalanced(const api_evaluation *e, const api_held_efforts *h, const dyn_held_block *b, size_t u,
                            size_t state)
{
    double       left;
    const size_t found = dyn_held_describe_unbalanced(b, state % b->W, u, &left);
    return api_fail_state(e, API_INFEASIBLE_CONTACTS, API_QDD, state,
                          "no wrenches along the held axes bear this motion: %.4g N or N m remain at %.64s, which no "
                          "actuator moves. Hold more axes, or give another qdd",
                          left, e->model->velocity_names[h->choice.passive[found]]);
}

/* Lists the limits that contradict each other, each once. Returns their number. */
static size_t list_conflict(const api_held_efforts *h, const dyn_least_norm *s, char text[TEXT])
{
    size_t used = 0, n = 0;
    for (size_t i = 0; i < s->n_conflicting && used < TEXT - 120; i++) {
        const api_contact_limit *limit = &h->limits[s->active[i].limit];
        bool                     known = false;
        for (size_t j = 0; j < i; j++) {
            const api_contact_limit *before = &h->limits[s->active[j].limit];
            known                           = known || (before->frame == limit->frame && before->kind == limit->kind);
        }
        if (known) continue;
        used += (size_t)snprintf(text + used, TEXT - used, "%s%s of %.48s", n++ > 0 ? ", " : "",
                                 api_contact_limit_name(limit->kind), h->choice.contact->names[limit->frame]);
    }
    return n;
}

static bool fail_limits(const api_evaluation *e, const api_held_efforts *h, const dyn_least_norm *s, size_t state)
{
    char         text[TEXT] = "";
    const size_t n          = list_conflict(h, s, text);
    return api_fail_state(
        e, API_INFEASIBLE_CONTACTS, API_QDD, state,
        n > 1 ? "no wrenches bear this motion within the limits of the contacts: these contradict each "
                "other: %s. Give another qdd, hold more axes or frames, or relax a limit"
              : "no wrenches bear this motion within the limits of the contacts: the motion alone breaks %s. "
                "Give another qdd, hold more axes or frames, or relax the limit",
        text);
}

/* --- wrenches ----------------------------------------------------------------------------------------------------- */

size_t api_held_efforts_entries(const api_model *model, const api_held_efforts *h, size_t n_wrenches)
{
    const dyn_held_set *contact = h->choice.contact;
    const size_t limited = h->limits ? dyn_least_norm_bytes(contact->k, h->choice.n_passive) / sizeof(double) + 1 : 0;
    return API_FRAME_AXES * contact->n + API_SITE_VALUES * (n_wrenches + contact->n) +
           dyn_held_entries(model->nv, &h->choice) + limited;
}

/* Chooses the wrenches of one state within the limits. The result is that of api_fail_state. */
static bool limit_state(const api_evaluation *e, const api_held_efforts *h, api_held_wrenches *w, size_t state,
                        const api_row_share *share)
{
    dyn_least_norm *s = &w->limited[state % e->lanes];
    s->deadline       = api_row_share_for_dynamics(share);
    switch (dyn_held_limit(&w->block, state % e->lanes, s)) {
    case DYN_LEAST_NORM_DONE: w->found[state % e->lanes] = true; return true;
    case DYN_LEAST_NORM_INFEASIBLE: return fail_limits(e, h, s, state);
    case DYN_LEAST_NORM_LATE: return api_row_share_fail(e, API_Q, state);
    case DYN_LEAST_NORM_UNDECIDED: break;
    }
    return api_fail_state(
        e, API_INFEASIBLE_CONTACTS, API_QDD, state,
        "the search for wrenches within the limits of the contacts has not come to an end: they barely "
        "allow this motion, or do not. Relax a limit, or give facets");
}

/* Checks one state and limits its wrenches. The result is that of api_fail_state. */
static bool find_state(const api_evaluation *e, const api_held_efforts *h, api_held_wrenches *w, size_t state,
                       const api_row_share *share)
{
    const size_t lane = state % e->lanes, moving = dyn_held_find_moving(&w->block, lane);
    const size_t left = dyn_held_find_unbalanced(&w->block, lane);
    if (!dyn_held_is_finite(&w->block, lane))
        return api_fail_state(e, API_RESULT_NOT_FINITE, -1, state, "%s", api_contact_not_finite(h->choice.contact));
    if (moving > 0) return fail_accelerating(e, h, &w->block, moving - 1, state);
    if (left > 0) return fail_unbalanced(e, h, &w->block, left - 1, state);
    if (h->limits) return limit_state(e, h, w, state, share);
    w->found[lane] = true;
    return true;
}

/* Checks the live states of a block and limits their wrenches. Returns false with a problem. */
static bool find_states(const api_evaluation *e, const api_held_efforts *h, api_held_wrenches *w, size_t block)
{
    const size_t        W = e->lanes, first = block * W, states = api_states(e->query);
    const size_t        live  = states - first < W ? states - first : W;
    const api_row_share share = api_row_share_take(e->plan, live);
    for (size_t lane = 0; lane < live; lane++) {
        const api_row_share part = api_row_share_divide(&share, live - lane);
        if (!find_state(e, h, w, first + lane, &part)) return false;
    }
    return true;
}

bool api_held_efforts_find(const api_evaluation *e, const api_held_efforts *h, size_t block,
                           const dyn_inverse_dynamics *motion, double **next, api_held_wrenches *w)
{
    const dyn_held_set *contact = h->choice.contact;
    const size_t        nv      = e->model->nv;
    if (!w->contacts) {
        w->contacts = *next;
        *next       = api_behind(e, *next, API_FRAME_AXES * contact->n, 1);
    }
    w->wrenches = *next;
    *next       = api_behind(e, *next, API_SITE_VALUES * h->scene.n_wrenches, 1);
    w->block    = dyn_held_lay_out(&h->choice, nv, e->lanes, *next);
    *next       = api_behind(e, *next, dyn_held_entries(nv, &h->choice), 1);
    for (size_t lane = 0; h->limits && lane < e->lanes; lane++) {
        w->limited[lane] = (dyn_least_norm){.k = contact->k, .n_equations = h->choice.n_passive};
        dyn_least_norm_lay_out(&w->limited[lane], *next);
        *next += dyn_least_norm_bytes(contact->k, h->choice.n_passive) / sizeof(double) + 1;
    }
    const dyn_contact_states states = {
        .kernels = e->kernels, .scene = &e->query->scene, .workspace = e->workspace, .q = motion->q, .qd = motion->qd};
    dyn_held_solve(&w->block, &states, motion->qdd, motion->tau);
    if (!api_deadline_check(e->query->input->deadline, e->problem)) return false; /* the block may be incomplete */
    if (!find_states(e, h, w, block)) return false;
    dyn_held_put_wrenches(&w->block, w->contacts);
    api_contact_gather_wrenches(e, contact, w->contacts, block, w->wrenches);
    return true;
}

void api_held_efforts_clear(const api_evaluation *e, const api_held_efforts *h, double *tau)
{
    for (size_t u = 0; u < h->choice.n_passive; u++)
        memset(tau + h->choice.passive[u] * e->lanes, 0, e->lanes * sizeof *tau);
}

/* --- costs -------------------------------------------------------------------------------------------------------- */

double api_held_efforts_seconds(const api_call *call)
{
    const double frame_weight = 2, held_weight = 30;
    return (held_weight + frame_weight * (double)call->model->n_bodies) * call->api->calibration.body;
}

double api_held_efforts_decoded_seconds(const api_query *q, const api_held_efforts *h)
{
    const double weight =
        0.05; /* cost of one operation in units of inverse dynamics per body; a row takes k^2, with k held directions */
    if (!h || !h->limits) return 0;
    const double k = (double)h->choice.contact->k, n = (double)(h->choice.n_rows + h->choice.n_cones);
    return (double)api_states(q) * (k * k * k + k * k * n) * weight * q->call->api->calibration.body;
}
