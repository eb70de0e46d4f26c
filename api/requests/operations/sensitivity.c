/* sensitivity.c - computes the derivatives of inverse dynamics with respect to state, wrenches, gravity and parameters,
 * also with free coordinates (free_motion.h) or held frames (held_partials.h). */
#include "api/requests/evaluate/free_motion.h"
#include "api/requests/fields/fields.h"
#include "api/requests/held/held_partials.h"
#include <string.h>

enum {
    DTAU_DQ,
    DTAU_DQD,
    DTAU_DQDD,
    TAU,
    JOINT_WRENCHES,
    D_JOINT_WRENCHES_DQ,
    D_JOINT_WRENCHES_DQD,
    D_JOINT_WRENCHES_DQDD,
    DTAU_DWRENCH,
    DTAU_DGRAVITY,
    DTAU_DPARAMETERS,
    QDD,
    DQDD_DQ,
    DQDD_DQD,
    DQDD_DQDD,
    DQDD_DTAU,
    CONTACT_WRENCHES,
    D_CONTACT_WRENCHES_DQ,
    D_CONTACT_WRENCHES_DQD,
    D_CONTACT_WRENCHES_DQDD
};

/* --- options ---------------------------------------------------------------------------------------------------- */

static const bool *driven_of(const api_selection *selected)
{
    return api_motion_options_of(selected)->driven;
}

static bool has_held(const api_selection *selected)
{
    return api_motion_options_of(selected)->held;
}

/* Checks the outputs of a request with or without held frames, whose derivatives of contact wrenches are defaults. */
static bool check_held(api_query *q, api_selection *selected, const api_node *options, const api_place *up)
{
    const api_place place = api_place_key(up, "held");
    for (size_t output = D_CONTACT_WRENCHES_DQ; output <= D_CONTACT_WRENCHES_DQDD; output++) {
        if (has_held(selected) && !api_node_get(options, "outputs")) selected->outputs |= API_BIT(output);
        if (!has_held(selected) && selected->outputs & API_BIT(output))
            return api_fail_output(q, selected, output, options, up,
                                   "contact wrenches are differentiated only with held frames: name them in held");
    }
    for (size_t output = D_JOINT_WRENCHES_DQ; has_held(selected) && output <= D_JOINT_WRENCHES_DQDD; output++)
        if (selected->outputs & API_BIT(output))
            return api_fail_output(q, selected, output, options, up,
                                   "derivatives of joint_wrenches are not computed with held frames");
    return !has_held(selected) || !q->model->loops ||
           api_fail_at(q->problem, &place, API_NOT_FOR_LOOPS,
                       "derivatives with held frames are for models without loops, which the model has");
}

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    if (!api_motion_options_read(q, selected, given, up, &(api_motion_outputs){QDD, CONTACT_WRENCHES}) ||
        !api_contact_refuse_rolling(q, api_motion_contact_of(selected), up, "sensitivity") ||
        !check_held(q, selected, given, up))
        return false;
    for (size_t output = DQDD_DQ; !driven_of(selected) && output <= DQDD_DTAU; output++)
        if (selected->outputs & API_BIT(output))
            return api_fail_output(q, selected, output, given, up,
                                   "accelerations are differentiated only with free coordinates: name them in free");
    for (size_t output = DQDD_DQ; driven_of(selected) && !api_node_get(given, "outputs") && output <= DQDD_DQDD;
         output++)
        selected->outputs |= API_BIT(output);
    return true;
}

static bool prepare(api_plan *plan, api_selection *selected)
{
    return api_motion_options_prepare(plan, selected);
}

/* --- evaluation ------------------------------------------------------------------------------------------------- */

/* True if derivatives of the joint wrenches are requested. */
static bool has_joint_wrenches(const api_selection *selected)
{
    return selected->result[D_JOINT_WRENCHES_DQ] || selected->result[D_JOINT_WRENCHES_DQD] ||
           selected->result[D_JOINT_WRENCHES_DQDD];
}

