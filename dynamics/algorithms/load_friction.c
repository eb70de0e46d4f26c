/* load_friction.c - computes efforts, accelerations and derivatives of models whose friction depends on the load
 * (load_friction.h).
 *
 * Each function here calls the kernel of its name with a scene without friction, whose effort is T. Friction maps T to
 * tau for each coordinate alone. So it is applied to the results of the kernel or, in forward dynamics, inverted before
 * the call. */
#include "kernels.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/newton_euler.h"

typedef struct workspace {
    load_friction *friction;  /* [nv] friction of each coordinate at qd */
    lane          *T, *T_dot; /* [nv] each: effort without friction; its time derivative */
    lane          *matrix[3]; /* [nv x nv] dT/dq, dT/dqd and dT/dqdd; only for rates */
    void          *memory;    /* workspace of the kernels without friction */
} workspace;

static workspace place(arena *a, const dyn_model *m, size_t matrices)
{
    const size_t nv = (size_t)m->nv;
    workspace    ws = {.friction = arena_take(a, nv, sizeof(load_friction)),
                       .T        = arena_take(a, nv, sizeof(lane)),
                       .T_dot    = arena_take(a, nv, sizeof(lane))};
    for (size_t i = 0; i < matrices; i++)
        ws.matrix[i] = arena_take(a, nv * nv, sizeof(lane));
    ws.memory = arena_take(a, 0, 1);
    return ws;
}

size_t LANE_NAME(load_size)(const dyn_model *m, size_t matrices, size_t inner)
{
    if (!m->has_load) return inner;
    arena own = {0}, efforts = {0};
    place(&own, m, matrices);
    newton_euler_place(&efforts, m, true);
    const size_t called[] = {inner, efforts.used, matrices > 0 ? LANE_NAME(sensitivity_size)(m) : 0};
    size_t       most     = 0;
    for (size_t i = 0; i < sizeof called / sizeof *called; i++)
        if (called[i] > most) most = called[i];
    return own.used + most;
}

void *LANE_NAME(load_memory)(const dyn_model *m, void *memory)
{
    arena a = {.base = memory};
    return place(&a, m, 0).memory;
}

/* Returns entry v of an array in lanes; x NULL means zeros. */
LANE_INLINE lane value_at(const lane *x, size_t v)
{
    return x ? x[v] : lane_of(0);
}

/* Replaces the efforts T without friction in `tau` by tau = T + f + g |T|, for each coordinate (ws->friction). */
static void add_friction(const dyn_model *m, const workspace *ws, const lane *qd, lane *tau)
{
    load_friction_set(m, qd, ws->friction);
    for (int v = 0; v < m->nv; v++)
        tau[v] = load_effort(&ws->friction[v], tau[v]);
}

/* --- efforts and accelerations ---------------------------------------------------------------------------------- */

void LANE_NAME(loaded_inverse_dynamics)(const dyn_scene *scene, void *memory, const dyn_inverse_dynamics *io,
                                        size_t blocks)
{
    arena           a     = {.base = memory};
    const dyn_scene rigid = scene_without_friction(scene);
    const workspace ws    = place(&a, scene->model, 0);
    const size_t    nv    = (size_t)scene->model->nv;
    LANE_NAME(inverse_dynamics)(&rigid, ws.memory, io, blocks);
    for (size_t block = 0; io->tau && block < blocks; block++)
        add_friction(scene->model, &ws, block_in(io->qd, block, nv), block_out(io->tau, block, nv));
}

void LANE_NAME(loaded_reference_dynamics)(const dyn_scene *scene, void *memory, const dyn_reference_dynamics *io,
                                          size_t blocks)
{
    arena           a     = {.base = memory};
    const dyn_scene rigid = scene_without_friction(scene);
    const workspace ws    = place(&a, scene->model, 0);
    const size_t    nv    = (size_t)scene->model->nv;
    LANE_NAME(reference_dynamics)(&rigid, ws.memory, io, blocks);
    for (size_t block = 0; block < blocks; block++)
        add_friction(scene->model, &ws, block_in(io->qd_reference, block, nv), block_out(io->tau, block, nv));
}

