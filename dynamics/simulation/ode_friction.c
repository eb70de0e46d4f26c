/* ode_friction.c - separates the efforts of a simulation from friction (ode_friction.h). */
#include "ode_friction.h"
#include "ode_stiction.h"
#include <math.h>
#include <string.h>

bool dyn_ode_friction_open(dyn_memory memory, dyn_robot_ode *ode)
{
    const dyn_scene *scene  = ode->s->scene;
    const size_t     n      = ode->s->mechanism.nv * ode->W;
    bool             room   = true;
    const bool       loaded = scene->model->has_load && (scene->terms & DYN_FRICTION);
    if (!ode->stiction && (ode->s->mechanism.loops || !loaded)) return true;
    dyn_ode_friction *f = ode->friction = dyn_take(memory, sizeof *f);
    if (!f) return false;
    *f      = (dyn_ode_friction){.map = ode->s->mechanism.loops ? NULL : ode->kernels->friction_map, .rigid = *scene};
    f->T    = dyn_take_zeroed(memory, n, &room);
    f->side = dyn_take_zeroed(memory, n, &room);
    if (f->map) f->rigid.terms &= ~(unsigned)DYN_FRICTION;
    return room;
}

void dyn_ode_friction_renew(dyn_robot_ode *ode)
{
    const dyn_scene *scene = ode->s->scene;
    if (!ode->friction) return;
    ode->friction->rigid.model = scene->model;
    memcpy(ode->friction->rigid.gravity, scene->gravity, sizeof scene->gravity);
}

const dyn_scene *dyn_ode_friction_scene(const dyn_robot_ode *ode)
{
    return ode->friction ? &ode->friction->rigid : ode->s->scene;
}

/* Sets f->side, the sense of motion by which the friction map takes sharp friction: the sign of q', but for joints that
 * can stick their side (ode_stiction.h) or, if not `held`, 0. */
static void set_sides(const dyn_robot_ode *ode, const double *qd, bool held)
{
    const dyn_ode_friction *f = ode->friction;
    const size_t            W = ode->W;
    for (size_t i = 0; i < ode->state.nv * W; i++)
        f->side[i] = (qd[i] > 0) - (qd[i] < 0);
    for (size_t k = 0; k < dyn_ode_stiction_count(ode); k++)
        for (size_t l = 0; l < W; l++)
            f->side[ode->stiction->joint[k].v * W + l] = held ? ode->stiction->joint[k].side[l] : 0;
}

static void map(const dyn_robot_ode *ode, const dyn_friction_map *io)
{
    ode->friction->map(ode->s->scene, ode->workspace, io, 1);
}

/* Adds the friction that the controller knows to efforts, or removes it from them. */
static void map_controlled(const dyn_robot_ode *ode, const dyn_friction_map *io)
{
    ode->friction->map(&ode->controller_scene, ode->workspace, io, 1);
}

/* Returns the friction, N m or N, with which joint j slides to `side` (1, -1; 0: no friction) at the rate `rate`. */
static double sliding(const dyn_robot_ode *ode, const dyn_friction_joint *j, int side, double rate)
{
    return side == 0 ? 0 : dyn_stiction_sliding(ode->s->scene->model, &j->at_rest, side, rate);
}

/* Sets T to tau plus the friction by the sign of q', which the kernels of models with loops subtract, minus the
 * friction by the side of joints that can stick. */
static void exchange_friction(const dyn_robot_ode *ode, const double *qd, double *T)
{
    const size_t W = ode->W;
    memcpy(T, ode->tau, ode->state.nv * W * sizeof *T);
    for (size_t k = 0; k < ode->stiction->n; k++)
        for (size_t l = 0; l < W; l++) {
            const dyn_friction_joint *j    = &ode->stiction->joint[k];
            const double              rate = qd[j->v * W + l];
            const int                 sign = (rate > 0) - (rate < 0);
            if (sign != j->side[l]) T[j->v * W + l] += sliding(ode, j, sign, rate) - sliding(ode, j, j->side[l], rate);
        }
}

/* True if the side of a joint in a lane differs from the sign of its rate. */
static bool has_other_side(const dyn_friction_joint *j, size_t lane, double rate)
{
    return (rate > 0) - (rate < 0) != j->side[lane];
}

static bool any_has_other_side(const dyn_robot_ode *ode, const double *qd)
{
    for (size_t k = 0; k < dyn_ode_stiction_count(ode); k++)
        for (size_t l = 0; l < ode->W; l++)
            if (has_other_side(&ode->stiction->joint[k], l, qd[ode->stiction->joint[k].v * ode->W + l])) return true;
    return false;
}