/* Counts the scratch lanes: the three matrices that the kernel needs, if they are not requested; with free coordinates
 * also M, qdd and its derivatives, and the derivatives of joint wrenches with respect to qdd. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    size_t sum = api_missing_entries(model, selected, DTAU_DQ, DTAU_DQDD);
    if (has_held(selected)) return sum + api_held_partials_entries(model, selected);
    if (!driven_of(selected)) return sum;
    sum += api_missing_entries(model, selected, QDD, DQDD_DQDD);
    if (has_joint_wrenches(selected))
        sum += api_missing_entries(model, selected, D_JOINT_WRENCHES_DQDD, D_JOINT_WRENCHES_DQDD);
    return sum + 1 + model->nv * model->nv + model->nv + dyn_free_room(model->nv);
}

/* Writes the outputs that are no derivatives: tau, joint wrenches, and dtau_dparameters, which is the regressor. */
static void undifferentiated(const api_evaluation *e, const api_selection *selected, const double *qdd, size_t block)
{
    const dyn_kernels   *kernels = e->kernels;
    const double        *q = api_state_block(e, API_Q, block), *qd = api_state_block(e, API_QD, block);
    dyn_inverse_dynamics id = {.q = q, .qd = qd, .qdd = qdd, .wrenches = api_wrench_block(e, block)};
    dyn_regressor        Y  = {.q             = q,
                               .qd            = qd,
                               .qdd           = qdd,
                               .wrenches      = id.wrenches,
                               .zeros_are_set = e->zeros_written && !driven_of(selected)};
    id.tau                  = api_result_block(e, selected, TAU, block);
    id.joint_wrenches       = api_result_block(e, selected, JOINT_WRENCHES, block);
    Y.regressor             = api_result_block(e, selected, DTAU_DPARAMETERS, block);
    if (id.tau || id.joint_wrenches) kernels->inverse_dynamics(&e->query->scene, e->workspace, &id, 1);
    if (id.tau && driven_of(selected)) api_free_restore(e, driven_of(selected), block, 1, id.tau);
    if (Y.regressor) kernels->regressor(&e->query->scene, e->workspace, &Y, 1);
}

/* --- free coordinates ------------------------------------------------------------------------------------------- */

/* Arrays for one block of states: qdd, its derivatives and M (nv x nv in lanes), dtau/dT, and scratch memory. */
typedef struct free_arrays {
    double     *qdd, *by_q, *by_qd, *by_qdd, *M, *load, *room; /* load: api_free_find_load */
    double     *by_tau, *by_parameters;                        /* dqdd_dtau and dtau_dparameters; NULL: not selected */
    size_t      parameters;                                    /* columns of by_parameters */
    const bool *driven;
} free_arrays;

/* Sets dqdd_dtau of one lane (nv x nv): M_FF^-1 in the free coordinates, else zero. */
static void set_dqdd_dtau(const dyn_free_block *b, size_t lane, double *to)
{
    for (size_t i = 0; i < b->nv * b->nv; i++)
        to[i * b->W + lane] = 0;
    for (size_t j = 0; j < b->n; j++) {
        for (size_t i = 0; i < b->n; i++)
            b->x[i] = i == j;
        dyn_free_solve(b);
        for (size_t i = 0; i < b->n; i++)
            to[(b->free[i] * b->nv + b->free[j]) * b->W + lane] = b->x[i];
    }
}

/* Differentiates the joint wrenches of one lane. */
static void free_joint_wrenches(const dyn_free_block *b, const dyn_sensitivity *io, const free_arrays *a, size_t rows,
                                size_t lane)
{
    if (!io->djoint_wrenches_dqdd) return;
    if (io->djoint_wrenches_dq) dyn_free_add(b, lane, rows, io->djoint_wrenches_dqdd, a->by_q, io->djoint_wrenches_dq);
    if (io->djoint_wrenches_dqd)
        dyn_free_add(b, lane, rows, io->djoint_wrenches_dqdd, a->by_qd, io->djoint_wrenches_dqd);
    dyn_free_add(b, lane, rows, io->djoint_wrenches_dqdd, a->by_qdd, io->djoint_wrenches_dqdd);
    dyn_free_clear_columns(b, lane, rows, io->djoint_wrenches_dqdd);
}

/* Replaces the derivatives at constant qdd in one lane by those with free coordinates. */
static void free_lane(const api_evaluation *e, const dyn_free_block *b, const dyn_sensitivity *io, const free_arrays *a,
                      size_t lane)
{
    const size_t nv = b->nv;
    dyn_free_factor(b, lane);
    dyn_free_differentiate(b, lane, nv, io->dtau_dq, a->by_q);
    dyn_free_differentiate(b, lane, nv, io->dtau_dqd, a->by_qd);
    dyn_free_differentiate(b, lane, nv, io->dtau_dqdd, a->by_qdd);
    dyn_free_clear_columns(b, lane, nv, io->dtau_dqdd);
    dyn_free_clear_columns(b, lane, nv, a->by_qdd);
    for (size_t n = 0; io->dtau_dwrench && n < e->query->scene.n_wrenches; n++)
        dyn_free_differentiate(b, lane, 6, io->dtau_dwrench + n * nv * 6 * b->W, NULL);
    if (io->dtau_dgravity) dyn_free_differentiate(b, lane, 3, io->dtau_dgravity, NULL);
    if (a->by_parameters) dyn_free_differentiate(b, lane, a->parameters, a->by_parameters, NULL);
    free_joint_wrenches(b, io, a, 6 * (size_t)e->model->dyn->n_rows, lane);
    for (size_t v = 0; v < nv; v++) /* the identity matrix in rows of driven coordinates */
        if (a->driven[v]) a->by_qdd[(v * nv + v) * b->W + lane] = 1;
    if (a->by_tau) set_dqdd_dtau(b, lane, a->by_tau);
}