void LANE_NAME(loaded_forward_dynamics)(const dyn_scene *scene, void *memory, const dyn_forward_dynamics *io,
                                        size_t blocks)
{
    arena           a     = {.base = memory};
    const dyn_scene rigid = scene_without_friction(scene);
    const workspace ws    = place(&a, scene->model, 0);
    const size_t    nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = 9 * scene->n_wrenches;
    for (size_t block = 0; block < blocks; block++) {
        dyn_forward_dynamics one = *io;
        const lane          *tau = block_in(io->tau, block, nv);
        load_friction_set(scene->model, block_in(io->qd, block, nv), ws.friction);
        for (size_t v = 0; v < nv; v++)
            ws.T[v] = load_transmitted(&ws.friction[v], value_at(tau, v));
        one.q          = (const double *)block_in(io->q, block, nq);
        one.qd         = (const double *)block_in(io->qd, block, nv);
        one.tau        = (const double *)ws.T;
        one.wrenches   = nw ? (const double *)block_in(io->wrenches, block, nw) : NULL;
        one.driven_qdd = (const double *)block_in(io->driven_qdd, block, nv);
        one.qdd        = (double *)block_out(io->qdd, block, nv);
        one.singular   = (double *)block_out(io->singular, block, 1);
        LANE_NAME(forward_dynamics)(&rigid, ws.memory, &one, 1);
    }
}

/* --- rates ------------------------------------------------------------------------------------------------------ */

/* Returns a copy of `io` whose arrays begin at block `block`. */
static dyn_torque_derivative rates_block(const dyn_scene *scene, const dyn_torque_derivative *io, size_t block)
{
    const dyn_model *m  = scene->model;
    const size_t     nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches, nj = 6 * m->n_rows;
    return (dyn_torque_derivative){.q        = (const double *)block_in(io->q, block, nq),
                                   .qd       = (const double *)block_in(io->qd, block, nv),
                                   .qdd      = (const double *)block_in(io->qdd, block, nv),
                                   .qddd     = (const double *)block_in(io->qddd, block, nv),
                                   .wrenches = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                                   .wrench_rates =
                                       nw ? (const double *)block_in(io->wrench_rates, block, 6 * nw) : NULL,
                                   .tau                = (double *)block_out(io->tau, block, nv),
                                   .tau_dot            = (double *)block_out(io->tau_dot, block, nv),
                                   .joint_wrenches     = (double *)block_out(io->joint_wrenches, block, nj),
                                   .joint_wrench_rates = (double *)block_out(io->joint_wrench_rates, block, nj)};
}

/* Computes tau' = a T' + (f' + g' |T|) qdd, with the load factor a. tau' and T' are time derivatives; f' and g' are
 * derivatives of the friction f + g |T| with respect to qd. */
