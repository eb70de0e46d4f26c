/* ode_prescribed.c - imposes prescribed motions (ode_prescribed.h). */
#include "ode_prescribed.h"
#include "ode_held_frames.h"
#include "ode_friction.h"
#include <string.h>

struct dyn_ode_prescribed {
    double *motion[DYN_SIGNAL_ORDERS]; /* in lanes: n positions, n velocities, n accelerations of the prescribed
                                          coordinates */
    double *accelerations, *efforts;   /* in lanes: nv */
    double *y;                         /* in lanes: a copy of the integrated state, with the prescribed motion in it */
};

bool dyn_ode_prescribed_open(dyn_memory memory, dyn_robot_ode *ode)
{
    const dyn_prescribed_motion *p    = &ode->s->prescribed;
    size_t                       nv   = ode->s->mechanism.nv;
    bool                         room = true;
    if (p->n == 0) return true;
    ode->prescribed = dyn_take(memory, sizeof *ode->prescribed);
    if (!ode->prescribed) return false;
    for (int r = 0; r < DYN_SIGNAL_ORDERS; r++)
        ode->prescribed->motion[r] = dyn_take_zeroed(memory, p->n * ode->W, &room);
    ode->prescribed->accelerations = dyn_take_zeroed(memory, nv * ode->W, &room);
    ode->prescribed->efforts       = dyn_take_zeroed(memory, nv * ode->W, &room);
    ode->prescribed->y             = dyn_take_zeroed(memory, ode->state.entries * ode->W, &room);
    return room;
}

void dyn_ode_prescribed_set(dyn_robot_ode *ode, double t, double *y, size_t stride, size_t lanes)
{
    const dyn_prescribed_motion *p  = &ode->s->prescribed;
    size_t                       nq = ode->state.nq, W = ode->W;
    if (!ode->prescribed) return;
    double *const *r = ode->prescribed->motion;
    dyn_signal_at(p->motion, W, ode->row, (dyn_moment){t, ode->interval_time}, DYN_SIGNAL_ORDERS, r);
    for (size_t k = 0; k < p->n; k++) {
        for (size_t l = 0; l < lanes; l++) {
            y[p->q[k] * stride + l]        = r[0][k * W + l];
            y[(nq + p->v[k]) * stride + l] = r[1][k * W + l];
        }
        memcpy(ode->prescribed->accelerations + p->v[k] * W, r[2] + k * W, W * sizeof *y);
    }
}

const double *dyn_ode_prescribed_state(dyn_robot_ode *ode, double t, const double *y)
{
    if (!ode->prescribed) return y;
    memcpy(ode->prescribed->y, y, ode->state.entries * ode->W * sizeof *y);
    dyn_ode_prescribed_set(ode, t, ode->prescribed->y, ode->W, ode->W);
    return ode->prescribed->y;
}

const double *dyn_ode_prescribed_accelerations(const dyn_robot_ode *ode)
{
    return ode->prescribed ? ode->prescribed->accelerations : NULL;
}

/* Sets tau of prescribed coordinates to inverse dynamics(q, q', q'') - J^T l, with l the wrenches on held frames. If
 * there is a friction map, this is the effort T without friction, and the friction is added. */
void dyn_ode_prescribed_efforts(dyn_robot_ode *ode, const double *qd, const double *qdd)
{
    const dyn_prescribed_motion *p = &ode->s->prescribed;
    size_t                       W = ode->W;
    if (!ode->prescribed) return;
    double              *efforts = ode->prescribed->efforts;
    dyn_inverse_dynamics io      = {.q = ode->q, .qd = qd, .qdd = qdd, .wrenches = ode->wrenches, .tau = efforts};
    ode->kernels->inverse_dynamics(dyn_ode_friction_scene(ode), ode->workspace, &io, 1);
    if (ode->contact) dyn_ode_held_subtract_efforts(ode, efforts);
    for (size_t k = 0; ode->friction && k < p->n; k++)
        memcpy(ode->friction->T + p->v[k] * W, efforts + p->v[k] * W, W * sizeof *efforts);
    if (ode->friction) dyn_ode_friction_add(ode, qd, efforts);
    for (size_t k = 0; k < p->n; k++) {
        memcpy(ode->tau + p->v[k] * W, efforts + p->v[k] * W, W * sizeof *efforts);
        memcpy(ode->unclipped + p->v[k] * W, efforts + p->v[k] * W, W * sizeof *efforts);
    }
}
