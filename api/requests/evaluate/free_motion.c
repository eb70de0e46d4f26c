/* free_motion.c - finds the accelerations and jerks of free coordinates (free_motion.h). */
#include "free_motion.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/free_coordinates.h"
#include "friction.h"

/* --- request ---------------------------------------------------------------------------------------------------- */

bool api_free_read(api_query *q, api_selection *selected, const api_node *given, const api_place *up, size_t output)
{
    selected->options = NULL;
    if (!api_node_get(given, "free"))
        return !(selected->outputs & API_BIT(output)) ||
               api_fail_output(q, selected, output, given, up,
                               "qdd is computed only with free coordinates: name them in free");
    if (!api_read_free(q, given, up)) return false;
    selected->options = q->driven;
    if (!api_node_get(given, "outputs")) selected->outputs |= API_BIT(output);
    return true;
}

bool api_free_check_tau(const api_plan *plan, const api_selection *selected, const bool *driven)
{
    api_place at = api_place_key(NULL, "tau");
    if (driven || !plan->state[API_TAU]) return true;
    for (size_t i = 0; i < plan->query->n_selected; i++) {
        const api_selection *other = &plan->query->selected[i];
        if (other != selected && (other->operation->needs | other->operation->takes) & API_BIT(API_TAU)) return true;
    }
    return api_fail_at(plan->query->problem, &at, API_UNKNOWN_FIELD, "%s takes tau only for free coordinates",
                       selected->operation->name);
}

/* --- accelerations ---------------------------------------------------------------------------------------------- */

bool api_free_accelerations(const api_evaluation *e, const bool *driven, double *singular, double *qdd, size_t block,
                            size_t blocks)
{
    dyn_forward_dynamics io = {
        .q          = api_state_block(e, API_Q, block),
        .qd         = api_state_block(e, API_QD, block),
        .tau        = api_state_block(e, API_TAU, block),
        .wrenches   = api_wrench_block(e, block),
        .driven     = driven,
        .driven_qdd = driven ? api_state_block(e, API_QDD, block) : NULL,
        .qdd        = qdd,
        .singular   = singular,
    };
    e->kernels->forward_dynamics(&e->query->scene, e->workspace, &io, blocks);
    return api_check_singular(e, singular, block, blocks);
}

void api_free_restore(const api_evaluation *e, const bool *driven, size_t block, size_t blocks, double *tau)
{
    const double *given = api_state_block(e, API_TAU, block);
    size_t        W = e->lanes, entries = blocks * e->model->nv;
    for (size_t i = 0; i < entries; i++)
        for (size_t lane = 0; lane < W && !driven[i % e->model->nv]; lane++)
            tau[i * W + lane] = given ? given[i * W + lane] : 0;
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

const double *api_free_find_load(const api_evaluation *e, dyn_inverse_dynamics at, double *to)
{
    dyn_friction_map map = {.qd = at.qd, .tau = to, .result = to, .factor = to};
    if (!api_has_load(e->query)) return NULL;
    at.tau            = to;
    at.joint_wrenches = NULL;
    e->kernels->inverse_dynamics(&e->query->scene, e->workspace, &at, 1);
    api_friction_map(e, &map);
    return to;
}

/* --- jerks ------------------------------------------------------------------------------------------------------ */

size_t api_free_jerks_room(size_t nv)
{
    return nv * nv + 2 * nv + dyn_free_room(nv);
}

/* Sets dtau/dqdd of a block, the mass matrix with its rows multiplied by `load`, dtau/dT. */
static void find_masses(const api_evaluation *e, const double *q, const double *load, double *M)
{
    const size_t row = e->model->nv * e->lanes;
    e->kernels->mass_matrix(&e->query->scene, e->workspace, &(dyn_mass_matrix){.q = q, .mass_matrix = M}, 1);
    for (size_t i = 0; load && i < e->model->nv * row; i++)
        M[i] *= load[i / row * e->lanes + i % e->lanes];
}

/* Solves M_FF qddd_F = tau_rates_F - tau_dot_F for the free coordinates F; tau_dot are the rates of the torques with
 * qddd_F = 0. */
void api_free_jerks(const api_evaluation *e, const bool *driven, const dyn_torque_derivative *io,
                    const double *tau_rates, double *qddd, double *room)
{
    const size_t          nv = e->model->nv, W = e->lanes;
    double               *M = room, *tau_dot = api_behind(e, M, nv * nv, 1), *load = api_behind(e, tau_dot, nv, 1);
    dyn_inverse_dynamics  state   = {.q = io->q, .qd = io->qd, .qdd = io->qdd, .wrenches = io->wrenches};
    dyn_torque_derivative resting = *io;
    for (size_t i = 0; i < nv * W; i++)
        qddd[i] = io->qddd && driven[i / W] ? io->qddd[i] : 0;
    resting.qddd           = qddd;
    resting.tau_dot        = tau_dot;
    resting.joint_wrenches = resting.joint_wrench_rates = NULL;
    e->kernels->torque_derivative(&e->query->scene, e->workspace, &resting, 1);
    dyn_free_block b = dyn_free_lay_out(nv, W, driven, M, api_behind(e, load, nv, 1));
    b.load           = api_free_find_load(e, state, load);
    find_masses(e, io->q, b.load, M);
    for (size_t lane = 0; lane < W; lane++) {
        dyn_free_factor(&b, lane);
        for (size_t i = 0; i < b.n; i++) {
            const size_t at = b.free[i] * W + lane;
            b.x[i]          = (tau_rates ? tau_rates[at] : 0) - tau_dot[at];
        }
        dyn_free_solve(&b);
        for (size_t i = 0; i < b.n; i++)
            qddd[b.free[i] * W + lane] = b.x[i];
    }
}
