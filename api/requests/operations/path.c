/* path.c - computes the coefficients of torques, torque rates and joint wrenches along a path q(s) with s = s(t).
 *
 * With ' for d/ds, qd = q' sd, qdd = q'' sd^2 + q' sdd and qddd = q''' sd^3 + 3 q'' sd sdd + q' sddd (Guarino Lo Bianco
 * 2009; Bobrow, Dubowsky & Gibson 1985 for tau):
 *
 *     tau  = a sdd + b sd^2 + d sd + c,       a = M q',  b = M q'' + C(q, q') q',  d: damping at the rates q'
 *     tau' = a sddd + (a' + 2b) sd sdd + b' sd^3 + d sdd + d' sd^2 + c' sd           (tau' by time)
 *
 * c is gravity, springs, wrenches and sharp Coulomb friction for sd > 0. Coefficients are values of inverse dynamics
 * and of the torque derivative F(sd, sdd, sddd). `still` stands for a scene without gravity, wrenches, friction and
 * springs, `whole` for all of them but Coulomb friction:
 *
 *     b' = F_still(1, 0, 0),  a' + 2b = F_still(1, 1, 0) - b',
 *     b' + d' + c' = F_whole(1, 0, 0),  -b' + d' - c' = F_whole(-1, 0, 0). */
#include "api/requests/scene/row_scenes.h"
#include "api/requests/path_timing/path_friction.h"
#include "api/requests/evaluate/motor_efforts.h"
#include "api/requests/fields/fields.h"
#include <string.h>

enum { A = API_PATH_A, B = API_PATH_B, C = API_PATH_C, D = API_PATH_D };
enum { DA_DS = API_PATH_DA_DS, DB_DS = API_PATH_DB_DS, DC_DS = API_PATH_DC_DS, DD_DS = API_PATH_DD_DS };
enum { SMOOTH_FRICTION = DD_DS + 1, JUMPS = API_PATH_JUMPS };
enum { WRENCHES_A = JUMPS + 1, WRENCHES_B, WRENCHES_C, D_WRENCHES_A, D_WRENCHES_B, D_WRENCHES_C, MOTOR_JUMPS };
#define WRENCHES     (API_BIT(WRENCHES_A) | API_BIT(WRENCHES_B) | API_BIT(WRENCHES_C))
#define WRENCH_RATES (API_BIT(D_WRENCHES_A) | API_BIT(D_WRENCHES_B) | API_BIT(D_WRENCHES_C))
#define TORQUE_RATES (API_BIT(DA_DS) | API_BIT(DB_DS) | API_BIT(DC_DS) | API_BIT(DD_DS))
enum { OWN_VECTORS = 9, OWN_WRENCHES = 4 };

/* The scenes in which the kernels are called. */
typedef struct path_options {
    dyn_scene whole, still;
    bool      damped; /* the model has viscous friction or dampers */
} path_options;

/* --- scenes ------------------------------------------------------------------------------------------------------- */

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    selected->options      = api_take(q->pool, sizeof(path_options));
    selected->all_in_lanes = selected->outputs & (API_BIT(JUMPS) | API_BIT(MOTOR_JUMPS));
    return selected->options && api_motor_efforts_check(q, selected, MOTOR_JUMPS, given, up);
}

static void emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    (void)selected, (void)output; /* always smooth_friction, the only output that this function writes */
    api_path_emit_smooth_friction(plan->query, to);
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    const api_query *q = plan->query;
    path_options    *o = selected->options;
    *o = (path_options){.whole = q->scene, .still = {.model = q->scene.model}, .damped = api_path_is_damped(q)};
    if (api_path_has_curved_damping(q))
        return api_fail(q->problem, API_NOT_SUPPORTED, NULL,
                        "the torques along a path are no polynomial in its velocity: a joint of %s has a spring with a "
                        "\"damping_polynomial\", which a model for paths leaves out",
                        q->model->name);
    if (!api_path_has_coulomb(q)) return true;
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                        "the Coulomb friction of %s depends on passive joints: send \"friction\": false",
                        q->model->name);
    if (q->row_scenes && q->row_scenes->n > 0)
        return api_fail_row_scenes(q, q->row_scenes->bodies, "a path with Coulomb friction");
    o->whole.model = api_path_without_coulomb(q);
    return o->whole.model != NULL;
}

