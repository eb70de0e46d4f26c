/* ode_stiction.c - applies the friction of joints that stick or slide (ode_stiction.h). */
#include "ode_stiction.h"
#include "ode_held_frames.h"
#include "ode_friction.h"
#include "ode_prescribed.h"
#include <string.h>

/* --- opening ---------------------------------------------------------------------------------------------------- */

static bool take_arrays(dyn_memory memory, const dyn_robot_ode *ode, dyn_ode_stiction *s)
{
    const size_t nv = ode->s->mechanism.nv, W = ode->W;
    bool         all = true;
    s->joint         = dyn_take(memory, nv * sizeof *s->joint);
    s->driven        = dyn_take(memory, W * nv * sizeof *s->driven);
    s->index         = dyn_take(memory, nv * sizeof *s->index);
    s->breaks        = dyn_take(memory, nv * sizeof *s->breaks);
    s->efforts       = dyn_take_zeroed(memory, nv * W, &all);
    s->needed        = dyn_take_zeroed(memory, nv * W, &all);
    s->qdd           = dyn_take_zeroed(memory, nv * W, &all);
    s->before        = dyn_take_zeroed(memory, nv * W, &all);
    s->singular      = dyn_take_zeroed(memory, W, &all);
    s->mass          = dyn_take_zeroed(memory, nv * nv * W, &all);
    s->rows          = dyn_take_zeroed(memory, dyn_friction_rows_entries(nv, nv), &all);
    return all && s->joint && s->driven && s->index && s->breaks;
}

/* Lists the coordinates that can stick and are not prescribed. Motors of transmissions and passive joints, whose rows
 * combine several coordinates, do not stick in a simulation. */
static bool list_joints(dyn_memory memory, const dyn_robot_ode *ode, dyn_ode_stiction *s)
{
    const bool         *prescribed = ode->s->prescribed.mask;
    const dyn_model    *m          = ode->s->mechanism.tree;
    dyn_stiction_joint *can        = dyn_take(memory, ((size_t)m->nv + m->n_drives) * sizeof *can);
    if (!can) return false;
    const size_t n = dyn_friction_rows_list(&ode->s->mechanism, can);
    for (size_t k = 0; k < n; k++)
        if (can[k].v != DYN_NO_COORDINATE && !(prescribed && prescribed[can[k].v]))
            s->joint[s->n++] = (dyn_friction_joint){.v = can[k].v, .at_rest = can[k]};
    return true;
}

bool dyn_ode_stiction_open(dyn_memory memory, dyn_robot_ode *ode)
{
    const size_t nv         = ode->s->mechanism.nv;
    const bool  *prescribed = ode->s->prescribed.mask;
    if (!(ode->s->scene->terms & DYN_FRICTION) || (ode->s->mechanism.loops && dyn_robot_ode_has_load(ode))) return true;
    dyn_ode_stiction *s = dyn_take(memory, sizeof *s);
    if (!s) return false;
    *s = (dyn_ode_stiction){.n = 0};
    if (!take_arrays(memory, ode, s) || !list_joints(memory, ode, s)) return false;
    if (s->n == 0) return true;
    for (size_t l = 0; l < ode->W; l++)
        for (size_t v = 0; v < nv; v++)
            s->driven[l * nv + v] = prescribed && prescribed[v];
    ode->stiction = s;
    return true;
}

/* --- coordinates ------------------------------------------------------------------------------------------------- */

void dyn_ode_stiction_set_side(dyn_robot_ode *ode, dyn_friction_joint *j, size_t lane, int side)
{
    j->side[lane]                                      = side;
    j->follows[lane]                                   = false;
    ode->stiction->driven[lane * ode->state.nv + j->v] = side == 0;
}

void dyn_ode_stiction_follow(dyn_robot_ode *ode, dyn_friction_joint *j, size_t lane, double friction)
{
    dyn_ode_stiction_set_side(ode, j, lane, 0);
    j->follows[lane]                                   = true;
    j->friction[lane]                                  = friction;
    ode->stiction->driven[lane * ode->state.nv + j->v] = false;
}

