/* motor_efforts.c - see motor_efforts.h. */
#include "motor_efforts.h"

/* Returns the name of the first motor that drives a passive joint, or NULL. */
static const char *find_passive(const api_model *m)
{
    for (size_t k = 0; k < m->dyn->n_drives; k++)
        for (size_t j = 0; j < m->dyn->drive[k].n; j++)
            if (api_model_coordinate(m, m->dyn->drive[k].joint[j]) < 0) return m->coupled_motors[k].name;
    return NULL;
}

bool api_motor_efforts_check(const api_query *q, const api_selection *selected, size_t output, const api_node *given,
                             const api_place *up)
{
    const char *name = selected->operation->outputs[output].name;
    if (!(selected->outputs & API_BIT(output))) return true;
    if (q->model->dyn->n_drives == 0)
        return api_fail_output(q, selected, output, given, up,
                               "efforts and jumps of motors are for models with transmissions");
    const char *passive = find_passive(q->model);
    return !passive ||
           api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                    "%s is for transmissions of actuated joints, and motor %.64s drives a passive one", name, passive);
}

void api_motor_efforts(const api_evaluation *e, const double *tau, size_t blocks, double *motor_tau)
{
    const api_model *m = e->model;
    const size_t     W = e->lanes, n = m->dyn->n_drives;
    for (size_t i = 0; i < blocks * n * W; i++) {
        const size_t             block = i / (n * W), lane = i % W;
        const api_coupled_motor *motor = &m->coupled_motors[i / W % n];
        motor_tau[i]                   = 0;
        for (size_t j = 0; j < motor->drive->n; j++) {
            const size_t v = (size_t)api_model_coordinate(m, motor->drive->joint[j]);
            motor_tau[i] += motor->effort[j] * tau[(block * m->nv + v) * W + lane];
        }
    }
}
