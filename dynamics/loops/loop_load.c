/* loop_load.c - adds friction of actuated joints that depends on their load (loop_workspace.h).
 *
 * The load of an actuated joint is the effort that its drive exerts on the mechanism: T = R - f, with R = G^T tau_tree
 * the effort in the actuated coordinate and f the joint's own friction without load. R includes the effort that moves
 * passive joints, with their friction. The load coefficient is contained in g, as in dynamics/joint/load_friction.h; x
 * is q, qd or qdd:
 *
 *     tau = R + g |R - f|,  dtau/dx = a dR/dx + (s - a f') dqd/dx,  a = dtau/dT,  s = dtau/dqd = f' + g' |T|. */
#include "loop_workspace.h"
#include "dynamics/friction_map.h"
#include <string.h>

bool dyn_loop_load_open(dyn_memory memory, dyn_loop_workspace *c)
{
    const size_t n    = c->nv * c->W;
    bool         room = true;
    if (!c->loops->loaded) return true;
    c->load.own      = dyn_take_zeroed(memory, n, &room);
    c->load.T        = dyn_take_zeroed(memory, n, &room);
    c->load.effort   = dyn_take_zeroed(memory, n, &room);
    c->load.factor   = dyn_take_zeroed(memory, n, &room);
    c->load.slope[0] = dyn_take_zeroed(memory, c->nv * n, &room);
    c->load.slope[1] = dyn_take_zeroed(memory, c->nv * n, &room);
    return room;
}

static bool has_load(const dyn_loop_workspace *c, const dyn_scene *scene)
{
    return c->loops->loaded && scene->terms & DYN_FRICTION;
}

void dyn_loop_friction_map(const dyn_scene *scene, void *ws, const dyn_friction_map *io, size_t blocks)
{
    const dyn_loop_workspace *c      = ws;
    const dyn_scene           joints = {.model = c->loops->loaded, .terms = scene->terms};
    c->tree->friction_map(&joints, c->workspace, io, blocks);
}

/* Sets c->load.own to the friction of the actuated joints without load, and c->load.slope[1] to its derivative by
 * qd. */
static void find_own(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd)
{
    memset(c->load.T, 0, c->nv * c->W * sizeof *c->load.T);
    dyn_friction_map io = {.qd = qd, .T = c->load.T, .result = c->load.own, .slope = c->load.slope[1]};
    dyn_loop_friction_map(scene, c, &io, 1);
}

/* Sets T = R - f, c->load.effort to tau, and c->load.factor and slope[0] to the derivatives of tau by T and qd. */
static void find_load(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, const double *R)
{
    const dyn_loop_load *l = &c->load;
    find_own(c, scene, qd);
    for (size_t i = 0; i < c->nv * c->W; i++)
        l->T[i] = R[i] - l->own[i];
    dyn_friction_map io = {.qd = qd, .T = l->T, .result = l->effort, .factor = l->factor, .slope = l->slope[0]};
    dyn_loop_friction_map(scene, c, &io, 1);
}

/* Returns the diagonal entry of coordinate v in dtau/dqd (nv x nv). */
static double slope_of(const dyn_loop_workspace *c, const double *slope, size_t v, size_t lane)
{
    return slope[v * (c->nv + 1) * c->W + lane];
}

/* --- efforts ---------------------------------------------------------------------------------------------------- */

void dyn_loop_add_load(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, double *efforts)
{
    if (!has_load(c, scene)) return;
    find_load(c, scene, qd, efforts);
    memcpy(efforts, c->load.effort, c->nv * c->W * sizeof *efforts);
}

const double *dyn_loop_remove_load(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, const double *tau)
{
    const dyn_loop_load *l = &c->load;
    const size_t         n = c->nv * c->W;
    if (!has_load(c, scene)) return tau;
    find_own(c, scene, qd);
    if (tau)
        memcpy(l->effort, tau, n * sizeof *tau);
    else
        memset(l->effort, 0, n * sizeof *tau);
    dyn_friction_map io = {.qd = qd, .tau = l->effort, .result = l->T, .factor = l->factor, .slope = l->slope[0]};
    dyn_loop_friction_map(scene, c, &io, 1);
    for (size_t i = 0; i < n; i++)
        l->effort[i] = l->T[i] + l->own[i];
    return l->effort;
}