const bool *dyn_ode_driven(const dyn_robot_ode *ode, size_t lane)
{
    return ode->stiction ? ode->stiction->driven + lane * ode->state.nv : ode->s->prescribed.mask;
}

static bool same_driven(const dyn_robot_ode *ode, size_t a, size_t b)
{
    return memcmp(dyn_ode_driven(ode, a), dyn_ode_driven(ode, b), ode->state.nv * sizeof(bool)) == 0;
}

/* Calls the kernel once for each different set of driven coordinates, and keeps the results of the lanes that have this
 * set. */
void dyn_ode_stiction_accelerate(dyn_robot_ode *ode, dyn_forward_dynamics *io)
{
    const dyn_ode_stiction *s  = ode->stiction;
    const size_t            nv = ode->state.nv, W = ode->W;
    dyn_forward_dynamics    other = *io;
    other.qdd                     = s->qdd;
    other.singular                = s->singular;
    io->driven                    = dyn_ode_driven(ode, 0);
    ode->kernels->forward_dynamics(dyn_ode_friction_scene(ode), ode->workspace, io, 1);
    for (size_t l = 1; l < W; l++) {
        size_t before = 0;
        while (!same_driven(ode, before, l))
            before++;
        if (before == 0) continue;
        if (before == l) {
            other.driven = dyn_ode_driven(ode, l);
            ode->kernels->forward_dynamics(dyn_ode_friction_scene(ode), ode->workspace, &other, 1);
            for (size_t of = l; of < W; of++) {
                if (!same_driven(ode, l, of)) continue;
                for (size_t v = 0; v < nv; v++)
                    io->qdd[v * W + of] = s->qdd[v * W + of];
                io->singular[of] = s->singular[of];
            }
        }
    }
}

/* --- forces ----------------------------------------------------------------------------------------------------- */

bool dyn_ode_stiction_any_rests(const dyn_robot_ode *ode)
{
    const dyn_ode_stiction *s = ode->stiction;
    for (size_t k = 0; s && k < s->n; k++)
        for (size_t l = 0; l < ode->W; l++)
            if (s->joint[k].side[l] == 0) return true;
    return false;
}

dyn_stiction_joint dyn_ode_stiction_limits(const dyn_robot_ode *ode, const dyn_friction_joint *j, size_t lane)
{
    return dyn_stiction_limit_at(&j->at_rest, ode->stiction->efforts[j->v * ode->W + lane]);
}

/* Sets s->needed, the friction that sticking joints need: u - T + J^T l (symbols: ode_stiction.h). */
static void find_needed(const dyn_robot_ode *ode, const double *qd, const double *qdd)
{
    const dyn_ode_stiction *s  = ode->stiction;
    dyn_inverse_dynamics    io = {.q = ode->q, .qd = qd, .qdd = qdd, .wrenches = ode->wrenches, .tau = s->needed};
    ode->kernels->inverse_dynamics(dyn_ode_friction_scene(ode), ode->workspace, &io, 1);
    if (ode->contact) dyn_ode_held_subtract_efforts(ode, s->needed);
    dyn_ode_friction_transmit_unheld(ode, qd, s->efforts);
    for (size_t i = 0; i < ode->state.nv * ode->W; i++)
        s->needed[i] = s->efforts[i] - s->needed[i];
}

void dyn_ode_stiction_load(dyn_robot_ode *ode, const double *qd, const double *qdd, double *load)
{
    const dyn_ode_stiction *s = ode->stiction;
    size_t                  W = ode->W;
    memset(load, 0, s->n * W * sizeof *load);
    if (!dyn_ode_stiction_any_rests(ode)) return;
    find_needed(ode, qd, qdd);
    for (size_t k = 0; k < s->n; k++) {
        const dyn_friction_joint *j = &s->joint[k];
        for (size_t l = 0; l < W; l++) {
            const dyn_stiction_joint at = dyn_ode_stiction_limits(ode, j, l);
            if (dyn_ode_stiction_sticks(j, l) && at.positive + at.negative > 0)
                load[k * W + l] = s->needed[j->v * W + l] / (at.positive + at.negative);
        }
    }
}

size_t dyn_ode_stiction_count(const dyn_robot_ode *ode)
{
    return ode->stiction ? ode->stiction->n : 0;
}
