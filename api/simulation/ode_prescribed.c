/* ode_prescribed.c - imposes prescribed motions (ode_prescribed.h). */
#include "ode_prescribed.h"
#include "ode_contact.h"
#include <string.h>

struct api_ode_prescribed {
    double *motion[API_SIGNAL_ORDERS]; /* in lanes: n */
    double *given, *needed;            /* in lanes: nv */
    double *y;                         /* in lanes: a copy of y */
};

bool api_ode_prescribed_open(api_evaluation *e, api_ode *ode)
{
    const api_prescribed_motion *of   = &ode->s->prescribed;
    size_t                       nv   = e->model->nv;
    bool                         room = true;
    if (of->n == 0) return true;
    ode->prescribed = api_take(e->pool, sizeof *ode->prescribed);
    if (!ode->prescribed) return false;
    for (int r = 0; r < API_SIGNAL_ORDERS; r++)
        ode->prescribed->motion[r] = api_take_zeroed(e->pool, of->n * ode->W, &room);
    ode->prescribed->given  = api_take_zeroed(e->pool, nv * ode->W, &room);
    ode->prescribed->needed = api_take_zeroed(e->pool, nv * ode->W, &room);
    ode->prescribed->y      = api_take_zeroed(e->pool, ode->entries * ode->W, &room);
    if (!ode->driven) ode->driven = of->mask;
    return room;
}

void api_ode_prescribed_set(api_ode *ode, double t, double *y, size_t stride, size_t lanes)
{
    const api_prescribed_motion *of = &ode->s->prescribed;
    size_t                       nq = ode->e->model->nq, W = ode->W;
    if (!ode->prescribed) return;
    double *const *r = ode->prescribed->motion;
    api_signal_at(&of->motion, W, ode->row, (api_moment){t, ode->interval_time}, API_SIGNAL_ORDERS, r);
    for (size_t k = 0; k < of->n; k++) {
        for (size_t l = 0; l < lanes; l++) {
            y[of->q[k] * stride + l]        = r[0][k * W + l];
            y[(nq + of->v[k]) * stride + l] = r[1][k * W + l];
        }
        memcpy(ode->prescribed->given + of->v[k] * W, r[2] + k * W, W * sizeof *y);
    }
}

const double *api_ode_prescribed_state(api_ode *ode, double t, const double *y)
{
    if (!ode->prescribed) return y;
    memcpy(ode->prescribed->y, y, ode->entries * ode->W * sizeof *y);
    api_ode_prescribed_set(ode, t, ode->prescribed->y, ode->W, ode->W);
    return ode->prescribed->y;
}

const double *api_ode_prescribed_accelerations(const api_ode *ode)
{
    return ode->prescribed ? ode->prescribed->given : NULL;
}

/* tau = inverse dynamics(q, q', q'') - J^T l */
void api_ode_prescribed_efforts(api_ode *ode, const double *qd, const double *qdd)
{
    const api_prescribed_motion *of = &ode->s->prescribed;
    size_t                       W  = ode->W;
    if (!ode->prescribed) return;
    double              *needed = ode->prescribed->needed;
    dyn_inverse_dynamics io     = {.q = ode->q, .qd = qd, .qdd = qdd, .wrenches = ode->wrenches, .tau = needed};
    ode->kernels->inverse_dynamics(&ode->e->scene, ode->workspace, &io, 1);
    if (ode->contact) api_ode_contact_subtract_efforts(ode, needed);
    for (size_t k = 0; k < of->n; k++) {
        memcpy(ode->tau + of->v[k] * W, needed + of->v[k] * W, W * sizeof *needed);
        memcpy(ode->unclipped + of->v[k] * W, needed + of->v[k] * W, W * sizeof *needed);
    }
}
