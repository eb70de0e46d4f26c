/* ode_prescribed.c - see ode_prescribed.h. */
#include "ode_prescribed.h"
#include "ode_contact.h"
#include <string.h>

struct api_ode_prescribed {
    double *motion[API_SIGNAL_ORDERS]; /* lanes: n */
    double *given, *needed;            /* lanes: nv */
    double *y;                         /* lanes: entries of y */
};

bool api_ode_prescribed_open(api_evaluation *e, api_ode *p)
{
    const api_prescribed_motion *of   = &p->s->prescribed;
    size_t                       nv   = e->model->nv;
    bool                         room = true;
    if (of->n == 0) return true;
    p->prescribed = api_take(e->pool, sizeof *p->prescribed);
    if (!p->prescribed) return false;
    for (int r = 0; r < API_SIGNAL_ORDERS; r++)
        p->prescribed->motion[r] = api_take_zeroed(e->pool, of->n * p->W, &room);
    p->prescribed->given  = api_take_zeroed(e->pool, nv * p->W, &room);
    p->prescribed->needed = api_take_zeroed(e->pool, nv * p->W, &room);
    p->prescribed->y      = api_take_zeroed(e->pool, p->entries * p->W, &room);
    if (!p->driven) p->driven = of->mask;
    return room;
}

void api_ode_prescribed_set(api_ode *p, double t, double *y, size_t stride, size_t lanes)
{
    const api_prescribed_motion *of = &p->s->prescribed;
    size_t                       nq = p->e->model->nq, W = p->W;
    if (!p->prescribed) return;
    double *const *r = p->prescribed->motion;
    api_signal_at(&of->motion, W, p->row, (api_moment){t, p->inside}, API_SIGNAL_ORDERS, r);
    for (size_t k = 0; k < of->n; k++) {
        for (size_t l = 0; l < lanes; l++) {
            y[of->q[k] * stride + l]        = r[0][k * W + l];
            y[(nq + of->v[k]) * stride + l] = r[1][k * W + l];
        }
        memcpy(p->prescribed->given + of->v[k] * W, r[2] + k * W, W * sizeof *y);
    }
}

const double *api_ode_prescribed_state(api_ode *p, double t, const double *y)
{
    if (!p->prescribed) return y;
    memcpy(p->prescribed->y, y, p->entries * p->W * sizeof *y);
    api_ode_prescribed_set(p, t, p->prescribed->y, p->W, p->W);
    return p->prescribed->y;
}

const double *api_ode_prescribed_accelerations(const api_ode *p)
{
    return p->prescribed ? p->prescribed->given : NULL;
}

/* tau = inverse dynamics(q, q', q'') - J^T l */
void api_ode_prescribed_efforts(api_ode *p, const double *qd, const double *qdd)
{
    const api_prescribed_motion *of = &p->s->prescribed;
    size_t                       W  = p->W;
    if (!p->prescribed) return;
    double              *needed = p->prescribed->needed;
    dyn_inverse_dynamics io     = {.q = p->q, .qd = qd, .qdd = qdd, .wrenches = p->wrenches, .tau = needed};
    p->kernels->inverse_dynamics(&p->e->scene, p->workspace, &io, 1);
    if (p->contact) api_ode_contact_subtract_efforts(p, needed);
    for (size_t k = 0; k < of->n; k++) {
        memcpy(p->tau + of->v[k] * W, needed + of->v[k] * W, W * sizeof *needed);
        memcpy(p->demand + of->v[k] * W, needed + of->v[k] * W, W * sizeof *needed);
    }
}
