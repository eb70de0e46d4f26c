/* ode_prescribed.c - imposes prescribed motions (ode_prescribed.h). */
#include "ode_prescribed.h"
#include "ode_contact.h"
#include "ode_friction.h"
#include <string.h>

struct api_ode_prescribed {
    double *motion[DYN_SIGNAL_ORDERS]; /* in lanes: n positions, velocities, accelerations */
    double *accelerations, *efforts;   /* in lanes: nv */
    double *y;                         /* in lanes: a copy of y with the prescribed motion */
};

bool api_ode_prescribed_open(api_evaluation *e, api_ode *ode)
{
    const api_prescribed_motion *p    = &ode->s->prescribed;
    size_t                       nv   = e->model->nv;
    bool                         room = true;
    if (p->n == 0) return true;
    ode->prescribed = api_take(e->query->pool, sizeof *ode->prescribed);
    if (!ode->prescribed) return false;
    for (int r = 0; r < DYN_SIGNAL_ORDERS; r++)
        ode->prescribed->motion[r] = api_take_zeroed(e->query->pool, p->n * ode->W, &room);
    ode->prescribed->accelerations = api_take_zeroed(e->query->pool, nv * ode->W, &room);
    ode->prescribed->efforts       = api_take_zeroed(e->query->pool, nv * ode->W, &room);
    ode->prescribed->y             = api_take_zeroed(e->query->pool, ode->state.entries * ode->W, &room);
    return room;
}

void api_ode_prescribed_set(api_ode *ode, double t, double *y, size_t stride, size_t lanes)
{
    const api_prescribed_motion *p  = &ode->s->prescribed;
    size_t                       nq = ode->e->model->nq, W = ode->W;
    if (!ode->prescribed) return;
    double *const *r = ode->prescribed->motion;
    dyn_signal_at(&p->motion.curve, W, ode->row, (dyn_moment){t, ode->interval_time}, DYN_SIGNAL_ORDERS, r);
    for (size_t k = 0; k < p->n; k++) {
        for (size_t l = 0; l < lanes; l++) {
            y[p->q[k] * stride + l]        = r[0][k * W + l];
            y[(nq + p->v[k]) * stride + l] = r[1][k * W + l];
        }
        memcpy(ode->prescribed->accelerations + p->v[k] * W, r[2] + k * W, W * sizeof *y);
    }
}

const double *api_ode_prescribed_state(api_ode *ode, double t, const double *y)
{
    if (!ode->prescribed) return y;
    memcpy(ode->prescribed->y, y, ode->state.entries * ode->W * sizeof *y);
    api_ode_prescribed_set(ode, t, ode->prescribed->y, ode->W, ode->W);
    return ode->prescribed->y;
}

const double *api_ode_prescribed_accelerations(const api_ode *ode)
{
    return ode->prescribed ? ode->prescribed->accelerations : NULL;
}

/* tau = inverse dynamics(q, q', q'') - J^T l, with l the wrenches on held frames, or T, to which the friction is added
 */
void api_ode_prescribed_efforts(api_ode *ode, const double *qd, const double *qdd)
{
    const api_prescribed_motion *p = &ode->s->prescribed;
    size_t                       W = ode->W;
    if (!ode->prescribed) return;
    double              *efforts = ode->prescribed->efforts;
    dyn_inverse_dynamics io      = {.q = ode->q, .qd = qd, .qdd = qdd, .wrenches = ode->wrenches, .tau = efforts};
    ode->kernels->inverse_dynamics(api_ode_friction_scene(ode), ode->workspace, &io, 1);
    if (ode->contact) api_ode_contact_subtract_efforts(ode, efforts);
    for (size_t k = 0; ode->friction && k < p->n; k++)
        memcpy(ode->friction->T + p->v[k] * W, efforts + p->v[k] * W, W * sizeof *efforts);
    if (ode->friction) api_ode_friction_add(ode, qd, efforts);
    for (size_t k = 0; k < p->n; k++) {
        memcpy(ode->tau + p->v[k] * W, efforts + p->v[k] * W, W * sizeof *efforts);
        memcpy(ode->unclipped + p->v[k] * W, efforts + p->v[k] * W, W * sizeof *efforts);
    }
}
