/* ode_limits.c - see ode_limits.h. */
#include "ode_limits.h"
#include "api/control/joint_limits.h"

bool api_ode_limits_open(api_evaluation *e, api_ode *p)
{
    size_t n = p->s->limits.n;
    if (!p->s->limits.found || n == 0) return true;
    p->exceeded = api_take(e->pool, n * p->W * sizeof *p->exceeded);
    return p->exceeded != NULL;
}

static void compare(const api_joint_limit *limit, double value, double t, api_limit_violation *found)
{
    double over = value - limit->upper, under = limit->lower - value, excess = over > under ? over : under;
    if (excess > found->excess)
        *found =
            (api_limit_violation){.excess = excess, .time = t, .limit = over > under ? limit->upper : limit->lower};
}

/* The kernels of loops keep the tree's velocities of what they were asked last: here of an energy. */
static const double *tree_velocities(const api_ode *p, const double *qd)
{
    dyn_energy io = {.q = p->q, .qd = qd};
    if (!p->closed) return qd;
    p->kernels->energy(&p->e->scene, p->workspace, &io, 1);
    return api_loop_tree_qd(p->closed);
}

void api_ode_limits_compare(api_ode *p, double t, const double *qd)
{
    const api_joint_limits *limits = &p->s->limits;
    if (!p->exceeded) return;
    const double *of[] = {[API_LIMIT_EFFORT]   = p->demand,
                          [API_LIMIT_POSITION] = p->closed ? api_loop_tree_q(p->closed) : p->q,
                          [API_LIMIT_VELOCITY] = tree_velocities(p, qd)};
    for (size_t k = 0; k < limits->n; k++) {
        const api_joint_limit *limit = &limits->limit[k];
        const double          *x     = of[limit->kind] + limit->entry * p->W;
        for (size_t l = 0; l < p->rows; l++)
            compare(limit, limit->ratio * x[l] + limit->offset, t, &p->exceeded[k * p->W + l]);
    }
}

void api_ode_limits_evaluate(api_ode *p, double t, const double *y)
{
    if (!p->exceeded) return;
    api_ode_rate(p, t, y, p->slope[0]);
    api_ode_limits_compare(p, t, y + p->e->model->nq * p->W);
}

void api_ode_limits_store(const api_ode *p)
{
    const api_joint_limits *limits = &p->s->limits;
    for (size_t l = 0; p->exceeded && l < p->rows; l++)
        for (size_t k = 0; k < limits->n; k++)
            limits->found[p->row[l] * limits->n + k] = p->exceeded[k * p->W + l];
}