static free_arrays take_free(const api_evaluation *e, const api_selection *selected, size_t block, double **next)
{
    const size_t nv = e->model->nv;
    free_arrays  a  = {.qdd           = api_result_or_spare(e, selected, QDD, block, next),
                       .by_q          = api_result_or_spare(e, selected, DQDD_DQ, block, next),
                       .by_qd         = api_result_or_spare(e, selected, DQDD_DQD, block, next),
                       .by_qdd        = api_result_or_spare(e, selected, DQDD_DQDD, block, next),
                       .by_tau        = api_result_block(e, selected, DQDD_DTAU, block),
                       .by_parameters = api_result_block(e, selected, DTAU_DPARAMETERS, block),
                       .parameters    = api_extent(e->model, selected, API_BODY_PARAMETERS),
                       .driven        = driven_of(selected)};
    a.M             = *next;
    a.load          = api_behind(e, a.M, nv * nv, 1);
    a.room          = api_behind(e, a.load, nv, 1);
    *next           = api_behind(e, a.room, dyn_free_room(nv), 1);
    return a;
}

static void differentiate_free(const api_evaluation *e, const dyn_sensitivity *io, const free_arrays *a)
{
    const size_t nv = e->model->nv;
    memcpy(a->M, io->dtau_dqdd, nv * nv * e->lanes * sizeof *a->M);
    const dyn_inverse_dynamics at = {.q = io->q, .qd = io->qd, .qdd = io->qdd, .wrenches = io->wrenches};
    dyn_free_block             b  = dyn_free_lay_out(nv, e->lanes, a->driven, a->M, a->room);
    b.load                        = api_free_find_load(e, at, a->load);
    for (size_t lane = 0; lane < e->lanes; lane++)
        free_lane(e, &b, io, a, lane);
}

/* --- a block ---------------------------------------------------------------------------------------------------- */

static dyn_sensitivity arrays_of(const api_evaluation *e, const api_selection *selected, size_t block, double **next)
{
    return (dyn_sensitivity){
        .q                    = api_state_block(e, API_Q, block),
        .qd                   = api_state_block(e, API_QD, block),
        .qdd                  = api_state_block(e, API_QDD, block),
        .wrenches             = api_wrench_block(e, block),
        .zeros_are_set        = e->zeros_written && !driven_of(selected) && !has_held(selected),
        .dtau_dq              = api_result_or_spare(e, selected, DTAU_DQ, block, next),
        .dtau_dqd             = api_result_or_spare(e, selected, DTAU_DQD, block, next),
        .dtau_dqdd            = api_result_or_spare(e, selected, DTAU_DQDD, block, next),
        .djoint_wrenches_dq   = api_result_block(e, selected, D_JOINT_WRENCHES_DQ, block),
        .djoint_wrenches_dqd  = api_result_block(e, selected, D_JOINT_WRENCHES_DQD, block),
        .djoint_wrenches_dqdd = api_result_block(e, selected, D_JOINT_WRENCHES_DQDD, block),
        .dtau_dwrench         = api_result_block(e, selected, DTAU_DWRENCH, block),
        .dtau_dgravity        = api_result_block(e, selected, DTAU_DGRAVITY, block),
    };
}