void LANE_NAME(loaded_torque_derivative)(const dyn_scene *scene, void *memory, const dyn_torque_derivative *io,
                                         size_t blocks)
{
    arena           a     = {.base = memory};
    const dyn_scene rigid = scene_without_friction(scene);
    const workspace ws    = place(&a, scene->model, 0);
    const size_t    nv    = (size_t)scene->model->nv;
    for (size_t block = 0; block < blocks; block++) {
        dyn_torque_derivative one = rates_block(scene, io, block);
        lane                 *tau = block_out(one.tau, 0, 0), *tau_dot = block_out(one.tau_dot, 0, 0);
        const lane           *qdd = block_in(one.qdd, 0, 0);
        one.tau                   = (double *)ws.T;
        LANE_NAME(torque_derivative)(&rigid, ws.memory, &one, 1);
        load_friction_set(scene->model, block_in(one.qd, 0, 0), ws.friction);
        for (size_t v = 0; v < nv; v++) {
            const load_friction *f = &ws.friction[v];
            if (tau) tau[v] = load_effort(f, ws.T[v]);
            if (tau_dot)
                tau_dot[v] = add_mul(load_factor(f, ws.T[v]) * tau_dot[v], load_slope(f, ws.T[v]), value_at(qdd, v));
        }
        if (tau_dot) drives_add_friction_rates(scene, block_in(one.qd, 0, 0), qdd, tau_dot);
    }
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

/* Multiplies the rows of a matrix (nv x columns) by the load factor a of their coordinates. `matrix` NULL: nothing to
 * do. */
static void scale_rows(const workspace *ws, size_t nv, size_t columns, lane *matrix)
{
    for (size_t v = 0; matrix && v < nv; v++) {
        const lane a = load_factor(&ws->friction[v], ws->T[v]);
        for (size_t c = 0; c < columns; c++)
            matrix[v * columns + c] = a * matrix[v * columns + c];
    }
}

/* Returns a copy of `io` whose arrays begin at block `block`. */
static dyn_sensitivity sensitivity_block(const dyn_scene *scene, const dyn_sensitivity *io, size_t block)
{
    const dyn_model *m  = scene->model;
    const size_t     nq = (size_t)m->nq, nv = (size_t)m->nv, nw = scene->n_wrenches, nj = m->n_rows * 6 * nv;
    return (dyn_sensitivity){.q                    = (const double *)block_in(io->q, block, nq),
                             .qd                   = (const double *)block_in(io->qd, block, nv),
                             .qdd                  = (const double *)block_in(io->qdd, block, nv),
                             .wrenches             = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                             .zeros_are_set        = io->zeros_are_set,
                             .dtau_dq              = (double *)block_out(io->dtau_dq, block, nv * nv),
                             .dtau_dqd             = (double *)block_out(io->dtau_dqd, block, nv * nv),
                             .dtau_dqdd            = (double *)block_out(io->dtau_dqdd, block, nv * nv),
                             .djoint_wrenches_dq   = (double *)block_out(io->djoint_wrenches_dq, block, nj),
                             .djoint_wrenches_dqd  = (double *)block_out(io->djoint_wrenches_dqd, block, nj),
                             .djoint_wrenches_dqdd = (double *)block_out(io->djoint_wrenches_dqdd, block, nj),
                             .dtau_dwrench  = nw ? (double *)block_out(io->dtau_dwrench, block, nw * nv * 6) : NULL,
                             .dtau_dgravity = (double *)block_out(io->dtau_dgravity, block, nv * 3)};
}

/* Turns derivatives of T into those of tau: dtau/dx = a dT/dx, with f' + g' |T| in addition on the diagonal for x = qd.
 */
static void map_derivatives(const dyn_scene *scene, const workspace *ws, const dyn_sensitivity *one)
{
    const size_t nv    = (size_t)scene->model->nv;
    lane        *by_qd = block_out(one->dtau_dqd, 0, 0);
    scale_rows(ws, nv, nv, block_out(one->dtau_dq, 0, 0));
    scale_rows(ws, nv, nv, by_qd);
    scale_rows(ws, nv, nv, block_out(one->dtau_dqdd, 0, 0));
    scale_rows(ws, nv, 3, block_out(one->dtau_dgravity, 0, 0));
    for (size_t w = 0; w < scene->n_wrenches; w++)
        scale_rows(ws, nv, 6, block_out(one->dtau_dwrench, w, nv * 6));
    load_add_slopes(scene->model, ws->friction, ws->T, block_in(one->qd, 0, 0), false, by_qd);
}

void LANE_NAME(loaded_sensitivity)(const dyn_scene *scene, void *memory, const dyn_sensitivity *io, size_t blocks)
{
    arena           a     = {.base = memory};
    const dyn_scene rigid = scene_without_friction(scene);
    const workspace ws    = place(&a, scene->model, 0);
    for (size_t block = 0; block < blocks; block++) {
        const dyn_sensitivity      one     = sensitivity_block(scene, io, block);
        const dyn_inverse_dynamics efforts = {
            .q = one.q, .qd = one.qd, .qdd = one.qdd, .wrenches = one.wrenches, .tau = (double *)ws.T};
        LANE_NAME(inverse_dynamics)(&rigid, ws.memory, &efforts, 1);
        LANE_NAME(sensitivity)(&rigid, ws.memory, &one, 1);
        load_friction_set(scene->model, block_in(one.qd, 0, 0), ws.friction);
        map_derivatives(scene, &ws, &one);
    }
}

/* Turns the rate of the regressor Y of T (nv x n) into that of tau: (a Y)' = a Y' + a' Y, with the load factor a. */
static void map_regressor_rate(const workspace *ws, size_t nv, size_t n, const lane *qdd, const lane *Y, lane *Y_dot)
{
    scale_rows(ws, nv, n, Y_dot);
    for (size_t v = 0; Y_dot && v < nv; v++) {
        const lane a_dot = load_factor_rate(&ws->friction[v], ws->T[v], value_at(qdd, v));
        for (size_t e = v * n; e < (v + 1) * n; e++)
            Y_dot[e] = add_mul(Y_dot[e], a_dot, Y[e]);
    }
}

/* Converts the regressor of T, its columns of rotor inertias and its rate to those of tau: multiplies rows by the load
 * factor a, and corrects the rate by map_regressor_rate. */
void LANE_NAME(loaded_regressor)(const dyn_scene *scene, void *memory, const dyn_regressor *io, size_t blocks)
{
    arena            a     = {.base = memory};
    const dyn_model *m     = scene->model;
    const dyn_scene  rigid = scene_without_friction(scene);
    const workspace  ws    = place(&a, m, 0);
    const size_t     nq = (size_t)m->nq, nv = (size_t)m->nv, nw = 9 * scene->n_wrenches, nm = m->n_movers;
    const size_t     n = 10 * m->n_rows;
    LANE_NAME(regressor)(&rigid, ws.memory, io, blocks);
    for (size_t block = 0; block < blocks; block++) {
        const dyn_inverse_dynamics efforts = {.q        = (const double *)block_in(io->q, block, nq),
                                              .qd       = (const double *)block_in(io->qd, block, nv),
                                              .qdd      = (const double *)block_in(io->qdd, block, nv),
                                              .wrenches = nw ? (const double *)block_in(io->wrenches, block, nw) : NULL,
                                              .tau      = (double *)ws.T};
        LANE_NAME(inverse_dynamics)(&rigid, ws.memory, &efforts, 1);
        load_friction_set(m, block_in(efforts.qd, 0, 0), ws.friction);
        lane *Y = block_out(io->regressor, block, nv * n), *Y_dot = block_out(io->regressor_dot, block, nv * n);
        map_regressor_rate(&ws, nv, n, block_in(efforts.qdd, 0, 0), Y, Y_dot);
        scale_rows(&ws, nv, n, Y);
        lane *joints = block_out(io->joint_regressor, block, nv * 3 * nm);
        for (size_t v = 0; joints && v < nv; v++)
            for (size_t mover = 0; mover < nm; mover++)
                joints[(v * nm + mover) * 3] *= load_factor(&ws.friction[v], ws.T[v]);
    }
}

/* Turns the rates of the derivatives of T into those of tau: (a dT/dx)' = a (dT/dx)' + a' dT/dx, and (f' + g' |T|)' in
 * addition for x = qd. */
static void map_rates(const dyn_model *m, const workspace *ws, const lane *qd, const lane *qdd, lane *const rates[3])
{
    const size_t nv = (size_t)m->nv;
    for (size_t v = 0; v < nv; v++) {
        const load_friction *f = &ws->friction[v];
        const lane           a = load_factor(f, ws->T[v]), a_dot = load_factor_rate(f, ws->T[v], value_at(qdd, v));
        for (size_t x = 0; x < 3; x++)
            for (size_t e = v * nv; e < (v + 1) * nv; e++)
                rates[x][e] = add_mul(a * rates[x][e], a_dot, ws->matrix[x][e]);
        rates[1][v * nv + v] += load_slope_rate(f, ws->T[v], ws->T_dot[v], value_at(qdd, v));
    }
    for (size_t k = 0; k < m->n_drives; k++) {
        const dyn_drive *d = &m->drive[k];
        drive_put_square(d, nv, friction_slope_rate(&d->friction, drive_sum(d, qd), drive_sum(d, qdd)), rates[1]);
    }
}

void LANE_NAME(loaded_sensitivity_rate)(const dyn_scene *scene, void *memory, const dyn_sensitivity_rate *io,
                                        size_t blocks)
{
    arena            a     = {.base = memory};
    const dyn_model *m     = scene->model;
    const dyn_scene  rigid = scene_without_friction(scene);
    const workspace  ws    = place(&a, m, 3);
    const size_t     nq = (size_t)m->nq, nv = (size_t)m->nv, nw = 9 * scene->n_wrenches;
    for (size_t block = 0; block < blocks; block++) {
        const double *q = (const double *)block_in(io->q, block, nq), *qd = (const double *)block_in(io->qd, block, nv),
                     *qdd      = (const double *)block_in(io->qdd, block, nv),
                     *qddd     = (const double *)block_in(io->qddd, block, nv),
                     *wrenches = nw ? (const double *)block_in(io->wrenches, block, nw) : NULL;
        lane *const rates[3] = {block_out(io->dtau_dq_dot, block, nv * nv), block_out(io->dtau_dqd_dot, block, nv * nv),
                                block_out(io->dtau_dqdd_dot, block, nv * nv)};
        const dyn_torque_derivative efforts = {.q        = q,
                                               .qd       = qd,
                                               .qdd      = qdd,
                                               .qddd     = qddd,
                                               .wrenches = wrenches,
                                               .tau      = (double *)ws.T,
                                               .tau_dot  = (double *)ws.T_dot};
        const dyn_sensitivity       state   = {.q         = q,
                                               .qd        = qd,
                                               .qdd       = qdd,
                                               .wrenches  = wrenches,
                                               .dtau_dq   = (double *)ws.matrix[0],
                                               .dtau_dqd  = (double *)ws.matrix[1],
                                               .dtau_dqdd = (double *)ws.matrix[2]};
        const dyn_sensitivity_rate  one     = {.q             = q,
                                               .qd            = qd,
                                               .qdd           = qdd,
                                               .qddd          = qddd,
                                               .wrenches      = wrenches,
                                               .dtau_dq_dot   = (double *)rates[0],
                                               .dtau_dqd_dot  = (double *)rates[1],
                                               .dtau_dqdd_dot = (double *)rates[2]};
        LANE_NAME(torque_derivative)(&rigid, ws.memory, &efforts, 1);
        LANE_NAME(sensitivity)(&rigid, ws.memory, &state, 1);
        LANE_NAME(sensitivity_rate)(&rigid, ws.memory, &one, 1);
        load_friction_set(m, block_in(qd, 0, 0), ws.friction);
        map_rates(m, &ws, block_in(qd, 0, 0), block_in(qdd, 0, 0), rates);
    }
}
