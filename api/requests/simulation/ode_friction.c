/* ode_friction.c - separates the efforts of a simulation from friction (ode_friction.h). */
#include "ode_friction.h"
#include "ode_stiction.h"
#include "api/requests/fields/fields.h"
#include <string.h>

bool api_ode_friction_open(api_evaluation *e, api_ode *ode)
{
    const dyn_scene *scene  = &e->query->scene;
    const size_t     n      = e->model->nv * ode->W;
    bool             room   = true;
    const bool       loaded = scene->model->has_load && (scene->terms & DYN_FRICTION);
    if (!ode->stiction && (e->model->loops || !loaded)) return true;
    api_ode_friction *f = ode->friction = api_take(e->query->pool, sizeof *f);
    if (!f) return false;
    *f      = (api_ode_friction){.map = e->model->loops ? NULL : ode->kernels->friction_map, .rigid = *scene};
    f->T    = api_take_zeroed(e->query->pool, n, &room);
    f->side = api_take_zeroed(e->query->pool, n, &room);
    if (f->map) f->rigid.terms &= ~(unsigned)DYN_FRICTION;
    return room;
}

const dyn_scene *api_ode_friction_scene(const api_ode *ode)
{
    return ode->friction ? &ode->friction->rigid : &ode->e->query->scene;
}

/* Sets the sense of motion: that of q', but that of its side for a joint that can stick, or none if not `held`. */
static void set_sides(const api_ode *ode, const double *qd, bool held)
{
    const api_ode_friction *f = ode->friction;
    const size_t            W = ode->W;
    for (size_t i = 0; i < ode->e->model->nv * W; i++)
        f->side[i] = (qd[i] > 0) - (qd[i] < 0);
    for (size_t k = 0; k < api_ode_stiction_count(ode); k++)
        for (size_t l = 0; l < W; l++)
            f->side[ode->stiction->joint[k].v * W + l] = held ? ode->stiction->joint[k].side[l] : 0;
}

static void map(const api_ode *ode, const dyn_friction_map *io)
{
    ode->friction->map(&ode->e->query->scene, ode->workspace, io, 1);
}

/* The friction with which joint j slides to a side. */
static double sliding(const api_ode *ode, const api_friction_joint *j, int side, double rate)
{
    return side == 0 ? 0 : dyn_stiction_sliding(ode->e->query->scene.model, &j->at_rest, side, rate);
}

/* T = tau + the friction by the sign of q', which kernels subtract, - that by the side of joints that can stick. */
static void exchange_friction(const api_ode *ode, const double *qd, double *T)
{
    const size_t W = ode->W;
    memcpy(T, ode->tau, ode->e->model->nv * W * sizeof *T);
    for (size_t k = 0; k < ode->stiction->n; k++)
        for (size_t l = 0; l < W; l++) {
            const api_friction_joint *j    = &ode->stiction->joint[k];
            const double              rate = qd[j->v * W + l];
            const int                 sign = (rate > 0) - (rate < 0);
            if (sign != j->side[l]) T[j->v * W + l] += sliding(ode, j, sign, rate) - sliding(ode, j, j->side[l], rate);
        }
}

/* True if the side of a joint in a lane is not the sign of its rate. */
static bool has_other_side(const api_friction_joint *j, size_t lane, double rate)
{
    return (rate > 0) - (rate < 0) != j->side[lane];
}

static bool any_has_other_side(const api_ode *ode, const double *qd)
{
    for (size_t k = 0; k < api_ode_stiction_count(ode); k++)
        for (size_t l = 0; l < ode->W; l++)
            if (has_other_side(&ode->stiction->joint[k], l, qd[ode->stiction->joint[k].v * ode->W + l])) return true;
    return false;
}

void api_ode_friction_compensate(const api_ode *ode, const double *qd)
{
    const api_ode_friction *f = ode->friction;
    const size_t            W = ode->W;
    if (!any_has_other_side(ode, qd)) return;
    if (f->map) {
        map(ode, &(dyn_friction_map){.qd = qd, .tau = ode->tau, .result = f->T});
        set_sides(ode, qd, true);
        map(ode, &(dyn_friction_map){.qd = qd, .side = f->side, .T = f->T, .result = f->T});
    } else {
        exchange_friction(ode, qd, f->T);
        for (size_t i = 0; i < ode->e->model->nv * W; i++)
            f->T[i] = 2 * ode->tau[i] - f->T[i];
    }
    for (size_t k = 0; k < ode->stiction->n; k++)
        for (size_t l = 0; l < W; l++) {
            const api_friction_joint *j = &ode->stiction->joint[k];
            if (has_other_side(j, l, qd[j->v * W + l])) ode->tau[j->v * W + l] = f->T[j->v * W + l];
        }
}

/* Adds `sign` times the friction of joints at rest that follow (ode_stiction.h). */
static void add_following(const api_ode *ode, double sign, double *T)
{
    for (size_t k = 0; k < api_ode_stiction_count(ode); k++)
        for (size_t l = 0; l < ode->W; l++) {
            const api_friction_joint *j = &ode->stiction->joint[k];
            if (j->side[l] == 0 && j->follows[l]) T[j->v * ode->W + l] += sign * j->friction[l];
        }
}

const double *api_ode_friction_transmit(const api_ode *ode, const double *qd)
{
    const api_ode_friction *f = ode->friction;
    if (!f) return ode->tau;
    api_ode_friction_transmit_resting(ode, qd, f->T);
    add_following(ode, -1, f->T);
    return f->T;
}

void api_ode_friction_transmit_resting(const api_ode *ode, const double *qd, double *T)
{
    if (!ode->friction->map) {
        exchange_friction(ode, qd, T);
        return;
    }
    set_sides(ode, qd, true);
    map(ode, &(dyn_friction_map){.qd = qd, .side = ode->friction->side, .tau = ode->tau, .result = T});
}

void api_ode_friction_transmit_unheld(const api_ode *ode, const double *qd, double *T)
{
    if (!ode->friction->map) {
        exchange_friction(ode, qd, T);
        return;
    }
    set_sides(ode, qd, false);
    map(ode, &(dyn_friction_map){.qd = qd, .side = ode->friction->side, .tau = ode->tau, .result = T});
}

void api_ode_friction_add(const api_ode *ode, const double *qd, double *efforts)
{
    if (ode->friction->map) map(ode, &(dyn_friction_map){.qd = qd, .T = efforts, .result = efforts});
}

void api_ode_friction_find(const api_ode *ode, const double *qd, double *friction)
{
    const api_query *q  = ode->e->query;
    dyn_bias         io = {.q = ode->q, .qd = qd, .friction = friction};
    if (ode->loops && api_has_load(q))
        dyn_loop_friction(&q->scene, ode->workspace, &io, ode->tau);
    else if (!ode->friction || !ode->friction->map)
        ode->kernels->bias(&q->scene, ode->workspace, &io, 1);
    if (!ode->friction || !ode->friction->map) return;
    for (size_t i = 0; i < ode->e->model->nv * ode->W; i++)
        friction[i] = ode->tau[i] - ode->friction->T[i];
}