/* --- coefficients of torques and joint wrenches --------------------------------------------------------------------
 */

/* The path at the rows of a block, and scratch lanes. */
typedef struct path_block {
    const double *q, *dq, *d2q, *d3q; /* NULL: zero */
    const double *wrenches;
    double       *vector[OWN_VECTORS];  /* nv each: scratch */
    double       *matrix[OWN_WRENCHES]; /* n_rows x 6 each: scratch; NULL: rates of joint wrenches are not selected */
} path_block;

static size_t spare(const api_model *model, const api_selection *selected)
{
    return OWN_VECTORS * model->nv + (selected->outputs & WRENCH_RATES ? OWN_WRENCHES * 6 * model->n_bodies : 0);
}

static path_block place(const api_evaluation *e, const api_selection *selected, size_t block)
{
    path_block   p       = {.q        = api_state_block(e, API_Q, block),
                            .dq       = api_state_block(e, API_QD, block),
                            .d2q      = api_state_block(e, API_QDD, block),
                            .d3q      = api_state_block(e, API_QDDD, block),
                            .wrenches = api_wrench_block(e, block)};
    double      *next    = e->spare;
    const size_t entries = e->model->nv * e->lanes;
    for (size_t i = 0; i < OWN_VECTORS; i++, next += entries)
        p.vector[i] = next;
    for (size_t i = 0; selected->outputs & WRENCH_RATES && i < OWN_WRENCHES;
         i++, next += 6 * e->model->n_bodies * e->lanes)
        p.matrix[i] = next;
    return p;
}

/* Sets to = factor x + other, n entries; x or other NULL: zeros. Returns `to`. */
static double *combine(size_t n, double factor, const double *x, const double *other, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = factor * (x ? x[i] : 0) + (other ? other[i] : 0);
    return to;
}

/* Calls inverse dynamics if one of the two results is selected. */
static void find(const api_evaluation *e, const dyn_scene *scene, const dyn_inverse_dynamics *io)
{
    if (io->tau || io->joint_wrenches) e->kernels->inverse_dynamics(scene, e->workspace, io, 1);
}

/* Sets d, the coefficient of sd, from inverse dynamics at sd = 1 and -1 with sdd = 0: d sd is the only term that is odd
 * in sd. */
static void find_damping(const api_evaluation *e, const path_options *o, const path_block *p, double *d)
{
    const size_t n = e->model->nv * e->lanes;
    combine(n, 0, NULL, NULL, d);
    if (!o->damped || !p->dq) return;
    const double *back = combine(n, -1, p->dq, NULL, p->vector[0]);
    find(e, &o->whole, &(dyn_inverse_dynamics){.q = p->q, .qd = p->dq, .wrenches = p->wrenches, .tau = p->vector[1]});
    find(e, &o->whole, &(dyn_inverse_dynamics){.q = p->q, .qd = back, .wrenches = p->wrenches, .tau = p->vector[2]});
    for (size_t i = 0; i < n; i++)
        d[i] = 0.5 * (p->vector[1][i] - p->vector[2][i]);
}

static void find_coefficients(const api_evaluation *e, const api_selection *selected, const path_block *p, size_t block)
{
    const path_options *o = selected->options;
    double             *c = api_result_block(e, selected, C, block), *d = api_result_block(e, selected, D, block);
    find(e, &o->still,
         &(dyn_inverse_dynamics){.q              = p->q,
                                 .qdd            = p->dq,
                                 .tau            = api_result_block(e, selected, A, block),
                                 .joint_wrenches = api_result_block(e, selected, WRENCHES_A, block)});
    find(e, &o->still,
         &(dyn_inverse_dynamics){.q              = p->q,
                                 .qd             = p->dq,
                                 .qdd            = p->d2q,
                                 .tau            = api_result_block(e, selected, B, block),
                                 .joint_wrenches = api_result_block(e, selected, WRENCHES_B, block)});
    find(e, &o->whole,
         &(dyn_inverse_dynamics){.q              = p->q,
                                 .wrenches       = p->wrenches,
                                 .tau            = c,
                                 .joint_wrenches = api_result_block(e, selected, WRENCHES_C, block)});
    if (c) api_path_add_coulomb(e, p->dq, c);
    if (d) find_damping(e, o, p, d);
}

