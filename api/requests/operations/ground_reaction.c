/* ground_reaction.c - computes the reaction of the ground on a robot in motion: resultant, zero-moment point, the
 * wrenches on one or two feet, the joint efforts with these wrenches, and the derivatives of all of them. The
 * equations of one state are in dynamics/contact/ground_reaction.h, with the base's effort tau_b and Jacobian J_b, and
 * contact k's wrench W_k and Jacobian J_k. Kernels compute in lanes:
 *
 *     inverse dynamics                         efforts without ground; the first six are tau_b
 *     kinematics                               J_b, positions
 *     inverse dynamics with all W_k            efforts with ground
 *     sensitivity with all W_k held constant   H = dtau/dx and dtau/dW_k = -J_k^T, for x = q, qd, qdd
 *
 * and finally dtau/dx = H + sum dtau/dW_k dW_k/dx. */
#include "api/requests/contact/ground_request.h"
#include "api/requests/lanes/evaluation.h"
#include "api/requests/fields/rows.h"
#include <string.h>

enum { RESULTANT, ZERO_MOMENT, FOOT_WRENCHES, TAU, D_RESULTANT, D_ZERO_MOMENT = 7, D_FOOT_WRENCHES = 10, DTAU = 13 };

enum {
    BY     = 3 /* derivatives with respect to q, qd, qdd */,
    POINTS = 1 + DYN_FEET,
    SITE   = 9 /* entries of a wrench in lanes: force, torque, point */
};

#define GRADIENTS (~(API_BIT(D_RESULTANT) - 1))
#define OF_FEET   (API_BIT(FOOT_WRENCHES) | API_BIT(TAU) | 7 * API_BIT(D_FOOT_WRENCHES) | 7 * API_BIT(DTAU))

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    api_ground_request *g = selected->options = api_ground_request_read(q, given, up, selected->outputs & OF_FEET);
    if (g) api_set_extent(selected, API_CONTACTS, g->ground.n_contacts);
    return g != NULL;
}

static const api_ground_request *grounding_of(const api_selection *selected)
{
    return selected->options;
}

static size_t n_contacts(const api_selection *selected)
{
    return api_selected_extent(selected, API_CONTACTS);
}

static size_t n_wrenches(const api_selection *selected)
{
    return api_selected_extent(selected, API_REQUEST_WRENCHES);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    return api_ground_request_prepare(plan->query, selected->options);
}

/* --- lanes of a block ------------------------------------------------------------------------------------------- */

typedef struct block_lanes {
    double          *tau;               /* nv: efforts without ground */
    double          *jacobian;          /* 6 x nv: Jacobian of the base */
    double          *positions;         /* 3 each: positions of the base and the contacts */
    double          *wrenches;          /* wrenches of the request, then of the contacts */
    double          *d_wrench;          /* wrenches x nv x 6: derivatives of the efforts with respect to wrenches */
    double          *contact[DYN_FEET]; /* 6 x nv each: Jacobians of the contacts */
    double          *H[BY];             /* nv x nv: derivatives of the efforts at constant contact wrenches */
    double          *d_feet[BY];        /* contacts x 6 x nv: derivatives of the wrenches on the feet */
    double          *columns;           /* nv x 6, one state, not in lanes: the first six rows of H, transposed */
    dyn_ground_state state[DYN_MAX_LANES];
    bool             solved[DYN_MAX_LANES]; /* the state has a solution */
} block_lanes;

static size_t spare(const api_model *model, const api_selection *selected)
{
    size_t nv = model->nv, n = n_wrenches(selected) + n_contacts(selected);
    return nv + 6 * nv + 3 * POINTS + SITE * n + 6 * n * nv + 6 * nv + 6 * nv * n_contacts(selected) +
           api_missing_entries(model, selected, D_FOOT_WRENCHES, DTAU + BY - 1);
}

static void place(const api_evaluation *e, const api_selection *selected, size_t block, block_lanes *b)
{
    size_t  nv = e->model->nv, W = e->lanes, n = n_wrenches(selected) + n_contacts(selected);
    double *next = e->spare;
    b->tau       = next;
    b->jacobian  = b->tau + nv * W;
    b->positions = b->jacobian + 6 * nv * W;
    b->wrenches  = b->positions + 3 * POINTS * W;
    b->d_wrench  = b->wrenches + SITE * n * W;
    b->columns   = b->d_wrench + 6 * n * nv * W;
    next         = b->columns + 6 * nv * W;
    for (size_t k = 0; k < n_contacts(selected); k++, next += 6 * nv * W)
        b->contact[k] = next;
    for (size_t by = 0; by < BY; by++) {
        b->d_feet[by] = api_result_or_spare(e, selected, D_FOOT_WRENCHES + by, block, &next);
        b->H[by]      = api_result_or_spare(e, selected, DTAU + by, block, &next);
    }
}

