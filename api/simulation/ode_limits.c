/* ode_limits.c - compares simulated states with joint limits (ode_limits.h). */
#include "ode_limits.h"
#include "api/control/joint_limits.h"

bool api_ode_limits_open(api_evaluation *e, api_ode *ode)
{
    size_t n = ode->s->limits.n;
    if (!ode->s->limits.violation || n == 0) return true;
    ode->violation = api_take(e->query->pool, n * ode->W * sizeof *ode->violation);
    return ode->violation != NULL;
}

static void compare(const api_joint_limit *limit, double value, double t, api_limit_violation *found)
{
    double over = value - limit->upper, under = limit->lower - value, excess = over > under ? over : under;
    if (excess > found->excess)
        *found =
            (api_limit_violation){.excess = excess, .time = t, .limit = over > under ? limit->upper : limit->lower};
}

/* The loop kernels keep the tree's velocities of their last call, so an energy is computed to set them. */
static const double *tree_velocities(const api_ode *ode, const double *qd)
{
    dyn_energy io = {.q = ode->q, .qd = qd};
    if (!ode->loops) return qd;
    ode->kernels->energy(&ode->e->query->scene, ode->workspace, &io, 1);
    return api_loop_tree_qd(ode->loops);
}

void api_ode_limits_compare(api_ode *ode, double t, const double *qd)
{
    const api_joint_limits *limits = &ode->s->limits;
    if (!ode->violation) return;
    const double *of[] = {[API_LIMIT_EFFORT]   = ode->unclipped,
                          [API_LIMIT_POSITION] = ode->loops ? api_loop_tree_q(ode->loops) : ode->q,
                          [API_LIMIT_VELOCITY] = tree_velocities(ode, qd)};
    for (size_t k = 0; k < limits->n; k++) {
        const api_joint_limit *limit = &limits->limit[k];
        for (size_t l = 0; l < ode->rows; l++) {
            const double *x   = of[limit->kind] + l;
            double        sum = limit->weight[0] * x[limit->entry[0] * ode->W];
            for (size_t j = 1; j < limit->n; j++)
                sum += limit->weight[j] * x[limit->entry[j] * ode->W];
            compare(limit, sum + limit->offset, t, &ode->violation[k * ode->W + l]);
        }
    }
}

void api_ode_limits_evaluate(api_ode *ode, double t, const double *y)
{
    if (!ode->violation) return;
    api_ode_rate(ode, t, y, ode->stage_rate[0]);
    api_ode_limits_compare(ode, t, y + ode->e->model->nq * ode->W);
}

void api_ode_limits_store(const api_ode *ode)
{
    const api_joint_limits *limits = &ode->s->limits;
    for (size_t l = 0; ode->violation && l < ode->rows; l++)
        for (size_t k = 0; k < limits->n; k++)
            limits->violation[ode->row[l] * limits->n + k] = ode->violation[k * ode->W + l];
}