void dyn_ode_friction_compensate(const dyn_robot_ode *ode, const double *qd)
{
    const dyn_ode_friction *f = ode->friction;
    const size_t            W = ode->W;
    if (!any_has_other_side(ode, qd)) return;
    if (f->map) {
        map_controlled(ode, &(dyn_friction_map){.qd = qd, .tau = ode->tau, .result = f->T});
        set_sides(ode, qd, true);
        map_controlled(ode, &(dyn_friction_map){.qd = qd, .side = f->side, .T = f->T, .result = f->T});
    } else {
        exchange_friction(ode, qd, f->T);
        for (size_t i = 0; i < ode->state.nv * W; i++)
            f->T[i] = 2 * ode->tau[i] - f->T[i];
    }
    for (size_t k = 0; k < ode->stiction->n; k++)
        for (size_t l = 0; l < W; l++) {
            const dyn_friction_joint *j = &ode->stiction->joint[k];
            if (has_other_side(j, l, qd[j->v * W + l])) ode->tau[j->v * W + l] = f->T[j->v * W + l];
        }
}

/* Adds `sign` times the friction of joints that follow, which are at rest without sticking (ode_stiction.h), to T. */
static void add_following(const dyn_robot_ode *ode, double sign, double *T)
{
    for (size_t k = 0; k < dyn_ode_stiction_count(ode); k++)
        for (size_t l = 0; l < ode->W; l++) {
            const dyn_friction_joint *j = &ode->stiction->joint[k];
            if (j->side[l] == 0 && j->follows[l]) T[j->v * ode->W + l] += sign * j->friction[l];
        }
}

const double *dyn_ode_friction_transmit(const dyn_robot_ode *ode, const double *qd)
{
    const dyn_ode_friction *f = ode->friction;
    if (!f) return ode->tau;
    dyn_ode_friction_transmit_resting(ode, qd, f->T);
    add_following(ode, -1, f->T);
    return f->T;
}

void dyn_ode_friction_transmit_resting(const dyn_robot_ode *ode, const double *qd, double *T)
{
    if (!ode->friction->map) {
        exchange_friction(ode, qd, T);
        return;
    }
    set_sides(ode, qd, true);
    map(ode, &(dyn_friction_map){.qd = qd, .side = ode->friction->side, .tau = ode->tau, .result = T});
}

void dyn_ode_friction_transmit_unheld(const dyn_robot_ode *ode, const double *qd, double *T)
{
    if (!ode->friction->map) {
        exchange_friction(ode, qd, T);
        return;
    }
    set_sides(ode, qd, false);
    map(ode, &(dyn_friction_map){.qd = qd, .side = ode->friction->side, .tau = ode->tau, .result = T});
}

void dyn_ode_friction_add(const dyn_robot_ode *ode, const double *qd, double *efforts)
{
    if (ode->friction->map) map(ode, &(dyn_friction_map){.qd = qd, .T = efforts, .result = efforts});
}

void dyn_ode_friction_find(const dyn_robot_ode *ode, const double *qd, double *friction)
{
    dyn_bias io = {.q = ode->q, .qd = qd, .friction = friction};
    if (ode->loops && dyn_robot_ode_has_load(ode))
        dyn_loop_friction(ode->s->scene, ode->workspace, &io, ode->tau);
    else if (!ode->friction || !ode->friction->map)
        ode->kernels->bias(ode->s->scene, ode->workspace, &io, 1);
    if (!ode->friction || !ode->friction->map) return;
    for (size_t i = 0; i < ode->state.nv * ode->W; i++)
        friction[i] = ode->tau[i] - ode->friction->T[i];
}

void dyn_ode_friction_subtract_damping(const dyn_robot_ode *ode, const double *qd, double *to)
{
    const dyn_model *m = ode->s->scene->model;
    size_t           W = ode->W;
    for (size_t i = 0; i < m->n_bodies; i++)
        for (size_t l = 0; m->body[i].joint.has_spring && l < W * (size_t)dyn_joint_nv(m->body[i].joint.kind); l++) {
            double            sd = m->body[i].joint.ratio * qd[(size_t)m->body[i].joint.v * W + l];
            const dyn_spring *s  = &m->body[i].joint.spring;
            to[l % W] -= (s->damping + s->damping2 * fabs(sd) + s->damping3 * sd * sd) * sd * sd;
        }
    for (size_t i = 0; i < m->n_couplings; i++)
        for (size_t l = 0; l < W; l++) {
            const dyn_coupling *c  = &m->coupling[i];
            double              sd = qd[(size_t)c->v * W + l] - qd[(size_t)c->v_theta * W + l];
            to[l] -= c->spring.damping * sd * sd;
        }
}