static bool evaluate_partials(const api_evaluation *e, const api_selection *selected, size_t block, dyn_sensitivity *io,
                              double *next)
{
    const api_held_partials partials = {.tau              = api_result_block(e, selected, TAU, block),
                                        .joint_wrenches   = api_result_block(e, selected, JOINT_WRENCHES, block),
                                        .contact_wrenches = api_result_block(e, selected, CONTACT_WRENCHES, block),
                                        .dtau_dparameters = api_result_block(e, selected, DTAU_DPARAMETERS, block),
                                        .wrenches_dq      = api_result_block(e, selected, D_CONTACT_WRENCHES_DQ, block),
                                        .wrenches_dqd  = api_result_block(e, selected, D_CONTACT_WRENCHES_DQD, block),
                                        .wrenches_dqdd = api_result_block(e, selected, D_CONTACT_WRENCHES_DQDD, block)};
    return api_held_partials_evaluate(e, selected, block, io, &partials, next);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    double         *next = e->spare;
    free_arrays     a    = {.qdd = NULL};
    dyn_sensitivity io   = arrays_of(e, selected, block, &next);
    if (has_held(selected)) return evaluate_partials(e, selected, block, &io, next);
    if (driven_of(selected)) {
        a = take_free(e, selected, block, &next);
        if (has_joint_wrenches(selected))
            io.djoint_wrenches_dqdd = api_result_or_spare(e, selected, D_JOINT_WRENCHES_DQDD, block, &next);
        if (!api_free_accelerations(e, driven_of(selected), next, a.qdd, block, 1)) return false;
        io.qdd = a.qdd;
    }
    e->kernels->sensitivity(&e->query->scene, e->workspace, &io, 1);
    undifferentiated(e, selected, io.qdd, block);
    if (driven_of(selected)) differentiate_free(e, &io, &a);
    return true;
}

static double decoded_seconds(const api_query *q, const api_selection *selected)
{
    return api_held_efforts_decoded_seconds(q, api_motion_options_of(selected)->held);
}

const api_operation api_sensitivity = {
    .name       = "sensitivity",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes = API_BIT(API_QD) | API_BIT(API_QDD) | API_BIT(API_GRAVITY) | API_BIT(API_PAYLOAD) | API_BIT(API_WRENCHES) |
             API_BIT(API_FRICTION) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) |
             API_BIT(API_OUTPUTS) | API_BIT(API_TAU) | API_BIT(API_FREE) | API_BIT(API_HELD_FIELD),
    .outputs         = {[DTAU_DQ]                 = {"dtau_dq", true, {API_NV, API_NV}},
                        [DTAU_DQD]                = {"dtau_dqd", true, {API_NV, API_NV}},
                        [DTAU_DQDD]               = {"dtau_dqdd", true, {API_NV, API_NV}},
                        [TAU]                     = {"tau", false, {API_NV}},
                        [JOINT_WRENCHES]          = {"joint_wrenches", false, {API_BODIES, 6}},
                        [D_JOINT_WRENCHES_DQ]     = {"d_joint_wrenches_dq", false, {API_BODIES, 6, API_NV}},
                        [D_JOINT_WRENCHES_DQD]    = {"d_joint_wrenches_dqd", false, {API_BODIES, 6, API_NV}},
                        [D_JOINT_WRENCHES_DQDD]   = {"d_joint_wrenches_dqdd", false, {API_BODIES, 6, API_NV}},
                        [DTAU_DWRENCH]            = {"dtau_dwrench", false, {API_REQUEST_WRENCHES, API_NV, 6}},
                        [DTAU_DGRAVITY]           = {"dtau_dgravity", false, {API_NV, 3}},
                        [DTAU_DPARAMETERS]        = {"dtau_dparameters", false, {API_NV, API_BODY_PARAMETERS}},
                        [QDD]                     = {"qdd", false, {API_NV}},
                        [DQDD_DQ]                 = {"dqdd_dq", false, {API_NV, API_NV}},
                        [DQDD_DQD]                = {"dqdd_dqd", false, {API_NV, API_NV}},
                        [DQDD_DQDD]               = {"dqdd_dqdd", false, {API_NV, API_NV}},
                        [DQDD_DTAU]               = {"dqdd_dtau", false, {API_NV, API_NV}},
                        [CONTACT_WRENCHES]        = {"contact_wrenches", false, {API_HELD_FRAMES, 6}},
                        [D_CONTACT_WRENCHES_DQ]   = {"d_contact_wrenches_dq", false, {API_HELD_FRAMES, 6, API_NV}},
                        [D_CONTACT_WRENCHES_DQD]  = {"d_contact_wrenches_dqd", false, {API_HELD_FRAMES, 6, API_NV}},
                        [D_CONTACT_WRENCHES_DQDD] = {"d_contact_wrenches_dqdd", false, {API_HELD_FRAMES, 6, API_NV}}},
    .one_by_one      = true,
    .weight          = 3,
    .square_weight   = 0.5,
    .decoded_seconds = decoded_seconds,
    .options         = options,
    .prepare         = prepare,
    .spare           = spare,
    .evaluate        = evaluate,
};