/* --- forces ----------------------------------------------------------------------------------------------------- */

static bool fail(const api_evaluation *e, dyn_ground_status status, size_t row)
{
    if (row >= e->query->rows) row = e->query->rows - 1; /* padding lanes repeat the last row */
    if (status == DYN_GROUND_BASE_SINGULAR)
        return api_fail_state(
            e, API_NO_FREE_BASE, API_Q, row,
            "at this state the axes of the first six joints do not let the base move in all directions");
    if (status == DYN_GROUND_NO_POINT)
        return api_fail_state(e, API_NO_ZERO_MOMENT_POINT, -1, row,
                              "the force of the ground along the plane's normal is zero or pulls");
    if (status == DYN_GROUND_NO_SHARES)
        return api_fail_state(e, API_BAD_VALUE, API_FEET_FIELD, row,
                              "both feet are at the zero-moment point, where their shares are undetermined");
    return api_fail_state(e, API_RESULT_NOT_FINITE, -1, row, "the numbers of this state are too large");
}

static void gather(const api_evaluation *e, const block_lanes *b, size_t lane, dyn_ground_state *s)
{
    size_t nv = e->model->nv, W = e->lanes;
    for (size_t v = 0; v < DYN_BASE_DOF; v++) {
        s->effort[v] = b->tau[v * W + lane];
        for (size_t i = 0; i < 6; i++)
            s->jacobian[i + 6 * v] = b->jacobian[(i * nv + v) * W + lane];
    }
    for (size_t i = 0; i < 3; i++) {
        s->base[i] = b->positions[i * W + lane];
        for (size_t k = 0; k < s->ground->n_contacts; k++)
            s->contact[k][i] = b->positions[(3 * (k + 1) + i) * W + lane];
    }
}

/* Writes n numbers to a lane; does nothing if `lanes` is NULL. */
static void put(double *lanes, size_t W, size_t lane, const double *numbers, size_t n)
{
    for (size_t i = 0; lanes && i < n; i++)
        lanes[i * W + lane] = numbers[i];
}

static bool solve(const api_evaluation *e, const api_selection *selected, size_t block, block_lanes *b)
{
    size_t  W = e->lanes, n = n_contacts(selected);
    double *resultant = api_result_block(e, selected, RESULTANT, block);
    double *zero      = api_result_block(e, selected, ZERO_MOMENT, block);
    double *feet      = api_result_block(e, selected, FOOT_WRENCHES, block);
    double *contacts  = b->wrenches + SITE * n_wrenches(selected) * W;
    for (size_t lane = 0; lane < W; lane++) {
        dyn_ground_state *s = &b->state[lane];
        s->ground           = &grounding_of(selected)->ground;
        s->support          = api_ground_support(grounding_of(selected), api_row_of(e->query, block * W + lane));
        gather(e, b, lane, s);
        dyn_ground_status status = dyn_ground_solve(s);
        b->solved[lane]          = status == DYN_GROUND_DONE;
        if (!b->solved[lane])
            *s = (dyn_ground_state){.ground = s->ground}; /* the wrenches of a state that fails alone are zero */
        if (!b->solved[lane] && !fail(e, status, block * W + lane)) return false;
        put(resultant, W, lane, s->resultant, 6);
        put(zero, W, lane, s->zero_moment, 3);
        put(feet, W, lane, s->wrench[0], 6 * n);
        for (size_t k = 0; k < n; k++) {
            put(contacts + SITE * k * W, W, lane, s->wrench[k], 6);
            put(contacts + (SITE * k + 6) * W, W, lane, (double[3]){0}, 3);
        }
    }
    return true;
}