/* --- their derivatives along the path ------------------------------------------------------------------------------
 */

/* Values of the torque derivative, nv numbers each, and of the joint wrenches, 6 for each body; see the first comment.
 */
typedef struct path_rates {
    double *b, *still, *accelerated, *forth, *back; /* b; F_still(1, 0, 0) and (1, 1, 0); F_whole(+-1, 0, 0) */
    double *b_wrenches, *still_wrenches, *accelerated_wrenches, *forth_wrenches;
} path_rates;

static path_rates find_rates(const api_evaluation *e, const path_options *o, const path_block *p)
{
    const size_t          n           = e->model->nv * e->lanes;
    path_rates            r           = {.b                    = p->vector[0],
                                         .still                = p->vector[1],
                                         .accelerated          = p->vector[2],
                                         .forth                = p->vector[3],
                                         .back                 = p->vector[4],
                                         .b_wrenches           = p->matrix[0],
                                         .still_wrenches       = p->matrix[1],
                                         .accelerated_wrenches = p->matrix[2],
                                         .forth_wrenches       = p->matrix[3]};
    dyn_torque_derivative still       = {.q                  = p->q,
                                         .qd                 = p->dq,
                                         .qdd                = p->d2q,
                                         .qddd               = p->d3q,
                                         .tau                = r.b,
                                         .tau_dot            = r.still,
                                         .joint_wrenches     = r.b_wrenches,
                                         .joint_wrench_rates = r.still_wrenches};
    dyn_torque_derivative accelerated = {
        .q = p->q, .qd = p->dq, .tau_dot = r.accelerated, .joint_wrench_rates = r.accelerated_wrenches};
    dyn_torque_derivative forth = {.q                  = p->q,
                                   .qd                 = p->dq,
                                   .qdd                = p->d2q,
                                   .qddd               = p->d3q,
                                   .wrenches           = p->wrenches,
                                   .tau_dot            = r.forth,
                                   .joint_wrench_rates = r.forth_wrenches};
    dyn_torque_derivative back  = {.q = p->q, .qdd = p->d2q, .wrenches = p->wrenches, .tau_dot = r.back};
    accelerated.qdd             = combine(n, 1, p->dq, p->d2q, p->vector[5]);
    accelerated.qddd            = combine(n, 3, p->d2q, p->d3q, p->vector[6]);
    back.qd                     = combine(n, -1, p->dq, NULL, p->vector[7]);
    back.qddd                   = combine(n, -1, p->d3q, NULL, p->vector[8]);
    e->kernels->torque_derivative(&o->still, e->workspace, &still, 1);
    e->kernels->torque_derivative(&o->still, e->workspace, &accelerated, 1);
    e->kernels->torque_derivative(&o->whole, e->workspace, &forth, 1);
    if (o->damped) e->kernels->torque_derivative(&o->whole, e->workspace, &back, 1);
    return r;
}

static void write_torque_rates(const api_evaluation *e, const api_selection *selected, const path_rates *r,
                               size_t block)
{
    const path_options *o = selected->options;
    double *da = api_result_block(e, selected, DA_DS, block), *db = api_result_block(e, selected, DB_DS, block);
    double *dc = api_result_block(e, selected, DC_DS, block), *dd = api_result_block(e, selected, DD_DS, block);
    for (size_t i = 0; i < e->model->nv * e->lanes; i++) {
        const double odd = o->damped ? 0.5 * (r->forth[i] - r->back[i]) : r->forth[i];
        if (da) da[i] = r->accelerated[i] - r->still[i] - 2 * r->b[i];
        if (db) db[i] = r->still[i];
        if (dc) dc[i] = odd - r->still[i];
        if (dd) dd[i] = o->damped ? 0.5 * (r->forth[i] + r->back[i]) : 0;
    }
}

/* Writes the coefficients of the rates of joint wrenches. Joint wrenches are without friction and springs, so that none
 * of their terms is odd in sd. */