void dyn_loop_add_load_rate(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_torque_derivative *io,
                            const double *R)
{
    const dyn_loop_load *l = &c->load;
    if (!has_load(c, scene)) return;
    find_load(c, scene, io->qd, R);
    for (size_t i = 0; i < c->nv * c->W; i++) {
        const size_t v = i / c->W, lane = i % c->W;
        const double own = slope_of(c, l->slope[1], v, lane), all = slope_of(c, l->slope[0], v, lane);
        const double qdd = io->qdd ? io->qdd[i] : 0;
        io->tau_dot[i]   = l->factor[i] * (io->tau_dot[i] - own * qdd) + all * qdd;
    }
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

static void multiply_rows(const dyn_loop_workspace *c, size_t columns, double *rows)
{
    for (size_t v = 0; rows && v < c->nv; v++)
        for (size_t i = 0; i < columns * c->W; i++)
            rows[v * columns * c->W + i] *= c->load.factor[v * c->W + i % c->W];
}

void dyn_loop_load_rows(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, size_t columns, double *rows)
{
    if (!has_load(c, scene)) return;
    dyn_loop_project(c, 1, c->tau, c->load.effort);
    find_load(c, scene, qd, c->load.effort);
    multiply_rows(c, columns, rows);
}

void dyn_loop_load_sensitivity(dyn_loop_workspace *c, const dyn_scene *scene, const dyn_sensitivity *io)
{
    const dyn_loop_load *l = &c->load;
    if (!has_load(c, scene)) return;
    dyn_loop_load_rows(c, scene, io->qd, c->nv, io->dtau_dq);
    multiply_rows(c, c->nv, io->dtau_dqd);
    multiply_rows(c, c->nv, io->dtau_dqdd);
    multiply_rows(c, 3, io->dtau_dgravity);
    for (size_t w = 0; io->dtau_dwrench && w < scene->n_wrenches; w++)
        multiply_rows(c, 6, io->dtau_dwrench + 6 * w * c->nv * c->W);
    for (size_t v = 0; v < c->nv; v++)
        for (size_t lane = 0; lane < c->W; lane++)
            io->dtau_dqd[v * (c->nv + 1) * c->W + lane] +=
                slope_of(c, l->slope[0], v, lane) - l->factor[v * c->W + lane] * slope_of(c, l->slope[1], v, lane);
}

/* Adds s / a - f' to the diagonal of `dR_dqd`, since dR/dqd = f' - s / a at constant tau (symbols at the top of the
 * file). */
void dyn_loop_load_slopes(dyn_loop_workspace *c, const dyn_scene *scene, const double *qd, const double *tau,
                          double *dR_dqd)
{
    const dyn_loop_load *l = &c->load;
    if (!has_load(c, scene)) return;
    dyn_loop_remove_load(c, scene, qd, tau);
    for (size_t v = 0; v < c->nv; v++)
        for (size_t lane = 0; lane < c->W; lane++)
            dR_dqd[v * (c->nv + 1) * c->W + lane] +=
                slope_of(c, l->slope[0], v, lane) / l->factor[v * c->W + lane] - slope_of(c, l->slope[1], v, lane);
}

void dyn_loop_load_columns(dyn_loop_workspace *c, const dyn_scene *scene, double *by_R)
{
    for (size_t i = 0; has_load(c, scene) && i < c->nv * c->nv * c->W; i++)
        by_R[i] /= c->load.factor[i % (c->nv * c->W)];
}

/* --- the whole friction ------------------------------------------------------------------------------------------ */

void dyn_loop_friction(const dyn_scene *scene, void *ws, const dyn_bias *io, const double *tau)
{
    dyn_loop_workspace *c     = ws;
    dyn_bias            inner = {.q = c->q, .qd = c->qd, .friction = c->tau_dot};
    const double       *R     = dyn_loop_remove_load(c, scene, io->qd, tau);
    dyn_loop_find_velocities(c, io->qd);
    c->tree->bias(scene, c->workspace, &inner, 1);
    dyn_loop_project(c, 1, c->tau_dot, io->friction);
    for (size_t i = 0; i < c->nv * c->W; i++)
        io->friction[i] += tau[i] - R[i];
}
