/* ode_stiction.c - applies the friction of joints that stick or slide (ode_stiction.h). */
#include "ode_stiction.h"
#include "api/requests/fields/fields.h"
#include "ode_contact.h"
#include "ode_friction.h"
#include "ode_prescribed.h"
#include <string.h>

/* --- opening ---------------------------------------------------------------------------------------------------- */

static bool take_arrays(api_evaluation *e, api_ode_stiction *s, size_t W)
{
    const size_t nv  = e->model->nv;
    bool         all = true;
    s->joint         = api_take(e->query->pool, nv * sizeof *s->joint);
    s->driven        = api_take(e->query->pool, W * nv * sizeof *s->driven);
    s->index         = api_take(e->query->pool, nv * sizeof *s->index);
    s->breaks        = api_take(e->query->pool, nv * sizeof *s->breaks);
    s->efforts       = api_take_zeroed(e->query->pool, nv * W, &all);
    s->needed        = api_take_zeroed(e->query->pool, nv * W, &all);
    s->qdd           = api_take_zeroed(e->query->pool, nv * W, &all);
    s->before        = api_take_zeroed(e->query->pool, nv * W, &all);
    s->singular      = api_take_zeroed(e->query->pool, W, &all);
    s->mass          = api_take_zeroed(e->query->pool, nv * nv * W, &all);
    s->rows          = api_take_zeroed(e->query->pool, dyn_friction_rows_entries(nv, nv), &all);
    return all && s->joint && s->driven && s->index && s->breaks;
}

/* Lists the coordinates that can stick and are not prescribed. Motors of transmissions and passive joints, which hold
 * combinations of coordinates, do not stick in a simulation. */
static bool list_joints(api_evaluation *e, const bool *prescribed, api_ode_stiction *s)
{
    const dyn_model    *m   = e->model->dyn;
    dyn_stiction_joint *can = api_take(e->query->pool, ((size_t)m->nv + m->n_drives) * sizeof *can);
    if (!can) return false;
    const dyn_mechanism mechanism = api_model_mechanism(e->model);
    const size_t        n         = dyn_friction_rows_list(&mechanism, can);
    for (size_t k = 0; k < n; k++)
        if (can[k].v != DYN_NO_COORDINATE && !(prescribed && prescribed[can[k].v]))
            s->joint[s->n++] = (api_friction_joint){.v = can[k].v, .at_rest = can[k]};
    return true;
}

bool api_ode_stiction_open(api_evaluation *e, api_ode *ode)
{
    const size_t nv         = e->model->nv;
    const bool  *prescribed = ode->s->prescribed.mask;
    if (!(e->query->scene.terms & DYN_FRICTION) || (e->model->loops && api_has_load(e->query))) return true;
    api_ode_stiction *s = api_take(e->query->pool, sizeof *s);
    if (!s) return false;
    *s = (api_ode_stiction){.n = 0};
    if (!take_arrays(e, s, ode->W) || !list_joints(e, prescribed, s)) return false;
    if (s->n == 0) return true;
    for (size_t l = 0; l < ode->W; l++)
        for (size_t v = 0; v < nv; v++)
            s->driven[l * nv + v] = prescribed && prescribed[v];
    ode->stiction = s;
    return true;
}

/* --- coordinates ------------------------------------------------------------------------------------------------- */

void api_ode_stiction_set_side(api_ode *ode, api_friction_joint *j, size_t lane, int side)
{
    j->side[lane]                                          = side;
    j->follows[lane]                                       = false;
    ode->stiction->driven[lane * ode->e->model->nv + j->v] = side == 0;
}

void api_ode_stiction_follow(api_ode *ode, api_friction_joint *j, size_t lane, double friction)
{
    api_ode_stiction_set_side(ode, j, lane, 0);
    j->follows[lane]                                       = true;
    j->friction[lane]                                      = friction;
    ode->stiction->driven[lane * ode->e->model->nv + j->v] = false;
}

const bool *api_ode_driven(const api_ode *ode, size_t lane)
{
    return ode->stiction ? ode->stiction->driven + lane * ode->e->model->nv : ode->s->prescribed.mask;
}

static bool same_driven(const api_ode *ode, size_t a, size_t b)
{
    return memcmp(api_ode_driven(ode, a), api_ode_driven(ode, b), ode->e->model->nv * sizeof(bool)) == 0;
}

/* Calls the kernel once for each set of driven coordinates, and keeps the results of the lanes with that set. */
void api_ode_stiction_accelerate(api_ode *ode, dyn_forward_dynamics *io)
{
    const api_ode_stiction *s  = ode->stiction;
    const size_t            nv = ode->e->model->nv, W = ode->W;
    dyn_forward_dynamics    other = *io;
    other.qdd                     = s->qdd;
    other.singular                = s->singular;
    io->driven                    = api_ode_driven(ode, 0);
    ode->kernels->forward_dynamics(api_ode_friction_scene(ode), ode->workspace, io, 1);
    for (size_t l = 1; l < W; l++) {
        size_t before = 0;
        while (!same_driven(ode, before, l))
            before++;
        if (before == 0) continue;
        if (before == l) {
            other.driven = api_ode_driven(ode, l);
            ode->kernels->forward_dynamics(api_ode_friction_scene(ode), ode->workspace, &other, 1);
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

bool api_ode_stiction_any_rests(const api_ode *ode)
{
    const api_ode_stiction *s = ode->stiction;
    for (size_t k = 0; s && k < s->n; k++)
        for (size_t l = 0; l < ode->W; l++)
            if (s->joint[k].side[l] == 0) return true;
    return false;
}

dyn_stiction_joint api_ode_stiction_limits(const api_ode *ode, const api_friction_joint *j, size_t lane)
{
    return dyn_stiction_limit_at(&j->at_rest, ode->stiction->efforts[j->v * ode->W + lane]);
}

/* Sets s->needed to u - T + J^T l. */
static void find_needed(const api_ode *ode, const double *qd, const double *qdd)
{
    const api_ode_stiction *s  = ode->stiction;
    dyn_inverse_dynamics    io = {.q = ode->q, .qd = qd, .qdd = qdd, .wrenches = ode->wrenches, .tau = s->needed};
    ode->kernels->inverse_dynamics(api_ode_friction_scene(ode), ode->workspace, &io, 1);
    if (ode->contact) api_ode_contact_subtract_efforts(ode, s->needed);
    api_ode_friction_transmit_unheld(ode, qd, s->efforts);
    for (size_t i = 0; i < ode->e->model->nv * ode->W; i++)
        s->needed[i] = s->efforts[i] - s->needed[i];
}

void api_ode_stiction_load(api_ode *ode, const double *qd, const double *qdd, double *load)
{
    const api_ode_stiction *s = ode->stiction;
    size_t                  W = ode->W;
    memset(load, 0, s->n * W * sizeof *load);
    if (!api_ode_stiction_any_rests(ode)) return;
    find_needed(ode, qd, qdd);
    for (size_t k = 0; k < s->n; k++) {
        const api_friction_joint *j = &s->joint[k];
        for (size_t l = 0; l < W; l++) {
            const dyn_stiction_joint at = api_ode_stiction_limits(ode, j, l);
            if (api_ode_stiction_sticks(j, l) && at.positive + at.negative > 0)
                load[k * W + l] = s->needed[j->v * W + l] / (at.positive + at.negative);
        }
    }
}

size_t api_ode_stiction_count(const api_ode *ode)
{
    return ode->stiction ? ode->stiction->n : 0;
}