static void write_wrench_rates(const api_evaluation *e, const api_selection *selected, const path_rates *r,
                               size_t block)
{
    double *da = api_result_block(e, selected, D_WRENCHES_A, block);
    double *db = api_result_block(e, selected, D_WRENCHES_B, block);
    double *dc = api_result_block(e, selected, D_WRENCHES_C, block);
    for (size_t i = 0; i < 6 * e->model->n_bodies * e->lanes; i++) {
        if (da) da[i] = r->accelerated_wrenches[i] - r->still_wrenches[i] - 2 * r->b_wrenches[i];
        if (db) db[i] = r->still_wrenches[i];
        if (dc) dc[i] = r->forth_wrenches[i] - r->still_wrenches[i];
    }
}

/* Returns the options with the scenes of a row, if rows differ. The model without Coulomb friction has no payload of a
 * row. */
static path_options in_row(const api_evaluation *e, const path_options *of_request)
{
    path_options     o     = *of_request;
    const dyn_scene *scene = &e->query->scene;
    memcpy(o.whole.gravity, scene->gravity, sizeof o.whole.gravity);
    if (e->query->row_scenes && e->query->row_scenes->n > 0) o.whole.model = o.still.model = scene->model;
    return o;
}

static bool evaluate(const api_evaluation *e, const api_selection *of_request, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    path_options         options  = in_row(e, of_request->options);
    api_selection        copy     = *of_request;
    const api_selection *selected = &copy;
    copy.options                  = &options;
    const path_block p            = place(e, selected, block);
    double          *jumps        = api_result_block(e, selected, JUMPS, block);
    double          *motors       = api_result_block(e, selected, MOTOR_JUMPS, block);
    find_coefficients(e, selected, &p, block);
    if (jumps) api_path_find_jumps(e, block, jumps);
    if (motors) api_path_find_motor_jumps(e, block, motors);
    if (!(selected->outputs & (TORQUE_RATES | WRENCH_RATES))) return true;
    const path_rates rates = find_rates(e, selected->options, &p);
    write_torque_rates(e, selected, &rates, block);
    if (selected->outputs & WRENCH_RATES) write_wrench_rates(e, selected, &rates, block);
    return true;
}

const api_operation api_path = {
    .name       = "path",
    .row_scenes = true,
    .needs      = API_BIT(API_Q) | API_BIT(API_QD),
    .takes      = API_BIT(API_QDD) | API_BIT(API_QDDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) |
             API_BIT(API_WRENCHES) | API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) |
             API_BIT(API_OUTPUTS),
    .tree_outputs  = WRENCHES | WRENCH_RATES,
    .outputs       = {[A]               = {"tau_a", true, {API_NV}},
                      [B]               = {"tau_b", true, {API_NV}},
                      [C]               = {"tau_c", true, {API_NV}},
                      [D]               = {"tau_d", true, {API_NV}},
                      [DA_DS]           = {"dtau_a_ds", true, {API_NV}},
                      [DB_DS]           = {"dtau_b_ds", true, {API_NV}},
                      [DC_DS]           = {"dtau_c_ds", true, {API_NV}},
                      [DD_DS]           = {"dtau_d_ds", true, {API_NV}},
                      [SMOOTH_FRICTION] = {"smooth_friction", true, {API_STRUCTURED}},
                      [JUMPS]           = {"jumps", false, {API_NV}},
                      [WRENCHES_A]      = {"joint_wrenches_a", false, {API_BODIES, 6}},
                      [WRENCHES_B]      = {"joint_wrenches_b", false, {API_BODIES, 6}},
                      [WRENCHES_C]      = {"joint_wrenches_c", false, {API_BODIES, 6}},
                      [D_WRENCHES_A]    = {"d_joint_wrenches_a_ds", false, {API_BODIES, 6}},
                      [D_WRENCHES_B]    = {"d_joint_wrenches_b_ds", false, {API_BODIES, 6}},
                      [D_WRENCHES_C]    = {"d_joint_wrenches_c_ds", false, {API_BODIES, 6}},
                      [MOTOR_JUMPS]     = {"motor_jumps", false, {API_COUPLED_MOTORS}}},
    .one_by_one    = true,
    .weight        = 12,
    .options       = options,
    .prepare       = prepare,
    .spare         = spare,
    .emit          = emit,
    .load_in_trees = true,
    .evaluate      = evaluate,
};