static bool find_forces(const api_evaluation *e, const api_selection *selected, size_t block, block_lanes *b)
{
    const dyn_kernels   *kernels        = e->kernels;
    const dyn_ground    *ground         = &grounding_of(selected)->ground;
    const double        *given          = api_wrench_block(e, block);
    dyn_frame            points[POINTS] = {ground->base, ground->contact[0], ground->contact[1]};
    dyn_inverse_dynamics id             = {.q        = api_state_block(e, API_Q, block),
                                           .qd       = api_state_block(e, API_QD, block),
                                           .qdd      = api_state_block(e, API_QDD, block),
                                           .wrenches = given,
                                           .tau      = b->tau};
    dyn_kinematics       kinematics     = {.q         = id.q,
                                           .n_frames  = 1 + ground->n_contacts,
                                           .frames    = points,
                                           .positions = b->positions,
                                           .frame     = &ground->base,
                                           .jacobian  = b->jacobian};
    kernels->inverse_dynamics(&e->query->scene, e->workspace, &id, 1);
    kernels->kinematics(&e->query->scene, e->workspace, &kinematics, 1);
    if (given) memcpy(b->wrenches, given, SITE * n_wrenches(selected) * e->lanes * sizeof *given);
    return solve(e, selected, block, b);
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

/* Finds the Jacobians of the contacts. dtau/dW_k has them too, but times a factor of each joint whose friction depends
 * on its load. */
static void find_contact_jacobians(const api_evaluation *e, const api_selection *selected, size_t block,
                                   const block_lanes *b)
{
    const dyn_ground *ground = &grounding_of(selected)->ground;
    for (size_t k = 0; k < n_contacts(selected); k++) {
        const dyn_kinematics io = {
            .q = api_state_block(e, API_Q, block), .frame = &ground->contact[k], .jacobian = b->contact[k]};
        e->kernels->kinematics(&e->query->scene, e->workspace, &io, 1);
    }
}

/* Gathers the derivatives of contact positions with respect to coordinate v. */
static void gather_motion(const api_evaluation *e, const api_selection *selected, const block_lanes *b, size_t lane,
                          size_t v, dyn_ground_rate *rate)
{
    size_t nv = e->model->nv, W = e->lanes;
    for (size_t k = 0; k < n_contacts(selected); k++)
        for (size_t i = 0; i < 3; i++)
            rate->contact[k][i] = b->contact[k][(i * nv + v) * W + lane];
}

/* Finds the derivatives of one state's resultant, zero-moment point and foot wrenches with respect to q (by = 0), qd
 * (1) or qdd (2). */
static void differentiate(const api_evaluation *e, const api_selection *selected, size_t block, block_lanes *b,
                          size_t lane, size_t by)
{
    size_t            nv = e->model->nv, W = e->lanes;
    double           *resultant = api_result_block(e, selected, D_RESULTANT + by, block);
    double           *zero      = api_result_block(e, selected, D_ZERO_MOMENT + by, block);
    dyn_ground_state *s         = &b->state[lane];
    for (size_t v = 0; v < nv; v++)
        for (size_t i = 0; i < 6; i++)
            b->columns[6 * v + i] = b->H[by][(i * nv + v) * W + lane];
    dyn_ground_solve_base(s, b->columns, nv);
    for (size_t v = 0; v < nv; v++) {
        dyn_ground_rate rate = {0};
        if (by == 0) gather_motion(e, selected, b, lane, v, &rate);
        dyn_ground_differentiate(s, b->columns + 6 * v, &rate);
        for (size_t i = 0; i < 6; i++) {
            if (resultant) resultant[(i * nv + v) * W + lane] = rate.resultant[i];
            if (zero && i < 3) zero[(i * nv + v) * W + lane] = rate.zero_moment[i];
            for (size_t k = 0; k < n_contacts(selected); k++)
                b->d_feet[by][((6 * k + i) * nv + v) * W + lane] = rate.wrench[k][i];
        }
    }
}

/* Adds the effect of the derivatives dW_k of the contact wrenches to those of the efforts, in all lanes: H += sum
 * dtau/dW_k dW_k. by: 0 for q, 1 for qd, 2 for qdd. */
static void add_wrenches(const api_evaluation *e, const api_selection *selected, const block_lanes *b, size_t by)
{
    size_t nv = e->model->nv, W = e->lanes;
    for (size_t k = 0; k < n_contacts(selected); k++)
        for (size_t row = 0; row < nv; row++)
            for (size_t i = 0; i < 6; i++) {
                const double *lever  = b->d_wrench + (((n_wrenches(selected) + k) * nv + row) * 6 + i) * W;
                const double *d_feet = b->d_feet[by] + (6 * k + i) * nv * W;
                double       *effort = b->H[by] + row * nv * W;
                for (size_t v = 0; v < nv; v++)
                    for (size_t lane = 0; lane < W; lane++)
                        effort[v * W + lane] += lever[lane] * d_feet[v * W + lane];
            }
}

static bool check_smooth(const api_evaluation *e, const api_selection *selected, size_t block, block_lanes *b)
{
    for (size_t lane = 0; lane < e->lanes && n_contacts(selected) > 1; lane++)
        for (size_t k = 0; k < n_contacts(selected) && b->solved[lane]; k++) {
            size_t row = block * e->lanes + lane;
            if (row >= e->query->rows || b->state[lane].distance[k] > 0) continue;
            if (b->state[lane].support != DYN_BOTH_FEET)
                continue; /* on one foot, the share of each foot in the wrench is constant */
            b->solved[lane] = false;
            if (!api_fail_state(e, API_BAD_VALUE, API_FEET_FIELD, row,
                                "foot %zu is at the zero-moment point, where its share has no derivatives", k))
                return false;
        }
    return true;
}

static bool find_derivatives(const api_evaluation *e, const api_selection *selected, const dyn_scene *grounded,
                             size_t block, block_lanes *b)
{
    dyn_sensitivity io = {.q            = api_state_block(e, API_Q, block),
                          .qd           = api_state_block(e, API_QD, block),
                          .qdd          = api_state_block(e, API_QDD, block),
                          .wrenches     = b->wrenches,
                          .dtau_dq      = b->H[0],
                          .dtau_dqd     = b->H[1],
                          .dtau_dqdd    = b->H[2],
                          .dtau_dwrench = b->d_wrench};
    if (!check_smooth(e, selected, block, b)) return false;
    e->kernels->sensitivity(grounded, e->workspace, &io, 1);
    find_contact_jacobians(e, selected, block, b);
    for (size_t by = 0; by < BY; by++) {
        memset(b->d_feet[by], 0, 6 * n_contacts(selected) * e->model->nv * e->lanes * sizeof *b->d_feet[by]);
        for (size_t lane = 0; lane < e->lanes; lane++)
            if (b->solved[lane]) differentiate(e, selected, block, b, lane, by);
        if (api_result_block(e, selected, DTAU + by, block)) add_wrenches(e, selected, b, by);
    }
    return true;
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    block_lanes          b;
    dyn_scene            grounded = e->query->scene;
    dyn_inverse_dynamics id       = {.q   = api_state_block(e, API_Q, block),
                                     .qd  = api_state_block(e, API_QD, block),
                                     .qdd = api_state_block(e, API_QDD, block),
                                     .tau = api_result_block(e, selected, TAU, block)};
    grounded.n_wrenches           = n_wrenches(selected) + n_contacts(selected);
    grounded.wrench               = grounding_of(selected)->sites;
    place(e, selected, block, &b);
    if (!find_forces(e, selected, block, &b)) return false;
    id.wrenches = b.wrenches;
    if (id.tau) e->kernels->inverse_dynamics(&grounded, e->workspace, &id, 1);
    return !(selected->outputs & GRADIENTS) || find_derivatives(e, selected, &grounded, block, &b);
}

const api_operation api_ground_reaction = {
    .name  = "ground-reaction",
    .needs = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_OUTPUTS) |
             API_BIT(API_FEET_FIELD) | API_BIT(API_PLANE) | API_BIT(API_SUPPORTS),
    .outputs       = {[RESULTANT]           = {"resultant", true, {6}},
                      [ZERO_MOMENT]         = {"zero_moment_point", true, {3}},
                      [FOOT_WRENCHES]       = {"foot_wrenches", true, {API_CONTACTS, 6}},
                      [TAU]                 = {"tau", true, {API_NV}},
                      [D_RESULTANT]         = {"d_resultant_dq", false, {6, API_NV}},
                      [D_RESULTANT + 1]     = {"d_resultant_dqd", false, {6, API_NV}},
                      [D_RESULTANT + 2]     = {"d_resultant_dqdd", false, {6, API_NV}},
                      [D_ZERO_MOMENT]       = {"d_zero_moment_point_dq", false, {3, API_NV}},
                      [D_ZERO_MOMENT + 1]   = {"d_zero_moment_point_dqd", false, {3, API_NV}},
                      [D_ZERO_MOMENT + 2]   = {"d_zero_moment_point_dqdd", false, {3, API_NV}},
                      [D_FOOT_WRENCHES]     = {"d_foot_wrenches_dq", false, {API_CONTACTS, 6, API_NV}},
                      [D_FOOT_WRENCHES + 1] = {"d_foot_wrenches_dqd", false, {API_CONTACTS, 6, API_NV}},
                      [D_FOOT_WRENCHES + 2] = {"d_foot_wrenches_dqdd", false, {API_CONTACTS, 6, API_NV}},
                      [DTAU]                = {"dtau_dq", false, {API_NV, API_NV}},
                      [DTAU + 1]            = {"dtau_dqd", false, {API_NV, API_NV}},
                      [DTAU + 2]            = {"dtau_dqdd", false, {API_NV, API_NV}}},
    .one_by_one    = true,
    .weight        = 8,
    .square_weight = 1,
    .options       = options,
    .prepare       = prepare,
    .spare         = spare,
    .load_in_trees = true,
    .evaluate      = evaluate,
};
